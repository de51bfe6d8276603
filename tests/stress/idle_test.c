/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A system that has nothing to do costs nothing, and wakes when there is something.
 */
#include "support/test.h"

#include <pthread.h>
#include <sys/resource.h>
#include <troupe/troupe.h>

#include "actor/cell/slots.h"
#include "actor/mail/kind.h"
#include "actor/verbs/client.h"
#include "actor/mail/mail.h"

TR_REQUEST(ping, tr_done, (u64, hops));
TR_ACTOR(echo, ping);
static echo_ref echoes[64];
static int workers;

/* Passes it on from worker to worker, and the last one answers. */
static tr_next on_ping(tr_self *self, const struct ping *message)
{
    if (message->hops == 0)
        return tr_reply(self, tr_done);
    struct ping next = {.hops = message->hops - 1};
    tr_ref to = tr_any(echoes[(tr_worker(self) + 1) % workers]);
    /* As tr_forward, the sender stays; the message is another one. */
    struct cell *cell = slots_find(self->worker->slots, to.bits);
    struct envelope *envelope = envelope_take(&self->worker->pool);
    ck_assert(cell && envelope);
    (void)envelope_fill(&self->worker->pool, envelope, &tr_type_ping, &next, ENVELOPE_INLINE);
    envelope->kind = ENVELOPE_NOTICE;
    envelope->sender = tr_sender(self).bits;
    envelope->causal = 0;
    envelope->generation = cell_generation(cell);
    ck_assert_int_eq(tr__mail_send(self->worker, cell, envelope), TR_OK);
    return TR_SAME;
}
/* Who talk to each other would come together, and nobody would be woken any more. */
TR_BEHAVIOR(echo, void, TR_ON(ping, on_ping), TR_OPTIONS(.is_pinned = true));

static tr_system *system_;
static tr_client *client;

static void begin(int worker_count, tr_time spin_ns)
{
    tr_system_options options = {.workers = worker_count, .spin_ns = spin_ns};
    workers = worker_count;
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
    for (int i = 0; i < 64; i++)
        ck_assert_int_eq(tr_try_spawn_at(client, &echoes[i], i % worker_count, echo, NULL), TR_OK);
}

static void end(void)
{
    tr_client_free(client);
    tr_system_shutdown(system_, 5 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_system_free(system_);
}

static double cpu_seconds(void)
{
    struct rusage usage;
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void work(void)
{
    for (int i = 0; i < 1000; i++)
        tr_tell(client, echoes[i % 64], ping, .hops = (uint64_t)(i % 8));
    for (int i = 0; i < 1000; i++)
        ck_assert_ptr_nonnull(tr_receive(client, tr_done, 30 * TR_SECOND));
}

static bool is_asleep(void)
{
    for (uint32_t i = 0; i < system_->worker_count; i++) {
        if (atom32_load(&system_->workers[i]->loop.ready.sleep, ATOM_SEQ_CST) != READY_ASLEEP)
            return false;
    }
    return atom32_load(&system_->watch.is_asleep, ATOM_SEQ_CST);
}

TEST(an_idle_system_sleeps, "WP-03", "P-04")
{
    tr_counters before;
    tr_counters after;
    begin(4, 0);
    work();
    /* Memory goes back and the watch loses patience, within a tenth of a second each. */
    for (int i = 0; i < 100 && !is_asleep(); i++)
        ck_assert_ptr_null(tr_receive(client, tr_done, 100 * TR_MILLISECOND));
    ck_assert_ptr_null(tr_receive(client, tr_done, 400 * TR_MILLISECOND));
    ck_assert(is_asleep());
    tr_system_counters(system_, &before);
    double cpu = cpu_seconds();
    ck_assert_ptr_null(tr_receive(client, tr_done, TR_SECOND));
    cpu = cpu_seconds() - cpu;
    tr_system_counters(system_, &after);
    ck_assert_double_lt(cpu, 0.01);
    ck_assert_uint_eq(after.parks, before.parks);
    ck_assert_uint_eq(after.wakes, before.wakes);
    ck_assert_uint_eq(after.runs, before.runs);
    ck_assert(is_asleep());
    /* And it is there when it is needed. */
    work();
    end();
}

TEST(a_parked_worker_is_woken_by_a_message, "P-04", "WP-01")
{
    begin(2, -1);
    work();
    tr_counters before;
    tr_counters after;
    tr_system_counters(system_, &before);
    uint64_t rounds = test_scale(5000, 500000);
    /* Without a spin each hop finds its worker parked, or just about to. */
    for (uint64_t i = 0; i < rounds; i++) {
        tr_tell(client, echoes[0], ping, .hops = 3);
        ck_assert_ptr_nonnull(tr_receive(client, tr_done, 30 * TR_SECOND));
    }
    tr_system_counters(system_, &after);
    ck_assert_uint_ge(after.parks - before.parks, rounds / 4);
    ck_assert_uint_ge(after.wakes - before.wakes, rounds / 4);
    ck_assert_uint_ge(after.posts - before.posts, 3 * rounds);
    end();
}

TEST(wakes_without_reason_do_no_harm, "WP-02")
{
    begin(2, -1);
    work();
    for (uint64_t i = test_scale(20000, 2000000); i > 0; i--) {
        struct loop *loop = &system_->workers[i % 2]->loop;
        if (i % 3 == 0)
            loop_nudge(loop);
        else
            loop->platform->wake(loop->platform, loop->parker);
        if (i % 100 == 0) {
            tr_tell(client, echoes[i % 2], ping, .hops = 2);
            ck_assert_ptr_nonnull(tr_receive(client, tr_done, 30 * TR_SECOND));
        }
    }
    tr_counters counters;
    tr_system_counters(system_, &counters);
    ck_assert_uint_eq(counters.dead_letters, 0);
    end();
}

TEST(ticks_come_while_a_worker_is_busy_and_only_then, "WP-03", "D-02")
{
    begin(1, 0);
    struct loop *loop = &system_->workers[0]->loop;
    uint32_t first = atom32_load(&loop->tick, ATOM_RELAXED);
    const tr_platform *platform = system_->platform;
    tr_time end_ns = platform->mono_now(platform) + 200 * TR_MILLISECOND;
    while (platform->mono_now(platform) < end_ns) {
        tr_tell(client, echoes[0], ping, .hops = 100);
        ck_assert_ptr_nonnull(tr_receive(client, tr_done, 30 * TR_SECOND));
    }
    ck_assert_uint_ge(atom32_load(&loop->tick, ATOM_RELAXED) - first, 10);
    for (int i = 0; i < 100 && !is_asleep(); i++)
        ck_assert_ptr_null(tr_receive(client, tr_done, 100 * TR_MILLISECOND));
    uint32_t last = atom32_load(&loop->tick, ATOM_RELAXED);
    ck_assert_ptr_null(tr_receive(client, tr_done, 200 * TR_MILLISECOND));
    ck_assert_uint_eq(atom32_load(&loop->tick, ATOM_RELAXED), last);
    end();
}

SUITE("idle", an_idle_system_sleeps, a_parked_worker_is_woken_by_a_message,
      wakes_without_reason_do_no_harm, ticks_come_while_a_worker_is_busy_and_only_then)
