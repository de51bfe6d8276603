/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Group commit. One transaction has many batches, and stores each of them completely or not at all.
 *
 * Two things are checked before a batch changes anything: whether its generation is the latest of
 * the row, and whether its events follow the stored ones. So an ordinary refusal changes nothing,
 * and no savepoints are needed. If a batch fails later (a page cannot be trusted, or there are too
 * many alarms), the whole transaction is rolled back. It is then repeated without that batch.
 *
 * An entry keeps what is known about the row of its actor (struct store_known). Every change of the
 * row names the seal that it expects. If the row has another seal, nothing changes and the batch is
 * stale. When a transaction is rolled back, the entries of the group drop what they know about
 * their rows.
 */
#include "store/sqlite/commit.h"

#include "store/sqlite/bury.h"
#include "store/sqlite/request.h"
#include "store/sqlite/seal.h"
#include "store/sqlite/shape.h"

#include "base/assert.h"

/* The batch that is being applied. */
struct work {
    struct store_session *session;
    struct link *link;
    struct store_entry *entry;
    struct store_known *known;
    tr_bytes name;
    /* The batch has changed something. If it fails now, the transaction must be rolled back. */
    bool has_changed;
};

/* What a batch changes in the row of its actor. */
struct plan {
    /* The first write after the last destroy of the batch. Writes before that destroy have no
     * effect. */
    const struct store_op *first;
    /* the last write of a state; NULL: the batch does not write the state */
    const struct store_op *state;
    /* The number of the actor's newest event when the batch is stored, even if this event was
     * trimmed. 0: the actor has had no event. */
    uint64_t sequence;
    size_t alarms_set;
    bool dooms;
    bool destroys;
};

static uint64_t commit_clamp(uint64_t number)
{
    return number > STORE_NUMBER_MAX ? STORE_NUMBER_MAX : number;
}

/* Reads the row of the actor, and checks its seal. */
static tr_status find_row(struct work *work)
{
    struct store_known *known = work->known;
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(work->link, SQL_ACTOR_FIND, &status);
    if (!statement)
        return status;
    tr__link_bind_bytes(statement, 1, work->name);
    int result = sqlite3_step(statement);
    *known = (struct store_known){.is_there = result == SQLITE_ROW};
    status = tr__link_status(result);
    if (result == SQLITE_ROW) {
        struct store_generation generation;
        known->id = sqlite3_column_int64(statement, 0);
        tr_bytes sealed = tr__link_bytes(statement, 1);
        uint64_t version = (uint64_t)sqlite3_column_int64(statement, 2);
        known->version = (uint32_t)version;
        known->is_doomed = version & SEAL_DOOMED;
        known->sequence = (uint64_t)sqlite3_column_int64(statement, 3);
        known->has_state = sqlite3_column_type(statement, 4) != SQLITE_NULL;
        tr_bytes state = tr__link_bytes(statement, 4);
        known->state_sum = seal_state_sum(work->session->key, state);
        if (sqlite3_errcode(work->link->database) == SQLITE_NOMEM) {
            status = TR_NO_MEMORY;
        } else if (!seal_generation(sealed, &generation)) {
            status = TR_STORE_CORRUPT;
        } else {
            struct seal seal = seal_actor(work->session->key,
                                          work->name,
                                          generation,
                                          version,
                                          known->sequence,
                                          known->has_state,
                                          known->state_sum);
            memcpy(known->seal, sealed.data, SEAL_SIZE);
            if (!seal_fits(&seal, sealed))
                status = TR_STORE_CORRUPT;
            else if (store_generation_compare(generation, work->entry->generation) > 0)
                status = TR_STALE;
        }
    }
    (void)sqlite3_reset(statement);
    known->is_known = status == TR_OK;
    return status;
}

/* Plans what the batch changes, but changes nothing yet. Fails with TR_STALE if the events of the
 * batch do not follow the stored events. */
