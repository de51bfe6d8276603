/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Times a turn that waits as a barrier, by the number of messages that wait behind it.
 *
 *     cmake --build build --target micro_barrier && build/micro/barrier
 *
 * Prints nanoseconds for one turn that asks another actor of the same worker and awaits the reply, the
 * mean of the first WAITS turns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <troupe/troupe.h>

enum { WAITS = 200 };

TR_MESSAGE(answer);
TR_REQUEST(question, answer);
TR_MESSAGE(play, (u64, depth));
TR_MESSAGE(job);
TR_MESSAGE(last);
TR_ACTOR(oracle, question);
TR_ACTOR(asker, job, last, play);

static oracle_ref oracle;
static tr_ref player;
static uint64_t waits;
static uint64_t first_ns;
static uint64_t last_ns;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static tr_next on_question(tr_self *self)
{
    return tr_reply(self, answer);
}

TR_BEHAVIOR(oracle, void, TR_ON(question, on_question));

/* Only the first turns wait, so that a long queue is gone soon. */
static tr_next on_job(tr_self *self)
{
    const struct answer *reply;
    if (waits == WAITS)
        return TR_SAME;
    if (!waits++)
        first_ns = now_ns();
    question_ask asked = tr_ask(self, oracle, question);
    if (tr_try_await(self, asked, &reply) != TR_OK)
        abort();
    last_ns = now_ns();
    return TR_SAME;
}

static tr_next on_play(tr_self *self, const struct play *message)
{
    waits = 0;
    for (uint64_t i = 0; i < message->depth; i++)
        tr_tell(self, tr_me(self), job);
    tr_tell(self, tr_me(self), last);
    player = tr_sender(self);
    return TR_SAME;
}

static tr_next on_last(tr_self *self)
{
    tr_tell(self, player, tr_done);
    return TR_SAME;
}

TR_BEHAVIOR(asker, void, TR_ON(job, on_job, .is_barrier = true), TR_ON(last, on_last),
            TR_ON(play, on_play));

int main(void)
{
    static const uint64_t depths[] = {200, 2000, 20000, 100000, 400000};
    tr_system_options options = {.workers = 1};
    tr_system *system;
    tr_client *client;
    asker_ref asker;
    if (tr_system_new(&options, &system) != TR_OK || tr_system_start(system) != TR_OK ||
        tr_client_new(system, &client) != TR_OK ||
        tr_try_spawn(client, &oracle, oracle, NULL) != TR_OK ||
        tr_try_spawn(client, &asker, asker, NULL) != TR_OK)
        abort();
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
            tr_tell(client, asker, play, .depth = depths[i]);
            if (!tr_receive(client, tr_done, TR_MINUTE))
                abort();
            printf("%8llu behind: %10.0f ns for a wait\n",
                   (unsigned long long)depths[i],
                   (double)(last_ns - first_ns) / WAITS);
        }
    }
    tr_client_free(client);
    tr_system_shutdown(system, TR_SECOND);
    tr_status status = tr_system_wait(system);
    tr_system_free(system);
    return status == TR_OK ? 0 : 1;
}
