/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Timers under slow handlers, jumping clocks and wrong arguments, what their messages carry, random
 * use against a model, and lack of memory. timers_test.c has the rest.
 */
#include "support/kits.h"

TR_MESSAGE(tick, (u32, n));
TR_MESSAGE(sub, (str, name), (list(u32), numbers));
TR_MESSAGE(parcel, (u32, n), (str, text), (bytes, data), (list(message(sub)), subs),
           (buffer, shared), (array(u8, 300), wide));
TR_MESSAGE(unknown, (u32, n));
TR_ACTOR(subject, run, tick, parcel);

static subject_ref subject;
static tr_time zero_ns;
static tr_next (*during)(tr_self *self, uint32_t n);

static int since(tr_self *self)
{
    return (int)((tr_now(self) - zero_ns) / MS);
}

static tr_next on_tick(tr_self *self, const struct tick *message)
{
    say("%d:%u", since(self), (unsigned)message->n);
    return during ? during(self, message->n) : TR_SAME;
}

static tr_next on_parcel(tr_self *self, const struct parcel *m)
{
    ck_assert_str_eq(m->text, "text");
    ck_assert_uint_eq(m->data.size, 5);
    ck_assert_mem_eq(m->data.data, "bytes", 5);
    ck_assert_uint_eq(m->subs.count, 2);
    ck_assert_str_eq(m->subs.items[1].name, "sub");
    ck_assert_uint_eq(m->subs.items[1].numbers.items[2], 30);
    ck_assert_str_eq(tr_buffer_data(m->shared), "shared");
    ck_assert_uint_eq(m->wide[299], 7);
    say("%d:%u", since(self), (unsigned)m->n);
    return during ? during(self, m->n) : TR_SAME;
}

static tr_next on_stop(void)
{
    say("end");
    return TR_SAME;
}

TR_BEHAVIOR(subject, void, TR_ON(run, on_run), TR_ON(tick, on_tick), TR_ON(parcel, on_parcel),
            TR_ON(tr_post_stop, on_stop), TR_OPTIONS(.restart = TR_TEMPORARY));

static void begin(turn *first)
{
    during = NULL;
    ck_assert_int_eq(tr_try_spawn_at(test, &subject, home, subject, NULL), TR_OK);
    tr_kit_settle(kit);
    zero_ns = tr_kit_now(kit);
    TELL_RUN(test, subject, first);
    tr_kit_settle(kit);
}

/* ---- Handlers that take time, and clocks that jump. ---- */

static struct hand hand;
static int slow_ms;
static int slow_turns; /* of these the handler is slow */

static tr_next be_slow(tr_self *self, uint32_t n)
{
    (void)self;
    (void)n;
    if (slow_turns-- > 0)
        hand.mono_ns += slow_ms * MS;
    return TR_SAME;
}

static void hand_begin(turn *first)
{
    hand_open(&hand);
    said_length = 0;
    during = NULL;
    ck_assert_int_eq(tr_try_spawn(hand.client, &subject, subject, NULL), TR_OK);
    zero_ns = hand.mono_ns;
    TELL_RUN(hand.client, subject, first);
    hand_run(&hand);
}

static tr_next arm_delay(tr_self *self)
{
    tr_timer_fixed_delay(self, "d", 10 * MS, tick, .n = 1);
    return TR_SAME;
}

static tr_next arm_rate(tr_self *self)
{
    tr_timer_fixed_rate(self, "r", 10 * MS, tick, .n = 1);
    return TR_SAME;
}

TEST(fixed_delay_does_not_pile_up_behind_a_slow_handler, "T-01", "TM-06")
{
    hand_begin(arm_delay);
    during = be_slow;
    slow_ms = 35;
    slow_turns = 2;
    hand_leap(&hand, 10 * MS);
    SAID("10:1");
    ck_assert_int_eq(hand.mono_ns - zero_ns, 45 * MS);
    hand_leap(&hand, 10 * MS - 1);
    SAID("");
    hand_leap(&hand, 1);
    SAID("55:1");
    hand_leap(&hand, 10 * MS);
    SAID("100:1");
    hand_leap(&hand, 10 * MS);
    SAID("110:1");
    hand_close(&hand);
}