static tr_status make_plan(const struct work *work, const struct store_batch *batch,
                           struct plan *plan)
{
    *plan = (struct plan){.first = batch->first, .sequence = work->known->sequence};
    for (const struct store_op *op = batch->first; op; op = op->next) {
        switch (op->kind) {
        case STORE_PUT_STATE:
            plan->state = op;
            break;
        case STORE_EVENT_APPEND:
            if (op->number != plan->sequence)
                return TR_STALE;
            plan->sequence++;
            break;
        case STORE_ALARM_SET:
            plan->alarms_set++;
            break;
        case STORE_DOOM:
            plan->dooms = true;
            break;
        case STORE_DESTROY:
            *plan = (struct plan){.first = op->next, .destroys = true};
            break;
        case STORE_KV_PUT:
        case STORE_KV_DELETE:
        case STORE_KV_DELETE_RANGE:
        case STORE_ALARM_CLEAR:
        case STORE_ALARM_CLEAR_ALL:
        case STORE_QUEUE_PUSH:
        case STORE_QUEUE_REMOVE:
        case STORE_EVENT_TRIM:
        case STORE_SNAPSHOT_PUT:
        case STORE_SNAPSHOT_TRIM:
        case STORE_PAGE_PUT:
        case STORE_REQUEST_PUT:
        case STORE_REQUEST_TRIM:
            break;
        }
    }
    return TR_OK;
}

/* Runs a statement. Its first argument is the actor. The caller has bound the other arguments. */
static tr_status commit_run(struct work *work, sqlite3_stmt *statement)
{
    work->has_changed = true;
    tr__link_bind_number(statement, 1, work->known->id);
    return tr__link_run(statement);
}

/* Runs a statement that changes the row of the actor. If the statement does not find the row with
 * the known seal, fails with TR_STALE. */
static tr_status run_on_row(struct work *work, sqlite3_stmt *statement)
{
    work->has_changed = true;
    tr_status status = tr__link_run(statement);
    if (status == TR_OK && sqlite3_changes(work->link->database) != 1)
        status = TR_STALE;
    return status;
}

static tr_status commit_destroy(struct work *work)
{
    struct store_known *known = work->known;
    if (!known->is_there)
        return TR_OK;
    work->has_changed = true;
    tr_status status = tr__bury(work->session, known->id, (tr_bytes){known->seal, SEAL_SIZE});
    *known = (struct store_known){.is_known = true};
    return status;
}

/*
 * For a batch that does not change the row of the actor: checks that the row still has the known seal. Then no other
 * entry has changed the actor.
 */
static tr_status check_row(struct work *work)
{
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(work->link, SQL_ACTOR_CHECK, &status);
    if (!statement)
        return status;
    tr__link_bind_number(statement, 1, work->known->id);
    tr__link_bind_bytes(statement, 2, (tr_bytes){work->known->seal, SEAL_SIZE});
    int result = sqlite3_step(statement);
    (void)sqlite3_reset(statement);
    return result == SQLITE_DONE ? TR_STALE : tr__link_status(result);
}

static tr_status insert_row(struct work *work, const struct store_known *row, tr_bytes state)
{
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(work->link, SQL_ACTOR_INSERT, &status);
    if (!statement)
        return status;
    tr__link_bind_bytes(statement, 1, work->name);
    tr__link_bind_bytes(statement, 2, (tr_bytes){row->seal, SEAL_SIZE});
    tr__link_bind_number(statement, 3, (int64_t)seal_version(row->version, row->is_doomed));
    tr__link_bind_number(statement, 4, (int64_t)row->sequence);
    if (row->has_state)
        tr__link_bind_bytes(statement, 5, state);
    else
        (void)sqlite3_bind_null(statement, 5);
    return run_on_row(work, statement);
}

static tr_status update_row(struct work *work, const struct store_known *row,
                            const struct store_op *state)
{
    tr_status status = TR_OK;
    sqlite3_stmt *statement =
        tr__link_statement(work->link, state ? SQL_ACTOR_STATE : SQL_ACTOR_SEAL, &status);
    if (!statement)
        return status;
    int at = 1;
    tr__link_bind_bytes(statement, at++, (tr_bytes){row->seal, SEAL_SIZE});
    tr__link_bind_number(statement, at++, (int64_t)row->sequence);
    if (state)
        tr__link_bind_bytes(statement, at++, state->value);
    tr__link_bind_number(statement, at++, row->id);
    tr__link_bind_bytes(statement, at, (tr_bytes){work->known->seal, SEAL_SIZE});
    status = run_on_row(work, statement);
    uint64_t version = seal_version(row->version, row->is_doomed);
    if (status != TR_OK || version == seal_version(work->known->version, work->known->is_doomed))
        return status;
    statement = tr__link_statement(work->link, SQL_ACTOR_VERSION, &status);
    if (!statement)
        return status;
    tr__link_bind_number(statement, 2, (int64_t)version);
    return commit_run(work, statement);
}

