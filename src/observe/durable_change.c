/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/durable_change.h"

#include <string.h>
#include <troupe/keys.h>

#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "durable/host.h"
#include "durable/kind.h"
#include "durable/record.h"
#include "durable/record_plain.h"
#include "durable/shapes.h"
#include "observe/act.h"
#include "observe/actors.h"
#include "observe/audit.h"
#include "observe/durables.h"
#include "observe/merge.h"
#include "observe/sleeper.h"
#include "store/batch.h"
#include "store/entry.h"
#include "store/read.h"
#include "store/sql.h"
#include "wire/shape.h"

enum { REMOVE_SECONDS = 10 };

/* ---- Changes on their way to the disk. ---- */

enum change_state { CHANGE_PENDING, CHANGE_DONE, CHANGE_ABANDONED };

struct change {
    struct memory_source source;
    struct store_entry *entry;
    struct store_batch *batch;
    struct store_sql *sql;
    tr_status status;
    struct tr_system *system;
    struct audit audit;
    bool is_answered;
    /* The store's thread and the thread of the socket both use this record. The thread that is done
     * with it last frees it. */
    atom32 state;
};

struct change *tr__change_begin(struct visitor *visitor, const struct control_request *request,
                                const struct stored *stored, const char *kind, tr_bytes key,
                                struct store_batch **batch)
{
    struct change *change = source_resize(stored->source, NULL, sizeof *change);
    tr_status status = change ? TR_OK : TR_NO_MEMORY;
    if (status == TR_OK) {
        *change = (struct change){.source = *stored->source, .system = stored->host->system};
        tr__audit_of(&change->audit, visitor, request);
        atom32_init(&change->state, CHANGE_PENDING);
        status = tr__store_enter_alone(stored->host->store, kind, key, &change->entry);
    }
    if (status == TR_OK)
        status = tr__store_batch_new(change->entry, &change->batch);
    if (status == TR_OK) {
        *batch = change->batch;
        return change;
    }
    tr__audit(visitor, request, status);
    if (status == TR_STORE_BUSY)
        tr__visitor_refuse(
            visitor,
            request->id,
            TR_STORE_BUSY,
            "%.64s \"%.256s\" is awake, and what is stored changes only while it is asleep; "
            "troupe sleep KIND KEY lets it sleep, or send it a message",
            kind,
            request->key ? request->key : "");
    else
        tr__stored_refuse(visitor, request, status);
    if (change)
        tr__change_drop(change);
    return NULL;
}

void tr__change_drop(struct change *change)
{
    struct memory_source source = change->source;
    tr__store_batch_free(change->batch);
    if (change->entry)
        tr__store_leave(change->entry);
    source_resize(&source, change, 0);
}

/*
 * Writes the line of the log for a change whose client has gone before the answer. If the client is
 * still there, the answer to it writes that line.
 */
static void left_audit(const struct change *change)
{
    tr__audit_write(change->system, &change->audit, true, tr_status_name(change->status));
}

/* Notes that the batch is on disk or has failed. The store's thread calls it. */
static void on_change_done(void *context, struct store_batch *batch, tr_status status)
{
    struct change *change = context;
    struct memory_source source = change->source;
    uint32_t expected = CHANGE_PENDING;
    tr__store_batch_free(batch);
    tr__store_leave(change->entry);
    if (change->sql)
        tr__pages_stored(&change->sql->pages, 1);
    tr__store_sql_free(change->sql);
    change->status = status;
    /* pairs with change_free, change_step */
    if (!atom32_compare_exchange(
            &change->state, &expected, CHANGE_DONE, ATOM_ACQ_REL, ATOM_ACQUIRE)) {
        left_audit(change);
        source_resize(&source, change, 0);
    }
}

static void change_free(struct visitor *visitor, void *work)
{
    struct change *change = work;
    uint32_t expected = CHANGE_PENDING;
    /* pairs with on_change_done */
    if (atom32_compare_exchange(
            &change->state, &expected, CHANGE_ABANDONED, ATOM_ACQ_REL, ATOM_ACQUIRE))
        return;
    if (!change->is_answered)
        left_audit(change);
    source_resize(visitor->observer->source, change, 0);
}

