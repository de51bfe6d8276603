/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Promises of src/actor and src/net that are broken here, one after another: each has an assertion, which must fire and name what
 * was broken. Most are TR_ASSERT_SLOW, which debug builds run. In other builds the same call must end quietly,
 * because nothing of such an assertion is left there.
 */
#include "support/aborts.h"

#include <troupe/troupe.h>

#include "actor/cell/slots.h"
#include "actor/mail/kind.h"
#include "actor/mail/send.h"
#include "actor/system/worker.h"
#include "actor/cell/client.h"
#include "actor/cell/lifecycle.h"
#include "actor/cell/extra.h"
#include "actor/cell/turn_state.h"
#include "actor/life/failure_record.h"
#include "actor/mail/mail.h"
#include "actor/time/timers.h"
#include "actor/turn/park.h"
#include "actor/verbs/client.h"
#include "net/rare.h"
#include "os/virtual.h"

enum { ANOTHER_THREAD = 2 }; /* the virtual platform calls its only thread 1 */

TR_MESSAGE(note, (u64, n));

static tr_next on_note(void)
{
    return TR_SAME;
}
TR_ACTOR(subject, note);
TR_BEHAVIOR(subject, void, TR_ON(note, on_note));

/* An actor that waits on one of two workers. No thread is started. */
struct world {
    struct virtual_platform *virtual;
    tr_system *system;
    tr_client *client;
    struct worker *worker;
    struct worker *other;
    struct cell *cell;
};

static struct world world_new(void)
{
    struct world world = {.virtual = tr__virtual_new(1)};
    const tr_system_options options = {
        .size = sizeof options, .workers = 2, .platform = &world.virtual->table, .spin_ns = -1};
    ck_assert_int_eq(tr_system_new(&options, &world.system), TR_OK);
    ck_assert_int_eq(tr_client_new(world.system, &world.client), TR_OK);
    subject_ref subject;
    ck_assert_int_eq(tr_try_spawn(world.client, &subject, subject, NULL), TR_OK);
    for (int i = 0; i < 4; i++) {
        struct worker *worker = world.system->workers[i % 2];
        worker->loop.round_end_ns = 0;
        ready_rise(&worker->loop.ready);
        (void)tr__worker_slice(worker, LOOP_NO_LIMIT);
    }
    world.cell = slots_find(world.system->slots, tr_any(subject).bits);
    ck_assert_ptr_nonnull(world.cell);
    world.worker = world.system->workers[cell_owner(world.cell)];
    world.other = world.system->workers[!cell_owner(world.cell)];
    ck_assert(cell_is_mine(world.worker, world.cell));
    ck_assert_int_eq(world.cell->sched_state, SCHED_WAITING);
    return world;
}

static void world_free(struct world *world)
{
    tr_client_free(world->client);
    tr_system_free(world->system);
    ck_assert_uint_eq(tr__virtual_live_blocks(world->virtual), 0);
    tr__virtual_free(world->virtual);
}

/* ---- Breaking a promise in a process of its own. ---- */

struct breach {
    void (*commit)(struct world *world);
    struct world world;
};

static void breach_commit(void *context)
{
    struct breach *breach = context;
    breach->commit(&breach->world);
}

static void expect(void (*commit)(struct world *world), enum asserts asserts, const char *function,
                   const char *condition)
{
    struct breach breach = {commit, world_new()};
    expect_assertion(breach_commit, &breach, asserts, function, condition);
    world_free(&breach.world);
}

/* ---- Owner and thread. ---- */

static void touch_from_another_worker(struct world *world)
{
    mail_rouse(world->other, world->cell);
}

TEST(an_actor_is_touched_by_its_owner_only, "")
{
    expect(touch_from_another_worker, IN_DEBUG_BUILDS, "mail_rouse", "cell_is_mine(worker, cell)");
}

static void touch_on_its_way(struct world *world)
{
    atom32_store(&world->cell->door.owner, CELL_FOREIGN, ATOM_RELAXED);
    mail_rouse(world->worker, world->cell);
}

TEST(an_actor_that_moves_is_touched_by_nobody, "")
{
    expect(touch_on_its_way, IN_DEBUG_BUILDS, "mail_rouse", "cell_is_mine(worker, cell)");
}

static void fire_on_another_thread(struct world *world)
{
    atom64_store(&world->worker->thread_id, ANOTHER_THREAD, ATOM_RELAXED);
    (void)tr__timers_fire(world->worker, 0);
}