/*
 * Updates the row of the actor to its contents after the batch. The new seal of the row has the
 * generation of the batch's entry.
 */
static tr_status write_row(struct work *work, const struct store_batch *batch,
                           const struct plan *plan)
{
    struct store_known row = *work->known;
    struct store_generation generation = work->entry->generation;
    row.sequence = plan->sequence;
    row.is_doomed |= plan->dooms;
    if (plan->state) {
        row.has_state = true;
        row.version = plan->state->version;
        row.state_sum = plan->state->sum;
    } else if (!row.is_there) {
        row.state_sum = seal_state_sum(work->session->key, (tr_bytes){NULL, 0});
    }
    struct seal seal = {{.low = batch->name_sum, .high = work->session->key.high}};
    seal = seal_actor_end(
        seal, seal_version(row.version, row.is_doomed), row.sequence, row.has_state, row.state_sum);
    seal_end(&seal, generation, row.seal);
    tr_status status;
    if (!row.is_there) {
        status = insert_row(work, &row, plan->state ? plan->state->value : (tr_bytes){NULL, 0});
        row.is_there = true;
        row.id = sqlite3_last_insert_rowid(work->link->database);
    } else if (!plan->state && memcmp(row.seal, work->known->seal, SEAL_SIZE) == 0) {
        status = check_row(work);
    } else {
        status = update_row(work, &row, plan->state);
    }
    if (status == TR_OK)
        *work->known = row;
    return status;
}

static void bind_seal(struct work *work, sqlite3_stmt *statement, int index, struct seal seal,
                      unsigned char sealed[SEAL_SIZE])
{
    seal_end(&seal, work->entry->generation, sealed);
    tr__link_bind_bytes(statement, index, (tr_bytes){sealed, SEAL_SIZE});
}

static struct seal seal_op(const struct work *work, enum seal_kind kind, const struct store_op *op,
                           uint64_t number, uint64_t other_number)
{
    return seal_row(work->session->key,
                    kind,
                    work->name,
                    work->entry->generation,
                    op->key,
                    number,
                    other_number,
                    op->value);
}

/* Puts a row into one of the tables of an actor's data. */
static tr_status put_row(struct work *work, const struct store_op *op)
{
    unsigned char sealed[SEAL_SIZE];
    tr_status status = TR_OK;
    sqlite3_stmt *statement = NULL;
    uint64_t sequence = op->number + 1;
    switch (op->kind) {
    case STORE_KV_PUT:
        if (!(statement = tr__link_statement(work->link, SQL_KV_PUT, &status)))
            return status;
        tr__link_bind_bytes(statement, 2, op->key);
        bind_seal(work, statement, 3, seal_op(work, SEAL_KV, op, 0, 0), sealed);
        tr__link_bind_bytes(statement, 4, op->value);
        break;
    case STORE_ALARM_SET:
        if (!(statement = tr__link_statement(work->link, SQL_ALARM_SET, &status)))
            return status;
        tr__link_bind_bytes(statement, 2, op->key);
        tr__link_bind_number(statement, 3, op->due_wall_ns);
        bind_seal(work,
                  statement,
                  4,
                  seal_op(work, SEAL_ALARM, op, (uint64_t)op->due_wall_ns, 0),
                  sealed);
        tr__link_bind_bytes(statement, 5, op->value);
        break;
    case STORE_QUEUE_PUSH:
        if (!(statement = tr__link_statement(work->link, SQL_QUEUE_PUSH, &status)))
            return status;
        tr__link_bind_bytes(statement, 2, op->key);
        tr__link_bind_number(statement, 3, (int64_t)op->number);
        bind_seal(work, statement, 4, seal_op(work, SEAL_QUEUE, op, op->number, 0), sealed);
        tr__link_bind_bytes(statement, 5, op->value);
        break;
    case STORE_EVENT_APPEND:
        if (!(statement = tr__link_statement(work->link, SQL_EVENT_APPEND, &status)))
            return status;
        tr__link_bind_number(statement, 2, (int64_t)sequence);
        bind_seal(work, statement, 3, seal_op(work, SEAL_EVENT, op, sequence, 0), sealed);
        tr__link_bind_bytes(statement, 4, op->value);
        break;
    case STORE_SNAPSHOT_PUT:
        if (!(statement = tr__link_statement(work->link, SQL_SNAPSHOT_PUT, &status)))
            return status;
        tr__link_bind_number(statement, 2, (int64_t)op->number);
        bind_seal(
            work, statement, 3, seal_op(work, SEAL_SNAPSHOT, op, op->number, op->version), sealed);
        tr__link_bind_number(statement, 4, op->version);
        tr__link_bind_bytes(statement, 5, op->value);
        break;
    case STORE_PAGE_PUT:
        if (!(statement = tr__link_statement(work->link, SQL_PAGE_PUT, &status)))
            return status;
        tr__link_bind_number(statement, 2, (int64_t)op->number);
        bind_seal(work, statement, 3, seal_op(work, SEAL_PAGE, op, op->number, 0), sealed);
        tr__link_bind_bytes(statement, 4, op->value);
        break;
    default:
        TR_NOT_REACHED("puts nothing");
    }
    return commit_run(work, statement);
}

