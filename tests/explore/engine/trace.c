/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 64, TEXTS_MAX = 8, TEXT_SIZE_MAX = 64 };

static struct {
    const void *address;
    const char *name;
} names[NAMES_MAX];
static int names_count;
static bool names_are_known;

static char *text_new(void)
{
    static char texts[TEXTS_MAX][TEXT_SIZE_MAX];
    static int next;
    return texts[next++ % TEXTS_MAX];
}

void trace_begin(void)
{
    names_count = 0;
    names_are_known = false;
}

void trace_names_end(void)
{
    names_are_known = true;
}

void explore_name(const void *address, const char *name)
{
    if (names_are_known || names_count == NAMES_MAX)
        return;
    names[names_count].address = address;
    names[names_count++].name = name;
}

const char *trace_name(const void *address)
{
    for (int i = 0; i < names_count; i++)
        if (names[i].address == address)
            return names[i].name;
    char *text = text_new();
    snprintf(text, TEXT_SIZE_MAX, "%p", address);
    return text;
}

const char *trace_word(enum explore_kind kind, uint64_t value)
{
    if (kind == EXPLORE_POINTER)
        return trace_name((const void *)(uintptr_t)value);
    char *text = text_new();
    snprintf(text, TEXT_SIZE_MAX, value < 1024 ? "%" PRIu64 : "0x%" PRIx64, value);
    return text;
}

const char *trace_place(const struct explore_site *site)
{
    const char *slash = strrchr(site->file, '/');
    char *text = text_new();
    snprintf(text, TEXT_SIZE_MAX, "%s:%d", slash ? slash + 1 : site->file, site->line);
    return text;
}

void trace_print(const struct explore_site *site, const char *format, ...)
{
    const char *thread = machine.current < 0 ? "" : machine.model->threads[machine.current].name;
    printf("  %4u  %-12s %-16s ", machine.steps, thread, site ? trace_place(site) : "");
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

void explore_note(const char *format, ...)
{
    if (!machine.is_traced)
        return;
    char text[FAILURE_SIZE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    trace_print(NULL, "%s", text);
}
