/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Systems inside other programs: several at once, with their own memory and log, in the program's
 * own event loop; and where actors are placed.
 */
#include "support/test.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <troupe/system.h>
#include <troupe/troupe.h>

TR_MESSAGE(hit, (u64, n));
TR_MESSAGE(hit_back, (u64, n), (i32, worker), (i64, thread));
TR_MESSAGE(say, (str, text));
TR_MESSAGE(loop_on, (u64, left));

static tr_next on_hit(tr_self *self, const struct hit *m)
{
    return tr_reply(self, hit_back, .n = m->n + 1, .worker = tr_worker(self), .thread = gettid());
}
static tr_next on_say(tr_self *self, const struct say *m)
{
    tr_log_warn(self, "said %s", m->text);
    (void)tr_alloc(self, 5000);
    return TR_SAME;
}
static tr_next on_loop(tr_self *self, const struct loop_on *m)
{
    if (m->left)
        tr_tell(self, tr_me(self), loop_on, .left = m->left - 1);
    return TR_SAME;
}
TR_BEHAVIOR(target, void, TR_ON(hit, on_hit), TR_ON(say, on_say), TR_ON(loop_on, on_loop));
TR_ACTOR(target, hit, say, loop_on);

/* ---- A world of their own: memory that is counted, a log that is kept. ---- */

struct world {
    pthread_mutex_t lock;
    size_t bytes;
    size_t blocks;
    size_t peak;
    size_t calls;
    bool is_empty;
    char lines[4][128];
    tr_level levels[4];
    size_t line_count;
};

static void *world_resize(void *context, void *memory, size_t size)
{
    struct world *world = context;
    char *old = memory ? (char *)memory - 16 : NULL;
    char *block = NULL;
    pthread_mutex_lock(&world->lock);
    world->calls++;
    if (size && !world->is_empty) {
        block = malloc(size + 16);
        memcpy(block, &size, sizeof size);
        memset(block + 16, 0xc3, size);
        world->bytes += size;
        world->blocks++;
    }
    if (old && (block || !size)) {
        size_t old_size;
        memcpy(&old_size, old, sizeof old_size);
        if (block)
            memcpy(block + 16, memory, old_size < size ? old_size : size);
        world->bytes -= old_size;
        world->blocks--;
        free(old);
    }
    if (world->bytes > world->peak)
        world->peak = world->bytes;
    pthread_mutex_unlock(&world->lock);
    return block ? block + 16 : NULL;
}

static void world_log(void *context, tr_level level, const char *path, const char *text)
{
    struct world *world = context;
    pthread_mutex_lock(&world->lock);
    size_t i = world->line_count++ % 4;
    world->levels[i] = level;
    snprintf(world->lines[i], sizeof world->lines[i], "%.40s: %.80s", path ? path : "-", text);
    pthread_mutex_unlock(&world->lock);
}

/* ---- Several at once. ---- */

enum { SYSTEMS = 4 };

