/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The states of an actor's life and of its scheduling state, seen from inside; and the deadline of a shutdown
 * on a clock that the test moves.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/slots.h"
#include "actor/mail/capacity.h"
#include "actor/mail/kind.h"
#include "actor/cell/lifecycle.h"
#include "actor/cell/sched_state.h"
#include "actor/mail/mail.h"
#include "os/virtual.h"
#include "actor/system/worker.h"
#include "mem/envelope.h"
#include "actor/cell/post.h"

TR_MESSAGE(note, (u64, n));

/* ---- The table, written down here once more. ---- */

static const char *const names[LIFE_COUNT] = {
    "New", "Starting", "Running", "Suspended", "Stopping", "Stopped"};

static const struct {
    const char *from;
    const char *to;
} edges[] = {
    {"New", "Starting"},
    {"New", "Stopped"},
    {"Starting", "Running"},
    {"Starting", "Stopped"},
    {"Starting", "Suspended"},
    {"Running", "Suspended"},
    {"Running", "Stopping"},
    {"Running", "Starting"},
    {"Suspended", "Running"},
    {"Suspended", "Stopping"},
    {"Suspended", "Starting"},
    {"Stopping", "Stopped"},
};

static bool is_edge(const char *from, const char *to)
{
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        if (strcmp(edges[i].from, from) == 0 && strcmp(edges[i].to, to) == 0)
            return true;
    }
    return false;
}

/* ---- A system on a virtual platform. ---- */

struct world {
    struct virtual_platform *virtual;
    tr_system *system;
    tr_client *client;
};

static struct world world_new(void)
{
    struct world world = {.virtual = tr__virtual_new(1)};
    const tr_system_options options = {
        .size = sizeof options, .workers = 1, .platform = &world.virtual->table, .spin_ns = -1};
    ck_assert_int_eq(tr_system_new(&options, &world.system), TR_OK);
    ck_assert_int_eq(tr_client_new(world.system, &world.client), TR_OK);
    return world;
}

static void world_free(struct world *world)
{
    tr_client_free(world->client);
    tr_system_free(world->system);
    ck_assert_uint_eq(tr__virtual_live_blocks(world->virtual), 0);
    tr__virtual_free(world->virtual);
}

static struct cell *cell_of(struct world *world, tr_ref ref)
{
    return slots_find(world->system->slots, ref.bits);
}

static void settle(struct world *world)
{
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(tr_system_run_once(world->system, 0), TR_OK);
}

/* ---- All 36 pairs. ---- */

TEST(twelve_of_the_36_changes_are_legal, "L-01", "LC-01")
{
    unsigned legal = 0;
    for (int from = 0; from < LIFE_COUNT; from++) {
        ck_assert_str_eq(tr__life_name((enum life)from), names[from]);
        for (int to = 0; to < LIFE_COUNT; to++) {
            bool may = life_may_become((enum life)from, (enum life)to);
            ck_assert_int_eq(may, is_edge(names[from], names[to]));
            legal += may;
        }
    }
    ck_assert_uint_eq(legal, 12);
    ck_assert(!life_may_become(LIFE_COUNT, LIFE_NEW));
    ck_assert(!life_may_become(LIFE_NEW, LIFE_COUNT));
}

