/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What others do to actors that move between workers, at any moment: watch and unwatch, suspend,
 * resume, stop and kill, ask, and fill their mailboxes.
 */
#include "support/kits.h"

static uint64_t chance_bits;

static uint32_t chance(uint32_t count)
{
    chance_bits = chance_bits * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(chance_bits >> 33) % count;
}

static int any_worker(void)
{
    return (int)chance((uint32_t)home + 1);
}

TR_MESSAGE(poke, (u32, n));
TR_MESSAGE(number, (u32, index));

static tr_next on_poke(void)
{
    return TR_SAME;
}

/* ---- Watches. ---- */

TR_ACTOR(target, poke);
TR_BEHAVIOR(target, void, TR_ON(poke, on_poke));

enum { TARGETS = 8, WATCHERS = 3 };
TR_ACTOR(watcher, poke);

static target_ref targets[TARGETS];
static watcher_ref watchers[WATCHERS];
static bool watches[WATCHERS][TARGETS];
static bool has_ended[TARGETS];
static uint64_t signals;

struct watcher {
    uint32_t index;
};

static tr_next watcher_setup(struct watcher *watcher, const struct number *message)
{
    watcher->index = message->index;
    return TR_SAME;
}

static tr_next watcher_poke(tr_self *self, struct watcher *watcher)
{
    uint32_t who = chance(TARGETS);
    bool is_on = chance(3);
    watches[watcher->index][who] = is_on;
    if (is_on)
        tr_watch(self, targets[who]);
    else
        tr_unwatch(self, targets[who]);
    return TR_SAME;
}

static tr_next watcher_terminated(struct watcher *watcher, const struct tr_terminated *message)
{
    uint32_t who = 0;
    while (who < TARGETS && !tr_is_same(tr_any(targets[who]), message->who))
        who++;
    ck_assert_uint_lt(who, TARGETS);
    ck_assert(has_ended[who]);
    ck_assert_msg(watches[watcher->index][who],
                  "seed %" PRIu64 ": %u hears of %u, whom it does not watch",
                  kits_seed,
                  watcher->index,
                  who);
    watches[watcher->index][who] = false;
    signals++;
    return TR_SAME;
}
TR_BEHAVIOR(watcher, struct watcher, TR_SETUP_WITH(number, watcher_setup),
            TR_ON(poke, watcher_poke), TR_ON(tr_terminated, watcher_terminated));

static void play_watch(void)
{
    chance_bits = kits_seed;
    memset(watches, 0, sizeof watches);
    memset(has_ended, 0, sizeof has_ended);
    for (int i = 0; i < TARGETS; i++)
        ck_assert_int_eq(tr_try_spawn_at(test, &targets[i], any_worker(), target, NULL), TR_OK);
    for (uint32_t i = 0; i < WATCHERS; i++)
        ck_assert_int_eq(
            tr_try_spawn_at(test, &watchers[i], any_worker(), watcher, NULL, number, .index = i),
            TR_OK);
    for (int i = 0; i < 150; i++) {
        uint32_t who = chance(TARGETS);
        tr_tell(test, targets[who], poke);
        tr_tell(test, watchers[chance(WATCHERS)], poke);
        if (i > 60 && !chance(12)) {
            has_ended[who] = true;
            if (chance(2))
                tr_stop(test, targets[who]);
            else
                tr_kill(test, targets[who]);
        }
        kit_steps(chance(8));
        if (i % 8 == 0)
            tr_kit_check(kit);
    }
    if (!chance(4))
        tr_kill(test, watchers[0]);
    tr_kit_settle(kit);
    for (int i = 0; i < WATCHERS; i++) {
        bool lives = tr_tell(test, watchers[i], poke) == TR_OK;
        for (int k = 0; k < TARGETS; k++)
            ck_assert_msg(!lives || !watches[i][k] || !has_ended[k],
                          "seed %" PRIu64 ": %d never heard of %d",
                          kits_seed,
                          i,
                          k);
    }
    memset(has_ended, true, sizeof has_ended); /* they do now */
}

TEST(one_signal_comes_for_each_watch_while_both_move, "D-07", "WP-12")
{
    signals = 0;
    kits_each_moving(60, play_watch);
    ck_assert_uint_gt(signals, 12 * TEST_SEEDS(60));
}

/* ---- Orders. ---- */

enum verb { NOTE, SUSPEND, RESUME, STOP, KILL };
TR_MESSAGE(command, (u32, verb), (u32, n));
TR_MESSAGE(note, (u32, n));
TR_ACTOR(commander, command);
TR_ACTOR(soldier, note, poke);

