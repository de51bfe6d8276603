/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Journals of events over a store of arrays: recovery against the live state, bounds, retention, damage.
 */
#include "base/rng.h"
#include "durable/journal.h"
#include "support/fake_memory.h"
#include "support/test.h"

enum { EVENTS_MAX = 4096 };

/* A store that can lose and damage things. An event is a number; so is a snapshot: the state. */
struct store {
    uint64_t events[EVENTS_MAX]; /* by sequence */
    bool has_event[EVENTS_MAX];
    uint64_t snapshots[EVENTS_MAX]; /* by sequence */
    bool has_snapshot[EVENTS_MAX];
    bool is_damaged[EVENTS_MAX]; /* a snapshot */
    uint64_t doubled;            /* an event that is given twice */
    uint64_t fail_at;            /* an event that the disk cannot read */
    uint64_t highest;            /* kept beside the events: it outlives them */
    uint64_t first;
    bool is_greedy; /* gives more than it was asked for */
};

static const uint64_t damage = 0xdddddddd;

static tr_status store_snapshot(void *context, uint64_t most, journal_sink on_snapshot, void *sink)
{
    struct store *store = context;
    for (uint64_t i = most < EVENTS_MAX ? most : EVENTS_MAX - 1; i > 0; i--) {
        if (store->has_snapshot[i]) {
            const void *bytes = store->is_damaged[i] ? &damage : &store->snapshots[i];
            return on_snapshot(sink, i, bytes, store->is_damaged[i] ? 3 : 8);
        }
    }
    return TR_NOT_FOUND;
}

static tr_status store_events(void *context, uint64_t from, uint64_t to, journal_sink on_event,
                              void *sink)
{
    struct store *store = context;
    ck_assert_uint_ge(from, 1);
    to += store->is_greedy;
    for (uint64_t i = from; i <= to && i < EVENTS_MAX; i++) {
        tr_status status = i == store->fail_at ? TR_FAILED : TR_OK;
        for (int times = i == store->doubled ? 2 : 1; times > 0 && status == TR_OK; times--) {
            if (store->has_event[i])
                status = on_event(sink, i, &store->events[i], sizeof store->events[i]);
        }
        if (status != TR_OK)
            return status;
    }
    return TR_OK;
}

/* A state in which the order of all events matters. */
struct state {
    uint64_t value;
    uint64_t count; /* of events that came, snapshots not counted */
    uint64_t last;
    uint64_t resets;
};

static uint64_t apply(uint64_t value, uint64_t event)
{
    return rng_rotate(value, 7) * UINT64_C(0x9e3779b97f4a7c15) + event;
}

static void state_reset(void *context)
{
    struct state *state = context;
    state->value = 0;
    state->count = 0;
    state->resets++;
}

static tr_status state_snapshot(void *context, uint64_t sequence, const void *bytes, size_t size)
{
    struct state *state = context;
    if (size != sizeof state->value)
        return TR_BAD_DATA;
    memcpy(&state->value, bytes, size);
    state->last = sequence;
    return TR_OK;
}

static tr_status state_event(void *context, uint64_t sequence, const void *bytes, size_t size)
{
    struct state *state = context;
    uint64_t event = 0;
    ck_assert_uint_eq(size, sizeof event);
    memcpy(&event, bytes, size);
    state->value = apply(state->value, event);
    state->last = sequence;
    state->count++;
    return TR_OK;
}

/* ---- One that lives. ---- */

struct live {
    struct journal journal;
    uint64_t value;
    uint64_t history[EVENTS_MAX]; /* the state after each event */
};

static void append(struct live *live, struct store *store, uint64_t count, struct rng *rng)
{
    uint64_t first = 0;
    ck_assert_int_eq(tr__journal_append(&live->journal, live->journal.highest, count, &first),
                     TR_OK);
    for (uint64_t i = first; i < first + count; i++) {
        MODEL_ASSERT(!store->has_event[i]); /* no number comes twice */
        store->events[i] = rng_next(rng);
        store->has_event[i] = true;
        live->value = apply(live->value, store->events[i]);
        live->history[i] = live->value;
    }
    store->highest = first + count - 1;
}

