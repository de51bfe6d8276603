/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/alarm.h"

#include <string.h>
#include <troupe/wire.h>

#include "actor/cell/names.h"
#include "base/assert.h"
#include "base/sized.h"
#include "calendar/alarm_bytes.h"
#include "calendar/alarm_plan.h"
#include "calendar/cron.h"
#include "calendar/zones.h"
#include "durable/alarm_move.h"
#include "durable/changed.h"
#include "durable/clock.h"
#include "durable/commit.h"
#include "durable/drive.h"
#include "durable/message_shape.h"
#include "durable/queue_alarm.h"
#include "durable/retry.h"
#include "durable/running.h"
#include "durable/ttl.h"
#include "durable/turn.h"
#include "store/read.h"
#include "store/batch.h"
#include "wire/shape.h"
#include "actor/cell/log.h"
#include "actor/cell/verb.h"

/* ---- One alarm. ---- */

static unsigned char *message_of(struct alarm *alarm)
{
    return (unsigned char *)alarm->name + alarm->name_size;
}

static struct alarm *alarm_new(struct worker *worker, const char *name, const tr_handler *handler,
                               uint64_t shape, const void *bytes, size_t size)
{
    size_t name_size = strlen(name) + 1;
    struct alarm *alarm = source_resize(&worker->source, NULL, sizeof *alarm + name_size + size);
    if (!alarm)
        return NULL;
    *alarm = (struct alarm){
        .handler = handler, .name_size = name_size, .bytes_size = size, .shape = shape};
    list_init(&alarm->link);
    memcpy(alarm->name, name, name_size);
    if (bytes && size)
        memcpy(message_of(alarm), bytes, size);
    return alarm;
}

void tr__alarm_free(struct worker *worker, struct alarm *alarm)
{
    list_remove(&alarm->link);
    source_resize(&worker->source, alarm, 0);
}

static struct alarm *alarm_find(const struct durable_actor *actor, const char *name)
{
    LIST_EACH (link, &actor->alarms) {
        struct alarm *alarm = LIST_OWNER(link, struct alarm, link);
        if (strcmp(alarm->name, name) == 0)
            return alarm;
    }
    return NULL;
}

/* Returns the application's handler for a message with this name. Returns NULL if there is none. */
static const tr_handler *handler_of(const struct durable_actor *actor, const char *type)
{
    const tr_behavior *behavior = actor->kind->declared->behavior;
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_handler *handler = &behavior->handlers[i];
        if (handler->type && strcmp(handler->type->name, type) == 0)
            return handler;
    }
    return NULL;
}

static const struct zone *zone_of(const struct durable_actor *actor, const struct alarm_plan *plan)
{
    return tr__alarm_zone(actor->kind->host, plan);
}

/* Puts the row of an alarm, as the alarm is now, into the batch of the open commit. */
static tr_status alarm_store(struct durable_actor *actor, struct alarm *alarm)
{
    if (actor->is_doomed)
        return TR_OK; /* after tr_destroy, a stored alarm would wake the key again */
    struct store_batch *batch = tr__commit_batch(actor);
    const char *type = alarm->handler->type->name;
    size_t type_size = strlen(type) + 1;
    size_t capacity = ALARM_PLAN_AT + ALARM_BYTES_MAX + type_size + SHAPE_FRONT + alarm->bytes_size;
    unsigned char *bytes = batch ? tr__store_batch_alloc(batch, capacity) : NULL;
    if (!bytes)
        return TR_NO_MEMORY;
    size_t plan = tr__alarm_plan_write(&alarm->plan, bytes + ALARM_PLAN_AT);
    bytes[0] = (unsigned char)plan;
    bytes[1] = (unsigned char)(plan >> 8);
    unsigned char *at = bytes + ALARM_PLAN_AT + plan;
    memcpy(at, type, type_size);
    at += type_size;
    if (alarm->shape) {
        tr__shape_front_write(at, alarm->shape);
        at += SHAPE_FRONT;
    }
    memcpy(at, message_of(alarm), alarm->bytes_size);
    at += alarm->bytes_size;
    tr_time due = tr__alarm_plan_wake(&alarm->plan);
    if (due < actor->alarm_ns)
        actor->alarm_ns = due;
    return tr__store_alarm_set(batch, alarm->name, due, (tr_bytes){bytes, (size_t)(at - bytes)});
}

