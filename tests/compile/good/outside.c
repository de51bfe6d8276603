/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Flags, endpoints, processes, children, timers and crowds: what the other programs of this directory leave out, in C.
 */
#include <signal.h>
#include <troupe/app.h>
#include <troupe/filter.h>
#include <troupe/process.h>
#include <troupe/troupe.h>

TR_MESSAGE(answer, (u64, n));
TR_REQUEST(question, answer, (u64, n));
TR_MESSAGE(tick, (u32, n));
TR_ACTOR(helper, question, tick);
TR_ACTOR(elsewhere, question);
TR_DURABLE_DECLARE(elsewhere);

static tr_next on_question(tr_self *self, const struct question *message)
{
    return tr_reply(self, answer, .n = message->n);
}

static tr_next on_tick(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(helper, void, TR_ON(question, on_question), TR_ON(tick, on_tick));

static tr_next on_socket(tr_self *self)
{
    return tr_ws_accept(self);
}

static tr_next on_ws_message(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(sockets, void, TR_WEBSOCKET("/feed", tr_http_request, on_socket),
            TR_ON(tr_ws_message, on_ws_message));

static tr_next on_opened(tr_self *self, const struct tr_opened *message)
{
    helper_ref helper = tr_child(self, helper, "one");
    return tr_hand_over(self, message->channel, helper) == TR_OK ? TR_STOP : TR_SAME;
}

TR_BEHAVIOR(session, void, TR_ON(tr_opened, on_opened), TR_CHILD(helper, "one"),
            TR_CHILD(helper, "two", .restart = TR_TEMPORARY, .is_significant = true),
            TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 5, .window_ns = TR_SECOND));

static tr_next listen_everywhere(tr_self *self, const tr_filter *filter)
{
    tr_listener_ref ref;
    tr_channel channel;
    (void)tr_listen(self, session, TR_TCP(":7000", .framing = TR_LENGTH(4), .frame_max = 100));
    (void)tr_listen(self, session, TR_TCP(":7001", .filters = TR_FILTERS(filter)));
    (void)tr_listen(self, session, TR_UNIX("@name", .framing = TR_LENGTH(varint)));
    (void)tr_listen(self, sockets, TR_HTTP(":8080"));
    if (tr_try_listen(self, &ref, session, TR_TLS(":7443", .certificate = "a", .key = "b")) !=
            TR_OK ||
        tr_try_bind(self, TR_UDP("127.0.0.1:5353"), &channel) != TR_OK)
        return TR_STOP;
    (void)tr_signals(self, SIGHUP, SIGTERM);
    return TR_SAME;
}

static tr_next start_a_process(tr_self *self)
{
    const char *why;
    tr_channel channel = tr_process_start(self,
                                          TR_PROCESS("sort",
                                                     .arguments = TR_ARGUMENTS("-n", "-r"),
                                                     .environment = TR_ENVIRONMENT("LANG=C")));
    if (tr_try_process_start(self, TR_PROCESS("true"), &channel, &why) != TR_OK)
        tr_log_error(self, "%s", why);
    return TR_SAME;
}

static void set_timers(tr_self *self)
{
    tr_timer timer = tr_timer_once(self, "a", TR_SECOND, tick, .n = 1);
    tr_timer_fixed_rate(self, "b", TR_SECOND, tick);
    tr_timer_fixed_delay(self, NULL, TR_SECOND, tick, .n = 2);
    if (tr_try_timer_once(self, &timer, "c", TR_SECOND, tick) != TR_OK ||
        tr_try_timer_fixed_rate(self, &timer, NULL, TR_SECOND, tick, .n = 3) != TR_OK ||
        tr_try_timer_fixed_delay(self, &timer, "d", TR_SECOND, tick) != TR_OK)
        tr_log_error(self, "no timer");
}

static tr_next ask_a_crowd(tr_self *self, helper_ref group)
{
    question_ask asks[8];
    const struct answer *reply;
    static tr_why_report report;
    size_t first;
    size_t count = tr_gather(self, group, asks, 8, question, .n = 1);
    count += tr_gather_within(self, TR_SECOND, group, asks, 8, question);
    if (tr_await_all_of(self, asks, count) != TR_OK ||
        tr_await_any_of(self, &first, asks, count) != TR_OK)
        return TR_STOP;
    if (tr_try_await(self, asks[first], &reply) != TR_OK)
        (void)tr_ask_cancel(self, asks[0]);
    return tr_actor_why(self, group, &report) == TR_OK ? TR_SAME : TR_STOP;
}

static tr_next on_args(tr_self *self)
{
    set_timers(self);
    if (start_a_process(self).code == TR_STOP.code)
        return listen_everywhere(self, NULL);
    return ask_a_crowd(self, helper_ref_of(tr_me(self)));
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

static tr_status from_outside(tr_client *client, helper_ref helper)
{
    static tr_why_report report;
    question_ask asked = tr_ask(client, helper, question, .n = 1);
    if (tr_actor_why(client, helper, &report) != TR_OK)
        return TR_FAILED;
    return tr_ask_cancel(client, asked);
}

static int64_t rate;
static tr_time pause_ns;

int main(int argc, char **argv)
{
    if (argc > 9 && from_outside(NULL, helper_ref_of(TR_NOBODY)) != TR_OK)
        return 1;
    return tr_app_main(
        argc,
        argv,
        app,
        .flags = TR_FLAGS({.name = "rate", .number = &rate, .help = "questions in a second"},
                          {.name = "pause", .time_ns = &pause_ns, .example = "--pause 5s"}));
}
