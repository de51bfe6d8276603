/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors with events: what a replay makes is what was there, whatever happens between; what a failure takes back;
 * what hooks hear of; and what is refused.
 */
#include "support/books.h"

enum { SEEDS = TEST_SEEDS(20) };

/* ---- Replay is live. ---- */

static uint64_t chance;

/* Numbers below a bound, by the splitmix64 generator. */
static uint64_t below(uint64_t bound)
{
    uint64_t bits = chance += 0x9e3779b97f4a7c15u;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return (bits ^ bits >> 31) % bound;
}

enum { HISTORY = 4096, STEPS = 60, TEXT = 32 };

/* What the state is to be, by the number of the last event. */
struct model {
    int64_t sum;
    uint64_t count;
    uint64_t hash;
    char name[TEXT];
    bool has_name;
    size_t items;
};
static struct model history[HISTORY];
static uint64_t highest;      /* of the model: what was done so far */
static uint64_t acknowledged; /* what has to be there, whatever happens */
static struct model seen;     /* by the last look */

static tr_next look(tr_self *self, const struct book_state *book, int64_t n)
{
    uint64_t last = tr_event_last(self);
    (void)n;
    seen = (struct model){.sum = book->sum,
                          .count = book->count,
                          .hash = book->hash,
                          .has_name = book->name != NULL,
                          .items = book->items.count};
    if (book->name)
        snprintf(seen.name, sizeof seen.name, "%s", book->name);
    for (size_t i = 0; i < book->items.count; i++) {
        char text[TEXT];
        snprintf(text, sizeof text, "item %" PRId64, book->items.items[i].n);
        ck_assert_str_eq(book->items.items[i].text, text);
    }
    return tr_reply(self, acted, .value = (int64_t)last);
}

static struct model *model_next(uint64_t what)
{
    ck_assert_uint_lt(highest + 1, HISTORY);
    struct model *model = &history[highest + 1];
    *model = history[highest];
    model->count++;
    model->hash = (model->hash ^ what) * 0x100000001b3u + model->count;
    highest++;
    return model;
}

static tr_next do_some(tr_self *self, const struct book_state *book, int64_t n)
{
    char text[TEXT];
    struct model *model;
    switch (n % 5) {
    case 0:
    case 1:
        tr_persist(self, added, .n = n);
        model_next((uint64_t)n)->sum += n;
        break;
    case 2:
        snprintf(text, sizeof text, "name %" PRId64, n);
        tr_persist(self, named, .name = n % 3 ? text : NULL);
        model = model_next(n % 3 ? strlen(text) : 99);
        model->has_name = n % 3 != 0;
        snprintf(model->name, TEXT, "%s", n % 3 ? text : "");
        break;
    case 3:
        snprintf(text, sizeof text, "item %" PRId64, n);
        tr_persist(self, listed, .n = n, .text = text);
        model_next(7 + (uint64_t)n)->items++;
        break;
    default:
        tr_persist(self, cleared);
        model = model_next(3);
        model->has_name = false;
        model->name[0] = 0;
        model->items = 0;
        break;
    }
    ck_assert_uint_eq(book->count, history[highest].count);
    return tr_reply(self, acted, .value = 0);
}

static tr_next do_some_in_steps(tr_self *self, const struct book_state *book, int64_t n)
{
    for (int64_t i = 0; i < 3; i++) {
        tr_persist(self, added, .n = n + i);
        model_next((uint64_t)(n + i))->sum += n + i;
        (void)!tr_sleep(self, 0);
    }
    ck_assert_uint_eq(book->count, history[highest].count);
    return tr_reply(self, acted, .value = 0);
}

static void check_now(bool is_exact)
{
    uint64_t last = (uint64_t)books_do("a", look, 0);
    ck_assert_uint_ge(last, acknowledged);
    ck_assert_uint_le(last, highest);
    if (is_exact)
        ck_assert_uint_eq(last, highest);
    struct model *model = &history[last];
    ck_assert_int_eq(seen.sum, model->sum);
    ck_assert_uint_eq(seen.count, model->count);
    ck_assert_uint_eq(seen.hash, model->hash);
    ck_assert_uint_eq(seen.items, model->items);
    ck_assert(seen.has_name == model->has_name);
    ck_assert_str_eq(seen.name, model->name);
    highest = last; /* what is not there has never been */
}

static bool is_sync(void)
{
    return tr_durable_book.options.durability == TR_SAVE_SYNC;
}

