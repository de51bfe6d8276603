/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/memory.h"

#include "engine/machine.h"
#include "engine/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOCATIONS_MAX = 28,
    PLAINS_MAX = 64,
    BUCKETS = 128,  /* a power of two, above both */
    STORES_MAX = 8, /* K of the history; a power of two */
    SITES_MAX = 512,
};

/*
 * What a thread knows, and what a store tells who acquires it: of each location the oldest store
 * that may still be read, and of each thread the last operation that happens before. A cache line.
 */
struct view {
    uint16_t stores[LOCATIONS_MAX];
    uint16_t clocks[EXPLORE_THREADS_MAX];
};

struct store {
    uint64_t value;
    struct view told; /* to a thread that acquires it: empty for a relaxed store */
};

struct location {
    const void *address;
    uint64_t epoch;  /* the schedule that the rest belongs to */
    uint16_t newest; /* number of the newest store; the value at the start is number 0 */
    uint16_t sc; /* number of the newest store that a sequentially consistent one wrote or read */
    struct store stores[STORES_MAX];
};

struct plain {
    const void *address;
    uint64_t epoch;
    int writer; /* -1 for the setup */
    uint16_t written;
    uint16_t read[EXPLORE_THREADS_MAX];
};

static struct location locations[LOCATIONS_MAX];
static struct plain plains[PLAINS_MAX];
static uint8_t location_buckets[BUCKETS]; /* index + 1 */
static uint8_t plain_buckets[BUCKETS];
static unsigned locations_count;
static unsigned plains_count;
static uint64_t epoch;
static struct view views[EXPLORE_THREADS_MAX];
static struct view wake_view; /* what all wakes told that order memory */
static struct explore_site *sites[SITES_MAX + 1];
static int sites_count;

static void die(const char *text)
{
    fprintf(stderr, "explore: %s\n", text);
    exit(2);
}

static uint64_t word_get(const void *address, enum explore_kind kind)
{
    if (kind == EXPLORE_32) {
        uint32_t word;
        memcpy(&word, address, sizeof word);
        return word;
    }
    uint64_t word;
    memcpy(&word, address, sizeof word);
    return word;
}

static void word_set(void *address, enum explore_kind kind, uint64_t value)
{
    if (kind == EXPLORE_32) {
        uint32_t word = (uint32_t)value;
        memcpy(address, &word, sizeof word);
    } else {
        memcpy(address, &value, sizeof value);
    }
}