static tr_status alarm_clear(struct durable_actor *actor, const char *name)
{
    struct store_batch *batch = tr__commit_batch(actor);
    return batch ? tr__store_alarm_clear(batch, name) : TR_NO_MEMORY;
}

tr_time tr__alarms_next(const struct durable_actor *actor)
{
    tr_time next = tr__ttl_due(actor);
    LIST_EACH (link, &actor->alarms) {
        tr_time due = tr__alarm_plan_wake(&LIST_OWNER(link, struct alarm, link)->plan);
        if (due < next)
            next = due;
    }
    return next;
}

void tr__alarms_drop(struct worker *worker, struct durable_actor *actor)
{
    LIST_EACH (link, &actor->alarms)
        tr__alarm_free(worker, LIST_OWNER(link, struct alarm, link));
    actor->alarm_ns = TR_NEVER;
}

/* ---- Loading. ---- */

struct loading {
    struct worker *worker;
    struct durable_actor *actor;
    tr_status status;
};

/* Logs an alarm that this program cannot read. The alarm stays in the store, for a program that can
 * read it. */
static void alarm_leave_unread(const struct loading *loading, const struct store_row *row,
                               const char *what, const char *why)
{
    char path[TR_PATH_MAX + 1];
    tr__cell_path(loading->worker->system, loading->actor->durable.cell, path);
    tr__log(loading->worker->system,
            TR_LEVEL_ERROR,
            path,
            "the alarm %s is kept, but cannot fire: it needs %s, %s",
            row->name,
            what,
            why);
}

static tr_status alarm_parse(struct loading *loading, const struct store_row *row)
{
    const unsigned char *bytes = row->bytes.data;
    size_t plan_size = tr__alarm_plan_end(row->bytes);
    if (!plan_size)
        return TR_STORE_CORRUPT;
    struct alarm_plan plan;
    tr_status status = tr__alarm_plan_read(bytes + ALARM_PLAN_AT, plan_size - ALARM_PLAN_AT, &plan);
    if (status != TR_OK)
        return status == TR_BAD_DATA ? TR_STORE_CORRUPT : status;
    const char *type = (const char *)bytes + plan_size;
    size_t left = row->bytes.size - plan_size;
    size_t type_size = strnlen(type, left) + 1;
    if (type_size > left)
        return TR_STORE_CORRUPT;
    const tr_handler *handler = handler_of(loading->actor, type);
    if (!handler) {
        alarm_leave_unread(loading, row, type, "a message without a handler");
        return TR_OK;
    }
    if (plan.kind == ALARM_CRON && !zone_of(loading->actor, &plan)) {
        alarm_leave_unread(
            loading, row, tr__cron_zone(&plan.cron), "a time zone that this system does not have");
        return TR_OK;
    }
    tr_wire_error error;
    uint64_t shape;
    tr_bytes packed = tr__shape_front_read((tr_bytes){type + type_size, left - type_size}, &shape);
    status =
        tr__message_shape_check(loading->worker, loading->actor, handler->type, shape, error.text);
    if (status == TR_WRONG_SHAPE) {
        alarm_leave_unread(loading, row, type, error.text);
        return TR_OK;
    }
    struct alarm *alarm =
        status == TR_OK
            ? alarm_new(loading->worker, row->name, handler, shape, packed.data, packed.size)
            : NULL;
    if (!alarm)
        return TR_NO_MEMORY;
    alarm->plan = plan;
    list_push_last(&loading->actor->alarms, &alarm->link);
    return TR_OK;
}

