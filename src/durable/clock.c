/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/clock.h"

#include <string.h>

#include "actor/cell/slots.h"
#include "actor/mail/address.h"
#include "actor/life/pooled.h"
#include "actor/mail/mail.h"
#include "durable/alarm_move.h"
#include "durable/hints.h"
#include "durable/host.h"
#include "durable/queue_alarm.h"
#include "durable/retry_backoff.h"
#include "actor/mail/kind.h"

enum {
    CLOCK_PAGE = 256, /* the largest number of alarms that one turn of the clock looks at */
    CLOCK_PASSES = 5  /* how often all alarms are walked after the wall clock was set back */
};

/*
 * How often the clock walks all due alarms again, to repeat hints that got no answer. The clock also checks the wall
 * clock that often.
 */
#define CLOCK_LOOK_NS (10 * TR_SECOND)
/* The delay after a failure of the store, or after there was no memory. */
#define CLOCK_AGAIN_NS TR_SECOND
/* The delay between two pages of a walk of all alarms. It lets other actors of this worker run. */
#define CLOCK_BACK_NS (10 * TR_MILLISECOND)

TR_MESSAGE(tr_clock_set, (u64, host));
TR_MESSAGE(tr_clock_moved, (i64, due));
TR_MESSAGE(tr_clock_told, (u64, ticket));
TR_MESSAGE(tr_clock_tick);
TR_MESSAGE(tr_clock_all);
TR_MESSAGE(tr_clock_sweep);
TR_MESSAGE(tr_clock_behind);
TR_MESSAGE(tr_clock_backoff);
TR_MESSAGE(tr_clock_back);
TR_MESSAGE(tr_clock_begin_back);

struct clock_state {
    struct durable_host *host;
    struct hints hints;
    /* Hints of all alarms up to this place were sent, except for alarms of kinds that are
     * behind. */
    struct store_alarm_place place;
    tr_time next_ns; /* when the timer fires, by the wall clock; TR_NEVER: it is not armed */
    /* While this is true, all due alarms are walked again, to repeat hints that got no answer. */
    bool is_sweeping;
    struct store_alarm_place sweep;
    tr_time sweep_ns; /* when that walk began */
    /* While this is true, all alarms are walked, because the wall clock may have been set back. The walk finds alarms
     * that would fire too late now. */
    bool is_back;
    tr_time offset_ns; /* wall clock minus monotonic clock at the last check */
    struct store_alarm_place back;
    /* How many walks of is_back may still follow the current one. If the current one has sent a
     * hint, another one follows, because a walk may miss an actor that falls asleep meanwhile. */
    uint32_t back_again;
    bool has_moved; /* the current walk of is_back has sent a hint */
};

struct page {
    tr_self *self;
    struct clock_state *clock;
    /* The kind that this walk is for. NULL: it is the common walk for all kinds. */
    struct hint_kind *behind;
    uint32_t count;
    tr_time next_ns; /* when the first alarm that is not due yet is due */
    tr_time now_ns;
    bool is_full; /* the walk ends here, because the next alarm's kind has no free place */
    bool has_failed;
};