static void save(struct live *live, struct store *store)
{
    uint64_t sequence = live->journal.highest;
    store->snapshots[sequence] = live->value;
    store->has_snapshot[sequence] = true;
    ck_assert_int_eq(tr__journal_saved(&live->journal, sequence), TR_OK);
}

/* Deletes what may be deleted, or a part of it when the machine stops meanwhile. */
static void trim(struct live *live, struct store *store, const struct journal_policy *policy,
                 struct rng *rng)
{
    struct journal_trim trim = tr__journal_trim(&live->journal, policy);
    if (rng_below(rng, 4) == 0)
        trim.snapshots = 0;
    if (rng_below(rng, 4) == 0 && trim.snapshots < trim.events)
        trim.events = trim.snapshots + rng_below(rng, trim.events - trim.snapshots + 1);
    for (uint64_t i = 1; i <= trim.events; i++)
        store->has_event[i] = false;
    for (uint64_t i = 1; i <= trim.snapshots; i++)
        store->has_snapshot[i] = false;
    if (trim.events >= store->first)
        store->first = trim.events + 1;
    tr__journal_trimmed(&live->journal, &trim);
    ck_assert_uint_eq(live->journal.first, store->first);
}

static struct journal_source source_of(struct store *store)
{
    return (struct journal_source){store, store_snapshot, store_events};
}

static struct journal_target target_of(struct state *state)
{
    return (struct journal_target){state, state_reset, state_snapshot, state_event};
}

static tr_status recover(const struct journal *journal, struct store *store, struct state *state,
                         uint64_t to, struct journal_result *story)
{
    struct journal_source source = source_of(store);
    struct journal_target target = target_of(state);
    return tr__journal_recover(journal, &source, &target, to, story);
}

/* As a process that starts: all that it knows is the store's. */
static void reopen(struct live *live, struct store *store)
{
    struct state state = {.value = 77};
    struct journal_result story;
    uint64_t before = live->journal.highest;
    ck_assert_int_eq(tr__journal_open(&live->journal, store->first, store->highest), TR_OK);
    for (uint64_t i = store->highest; i > 0; i--) { /* in any order: the newest first */
        if (store->has_snapshot[i])
            ck_assert_int_eq(tr__journal_saved(&live->journal, i), TR_OK);
    }
    ck_assert_uint_eq(live->journal.highest, before);
    ck_assert_int_eq(recover(&live->journal, store, &state, UINT64_MAX, &story), TR_OK);
    ck_assert_uint_eq(state.value, live->value);
    ck_assert_uint_eq(story.sequence, before);
    ck_assert_uint_eq(story.events, before - story.snapshot);
    ck_assert_uint_eq(story.events, state.count);
}

TEST(replay_is_the_live_state_for_random_commands, "")
{
    struct rng rng;
    rng_init(&rng, test_seed());
    for (uint64_t round = 0; round < test_scale(60, 5000); round++) {
        static struct store store;
        static struct live live;
        struct journal_policy policy = {.snapshot_every = rng_below(&rng, 30),
                                        .keep = (uint32_t)rng_below(&rng, 10),
                                        .keeps_events = rng_below(&rng, 4) == 0};
        store = (struct store){.first = 1};
        live = (struct live){.value = 0};
        tr__journal_init(&live.journal);
        for (int step = 0; step < 150; step++) {
            uint64_t highest = live.journal.highest;
            switch (rng_below(&rng, 6)) {
            case 0:
                reopen(&live, &store);
                break;
            case 1:
                trim(&live, &store, &policy, &rng);
                break;
            case 2:
                if (highest > 0 && rng_below(&rng, 4) == 0)
                    save(&live, &store);
                break;
            default:
                append(&live, &store, 1 + rng_below(&rng, 12), &rng);
                if (tr__journal_wants_snapshot(&live.journal, &policy))
                    save(&live, &store);
                break;
            }
            MODEL_ASSERT(live.journal.highest >= highest);
            MODEL_ASSERT(live.journal.first <= live.journal.highest + 1);
            MODEL_ASSERT(!tr__journal_wants_snapshot(&live.journal, &policy));
        }
        reopen(&live, &store);
        /* Each earlier state that can be had is right, and the others are refused. */
        for (uint64_t to = 0; to <= live.journal.highest; to++) {
            struct state state = {.value = 77};
            struct journal_result story;
            tr_status status = recover(&live.journal, &store, &state, to, &story);
            bool is_there = to == 0 || store.first == 1;
            for (uint64_t i = 1; i <= to && !is_there; i++)
                is_there = store.has_snapshot[i] && (i == to || i + 1 >= store.first);
            MODEL_ASSERT((status == TR_OK) == is_there);
            MODEL_ASSERT(status == TR_OK || status == TR_BAD_DATA);
            MODEL_ASSERT(status != TR_OK || state.value == live.history[to]);
        }
    }
}