static bool on_alarm_row(void *context, const struct store_row *row)
{
    struct loading *loading = context;
    if (tr__ttl_load(loading->actor, row))
        return true;
    if (strcmp(row->name, QUEUE_ALARM) == 0) {
        loading->actor->queues.row_ns = row->due_wall_ns;
        return true;
    }
    loading->status = alarm_parse(loading, row);
    return loading->status == TR_OK;
}

tr_status tr__alarms_load(tr_self *self, struct durable_actor *actor)
{
    struct worker *worker = self->worker;
    const struct durable_kind *kind = actor->kind;
    struct loading loading = {.worker = worker, .actor = actor};
    tr_status status = tr__store_list_alarms(host_context(kind->host, worker)->reader,
                                             kind->declared->name,
                                             actor_key(actor),
                                             on_alarm_row,
                                             &loading);
    if (status == TR_NOT_FOUND)
        return TR_OK;
    if (status == TR_OK)
        status = loading.status;
    if (status != TR_OK)
        return status;
    tr_time now = tr_wall_now(self);
    LIST_EACH (link, &actor->alarms) {
        struct alarm *alarm = LIST_OWNER(link, struct alarm, link);
        struct alarm_plan moved = alarm->plan;
        bool is_moved = tr__alarm_move(kind->host, &moved, now);
        /* The alarm is due or has moved, so send the actor a message about it. The turn that
         * handles the message also stores a moved alarm. */
        if (is_moved || tr__alarm_plan_is_due(&alarm->plan, now))
            tr_tell(self, tr_me(self), tr_durable_due, .name = alarm->name);
    }
    if (tr__ttl_due(actor) <= now)
        tr_tell(self, tr_me(self), tr_durable_due, .name = TTL_ALARM);
    return TR_OK;
}

/* ---- Firing. ---- */

/* Stores that an alarm has ended, or when it is due next. If the handler has set the alarm again,
 * the alarm has another plan, and this does nothing. */
static tr_status alarm_finish(struct worker *worker, struct durable_actor *actor, const char *name,
                              struct alarm_mark mark)
{
    struct alarm *alarm = alarm_find(actor, name);
    if (!alarm || alarm->plan.mark.id != mark.id)
        return TR_OK;
    switch (tr__alarm_plan_done(&alarm->plan, mark, zone_of(actor, &alarm->plan))) {
    case ALARM_WAITS:
    case ALARM_GAVE_UP:
        return alarm_store(actor, alarm);
    case ALARM_ENDS:
    case ALARM_GAVE_UP_ENDS: {
        tr_status status = alarm_clear(actor, name);
        tr__alarm_free(worker, alarm);
        return status;
    }
    case ALARM_STALE:
        break;
    }
    return TR_OK;
}

static void alarm_tell_given_up(struct worker *worker, struct durable_actor *actor,
                                const struct alarm *alarm, struct alarm_mark mark,
                                uint32_t failures)
{
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, actor->durable.cell, path);
    tr__log(worker->system,
            TR_LEVEL_ERROR,
            path,
            "the alarm %s is cancelled: its handler has failed %u times",
            alarm->name,
            failures);
    struct tr_alarm_given_up message = {
        .name = alarm->name, .id = mark.id, .occurrence = mark.occurrence, .failures = failures};
    if (handler_of(actor, tr_type_tr_alarm_given_up.name))
        tr__durable_notify(worker, actor->durable.cell, &tr_type_tr_alarm_given_up, &message);
}

void tr__alarm_commit_over(struct durable_actor *actor, struct durable_frame *frame)
{
    const struct alarm *alarm = alarm_find(actor, frame->alarm);
    if (!alarm || alarm->plan.mark.id != frame->mark.id)
        frame->is_alarm_gone = true;
}

