/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The parent's side of a failure: what happens to a child that has failed, or that has ended.
 */
#include "actor/life/supervise.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/extra.h"
#include "actor/cell/log.h"
#include "actor/cell/names.h"
#include "actor/cell/sched_state.h"
#include "actor/cell/signal.h"
#include "actor/cell/slots.h"
#include "actor/cell/upcalls.h"
#include "actor/life/children.h"
#include "actor/life/failure_record.h"
#include "actor/life/origin.h"
#include "actor/life/place.h"
#include "actor/life/restart_group.h"
#include "actor/life/spawn.h"
#include "actor/mail/group_address.h"
#include "actor/mail/mail.h"
#include "actor/turn/turn.h"
#include "actor/mail/address.h"

#define RESTARTS_DEFAULT 3
#define WINDOW_DEFAULT_NS TR_MINUTE

const tr_supervision *tr__supervision_of(struct tr_system *system, const struct cell *parent,
                                         const tr_child_spec *spec)
{
    if (spec && spec->supervision)
        return spec->supervision;
    return parent == system->user.guardian ? &system->user.supervision
                                           : &parent->dispatch->behavior->supervision;
}

void tr__child_failed_signal(struct worker *worker, struct cell *parent, uint64_t child,
                             tr_directive directive, const tr_error *cause)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, parent));
    if (parent == worker->system->user.guardian)
        return;
    struct tr_child_failed message = {
        .child = tr_ref_from_bits(child), .directive = directive, .cause = *cause};
    struct address address = {.kind = ENVELOPE_SIGNAL, .to = parent->identity};
    struct envelope *envelope;
    if (tr__mail_new(
            &worker->pool, address, &tr__signal_types[SIGNAL_CHILD_FAILED], &message, &envelope) ==
        TR_OK) {
        if (tr__mail_send(worker, parent, envelope) != TR_OK)
            envelope_give(&worker->pool, envelope);
        return;
    }
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, parent, path);
    tr__log(worker->system, TR_LEVEL_WARN, path, "out of memory for a tr_child_failed signal");
}

/* ---- Deciding. ---- */

struct question {
    tr_directive (*decide)(tr_self *self, const tr_error *cause);
    const tr_error *cause;
    tr_directive answer;
};

static tr_next ask_decider(tr_self *self, void *state, const void *message)
{
    struct question *question = (struct question *)(uintptr_t)message;
    (void)state;
    question->answer = question->decide(self, question->cause);
    return TR_SAME;
}

/*
 * Asks the decider of the supervisor what to do with a child that has failed. Returns TR_RESTART if
 * there is no decider, and TR_ESCALATE if the decider itself fails.
 */
static tr_directive decide(struct worker *worker, struct cell *parent, const tr_supervision *how,
                           const tr_error *cause)
{
    if (!how->decide)
        return TR_RESTART;
    struct question question = {.decide = how->decide, .cause = cause, .answer = TR_ESCALATE};
    struct tr_self *self = tr__call_hook(worker, parent, TURN_DECIDER, ask_decider, &question, 0);
    const char *why = "out of memory for a stack";
    bool has_failed = !self || self->call.next.code == TR_NEXT_FAILED;
    char words[sizeof(tr_error){0}.text];
    if (self && has_failed) {
        snprintf(words, sizeof words, "%s", self->error.text);
        why = words;
    }
    if (self)
        tr__call_hook_end(self);
    if (!has_failed && (unsigned)question.answer > TR_ESCALATE) {
        has_failed = true;
        why = "the decider returned no directive";
    }
    if (!has_failed)
        return question.answer;
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, parent, path);
    tr__log(worker->system,
            TR_LEVEL_ERROR,
            path,
            "the decider failed, so the failure is escalated: %s",
            why);
    return TR_ESCALATE;
}

