/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The registers of a thread that a signal interrupted, on x86-64 and arm64. Used by os/fault.c.
 *
 * On other processors registers_pc and registers_sp return 0 and the other functions do nothing.
 */
#ifndef OS_REGISTERS_H
#define OS_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#if defined(__x86_64__)
enum { REGISTERS_ARE_KNOWN = true };

static inline uintptr_t registers_pc(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline uintptr_t registers_sp(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}

/*
 * Copies the registers. The register to which DWARF gives the number n goes to values[n]. Sets bit
 * n of *known if that register is known.
 */
static inline void registers_copy(const ucontext_t *context, uintptr_t *values, uint64_t *known)
{
    static const uint8_t order[] = {REG_RAX,
                                    REG_RDX,
                                    REG_RCX,
                                    REG_RBX,
                                    REG_RSI,
                                    REG_RDI,
                                    REG_RBP,
                                    REG_RSP,
                                    REG_R8,
                                    REG_R9,
                                    REG_R10,
                                    REG_R11,
                                    REG_R12,
                                    REG_R13,
                                    REG_R14,
                                    REG_R15};
    for (size_t i = 0; i < sizeof order; i++)
        values[i] = (uintptr_t)context->uc_mcontext.gregs[order[i]];
    *known = (UINT64_C(1) << sizeof order) - 1;
}

/*
 * Changes the context as if the called function had returned at once. For a call of an address
 * without code.
 */
static inline void registers_step_back(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    registers[REG_RIP] = *(const greg_t *)registers[REG_RSP];
    registers[REG_RSP] += (greg_t)sizeof(greg_t);
}

/* Changes the context so that the thread continues in function(argument) on an empty stack. */
static inline void registers_redirect(ucontext_t *context, char *top,
                                      void (*function)(void *argument), void *argument)
{
    greg_t *registers = context->uc_mcontext.gregs;
    uintptr_t aligned = ((uintptr_t)top & ~(uintptr_t)15) - 64;
    memset((void *)(aligned - 8), 0, 72); /* zeros, at which unwinders end their walk */
    registers[REG_RSP] = (greg_t)(aligned - 8);
    registers[REG_RBP] = 0;
    registers[REG_RIP] = (greg_t)(uintptr_t)function;
    registers[REG_RDI] = (greg_t)(uintptr_t)argument;
    registers[REG_EFL] &= ~(greg_t)0x500; /* clears the direction flag and the trap flag */
    if (context->uc_mcontext.fpregs) {
        /* Marks the x87 registers as free, with no pending exception. */
        context->uc_mcontext.fpregs->swd = 0;
        context->uc_mcontext.fpregs->ftw = 0;
        context->uc_mcontext.fpregs->mxcsr &= ~(uint32_t)0x3f;
    }
}
#elif defined(__aarch64__)
enum { REGISTERS_ARE_KNOWN = true };

static inline uintptr_t registers_pc(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.pc;
}

static inline uintptr_t registers_sp(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.sp;
}

static inline void registers_copy(const ucontext_t *context, uintptr_t *values, uint64_t *known)
{
    enum { GENERAL = 31 };
    for (size_t i = 0; i < GENERAL; i++)
        values[i] = (uintptr_t)context->uc_mcontext.regs[i];
    *known = (UINT64_C(1) << GENERAL) - 1;
}

static inline void registers_step_back(ucontext_t *context)
{
    context->uc_mcontext.pc = context->uc_mcontext.regs[30];
}

static inline void registers_redirect(ucontext_t *context, char *top,
                                      void (*function)(void *argument), void *argument)
{
    uintptr_t aligned = ((uintptr_t)top & ~(uintptr_t)15) - 64;
    memset((void *)aligned, 0, 64);
    context->uc_mcontext.sp = aligned;
    context->uc_mcontext.pc = (uintptr_t)function;
    context->uc_mcontext.regs[0] = (uintptr_t)argument;
    context->uc_mcontext.regs[29] = 0;
    context->uc_mcontext.regs[30] = 0;
}
#else
enum { REGISTERS_ARE_KNOWN = false };

static inline uintptr_t registers_pc(const ucontext_t *context)
{
    (void)context;
    return 0;
}

static inline uintptr_t registers_sp(const ucontext_t *context)
{
    (void)context;
    return 0;
}

static inline void registers_copy(const ucontext_t *context, uintptr_t *values, uint64_t *known)
{
    (void)context;
    (void)values;
    *known = 0;
}

static inline void registers_step_back(ucontext_t *context)
{
    (void)context;
}

static inline void registers_redirect(ucontext_t *context, char *top,
                                      void (*function)(void *argument), void *argument)
{
    (void)context;
    (void)top;
    (void)function;
    (void)argument;
}
#endif

#endif
