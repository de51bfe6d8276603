/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The line table of an object file (DWARF, versions 2 to 5). The table says which source line each address belongs to.
 */
#ifndef OS_LINES_H
#define OS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines_section {
    const unsigned char *data;
    size_t size;
};

/** The sections of the object file. A section that the file does not have is empty. */
struct lines_tables {
    struct lines_section line;     /* .debug_line */
    struct lines_section line_str; /* .debug_line_str */
    struct lines_section str;      /* .debug_str */
};

/**
 * Looks up an address, counted as in the object file. Writes the name of its source file, without
 * directories and cut to `size`, and the number of its line. Returns false if the table does not
 * have the address or is malformed.
 */
bool tr__lines_find(const struct lines_tables *tables, uint64_t address, char *file, size_t size,
                    uint32_t *line);

#endif