/* Deletes rows from one of the tables of an actor's data. */
static tr_status remove_rows(struct work *work, const struct store_op *op)
{
    static const enum link_statement statements[] = {
        [STORE_KV_DELETE] = SQL_KV_DELETE,
        [STORE_KV_DELETE_RANGE] = SQL_KV_DELETE_RANGE,
        [STORE_ALARM_CLEAR] = SQL_ALARM_CLEAR,
        [STORE_ALARM_CLEAR_ALL] = SQL_ALARM_CLEAR_ALL,
        [STORE_QUEUE_REMOVE] = SQL_QUEUE_REMOVE,
        [STORE_EVENT_TRIM] = SQL_EVENT_TRIM,
        [STORE_SNAPSHOT_TRIM] = SQL_SNAPSHOT_TRIM,
        [STORE_DOOM] = SQL_ALARM_CLEAR_ALL,
    };
    unsigned char no_bound[TR_KV_KEY_MAX + 1];
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(work->link, statements[op->kind], &status);
    if (!statement)
        return status;
    switch (op->kind) {
    case STORE_KV_DELETE_RANGE:
        tr__link_bind_bytes(statement, 2, op->key);
        if (op->value.size > 0) {
            tr__link_bind_bytes(statement, 3, op->value);
        } else {
            /* No end was given, so the end of the range is all 255 and longer than every key. It
             * comes after all keys. */
            memset(no_bound, UINT8_MAX, sizeof no_bound);
            tr__link_bind_bytes(statement, 3, (tr_bytes){no_bound, sizeof no_bound});
        }
        break;
    case STORE_QUEUE_REMOVE:
        tr__link_bind_bytes(statement, 2, op->key);
        tr__link_bind_number(statement, 3, (int64_t)commit_clamp(op->number));
        break;
    case STORE_EVENT_TRIM:
    case STORE_SNAPSHOT_TRIM:
        tr__link_bind_number(statement, 2, (int64_t)commit_clamp(op->number));
        break;
    case STORE_KV_DELETE:
    case STORE_ALARM_CLEAR:
        tr__link_bind_bytes(statement, 2, op->key);
        break;
    default:
        break;
    }
    return commit_run(work, statement);
}

static tr_status apply_op(struct work *work, const struct store_op *op)
{
    switch (op->kind) {
    case STORE_KV_PUT:
    case STORE_ALARM_SET:
    case STORE_QUEUE_PUSH:
    case STORE_EVENT_APPEND:
    case STORE_SNAPSHOT_PUT:
    case STORE_PAGE_PUT:
        return put_row(work, op);
    case STORE_KV_DELETE:
    case STORE_KV_DELETE_RANGE:
    case STORE_ALARM_CLEAR:
    case STORE_ALARM_CLEAR_ALL:
    case STORE_QUEUE_REMOVE:
    case STORE_EVENT_TRIM:
    case STORE_SNAPSHOT_TRIM:
    case STORE_DOOM: /* clears the alarms; write_row sets the mark */
        return remove_rows(work, op);
    case STORE_REQUEST_PUT:
    case STORE_REQUEST_TRIM:
        work->has_changed = true;
        return tr__session_write_request(work->session, work->entry, work->known->id, op);
    case STORE_PUT_STATE:
    case STORE_DESTROY:
        break; /* write_row stores a state; commit_destroy destroys */
    }
    return TR_OK;
}

