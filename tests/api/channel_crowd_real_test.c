/* SPDX-License-Identifier: Apache-2.0 */
/** A crowd that waits for a listener on real sockets: other actors of its worker run while it is accepted. */
#include "support/real_net.h"

enum { CROWD = 400 };

TR_MESSAGE(crowd_tick);
TR_ACTOR(ticker, crowd_tick);
TR_ACTOR(guest, tr_received);

static tr_listener_ref listener;
static size_t count_last; /* connections that were accepted at the last tick; the worker's */
static size_t step_most;  /* the most that were accepted between two ticks */
static sem_t is_over;

/* It has a message at any time, so a worker that lets others run runs it. */
static tr_next on_tick(tr_self *self)
{
    size_t count = tr_listener_count(self, listener);
    step_most = count - count_last > step_most ? count - count_last : step_most;
    count_last = count;
    if (count < CROWD)
        tr_tell(self, tr_me(self), crowd_tick);
    else
        sem_post(&is_over);
    return TR_SAME;
}

static tr_next on_received(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(ticker, void, TR_ON(crowd_tick, on_tick));
TR_BEHAVIOR(guest, void, TR_ON(tr_received, on_received));

static uint64_t listen_paused(tr_self *self, uint64_t argument)
{
    (void)argument;
    listener = tr_listen(self, guest, TR_TCP("127.0.0.1:0"));
    tr_listener_pause(self, listener);
    return tr_listener_address(self, listener).port;
}

static uint64_t resume_and_tick(tr_self *self, uint64_t argument)
{
    (void)argument;
    tr_tell(self, tr_spawn(self, ticker, NULL), crowd_tick);
    tr_listener_resume(self, listener);
    return 0;
}

TEST(a_run_of_a_listener_accepts_as_many_as_it_has_turns, "C-02")
{
    static int fds[CROWD];
    ck_assert_int_eq(sem_init(&is_over, 0, 0), 0);
    real_open(1);
    uint64_t port = GO(listen_paused);
    for (int i = 0; i < CROWD; i++)
        fds[i] = dial_port(port);
    GO(resume_and_tick);
    while (sem_wait(&is_over) != 0)
        ;
    for (int i = 0; i < CROWD; i++)
        close(fds[i]);
    real_close();
    ck_assert_uint_le(step_most, TR_RUN_TURNS_MAX + 16);
}

SUITE("a crowd on real sockets", a_run_of_a_listener_accepts_as_many_as_it_has_turns)
