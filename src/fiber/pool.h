/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A pool of stacks for the fibers of one worker.
 *
 * Stacks come in slabs. Each stack has a guard below it, if the platform has guards (os/memory.h), and a canary in its
 * lowest words. The pool checks the canary when the stack is given back. If the stack has no guard, each switch away
 * from it checks the canary too. A dead canary ends the process with a report. Rules:
 *
 * 1. After every call at least one stack is free: the spare. The pool lends a stack only if another stack remains free.
 *    The exception is tr__fiber_replace, which gives the stack of the replaced fiber back at once.
 * 2. The stack given back last is lent first, because its pages are warm.
 * 3. Only tr__fiber_pool_trim and tr__fiber_pool_deinit give memory back to the kernel.
 *
 * One thread at a time; no locks.
 */
#ifndef FIBER_POOL_H
#define FIBER_POOL_H

#include <troupe/limits.h>
#include <troupe/platform.h>

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define FIBER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#elif __has_feature(thread_sanitizer)
#define FIBER_TSAN 1
#endif
#endif

/** Sanitizers make frames larger, so stacks must be larger too. */
#if defined(FIBER_ASAN) || defined(FIBER_TSAN)
#define FIBER_STACK_FACTOR 4
#else
#define FIBER_STACK_FACTOR 1
#endif

/** Usable bytes of a stack, if the options of the system set no other size. */
#define FIBER_STACK_SIZE ((size_t)TR_STACK_SIZE * FIBER_STACK_FACTOR)

/**
 * How many stacks a slab has. With their guards they take 5 MiB of addresses; only pages that were
 * touched use memory.
 */
#define FIBER_SLAB_STACKS 16

/** How many free stacks a trim leaves as they are, unless the pool's owner sets another number. */
#define FIBER_RESERVE (2 * FIBER_SLAB_STACKS)

/**
 * How many slabs, or single stacks, one trim gives back at most. This many take some milliseconds.
 */
#define FIBER_TRIM_STEP 256

/** One of the two sides of a switch: what is needed to continue on a stack. */
struct fiber_side {
    void *context;   /* where to continue; valid while no code runs on this side */
    const void *low; /* lowest address of the usable stack */
    size_t size;
    /* the fake stack of AddressSanitizer; valid while no code runs on this side */
    void *fake_stack;
    void *shadow; /* ThreadSanitizer's context of this fiber */
    bool is_bare; /* the stack belongs to a fiber and has no guard */
};

struct fiber {
    struct fiber_side side; /* comes first */
    /*
     * the stack is lent. This member is in the cache line of `side`, because each switch reads it
     */
    bool is_lent;
    struct fiber *next; /* next fiber in the pool's free list */
    struct fiber_pool *pool;
    void (*main)(void *context);
    void *main_context;
    /*
     * While user code runs on this fiber, `user` is the tr_self of its turn, and `user_base` is an
     * address in the frame of the function that called the user code. Otherwise both are NULL. The
     * handler of faults uses them (traps_faults).
     */
    void *user;
    const void *user_base;
    uint32_t uses;   /* how often the fiber was used; counted only for ThreadSanitizer */
    bool is_doomed;  /* during a trim: the slab of this fiber is to be freed */
    bool is_touched; /* the fiber was lent since its memory was last given back */
};

struct fiber_pool {
    const tr_platform *platform;
    struct fiber_slab *slabs;
    struct fiber *free;
    size_t free_count;
    size_t stacks_count; /* number of stacks made so far */
    size_t stacks_max;   /* the pool has at most this many stacks; 0: no limit */
    size_t stack_size;   /* usable bytes of each stack */
    /*
     * how many free stacks a trim leaves as they are: FIBER_RESERVE, or another number of at least
     * 1
     */
    size_t reserve;
    const void *owner; /* for `describe` */
    /*
     * Writes what ran on the stack that was just left, for the report of an overflow. If this
     * member is NULL, the report does not say what ran.
     */
    void (*describe)(const struct fiber_pool *pool, char *text, size_t size);
};

/**
 * Makes a pool with one free stack, the spare. `stack_size` is a multiple of the page size. `stacks_max` is 0 for no
 * limit, otherwise at least 2. Returns TR_OK; TR_NO_MEMORY; TR_NOT_SUPPORTED: the processor keeps a shadow stack for
 * this thread.
 */
TR_MUST_CHECK tr_status tr__fiber_pool_init(struct fiber_pool *pool, const tr_platform *platform,
                                            size_t stack_size, size_t stacks_max);

/**
 * Frees all stacks, also those of fibers that have not ended. None of these fibers may be running.
 */
void tr__fiber_pool_deinit(struct fiber_pool *pool);

/**
 * Gives memory of free stacks back to the kernel: slabs of which all stacks are free, and touched
 * pages of other free stacks. Leaves `reserve` free stacks as they are. Returns true if a further
 * call may find more.
 */
bool tr__fiber_pool_trim(struct fiber_pool *pool);

/** Returns the number of stacks in use. */
static inline size_t fiber_pool_lent(const struct fiber_pool *pool)
{
    return pool->stacks_count - pool->free_count;
}

/** Makes sure that the pool can lend a stack. Returns TR_OK or TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__fiber_pool_ensure(struct fiber_pool *pool);

/*
 * Take a stack from the pool, or give it back. For fiber.c and actor/turn/stack.c only. tr__fiber_pool_take returns
 * NULL if no stack is available (rule 1). tr__fiber_pool_take_spare never fails.
 */
struct fiber *tr__fiber_pool_take(struct fiber_pool *pool);
struct fiber *tr__fiber_pool_take_spare(struct fiber_pool *pool);
void tr__fiber_pool_give(struct fiber_pool *pool, struct fiber *fiber);

/*
 * The lowest words of a stack are its canary, which no frame may reach. They are zero, as the
 * kernel made them, because any other value would have to be written: this would cost each stack a
 * page of memory. Reading a page that was never touched costs no memory.
 */
enum { FIBER_CANARY_WORDS = 8 };

static inline bool fiber_canary_is_alive(const struct fiber_side *side)
{
    const uint64_t *words = side->low;
    uint64_t sum = 0;
    for (size_t i = 0; i < FIBER_CANARY_WORDS; i++)
        sum |= words[i];
    return sum == 0;
}

/** Reports an overflow and aborts. */
__attribute__((__noreturn__, __cold__)) void tr__fiber_overflow(const struct fiber *fiber);

#endif
