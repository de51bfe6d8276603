/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tr_actor_why for turns and for clients. Also the report that any thread can make when a worker
 * does not answer, and the report as text.
 */

#include "actor/verbs/why_ask.h"

#include <stdio.h>
#include <string.h>
#include <stdarg.h>

#include "actor/ask/ask.h"
#include "actor/ask/turn_asks.h"
#include "actor/cell/client.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/verb.h"
#include "actor/cell/view.h"
#include "actor/mail/group_address.h"
#include "actor/mail/refusal.h"
#include "actor/turn/park.h"
#include "actor/verbs/client_ask.h"
#include "actor/verbs/show.h"
#include "actor/verbs/show_mail.h"
#include "actor/verbs/show_types.h"
#include "actor/verbs/show_waits.h"
#include "actor/ask/answer.h"
#include "actor/verbs/why.h"
#include "base/assert.h"
#include "base/sized.h"
#include "actor/mail/address.h"
#include "actor/mail/mail.h"

/* ---- Answers. ---- */

static size_t report_size(const tr_why_report *report)
{
    return offsetof(tr_why_report, reasons) + report->count * sizeof *report->reasons;
}

static bool reply(struct worker *worker, struct envelope *request, uint64_t from, tr_bytes report)
{
    struct tr_why_told told = {.report = report};
    uint64_t to = request->sender;
    struct cell *cell = slots_find(worker->slots, to);
    if (!cell)
        return true; /* the asker is gone and needs no answer */
    struct address address = {.kind = ENVELOPE_REPLY,
                              .to = to,
                              .sender = from,
                              .causal = request->causal,
                              .number = request->payload.ask.id};
    struct envelope *envelope;
    if (tr__mail_new(&worker->pool, address, &tr_type_tr_why_told, &told, &envelope) != TR_OK)
        return false;
    if (tr__mail_send(worker, cell, envelope) != TR_OK)
        envelope_give(&worker->pool, envelope);
    return true;
}

void tr__why_mail(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    const struct tr_why_look *look = envelope_data(envelope);
    uint64_t ref = look->ref;
    bool is_here = envelope->generation == cell_generation(cell) && cell->life < LIFE_STOPPED;
    /*
     * Allocate the report, because it is too large for the stack of a handler, and this function
     * may run inside a send.
     */
    union {
        tr_why_report why;
        tr_actor_report show;
        struct mail_report mail;
        struct waits_report waits;
        struct types_report types;
    } *report = NULL;
    static const size_t sizes[] = {[LOOK_WHY] = sizeof report->why,
                                   [LOOK_SHOW] = sizeof report->show,
                                   [LOOK_MAIL] = sizeof report->mail,
                                   [LOOK_WAITS] = sizeof report->waits,
                                   [LOOK_TYPES] = sizeof report->types};
    size_t size = 0;
    if (is_here)
        report = source_resize(&worker->source, NULL, sizes[look->what]);
    if (report && look->what == LOOK_SHOW) {
        tr__show_see(worker, cell, &report->show);
        /* copy the whole report, because tr_actor_report has members behind the text of the state */
        size = sizeof report->show;
    } else if (report && look->what == LOOK_MAIL) {
        tr__show_mail_see(worker, cell, &report->mail);
        size = show_mail_size(&report->mail);
    } else if (report && look->what == LOOK_WAITS) {
        tr__show_waits_see(worker, cell, &report->waits);
        size = show_waits_size(&report->waits);
    } else if (report && look->what == LOOK_TYPES) {
        tr__show_types_see(worker, cell, &report->types);
        size = show_types_size(&report->types);
    } else if (report) {
        tr__why_see(worker, cell, &report->why);
        size = report_size(&report->why);
    }
    if (report && reply(worker, envelope, ref, (tr_bytes){report, size}))
        envelope_give(&worker->pool, envelope);
    else
        tr__ask_refuse(worker, envelope, ref, is_here ? TR_NO_MEMORY : TR_STOPPED, 0, NULL);
    source_resize(&worker->source, report, 0);
}

tr_status tr__why_look(tr_client *client, tr_ref actor, uint32_t what, tr_bytes *seen)
{
    TR_ASSERT(client);
    TR_ASSERT(seen);
    struct tr_system *system = client->system;
    uint64_t ref = tr__group_behind(system->slots, actor.bits);
    struct tr_why_look look = {.ref = ref, .what = what};
    struct cell *cell = view_find(system->slots, ref);
    if (!cell)
        return TR_STOPPED;
    tr_pending asked =
        tr__client_ask(client, cell, ref, ENVELOPE_WHY, &tr_type_tr_why_look, &look, TR_WHY_NS);
    const void *reply;
    tr_status status = tr_client_try_await(client, asked, &reply);
    if (status != TR_OK)
        return status;
    const struct tr_why_told *told = reply;
    *seen = told->report;
    return TR_OK;
}