static soldier_ref soldier;
static commander_ref commander;
static uint32_t notes_sent; /* by the commander, those that were taken */
static uint32_t notes_handled;

static tr_next soldier_note(const struct note *message)
{
    ck_assert_uint_eq(message->n, notes_handled);
    notes_handled++;
    return TR_SAME;
}
TR_BEHAVIOR(soldier, void, TR_ON(note, soldier_note), TR_ON(poke, on_poke));

static tr_next on_command(tr_self *self, const struct command *message)
{
    switch ((enum verb)message->verb) {
    case NOTE:
        if (tr_tell(self, soldier, note, .n = notes_sent) == TR_OK)
            notes_sent++;
        break;
    case SUSPEND:
        tr_suspend(self, soldier);
        break;
    case RESUME:
        tr_resume(self, soldier);
        break;
    case STOP:
        tr_stop(self, soldier);
        break;
    case KILL:
        tr_kill(self, soldier);
        break;
    }
    return TR_SAME;
}
TR_BEHAVIOR(commander, void, TR_ON(command, on_command));

static void orders_open(void)
{
    chance_bits = kits_seed;
    notes_sent = notes_handled = 0;
    ck_assert_int_eq(tr_try_spawn_at(test, &soldier, any_worker(), soldier, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &commander, any_worker(), commander, NULL), TR_OK);
    tr_kit_settle(kit); /* one that has not started cannot be suspended */
}

static void order(enum verb verb)
{
    ck_assert_int_eq(tr_tell(test, commander, command, .verb = verb), TR_OK);
    kit_steps(chance(6));
}

/* Both are told something, and so both move. */
static void order_notes(uint32_t count)
{
    while (count--) {
        order(NOTE);
        if (chance(2))
            tr_tell(test, soldier, poke);
    }
}

static void play_suspend(void)
{
    orders_open();
    for (int i = 0; i < 12; i++) {
        order_notes(chance(8));
        order(SUSPEND);
        tr_kit_settle(kit);
        uint32_t handled = notes_handled;
        order_notes(chance(8));
        tr_kit_settle(kit);
        ck_assert_uint_eq(notes_handled, handled);
        tr_kit_check(kit);
        order(RESUME);
        order_notes(chance(8));
        if (chance(2))
            tr_kit_settle(kit);
    }
    tr_kit_settle(kit);
    ck_assert_uint_eq(notes_handled, notes_sent);
}

TEST(a_mover_is_suspended_and_resumed_at_any_moment, "D-07", "WP-12")
{
    kits_each_moving(40, play_suspend);
}

static void play_stop(void)
{
    orders_open();
    order_notes(chance(12));
    order(STOP);
    order_notes(chance(6));
    tr_kit_settle(kit);
    /* What was sent before the pill was handled, and what came behind it was not. */
    ck_assert_int_eq(tr_tell(test, soldier, poke), TR_STOPPED);
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.live, 1);
    ck_assert_uint_le(notes_handled, notes_sent);
}

/* The pill and the notes come from the client, so it is known what came before. */
static void play_stop_exactly(void)
{
    orders_open();
    uint32_t before = chance(12);
    for (uint32_t i = 0; i < before; i++) {
        ck_assert_int_eq(tr_tell(test, soldier, note, .n = i), TR_OK);
        kit_steps(chance(3));
    }
    ck_assert_int_eq(tr_stop(test, soldier), TR_OK);
    for (uint32_t i = 0; i < 3; i++) {
        (void)tr_tell(test, soldier, note, .n = before + i);
        kit_steps(chance(3));
    }
    tr_kit_settle(kit);
    ck_assert_uint_eq(notes_handled, before);
    ck_assert_int_eq(tr_tell(test, soldier, poke), TR_STOPPED);
}

static void play_kill(void)
{
    orders_open();
    order_notes(chance(12));
    if (chance(2))
        order(SUSPEND);
    order(KILL);
    order_notes(chance(6));
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_tell(test, soldier, poke), TR_STOPPED);
    ck_assert_uint_le(notes_handled, notes_sent);
    size_t dead = dead_letters(TR_STOPPED);
    ck_assert_uint_ge(dead, notes_sent - notes_handled);
}

TEST(a_mover_is_stopped_and_killed_at_any_moment, "D-07", "WP-12")
{
    kits_each_moving(100, play_stop);
    kits_each_moving(100, play_stop_exactly);
    kits_each_moving(100, play_kill);
}

/* ---- Asks. ---- */

