/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Finds which function, file and line a code address belongs to, as text for people.
 *
 * Reads the symbol table and the line table of the object file. Static functions are found too,
 * unless the file was stripped. If the file has no line table, no lines are found. If it has no
 * symbol table, only the offset in the object is found. Not in a signal handler.
 */
#ifndef OS_SYMBOLS_H
#define OS_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

enum { SYMBOL_CACHE_SIZE = 64 }; /* a power of 2 */

struct symbol {
    char function[64]; /* name of the function, cut to fit; "" when unknown */
    char file[48];     /* the source file without its directories; "" when unknown */
    uint32_t line;     /* 0 when unknown */
    char object[48];   /* the file of the program or library; "" when unknown */
    uintptr_t offset;  /* distance of the address from the beginning of the object in memory */
};

/** A cache of symbols, because faults often repeat. All zero at first. */
struct symbol_cache {
    uintptr_t addresses[SYMBOL_CACHE_SIZE];
    struct symbol symbols[SYMBOL_CACHE_SIZE];
};

/** Finds the symbol at an address. `cache` may be NULL. One thread at a time for each cache. */
void tr__symbol_find(struct symbol_cache *cache, uintptr_t address, struct symbol *symbol);

/** Writes "on_work (crew.c:42)", or as much as is known. Returns the length, as snprintf does. */
int tr__symbol_print(const struct symbol *symbol, char *text, size_t size);

#endif