TEST(a_legal_change_is_made_and_an_illegal_one_changes_nothing, "L-01", "L-02", "LC-01")
{
    struct world world = world_new();
    for (int from = 0; from < LIFE_COUNT; from++) {
        for (int to = 0; to < LIFE_COUNT; to++) {
            struct cell cell;
            struct cell before;
            memset(&cell, 0, sizeof cell);
            cell.identity = 42;
            cell.door.tenant = slots_number(world.system->slots, world.system->user.guardian);
            cell.life = (uint8_t)from;
            before = cell;
            uint64_t lines = world.virtual->lines_count;
            tr_error error = {.status = TR_OK};
            tr_status status =
                tr__cell_change(world.system, &cell, (enum life)to, "the_caller", &error);
            if (is_edge(names[from], names[to])) {
                ck_assert_int_eq(status, TR_OK);
                ck_assert_int_eq(cell.life, to);
                ck_assert_int_eq(error.status, TR_OK);
                ck_assert_uint_eq(world.virtual->lines_count, lines);
                cell.life = before.life;
                ck_assert_mem_eq(&cell, &before, sizeof cell);
                continue;
            }
            ck_assert_int_eq(status, TR_INVALID_TRANSITION);
            ck_assert_mem_eq(&cell, &before, sizeof cell);
            /* The story has both states and the caller, and so has the log. */
            char both[64];
            snprintf(
                both, sizeof both, "a change from %s to %s is not allowed", names[from], names[to]);
            ck_assert_int_eq(error.status, TR_INVALID_TRANSITION);
            ck_assert_uint_eq(error.actor.bits, 42);
            ck_assert_ptr_nonnull(strstr(error.text, both));
            ck_assert_ptr_nonnull(strstr(error.where, "the_caller"));
            ck_assert_uint_eq(world.virtual->lines_count, lines + 1);
            const struct virtual_line *line = tr__virtual_line(world.virtual, 0);
            ck_assert_int_eq(line->level, TR_LEVEL_ERROR);
            ck_assert_ptr_nonnull(strstr(line->text, "TR_INVALID_TRANSITION"));
            ck_assert_ptr_nonnull(strstr(line->text, both));
            ck_assert_ptr_nonnull(strstr(line->text, "the_caller"));
            /* Without a place for the story it is the same. */
            ck_assert_int_eq(tr__cell_change(world.system, &cell, (enum life)to, "x", NULL),
                             TR_INVALID_TRANSITION);
        }
    }
    world_free(&world);
}

/* ---- A life, state by state. ---- */

static struct cell *watched;
static uint8_t seen_life[8];
static uint8_t seen_sched[8];
static unsigned seen;

static void look(tr_self *self)
{
    ck_assert_ptr_eq(self->cell, watched);
    ck_assert_uint_lt(seen, sizeof seen_life);
    seen_life[seen] = watched->life;
    seen_sched[seen++] = watched->sched_state;
}

static tr_next seen_set_up(tr_self *self)
{
    watched = self->cell;
    look(self);
    return TR_SAME;
}

static tr_next seen_signal(tr_self *self)
{
    look(self);
    return TR_SAME;
}

TR_ACTOR(subject, note);
TR_BEHAVIOR(subject, void, TR_SETUP(seen_set_up), TR_ON(tr_pre_start, seen_signal),
            TR_ON(note, seen_signal), TR_ON(tr_post_stop, seen_signal));

TEST(an_actor_goes_through_its_states_in_order, "L-01", "LC-01", "L-08", "G-01")
{
    struct world world = world_new();
    subject_ref subject;
    ck_assert_int_eq(tr_try_spawn(world.client, &subject, subject, "subject"), TR_OK);
    struct cell *cell = cell_of(&world, tr_any(subject));
    ck_assert_int_eq(cell->life, LIFE_NEW);
    ck_assert_int_eq(cell->sched_state, SCHED_CREATED);

    settle(&world);
    ck_assert_uint_eq(seen, 2);
    ck_assert_int_eq(seen_life[0], LIFE_STARTING);
    ck_assert_int_eq(seen_sched[0], SCHED_MOUNTING);
    ck_assert_int_eq(seen_life[1], LIFE_RUNNING);
    ck_assert_int_eq(cell->life, LIFE_RUNNING);
    ck_assert_int_eq(cell->sched_state, SCHED_WAITING);

    tr_tell(world.client, subject, note);
    settle(&world);
    ck_assert_uint_eq(seen, 3);
    ck_assert_int_eq(seen_life[2], LIFE_RUNNING);
    ck_assert_int_eq(seen_sched[2], SCHED_RUNNING);
    ck_assert_int_eq(cell->sched_state, SCHED_WAITING);

    tr_stop(world.client, subject);
    settle(&world);
    ck_assert_uint_eq(seen, 4);
    ck_assert_int_eq(seen_life[3], LIFE_STOPPING);
    ck_assert_int_eq(cell->life, LIFE_STOPPED);
    ck_assert_ptr_null(cell_of(&world, tr_any(subject)));
    world_free(&world);
}

/* The table of L-08, written down here once more. */
static const char *const sched_names[SCHED_COUNT] = {
    "Created", "Mounting", "Waiting", "Ready", "Running"};

