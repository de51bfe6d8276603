/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Following messages: which records a turn leaves, also if it waits, fails or is abandoned, and what is lost.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <troupe/http.h>
#include <troupe/kit.h>
#include <troupe/kit_net.h>
#include <troupe/troupe.h>

#include "actor/cell/follow.h"
#include "actor/cell/system.h"
#include "actor/mail/kind.h"
#include "actor/turn/follow_turn.h"
#include "observe/handlers.h"
#include "observe/slow.h"

TR_MESSAGE(count, (u64, number));
TR_REQUEST(get_count, count);
TR_MESSAGE(begin, (str, how));
TR_MESSAGE(tick);
TR_ACTOR(leaf, get_count, count);
TR_ACTOR(root, begin, tick);
TR_ACTOR(server, tick);

static leaf_ref leaf;

static tr_next on_get_count(tr_self *self)
{
    return tr_reply(self, count, .number = 7);
}

static tr_next on_count(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(leaf, void, TR_ON(get_count, on_get_count), TR_ON(count, on_count));

static tr_next on_begin(tr_self *self, const struct begin *message)
{
    tr_tell(self, leaf, count, .number = 1);
    if (strcmp(message->how, "crash") == 0)
        tr_crash(self, TR_BAD_DATA, "planned");
    if (strcmp(message->how, "tell") == 0)
        return TR_SAME;
    (void)tr_await(self, tr_ask(self, leaf, get_count));
    (void)tr_spawn(self, leaf, NULL);
    tr_timer_once(self, NULL, TR_SECOND, tick);
    if (strcmp(message->how, "late crash") == 0)
        tr_crash(self, TR_BAD_DATA, "planned");
    if (strcmp(message->how, "sleep") == 0)
        tr_sleep(self, TR_HOUR);
    return strcmp(message->how, "fail") == 0 ? tr_fail(self, TR_TOO_LARGE, "planned") : TR_SAME;
}

static tr_next on_tick(tr_self *self)
{
    tr_tell(self, leaf, count, .number = 2);
    return TR_SAME;
}
TR_BEHAVIOR(root, void, TR_ON(begin, on_begin), TR_ON(tick, on_tick));

static tr_kit *kit;
static tr_system *theatre;
static root_ref root;

static void kit_open(int workers)
{
    const tr_kit_options options = {.workers = workers};
    kit = tr_kit_new(&options);
    ck_assert_ptr_nonnull(kit);
    theatre = tr_kit_system(kit);
    tr_client *client = tr_kit_client(kit);
    ck_assert_int_eq(tr_try_spawn(client, &leaf, leaf, "leaf"), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &root, root, "root"), TR_OK);
    (void)tr_kit_settle(kit);
}

static void play(const char *how)
{
    ck_assert_int_eq(tr_tell(tr_kit_client(kit), root, begin, .how = how), TR_OK);
    (void)tr_kit_settle(kit);
}

/* What the records say, one word for each: "b:begin s:count e b:count e". */
static const char *said(void)
{
    static char text[4096];
    static struct follow_event events[200];
    uint64_t missed;
    size_t count = tr__follow_read(theatre, 0, events, 200, &missed);
    uint64_t causal = count ? events[0].causal : 0;
    text[0] = '\0';
    ck_assert_uint_eq(missed, 0);
    ck_assert(!count || causal);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(events[i].number, i + 1);
        ck_assert_uint_eq(events[i].causal, causal);
        ck_assert(events[i].turn);
        (void)snprintf(text + strlen(text),
                       sizeof text - strlen(text),
                       "%s%c%s%s%s",
                       i ? " " : "",
                       "besc"[events[i].what],
                       events[i].type ? ":" : "",
                       events[i].type ? events[i].type->name : "",
                       events[i].status == TR_OK ? "" : "!");
    }
    return text;
}

TEST(a_message_is_followed_over_tells_asks_spawns_and_timers, "O-13")
{
    kit_open(1);
    ck_assert_int_eq(tr__follow_open(theatre), TR_OK);
    ck_assert_int_eq(tr__follow_mark(theatre, root.bits), TR_OK);
    play("all");
    tr_kit_advance(kit, 2 * TR_SECOND);
    (void)tr_kit_settle(kit);
    ck_assert_str_eq(said(),
                     "b:begin s:count s:get_count b:count e b:get_count s:count e c e b:tick "
                     "s:count e b:count e");
    tr__follow_unmark(theatre, root.bits);
    tr__follow_close(theatre);
    play("all"); /* nobody follows */
    ck_assert_ptr_null(strstr(said(), "e b:begin"));
    tr_kit_free(kit);
}

