/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors with events that do what a test tells them: a message carries a function of the test, which the
 * handler calls with the state. Their state depends on all events and on their order.
 *
 *     static tr_next add(tr_self *self, const struct book_state *book, int64_t n) { ... }
 *     ck_assert_int_eq(books_do("a", add, 5), 5);
 *
 * `books_events` and `books_kind` are those of the next books_begin; a test may change them before.
 */
#ifndef TROUPE_TESTS_SUPPORT_BOOKS_H
#define TROUPE_TESTS_SUPPORT_BOOKS_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>
#include <unistd.h>

#include "support/test.h"

TR_MESSAGE(acted, (i64, value));
TR_REQUEST(act, acted, (u64, call), (i64, n));
TR_ACTOR(book, act);

/* ---- What happens to a book. ---- */

TR_MESSAGE(added, (i64, n));
TR_MESSAGE(named, (str, name));
TR_MESSAGE(listed, (i64, n), (str, text));
TR_MESSAGE(cleared);
TR_MESSAGE(marked, (i64, n)); /* it has a hook */
TR_MESSAGE(swollen, (u64, size));
TR_MESSAGE(book_item, (i64, n), (str, text));
TR_MESSAGE(book_state, (i64, sum), (u64, count), (u64, hash), (str, name),
           (list(message(book_item)), items), (bytes, fat));

static unsigned books_applied; /* calls of apply functions */

static inline void book_mix(struct book_state *book, uint64_t what)
{
    books_applied++;
    book->count++;
    book->hash = (book->hash ^ what) * 0x100000001b3u + book->count;
}

static inline void apply_added(struct book_state *book, const struct added *event)
{
    book->sum += event->n;
    book_mix(book, (uint64_t)event->n);
}

static inline void apply_named(struct book_state *book, const struct named *event,
                               tr_memory *memory)
{
    book->name = tr_memory_strdup(memory, event->name);
    book_mix(book, event->name ? strlen(event->name) : 99);
}

static inline void apply_listed(struct book_state *book, const struct listed *event,
                                tr_memory *memory)
{
    struct book_item item = {.n = event->n, .text = tr_memory_strdup(memory, event->text)};
    tr_memory_append(memory, book->items, item);
    book_mix(book, 7 + (uint64_t)event->n);
}

static inline void apply_cleared(struct book_state *book)
{
    book->items.count = 0;
    book->name = NULL;
    book_mix(book, 3);
}

static inline void apply_marked(struct book_state *book, const struct marked *event)
{
    book->sum -= event->n;
    book_mix(book, 11 + (uint64_t)event->n);
}

static inline void apply_swollen(struct book_state *book, const struct swollen *event,
                                 tr_memory *memory)
{
    char *fat = tr_memory_alloc(memory, event->size);
    memset(fat, 'x', event->size);
    book->fat.data = fat;
    book->fat.size = event->size;
    book_mix(book, event->size);
}

/* What hooks have seen: their events, and what the test wants to be done besides. */
static int64_t books_hooked[4096];
static unsigned books_hooks;
static tr_next (*books_on_hook)(tr_self *self, const struct book_state *book, int64_t n);

static inline tr_next books_on_marked(tr_self *self, const struct book_state *book,
                                      const struct marked *event)
{
    ck_assert_uint_lt(books_hooks, 4096);
    books_hooked[books_hooks++] = event->n;
    return books_on_hook ? books_on_hook(self, book, event->n) : TR_SAME;
}

TR_EVENTS(books_table, book_state, TR_APPLY(added, apply_added), TR_APPLY(named, apply_named),
          TR_APPLY(listed, apply_listed), TR_APPLY(cleared, apply_cleared),
          TR_APPLY(marked, apply_marked), TR_APPLY(swollen, apply_swollen),
          TR_ON_STORED(marked, books_on_marked));

/* ---- The actor. ---- */

typedef tr_next book_call(tr_self *self, const struct book_state *book, int64_t n);
static book_call *books_on_created;
static book_call *books_on_awake;
static book_call *books_on_sleeping;

static inline tr_next books_created(tr_self *self, const struct book_state *book)
{
    return books_on_created ? books_on_created(self, book, 0) : TR_SAME;
}

static inline tr_next books_awake(tr_self *self, const struct book_state *book)
{
    return books_on_awake ? books_on_awake(self, book, 0) : TR_SAME;
}

static inline tr_next books_sleeping(tr_self *self, const struct book_state *book)
{
    return books_on_sleeping ? books_on_sleeping(self, book, 0) : TR_SAME;
}

static inline tr_next books_act(tr_self *self, const struct book_state *book,
                                const struct act *message)
{
    return ((book_call *)(uintptr_t)message->call)(self, book, message->n);
}

TR_BEHAVIOR(book, const struct book_state, TR_ON(tr_created, books_created),
            TR_ON(tr_awake, books_awake), TR_ON(tr_sleeping, books_sleeping),
            TR_ON(act, books_act));