static tr_retry alarm_policy(const struct alarm_plan *plan)
{
    return (tr_retry){plan->attempts, plan->first, plan->longest};
}

/*
 * Stores in the open commit that an occurrence of an alarm has failed. Sets *has_ended if the alarm will never fire
 * again. `alarm` may be a copy that is not in the actor's list of alarms.
 */
static tr_status alarm_fail(struct worker *worker, struct durable_actor *actor, struct alarm *alarm,
                            struct alarm_mark mark, bool *has_ended)
{
    const tr_platform *platform = worker->system->platform;
    uint32_t failures = alarm->plan.failures + 1;
    const tr_retry own = alarm_policy(&alarm->plan);
    const struct alarm_retry retry =
        tr__retry_of(&own, &actor->kind->declared->options.alarm_retry);
    *has_ended = false;
    switch (tr__alarm_plan_failed(&alarm->plan,
                                  mark,
                                  &retry,
                                  &worker->rng,
                                  zone_of(actor, &alarm->plan),
                                  platform->wall_now(platform))) {
    case ALARM_GAVE_UP_ENDS:
        alarm_tell_given_up(worker, actor, alarm, mark, failures);
        *has_ended = true;
        return alarm_clear(actor, alarm->name);
    case ALARM_GAVE_UP:
        alarm_tell_given_up(worker, actor, alarm, mark, failures);
        return alarm_store(actor, alarm);
    case ALARM_WAITS:
    case ALARM_ENDS:
        return alarm_store(actor, alarm);
    case ALARM_STALE:
        break;
    }
    return TR_OK;
}

void tr__alarm_failed(struct worker *worker, struct durable_actor *actor,
                      struct durable_frame *frame)
{
    /* The commit of the turn has failed, so changes that the handler made to the alarm do not
     * count. */
    struct alarm *alarm = frame->kept;
    bool has_ended;
    if (frame->plan.is_at_most_once || frame->is_alarm_gone || actor->is_doomed)
        return;
    alarm->plan = frame->plan;
    if (alarm->plan.mark.id != frame->mark.id ||
        alarm->plan.mark.occurrence != frame->mark.occurrence)
        return;
    tr_status status = alarm_fail(worker, actor, alarm, frame->mark, &has_ended);
    if (status == TR_OK)
        status = tr__commit_submit(worker, actor);
    if (status != TR_OK)
        /* The failure is not stored, so the alarm fires again at once, as after a crash. */
        tr__commit_drop(worker, actor, status);
}

tr_status tr__alarm_crashed(tr_self *self, struct durable_actor *actor, const char *name,
                            struct alarm_mark mark, uint32_t failures)
{
    struct alarm *alarm = alarm_find(actor, name);
    bool has_ended;
    if (!alarm || alarm->plan.failures != failures || alarm->plan.mark.id != mark.id ||
        alarm->plan.mark.occurrence != mark.occurrence)
        return TR_OK;
    tr_time now = tr_wall_now(self);
    if (tr__alarm_plan_is_due(&alarm->plan, now))
        (void)tr__alarm_plan_begin(&alarm->plan, now);
    tr_status status = alarm_fail(self->worker, actor, alarm, mark, &has_ended);
    if (has_ended)
        tr__alarm_free(self->worker, alarm);
    return status;
}

/* Runs the turn of an alarm that is due. The caller has called tr__frame_begin. If anything fails
 * here, that counts as a failure of the alarm. */