/* Makes space for the times of `capacity` restarts. Returns false when out of memory. */
static bool times_grow(struct worker *worker, struct failure *failure, uint32_t capacity)
{
    if (failure->capacity >= capacity)
        return true;
    tr_time *times = source_resize(&worker->source, NULL, capacity * sizeof *times);
    if (!times)
        return false;
    for (uint32_t i = 0; i < failure->count; i++)
        times[i] = failure->times[(failure->first + i) % failure->capacity];
    source_resize(&worker->source, failure->times, 0);
    failure->times = times;
    failure->first = 0;
    failure->capacity = capacity;
    return true;
}

/*
 * Whether a child may be restarted once more. If so, writes the time and the delay of this restart
 * into the record.
 */
static bool is_allowed(struct worker *worker, const tr_supervision *how, struct failure *failure)
{
    const tr_platform *platform = worker->system->platform;
    tr_time now_ns = platform->mono_now(platform);
    tr_time window_ns = how->window_ns > 0 ? how->window_ns : WINDOW_DEFAULT_NS;
    uint32_t max = how->restarts_max > 0 ? (uint32_t)how->restarts_max : RESTARTS_DEFAULT;
    if (how->restarts_max < 0)
        return false;
    while (failure->count && now_ns - failure->times[failure->first] >= window_ns) {
        failure->first = (failure->first + 1) % failure->capacity;
        failure->count--;
    }
    if (failure->count >= max || !times_grow(worker, failure, max))
        return false;
    failure->times[(failure->first + failure->count++) % failure->capacity] = now_ns;

    const tr_backoff *backoff = &how->backoff;
    if (failure->last_ns && now_ns - failure->last_ns >= window_ns)
        failure->attempts = 0;
    failure->last_ns = now_ns;
    double max_ns = (double)(backoff->max_ns > 0 ? backoff->max_ns : TR_BACKOFF_MAX_NS);
    double delay_ns = (double)backoff->initial_ns;
    double multiplier = backoff->multiplier > 0 ? backoff->multiplier : 2;
    for (uint32_t i = 0; i < failure->attempts && delay_ns < max_ns; i++)
        delay_ns *= multiplier;
    if (delay_ns > max_ns)
        delay_ns = max_ns;
    if (backoff->jitter > 0) {
        double chance = (double)(rng_next(&worker->rng) >> 11) / (double)(UINT64_C(1) << 53);
        delay_ns *= 1 + backoff->jitter * (2 * chance - 1);
    }
    failure->attempts++;
    failure->delay_ns = (tr_time)(delay_ns < max_ns ? delay_ns : max_ns);
    return true;
}

/*
 * Sends the decision and the record to the child. A child that is about to end does not get them.
 * Then `parent` keeps the record of a permanent child until the child is gone, and the record of
 * any other child is freed. Without a parent (`parent` is NULL) the record is freed too.
 */
static void answer(struct worker *worker, struct cell *parent, struct envelope *envelope,
                   struct failure *failure)
{
    struct cell *child = slots_find(worker->slots, failure->child);
    mail_readdress(envelope, ENVELOPE_DECIDED, failure->child, 0);
    if (child && !failure->is_final && tr__mail_send(worker, child, envelope) == TR_OK)
        return;
    envelope_give_empty(&worker->pool, envelope);
    if (parent && !failure->is_final && failure->restart == TR_PERMANENT)
        list_push_last(&parent->extra->supervision.pasts, &failure->link); /* see recall */
    else
        tr__failure_free(worker, failure);
}

/* Makes the supervisor fail because a child has failed. Returns what tr__cell_fail returns. */
static bool fail_with(struct worker *worker, struct cell *parent, const tr_error *cause,
                      tr_error_reason reason)
{
    bool is_root = parent == worker->system->user.guardian;
    uint64_t known = tr__group_of_child(parent);
    tr_error error = *cause;
    if (error.link_count < TR_ERROR_LINKS_MAX) {
        tr_error_link *link = &error.links[error.link_count];
        *link = (tr_error_link){.actor = tr_ref_from_bits(is_root ? 0 : known), .reason = reason};
    }
    error.link_count++;
    return tr__cell_fail(worker, parent, "a child", &error);
}

/*
 * Handles the failure of a group supervisor that has failed because a member of its group failed.
 * The members are supervised as if they were children of `parent`. So `parent` fails too. Returns
 * what on_failed returns.
 */
