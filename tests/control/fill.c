/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fills the store of tests/control/target.c, which must not run, so that it has very many rows:
 *
 *     control_fill DIRECTORY ACTORS ROWS
 *
 * copies the actor a of the kind shelf to that many keys s0000001, s0000002 ..., each with its state and its alarm, and
 * makes an actor `stack` with that many items in its queue, and that many keys.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/platform.h>

#include "store/batch.h"
#include "store/entry.h"
#include "store/read.h"

enum {
    BATCHES = 500, /* batches that are committed together */
    ROWS = 1000    /* rows of one batch */
};

static struct store *store;
static unsigned waiting;

static void check(tr_status status, const char *what)
{
    if (status == TR_OK)
        return;
    (void)fprintf(stderr, "control_fill: %s: %s\n", what, tr_status_name(status));
    exit(1);
}

/* ---- What is copied. ---- */

struct model {
    uint32_t version;
    size_t state_size;
    size_t alarm_size;
    size_t item_size;
    tr_time due_ns;
    char alarm[TR_ALARM_NAME_MAX + 1];
    unsigned char state_bytes[4096];
    unsigned char alarm_bytes[4096];
    unsigned char item_bytes[4096];
};

static size_t copy(unsigned char to[4096], tr_bytes bytes)
{
    check(bytes.size <= 4096 ? TR_OK : TR_TOO_LARGE, "what is copied");
    memcpy(to, bytes.data, bytes.size);
    return bytes.size;
}

static bool on_alarm(void *context, const struct store_row *row)
{
    struct model *model = context;
    (void)snprintf(model->alarm, sizeof model->alarm, "%s", row->name);
    model->alarm_size = copy(model->alarm_bytes, row->bytes);
    model->due_ns = row->due_wall_ns;
    return true;
}

static bool on_item(void *context, const struct store_row *row)
{
    struct model *model = context;
    model->item_size = copy(model->item_bytes, row->bytes);
    return true;
}

static void model_read(struct model *model)
{
    static const tr_bytes key = {"a", 1};
    struct store_reader *reader;
    struct store_state state;
    check(tr__store_reader_new(store, &reader), "a reader");
    check(tr__store_read_state(reader, "shelf", key, &state), "the state");
    model->version = state.version;
    model->state_size = copy(model->state_bytes, state.bytes);
    check(tr__store_list_alarms(reader, "shelf", key, on_alarm, model), "alarms");
    check(tr__store_list_queue(reader, "shelf", key, "returns", 0, 0, on_item, model), "items");
    tr__store_reader_free(reader);
}

/* ---- What is stored. ---- */

static void on_done(void *context, struct store_batch *batch, tr_status status)
{
    (void)context;
    check(status, "a commit");
    tr__store_batch_free(batch);
    waiting--;
}

static void submit(struct store_batch *batch)
{
    check(tr__store_submit(batch, on_done, NULL), "a batch");
    if (++waiting < BATCHES)
        return;
    while (tr__store_work(store))
        continue;
}

static struct store_entry *enter(const char *key)
{
    struct store_entry *entry;
    check(tr__store_enter(store, "shelf", (tr_bytes){key, strlen(key)}, NULL, NULL, &entry), key);
    return entry;
}

static struct store_batch *batch_new(struct store_entry *entry, const struct model *model)
{
    struct store_batch *batch;
    check(tr__store_batch_new(entry, &batch), "a batch");
    check(tr__store_put_state(
              batch, model->version, (tr_bytes){model->state_bytes, model->state_size}),
          "a state");
    return batch;
}

static void actors_make(const struct model *model, unsigned count)
{
    for (unsigned i = 1; i <= count; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "s%07u", i);
        struct store_entry *entry = enter(key);
        struct store_batch *batch = batch_new(entry, model);
        check(tr__store_alarm_set(batch,
                                  model->alarm,
                                  model->due_ns,
                                  (tr_bytes){model->alarm_bytes, model->alarm_size}),
              "an alarm");
        submit(batch);
        tr__store_leave(entry);
    }
}

static void rows_make(const struct model *model, unsigned count)
{
    struct store_entry *entry = enter("stack");
    for (unsigned i = 0; i < count;) {
        struct store_batch *batch = batch_new(entry, model);
        for (unsigned end = i + ROWS < count ? i + ROWS : count; i < end; i++) {
            char key[16];
            int size = snprintf(key, sizeof key, "key-%07u", i);
            tr_bytes bytes = {model->item_bytes, model->item_size};
            check(tr__store_queue_push(batch, "returns", i + 1, bytes), "an item");
            check(tr__store_kv_put(batch, (tr_bytes){key, (size_t)size}, bytes), "a key");
        }
        submit(batch);
    }
    tr__store_leave(entry);
}

int main(int argc, char **argv)
{
    static struct model model;
    tr_error error = {.status = TR_OK};
    if (argc != 4) {
        (void)fprintf(stderr, "control_fill DIRECTORY ACTORS ROWS\n");
        return 2;
    }
    const struct store_options options = {.source = {.platform = tr_platform_real()},
                                          .path = argv[1],
                                          .program = "target",
                                          .is_threadless = true,
                                          .is_sync_off = true};
    check(tr__store_open(&options, &store, &error), error.text);
    model_read(&model);
    actors_make(&model, (unsigned)strtoul(argv[2], NULL, 10));
    rows_make(&model, (unsigned)strtoul(argv[3], NULL, 10));
    while (tr__store_work(store))
        continue;
    tr__store_close(store);
    return waiting ? 1 : 0;
}