/* Checks that the actor does not have too many alarms. Fails with TR_LIMIT. */
static tr_status check_limits(struct work *work, const struct plan *plan)
{
    tr_status status = TR_OK;
    if (!plan->alarms_set)
        return TR_OK;
    sqlite3_stmt *statement = tr__link_statement(work->link, SQL_ALARM_COUNT, &status);
    if (!statement)
        return status;
    tr__link_bind_number(statement, 1, work->known->id);
    int result = sqlite3_step(statement);
    int64_t count = result == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    (void)sqlite3_reset(statement);
    status = tr__link_status(result);
    return status == TR_OK && count > TR_ALARMS_MAX ? TR_LIMIT : status;
}

static tr_status commit_apply(struct work *work, const struct store_batch *batch)
{
    struct plan plan;
    tr_status status = work->known->is_known ? TR_OK : find_row(work);
    if (status == TR_OK)
        status = make_plan(work, batch, &plan);
    if (status == TR_OK && batch->shapes) {
        work->has_changed = true;
        status = tr__session_put_shapes(work->session, batch);
    }
    if (status == TR_OK && plan.destroys)
        status = commit_destroy(work);
    if (status != TR_OK)
        return status;
    if (!plan.first && (plan.destroys || !work->known->is_there))
        return TR_OK; /* Either nothing of the actor is left, or the actor never existed. */
    status = write_row(work, batch, &plan);
    for (const struct store_op *op = plan.first; op && status == TR_OK; op = op->next)
        status = apply_op(work, op);
    return status == TR_OK ? check_limits(work, &plan) : status;
}

static void commit_forget(struct store_batch *first)
{
    for (struct store_batch *batch = first; batch; batch = batch->next)
        batch->entry->known.is_known = false;
}

/* Makes a batch fail. Later batches of its actor become stale, because they assume that this batch
 * is on disk. */
static void fail_batch(struct store_batch *batch, tr_status status)
{
    batch->status = status;
    atom32_store(&batch->entry->is_broken, 1, ATOM_RELAXED);
}

static void fail_all(struct store_batch *first, tr_status status)
{
    for (struct store_batch *batch = first; batch; batch = batch->next) {
        if (batch->status == TR_OK)
            fail_batch(batch, status);
    }
}

/* Rolls the transaction back, unless SQLite has already done so. */
static tr_status roll_back(struct link *link)
{
    if (sqlite3_get_autocommit(link->database))
        return TR_OK;
    return tr__link_do(link, SQL_ROLLBACK);
}

/*
 * How long the writer waits for a reader that has the lock of writers. A reader takes that lock
 * when it finds the head of the log's index half written, and then reads the head again. The reader
 * waits for nothing meanwhile. So it has the lock for long only if the operating system stops its
 * thread.
 */
#define BEGIN_READER_NS (10 * TR_SECOND)

tr_status tr__session_begin(struct store_session *session)
{
    const tr_platform *platform = session->source.platform;
    tr_status status = tr__link_do(&session->writer, SQL_BEGIN);
    if (status != TR_STORE_BUSY)
        return status;
    tr_time deadline_ns = platform->mono_now(platform) + BEGIN_READER_NS;
    while (status == TR_STORE_BUSY && platform->mono_now(platform) < deadline_ns) {
        platform->yield(platform);
        status = tr__link_do(&session->writer, SQL_BEGIN);
    }
    return status;
}

enum outcome { GROUP_READY, GROUP_AGAIN, GROUP_FULL, GROUP_FAILED };

/*
 * Prefetches what apply_all will read of the next two batches. A worker has just written these
 * batches, so each line must come from the cache of another processor.
 */
static void prefetch_next(const struct store_batch *batch)
{
    enum { LINE = 64, HEAD = 2 * LINE };
    const struct store_batch *next = batch->next;
    if (!next)
        return;
    for (int at = HEAD; at < STORE_BATCH_NEAR; at += LINE)
        __builtin_prefetch((const char *)next + at);
    __builtin_prefetch(&next->entry->is_broken);
    __builtin_prefetch(&next->entry->known);
    __builtin_prefetch(next->entry->name);
    if (next->next) {
        __builtin_prefetch(next->next);
        __builtin_prefetch((const char *)next->next + LINE);
    }
}