static void change_answer(struct visitor *visitor, struct change *change, tr_status status)
{
    const struct control_request *request = visitor->request;
    change->is_answered = true;
    tr__audit_write(change->system, &change->audit, false, tr_status_name(status));
    if (status == TR_STALE) {
        tr__visitor_refuse(visitor,
                           request->id,
                           status,
                           "%.64s \"%.256s\" has woken meanwhile: nothing was changed",
                           request->kind ? request->kind : "",
                           request->key ? request->key : "");
        return;
    }
    if (status != TR_OK) {
        tr__stored_refuse(visitor, request, status);
        return;
    }
    tr__visitor_begin(visitor, request->id, false);
    tr__json_string(&visitor->output, "kind", request->kind);
    tr__json_string(&visitor->output, "key", request->key);
    tr__json_bool(&visitor->output, "stored", true);
    tr__visitor_end(visitor);
}

static bool change_step(struct visitor *visitor)
{
    struct change *change = visitor->work;
    if (atom32_load(&change->state, ATOM_ACQUIRE) != CHANGE_DONE) /* pairs with on_change_done */
        return false;
    change_answer(visitor, change, change->status);
    return true;
}

void tr__change_submit(struct visitor *visitor, struct change *change, struct store_sql *sql)
{
    change->sql = sql;
    if (sql)
        tr__pages_submitted(&sql->pages, 1);
    tr_status status = tr__store_submit(change->batch, on_change_done, change);
    if (status == TR_OK) {
        tr__visitor_steps(visitor, JOB_WAIT, change_step, change, change_free);
        return;
    }
    if (sql)
        tr__pages_stored(&sql->pages, 1);
    tr__store_sql_free(sql);
    change_answer(visitor, change, status);
    tr__change_drop(change);
}

/* ---- The state. ---- */

/* Reads the stored state that the request changes. Returns false if the request was refused. */
static bool set_read(struct visitor *visitor, const struct control_request *request,
                     const struct stored *stored, const struct durable_kind *kind, tr_bytes key,
                     tr_bytes *packed)
{
    struct store_state state;
    uint64_t hash;
    tr_status status = tr__store_read_state(stored->reader, request->kind, key, &state);
    if (status == TR_OK && (state.is_doomed || !state.has_state))
        status = TR_NOT_FOUND;
    if (status != TR_OK) {
        tr__stored_refuse(visitor, request, status);
        return false;
    }
    *packed = tr__shape_front_read(state.bytes, &hash);
    if (state.version == kind->version &&
        (!hash || hash == tr__shape_of(kind, kind->declared->state)))
        return true;
    tr__visitor_refuse(visitor,
                       request->id,
                       TR_WRONG_SHAPE,
                       "the stored state is of version %u or has other fields than those of this "
                       "program; a message that changes it stores it as this program has it",
                       state.version & ~STORE_VERSION_HALF);
    return false;
}

/* Puts the new state into the batch. */
static tr_status set_put(const struct durable_kind *kind, struct store_batch *batch,
                         const struct merge *merge)
{
    uint64_t hash = tr__shape_of(kind, kind->declared->state);
    size_t front = hash ? SHAPE_FRONT : 0;
    unsigned char *bytes = tr__store_batch_alloc(batch, front + merge->size);
    if (!bytes)
        return TR_NO_MEMORY;
    if (hash)
        tr__shape_front_write(bytes, hash);
    memcpy(bytes + front, merge->packed, merge->size);
    tr_status status = tr__shapes_put(kind, batch);
    if (status != TR_OK)
        return status;
    return tr__store_put_state(batch, kind->version, (tr_bytes){bytes, front + merge->size});
}

/* Finds the kind of a request in the program. If the program does not have it, refuses the
 * request. */
static struct durable_kind *kind_of(struct visitor *visitor, const struct control_request *request,
                                    const struct stored *stored)
{
    struct durable_kind *kind = tr__stored_kind(stored, request->kind);
    if (!kind)
        tr__visitor_refuse(visitor,
                           request->id,
                           TR_NOT_FOUND,
                           "the program has no durable kind \"%.64s\"",
                           request->kind);
    return kind;
}