static tr_next alarm_fire(tr_self *self, struct tr_self *verb, void *state,
                          struct durable_actor *actor, struct alarm *alarm)
{
    struct durable_frame *frame = self->frame;
    void *message;
    tr_wire_error error;
    tr_status status;
    const tr_handler *handler = alarm->handler;
    frame->kept = alarm_new(
        self->worker, alarm->name, handler, alarm->shape, message_of(alarm), alarm->bytes_size);
    if (!frame->kept)
        return tr_fail(self, TR_NO_MEMORY, "out of memory for the alarm %s", alarm->name);
    const char *name = frame->alarm;
    memcpy(frame->alarm, alarm->name, alarm->name_size);
    tr_time now_ns = tr_wall_now(self);
    tr_time due_ns = tr__alarm_plan_wake(&alarm->plan);
    frame->mark = tr__alarm_plan_begin(&alarm->plan, now_ns);
    spread_add(&actor->kind->host->alarm_times,
               SPREAD_FIRST_NS,
               (uint64_t)(now_ns > due_ns ? now_ns - due_ns : 0));
    frame->plan = alarm->plan;
    frame->has_alarm = true;
    if (alarm->plan.is_at_most_once) {
        status = alarm_finish(self->worker, actor, name, frame->mark);
        if (status == TR_OK)
            status = tr_try_save(self);
        if (status != TR_OK)
            return tr_fail(self, status, "the alarm %s cannot be stored", name);
    }
    tr__running_enter(self);
    /* Unpack the copy, because the alarm itself may have been freed. */
    const tr_bytes bytes = {message_of(frame->kept), frame->kept->bytes_size};
    status = tr_unpack(handler->type, bytes, &message, &error);
    if (status != TR_OK)
        return tr_fail(
            self, status, "the message of the alarm %s cannot be read: %s", name, error.text);
    frame->message = message;
    frame->message_type = handler->type;
    tr_next next = tr__durable_user(self, verb, handler, state, message);
    next = tr__durable_changed(self, verb, actor, next);
    if (next.code == TR_NEXT_FAILED || self->is_cancelled)
        return next;
    status = alarm_finish(self->worker, actor, name, frame->mark);
    return status == TR_OK ? next : tr_fail(self, status, "the alarm %s cannot be stored", name);
}

/* Stores an alarm that has moved. The clock of the host only sees stored alarms. */
static tr_next keep_moved(tr_self *self, struct durable_actor *actor, struct alarm *alarm)
{
    tr_status status = alarm_store(actor, alarm);
    return status == TR_OK ? TR_SAME
                           : tr_fail(self, status, "the alarm %s cannot be stored", alarm->name);
}

tr_next tr__durable_alarm(tr_self *self, void *state, const void *message)
{
    TURN_VERB(self);
    const struct tr_durable_due *due = message;
    struct durable_actor *actor = durable_of(self);
    struct worker *worker = self->worker;
    bool is_queue = due->name && strcmp(due->name, QUEUE_ALARM) == 0;
    struct alarm *alarm = due->name && !is_queue ? alarm_find(actor, due->name) : NULL;
    tr__clock_done(worker, actor->kind->host, due->ticket);
    /* In a grace no alarm fires. The clock of the host learns when the next alarm is due, and wakes
     * the next generation then. While the system stops no alarm fires either. Such an alarm fires
     * after the next start of the system. */
    bool is_stopping = atom32_load(&worker->system->ending.is_stopping, ATOM_RELAXED);
    bool may_fire = actor->machine.state == SLEEP_STARTED && !is_stopping;
    if (may_fire && actor->broken == TR_OK && due->name && strcmp(due->name, TTL_ALARM) == 0)
        return tr__ttl_turn(self, actor);
    if (is_queue)
        return tr__queue_alarm_due(self, actor, may_fire && actor->broken == TR_OK);
    if (!alarm || actor->broken != TR_OK || (!may_fire && actor->machine.state != SLEEP_GRACE))
        return tr__durable_skip(self);
    tr_time now = tr_wall_now(self);
    bool is_moved = tr__alarm_move(actor->kind->host, &alarm->plan, now);
    bool is_due = may_fire && tr__alarm_plan_is_due(&alarm->plan, now);
    if (!is_moved && !is_due) {
        if (may_fire)
            tr__clock_tell(worker, actor->kind->host, tr__alarm_plan_wake(&alarm->plan));
        return tr__durable_skip(self);
    }
    if (!tr__frame_begin(self, actor, alarm->name, false))
        return tr_fail(self, TR_NO_MEMORY, "out of memory for a turn");
    /* Copy the name, because the handler may free the alarm. */
    memcpy(self->frame->alarm, alarm->name, alarm->name_size);
    self->frame->wake_lock.what = self->frame->alarm;
    /* Count the turn of an alarm as work of the runtime, not as a request. */
    self->frame->counter = COUNTER_INTERNAL;
    tr__sleep_move(&actor->machine, &self->frame->wake_lock, COUNTER_INTERNAL, worker->loop.now_ns);
    tr_next next =
        is_due ? alarm_fire(self, verb_turn, state, actor, alarm) : keep_moved(self, actor, alarm);
    next = tr__frame_done(self, actor, next, is_moved);
    tr__frame_end(self, actor);
    tr__durable_drive(worker, actor, false);
    return next;
}