/* ---- What begins with a channel has no cause before it. ---- */

static uint64_t session;

static tr_next on_get(tr_self *self)
{
    session = tr_me(self).bits;
    tr_tell(self, leaf, count, .number = 3);
    return tr_http_reply(self, 200, .text = "ok");
}
TR_BEHAVIOR(site, void, TR_GET("/", tr_http_request, on_get));

static tr_next on_listen(tr_self *self)
{
    (void)tr_listen(
        self, site, TR_HTTP("127.0.0.1:7000", .http = &(tr_http_options){.has_ids = true}));
    return TR_SAME;
}
TR_BEHAVIOR(server, void, TR_ON(tick, on_listen));

static void get_page(tr_kit_peer *peer)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){request, sizeof request - 1}),
                      sizeof request - 1);
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(peer, TR_SECOND), "200 OK"));
}

TEST(a_request_of_http_is_followed_to_what_it_causes, "O-13", "W-12")
{
    server_ref server;
    kit_open(1);
    ck_assert_int_eq(tr_try_spawn(tr_kit_client(kit), &server, server, "server"), TR_OK);
    ck_assert_int_eq(tr_tell(tr_kit_client(kit), server, tick), TR_OK);
    (void)tr_kit_settle(kit);
    tr_kit_peer *peer = tr_kit_connect(kit, "127.0.0.1:7000");
    ck_assert_ptr_nonnull(peer);
    get_page(peer);
    ck_assert_int_eq(tr__follow_open(theatre), TR_OK);
    ck_assert_int_eq(tr__follow_mark(theatre, session), TR_OK);
    get_page(peer);
    ck_assert_str_eq(said(), "b:tr_http_piece_ s:count e b:count e");
    tr__follow_unmark(theatre, session);
    tr__follow_close(theatre);
    tr_kit_close(peer);
    tr_kit_free(kit);
}

TEST(nothing_is_recorded_of_messages_that_nobody_follows, "O-13")
{
    kit_open(2);
    ck_assert_int_eq(tr__follow_open(theatre), TR_OK);
    ck_assert_int_eq(tr__follow_mark(theatre, leaf.bits), TR_OK);
    play("tell");
    ck_assert_str_eq(said(), "b:count e");
    tr__follow_close(theatre);
    tr_kit_free(kit);
}

TEST(turns_that_fail_or_crash_leave_their_end, "O-13", "S-10")
{
    static const struct {
        const char *how;
        const char *said;
    } plays[] = {{"crash", "b:begin s:count e! b:count e"},
                 {"late crash", "b:begin s:count s:get_count b:count e b:get_count s:count e c e!"},
                 {"fail", "b:begin s:count s:get_count b:count e b:get_count s:count e c e!"}};
    for (size_t i = 0; i < sizeof plays / sizeof *plays; i++) {
        kit_open(1);
        ck_assert_int_eq(tr__follow_open(theatre), TR_OK);
        ck_assert_int_eq(tr__follow_mark(theatre, root.bits), TR_OK);
        play(plays[i].how);
        ck_assert_str_eq(said(), plays[i].said);
        play("tell"); /* the restarted actor sends as ever */
        tr__follow_close(theatre);
        tr_kit_free(kit);
    }
}

TEST(a_turn_that_waits_while_its_actor_stops_leaves_its_end, "O-13")
{
    kit_open(2);
    ck_assert_int_eq(tr__follow_open(theatre), TR_OK);
    ck_assert_int_eq(tr__follow_mark(theatre, root.bits), TR_OK);
    play("sleep");
    tr__follow_close(theatre); /* the turn that waits is in its copy of the functions */
    (void)tr_kill(tr_kit_client(kit), root);
    (void)tr_kit_settle(kit);
    const char *end = strrchr(said(), ' ');
    ck_assert(strcmp(end, " e") == 0 || strcmp(end, " e!") == 0);
    tr_kit_free(kit);
}

TEST(marks_are_counted_and_limited, "O-13", "U-01")
{
    kit_open(1);
    ck_assert_int_eq(tr__follow_open(theatre), TR_OK);
    for (uint64_t i = 1; i <= TR_FOLLOWED_MAX; i++)
        ck_assert_int_eq(tr__follow_mark(theatre, i << 32), TR_OK);
    ck_assert_int_eq(tr__follow_mark(theatre, root.bits), TR_LIMIT);
    ck_assert_int_eq(tr__follow_mark(theatre, UINT64_C(3) << 32), TR_OK);
    tr__follow_unmark(theatre, UINT64_C(3) << 32);
    ck_assert_int_eq(tr__follow_mark(theatre, root.bits), TR_LIMIT);
    tr__follow_unmark(theatre, UINT64_C(3) << 32);
    ck_assert_int_eq(tr__follow_mark(theatre, root.bits), TR_OK);
    play("tell");
    ck_assert_str_eq(said(), "b:begin s:count e b:count e");
    tr__follow_close(theatre);
    tr_kit_free(kit);
}

