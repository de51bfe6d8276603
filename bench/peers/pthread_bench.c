/* SPDX-License-Identifier: Apache-2.0 */
/**
 * POSIX threads: one thread per actor; a list under a mutex and a condition variable is the
 * mailbox. With THREADS = 1 all of them share one CPU.
 */
#define _GNU_SOURCE
#include "benchutil.h"
#include <pthread.h>
#include <sched.h>

#define PEER "pthread"
#define STACK_SMALL 16384
#define STACK_NORMAL 65536

typedef struct node {
    struct node *next;
    uint64_t value;
    void *from;
} node;

typedef struct box {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    node *head, *tail;
    int is_waiting;
} box;

static const char *workload;
static int threads;
static uint64_t N;
static box done;

static void box_init(box *b)
{
    pthread_mutex_init(&b->mutex, NULL);
    pthread_cond_init(&b->condition, NULL);
    b->head = b->tail = NULL;
    b->is_waiting = 0;
}

static void put(box *b, uint64_t value, void *from)
{
    node *n = malloc(sizeof *n);
    n->next = NULL;
    n->value = value;
    n->from = from;
    pthread_mutex_lock(&b->mutex);
    if (b->tail)
        b->tail->next = n;
    else
        b->head = n;
    b->tail = n;
    int is_waiting = b->is_waiting;
    pthread_mutex_unlock(&b->mutex);
    if (is_waiting)
        pthread_cond_signal(&b->condition);
}

static uint64_t get(box *b, void **from)
{
    pthread_mutex_lock(&b->mutex);
    while (!b->head) {
        b->is_waiting = 1;
        pthread_cond_wait(&b->condition, &b->mutex);
    }
    b->is_waiting = 0;
    node *n = b->head;
    b->head = n->next;
    if (!b->head)
        b->tail = NULL;
    pthread_mutex_unlock(&b->mutex);
    uint64_t value = n->value;
    if (from)
        *from = n->from;
    free(n);
    return value;
}

static void pin(pthread_t thread, int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(thread, sizeof set, &set);
}

static pthread_t spawn(void *(*function)(void *), void *argument, size_t stack_size)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_size);
    if (pthread_create(&thread, &attributes, function, argument)) {
        perror("pthread_create");
        _exit(2);
    }
    pthread_attr_destroy(&attributes);
    return thread;
}

static void *number(uint64_t i)
{
    return (void *)(uintptr_t)i;
}

/* Ping and pong. */

static box ping_box, pong_box;

static void *ponger(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < N; i++)
        put(&ping_box, get(&pong_box, NULL), NULL);
    return NULL;
}

static void *pinger(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < N; i++) {
        put(&pong_box, i, NULL);
        get(&ping_box, NULL);
    }
    return NULL;
}

static void run_pingpong(int is_cross)
{
    N = bu_n(is_cross ? 50000 : 200000);
    box_init(&ping_box);
    box_init(&pong_box);
    uint64_t t0 = bu_now();
    pthread_t a = spawn(pinger, NULL, STACK_NORMAL);
    pthread_t b = spawn(ponger, NULL, STACK_NORMAL);
    if (is_cross) {
        pin(a, 0);
        pin(b, 1);
    }
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    bu_report(PEER, workload, threads, N, bu_now() - t0);
}

/* A ring of 1000. */

#define RING 1000
static box ring_boxes[RING];

static void *ringer(void *argument)
{
    uint64_t i = (uintptr_t)argument;
    for (;;) {
        uint64_t value = get(&ring_boxes[i], NULL);
        if (value == 0)
            put(&done, 1, NULL);
        else
            put(&ring_boxes[(i + 1) % RING], value - 1, NULL);
    }
    return NULL;
}

static void run_ring(void)
{
    N = bu_n(100000);
    for (uint64_t i = 0; i < RING; i++)
        box_init(&ring_boxes[i]);
    for (uint64_t i = 0; i < RING; i++)
        spawn(ringer, number(i), STACK_SMALL);
    uint64_t t0 = bu_now();
    put(&ring_boxes[0], N, NULL);
    get(&done, NULL);
    bu_report(PEER, workload, threads, N, bu_now() - t0);
}

/* Many to one. */

static box sink_box;

static void *sender(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < N; i++)
        put(&sink_box, i, NULL);
    return NULL;
}

static void run_fanin(uint64_t senders, uint64_t each)
{
    N = bu_n(each);
    box_init(&sink_box);
    uint64_t t0 = bu_now();
    for (uint64_t i = 0; i < senders; i++)
        spawn(sender, NULL, STACK_NORMAL);
    for (uint64_t i = 0; i < N * senders; i++)
        get(&sink_box, NULL);
    bu_report(PEER, workload, threads, N * senders, bu_now() - t0);
}

/* A tree; the base is 10,000 leaves, since they are all alive at once. */

typedef struct tree {
    uint64_t number, size;
    box *parent;
} tree;

static tree *tree_new(uint64_t first, uint64_t size, box *parent)
{
    tree *t = malloc(sizeof *t);
    t->number = first;
    t->size = size;
    t->parent = parent;
    return t;
}

static void *tree_node(void *argument)
{
    tree self = *(tree *)argument;
    free(argument);
    if (self.size == 1) {
        put(self.parent, self.number, NULL);
        return NULL;
    }
    box b;
    box_init(&b);
    pthread_t children[10];
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t size = self.size / 10;
        tree *child = tree_new(self.number + i * size, size, &b);
        children[i] = spawn(tree_node, child, STACK_SMALL);
    }
    uint64_t sum = 0;
    for (int i = 0; i < 10; i++)
        sum += get(&b, NULL);
    for (int i = 0; i < 10; i++)
        pthread_join(children[i], NULL);
    put(self.parent, sum, NULL);
    return NULL;
}