static void step(void)
{
    int64_t n = (int64_t)below(1000);
    switch (below(12)) {
    case 0: /* it sleeps: all is stored before */
        books_nap();
        check_now(true);
        acknowledged = highest;
        break;
    case 1:
        ck_assert_int_eq(books_try("a", book_add_and_fail, n, NULL), TR_FAILED);
        check_now(is_sync());
        tr_kit_advance(kit, 20 * TR_SECOND); /* or its parent would lose patience */
        break;
    case 2:
        tr_kill(test, books_of("a"));
        tr_kit_settle(kit);
        check_now(is_sync());
        break;
    case 3:
        books_again(1 + below(1000));
        check_now(true);
        acknowledged = highest;
        break;
    case 4:
        books_do("a", book_snapshot, 0);
        break;
    case 5:
        books_do("a", book_save, 0);
        acknowledged = highest;
        break;
    case 6:
        books_do("a", do_some_in_steps, n);
        break;
    case 7:
        books_do("a", book_destroy, 0);
        books_nap();
        highest = acknowledged = 0;
        check_now(true);
        break;
    default:
        for (uint64_t i = 1 + below(8); i; i--)
            books_do("a", do_some, n + (int64_t)i);
        break;
    }
    if (is_sync())
        acknowledged = highest;
}

static void play(tr_durability durability)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        chance = test_seed() + seed;
        books_reset();
        tr_durable_book.options.durability = durability;
        books_events.snapshots.every = 1 + (uint32_t)below(20);
        books_events.snapshots.kept = 1 + (uint32_t)below(4);
        books_events.snapshots.drops_events = below(2);
        if (below(5) == 0)
            books_events.snapshots.every = TR_NO_SNAPSHOTS;
        memset(&history[0], 0, sizeof history[0]);
        highest = acknowledged = 0;
        books_begin_on_disk(seed);
        for (int i = 0; i < STEPS; i++)
            step();
        books_nap();
        check_now(true);
        books_end();
    }
}

TEST(replay_gives_the_state_that_was, "K-08", "PE-06")
{
    play(TR_SAVE_SYNC);
}

TEST(replay_gives_the_state_that_was_stored_at_intervals, "K-08", "PE-06")
{
    play(TR_SAVE_INTERVAL);
}

TEST(replay_gives_the_state_that_was_stored_on_demand, "K-08", "PE-06")
{
    play(TR_SAVE_ON_DEMAND);
}

/* ---- Commits. ---- */

TEST(a_commit_that_fails_leaves_no_event, "K-08", "K-01", "PE-18")
{
    books_reset();
    books_begin(1);
    books_do("a", book_add, 5);
    for (int64_t n = 0; n < 4; n++) {
        ck_assert_int_eq(books_try("a", book_add_and_fail, n, NULL), TR_FAILED);
        ck_assert_int_eq(books_do("a", book_sum, 0), 5);
        ck_assert_int_eq(books_do("a", book_last, 0), 1);
        tr_kit_advance(kit, 20 * TR_SECOND); /* or its parent would lose patience */
    }
    ck_assert_int_eq(books_do("a", book_add, 5), 10);
    ck_assert_int_eq(books_do("a", book_last, 0), 2);
    ck_assert_uint_eq(books_hooks, 0);
    books_end();
}

static tr_next add_then_wait_then_fail(tr_self *self, const struct book_state *book, int64_t n)
{
    tr_persist(self, added, .n = n);
    (void)!tr_sleep(self, TR_SECOND); /* the commit ends here */
    tr_persist(self, added, .n = 100 * n);
    ck_assert_int_eq(book->sum, 101 * n);
    return tr_fail(self, TR_BAD_DATA, "as told");
}

TEST(a_commit_before_a_wait_stands, "K-08", "K-01")
{
    books_reset();
    books_begin(1);
    ck_assert_int_eq(books_try("a", add_then_wait_then_fail, 3, NULL), TR_FAILED);
    ck_assert_int_eq(books_do("a", book_sum, 0), 3);
    ck_assert_int_eq(books_do("a", book_last, 0), 1);
    books_end();
}