/* ---- A journal of 100 events, with snapshots at 40 and 80. ---- */

static struct store store;
static struct live live;

static void make(void)
{
    struct rng rng;
    rng_init(&rng, 1);
    store = (struct store){.first = 1};
    live = (struct live){.value = 0};
    tr__journal_init(&live.journal);
    append(&live, &store, 40, &rng);
    save(&live, &store);
    append(&live, &store, 40, &rng);
    save(&live, &store);
    append(&live, &store, 20, &rng);
}

TEST(snapshots_shorten_the_way, "")
{
    struct state state = {.value = 0};
    struct journal_result story;
    make();
    ck_assert_int_eq(recover(&live.journal, &store, &state, UINT64_MAX, &story), TR_OK);
    ck_assert_uint_eq(story.snapshot, 80);
    ck_assert_uint_eq(story.events, 20);
    ck_assert_int_eq(recover(&live.journal, &store, &state, 79, &story), TR_OK);
    ck_assert_uint_eq(story.snapshot, 40);
    ck_assert_uint_eq(story.events, 39);
    ck_assert_uint_eq(state.value, live.history[79]);
    ck_assert_int_eq(recover(&live.journal, &store, &state, 80, &story), TR_OK);
    ck_assert_uint_eq(story.events, 0);
    ck_assert_int_eq(recover(&live.journal, &store, &state, 0, &story), TR_OK);
    ck_assert_uint_eq(state.value, 0);
    ck_assert_uint_eq(story.sequence, 0);
}

TEST(a_missing_or_damaged_snapshot_gives_way_to_an_older_one, "")
{
    struct state state = {.value = 0};
    struct journal_result story;
    make();
    store.is_damaged[80] = true;
    ck_assert_int_eq(recover(&live.journal, &store, &state, UINT64_MAX, &story), TR_OK);
    ck_assert_uint_eq(story.snapshot, 40);
    ck_assert_uint_eq(story.damaged, 1);
    ck_assert_uint_eq(state.value, live.value);
    store.has_snapshot[80] = false;
    store.is_damaged[40] = true;
    ck_assert_int_eq(recover(&live.journal, &store, &state, UINT64_MAX, &story), TR_OK);
    ck_assert_uint_eq(story.snapshot, 0);
    ck_assert_uint_eq(story.events, 100);
    ck_assert_uint_eq(state.value, live.value);
    store.has_snapshot[40] = false;
    ck_assert_int_eq(recover(&live.journal, &store, &state, UINT64_MAX, &story), TR_OK);
    ck_assert_uint_eq(story.damaged, 0);
    ck_assert_uint_eq(story.events, 100);
    /* With the events gone nothing can stand for them. */
    make();
    tr__journal_trimmed(&live.journal, &(struct journal_trim){.events = 80, .snapshots = 79});
    store.is_damaged[80] = store.is_damaged[40] = true;
    ck_assert_int_eq(recover(&live.journal, &store, &state, UINT64_MAX, &story), TR_BAD_DATA);
    ck_assert_uint_eq(story.sequence, 1);
    ck_assert_uint_eq(story.damaged, 2);
}

