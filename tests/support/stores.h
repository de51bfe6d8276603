/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Short words for tests of the store: a threadless one on a disk in memory, unless a test says otherwise.
 */
#ifndef TROUPE_TESTS_SUPPORT_STORES_H
#define TROUPE_TESTS_SUPPORT_STORES_H

#include "store/disk.h"
#include "store/batch.h"
#include "store/entry.h"
#include "store/read.h"
#include "store/store.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/platform.h>
#include <unistd.h>

#define STORES_PROGRAM "test"

static inline void stores_no_log(const tr_platform *platform, tr_level level, const char *path,
                                 const char *text)
{
    (void)platform;
    (void)level;
    (void)path;
    (void)text;
}

/** The real world without its log. */
static inline struct memory_source stores_source(void)
{
    static tr_platform platform;
    platform = *tr_platform_real();
    platform.log = stores_no_log;
    return (struct memory_source){.platform = &platform};
}

static inline struct store_options stores_options(struct store_disk *disk)
{
    return (struct store_options){
        .source = stores_source(), .program = STORES_PROGRAM, .is_threadless = true, .disk = disk};
}

static inline struct store_disk *stores_disk(bool is_tracked)
{
    struct store_disk *disk;
    struct memory_source source = stores_source();
    ck_assert_int_eq(tr__disk_new(&source, is_tracked, &disk), TR_OK);
    return disk;
}

static inline struct store *stores_open(const struct store_options *options)
{
    struct store *store = NULL;
    tr_error error = {0};
    tr_status status = tr__store_open(options, &store, &error);
    if (status == TR_NOT_SUPPORTED)
        test_skip("built without SQLite");
    ck_assert_msg(status == TR_OK, "%s: %s", tr_status_name(status), error.text);
    return store;
}

static inline tr_bytes stores_bytes(const char *text)
{
    return (tr_bytes){text, strlen(text)};
}

static inline struct store_entry *stores_enter(struct store *store, const char *kind,
                                               const char *key)
{
    struct store_entry *entry = NULL;
    tr_status status = tr__store_enter(store, kind, stores_bytes(key), NULL, NULL, &entry);
    ck_assert_int_eq(status, TR_OK);
    return entry;
}

static inline struct store_batch *stores_batch(struct store_entry *entry)
{
    struct store_batch *batch = NULL;
    ck_assert_int_eq(tr__store_batch_new(entry, &batch), TR_OK);
    return batch;
}

/** What became of a batch: 1 until it is told. */
static inline void stores_on_done(void *context, struct store_batch *batch, tr_status status)
{
    *(tr_status *)context = status;
    tr__store_batch_free(batch);
}

enum { STORES_WAITING = 1 };

/** Submits, commits and gives the outcome. Of a threadless store. */
static inline tr_status stores_commit(struct store *store, struct store_batch *batch)
{
    tr_status outcome = (tr_status)STORES_WAITING;
    tr_status status = tr__store_submit(batch, stores_on_done, &outcome);
    if (status != TR_OK) {
        tr__store_batch_free(batch);
        return status;
    }
    while (tr__store_work(store))
        continue;
    ck_assert_int_ne((int)outcome, STORES_WAITING);
    return outcome;
}

/** Puts a state by itself. */
static inline tr_status stores_put(struct store *store, struct store_entry *entry, uint32_t version,
                                   const char *state)
{
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_put_state(batch, version, stores_bytes(state)), TR_OK);
    return stores_commit(store, batch);
}

static inline struct store_reader *stores_reader(struct store *store)
{
    struct store_reader *reader = NULL;
    ck_assert_int_eq(tr__store_reader_new(store, &reader), TR_OK);
    return reader;
}

static inline bool stores_is(tr_bytes bytes, const char *text)
{
    return bytes.size == strlen(text) && memcmp(bytes.data, text, bytes.size) == 0;
}

/** The state of an actor as a text in `text`, or the name of the status that reading it gave. */
static inline const char *stores_state(struct store_reader *reader, const char *kind,
                                       const char *key)
{
    static char text[256];
    struct store_state state;
    tr_status status = tr__store_read_state(reader, kind, stores_bytes(key), &state);
    if (status != TR_OK)
        return tr_status_name(status);
    if (!state.has_state)
        return "none";
    (void)snprintf(
        text, sizeof text, "%.*s", (int)state.bytes.size, (const char *)state.bytes.data);
    return text;
}

static inline const char *stores_kv(struct store_reader *reader, const char *kind, const char *key,
                                    const char *kv_key)
{
    static char text[256];
    tr_bytes value;
    tr_status status =
        tr__store_read_kv(reader, kind, stores_bytes(key), stores_bytes(kv_key), &value);
    if (status != TR_OK)
        return tr_status_name(status);
    (void)snprintf(text, sizeof text, "%.*s", (int)value.size, (const char *)value.data);
    return text;
}

/** Gathers rows as a text: "key=value " for KV and queues ("name:id=value "). */
struct stores_text {
    char text[8192];
    size_t size;
    size_t rows;
    size_t rows_max; /* 0: no limit */
};

static inline bool stores_visit(void *context, const struct store_row *row)
{
    struct stores_text *out = context;
    char *end = out->text + out->size;
    size_t left = sizeof out->text - out->size;
    int written = 0;
    if (row->name && row->due_wall_ns)
        written = snprintf(end,
                           left,
                           "%s@%lld=%.*s ",
                           row->name,
                           (long long)row->due_wall_ns,
                           (int)row->bytes.size,
                           (const char *)row->bytes.data);
    else if (row->name)
        written = snprintf(end,
                           left,
                           "%s:%llu=%.*s ",
                           row->name,
                           (unsigned long long)row->id,
                           (int)row->bytes.size,
                           (const char *)row->bytes.data);
    else if (row->key.size > 0)
        written = snprintf(end,
                           left,
                           "%.*s=%.*s ",
                           (int)row->key.size,
                           (const char *)row->key.data,
                           (int)row->bytes.size,
                           (const char *)row->bytes.data);
    else
        written = snprintf(end,
                           left,
                           "%llu=%.*s ",
                           (unsigned long long)row->id,
                           (int)row->bytes.size,
                           (const char *)row->bytes.data);
    ck_assert_uint_lt((size_t)written, left);
    out->size += (size_t)written;
    out->rows++;
    return out->rows != out->rows_max;
}

/** A new directory below that of temporary files. */
static inline const char *stores_directory(void)
{
    static char path[64];
    (void)snprintf(path, sizeof path, "/tmp/troupe-store-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(path));
    return path;
}

static inline void stores_remove(const char *path)
{
    static const char *const names[] = {
        "lock", "troupe.db", "troupe.db-log", "troupe.db-undo", "troupe.db-wal"};
    char file[192];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(file, sizeof file, "%s/%s", path, names[i]);
        (void)unlink(file);
    }
    (void)rmdir(path);
}

#endif
