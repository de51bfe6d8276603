/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/clock.h"

#include <string.h>

#include "actor/pooled.h"
#include "base/assert.h"
#include "durable/alarm.h"
#include "durable/lull.h"

enum {
    CLOCK_OPEN = 1024, /* alarms that were told and not looked at yet */
    CLOCK_PAGE = 256,  /* alarms that one turn tells */
    CLOCK_PASSES = 5 /* how often all alarms are gone through at most when the clock was set back */
};

/* What was told in vain is told again after this; and the wall clock is looked at. */
#define CLOCK_LOOK_NS (10 * TR_SECOND)
/* After a failure of the store or of memory. */
#define CLOCK_AGAIN_NS TR_SECOND
/* From page to page when all alarms are gone through: others have work on this worker, too. */
#define CLOCK_BACK_NS (10 * TR_MILLISECOND)

TR_MESSAGE(tr_clock_set, (u64, host));
TR_MESSAGE(tr_clock_moved, (i64, due));
TR_MESSAGE(tr_clock_told);
TR_MESSAGE(tr_clock_tick);
TR_MESSAGE(tr_clock_all);
TR_MESSAGE(tr_clock_lull);
TR_MESSAGE(tr_clock_back);
TR_MESSAGE(tr_clock_begin_back);

struct clock_state {
    struct durable_host *host;
    struct store_alarm_place place; /* all before it were told */
    uint32_t open;
    tr_time next_ns; /* when the timer is due, wall clock; TR_NEVER: it is not armed */
    /* The wall clock may have been set back: all alarms are gone through for those that wait for too long now. */
    bool is_back;
    tr_time offset_ns; /* of the wall clock from the other one, when it was looked at last */
    struct store_alarm_place back;
    uint32_t
        back_again; /* how often they are, yet: who fell asleep just then has not heard of it */
    bool has_moved; /* this time some were told */
};

struct page {
    tr_self *self;
    struct clock_state *clock;
    uint32_t count;
    tr_time next_ns; /* of the first that is not due yet */
    tr_time now_ns;
    bool has_failed;
};

/* ---- Telling. ---- */

static bool on_due(void *context, const struct store_due *due)
{
    struct page *page = context;
    struct clock_state *clock = page->clock;
    if (due->place.due_wall_ns > page->now_ns) {
        page->next_ns = due->place.due_wall_ns;
        return false;
    }
    if (page->count >= CLOCK_PAGE || clock->open >= CLOCK_OPEN)
        return false;
    clock->place = due->place;
    page->count++;
    if (due->is_corrupt || !due->kind) {
        tr_log_error(page->self, "an alarm in the store cannot be trusted; it is left alone");
        return true;
    }
    uint64_t bits;
    tr_status status = tr__host_wake(page->self, due->kind, due->key, &bits);
    if (status == TR_OK)
        status =
            tr_tell(page->self, tr_ref_from_bits(bits), tr_durable_due, .name = due->place.name);
    if (status == TR_OK)
        clock->open++;
    else if (status != TR_NOT_FOUND) /* a kind that this program does not have */
        page->has_failed = true;
    return true;
}

static bool on_future(void *context, const struct store_due *due)
{
    struct page *page = context;
    struct clock_state *clock = page->clock;
    uint64_t bits;
    if (page->count >= CLOCK_PAGE || clock->open >= CLOCK_OPEN)
        return false;
    clock->back = due->place;
    page->count++;
    if (due->is_corrupt || !due->kind ||
        !tr__alarm_is_moved(clock->host, due->bytes, page->now_ns) ||
        tr__host_wake(page->self, due->kind, due->key, &bits) != TR_OK)
        return true;
    if (tr_tell(page->self, tr_ref_from_bits(bits), tr_durable_due, .name = due->place.name) ==
        TR_OK)
        clock->open++;
    clock->has_moved = true;
    return true;
}

static void begin_pass(tr_self *self, struct clock_state *clock)
{
    clock->back = (struct store_alarm_place){.due_wall_ns = tr_wall_now(self)};
    clock->has_moved = false;
}