/* ---- What any thread can see of an actor. ---- */

static void see_gone(struct tr_system *system, uint64_t ref, tr_why_report *report)
{
    tr__why_begin(report, ref, system->platform->mono_now(system->platform));
    report->state = "Stopped";
    tr__why_add(report, TR_WHY_GONE, 0, -1, "the actor has stopped, or never existed");
}

static void see_worker(struct worker *worker, uint64_t ref, tr_why_report *report)
{
    uint32_t holds = TR_HOLDS_MAIL | TR_HOLDS_STOP;
    struct view *view = source_resize(&worker->system->source, NULL, sizeof *view);
    if (!view || !tr__view_running(worker, view)) {
        tr__why_add(report,
                    TR_WHY_NO_ANSWER,
                    holds,
                    -1,
                    "worker %u has not answered for %lld ms",
                    (unsigned)worker->index,
                    (long long)(TR_WHY_NS / TR_MILLISECOND));
        source_resize(&worker->system->source, view, 0);
        return;
    }
    bool is_own = view->ref == ref;
    const tr_type *type = view->type ? view->type : view->handler ? view->handler->type : NULL;
    tr_time age_ns = view->since_ns ? report->asked_ns - view->since_ns : -1;
    if (view->since_ns && age_ns < 0)
        age_ns = 0;
    const char *handler = view->handler && view->handler->name ? view->handler->name : "a handler";
    size_t length = strlen(view->path);
    tr_reason *reason = tr__why_add(report,
                                    is_own ? TR_WHY_RUNS : TR_WHY_WORKER_BUSY,
                                    holds,
                                    age_ns,
                                    is_own ? "%.40s handles %.60s" : "%.40s handles %.60s of %s",
                                    handler,
                                    type ? type->name : "no message",
                                    view->path + (length > 80 ? length - 80 : 0));
    if (reason) {
        reason->who = tr_ref_from_bits(view->ref);
        reason->count = 1;
        if (view->behavior)
            snprintf(reason->where,
                     sizeof reason->where,
                     "worker %u, %.60s:%u",
                     (unsigned)worker->index,
                     tr__view_file(view->behavior->file),
                     (unsigned)view->behavior->line);
    }
    source_resize(&worker->system->source, view, 0);
}

void tr__why_outside(struct tr_system *system, uint64_t ref, tr_why_report *report)
{
    const struct cell *cell = view_find(system->slots, ref);
    if (!cell) {
        see_gone(system, ref, report);
        return;
    }
    tr__why_begin(report, ref, system->platform->mono_now(system->platform));
    tr__view_path(system, cell, report->path);
    uint32_t owner = cell_owner(cell);
    if (owner >= system->worker_count)
        tr__why_add(report,
                    TR_WHY_NOT_STARTED,
                    TR_HOLDS_START | TR_HOLDS_MAIL | TR_HOLDS_STOP,
                    -1,
                    "the set-up has not started, or the actor moves to another worker, or this is "
                    "the address of a client");
    else
        see_worker(system->workers[owner], ref, report);
}

/*
 * Makes the report from the status and the reply of the ask. Returns TR_OK if the report was made.
 */
static tr_status outcome(struct tr_system *system, tr_status status, const void *reply_data,
                         uint64_t ref, tr_why_report *report)
{
    const struct tr_why_told *told = reply_data;
    switch (status) {
    case TR_OK:
        TR_ASSERT(told->report.size <= sizeof *report);
        memset(report, 0, sizeof *report);
        memcpy(report, told->report.data, told->report.size);
        return TR_OK;
    case TR_STOPPED:
        see_gone(system, ref, report);
        return TR_OK;
    case TR_TIMEOUT:
        tr__why_outside(system, ref, report);
        return TR_OK;
    default:
        return status;
    }
}

/* ---- Questions. ---- */

static tr_status question_send(struct tr_self *self, struct ask *ask, struct cell *cell)
{
    struct worker *worker = self->worker;
    struct tr_why_look look = {.ref = ask->to};
    struct address address = {.kind = ENVELOPE_WHY,
                              .to = ask->to,
                              .sender = self->cell->identity,
                              .causal = self->causal,
                              .number = ask->id};
    struct envelope *envelope;
    tr_status status = tr__mail_new(&worker->pool, address, &tr_type_tr_why_look, &look, &envelope);
    if (status != TR_OK)
        return status;
    status = tr__mail_send(worker, cell, envelope);
    if (status != TR_OK)
        envelope_give(&worker->pool, envelope);
    return status;
}