TEST(holes_doubles_and_a_bad_disk_are_no_state, "")
{
    struct state state = {.value = 0};
    struct journal_result story;
    make();
    store.has_event[90] = false;
    ck_assert_int_eq(recover(&live.journal, &store, &state, UINT64_MAX, &story), TR_BAD_DATA);
    ck_assert_uint_eq(story.sequence, 90);
    ck_assert_int_eq(recover(&live.journal, &store, &state, 89, &story), TR_OK);
    make();
    store.has_event[100] = false;
    ck_assert_int_eq(recover(&live.journal, &store, &state, UINT64_MAX, &story), TR_BAD_DATA);
    ck_assert_uint_eq(story.sequence, 100);
    make();
    store.doubled = 85;
    ck_assert_int_eq(recover(&live.journal, &store, &state, UINT64_MAX, &story), TR_BAD_DATA);
    ck_assert_uint_eq(story.sequence, 86);
    make();
    store.doubled = 100;
    ck_assert_int_eq(recover(&live.journal, &store, &state, UINT64_MAX, &story), TR_BAD_DATA);
    make();
    store.is_greedy = true;
    ck_assert_int_eq(recover(&live.journal, &store, &state, 90, &story), TR_BAD_DATA);
    ck_assert_uint_eq(state.last, 90);
    make();
    store.fail_at = 95;
    ck_assert_int_eq(recover(&live.journal, &store, &state, UINT64_MAX, &story), TR_FAILED);
    ck_assert_uint_eq(story.sequence, 95);
}

static uint64_t replayed(uint64_t from, uint64_t to, uint64_t count, uint64_t *last)
{
    struct state state = {.value = 0};
    struct journal_source source = source_of(&store);
    ck_assert_int_eq(
        tr__journal_replay(&live.journal, &source, from, to, count, state_event, &state), TR_OK);
    if (last)
        *last = state.last;
    return state.count;
}

TEST(replay_keeps_to_its_bounds, "")
{
    uint64_t last = 0;
    make();
    ck_assert_uint_eq(replayed(0, UINT64_MAX, UINT64_MAX, &last), 100);
    ck_assert_uint_eq(last, 100);
    ck_assert_uint_eq(replayed(1, 100, 0, NULL), 0);
    ck_assert_uint_eq(replayed(1, 100, 1, &last), 1);
    ck_assert_uint_eq(last, 1);
    ck_assert_uint_eq(replayed(7, 7, 5, &last), 1);
    ck_assert_uint_eq(last, 7);
    ck_assert_uint_eq(replayed(8, 7, 5, NULL), 0);
    ck_assert_uint_eq(replayed(50, 60, 11, &last), 11);
    ck_assert_uint_eq(last, 60);
    ck_assert_uint_eq(replayed(50, 60, 10, &last), 10);
    ck_assert_uint_eq(last, 59);
    ck_assert_uint_eq(replayed(101, UINT64_MAX, 10, NULL), 0);
    ck_assert_uint_eq(replayed(UINT64_MAX, UINT64_MAX, UINT64_MAX, NULL), 0);
    /* A prefix is deleted. */
    tr__journal_trimmed(&live.journal, &(struct journal_trim){.events = 40});
    ck_assert_uint_eq(replayed(1, 100, UINT64_MAX, NULL), 60);
    ck_assert_uint_eq(replayed(1, 40, UINT64_MAX, NULL), 0);
    ck_assert_uint_eq(replayed(1, 41, UINT64_MAX, &last), 1);
    ck_assert_uint_eq(last, 41);
    ck_assert_uint_eq(replayed(1, 100, 2, &last), 2);
    ck_assert_uint_eq(last, 42);
    /* A journal of nothing. */
    tr__journal_init(&live.journal);
    ck_assert_uint_eq(replayed(0, UINT64_MAX, UINT64_MAX, NULL), 0);
}