/* Applies every batch that has not failed so far. If one more batch has failed, returns
 * GROUP_AGAIN, and the caller must roll the transaction back. If the disk is full or memory is
 * short, returns GROUP_FULL. If the store failed or was busy, returns GROUP_FAILED. Both set
 * *status to the reason. */
static enum outcome apply_all(struct store_session *session, struct store_batch *first,
                              tr_status *status)
{
    for (struct store_batch *batch = first; batch; batch = batch->next) {
        prefetch_next(batch);
        if (batch->status != TR_OK)
            continue;
        struct store_entry *entry = batch->entry;
        if (atom32_load(&entry->is_broken, ATOM_RELAXED) ||
            atom32_load(&entry->is_refused, ATOM_RELAXED)) {
            batch->status = TR_STALE;
            continue;
        }
        struct work work = {
            .session = session,
            .link = &session->writer,
            .entry = entry,
            .known = &entry->known,
            .name = {entry->name, entry->name_size},
        };
        *status = commit_apply(&work, batch);
        if (*status == TR_OK)
            continue;
        if (*status == TR_STORE_FAILED || *status == TR_STORE_BUSY)
            return GROUP_FAILED;
        if (*status == TR_STORE_FULL || *status == TR_NO_MEMORY)
            return GROUP_FULL;
        fail_batch(batch, *status);
        if (work.has_changed || sqlite3_get_autocommit(work.link->database))
            return GROUP_AGAIN;
        entry->known.is_known = false;
    }
    *status = TR_OK;
    return GROUP_READY;
}

/* Makes one attempt to commit the group. If *buries, also deletes rows of destroyed actors. Returns false if the caller
 * must try again. There are two reasons to try again. Either a batch has failed and is left out from now on, or the
 * deletion has failed and *buries is false from now on. */
static bool commit_once(struct store_session *session, struct store_batch *first, bool *buries,
                        struct store_why *why, tr_status *result)
{
    struct link *link = &session->writer;
    tr_status status = tr__session_begin(session);
    enum outcome outcome = GROUP_READY;
    if (status == TR_OK)
        outcome = apply_all(session, first, &status);
    if (outcome == GROUP_READY && status == TR_OK && session->has_buried && *buries &&
        tr__bury_slice(session) != TR_OK) {
        /* Stop deleting, because a commit must not fail only because rows of destroyed actors
         * cannot be deleted. */
        session->has_buried = false;
        /* The next attempt must not delete either. In that attempt, a batch of this group that
         * destroys an actor with many rows sets has_buried again. So *buries must prevent it. */
        *buries = false;
        outcome = GROUP_AGAIN;
    }
    if (outcome == GROUP_READY && status == TR_OK)
        status = tr__link_do(link, SQL_COMMIT);
    *result = TR_OK;
    if (outcome == GROUP_READY && status == TR_OK)
        return true;
    if (outcome == GROUP_READY && status != TR_STORE_FULL && status != TR_NO_MEMORY)
        outcome = GROUP_FAILED;
    if (outcome == GROUP_FAILED)
        *result = tr__session_fail(session, link, "committing", why);
    commit_forget(first);
    if (roll_back(link) != TR_OK && outcome != GROUP_FAILED) {
        *result = tr__session_fail(session, link, "rolling a transaction back", why);
        outcome = GROUP_FAILED;
    }
    if (outcome == GROUP_AGAIN)
        return false;
    if (outcome != GROUP_FAILED)
        fail_all(first, status);
    return true;
}

void tr__session_prepare(struct store_session *session, struct store_batch *batch)
{
    const struct store_entry *entry = batch->entry;
    tr_bytes name = {entry->name, entry->name_size};
    batch->name_sum = seal_begin(session->key, SEAL_ACTOR, name, entry->generation).key.low;
    for (struct store_op *op = batch->first; op; op = op->next) {
        if (op->kind == STORE_PUT_STATE)
            op->sum = seal_state_sum(session->key, op->value);
    }
}

tr_status tr__session_commit(struct store_session *session, struct store_batch *first,
                             struct store_why *why)
{
    tr_status status;
    bool buries = true;
    while (!commit_once(session, first, &buries, why, &status))
        continue;
    return status ? status : tr__session_check_files(session, why);
}
