/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The floor of this machine: what a hop between threads costs by spinning, futex and eventfd, and
 * what the least imaginable dispatch of actors on one thread costs (no accounting, no lifecycle).
 */
#define _GNU_SOURCE
#include "benchutil.h"
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#define PEER "floor"

#if defined(__x86_64__) || defined(__i386__)
#define RELAX() __builtin_ia32_pause()
#else
#define RELAX() __asm__ volatile("yield" ::: "memory")
#endif

static const char *workload;
static int threads;
static uint64_t N;

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static void start(void *(*function)(void *), int cpu)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, (void *)(intptr_t)cpu)) {
        perror("pthread_create");
        exit(2);
    }
    pin(0);
}

/* Two threads, three ways to hand over. */

static _Alignas(128) _Atomic uint32_t flag_a;
static _Alignas(128) _Atomic uint32_t flag_b;
static int event_a, event_b;

static void spin_until(_Atomic uint32_t *flag, uint32_t value)
{
    while (atomic_load_explicit(flag, memory_order_acquire) != value)
        RELAX();
}

static void *spinner(void *cpu)
{
    pin((int)(intptr_t)cpu);
    for (uint32_t i = 1; i <= N; i++) {
        spin_until(&flag_a, i);
        atomic_store_explicit(&flag_b, i, memory_order_release);
    }
    return NULL;
}

static void run_spin(void)
{
    N = bu_n(5000000);
    start(spinner, 1);
    uint64_t t0 = bu_now();
    for (uint32_t i = 1; i <= N; i++) {
        atomic_store_explicit(&flag_a, i, memory_order_release);
        spin_until(&flag_b, i);
    }
    bu_report(PEER, workload, threads, N, bu_now() - t0);
}

static void futex_wait(_Atomic uint32_t *flag, uint32_t old)
{
    while (atomic_load(flag) == old)
        syscall(SYS_futex, flag, FUTEX_WAIT_PRIVATE, old, 0, 0, 0);
}