static tr_next add_with_the_rest(tr_self *self, const struct book_state *book, int64_t n)
{
    tr_bytes value;
    if (n < 0)
        return tr_reply(self, acted, .value = tr_kv_get(self, (tr_bytes){"k", 1}, &value));
    tr_kv_put(self, (tr_bytes){"k", 1}, (tr_bytes){"v", 1});
    tr_persist(self, added, .n = n);
    if (n == 7)
        return tr_fail(self, TR_BAD_DATA, "as told");
    return tr_reply(self, acted, .value = book->sum);
}

TEST(events_and_keys_of_a_commit_go_together, "K-08", "K-01")
{
    books_reset();
    books_begin(1);
    ck_assert_int_eq(books_try("a", add_with_the_rest, 7, NULL), TR_FAILED);
    ck_assert_int_eq(books_do("a", add_with_the_rest, -1), 0);
    ck_assert_int_eq(books_do("a", add_with_the_rest, 8), 8);
    books_nap();
    ck_assert_int_eq(books_do("a", add_with_the_rest, -1), 1);
    ck_assert_int_eq(books_do("a", book_sum, 0), 8);
    books_end();
}

static unsigned creations;

static tr_next count_creations(tr_self *self, const struct book_state *book, int64_t n)
{
    (void)self;
    (void)book;
    (void)n;
    creations++;
    return TR_SAME;
}

static tr_next add_in_hook(tr_self *self, const struct book_state *book, int64_t n)
{
    (void)book;
    (void)n;
    tr_persist(self, added, .n = 1000);
    return TR_SAME;
}

TEST(it_is_created_once_and_may_persist_in_each_hook, "K-08", "Z-02")
{
    books_reset();
    books_on_created = count_creations;
    books_begin(1);
    ck_assert_int_eq(books_do("a", book_sum, 0), 0);
    books_nap();
    ck_assert_int_eq(books_do("a", book_sum, 0), 0);
    ck_assert_uint_eq(creations, 1); /* although nothing has happened */
    books_on_awake = add_in_hook;
    books_nap();
    ck_assert_int_eq(books_do("a", book_sum, 0), 1000);
    books_on_awake = NULL;
    books_on_sleeping = add_in_hook;
    books_nap();
    books_on_sleeping = NULL;
    ck_assert_int_eq(books_do("a", book_sum, 0), 2000);
    ck_assert_uint_eq(creations, 1);
    books_end();
}

TEST(destroy_leaves_no_event, "K-08", "PE-08")
{
    books_reset();
    books_events.snapshots.every = 3;
    books_begin(1);
    books_do("a", book_add_many, 20);
    books_do("a", book_destroy, 0);
    books_nap();
    ck_assert_int_eq(books_do("a", book_sum, 0), 0);
    ck_assert_int_eq(books_do("a", book_last, 0), 0);
    ck_assert_int_eq(books_do("a", book_add, 1), 1);
    ck_assert_int_eq(books_do("a", book_last, 0), 1);
    books_end();
}

/* ---- Hooks. ---- */

TEST(a_hook_comes_once_after_the_write_and_never_on_replay, "K-08")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        books_reset();
        books_hooks = 0;
        books_begin_on_disk(seed);
        for (int64_t n = 0; n < 20; n++)
            books_do("a", n % 3 ? book_mark : book_add, n);
        ck_assert_int_eq(books_try("a", book_add_and_fail, 1000, NULL), TR_FAILED);
        tr_kit_settle(kit);
        ck_assert_uint_eq(books_hooks, 13);
        for (unsigned i = 0; i < books_hooks; i++)
            ck_assert_int_eq(books_hooked[i], i / 2 * 3 + 1 + i % 2);
        books_nap();
        books_applied = 0;
        books_do("a", book_sum, 0);
        ck_assert_uint_eq(books_applied, 20);
        books_again(seed);
        books_do("a", book_sum, 0);
        tr_kit_settle(kit);
        ck_assert_uint_eq(books_hooks, 13);
        books_end();
    }
}

static tr_next mark_and_hold(tr_self *self, const struct book_state *book, int64_t n)
{
    tr_persist(self, marked, .n = n);
    unsigned before = books_hooks;
    (void)!tr_sleep(self, 0); /* stored meanwhile: its hook does not wait for this turn */
    (void)!tr_sleep(self, TR_SECOND);
    ck_assert_uint_eq(books_hooks, before + 1);
    return tr_reply(self, acted, .value = book->sum);
}

static tr_next hook_waits_and_persists(tr_self *self, const struct book_state *book, int64_t n)
{
    (void)book;
    (void)!tr_sleep(self, TR_SECOND);
    if (n < 100)
        tr_persist(self, marked, .n = n + 100);
    return TR_SAME;
}

