/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the tests of backups and of compaction share: a store in a directory under load, with much in it.
 */
#ifndef SUPPORT_STORE_LOAD_H
#define SUPPORT_STORE_LOAD_H

#include "support/stores.h"

#include "os/atomic.h"
#include "store/backup.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

enum { WRITERS = 16, ROUNDS_BEFORE = 200, MUCH = 64 * 1024 };

/* Each writer has one batch on its way at any time: its round, in its state and in a key. */
struct load {
    atom32 is_over;
    atom32 running;
    atom32 finished; /* writers that do not use the parker any more */
    atom64 commits;
    tr_parker *parker;
    struct writer {
        struct load *load;
        struct store_entry *entry;
        atom64 done;    /* the last round that is acknowledged */
        uint64_t round; /* of the batch on its way */
    } writers[WRITERS];
};

static inline void submit(struct writer *writer);

static inline void on_written(void *context, struct store_batch *batch, tr_status status)
{
    const tr_platform *platform = tr_platform_real();
    struct writer *writer = context;
    struct load *load = writer->load;
    ck_assert_int_eq(status, TR_OK);
    tr__store_batch_free(batch);
    atom64_store(&writer->done, writer->round, ATOM_RELEASE);
    atom64_fetch_add(&load->commits, 1, ATOM_RELAXED);
    if (!atom32_load(&load->is_over, ATOM_ACQUIRE)) {
        platform->wake(platform, load->parker);
        submit(writer);
        return;
    }
    atom32_fetch_sub(&load->running, 1, ATOM_ACQ_REL);
    platform->wake(platform, load->parker);
    atom32_fetch_add(&load->finished, 1, ATOM_RELEASE);
}

static inline void submit(struct writer *writer)
{
    struct store_batch *batch = stores_batch(writer->entry);
    char *text = tr__store_batch_alloc(batch, 32);
    ck_assert_ptr_nonnull(text);
    (void)snprintf(text, 32, "%llu", (unsigned long long)++writer->round);
    ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes(text)), TR_OK);
    ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("key"), stores_bytes(text)), TR_OK);
    ck_assert_int_eq(tr__store_submit(batch, on_written, writer), TR_OK);
}

static inline void load_begin(struct load *load, struct store *store)
{
    const tr_platform *platform = tr_platform_real();
    *load = (struct load){.parker = NULL};
    ck_assert_int_eq(platform->parker_new(platform, &load->parker), TR_OK);
    atom32_init(&load->running, WRITERS);
    for (int i = 0; i < WRITERS; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%d", i);
        load->writers[i] = (struct writer){.load = load, .entry = stores_enter(store, "k", key)};
    }
    for (int i = 0; i < WRITERS; i++)
        submit(&load->writers[i]);
}

static inline void load_await(struct load *load, uint64_t commits)
{
    const tr_platform *platform = tr_platform_real();
    uint64_t end = atom64_load(&load->commits, ATOM_RELAXED) + commits;
    while (atom64_load(&load->commits, ATOM_RELAXED) < end)
        platform->park(platform, load->parker, TR_NEVER);
}

static inline void load_end(struct load *load)
{
    const tr_platform *platform = tr_platform_real();
    atom32_store(&load->is_over, 1, ATOM_RELEASE);
    while (atom32_load(&load->running, ATOM_ACQUIRE) > 0)
        platform->park(platform, load->parker, TR_NEVER);
    while (atom32_load(&load->finished, ATOM_ACQUIRE) < WRITERS)
        (void)sched_yield();
    for (int i = 0; i < WRITERS; i++)
        tr__store_leave(load->writers[i].entry);
    platform->parker_free(platform, load->parker);
}

/* A store in a directory, with threads, and a path beside it for the copy. */
struct place {
    struct store_options options;
    char copy[96];
    char part[128];
};

static inline struct place place_make(void)
{
    struct place place = {.options = stores_options(NULL)};
    place.options.path = stores_directory();
    place.options.is_threadless = false;
    (void)snprintf(place.copy, sizeof place.copy, "%s-copy", place.options.path);
    (void)snprintf(place.part, sizeof place.part, "%s.part", place.copy);
    return place;
}