TR_MESSAGE(answer, (u32, n));
TR_REQUEST(question, answer, (u32, n));
TR_ACTOR(asked, question, poke);
TR_ACTOR(asker, poke);

enum { ASKED = 3, ASKERS = 3 };
enum { REPLIES, IS_SILENT, PUTS_OFF, FAILS, STOPS, REFUSES, WAYS };

static asked_ref asked[ASKED];
static asker_ref askers[ASKERS];
static uint32_t asks_made;
static uint32_t asks_ended;
static uint32_t asks_by_status[256];

struct asked {
    tr_later later;
    uint32_t n;
};

static tr_next asked_question(tr_self *self, struct asked *state, const struct question *message)
{
    uint32_t way = chance(3) ? REPLIES : chance(WAYS);
    switch (way) {
    case REPLIES:
        return tr_reply(self, answer, .n = message->n * 3);
    case PUTS_OFF:
        state->later = tr_reply_later(self);
        state->n = message->n;
        break;
    case FAILS:
        return tr_fail(self, TR_FAILED, "by chance");
    case STOPS:
        return chance(4) ? tr_reply(self, answer, .n = message->n * 3) : TR_STOP;
    case REFUSES:
        return tr_refuse(self, TR_REFUSED, "by chance");
    default:
        break;
    }
    return TR_SAME;
}

static tr_next asked_poke(tr_self *self, struct asked *state)
{
    if (state->later.number)
        (void)tr_reply_to(self, state->later, answer, .n = state->n * 3);
    state->later = (tr_later){0};
    return TR_SAME;
}
TR_BEHAVIOR(asked, struct asked, TR_ON(question, asked_question), TR_ON(poke, asked_poke));

static tr_next asker_poke(tr_self *self, const struct poke *message)
{
    const struct answer *reply = NULL;
    asks_made++;
    question_ask ask = tr_ask_within(
        self, (1 + message->n % 4) * MS, asked[message->n % ASKED], question, .n = message->n);
    tr_status status = tr_try_await(self, ask, &reply);
    asks_ended++;
    asks_by_status[-status]++;
    if (status == TR_OK)
        ck_assert_uint_eq(reply->n, message->n * 3);
    return TR_SAME;
}
TR_BEHAVIOR(asker, void, TR_ON(poke, asker_poke));

static void play_asks(void)
{
    chance_bits = kits_seed;
    asks_made = asks_ended = 0;
    for (int i = 0; i < ASKED; i++)
        ck_assert_int_eq(tr_try_spawn_at(test, &asked[i], any_worker(), asked, NULL), TR_OK);
    for (int i = 0; i < ASKERS; i++)
        ck_assert_int_eq(tr_try_spawn_at(test, &askers[i], any_worker(), asker, NULL), TR_OK);
    for (uint32_t i = 0; i < 80; i++) {
        ck_assert_int_eq(tr_tell(test, askers[chance(ASKERS)], poke, .n = i), TR_OK);
        tr_tell(test, asked[chance(ASKED)], poke);
        kit_steps(chance(8));
        if (!chance(4))
            tr_kit_advance(kit, chance(3) * MS);
    }
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_uint_eq(asks_made, 80);
    ck_assert_uint_eq(asks_ended, 80);
}

TEST(an_ask_to_a_mover_has_exactly_one_outcome, "AK-13", "D-07")
{
    memset(asks_by_status, 0, sizeof asks_by_status);
    kits_each_moving(60, play_asks);
    static const tr_status all[] = {TR_OK, TR_TIMEOUT, TR_STOPPED, TR_NO_REPLY, TR_REFUSED};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ck_assert_msg(asks_by_status[-all[i]] > 0, "%s never came", tr_status_name(all[i]));
}

/* ---- Bounded mailboxes. ---- */

enum { SENDERS = 3, BOUND = 4, EACH = 30 };
TR_MESSAGE(item, (u32, from), (u32, n));
TR_ACTOR(sender, poke);

static tr_ref box;
static uint32_t box_next[SENDERS];
static uint32_t box_handled;
static uint32_t items_taken;
static uint32_t items_full;
static bool is_parking; /* nothing may be lost */
static sender_ref senders[SENDERS];
static uint32_t sender_next[SENDERS];

static tr_next box_item(const struct item *message)
{
    if (is_parking)
        ck_assert_uint_eq(message->n, box_next[message->from]);
    ck_assert_uint_ge(message->n, box_next[message->from]);
    box_next[message->from] = message->n + 1;
    box_handled++;
    return TR_SAME;
}
#define BOX(name, policy)                                                                          \
    TR_BEHAVIOR(                                                                                   \
        name, void, TR_ON(item, box_item), TR_OPTIONS(.mailbox_max = BOUND, .overflow = policy))