TEST(a_hook_is_a_turn_of_its_own, "K-08")
{
    books_reset();
    books_begin(1);
    books_do("a", mark_and_hold, 1);
    books_on_hook = hook_waits_and_persists;
    books_do("a", book_mark, 2);
    books_do("a", book_mark, 3);
    books_nap();
    ck_assert_uint_eq(books_hooks, 5);
    static const int64_t expected[] = {1, 2, 3, 102, 103};
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(books_hooked[i], expected[i]);
    ck_assert_int_eq(books_do("a", book_sum, 0), -(1 + 2 + 3 + 102 + 103));
    books_end();
}

static tr_next hook_fails(tr_self *self, const struct book_state *book, int64_t n)
{
    (void)book;
    if (n == 2)
        return tr_fail(self, TR_BAD_DATA, "as told");
    return TR_SAME;
}

TEST(hooks_that_are_due_outlive_a_restart, "K-08")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        books_reset();
        books_hooks = 0;
        books_on_hook = hook_fails;
        books_begin(seed);
        act_ask asks[5];
        const struct acted *acted;
        for (int64_t n = 0; n < 5; n++)
            asks[n] = books_ask("a", book_mark, n);
        for (int n = 0; n < 5; n++)
            (void)!tr_try_await(test, asks[n], &acted);
        tr_kit_advance(kit, 5 * TR_SECOND);
        int64_t last = books_do("a", book_last, 0);
        /* All that are stored have been called, the one that failed once; those after it in order. */
        ck_assert_int_eq(books_hooks, last);
        for (unsigned i = 0; i < books_hooks; i++)
            ck_assert_int_eq(books_hooked[i], i);
        books_end();
    }
}

TEST(hooks_come_when_it_is_stored_later_and_before_it_sleeps, "K-08")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        books_reset();
        books_hooks = 0;
        tr_durable_book.options.durability = TR_SAVE_INTERVAL;
        books_begin(seed);
        books_do("a", book_mark, 1);
        tr_kit_settle(kit);
        ck_assert_uint_eq(books_hooks, 0);
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert_uint_eq(books_hooks, 1);
        books_end();

        books_reset();
        tr_durable_book.options.durability = TR_SAVE_ON_DEMAND;
        books_begin(seed);
        books_do("a", book_mark, 2);
        tr_kit_advance(kit, 5 * TR_SECOND);
        ck_assert_uint_eq(books_hooks, 1);
        books_nap(); /* in its grace */
        ck_assert_uint_eq(books_hooks, 2);
        ck_assert_int_eq(books_do("a", book_sum, 0), -2);
        books_do("a", book_mark, 3);
        books_do("a", book_save, 0);
        tr_kit_settle(kit);
        ck_assert_uint_eq(books_hooks, 3);
        books_end();
    }
}

static tr_next mark_in_hook(tr_self *self, const struct book_state *book, int64_t n)
{
    (void)book;
    (void)n;
    tr_persist(self, marked, .n = 77);
    return TR_SAME;
}

TEST(what_tr_sleeping_persists_has_its_hook, "K-08")
{
    for (int durability = TR_SAVE_SYNC; durability <= TR_SAVE_ON_DEMAND; durability++) {
        books_reset();
        books_hooks = 0;
        tr_durable_book.options.durability = (tr_durability)durability;
        books_on_sleeping = mark_in_hook;
        books_begin(3);
        books_do("a", book_sum, 0);
        books_nap();
        ck_assert_uint_eq(books_hooks, 1);
        ck_assert_int_eq(books_do("a", book_sum, 0), -77);
        books_end();
    }
}

SUITE("durable events", replay_gives_the_state_that_was,
      replay_gives_the_state_that_was_stored_at_intervals,
      replay_gives_the_state_that_was_stored_on_demand, a_commit_that_fails_leaves_no_event,
      a_commit_before_a_wait_stands, events_and_keys_of_a_commit_go_together,
      it_is_created_once_and_may_persist_in_each_hook, destroy_leaves_no_event,
      a_hook_comes_once_after_the_write_and_never_on_replay, a_hook_is_a_turn_of_its_own,
      hooks_that_are_due_outlive_a_restart, hooks_come_when_it_is_stored_later_and_before_it_sleeps,
      what_tr_sleeping_persists_has_its_hook)