TEST(refs_of_one_system_are_dead_in_another, "LC-14", "P-04")
{
    tr_system *systems[SYSTEMS];
    tr_client *clients[SYSTEMS];
    target_ref targets[SYSTEMS];
    static struct world world = {.lock = PTHREAD_MUTEX_INITIALIZER};
    tr_system_options options = {.workers = 2, .on_log = world_log, .context = &world};
    for (int i = 0; i < SYSTEMS; i++) {
        ck_assert_int_eq(tr_system_new(&options, &systems[i]), TR_OK);
        ck_assert_int_eq(tr_system_start(systems[i]), TR_OK);
        ck_assert_int_eq(tr_client_new(systems[i], &clients[i]), TR_OK);
        ck_assert_int_eq(tr_try_spawn(clients[i], &targets[i], target, "target"), TR_OK);
        ck_assert_int_eq(tr_spawn_wait(clients[i], targets[i], TR_MINUTE, NULL), TR_OK);
    }
    for (int i = 0; i < SYSTEMS; i++) {
        for (int k = 0; k < SYSTEMS; k++) {
            tr_status status = tr_tell(clients[i], targets[k], hit, .n = (uint64_t)(10 * i));
            ck_assert_int_eq(status, i == k ? TR_OK : TR_STOPPED);
            if (i != k) {
                ck_assert_int_eq(tr_stop(clients[i], targets[k]), TR_STOPPED);
                ck_assert_int_eq(tr_kill(clients[i], targets[k]), TR_STOPPED);
            }
        }
        const struct hit_back *back = tr_receive(clients[i], hit_back, TR_MINUTE);
        ck_assert_ptr_nonnull(back);
        ck_assert_uint_eq(back->n, (uint64_t)(10 * i + 1));
        ck_assert(tr_is_same(tr_find(clients[i], target, "/user/target"), targets[i]));
        ck_assert_uint_eq(tr_system_dead_letters(systems[i], NULL, 0, NULL), SYSTEMS - 1);
        ck_assert_ptr_eq(tr_client_system(clients[i]), systems[i]);
    }
    /* One stops, the others continue. */
    for (int i = 0; i < SYSTEMS; i++) {
        tr_client_free(clients[i]);
        tr_system_shutdown(systems[i], TR_SECOND);
        ck_assert_int_eq(tr_system_wait(systems[i]), TR_OK);
        tr_system_free(systems[i]);
        for (int k = i + 1; k < SYSTEMS; k++) {
            ck_assert_int_eq(tr_tell(clients[k], targets[k], hit, .n = 1), TR_OK);
            ck_assert_ptr_nonnull(tr_receive(clients[k], hit_back, TR_MINUTE));
        }
    }
}

/* ---- Own memory, own log. ---- */

TEST(all_memory_comes_from_the_hook_and_goes_back, "B-05", "U-03")
{
    static struct world world = {.lock = PTHREAD_MUTEX_INITIALIZER};
    tr_system *system = NULL;
    tr_client *client = NULL;
    tr_system_options options = {.size = sizeof options,
                                 .workers = 2,
                                 .resize = world_resize,
                                 .on_log = world_log,
                                 .context = &world};
    world.is_empty = true;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_NO_MEMORY);
    ck_assert_ptr_null(system);
    world.is_empty = false;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    for (int i = 0; i < 200; i++) {
        target_ref target = {0};
        ck_assert_int_eq(tr_try_spawn_at(client, &target, i % 2, target, NULL), TR_OK);
        tr_tell(client, target, say, .text = "something that does not fit into an envelope");
        tr_tell(client, target, hit);
        ck_assert_ptr_nonnull(tr_receive(client, hit_back, TR_MINUTE));
        if (i % 2)
            tr_stop(client, target);
    }
    ck_assert_uint_gt(world.peak, 100 * 5000);
    tr_client_free(client);
    tr_system_shutdown(system, TR_MINUTE);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
    ck_assert_uint_eq(world.bytes, 0);
    ck_assert_uint_eq(world.blocks, 0);
}

TEST(the_log_goes_to_the_hook, "B-04")
{
    static struct world world = {.lock = PTHREAD_MUTEX_INITIALIZER};
    tr_system *system = NULL;
    tr_client *client = NULL;
    tr_system_options options = {.workers = 1, .on_log = world_log, .context = &world};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    target_ref target = {0};
    ck_assert_int_eq(tr_try_spawn(client, &target, target, "me"), TR_OK);
    tr_tell(client, target, say, .text = "hello");
    ck_assert_int_eq(tr_system_run_once(system, 0), TR_OK);
    ck_assert_uint_eq(world.line_count, 1);
    ck_assert_str_eq(world.lines[0], "/user/me: said hello");
    ck_assert_int_eq(world.levels[0], TR_LEVEL_WARN);
    tr_tell(client, TR_NOBODY, say);
    ck_assert_uint_eq(world.line_count, 2);
    ck_assert_ptr_nonnull(strstr(world.lines[1], "-: dead letter: say"));
    tr_client_free(client);
    tr_system_free(system);
}

/* ---- In another's loop. ---- */

