/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes what a store finds on its disk: the database, its rows, and the log that a crash left.
 *
 * The first byte says which disk: one with a log, or one that was closed, whose pages get their sums after
 * the changes, so that what is wrong is in trees and rows. Then commands of five bytes: what to do with which
 * file, a place, and a value. A store may refuse what it finds, wholly or row by row; what it gives out was
 * written, for that actor and in that place.
 */
#include "store/disk.h"
#include "store/sqlite/page_sum.h"
#include "store/batch.h"
#include "store/entry.h"
#include "store/read.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>
#include <troupe/platform.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ACTORS = 3, ROUNDS = 3, VALUE_MAX = 6000, COMMAND = 5, COMMANDS_MAX = 64 };

static const char *const keys[ACTORS] = {"anna", "bert", "cora"};

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void no_log(const tr_platform *platform, tr_level level, const char *path, const char *text)
{
    (void)platform;
    (void)level;
    (void)path;
    (void)text;
}

static struct store_options options_of(struct store_disk *disk)
{
    static tr_platform platform;
    platform = *tr_platform_real();
    platform.log = no_log;
    return (struct store_options){
        .source = {.platform = &platform}, .program = "fuzz", .is_threadless = true, .disk = disk};
}

static tr_bytes bytes_of(const char *text)
{
    return (tr_bytes){text, strlen(text)};
}

/* What an actor writes in a round: in a page, and of one actor beyond it. */
static tr_bytes value_of(int actor, unsigned round)
{
    static char value[VALUE_MAX];
    size_t size = actor == 1 ? VALUE_MAX : (size_t)(100 + actor * 50);
    memset(value, (int)('a' + (unsigned)actor * ROUNDS + round), size);
    return (tr_bytes){value, size};
}

static bool is_written(int actor, tr_bytes bytes)
{
    for (unsigned round = 1; round <= ROUNDS; round++) {
        tr_bytes value = value_of(actor, round);
        if (bytes.size == value.size && memcmp(bytes.data, value.data, value.size) == 0)
            return true;
    }
    return false;
}

static void on_done(void *context, struct store_batch *batch, tr_status status)
{
    *(tr_status *)context = status;
    tr__store_batch_free(batch);
}

static tr_status write_round(struct store *store, int actor, unsigned round)
{
    struct store_entry *entry;
    struct store_batch *batch;
    tr_status outcome = TR_OK;
    tr_bytes value = value_of(actor, round);
    tr_status status = tr__store_enter(store, "k", bytes_of(keys[actor]), NULL, NULL, &entry);
    if (status != TR_OK)
        return status;
    require(tr__store_batch_new(entry, &batch) == TR_OK);
    require(tr__store_put_state(batch, round, value) == TR_OK);
    require(tr__store_kv_put(batch, bytes_of("k"), value) == TR_OK);
    require(tr__store_alarm_set(batch, "alarm", (tr_time)round, value) == TR_OK);
    require(tr__store_queue_push(batch, "q", round, value) == TR_OK);
    require(tr__store_event_append(batch, round - 1, value) == TR_OK);
    require(tr__store_snapshot_put(batch, round, 1, value) == TR_OK);
    status = tr__store_submit(batch, on_done, &outcome);
    if (status != TR_OK)
        tr__store_batch_free(batch);
    while (tr__store_work(store))
        continue;
    tr__store_leave(entry);
    return status == TR_OK ? outcome : status;
}

/* The disk of a store that wrote some rounds: as it is while it runs, or after it was closed. */
static struct store_disk *image_of(bool is_closed)
{
    struct store_disk *disk;
    struct store_disk *image = NULL;
    struct store *store;
    tr_error error;
    struct store_options options = options_of(NULL);
    require(tr__disk_new(&options.source, true, &disk) == TR_OK);
    options.disk = disk;
    require(tr__store_open(&options, &store, &error) == TR_OK);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        for (int actor = 0; actor < ACTORS; actor++)
            require(write_round(store, actor, round) == TR_OK);
    }
    if (!is_closed)
        require(tr__disk_clone(disk, &image) == TR_OK);
    tr__store_close(store);
    if (is_closed)
        require(tr__disk_clone(disk, &image) == TR_OK);
    tr__disk_free(disk);
    return image;
}

static void change(struct store_disk *disk, const uint8_t *command)
{
    struct disk_file *file;
    const char *name = command[0] & 1 ? "troupe.db-log" : "troupe.db";
    size_t length = tr__disk_size(disk, name);
    size_t place = (size_t)command[1] << 16 | (size_t)command[2] << 8 | command[3];
    if (length == 0)
        return;
    place %= length;
    if (!(command[0] & 2)) {
        (void)tr__disk_flip(disk, name, place, command[4]);
        return;
    }
    require(tr__disk_open(disk, name, false, &file) == TR_OK);
    if (command[0] & 4) {
        require(tr__disk_truncate(file, place) == TR_OK);
    } else {
        uint8_t word[2] = {command[4], (uint8_t)(command[0] >> 3)};
        require(tr__disk_write(file, word, sizeof word, place) == TR_OK);
    }
    tr__disk_close(file);
}

