/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The lists of holders, and their text.
 */
#include "sleep/holders.h"

#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A text that is cut, never overrun. */
struct line {
    char *text;
    size_t size;
    size_t length;
};

__attribute__((__format__(__printf__, 2, 3))) static void line_add(struct line *line,
                                                                   const char *format, ...)
{
    size_t room = line->size - line->length;
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(line->text + line->length, room, format, arguments);
    va_end(arguments);
    if (written > 0)
        line->length += (size_t)written < room ? (size_t)written : room - 1;
}

static void line_add_holder(struct line *line, const struct holder *holder, tr_time now)
{
    tr_time age = now > holder->since ? now - holder->since : 0;
    line_add(line, "%.32s (", holder->what ? holder->what : "?");
    if (holder->file) {
        const char *slash = strrchr(holder->file, '/');
        line_add(line, "%.32s:%d, ", slash ? slash + 1 : holder->file, holder->line);
    }
    line_add(line,
             "%lld.%03d s)",
             (long long)(age / TR_SECOND),
             (int)(age % TR_SECOND / TR_MILLISECOND));
}

void tr__holders_init(struct holders *holders)
{
    for (int i = 0; i < COUNTER_COUNT; i++) {
        list_init(&holders->of[i]);
        holders->counts[i] = 0;
    }
    holders->raised = 0;
}

/* Into the list of a counter; whatever else a holder says of itself stays. */
static void link_to(struct holders *holders, struct holder *holder, enum sleep_counter counter)
{
    TR_ASSERT((unsigned)counter < COUNTER_COUNT);
    holder->counter = counter;
    list_push_last(&holders->of[counter], &holder->link);
    holders->counts[counter]++;
    holders->raised |= 1U << counter;
}

static void unlink_from(struct holders *holders, struct holder *holder)
{
    TR_ASSERT(holders->counts[holder->counter] > 0);
    list_remove(&holder->link);
    if (--holders->counts[holder->counter] == 0)
        holders->raised &= ~(1U << holder->counter);
}

void tr__holders_add(struct holders *holders, struct holder *holder, enum sleep_counter counter,
                     tr_time now)
{
    TR_ASSERT(!holder_is_raised(holder));
    holder->since = now;
    link_to(holders, holder, counter);
}

void tr__holders_remove(struct holders *holders, struct holder *holder)
{
    TR_ASSERT(holder_is_raised(holder));
    unlink_from(holders, holder);
    holder->link.next = NULL;
}

void tr__holders_move(struct holders *holders, struct holder *holder, enum sleep_counter counter)
{
    TR_ASSERT(holder_is_raised(holder));
    unlink_from(holders, holder);
    link_to(holders, holder, counter);
}

void tr__holders_release(struct holders *holders)
{
    while (holders->raised) {
        struct list *first = list_first(&holders->of[counters_first(holders->raised)]);
        TR_ASSERT(first);
        tr__holders_remove(holders, LIST_OWNER(first, struct holder, link));
    }
}

const char *tr__counter_text(enum sleep_counter counter)
{
    switch (counter) {
#define COUNTER_TEXT(name, text, idle, sleep, destroy)                                             \
    case COUNTER_##name:                                                                           \
        return text;
        SLEEP_COUNTERS(COUNTER_TEXT)
#undef COUNTER_TEXT
    case COUNTER_NONE:
        break;
    }
    return "nothing";
}

size_t tr__holders_print(const struct holders *holders, uint32_t set, tr_time now, char *text,
                         size_t size)
{
    TR_ASSERT(size > 0);
    struct line line = {text, size, 0};
    text[0] = '\0';
    for (set &= holders->raised; set; set &= set - 1) {
        enum sleep_counter counter = counters_first(set);
        line_add(&line, "%s%s: ", line.length ? "; " : "", tr__counter_text(counter));
        uint32_t named = 0;
        LIST_EACH (link, &holders->of[counter]) {
            if (named == HOLDERS_NAMED_MAX)
                break;
            line_add(&line, "%s", named++ ? ", " : "");
            line_add_holder(&line, LIST_OWNER(link, struct holder, link), now);
        }
        if (holders->counts[counter] > named)
            line_add(&line, " and %u more", holders->counts[counter] - named);
    }
    return line.length;
}
