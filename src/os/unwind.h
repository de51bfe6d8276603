/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Finds the callers on the stack of another thread, by the unwind tables (.eh_frame) that compilers emit by default.
 * Needs no frame pointers, and not all registers: of a thread that waits in the kernel, only the stack pointer and the
 * address of the code are known. For x86-64 and arm64. On other processors no callers are found.
 *
 * Memory of the stack is read through tr__own_memory, so on a damaged stack no callers are found, and no fault happens.
 * Not in a signal handler.
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

/** A function on a stack, and the known registers in that function. */
struct unwind {
    struct unwind_registers registers;
    /*
     * for the innermost function an address of its code, for a caller the address that a call
     * returns to
     */
    uintptr_t pc;
    bool is_caller;     /* `pc` is the address that a call returns to */
    uintptr_t function; /* the beginning of the function, after tr__unwind_step; 0: not known */
    /*
     * address of the first byte of the stack that was copied to `copy`; the copy has the innermost
     * part of the stack
     */
    uintptr_t copied;
    size_t copy_size;
    unsigned char copy[UNWIND_COPY_SIZE];
};

/** Sets the stack pointer. Also in a signal handler. */
void tr__unwind_set_sp(struct unwind *unwind, uintptr_t sp);
/**
 * Steps to the caller. Returns false if the caller is not known, or if there is none. Sets `function` in any case, if
 * the function is known.
 */
bool tr__unwind_step(struct unwind *unwind);

/**
 * Copies memory of this process. Returns how many bytes were copied. Memory that is not mapped is not
 * copied, and causes no fault. Also in a signal handler.
 */
size_t tr__own_memory(uintptr_t address, void *to, size_t size);

#endif