/* ---- The verbs. ---- */

static tr_status plan_make(const struct durable_actor *actor, const tr_alarm *alarm, uint64_t id,
                           tr_time now, struct alarm_plan *plan)
{
    struct cron cron;
    const struct zone *zone;
    tr_status status;
    switch (alarm->kind) {
    case TR_ALARM_AT:
        return tr__alarm_plan_at(plan, id, alarm->ns, now);
    case TR_ALARM_AFTER:
        return tr__alarm_plan_after(plan, id, alarm->ns, now);
    case TR_ALARM_EVERY:
        return tr__alarm_plan_every(plan, id, alarm->ns, now, now);
    case TR_ALARM_CRON:
        if (!alarm->cron)
            return TR_INVALID_ARGUMENT;
        status = tr__cron_read(alarm->cron, strnlen(alarm->cron, CRON_TEXT_MAX + 1), &cron, NULL);
        if (status == TR_BAD_DATA)
            /* The bytes come from an argument, and TR_BAD_DATA is only for stored bytes. */
            status = TR_INVALID_ARGUMENT;
        if (status == TR_OK)
            status = tr__zones_find(&actor->kind->host->zones, tr__cron_zone(&cron), &zone);
        return status == TR_OK ? tr__alarm_plan_cron(plan, id, &cron, zone, now) : status;
    }
    return TR_INVALID_ARGUMENT;
}

static tr_status alarm_set(tr_self *self, struct durable_actor *actor, const tr_alarm *asked,
                           const tr_type *type, const void *message)
{
    struct worker *worker = self->worker;
    const tr_handler *handler = handler_of(actor, type->name);
    struct alarm_plan plan;
    tr_wire_error error;
    if (!handler)
        return TR_NOT_SUPPORTED;
    struct alarm *old = alarm_find(actor, asked->name);
    size_t count = 0;
    LIST_EACH (link, &actor->alarms)
        count++;
    if (!old && count >= TR_ALARMS_MAX)
        return TR_LIMIT;
    tr_time now = tr_wall_now(self);
    uint64_t id = tr_random(self);
    tr_status status = plan_make(actor, asked, id, now, &plan);
    if (status != TR_OK)
        return status;
    const struct alarm_clock clock = tr__alarm_clock(actor->kind->host);
    tr__alarm_plan_set_clock(&plan, &clock);
    plan.is_at_most_once = asked->is_at_most_once;
    plan.first = asked->retry.first_ns;
    plan.longest = asked->retry.longest_ns;
    plan.attempts = asked->retry.attempts;
    size_t size = tr_pack(type, message, NULL, 0, &error);
    if (!size)
        return error.status;
    if (size > TR_ALARM_BYTES_MAX - ALARM_BYTES_MAX - TR_NAME_MAX - ALARM_PLAN_AT - SHAPE_FRONT)
        return TR_TOO_LARGE;
    uint64_t shape;
    status = tr__message_shape(worker, actor->kind->host, tr__commit_batch(actor), type, &shape);
    struct alarm *alarm =
        status == TR_OK ? alarm_new(worker, asked->name, handler, shape, NULL, size) : NULL;
    if (!alarm)
        return TR_NO_MEMORY;
    (void)tr_pack(type, message, message_of(alarm), size, &error);
    alarm->plan = plan;
    status = alarm_store(actor, alarm);
    if (status != TR_OK) {
        tr__alarm_free(worker, alarm);
        return status;
    }
    if (old)
        tr__alarm_free(worker, old);
    list_push_last(&actor->alarms, &alarm->link);
    return TR_OK;
}

