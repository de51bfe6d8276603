/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What is at an address: functions, also static ones, lines, and files that have neither.
 */
#include "support/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/lines.h"
#include "os/symbols.h"

__attribute__((__noinline__)) static int twice(volatile int *number)
{
    *number += *number;
    return *number;
}
enum { TWICE_LINE = __LINE__ - 5 };

static uintptr_t address_of_twice(void)
{
    return (uintptr_t)twice;
}

TEST(a_static_function_has_a_name_a_file_and_a_line, "S-10", "SU-26")
{
    struct symbol symbol;
    volatile int number = 3;
    ck_assert_int_eq(twice(&number), 6);
    tr__symbol_find(NULL, address_of_twice(), &symbol);
    ck_assert_str_eq(symbol.function, "twice");
    ck_assert_str_eq(symbol.file, "os_symbols_test.c");
    ck_assert_uint_ge(symbol.line, TWICE_LINE);
    ck_assert_uint_le(symbol.line, TWICE_LINE + 2);
    char text[100];
    tr__symbol_print(&symbol, text, sizeof text);
    ck_assert_int_eq(strncmp(text, "twice (os_symbols_test.c:", 25), 0);
}

TEST(a_function_of_a_library_has_at_least_an_offset, "S-10")
{
    struct symbol symbol;
    tr__symbol_find(NULL, (uintptr_t)getpid, &symbol);
    ck_assert_str_ne(symbol.object, "");
    ck_assert_uint_ne(symbol.offset, 0);
    char text[200];
    tr__symbol_print(&symbol, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "libc"));
}

TEST(an_address_that_is_nowhere_is_a_number, "S-10")
{
    struct symbol symbol;
    char text[200];
    tr__symbol_find(NULL, 16, &symbol);
    tr__symbol_print(&symbol, text, sizeof text);
    ck_assert_str_eq(text, "0x10");
    ck_assert_int_eq(tr__symbol_print(&symbol, text, 3), 4); /* cut as by snprintf */
    ck_assert_str_eq(text, "0x");
}

TEST(what_was_found_is_remembered, "S-10")
{
    static struct symbol_cache cache;
    struct symbol first;
    struct symbol second;
    tr__symbol_find(&cache, address_of_twice(), &first);
    /* Another text shows that nobody looks again. */
    for (size_t i = 0; i < SYMBOL_CACHE_SIZE; i++)
        cache.symbols[i].line = 7;
    tr__symbol_find(&cache, address_of_twice(), &second);
    ck_assert_uint_eq(second.line, 7);
    /* More than there is capacity for. */
    for (uintptr_t i = 0; i < 1000; i++)
        tr__symbol_find(&cache, address_of_twice() + i, &second);
    tr__symbol_find(&cache, address_of_twice(), &second);
    ck_assert_str_eq(second.function, "twice");
}

/* ---- Damaged line tables. ---- */

struct file {
    unsigned char *data;
    size_t size;
};

static struct file file_read(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDONLY);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &about), 0);
    struct file file = {malloc((size_t)about.st_size), (size_t)about.st_size};
    ck_assert_int_eq(read(fd, file.data, file.size), about.st_size);
    close(fd);
    return file;
}

/* One unit of version 3, by hand: one file, two rows, 16 bytes of code at 0x1000. */
static const unsigned char small_table[] = {
    0x3a, 0,   0,    0,                              /* length */
    3,    0,                                         /* version */
    0x1c, 0,   0,    0,                              /* length of the head */
    1,    1,   0xfb, 14,  13,                        /* steps; opcodes from 13 on are special */
    0,    1,   1,    1,   1,    0, 0, 0, 1, 0, 0, 1, /* their arguments */
    0,                                               /* no directories */
    'd',  '/', 'a',  '.', 'c',  0, 0, 0, 0,          /* file 1 */
    0,                                               /* no more files */
    0,    9,   2,    0,   0x10, 0, 0, 0, 0, 0, 0,    /* address 0x1000 */
    3,    41,                                        /* line 42 */
    1,                                               /* a row */
    2,    8,   3,    1,   1,                         /* 8 bytes further, line 43: a row */
    2,    8,   0,    1,   1,                         /* 8 bytes further: the end */
};

TEST(a_table_gives_the_row_that_an_address_is_in, "S-10")
{
    const struct lines_tables tables = {.line = {small_table, sizeof small_table}};
    char file[16];
    uint32_t line;
    ck_assert_uint_eq(sizeof small_table, 0x3a + 4);
    ck_assert(!tr__lines_find(&tables, 0xfff, file, sizeof file, &line));
    ck_assert(tr__lines_find(&tables, 0x1000, file, sizeof file, &line));
    ck_assert_str_eq(file, "a.c");
    ck_assert_uint_eq(line, 42);
    ck_assert(tr__lines_find(&tables, 0x1007, file, sizeof file, &line));
    ck_assert_uint_eq(line, 42);
    ck_assert(tr__lines_find(&tables, 0x1008, file, sizeof file, &line));
    ck_assert_uint_eq(line, 43);
    ck_assert(tr__lines_find(&tables, 0x100f, file, 3, &line));
    ck_assert_str_eq(file, "a.");
    ck_assert(!tr__lines_find(&tables, 0x1010, file, sizeof file, &line));
}

TEST(a_table_that_is_cut_or_damaged_gives_no_worse_than_a_wrong_line, "S-10")
{
    unsigned char *copy = malloc(sizeof small_table);
    char file[16];
    uint32_t line;
    for (size_t size = 0; size < sizeof small_table; size++) {
        unsigned char *cut = malloc(size + 1);
        memcpy(cut, small_table, size);
        const struct lines_tables tables = {.line = {cut, size}};
        (void)tr__lines_find(&tables, 0x1008, file, sizeof file, &line);
        free(cut);
    }
    for (size_t i = 0; i < sizeof small_table; i++) {
        for (unsigned value = 0; value < 256; value++) {
            memcpy(copy, small_table, sizeof small_table);
            copy[i] = (unsigned char)value;
            const struct lines_tables tables = {.line = {copy, sizeof small_table}};
            (void)tr__lines_find(&tables, 0x1008, file, sizeof file, &line);
        }
    }
    free(copy);
}

TEST(noise_in_the_place_of_tables_is_read_to_its_end, "S-10")
{
    /* The program itself, as if all of it were tables. */
    struct file file = file_read("/proc/self/exe");
    char name[64];
    uint32_t line;
    for (size_t at = 0; at + 4096 < file.size && at < 400000; at += 997) {
        const struct lines_section part = {file.data + at, file.size - at < 4096 ? 0 : 4096};
        const struct lines_tables tables = {.line = part, .line_str = part, .str = part};
        (void)tr__lines_find(&tables, 0x1000, name, sizeof name, &line);
    }
    free(file.data);
}

SUITE("os symbols", a_static_function_has_a_name_a_file_and_a_line,
      a_function_of_a_library_has_at_least_an_offset, an_address_that_is_nowhere_is_a_number,
      what_was_found_is_remembered, a_table_gives_the_row_that_an_address_is_in,
      a_table_that_is_cut_or_damaged_gives_no_worse_than_a_wrong_line,
      noise_in_the_place_of_tables_is_read_to_its_end)