static tr_events books_events;
static tr_durable_kind tr_durable_book;

/* As they are unless a test says otherwise. */
static inline void books_reset(void)
{
    books_events = books_table;
    tr_durable_book = (tr_durable_kind){
        .size = sizeof(tr_durable_kind),
        .name = "book",
        .behavior = &tr_behavior_book,
        .state = &tr_type_book_state,
        .options = {.idle_ns = 30 * TR_SECOND, .grace_ns = 5 * TR_SECOND, .events = &books_events}};
}

/* ---- The stage. ---- */

static tr_kit *kit;
static tr_client *test;
static char books_directory[64];

static inline void books_begin(uint64_t seed)
{
    kit = tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options),
                                       .seed = seed,
                                       .workers = 2,
                                       .durable = TR_DURABLES(book),
                                       .store = books_directory[0] ? books_directory : NULL});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
}

/* In a directory of its own, so that the next kit finds it again. */
static inline void books_begin_on_disk(uint64_t seed)
{
    snprintf(books_directory, sizeof books_directory, "/tmp/troupe-books-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(books_directory));
    books_begin(seed);
}

static inline void books_again(uint64_t seed)
{
    tr_kit_free(kit);
    books_begin(seed);
}

static inline void books_end(void)
{
    char command[100];
    tr_kit_free(kit);
    kit = NULL;
    snprintf(command, sizeof command, "rm -rf '%s'", books_directory);
    if (books_directory[0])
        ck_assert_int_eq(system(command), 0);
    books_directory[0] = 0;
}

static inline book_ref books_of(const char *key)
{
    book_ref ref;
    ck_assert_int_eq(tr_try_durable(test, &ref, book, key), TR_OK);
    return ref;
}

static inline act_ask books_ask(const char *key, book_call *call, int64_t n)
{
    return tr_ask_within(
        test, TR_HOUR, books_of(key), act, .call = (uint64_t)(uintptr_t)call, .n = n);
}

static inline tr_status books_try(const char *key, book_call *call, int64_t n, int64_t *value)
{
    const struct acted *acted;
    tr_status status = tr_try_await(test, books_ask(key, call, n), &acted);
    if (status == TR_OK && value)
        *value = acted->value;
    return status;
}

static inline int64_t books_do(const char *key, book_call *call, int64_t n)
{
    int64_t value = 0;
    ck_assert_int_eq(books_try(key, call, n, &value), TR_OK);
    return value;
}

/* It sleeps, and is gone. */
static inline void books_nap(void)
{
    tr_kit_advance(kit, TR_MINUTE);
}

/* ---- What most tests do. ---- */

static inline tr_next book_add(tr_self *self, const struct book_state *book, int64_t n)
{
    tr_persist(self, added, .n = n);
    return tr_reply(self, acted, .value = book->sum);
}

static inline tr_next book_add_many(tr_self *self, const struct book_state *book, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        tr_persist(self, added, .n = 1);
    return tr_reply(self, acted, .value = book->sum);
}

static inline tr_next book_mark(tr_self *self, const struct book_state *book, int64_t n)
{
    tr_persist(self, marked, .n = n);
    return tr_reply(self, acted, .value = book->sum);
}

static inline tr_next book_add_and_fail(tr_self *self, const struct book_state *book, int64_t n)
{
    tr_persist(self, added, .n = n);
    tr_persist(self, marked, .n = n);
    ck_assert_uint_gt(book->count, 0);
    if (n % 2)
        tr_crash(self, TR_BAD_DATA, "as told");
    return tr_fail(self, TR_BAD_DATA, "as told");
}

static inline tr_next book_sum(tr_self *self, const struct book_state *book, int64_t n)
{
    (void)n;
    return tr_reply(self, acted, .value = book->sum);
}

static inline tr_next book_count(tr_self *self, const struct book_state *book, int64_t n)
{
    (void)n;
    return tr_reply(self, acted, .value = (int64_t)book->count);
}

static inline tr_next book_last(tr_self *self, const struct book_state *book, int64_t n)
{
    (void)book;
    (void)n;
    return tr_reply(self, acted, .value = (int64_t)tr_event_last(self));
}

static inline tr_next book_snapshot(tr_self *self, const struct book_state *book, int64_t n)
{
    (void)n;
    tr_snapshot(self);
    return tr_reply(self, acted, .value = book->sum);
}

static inline tr_next book_save(tr_self *self, const struct book_state *book, int64_t n)
{
    (void)n;
    tr_save(self);
    return tr_reply(self, acted, .value = book->sum);
}

static inline tr_next book_destroy(tr_self *self, const struct book_state *book, int64_t n)
{
    (void)book;
    (void)n;
    return tr_reply(self, acted, .value = tr_destroy(self));
}

#endif