BOX(box_fail, TR_OVERFLOW_FAIL);
BOX(box_newest, TR_DROP_NEWEST);
BOX(box_oldest, TR_DROP_OLDEST);
BOX(box_park, TR_PARK);

struct sender {
    uint32_t index;
};

static tr_next sender_setup(struct sender *sender, const struct number *message)
{
    sender->index = message->index;
    return TR_SAME;
}

static tr_next sender_poke(tr_self *self, struct sender *sender, const struct poke *message)
{
    for (uint32_t i = 0; i < message->n; i++) {
        tr_status status =
            tr_tell(self, box, item, .from = sender->index, .n = sender_next[sender->index]++);
        ck_assert(status == TR_OK || (status == TR_MAILBOX_FULL && !is_parking));
        items_taken += status == TR_OK;
        items_full += status == TR_MAILBOX_FULL;
    }
    return TR_SAME;
}
TR_BEHAVIOR(sender, struct sender, TR_SETUP_WITH(number, sender_setup), TR_ON(poke, sender_poke));

static void box_play(const tr_behavior *behavior)
{
    const tr_spawn_args args = {.size = sizeof args, .behavior = behavior, .worker = any_worker()};
    uint64_t bits;
    ck_assert_int_eq(tr_client_try_spawn(test, &args, &bits), TR_OK);
    box = tr_ref_from_bits(bits);
    memset(box_next, 0, sizeof box_next);
    memset(sender_next, 0, sizeof sender_next);
    box_handled = items_taken = items_full = 0;
    is_parking = behavior == &tr_behavior_box_park;
    tr_counters before;
    tr_counters after;
    tr_system_counters(tr_kit_system(kit), &before);
    for (uint32_t i = 0; i < SENDERS; i++)
        ck_assert_int_eq(
            tr_try_spawn_at(test, &senders[i], any_worker(), sender, NULL, number, .index = i),
            TR_OK);
    for (int i = 0; i < EACH; i++) {
        tr_tell(test, senders[chance(SENDERS)], poke, .n = chance(BOUND + 2));
        kit_steps(chance(8));
        tr_kit_check(kit);
    }
    tr_kit_settle(kit);
    tr_system_counters(tr_kit_system(kit), &after);
    uint64_t dead = after.dead_letters - before.dead_letters;
    if (behavior == &tr_behavior_box_fail) {
        ck_assert_uint_eq(dead, items_full);
        ck_assert_uint_eq(box_handled, items_taken);
    } else {
        ck_assert_uint_eq(items_full, 0);
        ck_assert_uint_eq(box_handled + dead, items_taken);
    }
    if (is_parking)
        ck_assert_uint_eq(dead, 0);
    for (int i = 0; i < SENDERS; i++)
        tr_stop(test, senders[i]);
    tr_stop(test, box);
    tr_kit_settle(kit);
}

static void play_boxes(void)
{
    chance_bits = kits_seed;
    box_play(&tr_behavior_box_fail);
    box_play(&tr_behavior_box_newest);
    box_play(&tr_behavior_box_oldest);
    box_play(&tr_behavior_box_park);
}

TEST(mailboxes_of_movers_keep_their_bounds, "D-07", "WP-12")
{
    kits_each_moving(60, play_boxes);
}

/* ---- Questions. ---- */

/* Who asks why a mover does nothing makes it move, and hears that it waits for messages. */
static void play_why(void)
{
    target_ref target = {0};
    chance_bits = kits_seed;
    ck_assert_int_eq(tr_try_spawn_at(test, &target, any_worker(), target, NULL), TR_OK);
    tr_kit_settle(kit);
    for (int i = 0; i < 20; i++) {
        tr_why_report report;
        ck_assert_int_eq(tr_actor_why(test, target, &report), TR_OK);
        ck_assert_uint_eq(report.count, 1);
        ck_assert_str_eq(tr_why_name(report.reasons[0].kind), "TR_WHY_IDLE");
        ck_assert_str_eq(report.state, "Running");
    }
}

TEST(a_mover_that_does_nothing_says_so, "D-07")
{
    kits_each_moving(40, play_why);
}

SUITE("moves under orders", one_signal_comes_for_each_watch_while_both_move,
      a_mover_is_suspended_and_resumed_at_any_moment, a_mover_is_stopped_and_killed_at_any_moment,
      an_ask_to_a_mover_has_exactly_one_outcome, mailboxes_of_movers_keep_their_bounds,
      a_mover_that_does_nothing_says_so)