static bool on_group_supervisor_failed(struct worker *worker, struct cell *parent,
                                       struct envelope *envelope, struct failure *failure)
{
    tr_error cause = failure->cause;
    uint32_t links = cause.link_count;
    tr_error_reason reason = TR_BY_ESCALATION;
    if (links && links <= TR_ERROR_LINKS_MAX)
        reason = cause.links[links - 1].reason;
    tr_directive directive = reason == TR_BY_EXHAUSTION ? TR_STOP_CHILD : TR_ESCALATE;
    tr__child_failed_signal(worker, parent, failure->group, directive, &cause);
    answer(worker, parent, envelope, failure);
    return fail_with(worker, parent, &cause, reason);
}

/*
 * Handles a FAILED: decides about a child that has failed. Returns false if the supervisor stops
 * because of this; then the supervisor may be gone.
 */
static bool on_failed(struct worker *worker, struct cell *parent, struct envelope *envelope)
{
    struct failure *failure;
    memcpy(&failure, envelope->payload.bytes, sizeof failure);
    if (failure->group && failure->cause.actor.bits != failure->group)
        return on_group_supervisor_failed(worker, parent, envelope, failure);
    uint64_t known = failure->group ? failure->group : failure->child;
    const tr_supervision *how = tr__supervision_of(worker->system, parent, failure->spec);
    bool is_group = how->strategy != TR_ONE_FOR_ONE;
    bool is_exhausted = false;
    tr_directive directive = TR_STOP_CHILD;
    /* Ask the decider only about a child that is neither stopping nor gone. */
    struct cell *child = failure->is_final ? NULL : slots_find(worker->slots, failure->child);
    if (child && failure->restart != TR_TEMPORARY)
        directive = decide(worker, parent, how, &failure->cause);
    /* After a fault (TR_FAULT) the child cannot resume, because its memory may be damaged. */
    bool is_spoiled = failure->has_no_state || failure->cause.status == TR_FAULT;
    if (directive == TR_RESUME && is_spoiled)
        directive = TR_RESTART;
    if (directive == TR_RESTART && !is_allowed(worker, how, failure)) {
        directive = TR_STOP_CHILD;
        is_exhausted = is_group;
    }
    failure->directive = directive;
    failure->is_group = is_group && directive == TR_RESTART;
    tr__child_failed_signal(worker, parent, known, directive, &failure->cause);
    if (failure->is_group)
        tr__restart_group_pause(parent, failure->child);
    else if (directive == TR_RESUME || directive == TR_RESTART)
        /* the child comes up without its group, so the group must not wait for its UP */
        tr__restart_group_answer(worker, parent, failure->child, ENVELOPE_UP);
    if (is_exhausted)
        tr__restart_group_kill(worker, parent, how, failure->child);
    tr_error cause = failure->cause;
    /*
     * Also dismiss the child. Otherwise the child would come back if an order ended it before it
     * got the decision.
     */
    bool is_given_up = directive == TR_STOP_CHILD || directive == TR_ESCALATE;
    if (child && is_given_up && failure->restart == TR_PERMANENT)
        tr__child_order(worker, child, CONTROL_DISMISS);
    answer(worker, parent, envelope, failure);
    if (is_exhausted)
        return fail_with(worker, parent, &cause, TR_BY_EXHAUSTION);
    if (directive == TR_ESCALATE)
        return fail_with(worker, parent, &cause, TR_BY_ESCALATION);
    return true;
}

/*
 * Kills a group whose restart has failed for lack of memory, and makes the supervisor fail. Returns
 * what tr__cell_fail returns.
 */
static bool give_up_group(struct worker *worker, struct cell *parent, const tr_supervision *how,
                          uint64_t child)
{
    tr_error error = {.status = TR_NO_MEMORY,
                      .actor = tr_ref_from_bits(child),
                      .text = "out of memory for a restart of all children"};
    tr__restart_group_kill(worker, parent, how, child);
    return tr__cell_fail(worker, parent, "a child", &error);
}