tr_status tr_self_try_alarm(tr_self *self, const tr_alarm *alarm, const tr_type *type,
                            const void *message)
{
    TURN_VERB(self);
    struct durable_actor *actor = self ? durable_of(self) : NULL;
    tr_alarm asked;
    if (!self || !alarm || !type || !message ||
        !sized_read(&asked, sizeof asked, alarm, alarm->size ? alarm->size : sizeof asked))
        return TR_INVALID_ARGUMENT;
    if (!asked.name || !*asked.name || *asked.name == QUEUE_ALARM[0] ||
        !tr__retry_is_valid(&asked.retry))
        return TR_INVALID_ARGUMENT;
    if (!actor)
        return TR_NOT_SUPPORTED;
    if (!self->frame)
        return TR_NOT_IN_A_TURN;
    if (self->is_cancelled)
        return TR_CANCELLED;
    if (strnlen(asked.name, TR_ALARM_NAME_MAX + 1) > TR_ALARM_NAME_MAX)
        return TR_TOO_LARGE;
    return alarm_set(self, actor, &asked, type, message);
}

void tr_self_alarm(tr_self *self, const tr_alarm *alarm, const tr_type *type, const void *message)
{
    TURN_VERB(self);
    TR_ASSERT(self); /* a failure ends the turn, so there must be a turn */
    tr_status status = tr_self_try_alarm(self, alarm, type, message);
    if (status != TR_OK)
        tr_crash(self,
                 status,
                 "the alarm %.40s: %s",
                 alarm && alarm->name ? alarm->name : "?",
                 tr_status_text(status));
}

bool tr_alarm_cancel(tr_self *self, const char *name)
{
    TURN_VERB(self);
    struct durable_actor *actor = self ? durable_of(self) : NULL;
    struct alarm *alarm = actor && name && self->frame ? alarm_find(actor, name) : NULL;
    if (!alarm || self->is_cancelled)
        return false;
    tr_status status = alarm_clear(actor, name);
    if (status != TR_OK)
        tr_crash(self, status, "tr_alarm_cancel: %s", tr_status_text(status));
    tr__alarm_free(self->worker, alarm);
    return true;
}

tr_time tr_alarm_due(tr_self *self, const char *name)
{
    TURN_VERB(self);
    const struct durable_actor *actor = self ? durable_of(self) : NULL;
    const struct alarm *alarm = actor && name ? alarm_find(actor, name) : NULL;
    if (!alarm)
        return 0;
    const struct durable_frame *frame = self->frame;
    /* While its own handler runs, an alarm counts as gone, unless the handler has set it again. */
    bool is_open = frame && frame->has_alarm && alarm->plan.mark.id == frame->mark.id &&
                   alarm->plan.mark.occurrence == frame->mark.occurrence;
    return is_open ? 0 : tr__alarm_plan_wake(&alarm->plan);
}

tr_alarm_mark tr_alarm_fired(const tr_self *self)
{
    TURN_VERB(self);
    const struct durable_frame *frame = self ? self->frame : NULL;
    if (!frame || !frame->has_alarm)
        return (tr_alarm_mark){0};
    return (tr_alarm_mark){.name = frame->alarm,
                           .id = frame->mark.id,
                           .occurrence = frame->mark.occurrence,
                           .failures = frame->plan.failures};
}