/*
 * Makes the report of an actor of another worker. Parks the turn until the answer comes, but at
 * most for TR_WHY_NS. When this returns, the ask has ended.
 */
static tr_status ask_far(struct tr_self *self, struct cell *cell, uint64_t ref,
                         tr_why_report *report)
{
    struct worker *worker = self->worker;
    const tr_platform *platform = worker->loop.platform;
    tr_status status = turn_may_park(self);
    if (status != TR_OK)
        return status;
    struct ask *ask = tr__ask_new(self, ref, &tr_type_tr_why_look);
    if (!ask)
        return TR_NO_MEMORY;
    if (!turn_asks_add(self, ask)) {
        tr__ask_end(worker, self->cell, ask);
        return TR_NO_MEMORY;
    }
    ask->is_look = true;
    ask->asked_ns = platform->mono_now(platform);
    status = question_send(self, ask, cell);
    if (status == TR_OK) {
        tr__wheel_arm(
            &worker->asks.timeouts, &ask->timeout, timer_deadline(ask->asked_ns, TR_WHY_NS));
        /*
         * No search for a cycle of asks is needed, because no barrier delays the answer to this
         * ask.
         */
        ask->is_wanted = true;
        self->wait.wanted = 1;
        status = turn_park_at(self, TR_NEVER, NULL);
        self->wait.wanted = 0;
    }
    if (status == TR_OK)
        status = ask->status;
    const void *told = status == TR_OK ? envelope_data(ask->answer) : NULL;
    status = outcome(worker->system, status, told, ref, report);
    /*
     * This ask is still the newest ask of the turn, because the turn could make no other ask while
     * it waited.
     */
    TR_ASSERT(ask->place + 1 == self->asks.count);
    self->asks.count--;
    tr__ask_end(worker, self->cell, ask);
    return status;
}

static tr_status self_why(tr_self *self, tr_ref actor, tr_why_report *report)
{
    if (self->is_cancelled)
        return TR_CANCELLED;
    struct worker *worker = self->worker;
    actor.bits = tr__group_behind(worker->slots, actor.bits);
    struct cell *cell = view_find(worker->slots, actor.bits);
    bool is_near = cell && cell_owner(cell) == worker->index;
    if (!cell || (is_near && cell->life == LIFE_STOPPED))
        see_gone(worker->system, actor.bits, report);
    else if (is_near)
        tr__why_see(worker, cell, report);
    else
        return ask_far(self, cell, actor.bits, report);
    return TR_OK;
}

static tr_status client_why(tr_client *client, tr_ref actor, tr_why_report *report)
{
    struct tr_system *system = client->system;
    actor.bits = tr__group_behind(system->slots, actor.bits);
    struct tr_why_look look = {.ref = actor.bits};
    struct cell *cell = view_find(system->slots, actor.bits);
    if (!cell) {
        see_gone(system, actor.bits, report);
        return TR_OK;
    }
    tr_pending asked = tr__client_ask(
        client, cell, actor.bits, ENVELOPE_WHY, &tr_type_tr_why_look, &look, TR_WHY_NS);
    const void *told;
    tr_status status = tr_client_try_await(client, asked, &told);
    return outcome(system, status, told, actor.bits, report);
}

/*
 * Gives a whole report to a program that was compiled with a struct of another size. Frees `whole`.
 */
static tr_status give(struct tr_system *system, tr_status status, tr_why_report *whole,
                      tr_why_report *report, size_t size)
{
    if (status == TR_OK)
        sized_write(report, size, whole, sizeof *whole);
    source_resize(&system->source, whole, 0);
    return status;
}

tr_status tr_self_actor_why_sized(tr_self *self, tr_ref actor, tr_why_report *report, size_t size)
{
    TURN_VERB(self);
    if (!self || !report || !size)
        return TR_INVALID_ARGUMENT;
    if (size == sizeof *report)
        return self_why(self, actor, report);
    struct tr_system *system = self->worker->system;
    tr_why_report *whole = source_resize(&system->source, NULL, sizeof *whole);
    return whole ? give(system, self_why(self, actor, whole), whole, report, size) : TR_NO_MEMORY;
}