/*
 * Handles an UP. An UP with a tr_ready says that the restart delay of the child that failed is
 * over. Any other UP says that a member of a group has come up. Returns false if the supervisor
 * stops because of this; then the supervisor may be gone.
 */
static bool on_up(struct worker *worker, struct cell *parent, struct envelope *envelope)
{
    uint64_t child = envelope->sender;
    if (!tr_type_is_equal(envelope->type, &tr_type_tr_ready)) {
        envelope_give(&worker->pool, envelope);
        tr__restart_group_answer(worker, parent, child, ENVELOPE_UP);
        return true;
    }
    const struct tr_ready *ready = envelope_data(envelope);
    const tr_child_spec *spec = (const tr_child_spec *)(uintptr_t)ready->spec;
    const tr_supervision *how = tr__supervision_of(worker->system, parent, spec);
    bool is_here = true;
    if (slots_find(worker->slots, child) &&
        !tr__restart_group_begin(worker, parent, how, child, &ready->cause))
        is_here = give_up_group(worker, parent, how, child);
    envelope_give(&worker->pool, envelope);
    return is_here;
}

/* ---- Children that come back as new actors. ---- */

static bool is_up(const struct cell *cell)
{
    return cell->life == LIFE_RUNNING || cell->life == LIFE_SUSPENDED;
}

/*
 * Handles the end of a child that does not come back. If the child was significant, and the
 * parent's rule of significance says so, stops the parent.
 */
static void end_for_good(struct worker *worker, struct cell *parent, const tr_child_spec *spec)
{
    if (!spec || !spec->is_significant || !parent->extra)
        return;
    if (!parent->extra->supervision.significant)
        return; /* the child was spawned from outside, and was never counted */
    uint32_t left = --parent->extra->supervision.significant;
    if (!is_up(parent))
        return;
    tr_significance rule = tr__supervision_of(worker->system, parent, NULL)->significance;
    if (rule == TR_STOP_AFTER_ANY || (rule == TR_STOP_AFTER_ALL && !left))
        tr__child_order(worker, parent, CONTROL_STOP);
}

/* Starts a new actor in the place of a child that has ended. Takes the record. */
static void come_back(struct worker *worker, struct cell *parent, struct failure *failure)
{
    struct cell_origin *origin = failure->origin;
    uint64_t child = failure->child;
    const struct origin_rare *rare = origin_rare(origin);
    const tr_child_spec *spec = rare->spec;
    tr_error error = {.status = TR_OK};
    const tr_spawn_args args = {.size = sizeof args,
                                .behavior = origin->behavior,
                                .name = rare->name ? rare->name
                                        : spec     ? spec->name
                                                   : NULL,
                                .worker = (int)origin->worker,
                                .setup_type = origin->type,
                                .setup = origin->type ? origin->message : NULL,
                                .error = &error,
                                .spec = spec};
    uint64_t bits;
    uint64_t before = failure->before;
    failure->origin = NULL;
    list_remove(&failure->link);
    failure->before = tr__place_find(worker, parent, failure);
    tr_status status = tr__spawn_below(worker, parent, &args, 0, &failure, &bits);
    tr__origin_free(&worker->source, origin);
    /*
     * If the record is still here, the start failed before the new child was linked. So nothing
     * will report the end of this child.
     */
    if (failure) {
        tr__place_replace(parent, child, before);
        end_for_good(worker, parent, spec);
    }
    tr__failure_free(worker, failure);
    if (status == TR_OK || status == TR_STOPPING)
        return;
    tr__children_look(worker, parent);
    if (error.status == TR_OK)
        error = (tr_error){.status = status, .text = "the child did not start again"};
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, parent, path);
    tr__log(worker->system,
            TR_LEVEL_ERROR,
            path,
            "a permanent child did not start again: %s: %s",
            tr_status_name(error.status),
            error.text);
    tr__child_failed_signal(worker, parent, child, TR_STOP_CHILD, &error);
}

