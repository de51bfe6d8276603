/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Finds the callers on the stack of another thread, by the unwind tables (.eh_frame) that compilers emit by default. Needs
 * no frame pointers, and only the registers that are known: of a thread that waits in the kernel these are the stack pointer
 * and the address of its code. x86-64 and arm64; on other processors there are no callers.
 *
 * Memory of the stack is read through tr__own_memory, so a damaged stack gives no callers and no fault. Not in a signal
 * handler.
 */
#ifndef OS_UNWIND_H
#define OS_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UNWIND_REGISTERS = 33, UNWIND_COPY_SIZE = 16 * 1024 };

/** Registers by the numbers of DWARF. */
struct unwind_registers {
    uintptr_t values[UNWIND_REGISTERS];
    uint64_t known; /* a bit for each register whose value is known */
};

/** A function on a stack, and what is known of the registers there. */
struct unwind {
    struct unwind_registers registers;
    uintptr_t pc;   /* an address in the function that runs, or the one that a call returns to */
    bool is_caller; /* `pc` is the address that a call returns to */
    uintptr_t function; /* the beginning of the function, after tr__unwind_step; 0: not known */
    uintptr_t copied;   /* the address of what was copied: the innermost part of the stack */
    size_t copy_size;
    unsigned char copy[UNWIND_COPY_SIZE];
};

/** Sets the stack pointer. Also in a signal handler. */
void tr__unwind_set_sp(struct unwind *unwind, uintptr_t sp);
/** Steps to the caller. False: it is not known, or there is none; `function` is set all the same if it is known. */
bool tr__unwind_step(struct unwind *unwind);

/**
 * Copies memory of this process. Returns how many bytes were copied: what is not mapped is left out, without a fault. Also
 * in a signal handler.
 */
size_t tr__own_memory(uintptr_t address, void *to, size_t size);

#endif
