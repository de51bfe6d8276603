/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Switches from one stack to another: the few instructions that C cannot express. Used in src/fiber
 * only.
 *
 * For x86-64 and arm64 these instructions are inline in this file. So the compiler saves only registers in use, and
 * there is no return that the processor cannot predict. For other processors, and if FIBER_BOOST is defined, two
 * assembly functions of boost.context do the switch. This file has their C prototypes, because boost.context has only
 * C++ headers.
 *
 * In code that is compiled with -fcf-protection or -mbranch-protection, only marked places may be the target of a jump.
 * So the place where a stack continues is marked. A switch does not switch the shadow stack of the processor. If a
 * thread has a shadow stack, switch_is_possible returns false.
 *
 * A context is a stack that was left or was never entered. A jump to a context makes it invalid.
 */
#ifndef FIBER_SWITCH_H
#define FIBER_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWITCH_INLINE __attribute__((__always_inline__)) static inline

#if defined(__x86_64__) && defined(__LP64__) && !defined(FIBER_BOOST)

#ifdef __CET__
#define SWITCH_LANDING "endbr64\n\t"
#else
#define SWITCH_LANDING
#endif

#ifdef __AVX512F__
#define SWITCH_AVX512                                                                              \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",    \
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6",  \
        "k7"
#else
#define SWITCH_AVX512
#endif

/**
 * Leaves this stack, stores its context in *from, and jumps to the stack of the context `to`. Returns when another
 * stack jumps back, and returns the `data` of that jump. A stack that is entered for the first time gets `data` too.
 *
 * rbx and rbp are saved by hand, because compilers may reserve them. The first instruction skips
 * the red zone below the stack. The control words of the floating point units are not saved: they
 * belong to the thread, and a fiber must not rely on them across a wait. Reading them would take as
 * long as all other work of a switch.
 */
SWITCH_INLINE void *switch_jump(void **from, void *to, void *data)
{
    __asm__ __volatile__("leaq -128(%%rsp), %%rsp\n\t"
                         "pushq %%rbp\n\t"
                         "pushq %%rbx\n\t"
                         "leaq 1f(%%rip), %%rax\n\t"
                         "pushq %%rax\n\t"
                         "movq %%rsp, (%%rsi)\n\t"
                         "movq %%rdx, %%rsp\n\t"
                         "popq %%rax\n\t"
                         "jmpq *%%rax\n"
                         "1:\n\t" SWITCH_LANDING "popq %%rbx\n\t"
                         "popq %%rbp\n\t"
                         "leaq 128(%%rsp), %%rsp"
                         : "+D"(data), "+S"(from), "+d"(to)
                         :
                         : "rax",
                           "rcx",
                           "r8",
                           "r9",
                           "r10",
                           "r11",
                           "r12",
                           "r13",
                           "r14",
                           "r15",
                           "xmm0",
                           "xmm1",
                           "xmm2",
                           "xmm3",
                           "xmm4",
                           "xmm5",
                           "xmm6",
                           "xmm7",
                           "xmm8",
                           "xmm9",
                           "xmm10",
                           "xmm11",
                           "xmm12",
                           "xmm13",
                           "xmm14",
                           "xmm15" SWITCH_AVX512,
                           "memory",
                           "cc");
    return data;
}

/** Makes the context of a stack that ends at `top`. The first jump to it calls `entry`, which must not return. */
SWITCH_INLINE void *switch_prepare(char *top, size_t size, void (*entry)(void *data))
{
    (void)size;
    /* Push a return address of 0, as a call would push one, so that the stack is aligned as the ABI requires. */
    uintptr_t *words = (uintptr_t *)(void *)(top - (uintptr_t)top % 16);
    words[-1] = 0;
    words[-2] = (uintptr_t)entry;
    return words - 2;
}

/**
 * Whether this thread may switch stacks. A thread for which the processor keeps a shadow stack may
 * not.
 */
SWITCH_INLINE bool switch_is_possible(void)
{
    uint64_t shadow = 0;
    __asm__ __volatile__("rdsspq %0"
                         /* this instruction does nothing on a processor without shadow stacks */
                         : "+r"(shadow));
    return shadow == 0;
}