/* Whether a child that has ended is to come back as a new actor. */
static bool comes_back(struct worker *worker, const struct cell *parent, struct cell *child)
{
    const struct cell_origin *origin = child->origin;
    if (!origin || !origin->has_lived || origin->is_dismissed || child->flags & CELL_FAILED ||
        tr__restart_of(child) != TR_PERMANENT)
        return false;
    if (atom32_load(&child->control, ATOM_SEQ_CST) & CONTROL_DISMISS)
        /*
         * the child has an order that dismisses it, and has ended before it could handle this order
         */
        return false;
    return is_up(parent) && !atom32_load(&worker->system->ending.is_stopping, ATOM_SEQ_CST);
}

/*
 * Plans the return of a child that has ended: its parent decides about it between two turns. Takes
 * the origin of the child. Returns false when out of memory.
 */
static bool plan_return(struct worker *worker, struct cell *parent, struct cell *child)
{
    struct cell_extra *extra = tr__extra_of(worker, parent);
    struct failure *failure = extra ? tr__failure_past(worker, child) : NULL;
    if (!failure)
        return false;
    tr__place_note(worker, parent, child, failure);
    failure->spec = origin_rare(child->origin)->spec;
    failure->is_pooled = cell_is_pooled(child);
    failure->origin = child->origin;
    child->origin = NULL;
    failure->cell = parent;
    failure_change(failure, FAILURE_DECIDED);
    list_push_last(&extra->supervision.returns, &failure->link);
    tr__child_order(worker, parent, CONTROL_CHILD);
    return true;
}

/*
 * Decides whether a child that has ended may come back. If it may, sets its delay. If not, gives
 * the child up and frees the record. Returns false if the supervisor stops because of this; then
 * the supervisor may be gone.
 */
static bool on_return(struct worker *worker, struct cell *parent, struct failure *failure)
{
    const tr_supervision *how = tr__supervision_of(worker->system, parent, failure->spec);
    if (is_allowed(worker, how, failure)) {
        const tr_platform *platform = worker->system->platform;
        failure_change(failure, failure->delay_ns > 0 ? FAILURE_DELAYED : FAILURE_DUE);
        if (failure->delay_ns > 0)
            tr__wheel_arm(&worker->life.delays,
                          &failure->delay,
                          timer_deadline(platform->mono_now(platform), failure->delay_ns));
        return true;
    }
    tr_error cause = {.status = TR_STOPPED,
                      .actor = tr_ref_from_bits(failure->child),
                      .text = "the child ended more often than the limit of restarts allows"};
    bool is_alone = how->strategy == TR_ONE_FOR_ONE;
    tr__child_failed_signal(worker, parent, failure->child, TR_STOP_CHILD, &cause);
    end_for_good(worker, parent, failure->spec);
    tr__place_replace(parent, failure->child, failure->before);
    tr__failure_free(worker, failure);
    tr__children_look(worker, parent);
    return is_alone || fail_with(worker, parent, &cause, TR_BY_EXHAUSTION);
}

/*
 * Copies the restart history of a child that has ended to the origin of the child. The history is
 * in the record of the child's last failure. The parent had this record when the child ended. It is
 * in `failed` if the parent has not decided yet, or in `pasts` if the decision could not be
 * delivered.
 */
static void recall(struct worker *worker, struct cell *parent, struct cell *child)
{
    mail_look(worker, parent); /* take in the FAILED, which was sent before the child ended */
    struct cell_extra *extra = parent->extra;
    struct door_mail *first =
        extra && extra->supervision.failed ? &extra->supervision.failed->mail : NULL;
    struct door_mail *mail = first;
    while (mail) {
        const struct envelope *envelope = (const struct envelope *)(const void *)mail;
        if (envelope->kind == ENVELOPE_FAILED && envelope->sender == child->identity) {
            struct failure *failure;
            memcpy(&failure, envelope->payload.bytes, sizeof failure);
            failure->is_final = true;
            tr__failure_return(worker, child, failure, true);
            return;
        }
        mail = mail->next == first ? NULL : mail->next;
    }
    struct list *end = extra ? &extra->supervision.pasts : NULL;
    for (struct list *link = end ? end->next : NULL; link != end; link = link->next) {
        struct failure *failure = LIST_OWNER(link, struct failure, link);
        if (failure->child == child->identity) {
            tr__failure_return(worker, child, failure, false);
            return;
        }
    }
}