/* One page of them. */
static void look_back(tr_self *self, struct clock_state *clock)
{
    struct page page = {.self = self, .clock = clock, .now_ns = tr_wall_now(self)};
    struct store_alarm_place place = clock->back;
    tr_status status = tr__store_list_due(host_desk(clock->host, self->worker)->reader,
                                          &place,
                                          TR_NEVER,
                                          CLOCK_PAGE + 1,
                                          on_future,
                                          &page);
    bool is_over = status == TR_OK && page.count < CLOCK_PAGE && clock->open < CLOCK_OPEN;
    clock->is_back = !is_over || (clock->has_moved && clock->back_again);
    if (!is_over) {
        tr_timer_once(self, "back", CLOCK_BACK_NS, tr_clock_back);
    } else if (clock->is_back) {
        clock->back_again--;
        begin_pass(self, clock);
        tr_timer_once(self, "back", CLOCK_LOOK_NS, tr_clock_back);
    }
}

static tr_next on_back(tr_self *self, struct clock_state *clock)
{
    if (clock->is_back)
        look_back(self, clock);
    return TR_SAME;
}

static void begin_back(tr_self *self, struct clock_state *clock)
{
    clock->is_back = true;
    clock->back_again = CLOCK_PASSES - 1;
    begin_pass(self, clock);
    look_back(self, clock);
}

static tr_next on_begin_back(tr_self *self, struct clock_state *clock)
{
    begin_back(self, clock);
    return TR_SAME;
}

static void look_at_clock(tr_self *self, struct clock_state *clock)
{
    tr_time offset_ns = tr__alarm_clock(clock->host).offset;
    bool is_back = clock->offset_ns - offset_ns >= ALARM_JUMP_MIN;
    if (is_back || offset_ns > clock->offset_ns)
        clock->offset_ns = offset_ns;
    if (!is_back)
        return;
    tr_log_warn(self, "the wall clock was set back: alarms that wait for a time are moved");
    begin_back(self, clock);
}

/* The timer fires at this time of the wall clock, or when it is time to look at all again. */
static void arm(tr_self *self, struct clock_state *clock, tr_time wall_ns)
{
    tr_time now_ns = tr_wall_now(self);
    tr_time delay_ns = wall_ns > now_ns ? wall_ns - now_ns : 0;
    if (delay_ns > CLOCK_LOOK_NS)
        delay_ns = CLOCK_LOOK_NS;
    clock->next_ns = now_ns + delay_ns;
    tr_timer_once(self, "tick", delay_ns, tr_clock_tick);
}

static void look(tr_self *self, struct clock_state *clock)
{
    struct page page = {
        .self = self, .clock = clock, .next_ns = TR_NEVER, .now_ns = tr_wall_now(self)};
    struct durable_host *host = clock->host;
    struct store_alarm_place place = clock->place;
    tr_status status = tr__store_list_due(
        host_desk(host, self->worker)->reader, &place, TR_NEVER, CLOCK_PAGE + 1, on_due, &page);
    if (status != TR_OK || page.has_failed)
        arm(self, clock, page.now_ns + CLOCK_AGAIN_NS);
    else if (page.count >= CLOCK_PAGE && clock->open < CLOCK_OPEN)
        tr_tell(self, tr_me(self), tr_clock_tick);
    else
        arm(self, clock, page.next_ns);
}

/* ---- The actor. ---- */

static tr_next on_set(tr_self *self, struct clock_state *clock, const struct tr_clock_set *message)
{
    clock->host = (struct durable_host *)(uintptr_t)message->host;
    clock->offset_ns = clock->host->offset_first_ns;
    tr_timer_fixed_delay(self, "all", CLOCK_LOOK_NS, tr_clock_all);
    /* While nobody ran it may have been, too. */
    tr_timer_once(self, "back", CLOCK_BACK_NS, tr_clock_begin_back);
    tr_tell(self, tr_me(self), tr_clock_tick);
    return TR_SAME;
}

static tr_next on_tick(tr_self *self, struct clock_state *clock)
{
    look(self, clock);
    return TR_SAME;
}

