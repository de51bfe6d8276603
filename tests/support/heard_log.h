/* SPDX-License-Identifier: Apache-2.0 */
/** For tests of what kits write to the log: the lines from info on, instead of to standard error. */
#ifndef TROUPE_TESTS_SUPPORT_HEARD_LOG_H
#define TROUPE_TESTS_SUPPORT_HEARD_LOG_H

#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *heard_file;
static int heard_saved;
static char heard_text[1 << 16];

/** Keeps what is logged from now on. Call before the kit is opened. */
static void heard_begin(void)
{
    heard_file = tmpfile();
    heard_saved = dup(STDERR_FILENO);
    ck_assert_ptr_nonnull(heard_file);
    ck_assert_int_eq(setenv("TROUPE_KIT_LOG", "info", 1), 0);
    ck_assert_int_ge(dup2(fileno(heard_file), STDERR_FILENO), 0);
}

/** Returns what was logged since heard_begin, and logs to standard error again. */
static const char *heard_end(void)
{
    (void)fflush(stderr);
    ck_assert_int_ge(dup2(heard_saved, STDERR_FILENO), 0);
    (void)close(heard_saved);
    rewind(heard_file);
    heard_text[fread(heard_text, 1, sizeof heard_text - 1, heard_file)] = '\0';
    (void)fclose(heard_file);
    return heard_text;
}

/** How often a text occurs in another. */
__attribute__((__unused__)) static int heard_count(const char *text, const char *what)
{
    int count = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        count++;
    return count;
}

#endif
