/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Times a round trip by ask and await against one by tell and reply, both between two actors of one
 * worker and in one process. The difference is what waiting costs.
 *
 *     cmake --build build --target micro_await && build/micro/await
 *
 * Prints the median and the best of the rounds, in nanoseconds for one round trip. "ask, a stretch
 * each" asks a hundred times from each turn, so that nearly all awaits find a turn with a stack of its
 * own; "ask, a turn each" parks a fresh turn for each; "ask, all kept" asks all from one turn, which
 * keeps every reply until it ends, so that it walks through memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <troupe/troupe.h>

enum { ROUNDS = 31, TRIPS = 100000, ASKS_OF_A_TURN = 100 };

TR_MESSAGE(ball, (u64, number));
TR_MESSAGE(answer, (u64, number));
TR_REQUEST(question, answer, (u64, number));
TR_ACTOR(pong, ball, question);
TR_MESSAGE(again, (u64, left));
TR_REQUEST(play_tell, tr_done);
TR_MESSAGE(again_many, (u64, left));
TR_REQUEST(play_stretches, tr_done);
TR_REQUEST(play_turns, tr_done);
TR_REQUEST(play_kept, tr_done);
TR_ACTOR(ping, ball, again, again_many, play_tell, play_stretches, play_turns, play_kept);

static pong_ref pong_;
static tr_client *client;

static tr_next on_pong_ball(tr_self *self, const struct ball *message)
{
    return tr_reply(self, ball, .number = message->number - 1);
}

static tr_next on_question(tr_self *self, const struct question *message)
{
    return tr_reply(self, answer, .number = message->number);
}

TR_BEHAVIOR(pong, void, TR_ON(ball, on_pong_ball), TR_ON(question, on_question));

struct ping {
    tr_ref player;
};

static tr_next on_ball(tr_self *self, struct ping *ping, const struct ball *message)
{
    if (message->number)
        tr_tell(self, pong_, ball, .number = message->number);
    else
        tr_tell(self, ping->player, tr_done);
    return TR_SAME;
}

static tr_next on_play_tell(tr_self *self, struct ping *ping)
{
    ping->player = tr_sender(self);
    tr_tell(self, pong_, ball, .number = TRIPS);
    return TR_SAME;
}

static tr_next on_again_many(tr_self *self, struct ping *ping, const struct again_many *message)
{
    for (uint64_t i = 0; i < ASKS_OF_A_TURN; i++)
        tr_await(self, tr_ask(self, pong_, question, .number = i));
    if (message->left > ASKS_OF_A_TURN)
        tr_tell(self, tr_me(self), again_many, .left = message->left - ASKS_OF_A_TURN);
    else
        tr_tell(self, ping->player, tr_done);
    return TR_SAME;
}

static tr_next on_play_stretches(tr_self *self, struct ping *ping)
{
    ping->player = tr_sender(self);
    tr_tell(self, tr_me(self), again_many, .left = TRIPS);
    return TR_SAME;
}

static tr_next on_play_kept(tr_self *self)
{
    for (uint64_t i = 0; i < TRIPS; i++)
        tr_await(self, tr_ask(self, pong_, question, .number = i));
    return tr_reply(self, tr_done);
}

static tr_next on_again(tr_self *self, struct ping *ping, const struct again *message)
{
    tr_await(self, tr_ask(self, pong_, question, .number = message->left));
    if (message->left > 1)
        tr_tell(self, tr_me(self), again, .left = message->left - 1);
    else
        tr_tell(self, ping->player, tr_done);
    return TR_SAME;
}

static tr_next on_play_turns(tr_self *self, struct ping *ping)
{
    ping->player = tr_sender(self);
    tr_tell(self, tr_me(self), again, .left = TRIPS);
    return TR_SAME;
}

TR_BEHAVIOR(ping, struct ping, TR_ON(ball, on_ball), TR_ON(again, on_again),
            TR_ON(again_many, on_again_many), TR_ON(play_tell, on_play_tell),
            TR_ON(play_stretches, on_play_stretches), TR_ON(play_turns, on_play_turns),
            TR_ON(play_kept, on_play_kept));

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

static void print(const char *name, double *times)
{
    qsort(times, ROUNDS, sizeof *times, compare);
    printf("%-20s median %6.1f ns, best %6.1f ns\n", name, times[ROUNDS / 2], times[0]);
}

static void wait_done(void)
{
    if (!tr_receive(client, tr_done, TR_MINUTE))
        abort();
}

int main(void)
{
    static double tells[ROUNDS];
    static double stretches[ROUNDS];
    static double turns[ROUNDS];
    static double kept[ROUNDS];
    tr_system *system;
    ping_ref ping_;
    tr_system_options options = {.workers = 1};
    if (tr_system_new(&options, &system) != TR_OK || tr_system_start(system) != TR_OK ||
        tr_client_new(system, &client) != TR_OK ||
        tr_try_spawn(client, &pong_, pong, NULL) != TR_OK ||
        tr_try_spawn(client, &ping_, ping, NULL) != TR_OK)
        abort();
    for (int i = 0; i < ROUNDS; i++) {
        double begin = now_ns();
        tr_tell(client, ping_, play_tell);
        wait_done();
        double middle = now_ns();
        tr_tell(client, ping_, play_stretches);
        wait_done();
        double later = now_ns();
        tr_tell(client, ping_, play_turns);
        wait_done();
        turns[i] = (now_ns() - later) / TRIPS;
        tells[i] = (middle - begin) / TRIPS;
        stretches[i] = (later - middle) / TRIPS;
    }
    /* Apart: it leaves much memory to be trimmed. */
    for (int i = 0; i < ROUNDS; i++) {
        double begin = now_ns();
        tr_tell(client, ping_, play_kept);
        wait_done();
        kept[i] = (now_ns() - begin) / TRIPS;
    }
    print("tell and reply", tells);
    print("ask, a stretch each", stretches);
    print("ask, a turn each", turns);
    print("ask, all kept", kept);
    tr_client_free(client);
    tr_system_shutdown(system, TR_SECOND);
    tr_status status = tr_system_wait(system);
    tr_system_free(system);
    return status == TR_OK ? 0 : 1;
}