TEST(fixed_rate_makes_up_for_missed_ticks_with_one, "T-01", "TM-07")
{
    hand_begin(arm_rate);
    during = be_slow;
    slow_ms = 35;
    slow_turns = 1;
    hand_leap(&hand, 10 * MS);
    SAID("10:1; 45:1"); /* the ticks of 20, 30 and 40 are one */
    hand_leap(&hand, 5 * MS - 1);
    SAID("");
    hand_leap(&hand, 1);
    SAID("50:1");
    /* A handler that is slow again and again gets one tick after another, and no more. */
    slow_ms = 25;
    slow_turns = 3;
    hand_leap(&hand, 10 * MS);
    SAID("60:1; 85:1; 110:1; 135:1");
    hand_leap(&hand, 5 * MS);
    SAID("140:1");
    hand_close(&hand);
}

TEST(a_pause_of_a_minute_gives_no_burst, "T-01", "TM-08")
{
    hand_begin(arm_rate);
    TELL_RUN(hand.client, subject, arm_delay);
    hand_run(&hand);
    hand_leap(&hand, 60 * TR_SECOND + 3 * MS);
    SAID("60003:1; 60003:1");
    hand_leap(&hand, 7 * MS);
    SAID("60010:1");
    hand_leap(&hand, 3 * MS);
    SAID("60013:1");
    hand_close(&hand);
}

static tr_next arm_once(tr_self *self)
{
    tr_timer_once(self, "o", 10 * MS, tick, .n = 2);
    return TR_SAME;
}

TEST(wall_clock_jumps_do_not_move_timers, "T-01", "TM-09")
{
    hand_begin(arm_rate);
    TELL_RUN(hand.client, subject, arm_delay);
    hand_run(&hand);
    tr_time jumps[] = {24 * TR_HOUR, -48 * TR_HOUR, 24 * TR_HOUR, -TR_HOUR};
    for (int i = 0; i < 4; i++) {
        hand.wall_ns += jumps[i];
        TELL_RUN(hand.client, subject, arm_once);
        hand_run(&hand);
        SAID("");
        hand_leap(&hand, 10 * MS - 1);
        SAID("");
        hand.wall_ns -= TR_SECOND;
        hand_leap(&hand, 1);
        char words[64];
        int at = 10 * (i + 1);
        snprintf(words, sizeof words, "%d:1; %d:1; %d:2", at, at, at);
        SAID(words);
    }
    hand_close(&hand);
}

/* ---- Arguments. ---- */

static const struct tick one_tick = {1};

static tr_status try_timer(tr_self *self, const char *key, tr_timer_kind kind, tr_time ns)
{
    return tr_self_try_timer(self, key, kind, ns, &tr_type_tick, &one_tick, NULL);
}