static void run_spawn_tree(void)
{
    uint64_t leaves = bu_leaves(10000);
    uint64_t t0 = bu_now();
    spawn(tree_node, tree_new(0, leaves, &done), STACK_SMALL);
    uint64_t sum = get(&done, NULL);
    uint64_t ns = bu_now() - t0;
    if (sum != leaves * (leaves - 1) / 2) {
        fprintf(stderr, "bad sum\n");
        _exit(3);
    }
    bu_report(PEER, workload, threads, bu_nodes(leaves), ns);
}

/* Idle threads; the base is 10,000. */

static void *idler(void *argument)
{
    box *b = argument;
    put(&done, get(b, NULL), NULL);
    get(b, NULL);
    return NULL;
}

static void run_idle(void)
{
    uint64_t n = bu_n(10000);
    box *boxes = malloc(n * sizeof *boxes);
    uint64_t rss = bu_rss();
    uint64_t t0 = bu_now();
    for (uint64_t i = 0; i < n; i++) {
        box_init(&boxes[i]);
        spawn(idler, &boxes[i], STACK_SMALL);
    }
    bu_report_idle(PEER, workload, threads, n, bu_now() - t0, bu_rss() - rss);
    t0 = bu_now();
    for (uint64_t i = 0; i < n; i++)
        put(&boxes[i], i, NULL);
    for (uint64_t i = 0; i < n; i++)
        get(&done, NULL);
    bu_report_idle(PEER, "idle_touched", threads, n, bu_now() - t0, bu_rss() - rss);
}

/* Big: all to all. */

#define PLAYERS 120
static box player_boxes[PLAYERS];

static void ping_another(uint64_t me, uint64_t *random)
{
    uint64_t other = bu_rng(random) % (PLAYERS - 1);
    other += other >= me;
    put(&player_boxes[other], 1, number(me));
}

static void *player(void *argument)
{
    uint64_t me = (uintptr_t)argument;
    uint64_t random = 88172645463325252u + me * 7919;
    uint64_t left = N;
    ping_another(me, &random);
    for (;;) {
        void *from;
        uint64_t kind = get(&player_boxes[me], &from);
        if (kind == 1)
            put(&player_boxes[(uintptr_t)from], 2, number(me));
        else if (--left == 0)
            put(&done, 1, NULL);
        else
            ping_another(me, &random);
    }
    return NULL;
}

static void run_big(void)
{
    N = bu_n(2000);
    for (uint64_t i = 0; i < PLAYERS; i++)
        box_init(&player_boxes[i]);
    uint64_t t0 = bu_now();
    for (uint64_t i = 0; i < PLAYERS; i++)
        spawn(player, number(i), STACK_SMALL);
    for (uint64_t i = 0; i < PLAYERS; i++)
        get(&done, NULL);
    bu_report(PEER, workload, threads, N * PLAYERS, bu_now() - t0);
}

/* A bank: question and answer. */

#define ACCOUNTS 1000
static box account_boxes[ACCOUNTS];

static void *account(void *argument)
{
    box *b = argument;
    uint64_t balance = 0;
    for (;;) {
        void *from;
        balance += get(b, &from);
        put(from, balance, NULL);
    }
    return NULL;
}

static void *teller(void *argument)
{
    box me;
    box_init(&me);
    uint64_t random = 88172645463325252u + (uintptr_t)argument;
    for (uint64_t i = 0; i < N; i++) {
        put(&account_boxes[bu_rng(&random) % ACCOUNTS], 1, &me);
        get(&me, NULL);
    }
    put(&done, 1, NULL);
    return NULL;
}

static void run_bank(uint64_t tellers, uint64_t asks)
{
    N = bu_n(asks) / tellers;
    if (N == 0)
        N = 1;
    for (uint64_t i = 0; i < ACCOUNTS; i++) {
        box_init(&account_boxes[i]);
        spawn(account, &account_boxes[i], STACK_SMALL);
    }
    uint64_t t0 = bu_now();
    for (uint64_t i = 0; i < tellers; i++)
        spawn(teller, number(i), STACK_NORMAL);
    for (uint64_t i = 0; i < tellers; i++)
        get(&done, NULL);
    bu_report(PEER, workload, threads, N * tellers, bu_now() - t0);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    workload = argv[1];
    threads = atoi(argv[2]);
    if (threads == 1)
        pin(pthread_self(), 0);
    box_init(&done);
    if (!strcmp(workload, "pingpong_local"))
        run_pingpong(0);
    else if (!strcmp(workload, "pingpong_cross"))
        run_pingpong(1);
    else if (!strcmp(workload, "ring"))
        run_ring();
    else if (!strcmp(workload, "fanin20"))
        run_fanin(20, 1000000);
    else if (!strcmp(workload, "fanin2"))
        run_fanin(2, 1000000);
    else if (!strcmp(workload, "counting"))
        run_fanin(1, 10000000);
    else if (!strcmp(workload, "spawn_tree"))
        run_spawn_tree();
    else if (!strcmp(workload, "idle_memory"))
        run_idle();
    else if (!strcmp(workload, "big"))
        run_big();
    else if (!strcmp(workload, "bank_ask"))
        run_bank(1, 30000);
    else if (!strcmp(workload, "bank_ask_c20"))
        run_bank(20, 200000);
    else {
        fprintf(stderr, "n/a\n");
        return 4;
    }
    _exit(0);
}
