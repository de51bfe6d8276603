/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A child that should always be there comes back after all who watch it have been told of its end:
 * what the new one sends them from its first moment on finds the Terminated of the old one before
 * it.
 */
#include "support/crew.h"

/* Whom the last hello came from, and whether its end has been told. */
struct listener {
    tr_ref last;
    bool is_over;
    int ends;
};

static tr_ref watcher; /* one that is neither the child's parent nor on its worker */

static tr_next greet(tr_self *self)
{
    tr_tell(self, tr_parent(self), note, .n = 1);
    tr_tell(self, watcher, note, .n = 1);
    return TR_SAME;
}

static tr_next on_hello(tr_self *self, struct listener *listener)
{
    ck_assert_msg(listener->is_over || tr_is_nobody(listener->last),
                  "home %d, seed %" PRIu64 ": it is back before its end was told",
                  home,
                  kits_seed);
    listener->last = tr_sender(self);
    listener->is_over = false;
    ck_assert_int_eq(tr_watch(self, listener->last), TR_OK);
    return TR_SAME;
}

static tr_next on_terminated(struct listener *listener, const struct tr_terminated *message)
{
    ck_assert(tr_is_same(message->who, listener->last));
    ck_assert(!listener->is_over);
    listener->is_over = true;
    listener->ends++;
    return TR_SAME;
}

static int ends;
static tr_next count_ends(tr_self *self, struct listener *listener)
{
    (void)self;
    ends += listener->ends;
    return TR_SAME;
}

TR_MESSAGE(count);

#define LISTENER_ROWS                                                                              \
    TR_ON(run, on_run), TR_ON(note, on_hello), TR_ON(tr_terminated, on_terminated),                \
        TR_ON(count, count_ends)
TR_BEHAVIOR(listener, struct listener, LISTENER_ROWS);
TR_BEHAVIOR(listening_boss, struct listener, LISTENER_ROWS,
            TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 100));
TR_BEHAVIOR(greeter, void, TR_ON(run, on_run), TR_ON(tr_pre_start, greet),
            TR_OPTIONS(.restart = TR_PERMANENT));

static tr_next spawn_greeter(tr_self *self)
{
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = kid_behavior, .name = "a", .worker = kid_count};
    uint64_t bits;
    ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_OK);
    return TR_SAME;
}

/* The parent, the child, and who only watches, each on any worker. */
static void play_returns(void)
{
    enum { ROUNDS = 6 };
    const uint64_t workers = (uint64_t)home + 1;
    home = (int)(kits_seed % workers);
    watcher = crew_spawn_top(&tr_behavior_listener, "watcher");
    home = (int)(kits_seed / 3 % workers);
    boss = crew_spawn_top(&tr_behavior_listening_boss, "boss");
    kid_count = (int)(kits_seed / 9 % workers);
    kid_behavior = &tr_behavior_greeter;
    DO(boss, spawn_greeter);
    for (int i = 0; i < ROUNDS; i++) {
        tr_ref child = tr_client_find(test, "/user/boss/a");
        ck_assert(!tr_is_nobody(child));
        switch (i % 3) {
        case 0:
            TELL_RUN(test, child, leave);
            break;
        case 1:
            tr_kill(test, child);
            break;
        default:
            tr_stop(test, child);
            break;
        }
        tr_kit_settle(kit);
    }
    ends = 0;
    tr_tell(test, boss, count);
    tr_tell(test, watcher, count);
    tr_kit_settle(kit);
    ck_assert_int_eq(ends, 2 * ROUNDS);
}

TEST(it_comes_back_after_its_end_was_told, "S-08", "G-04")
{
    kits_each(play_returns);
}

/* ---- On threads. ---- */

enum { THREAD_ROUNDS = TEST_HAS_SANITIZER ? 300 : 3000 };

TR_MESSAGE(go, (ref, client));
TR_MESSAGE(bye);
TR_MESSAGE(over);

struct keeper {
    struct listener listener;
    tr_ref client;
};

static tr_next greet_one(tr_self *self)
{
    tr_tell(self, watcher, note, .n = 1);
    return TR_SAME;
}

static tr_next on_bye(void)
{
    return TR_STOP;
}

/* It ends the child as soon as it watches it. */
static tr_next on_thread_hello(tr_self *self, struct keeper *keeper)
{
    (void)on_hello(self, &keeper->listener);
    if (keeper->listener.ends == THREAD_ROUNDS)
        tr_tell(self, keeper->client, over);
    else
        tr_tell(self, keeper->listener.last, bye);
    return TR_SAME;
}

static tr_next on_thread_terminated(struct keeper *keeper, const struct tr_terminated *message)
{
    return on_terminated(&keeper->listener, message);
}

static tr_next on_go(struct keeper *keeper, const struct go *message)
{
    keeper->client = message->client;
    return TR_SAME;
}

#define KEEPER_ROWS                                                                                \
    TR_ON(go, on_go), TR_ON(run, on_run), TR_ON(note, on_thread_hello),                            \
        TR_ON(tr_terminated, on_thread_terminated),                                                \
        TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 1, .window_ns = 1)
TR_BEHAVIOR(keeper, struct keeper, KEEPER_ROWS);
TR_BEHAVIOR(thread_greeter, void, TR_ON(bye, on_bye), TR_ON(tr_pre_start, greet_one),
            TR_OPTIONS(.restart = TR_PERMANENT));

static tr_ref put(tr_client *client, const char *name, int worker)
{
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_keeper, .name = name, .worker = worker};
    uint64_t bits;
    ck_assert_int_eq(tr_client_try_spawn(client, &args, &bits), TR_OK);
    return tr_ref_from_bits(bits);
}

/* The parent on worker 0; the child and who watches it where it is said, -1: that is its parent. */
static void run_on(int child_worker, int watcher_worker)
{
    tr_system *system;
    tr_client *client;
    const tr_system_options options = {.size = sizeof options, .workers = 3};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    kid_behavior = &tr_behavior_thread_greeter;
    kid_count = child_worker;
    tr_ref parent = put(client, "boss", 0);
    watcher = watcher_worker < 0 ? parent : put(client, "keeper", watcher_worker);
    tr_tell(client, watcher, go, .client = tr_client_ref(client));
    TELL_RUN(client, parent, spawn_greeter);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_ptr_nonnull(tr_receive(client, over, TR_NEVER));
    tr_system_shutdown(system, TR_MINUTE);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_client_free(client);
    tr_system_free(system);
}

TEST(so_it_is_across_threads, "S-08", "G-04")
{
    for (int child = 0; child < 2; child++) {
        for (int other = -1; other < 3; other++)
            run_on(child, other);
    }
}

SUITE("child order", it_comes_back_after_its_end_was_told, so_it_is_across_threads)