void tr__verb_durable_set(struct visitor *visitor, const struct control_request *request)
{
    struct stored stored;
    struct request_key key;
    struct store_batch *batch;
    if (!tr__request_name(visitor, request, &key) || !tr__stored_begin(visitor, request, &stored))
        return;
    struct durable_kind *kind = kind_of(visitor, request, &stored);
    if (!kind)
        return;
    if (kind->declared->options.events) {
        tr__visitor_refuse(visitor,
                           request->id,
                           TR_NOT_SUPPORTED,
                           "the state of a %.64s is made of events and cannot be set",
                           request->kind);
        return;
    }
    tr_bytes key_bytes = request_key_bytes(&key);
    struct change *change =
        tr__change_begin(visitor, request, &stored, request->kind, key_bytes, &batch);
    if (!change)
        return;
    const char *json = request->json ? request->json : "";
    struct merge merge = {.source = stored.source,
                          .type = kind->declared->state,
                          .json = {json, strlen(json)},
                          .takes_secrets = request->secrets};
    if (!set_read(visitor, request, &stored, kind, key_bytes, &merge.before)) {
        tr__change_drop(change);
        return;
    }
    tr_status status = tr__merge(&merge);
    if (status == TR_OK)
        status = set_put(kind, batch, &merge);
    source_resize(stored.source, merge.packed, 0);
    if (status == TR_OK) {
        tr__change_submit(visitor, change, NULL);
        return;
    }
    tr__audit(visitor, request, status);
    tr__visitor_refuse(visitor,
                       request->id,
                       status,
                       "the state is not changed: %s",
                       merge.why[0] ? merge.why : tr_status_text(status));
    tr__change_drop(change);
}

/* ---- The verbs stop, sleep and wake. ---- */

/* Whether the actor exists: it is stored or awake. If not, refuses the request. */
static bool actor_exists(struct visitor *visitor, const struct control_request *request,
                         const struct stored *stored, const struct durable_kind *kind, tr_bytes key)
{
    tr_status status = tr_client_durable_exists(visitor->observer->client, kind->origin, key);
    if (status == TR_OK || tr__stored_is_awake(stored, request->kind, key))
        return true;
    tr__stored_refuse(visitor, request, status);
    return false;
}

void tr__verb_durable_rm(struct visitor *visitor, const struct control_request *request)
{
    static const struct tr_durable_remove remove;
    struct stored stored;
    struct request_key key;
    uint64_t bits;
    tr_client *client = visitor->observer->client;
    if (!tr__request_name(visitor, request, &key) || !tr__stored_begin(visitor, request, &stored))
        return;
    const struct durable_kind *kind = kind_of(visitor, request, &stored);
    tr_bytes bytes = request_key_bytes(&key);
    if (!kind || !actor_exists(visitor, request, &stored, kind, bytes))
        return;
    tr_status status = tr_client_try_durable(client, kind->origin, bytes, &bits);
    if (status != TR_OK) {
        tr__audit(visitor, request, status);
        tr__stored_refuse(visitor, request, status);
        return;
    }
    tr__ask_begin(visitor,
                  request,
                  tr_ref_from_bits(bits),
                  &tr_type_tr_durable_remove,
                  &remove,
                  REMOVE_SECONDS * TR_SECOND);
}

/* Answers a request whose order the actor has got, and leaves a line in the log. */
static void order_end(struct visitor *visitor, const struct control_request *request,
                      tr_status status, const char *path)
{
    tr__audit(visitor, request, status);
    if (status != TR_OK) {
        tr__visitor_refuse(visitor, request->id, status, "%s", tr_status_text(status));
        return;
    }
    tr__visitor_begin(visitor, request->id, false);
    tr__json_string(&visitor->output, "path", path);
    tr__visitor_end(visitor);
}

/* Whether the path of a request names a durable actor. */
static bool is_durable(const char *path)
{
    static const char prefix[] = "/system/durable/";
    return strncmp(path, prefix, sizeof prefix - 1) == 0 &&
           strchr(path + sizeof prefix - 1, '/') != NULL;
}

