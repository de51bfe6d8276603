/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Atomic words of 32 bits, of 64 bits, and for pointers. Only this file knows how they are
 * implemented.
 *
 * Every call names its memory order. In the explore build (TR_EXPLORE) each operation is a choice
 * point of the schedule explorer, which owns the value and its history; see tests/explore.
 */
#ifndef OS_ATOMIC_H
#define OS_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ATOM_RELAXED memory_order_relaxed
#define ATOM_ACQUIRE memory_order_acquire
#define ATOM_RELEASE memory_order_release
#define ATOM_ACQ_REL memory_order_acq_rel
#define ATOM_SEQ_CST memory_order_seq_cst

#define ATOM_INLINE __attribute__((__always_inline__)) static inline

typedef struct atom32 {
    _Atomic(uint32_t) value;
} atom32;

typedef struct atom64 {
    _Atomic(uint64_t) value;
} atom64;

typedef struct atomptr {
    _Atomic(void *) value;
} atomptr;

/*
 * For a plain variable of up to 8 bytes that only one thread, its owner, writes. The owner writes
 * the variable with ATOM_POKE and may read it directly. Other threads read it with ATOM_PEEK. A
 * thread that has read a value also sees everything that the owner wrote before that value.
 */
#define ATOM_PEEK(word) __atomic_load_n(word, __ATOMIC_ACQUIRE)
#define ATOM_POKE(word, value) __atomic_store_n(word, value, __ATOMIC_RELEASE)

#ifdef TR_EXPLORE
#include "explore/atomic_hooks.h"
#else

/* The functions of one width: load, store, exchange, compare_exchange, fetch_add/sub/or/and. */
#define ATOM_COMMON(name, type)                                                                    \
    ATOM_INLINE void name##_init(name *atom, type value)                                           \
    {                                                                                              \
        atomic_init(&atom->value, value);                                                          \
    }                                                                                              \
    ATOM_INLINE type name##_load(const name *atom, memory_order order)                             \
    {                                                                                              \
        return atomic_load_explicit(&((name *)(uintptr_t)atom)->value, order);                     \
    }                                                                                              \
    ATOM_INLINE void name##_store(name *atom, type value, memory_order order)                      \
    {                                                                                              \
        atomic_store_explicit(&atom->value, value, order);                                         \
    }                                                                                              \
    ATOM_INLINE type name##_exchange(name *atom, type value, memory_order order)                   \
    {                                                                                              \
        return atomic_exchange_explicit(&atom->value, value, order);                               \
    }                                                                                              \
    /* On failure *expected is the value found. Strong: fails only if the value differs. */        \
    ATOM_INLINE bool name##_compare_exchange(                                                      \
        name *atom, type *expected, type value, memory_order success, memory_order failure)        \
    {                                                                                              \
        return atomic_compare_exchange_strong_explicit(                                            \
            &atom->value, expected, value, success, failure);                                      \
    }

#define ATOM_NUMBER(name, type)                                                                    \
    ATOM_COMMON(name, type)                                                                        \
    ATOM_INLINE type name##_fetch_add(name *atom, type value, memory_order order)                  \
    {                                                                                              \
        return atomic_fetch_add_explicit(&atom->value, value, order);                              \
    }                                                                                              \
    ATOM_INLINE type name##_fetch_sub(name *atom, type value, memory_order order)                  \
    {                                                                                              \
        return atomic_fetch_sub_explicit(&atom->value, value, order);                              \
    }                                                                                              \
    ATOM_INLINE type name##_fetch_or(name *atom, type value, memory_order order)                   \
    {                                                                                              \
        return atomic_fetch_or_explicit(&atom->value, value, order);                               \
    }                                                                                              \
    ATOM_INLINE type name##_fetch_and(name *atom, type value, memory_order order)                  \
    {                                                                                              \
        return atomic_fetch_and_explicit(&atom->value, value, order);                              \
    }

ATOM_NUMBER(atom32, uint32_t)
ATOM_NUMBER(atom64, uint64_t)
ATOM_COMMON(atomptr, void *)

/**
 * The compiler does not move memory accesses across a call of this function. The CPU still may.
 * tr__os_barrier, the expensive half of this pair of barriers, prevents that: see os/barrier.h.
 */
ATOM_INLINE void atom_half_barrier(void)
{
    __asm__ __volatile__("" ::: "memory");
}

/** For the body of a spin loop: informs the CPU that this thread only waits. */
ATOM_INLINE void atom_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

#endif

/*
 * Defined where atom64_count adds to memory by one instruction, written in assembly, so that the
 * compiler cannot split it into a load and a store. Not defined with sanitizers and the explorer,
 * because they do not see an access that is written in assembly.
 */
#if defined(__x86_64__) && !defined(TR_EXPLORE) && !defined(__SANITIZE_THREAD__)
#define ATOM_COUNTS_IN_MEMORY 1
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#undef ATOM_COUNTS_IN_MEMORY
#endif
#endif
#endif

/**
 * Adds to a counter that only one thread writes and any thread may read. Cheaper than an atomic
 * addition, which locks the memory.
 */
ATOM_INLINE void atom64_count(atom64 *atom, uint64_t value)
{
#ifdef ATOM_COUNTS_IN_MEMORY
    /*
     * This instruction is not locked, so only one thread may write the counter. The word is
     * aligned, so readers see its old or its new value and nothing between.
     */
    __asm__ __volatile__("addq %1, %0" : "+m"(atom->value) : "er"(value) : "cc");
#else
    atom64_store(atom, atom64_load(atom, ATOM_RELAXED) + value, ATOM_RELAXED);
#endif
}

#endif