static inline void place_remove(const struct place *place)
{
    stores_remove(place->options.path);
    stores_remove(place->copy);
    stores_remove(place->part);
}

static inline bool is_there(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0;
}

/* More than one step of a backup. */
static inline void put_much(struct store *store)
{
    static char value[MUCH];
    struct store_entry *entry = stores_enter(store, "k", "much");
    for (int i = 0; i < 3 * STORE_BACKUP_STEP / (int)sizeof value; i++) {
        char key[16];
        struct store_batch *batch = stores_batch(entry);
        (void)snprintf(key, sizeof key, "%d", i);
        ck_assert_int_eq(
            tr__store_kv_put(batch, stores_bytes(key), (tr_bytes){value, sizeof value}), TR_OK);
        ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    }
    tr__store_leave(entry);
}

/* A store of several steps, in whose first pages are the rows of the writers. */
static inline void make_much(const struct place *place)
{
    struct store_options options = place->options;
    options.is_threadless = true;
    struct store *store = stores_open(&options);
    for (int i = 0; i < WRITERS; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%d", i);
        struct store_entry *entry = stores_enter(store, "k", key);
        struct store_batch *batch = stores_batch(entry);
        ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes("0")), TR_OK);
        ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("key"), stores_bytes("0")), TR_OK);
        ck_assert_int_eq(stores_commit(store, batch), TR_OK);
        tr__store_leave(entry);
    }
    put_much(store);
    tr__store_close(store);
}

/* A batch that a test waits for. */
struct waited {
    tr_parker *parker;
    atom32 steps; /* 1: it is committed; 2: and the parker is not used any more */
    tr_status status;
};

static inline void on_waited(void *context, struct store_batch *batch, tr_status status)
{
    const tr_platform *platform = tr_platform_real();
    struct waited *waited = context;
    tr__store_batch_free(batch);
    waited->status = status;
    atom32_store(&waited->steps, 1, ATOM_RELEASE);
    platform->wake(platform, waited->parker);
    atom32_store(&waited->steps, 2, ATOM_RELEASE);
}

/* As stores_commit, for a store with threads. */
static inline tr_status commit_await(struct store_batch *batch)
{
    const tr_platform *platform = tr_platform_real();
    struct waited waited = {.status = TR_OK};
    ck_assert_int_eq(platform->parker_new(platform, &waited.parker), TR_OK);
    ck_assert_int_eq(tr__store_submit(batch, on_waited, &waited), TR_OK);
    while (!atom32_load(&waited.steps, ATOM_ACQUIRE))
        platform->park(platform, waited.parker, TR_NEVER);
    while (atom32_load(&waited.steps, ATOM_ACQUIRE) < 2)
        (void)sched_yield();
    platform->parker_free(platform, waited.parker);
    return waited.status;
}

static inline tr_status put_await(struct store_entry *entry, const char *state)
{
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes(state)), TR_OK);
    return commit_await(batch);
}

/* Destroys what make_much has made, so that most pages are free. */
static inline void destroy_much(struct store *store)
{
    struct store_entry *entry = stores_enter(store, "k", "much");
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_destroy(batch), TR_OK);
    ck_assert_int_eq(commit_await(batch), TR_OK);
    tr__store_leave(entry);
}

/* Copies a file of the store into the directory of the copy, if there is one. */
static inline void copy_file(const struct place *place, const char *name)
{
    static char bytes[1 << 16];
    char path[192];
    (void)snprintf(path, sizeof path, "%s/%s", place->options.path, name);
    int from = open(path, O_RDONLY);
    if (from < 0)
        return;
    (void)snprintf(path, sizeof path, "%s/%s", place->copy, name);
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_ge(to, 0);
    for (ssize_t size; (size = read(from, bytes, sizeof bytes)) > 0;)
        ck_assert_int_eq(write(to, bytes, (size_t)size), size);
    (void)close(from);
    (void)close(to);
}

#endif