static const char *const sched_edges[SCHED_COUNT] = {
    "Mounting Waiting",
    "Mounting Waiting Ready Running",
    "Mounting Waiting Ready Running",
    "Mounting Running",
    "Mounting Waiting Ready Running",
};

TEST(sixteen_of_the_25_changes_of_scheduling_are_legal, "L-08")
{
    unsigned legal = 0;
    for (int from = 0; from < SCHED_COUNT; from++) {
        ck_assert_str_eq(tr__sched_name((enum sched_state)from), sched_names[from]);
        for (int to = 0; to < SCHED_COUNT; to++) {
            bool may = sched_may_become((enum sched_state)from, (enum sched_state)to);
            ck_assert_int_eq(may, strstr(sched_edges[from], sched_names[to]) != NULL);
            legal += may;
        }
    }
    ck_assert_uint_eq(legal, 16);
    ck_assert(!sched_may_become(SCHED_COUNT, SCHED_CREATED));
    ck_assert(!sched_may_become(SCHED_CREATED, SCHED_COUNT));
}

TEST(the_states_of_scheduling_have_their_numbers, "L-08")
{
    ck_assert_int_eq(SCHED_CREATED, 0);
    ck_assert_int_eq(SCHED_MOUNTING, 1);
    ck_assert_int_eq(SCHED_WAITING, 2);
    ck_assert_int_eq(SCHED_READY, 3);
    ck_assert_int_eq(SCHED_RUNNING, 4);
}

/* ---- After a run: Ready with mail left, else Waiting. ---- */

static unsigned handled;

static tr_next busy_note(void)
{
    handled++;
    return TR_SAME;
}
TR_ACTOR(busy, note);
TR_BEHAVIOR(busy, void, TR_ON(note, busy_note));

TEST(after_a_run_an_actor_is_ready_while_mail_is_left, "L-08")
{
    struct world world = world_new();
    busy_ref busy;
    struct worker *worker = world.system->workers[0];
    ck_assert_int_eq(tr_try_spawn(world.client, &busy, busy, NULL), TR_OK);
    settle(&world);
    struct cell *cell = cell_of(&world, tr_any(busy));
    for (uint64_t n = 0; n < 10; n++)
        tr_tell(world.client, busy, note, .n = n);
    for (unsigned turn = 1; turn <= 10; turn++) {
        worker->loop.round_end_ns = 0;
        ready_rise(&worker->loop.ready);
        (void)tr__worker_slice(worker, 1);
        ck_assert_uint_eq(handled, turn);
        ck_assert_int_eq(cell->sched_state, turn < 10 ? SCHED_READY : SCHED_WAITING);
        int32_t lines;
        ck_assert_int_eq(tr__capacity_used(cell, cell->dispatch->behavior, &lines), 10 - turn);
    }
    world_free(&world);
}

/* ---- The pill waits for all five mailboxes. ---- */

static void send_kind(struct world *world, struct cell *cell, enum envelope_kind kind, uint64_t n)
{
    struct worker *worker = world->system->workers[0];
    struct envelope *envelope = envelope_take(&worker->pool);
    ck_assert_ptr_nonnull(envelope);
    const struct note message = {.n = n};
    ck_assert_int_eq(
        envelope_fill(&worker->pool, envelope, &tr_type_note, &message, ENVELOPE_INLINE), TR_OK);
    envelope->kind = (uint8_t)kind;
    envelope->sender = 0;
    envelope->causal = 0;
    envelope->generation = cell_generation(cell);
    ck_assert_int_eq(tr__mail_send(worker, cell, envelope), TR_OK);
}