#elif defined(__aarch64__) && defined(__LP64__) && !defined(FIBER_BOOST)

/* The registers at the top of a stack that was left, two pairs. */
enum { SWITCH_SAVED_FP, SWITCH_SAVED_LR, SWITCH_SAVED_X19, SWITCH_SAVED_PC, SWITCH_SAVED_WORDS };

#ifdef __ARM_FEATURE_SVE
#define SWITCH_SVE                                                                                 \
    , "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13",      \
        "p14", "p15"
#else
#define SWITCH_SVE
#endif

/*
 * All registers, those that a call preserves included. So the compiler saves the registers that it
 * uses at this place.
 */
#define SWITCH_CLOBBERED                                                                           \
    "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",     \
        "x17", "x18", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "v0", "v1",   \
        "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",  \
        "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", \
        "v29", "v30", "v31" SWITCH_SVE

/**
 * As switch_jump on x86-64. x29, x30 and x19 are saved by hand, because compilers may reserve x29 as the pointer to the
 * frame and x19 as the pointer to variables. `br x16` may jump to a place that is marked for jumps, and also to one
 * that is marked for calls, such as the first function of a stack. That function has no caller, so it finds 0 in x29
 * and x30.
 */
SWITCH_INLINE void *switch_jump(void **from, void *to, void *data)
{
    register void *first __asm__("x0") = data;
    register void *second __asm__("x1") = from;
    register void *third __asm__("x2") = to;
    __asm__ __volatile__("adr x16, 1f\n\t"
                         "stp x29, x30, [sp, #-32]!\n\t"
                         "stp x19, x16, [sp, #16]\n\t"
                         "mov x16, sp\n\t"
                         "str x16, [x1]\n\t"
                         "mov sp, x2\n\t"
                         "ldr x16, [x2, #24]\n\t"
                         "mov x29, xzr\n\t"
                         "mov x30, xzr\n\t"
                         "br x16\n"
                         "1:\n\t"
                         "hint #36\n\t" /* bti j */
                         "ldr x19, [sp, #16]\n\t"
                         "ldp x29, x30, [sp], #32"
                         : "+r"(first), "+r"(second), "+r"(third)
                         :
                         : SWITCH_CLOBBERED, "memory", "cc");
    return first;
}

/** As on x86-64. */
SWITCH_INLINE void *switch_prepare(char *top, size_t size, void (*entry)(void *data))
{
    (void)size;
    uintptr_t *words = (uintptr_t *)(void *)(top - (uintptr_t)top % 16) - SWITCH_SAVED_WORDS;
    words[SWITCH_SAVED_PC] = (uintptr_t)entry;
    return words;
}

/** Always true. Linux gives shadow stacks (GCS) only to programs that ask for them. */
SWITCH_INLINE bool switch_is_possible(void)
{
    return true;
}

#else
#define SWITCH_IS_BOOST 1

/**
 * What boost.context gives to the side that arrives: the context of the side that left, and the data that this side
 * passed.
 */
struct switch_transfer {
    void *context;
    void *data;
};

struct switch_transfer jump_fcontext(void *context, void *data);
void *make_fcontext(void *top, size_t size, void (*entry)(struct switch_transfer transfer));

/** What the side that leaves passes to the side that arrives. */
struct switch_parcel {
    void **from;
    void *data;
};

SWITCH_INLINE void *switch_unpack(struct switch_transfer transfer)
{
    struct switch_parcel *parcel = transfer.data;
    *parcel->from = transfer.context;
    return parcel->data;
}

SWITCH_INLINE void *switch_jump(void **from, void *to, void *data)
{
    struct switch_parcel parcel = {.from = from, .data = data};
    return switch_unpack(jump_fcontext(to, &parcel));
}

SWITCH_INLINE void *switch_prepare(char *top, size_t size,
                                   void (*entry)(struct switch_transfer transfer))
{
    return make_fcontext(top, size, entry);
}

/** As on x86-64. */
SWITCH_INLINE bool switch_is_possible(void)
{
    return true;
}

#endif
#endif
