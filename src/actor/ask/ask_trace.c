/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/ask/ask_trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "actor/ask/ask.h"
#include "actor/ask/batch.h"
#include "actor/ask/turn_asks.h"
#include "actor/cell/log.h"
#include "actor/cell/names.h"
#include "actor/cell/slots.h"
#include "actor/turn/park.h"
#include "actor/mail/kind.h"
#include "actor/mail/mail.h"
#include "actor/mail/address.h"

struct tr_ask_trace;

/*
 * ASK_TRACE_DEPTH_MAX: how many asks a trace follows, each of which waits for the next.
 * ASK_TRACES_MAX: how many traces a worker writes in a millisecond. This is limited because each
 * trace is a search.
 */
enum { ASK_TRACE_DEPTH_MAX = 8, ASK_TRACES_MAX = 16 };

struct text {
    char words[ASK_TRACE_MAX];
    size_t used;
};

TR_PRINTF(2, 3) static void say(struct text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text->words + text->used, ASK_TRACE_MAX - text->used, format, list);
    va_end(list);
    if (length > 0)
        text->used += (size_t)length;
    if (text->used >= ASK_TRACE_MAX)
        text->used = ASK_TRACE_MAX - 1; /* the text was cut */
}

/* ---- Where a request is. ---- */

enum {
    IS_HERE_MAX = 256
}; /* the largest number of messages that a search for one request looks at */

/* A request: its receiver, its asker and the number of the ask. */
struct question {
    uint64_t to;
    uint64_t asker;
    uint32_t id;
};

/* The ask that the trace is about. */
struct origin {
    uint64_t ref;
    uint32_t id;
    const struct tr_self *turn; /* NULL: the asker is not on this worker, or no turn waits */
};

static bool is_it(const struct envelope *envelope, const struct question *question)
{
    bool is_ask = envelope->kind == ENVELOPE_ASK || envelope->kind == ENVELOPE_ANSWERED;
    return is_ask && envelope->sender == question->asker &&
           envelope->payload.ask.id == question->id;
}

/*
 * Adds the number of messages in a ring to *count. If the request is one of these messages, sets
 * *place to its number among all messages counted so far.
 */
static void look_through(const struct envelope *last, const struct question *question,
                         uint32_t *count, uint32_t *place)
{
    const struct envelope *envelope = last;
    if (!last)
        return;
    do {
        envelope = (const struct envelope *)(const void *)envelope->mail.next;
        if (!mail_takes_capacity(envelope))
            continue;
        ++*count;
        if (is_it(envelope, question))
            *place = *count;
    } while (envelope != last);
}

/*
 * Whether a turn handles a request that is still open: neither answered nor forwarded. Also looks
 * at the other requests of a batch.
 */
static bool owes(const struct tr_self *turn, const struct question *question)
{
    if (turn->envelope->kind == ENVELOPE_ASK && is_it(turn->envelope, question))
        return true;
    for (uint32_t i = 0; turn->batch && i < turn->batch->count; i++) {
        const struct envelope *envelope = turn->batch->items[i].envelope;
        if (envelope->kind == ENVELOPE_ASK && is_it(envelope, question))
            return true;
    }
    return false;
}

/* Whether a turn handles a request, alone or in a batch. */
static bool handles(const struct tr_self *turn, const struct question *question)
{
    if (is_it(turn->envelope, question))
        return true;
    for (uint32_t i = 0; turn->batch && i < turn->batch->count; i++) {
        if (is_it(turn->batch->items[i].envelope, question))
            return true;
    }
    return false;
}

/* Returns the waiting turn of an actor that handles a request; NULL when none does. */
static const struct tr_self *turn_of(const struct cell *cell, const struct question *question)
{
    if (!cell->extra)
        return NULL;
    PARKED_EACH (turn, cell->extra) {
        if (handles(turn, question))
            return turn;
    }
    return NULL;
}

static bool is_put_off(const struct cell *cell, const struct question *question)
{
    const struct list *laters = cell->extra ? &cell->extra->asks.laters : NULL;
    for (struct list *link = laters ? laters->next : NULL; link && link != laters;
         link = link->next) {
        const struct envelope *answer = LIST_OWNER(link, struct later, link)->answer;
        if (answer->sender == question->asker && answer->payload.ask.id == question->id)
            return true;
    }
    return false;
}