static void futex_wake(_Atomic uint32_t *flag)
{
    syscall(SYS_futex, flag, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static void *futex_waiter(void *cpu)
{
    pin((int)(intptr_t)cpu);
    for (uint32_t i = 1; i <= N; i++) {
        futex_wait(&flag_a, i - 1);
        atomic_store(&flag_b, i);
        futex_wake(&flag_b);
    }
    return NULL;
}

static void run_futex(int cpu)
{
    N = bu_n(50000);
    start(futex_waiter, cpu);
    uint64_t t0 = bu_now();
    for (uint32_t i = 1; i <= N; i++) {
        atomic_store(&flag_a, i);
        futex_wake(&flag_a);
        futex_wait(&flag_b, i - 1);
    }
    bu_report(PEER, workload, threads, N, bu_now() - t0);
}

static void *event_waiter(void *cpu)
{
    uint64_t value = 1;
    pin((int)(intptr_t)cpu);
    for (uint64_t i = 0; i < N; i++)
        if (read(event_a, &value, 8) != 8 || write(event_b, &value, 8) != 8)
            abort();
    return NULL;
}

static void run_eventfd(int cpu)
{
    uint64_t value = 1;
    N = bu_n(50000);
    event_a = eventfd(0, 0);
    event_b = eventfd(0, 0);
    start(event_waiter, cpu);
    uint64_t t0 = bu_now();
    for (uint64_t i = 0; i < N; i++)
        if (write(event_a, &value, 8) != 8 || read(event_b, &value, 8) != 8)
            abort();
    bu_report(PEER, workload, threads, N, bu_now() - t0);
}

/* One thread: an intrusive run queue, messages from a free list. */

typedef struct message {
    struct message *next;
    uint64_t value;
} message;

typedef struct actor {
    struct actor *next_ready;
    message *head, *tail;
    void (*on)(struct actor *, uint64_t);
    struct actor *peer;
    uint64_t n;
} actor;

static message *free_messages;
static actor *ready_head, *ready_tail;
static int is_done;
static uint64_t want;
static actor sink;

static inline void tell(actor *to, uint64_t value)
{
    message *m = free_messages;
    if (m)
        free_messages = m->next;
    else
        m = malloc(sizeof *m);
    m->value = value;
    m->next = NULL;
    if (to->head) {
        to->tail->next = m;
        to->tail = m;
        return;
    }
    to->head = to->tail = m;
    to->next_ready = NULL;
    if (ready_head)
        ready_tail->next_ready = to;
    else
        ready_head = to;
    ready_tail = to;
}

static void loop(void)
{
    while (!is_done) {
        actor *a = ready_head;
        ready_head = a->next_ready;
        message *m = a->head;
        a->head = NULL;
        while (m) {
            message *next = m->next;
            uint64_t value = m->value;
            m->next = free_messages;
            free_messages = m;
            a->on(a, value);
            m = next;
        }
    }
}

static void on_ping(actor *self, uint64_t value)
{
    (void)value;
    if (--self->n == 0)
        is_done = 1;
    else
        tell(self->peer, self->n);
}

static void on_pong(actor *self, uint64_t value)
{
    tell(self->peer, value);
}

static void on_ring(actor *self, uint64_t value)
{
    if (value == 0)
        is_done = 1;
    else
        tell(self->peer, value - 1);
}

static void on_sink(actor *self, uint64_t value)
{
    (void)value;
    if (++self->n == want)
        is_done = 1;
}

static void on_source(actor *self, uint64_t value)
{
    (void)self;
    (void)value;
    for (uint64_t i = 0; i < N; i++)
        tell(&sink, i);
}

static void run_pingpong(void)
{
    static actor a, b;
    N = bu_n(5000000);
    a.on = on_ping;
    b.on = on_pong;
    a.peer = &b;
    b.peer = &a;
    a.n = N;
    uint64_t t0 = bu_now();
    tell(&b, 1);
    loop();
    bu_report(PEER, workload, threads, N, bu_now() - t0);
}

static void run_ring(void)
{
    actor *ring = calloc(1000, sizeof *ring);
    N = bu_n(5000000);
    for (int i = 0; i < 1000; i++) {
        ring[i].on = on_ring;
        ring[i].peer = &ring[(i + 1) % 1000];
    }
    uint64_t t0 = bu_now();
    tell(&ring[0], N);
    loop();
    bu_report(PEER, workload, threads, N, bu_now() - t0);
}

static void run_fanin(size_t sources, uint64_t each)
{
    actor *source = calloc(sources, sizeof *source);
    N = bu_n(each);
    want = N * sources;
    sink.on = on_sink;
    uint64_t t0 = bu_now();
    for (size_t i = 0; i < sources; i++) {
        source[i].on = on_source;
        tell(&source[i], 0);
    }
    loop();
    bu_report(PEER, workload, threads, want, bu_now() - t0);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    workload = argv[1];
    threads = atoi(argv[2]);
    if (!strcmp(workload, "pingpong_cross"))
        run_spin();
    else if (!strcmp(workload, "futex_rt_cross"))
        run_futex(1);
    else if (!strcmp(workload, "futex_rt_same"))
        run_futex(0);
    else if (!strcmp(workload, "eventfd_rt_cross"))
        run_eventfd(1);
    else if (!strcmp(workload, "eventfd_rt_same"))
        run_eventfd(0);
    else if (!strcmp(workload, "pingpong_local"))
        run_pingpong();
    else if (!strcmp(workload, "ring"))
        run_ring();
    else if (!strcmp(workload, "fanin20"))
        run_fanin(20, 1000000);
    else if (!strcmp(workload, "fanin2"))
        run_fanin(2, 1000000);
    else if (!strcmp(workload, "counting"))
        run_fanin(1, 10000000);
    else {
        fprintf(stderr, "n/a\n");
        return 4;
    }
    _exit(0);
}