static tr_next try_arguments(tr_self *self)
{
    char key[TR_TIMER_KEY_MAX + 2];
    memset(key, 'k', sizeof key);
    key[TR_TIMER_KEY_MAX + 1] = '\0';
    for (int kind = TR_TIMER_ONCE; kind <= TR_TIMER_FIXED_DELAY; kind++) {
        tr_timer_kind k = (tr_timer_kind)kind;
        ck_assert_int_eq(try_timer(self, "a", k, -1), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(try_timer(self, "a", k, INT64_MIN), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(try_timer(self, "", k, 1), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(try_timer(self, key, k, 1), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(try_timer(self, key + 1, k, TR_NEVER), TR_OK);
        ck_assert_int_eq(tr_timer_cancel(self, key), TR_TIMER_NONE);
        ck_assert_int_eq(tr_timer_cancel(self, key + 1), TR_TIMER_CANCELLED);
    }
    ck_assert_int_eq(try_timer(self, "a", TR_TIMER_FIXED_RATE, 0), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(try_timer(self, NULL, TR_TIMER_FIXED_DELAY, 0), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(try_timer(self, "a", (tr_timer_kind)3, 1), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(try_timer(NULL, "a", TR_TIMER_ONCE, 1), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_try_timer(self, "a", TR_TIMER_ONCE, 1, NULL, &one_tick, NULL),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_try_timer(self, "a", TR_TIMER_ONCE, 1, &tr_type_tick, NULL, NULL),
                     TR_INVALID_ARGUMENT);
    /* None of these has touched a timer of that key. */
    ck_assert_int_eq(try_timer(self, "a", TR_TIMER_ONCE, 5 * MS), TR_OK);
    ck_assert_int_eq(try_timer(self, "a", TR_TIMER_FIXED_RATE, 0), TR_INVALID_ARGUMENT);
    say("tried");
    return TR_SAME;
}

static tr_next arm_negative(tr_self *self)
{
    tr_timer_once(self, "a", -1, tick, .n = 1);
    say("no way");
    return TR_SAME;
}

static void play_arguments(void)
{
    begin(try_arguments);
    tr_kit_advance(kit, TR_SECOND);
    SAID("tried; 5:1");
    TELL_RUN(test, subject, arm_negative);
    tr_kit_settle(kit);
    SAID("end");
}

TEST(wrong_arguments_are_refused_and_change_nothing, "T-01", "U-02")
{
    kits_each(play_arguments);
}

#define TEN_YEARS (INT64_C(3652) * 24 * TR_HOUR)

static tr_next arm_ten_years(tr_self *self)
{
    tr_timer_once(self, "years", TEN_YEARS, tick, .n = 1);
    tr_timer_once(self, "never", TR_NEVER, tick, .n = 2);
    tr_timer_fixed_rate(self, "rate", TR_NEVER - 1, tick, .n = 3);
    tr_timer_once(self, "now", 0, tick, .n = 4);
    return TR_SAME;
}

static tr_next note_exact(tr_self *self, uint32_t n)
{
    if (n == 1)
        ck_assert_int_eq(tr_now(self) - zero_ns, TEN_YEARS);
    return TR_SAME;
}

static void play_ten_years(void)
{
    begin(arm_ten_years);
    during = note_exact;
    SAID("0:4");
    tr_kit_advance(kit, TEN_YEARS - 1);
    SAID("");
    tr_kit_advance(kit, 1);
    ck_assert_uint_gt(said_length, 0);
    said_length = 0;
    tr_kit_advance(kit, 10 * TEN_YEARS);
    SAID("");
}

TEST(zero_ten_years_and_for_ever, "T-01", "TM-01")
{
    kits_each(play_ten_years);
}

/* ---- What the messages carry. ---- */

static tr_next arm_parcels(tr_self *self)
{
    char text[] = "text";
    char bytes[] = "bytes";
    uint32_t numbers[] = {10, 20, 30};
    struct sub subs[] = {{.name = "x"}, {.name = "sub", .numbers = {numbers, 3}}};
    tr_buffer *shared = tr_buffer_of_turn(self, 7);
    memcpy(tr_buffer_data(shared), "shared", 7);
    struct parcel p = {.text = text, .data = {bytes, 5}, .subs = {subs, 2}, .shared = shared};
    p.wide[299] = 7;
    for (uint32_t i = 0; i < 4; i++) {
        p.n = i;
        tr_timer_kind kind = (tr_timer_kind)(i % 3);
        const char *key = i < 3 ? tr_format(self, "key %u", (unsigned)i) : NULL;
        (void)tr_self_timer(self, key, kind, 10 * MS, &tr_type_parcel, &p);
    }
    /* The sender's memory is its own again. */
    memset(text, 'x', sizeof text - 1);
    memset(bytes, 'x', sizeof bytes - 1);
    memset(numbers, 0, sizeof numbers);
    memset(subs, 0, sizeof subs);
    return TR_SAME;
}

static tr_next rearm_parcel(tr_self *self, uint32_t n)
{
    if (n != 1)
        return TR_SAME;
    say("%d %d", tr_timer_cancel(self, "key 1"), tr_timer_cancel(self, "key 2"));
    return TR_SAME;
}

static void play_parcels(void)
{
    begin(arm_parcels);
    tr_kit_advance(kit, 30 * MS);
    SAID("10:0; 10:1; 10:2; 10:3; 20:1; 20:2; 30:1; 30:2");
    during = rearm_parcel;
    tr_kit_advance(kit, TR_SECOND);
    SAID("40:1; 1 2");
    TELL_RUN(test, subject, arm_parcels);
    tr_kit_advance(kit, 5 * MS);
    tr_stop(test, subject);
    tr_kit_settle(kit);
    SAID("end");
}

TEST(messages_with_blocks_come_whole_each_time, "T-01", "B-06", "TM-05")
{
    kits_each(play_parcels);
}

static uint64_t causal;
static subject_ref other;

static tr_next arm_causal(tr_self *self)
{
    causal = tr_causal_id(self);
    ck_assert_uint_ne(causal, 0);
    tr_timer_fixed_rate(self, "r", 10 * MS, tick, .n = 1);
    return TR_SAME;
}

static tr_next look_around(tr_self *self, uint32_t n)
{
    ck_assert_uint_eq(tr_causal_id(self), causal);
    ck_assert(tr_is_nobody(tr_sender(self)));
    ck_assert_int_eq(tr_try_reply(self, tick, .n = 2), TR_NO_SENDER);
    bool is_first = tr_is_same(tr_me(self), subject);
    say("%s", is_first ? "a" : "b");
    return is_first && n == 1 ? tr_forward(self, other) : TR_SAME;
}

static void play_causal(void)
{
    ck_assert_int_eq(tr_try_spawn_at(test, &other, 0, subject, NULL), TR_OK);
    begin(arm_causal);
    during = look_around;
    tr_kit_advance(kit, 25 * MS);
    SAID("10:1; a; 10:1; b; 20:1; a; 20:1; b");
    ck_assert_uint_eq(dead_letters(TR_NO_SENDER), 4);
}

TEST(a_tick_has_no_sender_and_the_causal_id_of_its_start, "T-01", "B-04")
{
    kits_each(play_causal);
}

static tr_next arm_unknown(tr_self *self)
{
    tr_timer_fixed_rate(self, "r", 10 * MS, unknown, .n = 1);
    tr_timer_fixed_delay(self, "d", 10 * MS, unknown, .n = 2);
    tr_timer_once(self, "o", 10 * MS, unknown, .n = 3);
    return TR_SAME;
}

static void play_unknown(void)
{
    begin(arm_unknown);
    tr_kit_advance(kit, 45 * MS);
    ck_assert_uint_eq(dead_letters(TR_UNHANDLED), 9);
    SAID("");
}

TEST(an_unhandled_tick_is_a_dead_letter_and_the_timer_goes_on, "T-01", "B-02")
{
    kits_each(play_unknown);
}

/* ---- Random use against a model. ---- */

enum { KEYS = 6, STEPS = 200 };

struct model_timer {
    bool is_armed;
    tr_timer_kind kind;
    int due_ms;
    int period_ms;
    uint64_t place; /* among equal deadlines */
    uint32_t n;
};
static struct model_timer model[KEYS];
static uint64_t model_places;
static uint32_t model_last;
static char model_said[1 << 15];
static uint64_t model_random;

static uint32_t chance(uint32_t below)
{
    model_random = model_random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(model_random >> 33) % below;
}

static void model_arm(struct model_timer *timer, int due_ms)
{
    timer->is_armed = true;
    timer->due_ms = due_ms;
    timer->place = model_places++;
}

/* What falls due until this time, in order: all that is due fires, then each is handled. */
static void model_advance(int to_ms)
{
    for (;;) {
        struct model_timer *fired[KEYS];
        size_t count = 0;
        int now_ms = to_ms + 1;
        for (int i = 0; i < KEYS; i++) {
            if (model[i].is_armed && model[i].due_ms < now_ms)
                now_ms = model[i].due_ms;
        }
        if (now_ms > to_ms)
            return;
        for (;;) {
            struct model_timer *first = NULL;
            for (int i = 0; i < KEYS; i++) {
                if (model[i].is_armed && model[i].due_ms == now_ms &&
                    (!first || model[i].place < first->place))
                    first = &model[i];
            }
            if (!first)
                break;
            first->is_armed = false;
            if (first->kind == TR_TIMER_FIXED_RATE)
                model_arm(first, now_ms + first->period_ms);
            fired[count++] = first;
        }
        for (size_t i = 0; i < count; i++) {
            size_t length = strlen(model_said);
            snprintf(model_said + length,
                     sizeof model_said - length,
                     "%s%d:%u",
                     length ? "; " : "",
                     now_ms,
                     (unsigned)fired[i]->n);
            if (fired[i]->kind == TR_TIMER_FIXED_DELAY)
                model_arm(fired[i], now_ms + fired[i]->period_ms);
        }
    }
}

static tr_next one_step(tr_self *self)
{
    static const char *const keys[KEYS] = {"a", "bb", "a longer one", "d", "e", "f"};
    uint32_t which = chance(KEYS);
    struct model_timer *timer = &model[which];
    if (chance(4) == 0) {
        tr_timer_end end = tr_timer_cancel(self, keys[which]);
        ck_assert_int_eq(end, timer->is_armed ? TR_TIMER_CANCELLED : TR_TIMER_NONE);
        timer->is_armed = false;
        return TR_SAME;
    }
    timer->kind = (tr_timer_kind)chance(3);
    timer->period_ms = 1 + (int)chance(chance(4) ? 20 : 300);
    timer->n = ++model_last;
    model_arm(timer, since(self) + timer->period_ms);
    (void)tr_self_timer(self,
                        keys[which],
                        timer->kind,
                        timer->period_ms * MS,
                        &tr_type_tick,
                        &(struct tick){timer->n});
    return TR_SAME;
}

static tr_next do_nothing(tr_self *self)
{
    (void)self;
    return TR_SAME;
}

static void play_model(void)
{
    memset(model, 0, sizeof model);
    model_said[0] = '\0';
    model_random = kits_seed;
    begin(do_nothing);
    int now_ms = 0;
    for (int i = 0; i < STEPS; i++) {
        int next_ms = now_ms + (int)chance(12);
        tr_kit_advance(kit, (next_ms - now_ms) * MS);
        model_advance(next_ms);
        now_ms = next_ms;
        TELL_RUN(test, subject, one_step);
        tr_kit_settle(kit);
        SAID(model_said);
        model_said[0] = '\0';
    }
}

TEST(random_timers_do_what_a_model_says, "T-01", "TM-01", "TM-02", "TM-03", "TM-04")
{
    kits_each(play_model);
}

TEST(the_same_seed_gives_the_same_trace, "V-01")
{
    uint64_t traces[2];
    for (int i = 0; i < 2; i++) {
        kit_open(3, 11);
        play_model();
        traces[i] = tr_kit_trace(kit);
        kit_close();
    }
    ck_assert_uint_eq(traces[0], traces[1]);
}

/* ---- Out of memory. ---- */

static tr_next arm_and_try(tr_self *self)
{
    for (uint32_t i = 0; i < 40; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s %u", i % 2 ? "a key that needs another line" : "k", i % 20);
        tr_status status = try_timer(self, i % 5 ? key : NULL, (tr_timer_kind)(i % 3), MS + i * MS);
        ck_assert(status == TR_OK || status == TR_NO_MEMORY);
        if (i % 7 == 0)
            (void)tr_timer_cancel(self, key);
    }
    return TR_SAME;
}

static tr_next stash_tick(tr_self *self, uint32_t n)
{
    said_length = 0;
    if (n == 0)
        return TR_SAME;
    if (tr_stash_count(self) > 30)
        (void)tr_unstash(self, 20);
    return tr_now(self) % 3 ? TR_SAME : tr_stash(self);
}

static tr_next arm_idle(tr_self *self)
{
    tr_set_receive_timeout(self, 5 * MS);
    return TR_SAME;
}

TEST(out_of_memory_is_a_status_or_the_end_of_a_turn, "T-01", "U-03", "M-04")
{
    for (int all_after = 0; all_after < 2; all_after++) {
        bool was_reached = true;
        for (uint64_t n = 1; was_reached; n++) {
            kit_open(2, 1);
            begin(do_nothing);
            during = stash_tick;
            uint64_t before = tr_kit_allocations(kit);
            tr_kit_fail_allocation(kit, n, all_after);
            TELL_RUN(test, subject, arm_and_try);
            TELL_RUN(test, subject, arm_parcels); /* ends its turn when there is no memory */
            TELL_RUN(test, subject, arm_idle);
            tr_kit_advance(kit, 100 * MS);
            TELL_RUN(test, subject, arm_and_try);
            tr_kit_advance(kit, 100 * MS);
            was_reached = tr_kit_allocations(kit) - before >= n;
            tr_kit_fail_allocation(kit, 0, false);
            tr_kit_check(kit);
            begin(arm_delay);
            said_length = 0;
            tr_kit_advance(kit, 10 * MS);
            ck_assert_ptr_nonnull(strstr(said(), "10:1"));
            kit_close();
            ck_assert_uint_lt(n, 5000);
        }
    }
}

SUITE("timers and clocks", fixed_delay_does_not_pile_up_behind_a_slow_handler,
      fixed_rate_makes_up_for_missed_ticks_with_one, a_pause_of_a_minute_gives_no_burst,
      wall_clock_jumps_do_not_move_timers, wrong_arguments_are_refused_and_change_nothing,
      zero_ten_years_and_for_ever, messages_with_blocks_come_whole_each_time,
      a_tick_has_no_sender_and_the_causal_id_of_its_start,
      an_unhandled_tick_is_a_dead_letter_and_the_timer_goes_on, random_timers_do_what_a_model_says,
      the_same_seed_gives_the_same_trace, out_of_memory_is_a_status_or_the_end_of_a_turn)