TEST(a_worker_is_used_by_its_thread_only, "")
{
    expect(fire_on_another_thread, IN_DEBUG_BUILDS, "tr__timers_fire", "worker_is_mine(worker)");
}

static void touch_on_another_thread(struct world *world)
{
    atom64_store(&world->worker->thread_id, ANOTHER_THREAD, ATOM_RELAXED);
    (void)tr__extra_of(world->worker, world->cell);
}

TEST(an_actor_is_touched_by_the_thread_of_its_worker_only, "")
{
    expect(touch_on_another_thread, IN_DEBUG_BUILDS, "tr__extra_of", "cell_is_mine(worker, cell)");
}

/* ---- Clients, which threads use one at a time. ---- */

static void touch_a_client_of_another_thread(struct world *world)
{
    atom64_store(&world->client->use.thread_id, ANOTHER_THREAD, ATOM_RELAXED);
    tr__client_announce(world->client, false);
}

TEST(a_client_is_touched_by_the_thread_that_uses_it_only, "")
{
    expect(touch_a_client_of_another_thread,
           IN_DEBUG_BUILDS,
           "tr__client_announce",
           "client_is_mine(client)");
}

static void call_a_client_that_another_thread_uses(struct world *world)
{
    atom64_store(&world->client->use.thread_id, ANOTHER_THREAD, ATOM_RELAXED);
    (void)tr_client_find(world->client, "/user");
}

TEST(two_threads_do_not_call_a_client_at_the_same_time, "")
{
    expect(call_a_client_that_another_thread_uses, IN_DEBUG_BUILDS, "client_begin", "user == id");
}

TEST(a_client_is_free_for_another_thread_after_each_call, "")
{
    struct world world = world_new();
    (void)tr_receive_any(world.client, 0); /* calls other functions of the client */
    ck_assert_uint_eq(atom64_load(&world.client->use.thread_id, ATOM_RELAXED), 0);
    ck_assert_uint_eq(world.client->use.depth, 0);
    world_free(&world);
}

/* ---- Channels, which belong to the owner of their actor. ---- */

static void touch_channel(struct worker *worker, struct cell *cell)
{
    struct channel channel = {.worker = worker, .cell = cell};
    channel.rare = (struct channel_rare *)(uintptr_t)&tr__no_rare;
    tr__rare_free(&channel); /* has nothing to free */
}

static void touch_a_channel_of_another_worker(struct world *world)
{
    touch_channel(world->other, world->cell);
}

TEST(a_channel_is_touched_by_the_owner_of_its_actor_only, "")
{
    expect(touch_a_channel_of_another_worker,
           IN_DEBUG_BUILDS,
           "tr__rare_free",
           "channel_is_mine(channel)");
}

static void touch_a_channel_on_another_thread(struct world *world)
{
    atom64_store(&world->worker->thread_id, ANOTHER_THREAD, ATOM_RELAXED);
    touch_channel(world->worker, NULL);
}

TEST(a_channel_without_an_actor_is_touched_by_the_thread_of_its_worker_only, "")
{
    expect(touch_a_channel_on_another_thread,
           IN_DEBUG_BUILDS,
           "tr__rare_free",
           "channel_is_mine(channel)");
}

/* ---- States. ---- */

static void run_without_being_ready(struct world *world)
{
    cell_sched_change(world->cell, SCHED_CREATED);
}

TEST(a_scheduling_state_changes_along_legal_edges_only, "L-08")
{
    expect(run_without_being_ready,
           IN_DEBUG_BUILDS,
           "cell_sched_change",
           "sched_may_become(cell->sched_state, to)");
}

static void run_what_waits(struct world *world)
{
    cell_sched_change_from(world->cell, SCHED_READY, SCHED_RUNNING);
}

TEST(a_scheduling_state_is_what_its_writer_believes, "L-08")
{
    expect(run_what_waits, IN_DEBUG_BUILDS, "cell_sched_change_from", "cell->sched_state == from");
}

static void begin_again(struct world *world)
{
    cell_become(world->system, world->cell, LIFE_NEW, __func__);
}

TEST(a_life_changes_along_legal_edges_only, "L-01", "L-02")
{
    expect(begin_again, ALWAYS, "cell_become", "status == TR_OK");
}

/* ---- Mail and turns. ---- */