const struct tr_self *tr__ask_turn(const struct cell *cell, uint64_t asker, uint32_t id)
{
    struct question question = {cell->identity, asker, id};
    if (!cell->extra)
        return NULL;
    PARKED_EACH (turn, cell->extra) {
        if (owes(turn, &question))
            return turn;
    }
    return NULL;
}

/*
 * Whether a request is in a ring. Looks at no more than *left messages. If the ring has more
 * messages than that, returns true.
 */
static bool has(const struct envelope *last, const struct question *question, uint32_t *left)
{
    const struct envelope *envelope = last;
    if (!last)
        return false;
    do {
        envelope = (const struct envelope *)(const void *)envelope->mail.next;
        if (!*left || is_it(envelope, question))
            return true;
        --*left;
    } while (envelope != last);
    return false;
}

/* Whether a request is in the inbox of the door, from which the owner has not taken it in yet. */
static bool is_behind_the_door(const struct cell *cell, const struct question *question)
{
    const void *head = atomptr_load(&cell->door.inbox, ATOM_ACQUIRE); /* pairs with door_push */
    const struct door_mail *mail = door_holds_mail(head) ? head : NULL;
    for (; mail; mail = mail->next) {
        if (is_it((const struct envelope *)(const void *)mail, question))
            return true;
    }
    return false;
}

bool tr__ask_is_here(const struct worker *worker, const struct cell *cell, uint64_t asker,
                     uint32_t id)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    const struct question question = {cell->identity, asker, id};
    const struct tr_self *turn = worker->turns.message;
    const struct cell_extra *extra = cell->extra;
    uint32_t left = IS_HERE_MAX;
    if (worker_running(worker) == cell && turn->cell == cell && turn->envelope &&
        owes(turn, &question))
        return true;
    if (extra && extra->waits.stuck && owes(extra->waits.stuck, &question))
        return true;
    if (extra &&
        (has(extra->mail.held, &question, &left) || has(extra->mail.requests, &question, &left) ||
         has(extra->stash.ring, &question, &left)))
        return true;
    return has(cell->cycle, &question, &left) || has(cell->notices, &question, &left) ||
           is_behind_the_door(cell, &question);
}

bool tr__ask_is_put_off(const struct cell *cell, uint64_t asker, uint32_t id)
{
    struct question question = {cell->identity, asker, id};
    return is_put_off(cell, &question);
}

/*
 * Writes what a turn waits for. If the turn waits for a reply, sets *question to the request of
 * that reply and returns true.
 */
static bool tell_turn(struct worker *worker, const struct tr_self *turn, struct text *text,
                      struct question *question)
{
    say(text, "%s ", turn->handler->name ? turn->handler->name : "its handler");
    if (turn->state == TURN_WOKEN) {
        say(text, "is about to resume");
        return false;
    }
    const struct ask *open = NULL;
    const struct ask *ask;
    TURN_EACH_ASK (ask, at, turn) {
        if (ask->is_wanted && !ask->is_done)
            open = ask;
    }
    if (open) {
        tr_time age_ns = worker->loop.now_ns - open->asked_ns;
        say(text,
            "waits %lld ms for %s",
            (long long)(age_ns < 0 ? 0 : age_ns / TR_MILLISECOND),
            open->type->name);
        *question = (struct question){open->to, turn->cell->identity, open->id};
    } else {
        say(text, "waits");
    }
    const char *file = turn->wait.where ? strrchr(turn->wait.where, '/') : NULL;
    if (turn->wait.where)
        say(text, " at %s", file ? file + 1 : turn->wait.where);
    return open;
}

/* Writes that a turn has not returned, and that its worker continues on another thread. */
static void tell_stuck(struct worker *worker, const struct tr_self *turn, struct text *text)
{
    tr_time age_ns = worker->loop.now_ns - turn->wait.since_ns;
    say(text,
        "%s has not returned; another thread has run its worker for %lld ms",
        turn->handler->name ? turn->handler->name : "its handler",
        (long long)(age_ns < 0 ? 0 : age_ns / TR_MILLISECOND));
}

/*
 * Writes where the request is in the mail of an actor. Returns true if the request is queued there.
 */