static int threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(tasks);
    for (const struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

static bool is_readable(const tr_system *system, int timeout_ms)
{
    struct pollfd descriptor = {.fd = tr_system_fd(system), .events = POLLIN};
    ck_assert_int_ge(descriptor.fd, 0);
    return poll(&descriptor, 1, timeout_ms) == 1;
}

TEST(the_descriptor_is_readable_when_there_is_something_to_do, "P-04", "WP-01")
{
    tr_system *system = NULL;
    tr_client *client = NULL;
    target_ref target = {0};
    int before = threads();
    ck_assert_int_eq(tr_system_new(&(tr_system_options){.workers = 1}, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    /* Also before it was ever run. */
    ck_assert_int_eq(tr_try_spawn(client, &target, target, "t"), TR_OK);
    ck_assert(is_readable(system, 0));
    ck_assert_int_eq(tr_system_run_once(system, 0), TR_OK);
    ck_assert(!is_readable(system, 0));
    for (uint64_t i = 0; i < 100; i++) {
        tr_tell(client, target, hit, .n = i);
        if (i % 2)
            tr_tell(client, target, hit, .n = i);
        ck_assert(is_readable(system, 0));
        ck_assert_int_eq(tr_system_run_once(system, 0), TR_OK);
        ck_assert(!is_readable(system, 0));
        for (uint64_t k = 0; k <= i % 2; k++) {
            const struct hit_back *back = tr_receive(client, hit_back, 0);
            ck_assert_ptr_nonnull(back);
            ck_assert_uint_eq(back->n, i + 1);
        }
    }
    /* More than one share of work: readable until all of it is done. */
    tr_tell(client, target, loop_on, .left = 20000);
    int shares = 0;
    for (; is_readable(system, 0); shares++)
        ck_assert_int_eq(tr_system_run_once(system, 0), TR_OK);
    ck_assert_int_ge(shares, 2);
    tr_counters counters;
    tr_system_counters(system, &counters);
    ck_assert_uint_eq(counters.queued, 0);
    ck_assert_uint_eq(counters.handled, 2 * 150 + 20001);
    /* The end is something to do, too. */
    tr_client_free(client);
    tr_system_shutdown(system, TR_SECOND);
    tr_status status = TR_OK;
    for (int i = 0; i < 10 && status == TR_OK; i++) {
        ck_assert(is_readable(system, 0));
        status = tr_system_run_once(system, 0);
    }
    ck_assert_int_eq(status, TR_STOPPED);
    ck_assert_int_eq(threads(), before);
    tr_system_free(system);
}

struct sender {
    tr_client *client;
    target_ref target;
    int rounds;
};
static void *send_and_wait(void *context)
{
    struct sender *sender = context;
    for (int i = 0; i < sender->rounds; i++) {
        tr_tell(sender->client, sender->target, hit, .n = (uint64_t)i);
        const struct hit_back *back = tr_receive(sender->client, hit_back, TR_MINUTE);
        ck_assert_ptr_nonnull(back);
        ck_assert_uint_eq(back->n, (uint64_t)i + 1);
    }
    tr_system_shutdown(tr_client_system(sender->client), TR_SECOND);
    return NULL;
}

/* Another thread asks again and again; this one sleeps in poll, or in run_once. */
static void serve_another_thread(tr_time wait_ns)
{
    struct sender sender = {.rounds = 2000};
    tr_system *system = NULL;
    pthread_t thread;
    ck_assert_int_eq(tr_system_new(&(tr_system_options){.workers = 1}, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &sender.client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(sender.client, &sender.target, target, NULL), TR_OK);
    ck_assert_int_eq(pthread_create(&thread, NULL, send_and_wait, &sender), 0);
    tr_status status = TR_OK;
    while (status == TR_OK) {
        if (!wait_ns)
            ck_assert(is_readable(system, 60000));
        status = tr_system_run_once(system, wait_ns);
    }
    ck_assert_int_eq(status, TR_STOPPED);
    pthread_join(thread, NULL);
    tr_client_free(sender.client);
    tr_system_free(system);
}

TEST(a_post_from_another_thread_ends_the_poll, "P-04", "WP-01")
{
    serve_another_thread(0);
}

TEST(a_post_from_another_thread_ends_the_wait, "P-04", "WP-01")
{
    serve_another_thread(TR_NEVER);
}

TEST(run_once_waits_no_longer_than_it_was_told, "")
{
    tr_system *system = NULL;
    const tr_platform *platform = tr_platform_real();
    ck_assert_int_eq(tr_system_new(&(tr_system_options){.workers = 1}, &system), TR_OK);
    tr_time begin_ns = platform->mono_now(platform);
    ck_assert_int_eq(tr_system_run_once(system, 20 * TR_MILLISECOND), TR_OK);
    tr_time took_ns = platform->mono_now(platform) - begin_ns;
    ck_assert_int_ge(took_ns, 20 * TR_MILLISECOND);
    ck_assert_int_lt(took_ns, 10 * TR_SECOND);
    /* Where something is ready there is no wait. */
    tr_client *client = NULL;
    target_ref target = {0};
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &target, target, NULL), TR_OK);
    tr_tell(client, target, hit);
    ck_assert_int_eq(tr_system_run_once(system, TR_NEVER), TR_OK);
    ck_assert_ptr_nonnull(tr_receive(client, hit_back, 0));
    ck_assert_int_eq(tr_system_run_once(system, -1), TR_INVALID_ARGUMENT);
    tr_client_free(client);
    tr_system_free(system);
}

/* ---- Placement. ---- */

enum { WORKERS = 4 };

static tr_next nest_start(tr_self *self)
{
    for (int i = 0; i < WORKERS; i++)
        (void)tr_spawn_at(self, i, target, tr_format(self, "w%d", i));
    (void)tr_spawn(self, target, "here");
    return TR_SAME;
}
TR_BEHAVIOR(nest, void, TR_ON(tr_pre_start, nest_start));
TR_ACTOR(nest, hit);

static struct hit_back where(tr_client *client, target_ref target)
{
    ck_assert_int_eq(tr_tell(client, target, hit), TR_OK);
    const struct hit_back *back = tr_receive(client, hit_back, TR_MINUTE);
    ck_assert_ptr_nonnull(back);
    return *back;
}

TEST(actors_live_on_the_worker_they_were_spawned_at, "P-04", "B-03")
{
    tr_system *system = NULL;
    tr_client *client = NULL;
    ck_assert_int_eq(tr_system_new(&(tr_system_options){.workers = WORKERS}, &system), TR_OK);
    ck_assert_int_eq(tr_system_workers(system), WORKERS);
    ck_assert_int_eq(tr_system_fd(system), -1);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    int64_t thread_of[WORKERS];
    for (int i = 0; i < 3 * WORKERS; i++) {
        target_ref target = {0};
        ck_assert_int_eq(tr_try_spawn_at(client, &target, i % WORKERS, target, NULL), TR_OK);
        struct hit_back back = where(client, target);
        ck_assert_int_eq(back.worker, i % WORKERS);
        if (i >= WORKERS)
            ck_assert_int_eq(back.thread, thread_of[i % WORKERS]);
        thread_of[i % WORKERS] = back.thread;
        for (int k = 0; k < i && k < WORKERS; k++)
            ck_assert_int_eq(thread_of[k] == back.thread, k == i % WORKERS);
    }
    /* From a handler: on the worker that was named, or its own. */
    for (int home = 0; home < WORKERS; home++) {
        char name[16];
        nest_ref nest = {0};
        snprintf(name, sizeof name, "nest%d", home);
        ck_assert_int_eq(tr_try_spawn_at(client, &nest, home, nest, name), TR_OK);
        ck_assert_int_eq(tr_spawn_wait(client, nest, TR_MINUTE, NULL), TR_OK);
        for (int i = 0; i <= WORKERS; i++) {
            char path[48];
            snprintf(
                path, sizeof path, i < WORKERS ? "/user/nest%d/w%d" : "/user/nest%d/here", home, i);
            struct hit_back back = where(client, tr_find(client, target, path));
            ck_assert_int_eq(back.worker, i < WORKERS ? i : home);
        }
    }
    tr_client_free(client);
    tr_system_shutdown(system, TR_MINUTE);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

/* ---- Who may run it. ---- */

static struct {
    tr_status start;
    tr_status run;
    tr_status wait;
    tr_status once;
} told[2]; /* in a handler, and on another thread meanwhile */

static void try_all(tr_system *system, int who)
{
    told[who].start = tr_system_start(system);
    told[who].run = tr_system_run(system);
    told[who].wait = tr_system_wait(system);
    told[who].once = tr_system_run_once(system, 0);
}

static void *try_elsewhere(void *system)
{
    try_all(system, 1);
    return NULL;
}

static tr_next on_meddle(tr_self *self)
{
    pthread_t thread;
    try_all(tr_system_of(self), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, try_elsewhere, tr_system_of(self)), 0);
    pthread_join(thread, NULL);
    return TR_SAME;
}
TR_BEHAVIOR(meddler, void, TR_ON(hit, on_meddle));
TR_ACTOR(meddler, hit);

static void meddle(tr_system *system, tr_client *client)
{
    meddler_ref ref;
    memset(told, 0, sizeof told);
    ck_assert_int_eq(tr_try_spawn(client, &ref, meddler, NULL), TR_OK);
    ck_assert_int_eq(tr_tell(client, ref, hit), TR_OK);
    ck_assert_int_eq(tr_system_run_once(system, 0), TR_OK);
    ck_assert_int_eq(told[0].wait, TR_WOULD_DEADLOCK);
    ck_assert_int_eq(told[0].once, TR_WOULD_DEADLOCK);
    ck_assert_int_eq(told[1].wait, TR_INVALID_TRANSITION);
    ck_assert_int_eq(told[1].once, TR_INVALID_TRANSITION);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(told[i].start, TR_INVALID_TRANSITION);
        ck_assert_int_eq(told[i].run, TR_INVALID_TRANSITION);
    }
}

TEST(a_system_in_a_loop_gets_no_threads, "X-01", "P-04")
{
    tr_system *system = NULL;
    tr_client *client = NULL;
    pthread_t thread;
    ck_assert_int_eq(tr_system_new(&(tr_system_options){.workers = 1}, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    meddle(system, client); /* in the first call */
    meddle(system, client);
    /* Between two calls, on whatever thread: only run_once may. */
    ck_assert_int_eq(pthread_create(&thread, NULL, try_elsewhere, system), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(told[1].start, TR_INVALID_TRANSITION);
    ck_assert_int_eq(told[1].run, TR_INVALID_TRANSITION);
    ck_assert_int_eq(told[1].wait, TR_INVALID_TRANSITION);
    ck_assert_int_eq(told[1].once, TR_OK);
    tr_client_free(client);
    tr_system_shutdown(system, TR_MINUTE);
    while (tr_system_run_once(system, 0) != TR_STOPPED)
        ;
    try_all(system, 0);
    ck_assert_int_eq(told[0].start, TR_INVALID_TRANSITION);
    ck_assert_int_eq(told[0].run, TR_INVALID_TRANSITION);
    ck_assert_int_eq(told[0].wait, TR_INVALID_TRANSITION);
    ck_assert_int_eq(told[0].once, TR_STOPPED);
    tr_system_free(system);
}

TEST(a_started_system_is_not_run_twice, "X-01", "P-04")
{
    tr_system *system = NULL;
    ck_assert_int_eq(tr_system_new(&(tr_system_options){.workers = 1}, &system), TR_OK);
    ck_assert_int_eq(tr_system_wait(system), TR_INVALID_TRANSITION);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_INVALID_TRANSITION);
    ck_assert_int_eq(tr_system_run(system), TR_INVALID_TRANSITION);
    ck_assert_int_eq(tr_system_run_once(system, 0), TR_INVALID_TRANSITION);
    tr_system_shutdown(system, TR_MINUTE);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_INVALID_TRANSITION);
    ck_assert_int_eq(tr_system_run(system), TR_INVALID_TRANSITION);
    ck_assert_int_eq(tr_system_run_once(system, 0), TR_INVALID_TRANSITION);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

SUITE("embed", a_system_in_a_loop_gets_no_threads, a_started_system_is_not_run_twice,
      refs_of_one_system_are_dead_in_another, all_memory_comes_from_the_hook_and_goes_back,
      the_log_goes_to_the_hook, the_descriptor_is_readable_when_there_is_something_to_do,
      a_post_from_another_thread_ends_the_poll, a_post_from_another_thread_ends_the_wait,
      run_once_waits_no_longer_than_it_was_told, actors_live_on_the_worker_they_were_spawned_at)