TEST(a_pill_lets_every_mailbox_be_emptied_first, "Y-01", "LC-07")
{
    static const enum envelope_kind kinds[] = {
        ENVELOPE_EVENT, ENVELOPE_NOTICE, ENVELOPE_ASK, ENVELOPE_EXCEPTION, ENVELOPE_REPLY};
    struct world world = world_new();
    busy_ref busy;
    ck_assert_int_eq(tr_try_spawn(world.client, &busy, busy, NULL), TR_OK);
    settle(&world);
    struct cell *cell = cell_of(&world, tr_any(busy));
    for (uint64_t round = 0; round < 4; round++) {
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            send_kind(&world, cell, kinds[i], round);
    }
    tr_stop(world.client, busy);
    tr_tell(world.client, busy, note, .n = 99);
    settle(&world);
    ck_assert_uint_eq(handled, 20);
    ck_assert_uint_eq(tr_system_dead_letters(world.system, NULL, 0, NULL), 1);
    ck_assert_ptr_null(cell_of(&world, tr_any(busy)));

    /* A kill leaves them all. What a timer had queued dies with it and is no dead letter. */
    handled = 0;
    ck_assert_int_eq(tr_try_spawn(world.client, &busy, busy, NULL), TR_OK);
    settle(&world);
    cell = cell_of(&world, tr_any(busy));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        send_kind(&world, cell, kinds[i], i);
    tr_kill(world.client, busy);
    settle(&world);
    ck_assert_uint_eq(handled, 0);
    ck_assert_uint_eq(tr_system_dead_letters(world.system, NULL, 0, NULL), 1 + 4);
    world_free(&world);
}

/* ---- A sender that was about to knock while the tenant changed. ---- */

/* A parent gets the slots of its dead children again. */
static busy_ref hatched;

TR_ACTOR(nursery, note);
static tr_next nursery_note(tr_self *self)
{
    hatched = tr_spawn(self, busy, NULL);
    return TR_SAME;
}
TR_BEHAVIOR(nursery, void, TR_ON(note, nursery_note));

TEST(mail_and_orders_for_an_earlier_tenant_touch_nobody, "LC-14", "Y-01", "Y-02")
{
    static const enum envelope_kind kinds[] = {ENVELOPE_NOTICE, ENVELOPE_STOP, ENVELOPE_KILL};
    struct world world = world_new();
    struct worker *worker = world.system->workers[0];
    nursery_ref nursery;
    ck_assert_int_eq(tr_try_spawn(world.client, &nursery, nursery, NULL), TR_OK);
    tr_tell(world.client, nursery, note);
    settle(&world);
    busy_ref old = hatched;
    struct cell *cell = cell_of(&world, tr_any(old));
    tr_kill(world.client, old);
    settle(&world);
    tr_tell(world.client, nursery, note);
    settle(&world);
    busy_ref busy = hatched;
    ck_assert_ptr_eq(cell_of(&world, tr_any(busy)), cell);
    handled = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct envelope *envelope = envelope_take(&worker->pool);
        const struct note message = {.n = i};
        ck_assert_int_eq(
            envelope_fill(&worker->pool, envelope, &tr_type_note, &message, ENVELOPE_INLINE),
            TR_OK);
        envelope->kind = (uint8_t)kinds[i];
        envelope->sender = 0;
        envelope->causal = 0;
        envelope->generation = (uint32_t)(old.bits >> 32);
        if (door_push(&cell->door, &envelope->mail) == DOOR_TAKEN_POST)
            tr__system_post(world.system, NULL, cell);
        atom64_count(&worker->counters.accepted, kinds[i] == ENVELOPE_NOTICE);
        settle(&world);
    }
    ck_assert_uint_eq(handled, 0);
    ck_assert_ptr_eq(cell_of(&world, tr_any(busy)), cell);
    tr_dead_letter_record letter;
    ck_assert_uint_eq(tr_system_dead_letters(world.system, &letter, 1, NULL), 1);
    ck_assert(tr_is_same(letter.to, old));
    ck_assert_int_eq(letter.reason, TR_STOPPED);
    tr_tell(world.client, busy, note);
    settle(&world);
    ck_assert_uint_eq(handled, 1);
    world_free(&world);
}

/* ---- The deadline of a shutdown. ---- */

enum { LONG_QUEUE = 3 * RUN_ONCE_TURNS };

static struct world world_with_a_long_queue(tr_time timeout_ns)
{
    struct world world = world_new();
    busy_ref busy;
    handled = 0;
    ck_assert_int_eq(tr_try_spawn(world.client, &busy, busy, NULL), TR_OK);
    settle(&world);
    for (uint64_t n = 0; n < LONG_QUEUE; n++)
        ck_assert_int_eq(tr_tell(world.client, busy, note, .n = n), TR_OK);
    tr_system_shutdown(world.system, timeout_ns);
    ck_assert_int_eq(tr_system_run_once(world.system, 0), TR_OK);
    ck_assert_uint_gt(handled, 0);
    ck_assert_uint_lt(handled, LONG_QUEUE);
    return world;
}