static bool tell_place(struct cell *cell, struct text *text, const struct question *question)
{
    uint32_t count = 0;
    uint32_t place = 0;
    if (cell->extra) {
        look_through(cell->extra->stash.ring, question, &count, &place);
        if (place) {
            say(text, "stashed, %u of %u", place, count);
            return false;
        }
        count = 0;
        look_through(cell->extra->mail.held, question, &count, &place);
    }
    look_through(cell->cycle, question, &count, &place);
    if (cell->extra)
        look_through(cell->extra->mail.requests, question, &count, &place);
    look_through(cell->notices, question, &count, &place);
    if (!place) {
        say(text,
            is_put_off(cell, question) ? "the reply was deferred with tr_reply_later"
                                       : "the request was answered too late, or forwarded");
        return false;
    }
    say(text, "queued, %u of %u", place, count);
    if (cell->life == LIFE_SUSPENDED)
        say(text, "; the actor is suspended");
    else if (cell->life == LIFE_STARTING)
        say(text, "; the actor is being set up");
    return true;
}

/*
 * Writes what an actor does with the request. If the trace continues with another request, sets
 * *question to that request and returns true.
 */
static bool tell_actor(struct worker *worker, struct cell *cell, struct text *text,
                       struct question *question, const struct origin *origin)
{
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, cell, path);
    say(text, "%.200s: ", path);
    if (cell->life == LIFE_NEW) {
        say(text, "not started yet"); /* before its start an actor has no turns to look at */
        return false;
    }
    mail_look(worker, cell);
    const struct tr_self *turn = turn_of(cell, question);
    if (turn)
        return tell_turn(worker, turn, text, question);
    const struct tr_self *stuck = cell->extra ? cell->extra->waits.stuck : NULL;
    if (stuck && handles(stuck, question)) {
        tell_stuck(worker, stuck, text);
        return false;
    }
    if (origin->turn && origin->turn->cell == cell && handles(origin->turn, question)) {
        const char *name = origin->turn->handler->name;
        say(text, "%s asks; that closes a cycle", name ? name : "its handler");
        /*
         * The turn that made the traced ask also handles this request, so the chain of asks is
         * closed. The turn does not wait for its ask yet, so turn_of, which looks at waiting turns,
         * has not found it.
         */
        return false;
    }
    if (!tell_place(cell, text, question))
        return false;
    if (stuck) {
        say(text, "; ");
        tell_stuck(worker, stuck, text);
        return false;
    }
    if (!(cell->flags & CELL_BARRIER))
        return false;
    /*
     * The barrier holds the request up. So the trace continues with the turn that is the barrier.
     */
    PARKED_EACH (barrier, cell->extra) {
        if (barrier->is_barrier) {
            say(text, "; ");
            return tell_turn(worker, barrier, text, question);
        }
    }
    return false;
}

enum telling { TOLD_ALL, TOLD_HERE };

/*
 * Writes the part of the trace that this worker knows. Returns TOLD_ALL if the trace is complete.
 * Returns TOLD_HERE if another worker must continue the trace with *question.
 */
static enum telling trace_write(struct worker *worker, struct text *text, struct question *question,
                                const struct origin *origin)
{
    uint64_t seen[ASK_TRACE_DEPTH_MAX];
    for (int depth = 0; depth < ASK_TRACE_DEPTH_MAX; depth++) {
        if (text->used && question->asker == origin->ref && question->id == origin->id) {
            say(text, "; and so on, in a cycle");
            return TOLD_ALL;
        }
        struct cell *cell = slots_find(worker->slots, question->to);
        if (cell && cell_owner(cell) != worker->index)
            return TOLD_HERE;
        if (text->used)
            say(text, "; ");
        if (!cell) {
            say(text, "the receiver has stopped");
            return TOLD_ALL;
        }
        if (!tell_actor(worker, cell, text, question, origin))
            return TOLD_ALL;
        seen[depth] = cell->identity;
        for (int i = 0; i <= depth; i++) {
            if (seen[i] == question->to) {
                say(text, "; and so on, in a cycle");
                return TOLD_ALL;
            }
        }
    }
    return TOLD_ALL;
}

/* ---- Sending a trace to other workers and back. ---- */

/* Stores the complete trace in its ask, and logs the trace. */
static void keep(struct worker *worker, struct ask *ask, const char *words)
{
    size_t size = strlen(words) + 1;
    char path[TR_PATH_MAX + 1];
    struct cell *cell = ask_cell(ask);
    ask->trace = source_resize(&worker->source, NULL, size);
    if (ask->trace)
        memcpy(ask->trace, words, size);
    tr__cell_path(worker->system, cell, path);
    tr__log(worker->system,
            TR_LEVEL_WARN,
            path,
            "%s %s: %s",
            ask->type->name,
            ask->status == TR_ASK_CYCLE ? "is part of a cycle of asks" : "was not answered in time",
            words);
}