TEST(numbers_are_given_once, "")
{
    struct journal journal;
    uint64_t first = 77;
    tr__journal_init(&journal);
    ck_assert_int_eq(tr__journal_append(&journal, 0, 0, &first), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__journal_append(&journal, 1, 1, &first), TR_REFUSED);
    ck_assert_uint_eq(first, 77);
    ck_assert_int_eq(tr__journal_append(&journal, 0, 3, &first), TR_OK);
    ck_assert_uint_eq(first, 1);
    ck_assert_int_eq(tr__journal_append(&journal, 0, 1, &first), TR_REFUSED); /* a stale writer */
    ck_assert_int_eq(tr__journal_append(&journal, 3, UINT64_MAX, &first), TR_LIMIT);
    /* All events go, and the numbers continue. */
    ck_assert_int_eq(tr__journal_saved(&journal, 3), TR_OK);
    struct journal_trim trim = tr__journal_trim(&journal, &(struct journal_policy){.keep = 1});
    ck_assert_uint_eq(trim.events, 3);
    ck_assert_uint_eq(trim.snapshots, 2);
    tr__journal_trimmed(&journal, &trim);
    ck_assert_uint_eq(journal.first, 4);
    ck_assert_uint_eq(journal.highest, 3);
    ck_assert_int_eq(tr__journal_append(&journal, 3, 1, &first), TR_OK);
    ck_assert_uint_eq(first, 4);
    ck_assert_int_eq(tr__journal_open(&journal, 4, 3), TR_OK);
    ck_assert_int_eq(tr__journal_open(&journal, 5, 3), TR_BAD_DATA);
    ck_assert_int_eq(tr__journal_open(&journal, 0, 3), TR_BAD_DATA);
    ck_assert_int_eq(tr__journal_open(&journal, 1, UINT64_MAX), TR_BAD_DATA);
}

TEST(what_is_kept_is_what_was_asked_for, "")
{
    struct journal journal;
    uint64_t first = 0;
    tr__journal_init(&journal);
    ck_assert_int_eq(tr__journal_append(&journal, 0, 1000, &first), TR_OK);
    ck_assert_int_eq(tr__journal_saved(&journal, 0), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__journal_saved(&journal, 1001), TR_INVALID_ARGUMENT);
    for (uint64_t i = 1000; i >= 100; i -= 100) { /* ten, and eight are counted */
        ck_assert_int_eq(tr__journal_saved(&journal, i), TR_OK);
        ck_assert_int_eq(tr__journal_saved(&journal, i), TR_OK);
    }
    ck_assert_uint_eq(journal.snapshot_count, 8);
    ck_assert_uint_eq(journal.snapshots[0], 300);
    ck_assert_int_eq(tr__journal_saved(&journal, 350), TR_OK);
    ck_assert_uint_eq(journal.snapshots[0], 350);
    ck_assert_uint_eq(journal.snapshots[7], 1000);
    for (uint32_t keep = 0; keep < 20; keep++) {
        struct journal_trim trim =
            tr__journal_trim(&journal, &(struct journal_policy){.keep = keep});
        uint64_t oldest = keep == 0 ? 0 : keep >= 8 ? 350 : 1100 - keep * 100;
        ck_assert_uint_eq(trim.events, oldest);
        ck_assert_uint_eq(trim.snapshots, oldest ? oldest - 1 : 0);
    }
    /* Fewer than are to be kept: nothing goes. */
    tr__journal_trimmed(&journal, &(struct journal_trim){900, 899});
    ck_assert_uint_eq(journal.snapshot_count, 2);
    ck_assert_uint_eq(tr__journal_trim(&journal, &(struct journal_policy){.keep = 3}).events, 0);
}

SUITE("durable journal", replay_is_the_live_state_for_random_commands, snapshots_shorten_the_way,
      a_missing_or_damaged_snapshot_gives_way_to_an_older_one,
      holes_doubles_and_a_bad_disk_are_no_state, replay_keeps_to_its_bounds, numbers_are_given_once,
      what_is_kept_is_what_was_asked_for)