static int place_compare(const struct store_alarm_place *a, const struct store_alarm_place *b)
{
    if (a->due_wall_ns != b->due_wall_ns)
        return a->due_wall_ns < b->due_wall_ns ? -1 : 1;
    if (a->actor != b->actor)
        return a->actor < b->actor ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* ---- Telling. ---- */

static void name_late(tr_self *self, const struct store_due *due)
{
    bool is_queue = strcmp(due->place.name, QUEUE_ALARM) == 0;
    tr_log_warn(self,
                "the alarm %s of %s \"%.*s\" is late: its actor is busy or cannot start. Late "
                "alarms of this kind are retried, with growing delays",
                is_queue ? "for the queues" : due->place.name,
                due->kind,
                due->key.size > 100 ? 100 : (int)due->key.size,
                (const char *)due->key.data);
}

/* Sends the actor of an alarm a hint, unless the hint was sent before. Returns false if the actor
 * would have to be woken and its kind has no free place. */
static bool clock_tell_due(struct page *page, const struct store_due *due, int number,
                           bool is_again)
{
    tr_self *self = page->self;
    struct hints *hints = &page->clock->hints;
    const struct durable_kind *kind = &page->clock->host->kinds[number];
    tr_time now_ns = tr_now(self);
    uint64_t ticket = tr__hints_ticket(self->worker, &due->place);
    if (tr__hints_decide(hints, ticket, (size_t)number, is_again, now_ns) == HINT_SKIP)
        return true;
    bool is_awake = tr__host_is_awake(self, kind, due->key);
    if (!is_awake && hints_is_full(hints, (size_t)number))
        return false;
    uint64_t bits;
    bool is_late = false;
    tr_status status = tr_self_try_durable(self, kind->origin, due->key, &bits);
    if (status == TR_OK)
        status = tr_tell(self,
                         tr_ref_from_bits(bits),
                         tr_durable_due,
                         .name = due->place.name,
                         .ticket = ticket);
    if (status == TR_OK)
        status = tr__hints_add(
            hints, self->worker, ticket, (size_t)number, bits, is_awake, now_ns, &is_late);
    page->has_failed |= status != TR_OK;
    if (is_late)
        name_late(self, due);
    return true;
}

/* Returns the number of the alarm's kind. Returns -1 if the alarm gets no hint. */
static int kind_of(struct page *page, const struct store_due *due)
{
    if (!due->is_corrupt && due->kind)
        return tr__host_kind(page->clock->host, due->kind);
    tr_log_error(page->self, "a stored alarm is corrupt and does not fire");
    return -1;
}

static bool on_due(void *context, const struct store_due *due)
{
    struct page *page = context;
    struct clock_state *clock = page->clock;
    if (due->place.due_wall_ns > page->now_ns) {
        page->next_ns = due->place.due_wall_ns;
        return false;
    }
    if (page->count >= CLOCK_PAGE)
        return false;
    page->count++;
    int number = kind_of(page, due);
    struct hint_kind *kind = number < 0 ? NULL : &clock->hints.kinds[number];
    if (kind && !kind->is_behind && !clock_tell_due(page, due, number, false)) {
        kind->is_behind = true;
        kind->place = clock->place;
        tr_timer_once(page->self, "behind", CLOCK_BACK_NS, tr_clock_behind);
    }
    clock->place = due->place;
    return true;
}

static bool on_future(void *context, const struct store_due *due)
{
    struct page *page = context;
    struct clock_state *clock = page->clock;
    if (page->count >= CLOCK_PAGE)
        return false;
    if (!due->is_corrupt && due->kind &&
        tr__alarm_is_moved(clock->host, due->bytes, page->now_ns)) {
        int number = tr__host_kind(clock->host, due->kind);
        if (number >= 0 && !clock_tell_due(page, due, number, false)) {
            page->is_full = true;
            return false;
        }
        clock->has_moved |= number >= 0;
    }
    clock->back = due->place;
    page->count++;
    return true;
}

static void begin_pass(tr_self *self, struct clock_state *clock)
{
    clock->back = (struct store_alarm_place){.due_wall_ns = tr_wall_now(self)};
    clock->has_moved = false;
}

/* Walks one page of all alarms, after the wall clock was set back. */
static void clock_look_back(tr_self *self, struct clock_state *clock)
{
    struct page page = {.self = self, .clock = clock, .now_ns = tr_wall_now(self)};
    struct store_alarm_place place = clock->back;
    tr_status status = tr__store_list_due(host_context(clock->host, self->worker)->reader,
                                          &place,
                                          TR_NEVER,
                                          CLOCK_PAGE + 1,
                                          on_future,
                                          &page);
    bool is_over = status == TR_OK && page.count < CLOCK_PAGE && !page.is_full;
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
        clock_look_back(self, clock);
    return TR_SAME;
}

static void begin_back(tr_self *self, struct clock_state *clock)
{
    clock->is_back = true;
    clock->back_again = CLOCK_PASSES - 1;
    begin_pass(self, clock);
    clock_look_back(self, clock);
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
    tr_log_warn(self, "the wall clock was set back: alarms for a time of day are rescheduled");
    begin_back(self, clock);
}

/* Arms the timer for this time of the wall clock. If the next walk of all alarms begins earlier,
 * arms the timer for that. */
static void clock_arm(tr_self *self, struct clock_state *clock, tr_time wall_ns)
{
    tr_time now_ns = tr_wall_now(self);
    tr_time delay_ns = wall_ns > now_ns ? wall_ns - now_ns : 0;
    if (delay_ns > CLOCK_LOOK_NS)
        delay_ns = CLOCK_LOOK_NS;
    clock->next_ns = now_ns + delay_ns;
    tr_timer_once(self, "tick", delay_ns, tr_clock_tick);
}

static tr_status clock_list(struct page *page, struct store_alarm_place place,
                            store_visit_due *visit)
{
    struct durable_host *host = page->clock->host;
    return tr__store_list_due(host_context(host, page->self->worker)->reader,
                              &place,
                              TR_NEVER,
                              CLOCK_PAGE + 1,
                              visit,
                              page);
}

static void clock_look(tr_self *self, struct clock_state *clock)
{
    struct page page = {
        .self = self, .clock = clock, .next_ns = TR_NEVER, .now_ns = tr_wall_now(self)};
    tr_status status = clock_list(&page, clock->place, on_due);
    if (status != TR_OK || page.has_failed)
        clock_arm(self, clock, page.now_ns + CLOCK_AGAIN_NS);
    else if (page.count >= CLOCK_PAGE)
        tr_tell(self, tr_me(self), tr_clock_tick);
    else
        clock_arm(self, clock, page.next_ns);
}

/* ---- Kinds that are behind: all their HINTS_WAKING places were taken. ---- */

static bool on_behind_due(void *context, const struct store_due *due)
{
    struct page *page = context;
    struct hint_kind *kind = page->behind;
    if (page->count >= CLOCK_PAGE || place_compare(&due->place, &page->clock->place) > 0)
        return false;
    int number = due->is_corrupt || !due->kind ? -1 : tr__host_kind(page->clock->host, due->kind);
    if (number >= 0 && &page->clock->hints.kinds[number] == kind &&
        !clock_tell_due(page, due, number, false)) {
        page->is_full = true;
        return false;
    }
    page->count++;
    kind->place = due->place;
    return true;
}

/* Sends the next hints of a kind that is behind. Returns true when the kind is no longer behind. */
static bool clock_catch_up(tr_self *self, struct clock_state *clock, struct hint_kind *kind)
{
    struct page page = {.self = self, .clock = clock, .behind = kind, .now_ns = tr_wall_now(self)};
    tr_status status = clock_list(&page, kind->place, on_behind_due);
    if (status == TR_OK && !page.is_full && page.count < CLOCK_PAGE)
        kind->is_behind = false;
    return !kind->is_behind;
}

static tr_next on_behind(tr_self *self, struct clock_state *clock)
{
    bool is_behind = false;
    tr__hints_pass(&clock->hints, self->worker, tr_now(self));
    for (size_t i = 0; i < clock->hints.kind_count; i++) {
        struct hint_kind *kind = &clock->hints.kinds[i];
        is_behind |= kind->is_behind && !clock_catch_up(self, clock, kind);
    }
    if (is_behind)
        tr_timer_once(self, "behind", CLOCK_BACK_NS, tr_clock_behind);
    return TR_SAME;
}

/* ---- The sweep: walks all due alarms again, to repeat hints that got no answer. ---- */

static bool on_sweep_due(void *context, const struct store_due *due)
{
    struct page *page = context;
    struct clock_state *clock = page->clock;
    if (page->count >= CLOCK_PAGE || place_compare(&due->place, &clock->place) > 0)
        return false;
    page->count++;
    clock->sweep = due->place;
    int number = kind_of(page, due);
    const struct hint_kind *kind = number < 0 ? NULL : &clock->hints.kinds[number];
    /*
     * A kind that is behind has a walk of its own. That walk sends the hints of all the kind's
     * alarms that come after the walk's place. So the sweep handles only the alarms up to that
     * place. An alarm that finds no free place now waits for the next sweep.
     */
    if (kind && (!kind->is_behind || place_compare(&due->place, &kind->place) <= 0))
        (void)!clock_tell_due(page, due, number, true);
    return true;
}

static tr_next on_sweep(tr_self *self, struct clock_state *clock)
{
    struct page page = {.self = self, .clock = clock, .now_ns = tr_wall_now(self)};
    if (!clock->is_sweeping)
        return TR_SAME;
    tr_status status = clock_list(&page, clock->sweep, on_sweep_due);
    if (status == TR_OK && page.count >= CLOCK_PAGE) {
        tr_timer_once(self, "sweep", CLOCK_BACK_NS, tr_clock_sweep);
        return TR_SAME;
    }
    clock->is_sweeping = false;
    if (status == TR_OK && !page.has_failed)
        tr__hints_forget(&clock->hints, self->worker, clock->sweep_ns);
    return TR_SAME;
}

static void begin_sweep(tr_self *self, struct clock_state *clock)
{
    if (clock->is_sweeping)
        return;
    clock->is_sweeping = true;
    clock->sweep = (struct store_alarm_place){0};
    clock->sweep_ns = tr_now(self);
    tr__hints_pass(&clock->hints, self->worker, clock->sweep_ns);
    (void)on_sweep(self, clock);
}

/* ---- The actor. ---- */

static tr_next on_set(tr_self *self, struct clock_state *clock, const struct tr_clock_set *message)
{
    clock->host = (struct durable_host *)(uintptr_t)message->host;
    clock->offset_ns = clock->host->offset_first_ns;
    tr_status status = tr__hints_init(&clock->hints, self->worker, clock->host->kind_count);
    if (status != TR_OK)
        return tr_fail(self, status, "out of memory for the clock of alarms");
    tr_timer_fixed_delay(self, "all", CLOCK_LOOK_NS, tr_clock_all);
    /* The wall clock may have been set back while no process was running. */
    tr_timer_once(self, "back", CLOCK_BACK_NS, tr_clock_begin_back);
    tr_tell(self, tr_me(self), tr_clock_tick);
    return TR_SAME;
}

static tr_next on_tick(tr_self *self, struct clock_state *clock)
{
    clock_look(self, clock);
    return TR_SAME;
}

static tr_next on_backoff(tr_self *self, struct clock_state *clock)
{
    tr_time now_ns = tr_now(self);
    tr_time next_ns = tr__backoffs_end(self->worker, clock->host, now_ns);
    if (next_ns < TR_NEVER)
        tr_timer_once(self, "backoff", next_ns > now_ns ? next_ns - now_ns : 0, tr_clock_backoff);
    return TR_SAME;
}

static tr_next on_all(tr_self *self, struct clock_state *clock)
{
    look_at_clock(self, clock);
    /* Also handle backoffs whose message to the clock was lost for lack of memory. */
    (void)on_backoff(self, clock);
    begin_sweep(self, clock);
    clock_look(self, clock);
    return TR_SAME;
}

static tr_next on_moved(tr_self *self, struct clock_state *clock,
                        const struct tr_clock_moved *message)
{
    const struct store_alarm_place before = {.due_wall_ns = message->due - 1};
    /* If the alarm is not after the clock's place, move the place back, so that the walk finds the
     * alarm. */
    if (message->due <= clock->place.due_wall_ns)
        clock->place = before;
    for (size_t i = 0; i < clock->hints.kind_count; i++) {
        struct hint_kind *kind = &clock->hints.kinds[i];
        if (kind->is_behind && message->due <= kind->place.due_wall_ns)
            kind->place = before;
    }
    if (message->due < clock->next_ns)
        clock_arm(self, clock, message->due);
    return TR_SAME;
}

static tr_next on_told(tr_self *self, struct clock_state *clock,
                       const struct tr_clock_told *message)
{
    int number = tr__hints_answer(&clock->hints, self->worker, message->ticket);
    struct hint_kind *kind = number < 0 ? NULL : &clock->hints.kinds[number];
    /* Wait until a whole page of places is free. Reading a page for a single alarm would be a waste. */
    if (kind && kind->is_behind && kind->waking_count == HINTS_WAKING - CLOCK_PAGE)
        tr_tell(self, tr_me(self), tr_clock_behind);
    return TR_SAME;
}

static tr_next on_stop(tr_self *self, struct clock_state *clock)
{
    tr__hints_deinit(&clock->hints, self->worker);
    if (clock->host && atom32_load(&self->worker->system->ending.is_stopping, ATOM_RELAXED))
        tr__backoffs_close(self->worker, clock->host);
    return TR_SAME;
}

TR_BEHAVIOR(tr_durable_clock, struct clock_state, TR_SETUP_WITH(tr_clock_set, on_set),
            TR_ON(tr_clock_tick, on_tick), TR_ON(tr_clock_all, on_all),
            TR_ON(tr_clock_moved, on_moved), TR_ON(tr_clock_told, on_told),
            TR_ON(tr_clock_backoff, on_backoff), TR_ON(tr_clock_back, on_back),
            TR_ON(tr_clock_begin_back, on_begin_back), TR_ON(tr_clock_sweep, on_sweep),
            TR_ON(tr_clock_behind, on_behind), TR_ON(tr_post_stop, on_stop),
            TR_OPTIONS(.is_pinned = true, .mailbox_max = TR_MAILBOX_LARGEST));

/* ---- For others. ---- */

static void clock_post(struct worker *worker, struct durable_host *host, const tr_type *type,
                       const void *message)
{
    struct address address = {.kind = ENVELOPE_NOTICE, .to = host->clock};
    struct cell *cell = slots_find(worker->slots, host->clock);
    struct envelope *envelope;
    if (!cell || tr__mail_new(&worker->pool, address, type, message, &envelope) != TR_OK)
        /*
         * Without memory no message is sent. The clock finds the alarm without the message, within
         * CLOCK_LOOK_NS.
         */
        return;
    if (tr__mail_send_now(worker, cell, envelope) != TR_OK)
        envelope_give(&worker->pool, envelope);
}

void tr__clock_tell(struct worker *worker, struct durable_host *host, tr_time due_wall_ns)
{
    struct tr_clock_moved moved = {.due = due_wall_ns};
    clock_post(worker, host, &tr_type_tr_clock_moved, &moved);
}

void tr__clock_done(struct worker *worker, struct durable_host *host, uint64_t ticket)
{
    const struct tr_clock_told told = {.ticket = ticket};
    if (ticket)
        clock_post(worker, host, &tr_type_tr_clock_told, &told);
}

void tr__clock_tell_backoff(struct worker *worker, struct durable_host *host)
{
    static const struct tr_clock_backoff backoff;
    clock_post(worker, host, &tr_type_tr_clock_backoff, &backoff);
}

tr_status tr__clock_start(struct durable_host *host)
{
    struct tr_system *system = host->system;
    const struct tr_clock_set set = {.host = (uint64_t)(uintptr_t)host};
    const struct pooled_spawner nobody = {0};
    const struct pooled_place place = {
        .parent = system->user.guardian, .path = "/system/durable", .bits = CELL_POOLED};
    const tr_spawn_args args = {.size = sizeof args,
                                .behavior = &tr_behavior_tr_durable_clock,
                                .worker = 0,
                                .setup_type = &tr_type_tr_clock_set,
                                .setup = &set};
    return tr__pooled_spawn_at(system, &nobody, &place, &args, &host->clock);
}