static bool trace_send(struct worker *worker, enum envelope_kind kind, uint64_t to,
                       const struct tr_ask_trace *trace)
{
    struct address address = {.kind = kind, .to = to};
    struct cell *cell = slots_find(worker->slots, to);
    struct envelope *envelope;
    if (!cell ||
        tr__mail_new(&worker->pool, address, &tr_type_tr_ask_trace, trace, &envelope) != TR_OK)
        return false;
    if (tr__mail_send(worker, cell, envelope) == TR_OK)
        return true;
    envelope_give(&worker->pool, envelope);
    return false;
}

bool tr__ask_trace_begin(struct worker *worker, struct ask *ask)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct text text = {.used = 0};
    struct question question = {ask->to, ask_cell(ask)->identity, ask->id};
    text.words[0] = '\0';
    if (ask->is_look)
        return true;
    if (worker->loop.now_ns - worker->asks.traces_ns >= ASK_TRACE_NS) {
        worker->asks.traces_ns = worker->loop.now_ns;
        worker->asks.traces = 0;
    }
    if (++worker->asks.traces > ASK_TRACES_MAX)
        return true; /* when many asks time out at once, the traces of some of them are enough */
    struct origin origin = {question.asker, ask->id, ask->turn};
    enum telling telling = trace_write(worker, &text, &question, &origin);
    if (telling == TOLD_HERE) {
        struct tr_ask_trace trace = {.asker = question.asker,
                                     .id = question.id,
                                     .origin = ask_cell(ask)->identity,
                                     .origin_id = ask->id,
                                     .text = text.words};
        if (trace_send(worker, ENVELOPE_TRACE, question.to, &trace)) {
            ask->traced_to = question.to;
            return false;
        }
        say(&text, "the receiver has stopped");
    }
    keep(worker, ask, text.words);
    return true;
}

void tr__ask_trace_arrived(struct worker *worker, struct ask *ask, const struct tr_ask_trace *trace)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    keep(worker, ask, trace->text ? trace->text : "");
}

void tr__ask_trace_guess(const struct tr_system *system, uint64_t ref, char *words)
{
    const struct cell *cell = slots_find(system->slots, ref);
    uint32_t owner = cell ? cell_owner(cell) : CELL_FOREIGN;
    if (owner >= system->worker_count) {
        snprintf(words,
                 ASK_TRACE_MAX,
                 "the receiver has not started, is moving to another worker, or is not an actor");
        return;
    }
    const struct worker *busy = system->workers[owner];
    const tr_type *type = worker_type(busy);
    /* The worker looked at the clock at most one tick before the current handler began. */
    tr_time seen_ns = (tr_time)atom64_load(&busy->loop.seen_ns, ATOM_RELAXED);
    tr_time age_ns = system->platform->mono_now(system->platform) - seen_ns;
    snprintf(words,
             ASK_TRACE_MAX,
             "worker %u has not answered for a millisecond; running on it: %s, for %lld ms",
             owner,
             type ? type->name : "a signal, or nothing",
             (long long)(age_ns < 0 ? 0 : age_ns / TR_MILLISECOND));
}

void tr__ask_trace_give_up(struct worker *worker, struct ask *ask)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    char words[ASK_TRACE_MAX];
    tr__ask_trace_guess(worker->system, ask->traced_to, words);
    keep(worker, ask, words);
}

void tr__ask_trace_mail(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    const struct tr_ask_trace *trace = envelope_data(envelope);
    struct text text = {.used = 0};
    struct question question = {cell->identity, trace->asker, trace->id};
    struct tr_ask_trace next = *trace;
    text.words[0] = '\0';
    if (trace->text && trace->text[0])
        say(&text, "%s", trace->text);
    enum telling telling = TOLD_ALL;
    if (envelope->generation == cell_generation(cell) && cell->life < LIFE_STOPPING)
        telling = trace_write(
            worker, &text, &question, &(struct origin){trace->origin, trace->origin_id, NULL});
    else
        say(&text, "the receiver has stopped");
    next.text = text.words;
    next.hops = trace->hops + 1;
    next.asker = question.asker;
    next.id = question.id;
    /* a chain of this length may be a cycle of asks, which a trace would follow forever */
    bool is_long = next.hops >= ASK_TRACE_DEPTH_MAX;
    if (telling == TOLD_ALL || is_long || !trace_send(worker, ENVELOPE_TRACE, question.to, &next))
        (void)trace_send(worker, ENVELOPE_TRACED, trace->origin, &next);
    envelope_give(&worker->pool, envelope);
}
