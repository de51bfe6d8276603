/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/stacks.h"

#include <stdio.h>
#include <string.h>

#include "actor/system/stall_log.h"
#include "os/symbols.h"

enum { STACK_TEXT_MAX = 2000, FRAME_TEXT_MAX = 200 };

/* The functions of one stack, as texts. A NUL ends each text, and two NULs end the last one. */
struct stack_text {
    uint64_t number; /* number of the long turn; 0: this struct is not used */
    tr_time looked_ns;
    char text[STACK_TEXT_MAX];
};

struct stack_texts {
    struct symbol_cache symbols;
    struct stack_text texts[STALLS_KEPT];
};

static struct stack_texts *texts_of(struct observer *observer)
{
    if (!observer->stacks) {
        observer->stacks = source_resize(observer->source, NULL, sizeof *observer->stacks);
        if (observer->stacks)
            memset(observer->stacks, 0, sizeof *observer->stacks);
    }
    return observer->stacks;
}

/*
 * Whether TR_BEHAVIOR has generated the function, which calls a handler or a set-up. Its callers
 * belong to the runtime.
 */
static bool is_generated(const struct symbol *symbol)
{
    return strncmp(symbol->function, "tr_call_", 8) == 0 ||
           strncmp(symbol->function, "tr_setup_", 9) == 0;
}

/* Finds the functions of a stack and writes their texts. Leaves out functions that do not fit. */
static void text_fill(struct stack_texts *texts, struct stack_text *text,
                      const struct stall_entry *entry)
{
    size_t at = 0;
    char inner[sizeof((struct symbol *)0)->function] = "";
    text->number = entry->number;
    text->looked_ns = entry->stack.looked_ns;
    for (uint32_t i = 0; i < entry->stack.count; i++) {
        struct symbol symbol;
        if (at + FRAME_TEXT_MAX >= STACK_TEXT_MAX)
            break;
        tr__symbol_find(&texts->symbols, entry->stack.frames[i], &symbol);
        bool is_last = is_generated(&symbol);
        if (is_last && entry->handler)
            (void)snprintf(symbol.function, sizeof symbol.function, "%.63s", entry->handler);
        /* Code that was compiled without optimization has the handler as a function of its own,
         * which was already written. */
        if (is_last && i && entry->handler && strcmp(inner, entry->handler) == 0)
            break;
        memcpy(inner, symbol.function, sizeof inner);
        (void)tr__symbol_print(&symbol, text->text + at, FRAME_TEXT_MAX);
        at += strlen(text->text + at) + 1;
        if (is_last)
            break;
    }
    text->text[at] = '\0';
}

/* Returns the text of a stack. If the text was not made yet, makes it, in place of the text of the oldest turn. Returns
 * NULL if there is no memory. */
static const char *text_of(struct observer *observer, const struct stall_entry *entry)
{
    struct stack_texts *texts = texts_of(observer);
    struct stack_text *place = NULL;
    for (size_t i = 0; texts && i < STALLS_KEPT; i++) {
        struct stack_text *text = &texts->texts[i];
        if (text->number == entry->number) {
            place = text;
            break;
        }
        if (!place || text->number < place->number)
            place = text;
    }
    if (place && (place->number != entry->number || place->looked_ns != entry->stack.looked_ns))
        text_fill(texts, place, entry);
    return place ? place->text : NULL;
}

void tr__stack_write(struct visitor *visitor, const struct stall_entry *entry)
{
    struct observer *observer = visitor->observer;
    struct json_line *line = &visitor->output;
    const char *text = entry->stack.count ? text_of(observer, entry) : NULL;
    if (!text)
        return;
    tr__json_open(line, "stack", '[');
    for (; *text; text += strlen(text) + 1)
        tr__json_string(line, NULL, text);
    tr__json_close(line, ']');
    tr_time age_ns = tr__observer_now(observer) - entry->stack.looked_ns;
    tr__json_signed(line, "stack_age_ms", age_ns / TR_MILLISECOND);
}

void tr__stack_texts_free(struct observer *observer)
{
    source_resize(observer->source, observer->stacks, 0);
    observer->stacks = NULL;
}
