/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/request_ledger.h"

#include <string.h>

#include "durable/commit.h"
#include "durable/request.h"
#include "store/read.h"

enum {
    TRIM_MAX = 32,   /* one request removes at most this many records */
    EACH_BYTES = 64, /* what a record costs in addition to its bytes and its id */
};

/* If the oldest record is not in the store yet, it is looked for again after this delay. */
#define LOOK_AGAIN_NS TR_SECOND

tr_time tr__request_now(const struct worker *worker)
{
    const tr_platform *platform = worker->system->platform;
    return platform->wall_now(platform);
}

/* ---- Reading. ---- */

/* A walk over the stored records of an actor. */
struct ledger_walk {
    tr_time now_ns;
    tr_status status;
    uint64_t expired;     /* number of the last record that had expired; 0: none */
    uint64_t count;       /* visited */
    struct store_row row; /* row of the last visited record, without its bytes */
    struct request_record record;
    size_t size;
    bool is_fresh; /* the last visited record has not expired */
};

static size_t record_weight(size_t id_size, size_t size)
{
    return id_size + size + EACH_BYTES;
}

static bool on_request(void *context, const struct store_row *row)
{
    struct ledger_walk *walk = context;
    walk->status = tr__request_read(row->bytes, &walk->record);
    if (walk->status != TR_OK)
        return false;
    walk->count++;
    walk->row = *row;
    walk->size = record_weight(row->key.size, row->bytes.size);
    walk->is_fresh = walk->record.until_wall_ns > walk->now_ns;
    if (!walk->is_fresh)
        walk->expired = row->id;
    return !walk->is_fresh;
}

static tr_status ledger_list(struct worker *worker, const struct durable_actor *actor,
                             uint64_t from, bool is_last, size_t limit, struct ledger_walk *walk)
{
    const struct durable_kind *kind = actor->kind;
    *walk = (struct ledger_walk){.now_ns = tr__request_now(worker)};
    tr_status status = tr__store_list_requests(host_context(kind->host, worker)->reader,
                                               kind->declared->name,
                                               actor_key(actor),
                                               from,
                                               is_last,
                                               limit,
                                               on_request,
                                               walk);
    return status == TR_OK ? walk->status : status;
}

static void first_set(struct requests *requests, const struct ledger_walk *walk)
{
    requests->first = walk->row.id;
    requests->first_before = walk->record.before;
    requests->first_until_ns = walk->record.until_wall_ns;
}

static tr_status ledger_load(struct worker *worker, const struct durable_actor *actor)
{
    struct requests *requests = actor->requests;
    struct ledger_walk walk;
    requests->first_until_ns = TR_NEVER;
    if (actor->is_new) {
        requests->is_loaded = true;
        return TR_OK;
    }
    tr_status status = ledger_list(worker, actor, 0, true, 1, &walk);
    if (status == TR_OK && walk.count) {
        requests->last = walk.row.id;
        requests->total = walk.record.before + walk.size;
        status = ledger_list(worker, actor, 0, false, 1, &walk);
        if (status == TR_OK && walk.count)
            first_set(requests, &walk);
    }
    requests->is_loaded = status == TR_OK;
    return status;
}

/* ---- Removing. ---- */

/* Removes expired records, the oldest first. Removes at most TRIM_MAX. */
static tr_status ledger_trim(struct worker *worker, struct durable_actor *actor)
{
    struct requests *requests = actor->requests;
    struct ledger_walk walk;
    tr_status status = ledger_list(worker, actor, requests->first, false, TRIM_MAX + 1, &walk);
    if (status != TR_OK)
        return status;
    if (!walk.expired) {
        /* first_until_ns has passed, but no record that is on disk has expired. */
        if (walk.count)
            first_set(requests, &walk); /* the walk has stopped at the oldest record in the store */
        else
            /* records may still be on their way to the disk, so look again later */
            requests->first_until_ns = walk.now_ns + LOOK_AGAIN_NS;
        return TR_OK;
    }
    struct store_batch *batch = tr__commit_batch(actor);
    status = batch ? tr__store_request_trim(batch, walk.expired) : TR_NO_MEMORY;
    if (status != TR_OK)
        return status;
    if (walk.is_fresh || walk.count > TRIM_MAX) {
        first_set(requests, &walk);
        /* If the last record of a full page has expired, it was removed too. Then the next page
         * begins after this record. */
        requests->first += !walk.is_fresh;
        requests->first_before += walk.is_fresh ? 0 : walk.size;
    } else {
        /* All records in the store were removed. Only records that are on their way to the disk are
         * left. */
        requests->first = walk.expired + 1;
        requests->first_before = walk.record.before + walk.size;
        requests->first_until_ns = walk.now_ns + LOOK_AGAIN_NS;
    }
    return TR_OK;
}

tr_status tr__request_admit(struct worker *worker, struct durable_actor *actor)
{
    struct requests *requests = actor->requests;
    tr_status status = requests->is_loaded ? TR_OK : ledger_load(worker, actor);
    if (status == TR_OK && requests->first_until_ns <= tr__request_now(worker))
        status = ledger_trim(worker, actor);
    if (status != TR_OK)
        return status;
    return requests->total - requests->first_before >= actor->kind->answers_bytes_max ? TR_LIMIT
                                                                                      : TR_OK;
}

/* ---- Adding. ---- */

tr_status tr__request_put(struct worker *worker, struct durable_actor *actor, tr_bytes id,
                          struct request_record *record, unsigned char **kept, size_t *kept_size)
{
    struct requests *requests = actor->requests;
    record->before = requests->total;
    size_t size = tr__request_size(record);
    struct store_batch *batch = tr__commit_batch(actor);
    unsigned char *bytes = batch ? tr__store_batch_alloc(batch, size) : NULL;
    unsigned char *copy = bytes && kept ? source_resize(&worker->source, NULL, size) : NULL;
    if (!bytes || (kept && !copy))
        return TR_NO_MEMORY;
    tr__request_write(record, bytes);
    tr_status status =
        tr__store_request_put(batch, id, requests->last + 1, (tr_bytes){bytes, size});
    if (status != TR_OK) {
        source_resize(&worker->source, copy, 0);
        return status;
    }
    requests->last++;
    if (requests->first_until_ns == TR_NEVER) {
        requests->first = requests->last;
        requests->first_before = record->before;
        requests->first_until_ns = record->until_wall_ns;
    }
    requests->total += record_weight(id.size, size);
    if (kept) {
        memcpy(copy, bytes, size);
        *kept = copy;
        *kept_size = size;
    }
    return TR_OK;
}
