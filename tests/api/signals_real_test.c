/* SPDX-License-Identifier: Apache-2.0 */
/** Signals of the kernel as messages, and how they fit with those of the runner. */
#include <stdatomic.h>
#include <troupe/process.h>

#include "support/real_net.h"

#include <signal.h>

static sem_t has_come;
static atomic_int last;
static tr_channel channel;

static tr_next on_signal(const struct tr_signal *message)
{
    atomic_store(&last, message->signal);
    sem_post(&has_come);
    return TR_SAME;
}

TR_ACTOR(taker, go);
TR_BEHAVIOR(taker, void, TR_ON(go, on_go), TR_ON(tr_signal, on_signal));

static host_ref taker;

static void open_taker(void)
{
    taker_ref made;
    ck_assert_int_eq(sem_init(&has_come, 0, 0), 0);
    real_open(2);
    ck_assert_int_eq(tr_try_spawn(real_client, &made, taker, "taker"), TR_OK);
    taker.bits = made.bits;
}

static void await_signal(int signal)
{
    while (sem_wait(&has_come) != 0)
        ck_assert_int_eq(errno, EINTR);
    ck_assert_int_eq(atomic_load(&last), signal);
}

static uint64_t take(tr_self *self, uint64_t argument)
{
    return (uint64_t)-tr_try_signals(self, &channel, (int)argument);
}

static uint64_t give_back(tr_self *self, uint64_t argument)
{
    (void)argument;
    tr_close(self, channel);
    return 0;
}

static atomic_int handled; /* handlers run on any thread */

static void note(int signal)
{
    atomic_store(&handled, signal);
}

TEST(a_signal_of_the_process_comes_and_is_given_back, "C-16")
{
    ck_assert(signal(SIGHUP, note) != SIG_ERR);
    open_taker();
    ck_assert_uint_eq(go_in(taker, take, SIGHUP), 0);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(kill(getpid(), SIGHUP), 0);
        await_signal(SIGHUP);
    }
    ck_assert_int_eq(atomic_load(&handled), 0);
    ck_assert_int_eq(-(int)go_in(taker, take, SIGHUP), TR_NAME_EXISTS);
    go_in(taker, give_back, 0);
    ck_assert_int_eq(raise(SIGHUP), 0);
    ck_assert_int_eq(atomic_load(&handled), SIGHUP); /* the handler of before */
    real_close();
}

/* Threads that the runtime has not started get signals too. */
static void *send_here(void *argument)
{
    (void)argument;
    ck_assert_int_eq(pthread_kill(pthread_self(), SIGUSR1), 0);
    return NULL;
}

TEST(a_signal_to_any_thread_comes, "C-16")
{
    pthread_t thread;
    open_taker();
    ck_assert_uint_eq(go_in(taker, take, SIGUSR1), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, send_here, NULL), 0);
    await_signal(SIGUSR1);
    pthread_join(thread, NULL);
    real_close(); /* with the channel open */
    ck_assert_int_eq(sem_trywait(&has_come), -1);
}

/* Signals come while they are taken and given back, from other threads: none is lost in between, none kills. */
static void *send_many(void *argument)
{
    for (int i = 0; i < 2000; i++)
        (void)kill(getpid(), SIGUSR2);
    return argument;
}

TEST(taking_and_giving_back_races_with_signals, "C-16")
{
    pthread_t thread;
    ck_assert(signal(SIGUSR2, note) != SIG_ERR);
    open_taker();
    ck_assert_int_eq(pthread_create(&thread, NULL, send_many, NULL), 0);
    for (int i = 0; i < 50; i++) {
        ck_assert_uint_eq(go_in(taker, take, SIGUSR2), 0);
        go_in(taker, give_back, 0);
    }
    pthread_join(thread, NULL);
    real_close();
}

/* ---- With the runner. ---- */

static char runner_said[200];

static tr_next on_app_signal(const struct tr_signal *message)
{
    size_t length = strlen(runner_said);
    snprintf(runner_said + length, sizeof runner_said - length, " got %d", message->signal);
    ck_assert_int_eq(kill(getpid(), SIGTERM), 0); /* the runner stops all in order */
    return TR_SAME;
}

static tr_next on_app_stop(void)
{
    strcat(runner_said, " stopped");
    return TR_SAME;
}

static tr_next on_app_args(tr_self *self)
{
    tr_channel none;
    snprintf(runner_said,
             sizeof runner_said,
             "%s %s %s",
             tr_status_name(tr_try_signals(self, &none, SIGINT)),
             tr_status_name(tr_try_signals(self, &none, SIGTERM)),
             tr_status_name(tr_try_signals(self, &none, SIGHUP)));
    ck_assert_int_eq(kill(getpid(), SIGHUP), 0);
    return TR_SAME;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_app_args), TR_ON(tr_signal, on_app_signal),
            TR_ON(tr_post_stop, on_app_stop));

TEST(the_runner_keeps_its_signals_and_actors_take_others, "C-16")
{
    char name[] = "app";
    char *argv[] = {name, NULL};
    ck_assert_int_eq(tr_app_main(1, argv, app), 0);
    ck_assert_str_eq(runner_said, "TR_NAME_EXISTS TR_NAME_EXISTS TR_OK got 1 stopped");
    /* Without a runner they can be taken. */
    open_taker();
    ck_assert_uint_eq(go_in(taker, take, SIGTERM), 0);
    ck_assert_int_eq(kill(getpid(), SIGTERM), 0);
    await_signal(SIGTERM);
    real_close();
}

SUITE("real signals", a_signal_of_the_process_comes_and_is_given_back, a_signal_to_any_thread_comes,
      taking_and_giving_back_races_with_signals,
      the_runner_keeps_its_signals_and_actors_take_others)