static tr_next on_lull(tr_self *self, struct clock_state *clock)
{
    tr_time now_ns = tr_now(self);
    tr_time next_ns = tr__lulls_end(self->worker, clock->host, now_ns);
    if (next_ns < TR_NEVER)
        tr_timer_once(self, "lull", next_ns > now_ns ? next_ns - now_ns : 0, tr_clock_lull);
    return TR_SAME;
}

static tr_next on_all(tr_self *self, struct clock_state *clock)
{
    look_at_clock(self, clock);
    (void)on_lull(self, clock); /* what could not be told for want of memory */
    clock->place = (struct store_alarm_place){0};
    clock->open = 0;
    look(self, clock);
    return TR_SAME;
}

static tr_next on_moved(tr_self *self, struct clock_state *clock,
                        const struct tr_clock_moved *message)
{
    /* Before its place, or at it: what is there is looked at once more. */
    if (message->due <= clock->place.due_wall_ns)
        clock->place = (struct store_alarm_place){.due_wall_ns = message->due - 1};
    if (message->due < clock->next_ns)
        arm(self, clock, message->due);
    return TR_SAME;
}

static tr_next on_told(tr_self *self, struct clock_state *clock)
{
    bool was_full = clock->open >= CLOCK_OPEN;
    if (clock->open)
        clock->open--;
    if (was_full)
        tr_tell(self, tr_me(self), tr_clock_tick);
    return TR_SAME;
}

TR_BEHAVIOR(tr_durable_clock, struct clock_state, TR_SETUP_WITH(tr_clock_set, on_set),
            TR_ON(tr_clock_tick, on_tick), TR_ON(tr_clock_all, on_all),
            TR_ON(tr_clock_moved, on_moved), TR_ON(tr_clock_told, on_told),
            TR_ON(tr_clock_lull, on_lull), TR_ON(tr_clock_back, on_back),
            TR_ON(tr_clock_begin_back, on_begin_back),
            TR_OPTIONS(.is_pinned = true, .mailbox_max = TR_MAILBOX_LARGEST));

/* ---- For others. ---- */

static void tell(struct worker *worker, struct durable_host *host, const tr_type *type,
                 const void *message)
{
    struct cell *cell = slots_find(worker->slots, host->clock);
    struct envelope *envelope = cell ? envelope_take(&worker->pool) : NULL;
    if (!envelope)
        return; /* it looks by itself a little later */
    (void)envelope_fill(&worker->pool, envelope, type, message, ENVELOPE_INLINE);
    envelope->sender = 0;
    envelope->causal = 0;
    envelope->generation = (uint32_t)(host->clock >> 32);
    envelope->kind = ENVELOPE_NOTICE;
    struct gate *gate = worker->gate;
    worker_set_gate(worker, NULL);
    if (tr__mail_send(worker, cell, envelope) != TR_OK)
        envelope_give(&worker->pool, envelope);
    worker_set_gate(worker, gate);
}

void tr__clock_tell(struct worker *worker, struct durable_host *host, tr_time due_wall_ns)
{
    struct tr_clock_moved moved = {.due = due_wall_ns};
    tell(worker, host, &tr_type_tr_clock_moved, &moved);
}

void tr__clock_done(struct worker *worker, struct durable_host *host)
{
    static const struct tr_clock_told told;
    tell(worker, host, &tr_type_tr_clock_told, &told);
}

void tr__clock_tell_lull(struct worker *worker, struct durable_host *host)
{
    static const struct tr_clock_lull lull;
    tell(worker, host, &tr_type_tr_clock_lull, &lull);
}

tr_status tr__clock_start(struct durable_host *host)
{
    struct tr_system *system = host->system;
    const struct tr_clock_set set = {.host = (uint64_t)(uintptr_t)host};
    const struct pooled_spawner nobody = {0};
    const struct pooled_place place = {
        .parent = system->guardian, .path = "/system/durable", .bits = CELL_POOLED};
    const tr_spawn_args args = {.size = sizeof args,
                                .behavior = &tr_behavior_tr_durable_clock,
                                .worker = 0,
                                .setup_type = &tr_type_tr_clock_set,
                                .setup = &set};
    return tr__pooled_spawn_at(system, &nobody, &place, &args, &host->clock);
}