void tr__supervise_gone(struct worker *worker, struct cell *parent, struct cell *child)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, parent));
    const tr_child_spec *spec = child->origin ? origin_rare(child->origin)->spec : NULL;
    if (child->origin && child->origin->is_away && is_up(parent) &&
        tr__restart_of(child) == TR_PERMANENT)
        recall(worker, parent, child);
    if (parent->extra && parent->extra->supervision.group)
        tr__restart_group_answer(worker, parent, child->identity, ENVELOPE_VOID);
    if (comes_back(worker, parent, child)) {
        if (plan_return(worker, parent, child))
            return;
        tr_error cause = {.status = TR_NO_MEMORY,
                          .actor = tr_ref_from_bits(child->identity),
                          .text = "out of memory for starting the child again"};
        tr__child_failed_signal(worker, parent, child->identity, TR_STOP_CHILD, &cause);
    }
    tr__place_close(worker, parent, child);
    end_for_good(worker, parent, spec);
}

/* ---- Handling children between two turns of the parent. ---- */

/*
 * Returns the first child whose delay is over; NULL for none. Each search begins at the front of
 * the list, because each child that comes back may change the list.
 */
static struct list *first_due(const struct cell_extra *extra)
{
    for (struct list *link = extra->supervision.returns.next; link != &extra->supervision.returns;
         link = link->next) {
        if (LIST_OWNER(link, struct failure, link)->phase == FAILURE_DUE)
            return link;
    }
    return NULL;
}

bool tr__supervise(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_extra *extra = cell->extra;
    while (extra->supervision.failed && is_up(cell)) {
        struct envelope *envelope = ring_pop(&extra->supervision.failed);
        bool is_here = true;
        if (envelope->kind == ENVELOPE_FAILED) {
            is_here = on_failed(worker, cell, envelope);
        } else if (envelope->kind == ENVELOPE_UP) {
            is_here = on_up(worker, cell, envelope);
        } else {
            uint64_t child = envelope->sender;
            envelope_give(&worker->pool, envelope);
            tr__restart_group_answer(worker, cell, child, ENVELOPE_DOWN);
        }
        if (!is_here)
            return false;
        /*
         * If the supervisor has failed because of this child, it is Waiting now. It still handles
         * its other children before it waits.
         */
        if (cell->sched_state == SCHED_WAITING)
            cell_sched_change(cell, SCHED_RUNNING);
    }
    struct list *link = extra->supervision.returns.next;
    while (link != &extra->supervision.returns) {
        struct failure *failure = LIST_OWNER(link, struct failure, link);
        link = link->next;
        if (failure->phase == FAILURE_DECIDED && !on_return(worker, cell, failure))
            return false;
        if (cell->sched_state == SCHED_WAITING)
            cell_sched_change(cell, SCHED_RUNNING);
    }
    while ((link = first_due(extra)))
        come_back(worker, cell, LIST_OWNER(link, struct failure, link));
    return true;
}

void tr__supervise_end(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_extra *extra = cell->extra;
    if (!extra)
        return;
    tr__restart_group_free(worker, cell);
    while (extra->supervision.failed) {
        struct envelope *envelope = ring_pop(&extra->supervision.failed);
        if (envelope->kind != ENVELOPE_FAILED) {
            envelope_give(&worker->pool, envelope);
            continue;
        }
        struct failure *failure;
        memcpy(&failure, envelope->payload.bytes, sizeof failure);
        failure->directive = TR_STOP_CHILD;
        answer(worker, NULL, envelope, failure);
    }
    struct list *link;
    extra->supervision.keeps_places = false;
    while ((link = list_first(&extra->supervision.pasts)))
        tr__failure_free(worker, LIST_OWNER(link, struct failure, link));
    while ((link = list_first(&extra->supervision.returns))) {
        struct failure *failure = LIST_OWNER(link, struct failure, link);
        if (failure->spec && failure->spec->is_significant)
            extra->supervision.significant--;
        tr__failure_free(worker, failure);
    }
}