TEST(the_newest_records_are_kept_and_the_lost_ones_counted, "O-13", "U-01")
{
    static struct follow_event events[100];
    uint64_t missed;
    kit_open(1);
    ck_assert_int_eq(tr__follow_open(theatre), TR_OK);
    ck_assert_int_eq(tr__follow_mark(theatre, leaf.bits), TR_OK);
    for (int i = 0; i < 1500; i++)
        play("tell"); /* two records each */
    uint64_t after = 0;
    uint64_t lost = 0;
    size_t seen = 0;
    size_t count;
    while ((count = tr__follow_read(theatre, after, events, 100, &missed)) > 0) {
        lost += missed;
        seen += count;
        after = events[count - 1].number;
    }
    ck_assert_uint_eq(seen, TR_FOLLOW_RECORDS_MAX);
    ck_assert_uint_eq(after, 3000);
    ck_assert_uint_eq(lost, 3000 - TR_FOLLOW_RECORDS_MAX);
    tr__follow_close(theatre);
    tr_kit_free(kit);
}

/* ---- Slow turns. ---- */

/* Waits once, so that the slow turn is found among those that were timed. */
static size_t slow_find(struct slow_row *rows)
{
    size_t count = tr__slow_collect(theatre, rows);
    ck_assert_uint_le(count, tr__slow_max(theatre));
    return count;
}

/* Turns that are timed are followed while trials are allowed, with what they lead to. */
TEST(a_timed_turn_is_followed_while_trials_are_allowed, "O-13", "I-11")
{
    static struct slow_row rows[2 * SLOW_TURNS];
    kit_open(1);
    tr__handlers_watch(theatre);
    ck_assert_int_eq(tr__follow_open(theatre), TR_OK);
    play("tell");
    ck_assert_str_eq(said(), ""); /* it is timed, and nobody has allowed a trial */
    ck_assert_uint_gt(slow_find(rows), 0);
    ck_assert_uint_eq(rows[0].turn.record, 0);
    tr__follow_trials_allow(theatre->follow, 1);
    for (int i = 0; i < 100 && !*said(); i++)
        play("tell");
    ck_assert(!tr__follow_trial_take(theatre->follow)); /* it was the only one */
    for (int i = 0; i < 10; i++)
        play("tell");
    const char *text = said(); /* also checks that all is of one causal id */
    ck_assert_msg(strcmp(text, "b:begin s:count e b:count e") == 0 ||
                      strcmp(text, "b:count e") == 0,
                  "%s",
                  text);
    size_t followed = 0;
    size_t count = slow_find(rows);
    for (size_t i = 0; i < count; i++) {
        followed += rows[i].turn.record > 0;
        ck_assert(!rows[i].turn.record || rows[i].turn.causal);
    }
    ck_assert_uint_ge(followed, 1);
    ck_assert_uint_le(followed, 2);
    ck_assert_uint_eq(tr__follow_oldest(theatre, 0), 1);
    tr__follow_close(theatre);
    tr_kit_free(kit);
}

/* An id that never ends costs no more than its bound. */
TEST(only_so_many_turns_of_a_trial_are_followed, "O-13", "U-01")
{
    kit_open(1);
    tr__handlers_watch(theatre);
    ck_assert_int_eq(tr__follow_open(theatre), TR_OK);
    tr__follow_trial_begin(theatre->follow, 7);
    for (int i = 0; i < FOLLOW_TRIAL_TURNS; i++)
        ck_assert(tr__follow_wants(theatre->follow, 7, 0));
    ck_assert(!tr__follow_wants(theatre->follow, 7, 0));
    ck_assert(!tr__follow_wants(theatre->follow, 7 + FOLLOW_TRIALS, 0)); /* the same place */
    tr__follow_close(theatre);
    tr_kit_free(kit);
}

SUITE("actor follow", a_timed_turn_is_followed_while_trials_are_allowed,
      only_so_many_turns_of_a_trial_are_followed, a_request_of_http_is_followed_to_what_it_causes,
      a_message_is_followed_over_tells_asks_spawns_and_timers,
      nothing_is_recorded_of_messages_that_nobody_follows, turns_that_fail_or_crash_leave_their_end,
      a_turn_that_waits_while_its_actor_stops_leaves_its_end, marks_are_counted_and_limited,
      the_newest_records_are_kept_and_the_lost_ones_counted)
