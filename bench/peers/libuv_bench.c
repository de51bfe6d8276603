/* SPDX-License-Identifier: Apache-2.0 */
/**
 * libuv: one loop per thread; a list under a mutex and uv_async_send are the mailbox, and the
 * receiver takes the whole list per wake-up.
 */
#define _GNU_SOURCE
#include "benchutil.h"
#include <pthread.h>
#include <sched.h>
#include <uv.h>

#define PEER "libuv"

typedef struct node {
    struct node *next;
    uint64_t value;
} node;

typedef struct actor {
    uv_loop_t loop;
    uv_async_t async;
    uv_mutex_t mutex;
    node *head, *tail;
    void (*on)(struct actor *, uint64_t);
    struct actor *peer;
    uint64_t n;
    int cpu;
} actor;

static uint64_t N, want, t0;
static const char *workload;
static int threads;
static actor a, b;

static void put(actor *to, uint64_t value)
{
    node *n = malloc(sizeof *n);
    n->value = value;
    n->next = NULL;
    uv_mutex_lock(&to->mutex);
    int was_waiting = to->head != NULL;
    if (was_waiting)
        to->tail->next = n;
    else
        to->head = n;
    to->tail = n;
    uv_mutex_unlock(&to->mutex);
    if (!was_waiting)
        uv_async_send(&to->async);
}

static void on_async(uv_async_t *handle)
{
    actor *self = handle->data;
    for (;;) {
        uv_mutex_lock(&self->mutex);
        node *n = self->head;
        self->head = self->tail = NULL;
        uv_mutex_unlock(&self->mutex);
        if (!n)
            return;
        while (n) {
            node *next = n->next;
            self->on(self, n->value);
            free(n);
            n = next;
        }
    }
}

static void finish(uint64_t ops)
{
    bu_report(PEER, workload, threads, ops, bu_now() - t0);
    _exit(0);
}

static void on_ping(actor *self, uint64_t value)
{
    (void)value;
    if (--self->n == 0)
        finish(N);
    put(self->peer, self->n);
}

static void on_pong(actor *self, uint64_t value)
{
    put(self->peer, value);
}

static void on_sink(actor *self, uint64_t value)
{
    (void)value;
    if (++self->n == want)
        finish(want);
}

static void *run_loop(void *argument)
{
    actor *self = argument;
    if (self->cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(self->cpu, &set);
        pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    }
    uv_run(&self->loop, UV_RUN_DEFAULT);
    return NULL;
}

static void init(actor *self, void (*on)(actor *, uint64_t), int cpu)
{
    uv_loop_init(&self->loop);
    uv_async_init(&self->loop, &self->async, on_async);
    self->async.data = self;
    uv_mutex_init(&self->mutex);
    self->on = on;
    self->cpu = cpu;
}

static pthread_t start(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, argument)) {
        perror("pthread_create");
        exit(2);
    }
    return thread;
}

static void *source(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < N; i++)
        put(&a, i);
    return NULL;
}

static pthread_t run_pingpong(void)
{
    N = bu_n(50000);
    init(&a, on_ping, 0);
    init(&b, on_pong, 1);
    a.peer = &b;
    b.peer = &a;
    a.n = N;
    pthread_t thread = start(run_loop, &a);
    start(run_loop, &b);
    t0 = bu_now();
    put(&b, N);
    return thread;
}

static pthread_t run_fanin(uint64_t sources, uint64_t each)
{
    N = bu_n(each);
    want = N * sources;
    init(&a, on_sink, -1);
    t0 = bu_now();
    pthread_t thread = start(run_loop, &a);
    for (uint64_t i = 0; i < sources; i++)
        start(source, NULL);
    return thread;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc < 3)
        return 1;
    workload = argv[1];
    threads = atoi(argv[2]);
    if (threads == 1) { /* All threads share one CPU, as the row asks. */
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(0, &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    if (!strcmp(workload, "pingpong_cross"))
        thread = run_pingpong();
    else if (!strcmp(workload, "fanin20"))
        thread = run_fanin(20, 1000000);
    else if (!strcmp(workload, "fanin2"))
        thread = run_fanin(2, 1000000);
    else if (!strcmp(workload, "counting"))
        thread = run_fanin(1, 10000000);
    else {
        fprintf(stderr, "n/a\n");
        return 4;
    }
    pthread_join(thread, NULL);
    return 5;
}