static tr_status run_to_the_end(struct world *world)
{
    tr_status status = TR_OK;
    for (int i = 0; i < 100 && status == TR_OK; i++)
        status = tr_system_run_once(world->system, 0);
    return status;
}

TEST(before_the_deadline_nothing_is_killed, "X-01", "Y-01")
{
    struct world world = world_with_a_long_queue(TR_SECOND);
    tr__virtual_advance(world.virtual, TR_SECOND - 1);
    ck_assert_int_eq(run_to_the_end(&world), TR_STOPPED);
    ck_assert_uint_eq(handled, LONG_QUEUE);
    ck_assert_uint_eq(tr_system_dead_letters(world.system, NULL, 0, NULL), 0);
    world_free(&world);
}

TEST(at_the_deadline_the_rest_is_dead_letters, "X-01", "Y-02")
{
    struct world world = world_with_a_long_queue(TR_SECOND);
    unsigned before = handled;
    tr__virtual_advance(world.virtual, TR_SECOND);
    ck_assert_int_eq(run_to_the_end(&world), TR_STOPPED);
    ck_assert_uint_le(handled, before + TR_RUN_TURNS_MAX);
    ck_assert_uint_eq(tr_system_dead_letters(world.system, NULL, 0, NULL), LONG_QUEUE - handled);
    world_free(&world);
}

TEST(a_later_shutdown_does_not_move_the_deadline, "X-01")
{
    struct world world = world_with_a_long_queue(TR_SECOND);
    tr_system_shutdown(world.system, TR_HOUR);
    tr_system_shutdown(world.system, 0);
    ck_assert_int_eq(tr_system_run_once(world.system, 0), TR_OK);
    unsigned before = handled;
    ck_assert_uint_gt(before, RUN_ONCE_TURNS);
    tr__virtual_advance(world.virtual, TR_SECOND);
    ck_assert_int_eq(run_to_the_end(&world), TR_STOPPED);
    ck_assert_uint_lt(handled, LONG_QUEUE);
    world_free(&world);
}

/* ---- A failure in PostStop is in the log. ---- */

static tr_next clumsy_stop(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "out of step");
}
TR_ACTOR(clumsy, note);
TR_BEHAVIOR(clumsy, void, TR_ON(note, busy_note), TR_ON(tr_post_stop, clumsy_stop));

TEST(a_failure_in_post_stop_is_one_line_of_the_log, "LC-15")
{
    struct world world = world_new();
    clumsy_ref clumsy;
    ck_assert_int_eq(tr_try_spawn(world.client, &clumsy, clumsy, "clumsy"), TR_OK);
    settle(&world);
    uint64_t lines = world.virtual->lines_count;
    tr_stop(world.client, clumsy);
    settle(&world);
    ck_assert_uint_eq(world.virtual->lines_count, lines + 1);
    const struct virtual_line *line = tr__virtual_line(world.virtual, 0);
    ck_assert_int_eq(line->level, TR_LEVEL_ERROR);
    ck_assert_str_eq(line->path, "/user/clumsy");
    ck_assert_ptr_nonnull(strstr(line->text, "out of step"));
    ck_assert_ptr_null(cell_of(&world, tr_any(clumsy)));
    world_free(&world);
}

SUITE("actor lifecycle", twelve_of_the_36_changes_are_legal,
      a_legal_change_is_made_and_an_illegal_one_changes_nothing,
      an_actor_goes_through_its_states_in_order, sixteen_of_the_25_changes_of_scheduling_are_legal,
      the_states_of_scheduling_have_their_numbers, after_a_run_an_actor_is_ready_while_mail_is_left,
      a_pill_lets_every_mailbox_be_emptied_first,
      mail_and_orders_for_an_earlier_tenant_touch_nobody, before_the_deadline_nothing_is_killed,
      at_the_deadline_the_rest_is_dead_letters, a_later_shutdown_does_not_move_the_deadline,
      a_failure_in_post_stop_is_one_line_of_the_log)
