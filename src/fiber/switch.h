/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Switches from one stack to another: the few instructions that C cannot express. Used in src/fiber
 * only.
 *
 * On x86-64 they are here, inline, so that the compiler saves only registers in use, and so that
 * there is no return that the processor cannot predict. On other processors, with shadow stacks,
 * and with FIBER_BOOST defined, they are the two assembly functions of boost.context, with C
 * prototypes from this file (the library has C linkage but only C++ headers).
 *
 * A context is a stack that was left, or was never entered. Jumping to it uses it up.
 */
#ifndef FIBER_SWITCH_H
#define FIBER_SWITCH_H

#include <stddef.h>
#include <stdint.h>

#define SWITCH_INLINE __attribute__((__always_inline__)) static inline

#if defined(__x86_64__) && defined(__LP64__) && !defined(__CET__) && !defined(FIBER_BOOST)

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
 * rbx and rbp are saved by hand, because compilers may reserve them. The red zone below the stack
 * is skipped. The control words of the floating point units are not saved: they belong to the
 * thread, and a fiber must not rely on them across a wait. Reading them would take as long as all
 * the rest.
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
                         "1:\n\t"
                         "popq %%rbx\n\t"
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
    /* Push a return address of 0, as a call would do, so that the stack is aligned as the ABI requires. */
    uintptr_t *words = (uintptr_t *)(void *)(top - (uintptr_t)top % 16);
    words[-1] = 0;
    words[-2] = (uintptr_t)entry;
    return words - 2;
}

#else
#define SWITCH_IS_BOOST 1

/**
 * What boost.context gives to the side that arrives: the context of the side that left, and the data that it passed.
 */
struct switch_transfer {
    void *context;
    void *data;
};

struct switch_transfer jump_fcontext(void *context, void *data);
void *make_fcontext(void *top, size_t size, void (*entry)(struct switch_transfer transfer));

/** What one side of a jump passes to the other. */
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

#endif
#endif