static unsigned bucket_of(const void *address)
{
    return (unsigned)(((uintptr_t)address >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 57) % BUCKETS;
}

static struct location *location_at(const void *address, enum explore_kind kind)
{
    unsigned bucket = bucket_of(address);
    while (location_buckets[bucket] && locations[location_buckets[bucket] - 1].address != address)
        bucket = (bucket + 1) % BUCKETS;
    if (!location_buckets[bucket]) {
        if (locations_count == LOCATIONS_MAX)
            die("the model has too many atomic words");
        locations[locations_count].address = address;
        locations[locations_count].epoch = 0;
        location_buckets[bucket] = (uint8_t)++locations_count;
    }
    struct location *location = &locations[location_buckets[bucket] - 1];
    if (location->epoch != epoch) {
        location->epoch = epoch;
        location->newest = 0;
        location->sc = 0;
        location->stores[0].value = word_get(address, kind);
        memset(&location->stores[0].told, 0, sizeof(struct view));
    }
    return location;
}

static struct plain *plain_at(const void *address)
{
    unsigned bucket = bucket_of(address);
    while (plain_buckets[bucket] && plains[plain_buckets[bucket] - 1].address != address)
        bucket = (bucket + 1) % BUCKETS;
    if (!plain_buckets[bucket]) {
        if (plains_count == PLAINS_MAX)
            die("the model has too many plain words");
        plains[plains_count].address = address;
        plains[plains_count].epoch = 0;
        plain_buckets[bucket] = (uint8_t)++plains_count;
    }
    struct plain *plain = &plains[plain_buckets[bucket] - 1];
    if (plain->epoch != epoch) {
        plain->epoch = epoch;
        plain->writer = -1;
        plain->written = 0;
        memset(plain->read, 0, sizeof plain->read);
    }
    return plain;
}

static void view_join(struct view *view, const struct view *other)
{
    for (int i = 0; i < LOCATIONS_MAX; i++)
        view->stores[i] = view->stores[i] > other->stores[i] ? view->stores[i] : other->stores[i];
    for (int i = 0; i < EXPLORE_THREADS_MAX; i++)
        view->clocks[i] = view->clocks[i] > other->clocks[i] ? view->clocks[i] : other->clocks[i];
}

static bool is_acquire(memory_order order)
{
    return order == memory_order_acquire || order == memory_order_acq_rel ||
           order == memory_order_seq_cst;
}

static bool is_release(memory_order order)
{
    return order == memory_order_release || order == memory_order_acq_rel ||
           order == memory_order_seq_cst;
}

static struct store *store_number(struct location *location, uint16_t number)
{
    return &location->stores[number % STORES_MAX];
}

/* The oldest store that the current thread may read. */
static uint16_t oldest_of(const struct location *location, memory_order order)
{
    uint16_t oldest = views[machine.current].stores[location - locations];
    if (order == memory_order_seq_cst && oldest < location->sc)
        oldest = location->sc;
    if (location->newest - oldest >= STORES_MAX)
        oldest = (uint16_t)(location->newest - STORES_MAX + 1);
    return oldest;
}

/* The current thread reads the store with this number. */
static uint64_t store_read(struct location *location, uint16_t number, memory_order order)
{
    struct view *view = &views[machine.current];
    struct store *store = store_number(location, number);
    if (is_acquire(order))
        view_join(view, &store->told);
    view->stores[location - locations] = number;
    /* A thread that comes later in the order of sequentially consistent operations reads no older one. */
    if (order == memory_order_seq_cst && location->sc < number)
        location->sc = number;
    return store->value;
}

/* A store of the current thread. `base` is what a read-modify-write passes on. */
static void store_add(struct location *location, uint64_t value, memory_order order,
                      const struct view *base)
{
    struct view *view = &views[machine.current];
    uint16_t number = ++location->newest;
    struct store *store = store_number(location, number);
    view->stores[location - locations] = number;
    view->clocks[machine.current]++;
    struct view told;
    if (base)
        told = *base;
    else
        memset(&told, 0, sizeof told);
    if (is_release(order))
        view_join(&told, view);
    else
        told.stores[location - locations] = number;
    store->value = value;
    store->told = told;
    /* What the thread does after this store is not told by it. */
    view->clocks[machine.current]++;
    if (order == memory_order_seq_cst)
        location->sc = number;
}

static void site_use(struct explore_site *site, memory_order order, memory_order failure)
{
    if (__builtin_expect(!site->is_known, false)) {
        site->is_known = true;
        if (sites_count == SITES_MAX)
            die("too many sites");
        sites[sites_count++] = site;
    }
    if (site->is_weakened)
        return;
    site->order = site->used_order = order;
    site->failure = site->used_failure = failure;
}

/* Writes the word in place. Threads that gave way wait for a change. */
static void word_change(void *address, enum explore_kind kind, uint64_t value)
{
    if (machine.yielded && word_get(address, kind) != value)
        machine_progress();
    word_set(address, kind, value);
}

static bool is_weak_now(void)
{
    return machine.is_weak && machine.phase == PHASE_RUN;
}

void memory_begin(void)
{
    epoch++;
    memset(views, 0, sizeof views);
    memset(&wake_view, 0, sizeof wake_view);
    for (int i = 0; i < EXPLORE_THREADS_MAX; i++)
        views[i].clocks[i] = 1;
}

void memory_forget(void)
{
    locations_count = 0;
    plains_count = 0;
    memset(location_buckets, 0, sizeof location_buckets);
    memset(plain_buckets, 0, sizeof plain_buckets);
}

void memory_wake(void)
{
    if (machine.is_weak) {
        view_join(&wake_view, &views[machine.current]);
        views[machine.current].clocks[machine.current]++;
    }
}

void memory_wait_end(void)
{
    if (machine.is_weak)
        view_join(&views[machine.current], &wake_view);
}

/*
 * A barrier in all threads at once. It orders what they may read; what happens before what is left to
 * acquire and release.
 */
void explore_barrier(void)
{
    machine_point();
    if (is_weak_now()) {
        for (unsigned i = 0; i < locations_count; i++) {
            for (int t = 0; t < EXPLORE_THREADS_MAX && locations[i].epoch == epoch; t++)
                views[t].stores[i] = locations[i].newest;
        }
    }
    trace_line("barrier in all threads");
}

const char *memory_order_name(memory_order order)
{
    switch (order) {
    case memory_order_relaxed:
        return "relaxed";
    case memory_order_consume:
        return "consume";
    case memory_order_acquire:
        return "acquire";
    case memory_order_release:
        return "release";
    case memory_order_acq_rel:
        return "acq_rel";
    case memory_order_seq_cst:
        return "seq_cst";
    }
    return "?";
}

struct explore_site *memory_site(int index)
{
    return sites[index];
}

void explore_init(void *address, enum explore_kind kind, uint64_t value)
{
    if (is_weak_now())
        store_add(location_at(address, kind), value, memory_order_relaxed, NULL);
    word_change(address, kind, value);
}

uint64_t explore_load(struct explore_site *site, const void *address, enum explore_kind kind,
                      memory_order order)
{
    machine_point();
    site_use(site, order, order);
    order = site->used_order;
    uint64_t value = word_get(address, kind);
    unsigned age = 0;
    if (is_weak_now()) {
        struct location *location = location_at(address, kind);
        unsigned count = location->newest - oldest_of(location, order) + 1U;
        if (count > 1 && machine.stale_reads &&
            (age = chooser_value_mostly_0(machine.chooser, count)))
            machine.stale_reads--;
        value = store_read(location, (uint16_t)(location->newest - age), order);
    }
    trace_site(site,
               "%s.load %s = %s%s",
               trace_name(address),
               memory_order_name(order),
               trace_word(kind, value),
               age ? " (old)" : "");
    return value;
}

void explore_store(struct explore_site *site, void *address, enum explore_kind kind, uint64_t value,
                   memory_order order)
{
    machine_point();
    site_use(site, order, order);
    order = site->used_order;
    if (is_weak_now())
        store_add(location_at(address, kind), value, order, NULL);
    word_change(address, kind, value);
    trace_site(site,
               "%s.store %s %s",
               trace_name(address),
               memory_order_name(order),
               trace_word(kind, value));
}

/* A read-modify-write that happens: it reads the newest store and passes on what that released. */
static void modify(void *address, enum explore_kind kind, uint64_t value, memory_order order)
{
    if (is_weak_now()) {
        struct location *location = location_at(address, kind);
        uint16_t number = location->newest;
        store_read(location, number, order);
        struct view base = store_number(location, number)->told;
        store_add(location, value, order, &base);
    }
    word_change(address, kind, value);
}

uint64_t explore_modify(struct explore_site *site, void *address, enum explore_kind kind,
                        enum explore_update update, uint64_t operand, memory_order order)
{
    machine_point();
    site_use(site, order, order);
    order = site->used_order;
    uint64_t old = word_get(address, kind);
    uint64_t value = operand;
    switch (update) {
    case EXPLORE_EXCHANGE:
        break;
    case EXPLORE_ADD:
        value = old + operand;
        break;
    case EXPLORE_SUB:
        value = old - operand;
        break;
    case EXPLORE_OR:
        value = old | operand;
        break;
    case EXPLORE_AND:
        value = old & operand;
        break;
    }
    modify(address, kind, value, order);
    trace_site(site,
               "%s.%s %s %s = %s",
               trace_name(address),
               site->operation,
               memory_order_name(order),
               trace_word(kind, operand),
               trace_word(kind, old));
    return old;
}

/* Which store a compare-exchange reads: 0 for the newest, else how old; it fails on an old one. */
static unsigned compare_age(struct location *location, uint64_t expected, memory_order failure)
{
    unsigned ages[STORES_MAX];
    unsigned count = 1;
    ages[0] = 0;
    unsigned oldest = oldest_of(location, failure);
    for (unsigned number = location->newest; number-- > oldest;)
        if (store_number(location, (uint16_t)number)->value != expected)
            ages[count++] = location->newest - number;
    if (count == 1 || !machine.stale_reads)
        return 0;
    unsigned age = ages[chooser_value_mostly_0(machine.chooser, count)];
    if (age)
        machine.stale_reads--;
    return age;
}

bool explore_compare_exchange(struct explore_site *site, void *address, enum explore_kind kind,
                              uint64_t *expected, uint64_t value, memory_order success,
                              memory_order failure)
{
    machine_point();
    site_use(site, success, failure);
    success = site->used_order;
    failure = site->used_failure;
    uint64_t wanted = *expected;
    uint64_t found = word_get(address, kind);
    unsigned age = 0;
    if (is_weak_now()) {
        struct location *location = location_at(address, kind);
        age = compare_age(location, wanted, failure);
        if (age || found != wanted)
            found = store_read(location, (uint16_t)(location->newest - age), failure);
    }
    bool is_done = !age && found == wanted;
    if (is_done)
        modify(address, kind, value, success);
    *expected = found;
    trace_site(site,
               "%s.compare_exchange %s %s -> %s: %s%s%s",
               trace_name(address),
               memory_order_name(is_done ? success : failure),
               trace_word(kind, wanted),
               trace_word(kind, value),
               is_done ? "done" : "found ",
               is_done ? "" : trace_word(kind, found),
               age ? " (old)" : "");
    return is_done;
}

void explore_plain_read(const void *address)
{
    if (!is_weak_now())
        return;
    struct plain *plain = plain_at(address);
    struct view *view = &views[machine.current];
    trace_line("reads %s", trace_name(address));
    if (plain->writer >= 0 && view->clocks[plain->writer] < plain->written)
        explore_fail("race: reads %s, which %s wrote without a happens-before",
                     trace_name(address),
                     machine.model->threads[plain->writer].name);
    plain->read[machine.current] = view->clocks[machine.current];
}

void explore_plain_write(const void *address)
{
    if (!is_weak_now())
        return;
    struct plain *plain = plain_at(address);
    struct view *view = &views[machine.current];
    trace_line("writes %s", trace_name(address));
    if (plain->writer >= 0 && view->clocks[plain->writer] < plain->written)
        explore_fail("race: writes %s, which %s wrote without a happens-before",
                     trace_name(address),
                     machine.model->threads[plain->writer].name);
    for (int i = 0; i < machine.threads; i++)
        if (view->clocks[i] < plain->read[i])
            explore_fail("race: writes %s, which %s read without a happens-before",
                         trace_name(address),
                         machine.model->threads[i].name);
    plain->writer = machine.current;
    plain->written = view->clocks[machine.current];
}