static void send_fast_behind_a_barrier(struct world *world)
{
    struct envelope *envelope = envelope_take(&world->worker->pool);
    world->cell->flags |= CELL_BARRIER;
    mail_send_fast(world->worker, world->cell, envelope, world->cell->stock_and_lines);
}

TEST(the_fast_way_to_send_is_for_actors_without_a_barrier, "")
{
    expect(send_fast_behind_a_barrier,
           IN_DEBUG_BUILDS,
           "mail_send_fast",
           "!(cell->flags & CELL_SLOW_SEND)");
}

static void take_out_what_is_not_counted(struct world *world)
{
    struct envelope *envelope = envelope_take(&world->worker->pool);
    envelope->block_class = ENVELOPE_NO_BLOCK;
    mail_uncount(world->cell, envelope);
}

TEST(a_mailbox_gives_out_no_more_than_it_took, "")
{
    expect(take_out_what_is_not_counted,
           IN_DEBUG_BUILDS,
           "mail_uncount",
           "cell->queued_lines >= mail_lines(envelope)");
}

static void wake_a_turn_that_runs(struct world *world)
{
    struct tr_self *turn = world->worker->turns.message;
    turn->state = TURN_RUNS;
    turn->cell = world->cell;
    woken_push(world->cell, tr__extra_of(world->worker, world->cell), turn);
}

TEST(a_turn_is_woken_only_while_it_waits, "")
{
    expect(wake_a_turn_that_runs, IN_DEBUG_BUILDS, "woken_push", "self->state == TURN_PARKED");
}

static void end_a_turn_that_is_stuck(struct world *world)
{
    struct tr_self *turn = world->worker->turns.message;
    turn->state = TURN_STUCK;
    turn_change(turn, TURN_ENDED);
}

TEST(a_turn_changes_along_legal_edges_only, "")
{
    expect(end_a_turn_that_is_stuck,
           IN_DEBUG_BUILDS,
           "turn_change",
           "turn_may_become((enum turn_state)self->state, to)");
}

/* ---- Failures. ---- */

static void restart_what_is_away(struct world *world)
{
    struct failure *failure = tr__failure_of(world->worker, world->cell);
    failure_change(failure, FAILURE_AWAY);
    failure_change(failure, FAILURE_TURNS);
}

TEST(a_failure_changes_along_legal_edges_only, "")
{
    expect(restart_what_is_away,
           IN_DEBUG_BUILDS,
           "failure_change",
           "failure_may_become(failure->phase, to)");
}

/* Each phase can be reached from the first one, and each but AWAY leads back to it. */
TEST(no_phase_of_a_failure_is_a_dead_end, "")
{
    for (enum failure_phase phase = FAILURE_PAST; phase < FAILURE_PHASE_COUNT; phase++) {
        uint32_t reached = 1u << phase;
        for (int round = 0; round < FAILURE_PHASE_COUNT; round++) {
            for (int from = 0; from < FAILURE_PHASE_COUNT; from++)
                reached |= reached >> from & 1 ? tr__failure_legal[from] : 0;
        }
        bool is_back = reached >> FAILURE_PAST & 1;
        ck_assert_msg(is_back == (phase != FAILURE_AWAY), "%d", (int)phase);
        ck_assert_msg(phase != FAILURE_PAST || reached == (1u << FAILURE_PHASE_COUNT) - 1,
                      "a phase cannot be reached");
    }
}

SUITE("actor asserts", an_actor_is_touched_by_its_owner_only,
      an_actor_that_moves_is_touched_by_nobody, a_worker_is_used_by_its_thread_only,
      an_actor_is_touched_by_the_thread_of_its_worker_only,
      a_client_is_touched_by_the_thread_that_uses_it_only,
      two_threads_do_not_call_a_client_at_the_same_time,
      a_client_is_free_for_another_thread_after_each_call,
      a_channel_is_touched_by_the_owner_of_its_actor_only,
      a_channel_without_an_actor_is_touched_by_the_thread_of_its_worker_only,
      a_scheduling_state_changes_along_legal_edges_only,
      a_scheduling_state_is_what_its_writer_believes, a_life_changes_along_legal_edges_only,
      the_fast_way_to_send_is_for_actors_without_a_barrier,
      a_mailbox_gives_out_no_more_than_it_took, a_turn_is_woken_only_while_it_waits,
      a_turn_changes_along_legal_edges_only, a_failure_changes_along_legal_edges_only,
      no_phase_of_a_failure_is_a_dead_end)