/* Asks for records of the next turns of an actor. On failure *why gets a sentence. */
static tr_status record_order(struct visitor *visitor, const struct control_request *request,
                              tr_ref actor, const char **why)
{
    struct tr_system *system = visitor->observer->system;
    struct recorder *recorder = recorder_in(system);
    uint32_t count = request->limit ? request->limit : 1;
    struct actor_glance glance;
    *why = NULL;
    if (!recorder)
        *why = "the program runs with --records off";
    else if (request->limit > RECORD_FILES_MAX)
        *why = "at most 16 turns can be recorded";
    else if (is_durable(request->path) && request->failing)
        *why = "turns of durable actors that fail are recorded without an order";
    if (*why)
        return TR_NOT_SUPPORTED;
    if (is_durable(request->path)) {
        tr__record_order(recorder, actor.bits, count);
        return TR_OK;
    }
    if (!tr__actor_glance(system, (uint32_t)actor.bits & system->slots->mask, &glance) ||
        glance.ref != actor.bits)
        return TR_STOPPED;
    *why = tr__record_plain_refusal(system->user.behaviors, glance.behavior);
    return *why ? TR_NOT_SUPPORTED
                : tr__record_plain_order(recorder, actor.bits, count, request->failing);
}

void tr__verb_record(struct visitor *visitor, const struct control_request *request)
{
    const char *why;
    tr_ref actor = tr__visitor_actor(visitor, request);
    if (!actor.bits)
        return;
    tr_status status = record_order(visitor, request, actor, &why);
    if (why)
        tr__visitor_refuse(visitor, request->id, status, "%s", why);
    else
        order_end(visitor, request, status, request->path);
}

/* Answers a request for the sleep of an actor that is asleep. Nothing was left to do. */
static void asleep_answer(struct visitor *visitor, const struct control_request *request)
{
    tr__audit(visitor, request, TR_OK);
    tr__visitor_begin(visitor, request->id, false);
    tr__json_string(&visitor->output, "path", request->path);
    tr__json_bool(&visitor->output, "asleep", true);
    tr__visitor_end(visitor);
}

void tr__verb_sleep(struct visitor *visitor, const struct control_request *request)
{
    struct control_request named = *request;
    struct stored stored;
    struct request_key key;
    struct sleeper sleeper;
    char durable_path[TR_PATH_MAX + 1];
    if ((!request->path || !*request->path) && request->kind) {
        if (!tr__request_name(visitor, request, &key) ||
            !tr__stored_begin(visitor, request, &stored))
            return;
        const struct durable_kind *kind = kind_of(visitor, request, &stored);
        if (!kind)
            return;
        if (!tr__durable_path(kind, request_key_bytes(&key), durable_path)) {
            tr__visitor_refuse(visitor, request->id, TR_NOT_FOUND, "no actor has such a key");
            return;
        }
        named.path = durable_path;
    }
    const char *path = named.path;
    if (path && !tr_system_find(visitor->observer->system, path).bits &&
        tr__sleeper_find(visitor, path, &sleeper) && !sleeper.actor.bits) {
        asleep_answer(visitor, &named);
        return;
    }
    tr_ref actor = tr__visitor_actor(visitor, &named);
    if (!actor.bits || !path)
        return; /* is refused already */
    if (!is_durable(path)) {
        tr__visitor_refuse(visitor,
                           request->id,
                           TR_NOT_SUPPORTED,
                           "%.200s is not durable, and so cannot sleep; suspend holds it",
                           path);
        return;
    }
    /* A durable actor that is asked to stop goes to sleep. */
    order_end(visitor, &named, tr_client_stop(visitor->observer->client, actor), path);
}

void tr__verb_wake(struct visitor *visitor, const struct control_request *request)
{
    struct stored stored;
    struct request_key key;
    tr_actor_info info = {.state = NULL};
    uint64_t bits = 0;
    if (!tr__request_name(visitor, request, &key) || !tr__stored_begin(visitor, request, &stored))
        return;
    const struct durable_kind *kind = kind_of(visitor, request, &stored);
    tr_bytes bytes = request_key_bytes(&key);
    if (!kind || !actor_exists(visitor, request, &stored, kind, bytes))
        return;
    tr_status status = tr_client_try_durable(visitor->observer->client, kind->origin, bytes, &bits);
    if (status == TR_OK)
        (void)tr__observer_find(visitor->observer, tr_ref_from_bits(bits), &info);
    order_end(visitor, request, status, info.path);
}