tr_status tr_client_actor_why_sized(tr_client *client, tr_ref actor, tr_why_report *report,
                                    size_t size)
{
    CLIENT_VERB(client);
    if (!client || !report || !size)
        return TR_INVALID_ARGUMENT;
    if (size == sizeof *report)
        return client_why(client, actor, report);
    struct tr_system *system = client->system;
    tr_why_report *whole = source_resize(&system->source, NULL, sizeof *whole);
    return whole ? give(system, client_why(client, actor, whole), whole, report, size)
                 : TR_NO_MEMORY;
}

/* ---- The report as text. ---- */

struct text {
    char *words;
    size_t size;
    size_t length; /* the length of the whole text, including the part that does not fit */
};

TR_PRINTF(2, 3) static void say(struct text *text, const char *format, ...)
{
    va_list list;
    size_t at = text->length < text->size ? text->length : text->size;
    va_start(list, format);
    int length = vsnprintf(
        text->size ? text->words + at : NULL, text->size ? text->size - at : 0, format, list);
    va_end(list);
    if (length > 0)
        text->length += (size_t)length;
}

static void say_age(struct text *text, tr_time age_ns)
{
    if (age_ns < TR_SECOND)
        say(text, "%lld ms", (long long)(age_ns / TR_MILLISECOND));
    else if (age_ns < 10 * TR_MINUTE)
        say(text, "%.1f s", (double)age_ns / (double)TR_SECOND);
    else
        say(text, "%lld min", (long long)(age_ns / TR_MINUTE));
}

static void say_reason(struct text *text, const tr_reason *reason)
{
    static const char *const names[] = {"stop", "mail", "capacity", "restart", "start", "sleep"};
    const char *between = "";
    say(text, "  ");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(reason->holds & 1u << i))
            continue;
        say(text, "%s%s", between, names[i]);
        between = ", ";
    }
    say(text, "%s%s", reason->holds ? ": " : "", reason->text);
    if (reason->age_ns >= 0 || reason->where[0]) {
        say(text, " (");
        if (reason->age_ns >= 0)
            say_age(text, reason->age_ns);
        say(text, "%s%s)", reason->age_ns >= 0 && reason->where[0] ? ", " : "", reason->where);
    }
    say(text, "\n");
}

size_t tr_why_print(const tr_why_report *report, char *text, size_t size)
{
    struct text out = {.words = text, .size = text ? size : 0};
    if (out.size)
        text[0] = '\0';
    if (!report)
        return 0;
    if (report->path[0])
        say(&out, "%s: ", report->path);
    else
        say(&out, "%llx: ", (unsigned long long)report->actor.bits);
    say(&out, "%s", report->state ? report->state : "?");
    if (report->is_told_to_stop)
        say(&out, ", stop requested");
    if (report->waiting_max)
        say(&out, "; %u of %u messages queued", report->waiting, report->waiting_max);
    if (report->oldest)
        say(&out, ", the oldest is %s", report->oldest);
    say(&out, "\n");
    for (size_t i = 0; i < report->count && i < TR_REASONS_MAX; i++)
        say_reason(&out, &report->reasons[i]);
    return out.length;
}

/* The switch has no default, so the compiler reports a kind that has no name. */
const char *tr_why_name(tr_why_kind kind)
{
#define NAME(kind)                                                                                 \
    case kind:                                                                                     \
        return #kind
    switch (kind) {
        NAME(TR_WHY_IDLE);
        NAME(TR_WHY_GONE);
        NAME(TR_WHY_NOT_STARTED);
        NAME(TR_WHY_RUNS);
        NAME(TR_WHY_WORKER_BUSY);
        NAME(TR_WHY_NO_ANSWER);
        NAME(TR_WHY_READY);
        NAME(TR_WHY_SUSPENDED);
        NAME(TR_WHY_TURN_WAITS);
        NAME(TR_WHY_BARRIER);
        NAME(TR_WHY_BLOCKING);
        NAME(TR_WHY_ANSWERS_DUE);
        NAME(TR_WHY_MAIL_FIRST);
        NAME(TR_WHY_CHILDREN);
        NAME(TR_WHY_FULL);
        NAME(TR_WHY_SENDERS_WAIT);
        NAME(TR_WHY_STASHED);
        NAME(TR_WHY_DECIDING);
        NAME(TR_WHY_BACK_OFF);
        NAME(TR_WHY_GROUP);
        NAME(TR_WHY_AWAKE);
        NAME(TR_WHY_STORING);
        NAME(TR_WHY_READS);
        NAME(TR_WHY_WRITES);
        NAME(TR_WHY_LINGERS);
    }
#undef NAME
    return "?";
}
