/* SPDX-License-Identifier: Apache-2.0 */
/** The lists of wake locks, and their text for people. */
#include "sleep/wake_locks.h"

#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A text in a buffer. Cuts off what does not fit. */
struct line {
    char *text;
    size_t size;
    size_t length;
};

__attribute__((__format__(__printf__, 2, 3))) static void line_add(struct line *line,
                                                                   const char *format, ...)
{
    size_t left = line->size - line->length;
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(line->text + line->length, left, format, arguments);
    va_end(arguments);
    if (written > 0)
        line->length += (size_t)written < left ? (size_t)written : left - 1;
}

static void line_add_wake_lock(struct line *line, const struct wake_lock *wake_lock, tr_time now)
{
    tr_time age = now > wake_lock->since ? now - wake_lock->since : 0;
    line_add(line, "%.32s (", wake_lock->what ? wake_lock->what : "?");
    if (wake_lock->file) {
        const char *slash = strrchr(wake_lock->file, '/');
        line_add(line, "%.32s:%d, ", slash ? slash + 1 : wake_lock->file, wake_lock->line);
    }
    line_add(line,
             "%lld.%03d s)",
             (long long)(age / TR_SECOND),
             (int)(age % TR_SECOND / TR_MILLISECOND));
}

void tr__wake_locks_init(struct wake_locks *wake_locks)
{
    for (int i = 0; i < COUNTER_COUNT; i++) {
        list_init(&wake_locks->of[i]);
        wake_locks->counts[i] = 0;
    }
    wake_locks->raised = 0;
}

/* Links a wake lock into the list of a counter. Does not change when the wake lock was raised. */
static void link_to(struct wake_locks *wake_locks, struct wake_lock *wake_lock,
                    enum sleep_counter counter)
{
    TR_ASSERT((unsigned)counter < COUNTER_COUNT);
    wake_lock->counter = counter;
    list_push_last(&wake_locks->of[counter], &wake_lock->link);
    wake_locks->counts[counter]++;
    wake_locks->raised |= 1U << counter;
}

static void unlink_from(struct wake_locks *wake_locks, struct wake_lock *wake_lock)
{
    TR_ASSERT(wake_locks->counts[wake_lock->counter] > 0);
    list_remove(&wake_lock->link);
    if (--wake_locks->counts[wake_lock->counter] == 0)
        wake_locks->raised &= ~(1U << wake_lock->counter);
}

void tr__wake_locks_add(struct wake_locks *wake_locks, struct wake_lock *wake_lock,
                        enum sleep_counter counter, tr_time now)
{
    TR_ASSERT(!wake_lock_is_raised(wake_lock));
    wake_lock->since = now;
    link_to(wake_locks, wake_lock, counter);
}

void tr__wake_locks_remove(struct wake_locks *wake_locks, struct wake_lock *wake_lock)
{
    TR_ASSERT(wake_lock_is_raised(wake_lock));
    unlink_from(wake_locks, wake_lock);
    wake_lock->link.next = NULL;
}

void tr__wake_locks_move(struct wake_locks *wake_locks, struct wake_lock *wake_lock,
                         enum sleep_counter counter)
{
    TR_ASSERT(wake_lock_is_raised(wake_lock));
    unlink_from(wake_locks, wake_lock);
    link_to(wake_locks, wake_lock, counter);
}

void tr__wake_locks_release(struct wake_locks *wake_locks)
{
    while (wake_locks->raised) {
        struct list *first = list_first(&wake_locks->of[counters_first(wake_locks->raised)]);
        TR_ASSERT(first);
        tr__wake_locks_remove(wake_locks, LIST_OWNER(first, struct wake_lock, link));
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

size_t tr__wake_locks_print(const struct wake_locks *wake_locks, uint32_t set, tr_time now,
                            char *text, size_t size)
{
    TR_ASSERT(size > 0);
    struct line line = {text, size, 0};
    text[0] = '\0';
    for (set &= wake_locks->raised; set; set &= set - 1) {
        enum sleep_counter counter = counters_first(set);
        line_add(&line, "%s%s: ", line.length ? "; " : "", tr__counter_text(counter));
        uint32_t named = 0;
        LIST_EACH (link, &wake_locks->of[counter]) {
            if (named == WAKE_LOCKS_NAMED_MAX)
                break;
            line_add(&line, "%s", named++ ? ", " : "");
            line_add_wake_lock(&line, LIST_OWNER(link, struct wake_lock, link), now);
        }
        if (wake_locks->counts[counter] > named)
            line_add(&line, " and %u more", wake_locks->counts[counter] - named);
    }
    return line.length;
}