static void mend_pages(struct store_disk *disk)
{
    /* The sum of the first page is that of a page with the magic of SQLite, in place of the store's. */
    static const char magic[16] = "SQLite format 3";
    struct disk_file *file;
    unsigned char page[PAGE_SIZE];
    unsigned char first[sizeof magic];
    size_t got;
    if (tr__disk_open(disk, "troupe.db", false, &file) != TR_OK)
        return;
    for (uint64_t i = 0; (i + 1) * PAGE_SIZE <= tr__disk_file_size(file); i++) {
        require(tr__disk_read(file, page, PAGE_SIZE, i * PAGE_SIZE, &got) == TR_OK);
        memcpy(first, page, sizeof first);
        if (i == 0)
            memcpy(page, magic, sizeof magic);
        page_seal(page, i + 1);
        memcpy(page, first, sizeof first);
        require(tr__disk_write(file, page, PAGE_SIZE, i * PAGE_SIZE) == TR_OK);
    }
    tr__disk_close(file);
}

static bool visit(void *context, const struct store_row *row)
{
    require(is_written(*(const int *)context, row->bytes));
    return true;
}

/* Whether the state could be read. */
static bool look(struct store_reader *reader, int actor)
{
    bool has_state = false;
    struct store_state state;
    struct store_snapshot snapshot;
    tr_bytes value;
    tr_bytes key = bytes_of(keys[actor]);
    if (tr__store_read_state(reader, "k", key, &state) == TR_OK && state.has_state) {
        has_state = true;
        require(state.version >= 1 && state.version <= ROUNDS);
        tr_bytes written = value_of(actor, state.version);
        require(state.bytes.size == written.size &&
                memcmp(state.bytes.data, written.data, written.size) == 0);
    }
    if (tr__store_read_kv(reader, "k", key, bytes_of("k"), &value) == TR_OK)
        require(is_written(actor, value));
    if (tr__store_read_snapshot(reader, "k", key, UINT64_MAX, &snapshot) == TR_OK)
        require(is_written(actor, snapshot.bytes));
    const struct store_range all = {0};
    tr_status status = tr__store_list_kv(reader, "k", key, &all, visit, &actor);
    status |= tr__store_list_alarms(reader, "k", key, visit, &actor);
    status |= tr__store_list_queues(reader, "k", key, NULL, 0, 0, visit, &actor);
    status |= tr__store_list_events(reader, "k", key, 0, UINT64_MAX, 0, visit, &actor);
    (void)status;
    return has_state;
}

/* What can be saved of it is right, and opens. */
static void save(struct store_disk *from)
{
    struct store_disk *into;
    struct store *store = NULL;
    struct store_reader *reader = NULL;
    struct store_salvage report;
    tr_error error;
    struct store_options from_options = options_of(from);
    require(tr__disk_new(&from_options.source, false, &into) == TR_OK);
    struct store_options into_options = options_of(into);
    if (tr__store_salvage(&from_options, &into_options, &report, NULL, NULL, &error) == TR_OK) {
        uint64_t states = 0;
        require(tr__store_open(&into_options, &store, &error) == TR_OK);
        require(tr__store_reader_new(store, &reader) == TR_OK);
        for (int actor = 0; actor < ACTORS; actor++)
            states += look(reader, actor);
        require(states <= report.copied);
        tr__store_reader_free(reader);
        tr__store_close(store);
    }
    tr__disk_free(into);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct store_disk *images[2];
    if (!images[0]) {
        images[0] = image_of(false);
        images[1] = image_of(true);
    }
    if (size == 0)
        return 0;
    bool is_closed = data[0] & 1;
    struct store_disk *disk;
    require(tr__disk_clone(images[is_closed], &disk) == TR_OK);
    size_t commands = (size - 1) / COMMAND;
    for (size_t i = 0; i < commands && i < COMMANDS_MAX; i++)
        change(disk, data + 1 + i * COMMAND);
    if (is_closed)
        mend_pages(disk);
    if (data[0] & 2)
        save(disk);

    struct store *store = NULL;
    struct store_reader *reader = NULL;
    tr_error error;
    int states = 0;
    struct store_options options = options_of(disk);
    if (tr__store_open(&options, &store, &error) == TR_OK) {
        if (tr__store_reader_new(store, &reader) == TR_OK) {
            for (int actor = 0; actor < ACTORS; actor++)
                states += look(reader, actor);
        }
        tr__store_reader_free(reader);
        (void)!write_round(store, 0, 1);
        tr__store_close(store);
    }
    tr__disk_free(disk);
    require(states == ACTORS || commands > 0);
    return 0;
}
