/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/connections.h"

#include <string.h>
#include <troupe/gateway.h>

#include "actor/cell/slots.h"
#include "actor/mail/address.h"
#include "actor/mail/mail.h"
#include "durable/commit.h"
#include "actor/cell/verb.h"
#include "durable/changed.h"
#include "durable/connection_row.h"
#include "durable/drive.h"
#include "durable/ttl.h"
#include "durable/turn.h"
#include "sleep/sleep.h"
#include "store/read.h"
#include "base/assert.h"

struct connections *tr__connections_of(struct worker *worker, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(durable_is_mine(actor));
    if (actor->connections)
        return actor->connections;
    struct connections *made = source_resize(&worker->source, NULL, sizeof *made);
    if (!made)
        return NULL;
    *made = (struct connections){.count = 0};
    list_init(&made->all);
    actor->connections = made;
    return made;
}

struct connection *tr__connection_find(const struct durable_actor *actor, uint64_t number)
{
    TR_ASSERT_SLOW(durable_is_mine(actor));
    if (!actor->connections || !number)
        return NULL;
    LIST_EACH (link, &actor->connections->all) {
        struct connection *connection = LIST_OWNER(link, struct connection, link);
        if (connection->number == number)
            return connection;
    }
    return NULL;
}

tr_status tr__connection_call(struct tr_self *self, const struct durable_actor *actor,
                              const struct tr_durable_once *once, struct durable_call *call,
                              tr_bytes *id)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    const struct connection *connection = tr__connection_find(actor, once->connection);
    const char *caller = connection ? connection->caller : once->caller;
    *call = (struct durable_call){.connection = once->connection, .is_socket = connection};
    *id = once->id;
    if (once->connection && !connection)
        return TR_CLOSED;
    if (!caller)
        return TR_OK;
    size_t size = strlen(caller);
    char *copy = tr_try_scratch(self, 2 * (size + 1) + id->size);
    if (!copy)
        return TR_NO_MEMORY;
    call->caller = memcpy(copy, caller, size + 1);
    if (!connection || !id->size)
        return TR_OK;
    /* Put the caller before the id, so that a caller cannot get the answer to another caller's
     * request. gateway/serve.c does the same. */
    char *scoped = memcpy(copy + size + 1, caller, size + 1);
    scoped[size] = '\n';
    memcpy(scoped + size + 1, id->data, id->size);
    *id = (tr_bytes){scoped, size + 1 + id->size};
    return id->size <= TR_REQUEST_ID_MAX ? TR_OK : TR_TOO_LARGE;
}

/* Returns a copy of some bytes with a NUL behind them. Returns NULL if there is no memory. */
static char *copy_text(struct worker *worker, tr_bytes bytes)
{
    char *copy = source_resize(&worker->source, NULL, bytes.size + 1);
    if (copy && bytes.size)
        memcpy(copy, bytes.data, bytes.size);
    if (copy)
        copy[bytes.size] = '\0';
    return copy;
}

static void connection_free(struct worker *worker, struct connection *connection)
{
    struct list *link;
    while ((link = list_pop_first(&connection->early))) {
        struct connection_event *event = LIST_OWNER(link, struct connection_event, link);
        tr_buffer_release(event->text);
        source_resize(&worker->source, event, 0);
    }
    source_resize(&worker->source, connection->query, 0);
    source_resize(&worker->source, connection->caller, 0);
    source_resize(&worker->source, connection->type, 0);
    source_resize(&worker->source, connection->kept, 0);
    source_resize(&worker->source, connection, 0);
}

/* Makes a record that is in no list yet. Returns NULL if there is no memory. */
static struct connection *connection_new(struct worker *worker, const struct connection_row *row)
{
    struct connection *made = source_resize(&worker->source, NULL, sizeof *made);
    if (!made)
        return NULL;
    *made = (struct connection){.session = row->session,
                                .channel = row->channel,
                                .begun = row->begun,
                                .wake_lock = {.what = "a connection"},
                                .kept_size = row->kept.size};
    list_init(&made->link);
    list_init(&made->early);
    if (row->caller.data)
        made->caller = copy_text(worker, row->caller);
    if (row->query.data)
        made->query = copy_text(worker, row->query);
    if (row->type.size) {
        made->type = copy_text(worker, row->type);
        made->kept = (unsigned char *)copy_text(worker, row->kept);
    }
    bool is_whole = (!row->caller.data || made->caller) && (!row->query.data || made->query) &&
                    (!row->type.size || (made->type && made->kept));
    if (is_whole)
        return made;
    connection_free(worker, made);
    return NULL;
}

static void connection_add(struct worker *worker, struct durable_actor *actor,
                           struct connection *connection)
{
    struct connections *connections = actor->connections;
    list_push_last(&connections->all, &connection->link);
    connections->count++;
    connections->lost_count += connection->is_lost;
    (void)!tr__sleep_raise(
        &actor->machine, &connection->wake_lock, COUNTER_HIBERNATING, worker->loop.now_ns);
}

static void connection_remove(struct worker *worker, struct durable_actor *actor,
                              struct connection *connection)
{
    list_remove(&connection->link);
    actor->connections->count--;
    actor->connections->lost_count -= connection->is_lost;
    tr__sleep_drop(&actor->machine, &connection->wake_lock, worker->loop.now_ns);
    connection_free(worker, connection);
}

void tr__connections_drop(struct worker *worker, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(durable_is_mine(actor));
    struct list *link;
    if (!actor->connections)
        return;
    while ((link = list_first(&actor->connections->all)))
        connection_remove(worker, actor, LIST_OWNER(link, struct connection, link));
    source_resize(&worker->source, actor->connections, 0);
    actor->connections = NULL;
}

/* ---- Rows. ---- */

tr_status tr__connection_put(struct durable_actor *actor, const struct connection *connection)
{
    TR_ASSERT_SLOW(durable_is_mine(actor));
    const struct connection_row row = {
        /* A lost connection stays lost, even for the next generation in this process. */
        .epoch = connection->is_lost ? 0 : actor->end.generation.epoch,
        .session = connection->session,
        .channel = connection->channel,
        .caller = {connection->caller, connection->caller ? strlen(connection->caller) : 0},
        .type = {connection->type, connection->type ? strlen(connection->type) : 0},
        .kept = {connection->kept, connection->kept ? connection->kept_size : 0},
        .begun = connection->begun,
        .query = {connection->query, connection->query ? strlen(connection->query) : 0}};
    size_t size = tr__connection_row_size(&row);
    struct store_batch *batch = tr__commit_batch(actor);
    unsigned char *bytes = batch ? tr__store_batch_alloc(batch, size) : NULL;
    if (!bytes)
        return TR_NO_MEMORY;
    tr__connection_row_write(&row, bytes);
    return tr__store_queue_push(
        batch, CONNECTION_ROWS, connection->number, (tr_bytes){bytes, size});
}

static tr_status last_put(struct durable_actor *actor)
{
    struct store_batch *batch = tr__commit_batch(actor);
    unsigned char *bytes = batch ? tr__store_batch_alloc(batch, CONNECTION_LAST_SIZE) : NULL;
    if (!bytes)
        return TR_NO_MEMORY;
    tr__connection_last_write(actor->connections->last, bytes);
    return tr__store_queue_push(batch, CONNECTION_ROWS, 0, (tr_bytes){bytes, CONNECTION_LAST_SIZE});
}

static tr_status row_remove(struct durable_actor *actor, uint64_t number)
{
    struct store_batch *batch = tr__commit_batch(actor);
    return batch ? tr__store_queue_remove(batch, CONNECTION_ROWS, number) : TR_NO_MEMORY;
}

/* If the row says that tr_connected has begun, stores that tr_connected has ended. */
static tr_status begun_end(struct worker *worker, struct durable_actor *actor,
                           struct connection *connection)
{
    if (!connection->begun)
        return TR_OK;
    connection->begun = 0;
    source_resize(&worker->source, connection->query, 0);
    connection->query = NULL;
    return tr__connection_put(actor, connection);
}

static tr_status load_connection(struct worker *worker, struct durable_actor *actor,
                                 const struct store_row *stored)
{
    struct connection_row row;
    tr_status status = tr__connection_row_read(stored->bytes, &row);
    if (status != TR_OK)
        return status;
    struct connection *connection = connection_new(worker, &row);
    if (!connection)
        return TR_NO_MEMORY;
    connection->number = stored->id;
    connection->is_lost = row.epoch != actor->end.generation.epoch;
    connection_add(worker, actor, connection);
    return TR_OK;
}

tr_status tr__connections_load(struct worker *worker, struct durable_actor *actor,
                               const struct store_row *row, bool *is_other)
{
    TR_ASSERT_SLOW(durable_is_mine(actor));
    bool is_event = strcmp(row->name, EVENT_ROWS) == 0;
    *is_other = !is_event && strcmp(row->name, CONNECTION_ROWS) != 0;
    if (*is_other)
        return TR_OK;
    struct connections *connections = tr__connections_of(worker, actor);
    if (!connections)
        return TR_NO_MEMORY;
    if (!is_event)
        return row->id ? load_connection(worker, actor, row)
                       : tr__connection_last_read(row->bytes, &connections->last);
    if (!connections->event_first)
        /* Rows are read in the order of their ids, so this row has the first event. */
        connections->event_first = row->id;
    connections->event_last = row->id;
    return TR_OK;
}

/* ---- Sending. ---- */

static tr_status send_now(struct tr_self *self, const struct connection *connection,
                          uint64_t number, tr_buffer *text)
{
    const struct tr_gateway_event_ event = {
        .channel = connection->channel, .number = number, .text = text};
    const struct tr_durable_disconnect gone = {.number = connection->number,
                                               .code = CONNECTION_LOST};
    tr_ref session = tr_ref_from_bits(connection->session);
    tr_status status;
    if (slots_find(self->worker->slots, session.bits))
        status = tr_self_tell(self, session, &tr_type_tr_gateway_event_, &event);
    else /* the session is gone, and perhaps its tr_durable_disconnect was lost; so send one */
        status = tr_self_tell(self, tr_me(self), &tr_type_tr_durable_disconnect, &gone);
    return status == TR_NO_MEMORY ? status : TR_OK;
}

tr_status tr__connection_send(struct tr_self *self, struct connection *connection, uint64_t number,
                              tr_buffer *text)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    if (connection->is_lost)
        return TR_OK;
    if (!connection->is_opening)
        return send_now(self, connection, number, text);
    struct connection_event *event = source_resize(&self->worker->source, NULL, sizeof *event);
    if (!event)
        return TR_NO_MEMORY;
    *event = (struct connection_event){.number = number, .text = text};
    tr_buffer_retain(text);
    list_push_last(&connection->early, &event->link);
    return TR_OK;
}

/* Sends the events that waited until the session had its reply. */
static tr_status send_early(struct tr_self *self, struct connection *connection)
{
    struct list *link;
    tr_status status = TR_OK;
    connection->is_opening = false;
    while ((link = list_pop_first(&connection->early))) {
        struct connection_event *event = LIST_OWNER(link, struct connection_event, link);
        if (status == TR_OK)
            status = send_now(self, connection, event->number, event->text);
        tr_buffer_release(event->text);
        source_resize(&self->worker->source, event, 0);
    }
    return status;
}

/* ---- Beginning. ---- */

/* Calls the handler of tr_connected or tr_disconnected. `is_fresh` is as in tr__whole_begin. */
static tr_next call_whole(struct tr_self *self, struct tr_self *verb, const tr_handler *handler,
                          bool is_fresh, void *state, const void *message)
{
    tr_status status = tr__whole_begin(self, handler->type->name, is_fresh);
    if (status != TR_OK)
        return tr_fail(self, status, "%s cannot begin", handler->type->name);
    tr_next next = tr__durable_user(self, verb, handler, state, message);
    tr__whole_end(self);
    return next;
}

/* A walk over the stored events that a connection has missed. The walk sends these events to the
 * connection. */
struct event_replay {
    struct tr_self *self;
    const struct connection *connection;
    uint64_t to;
    tr_status status;
};

static bool on_event_row(void *context, const struct store_row *row)
{
    struct event_replay *replay = context;
    if (row->id > replay->to)
        return false;
    tr_buffer *text = tr_buffer_new(row->bytes.size);
    replay->status = TR_NO_MEMORY;
    if (!text)
        return false;
    memcpy(tr_buffer_data(text), row->bytes.data, row->bytes.size);
    replay->status = send_now(replay->self, replay->connection, row->id, text);
    tr_buffer_release(text);
    return replay->status == TR_OK;
}

/* Sends the connection all events after `last` that were stored before this turn. */
static tr_status replay(struct tr_self *self, struct durable_actor *actor,
                        const struct connection *connection, uint64_t last, uint64_t to)
{
    struct event_replay context = {
        .self = self, .connection = connection, .to = to, .status = TR_OK};
    const struct durable_kind *kind = actor->kind;
    if (last >= to)
        return TR_OK;
    tr_status status = tr__store_list_queue(host_context(kind->host, self->worker)->reader,
                                            kind->declared->name,
                                            actor_key(actor),
                                            EVENT_ROWS,
                                            last + 1,
                                            0,
                                            on_event_row,
                                            &context);
    return status == TR_OK || status == TR_NOT_FOUND ? context.status : status;
}

/* Replies to the session, and then sends it the events that waited for the reply. `before` is the
 * number of the last event before this turn. */
static tr_status welcome(struct tr_self *self, struct durable_actor *actor,
                         struct connection *connection, const struct tr_durable_connect *wish,
                         uint64_t before)
{
    const struct connections *connections = actor->connections;
    bool is_known = wish->has_last && wish->last <= before &&
                    (wish->last == before ||
                     (connections->event_first && wish->last + 1 >= connections->event_first));
    const struct tr_durable_connection reply = {.number = connection->number,
                                                .event = is_known ? wish->last : before,
                                                .has_gap = wish->has_last && !is_known};
    tr_status status = tr_self_try_reply(self, &tr_type_tr_durable_connection, &reply);
    if (status == TR_OK && is_known)
        status = replay(self, actor, connection, wish->last, before);
    tr_status early = send_early(self, connection);
    /* The session has ended before it got the number. So no message for this number will come, and
     * the actor ends the connection itself. */
    if (connection->is_unwanted) {
        const struct tr_durable_disconnect gone = {.number = connection->number,
                                                   .code = CONNECTION_LOST};
        (void)tr_self_tell(self, tr_me(self), &tr_type_tr_durable_disconnect, &gone);
    }
    return status == TR_OK ? early : status;
}

static tr_status connect_begin(struct tr_self *self, struct durable_actor *actor,
                               const struct tr_durable_connect *wish, struct connection **made)
{
    struct worker *worker = self->worker;
    struct connections *connections = tr__connections_of(worker, actor);
    struct connection_row row = {.session = self->envelope->sender,
                                 .channel = wish->channel,
                                 .caller = {wish->caller, wish->caller ? strlen(wish->caller) : 0}};
    if (actor->kind->connected) {
        row.begun = actor->end.generation.epoch;
        row.query = (tr_bytes){wish->query, wish->query ? strlen(wish->query) : 0};
    }
    if (!connections)
        return TR_NO_MEMORY;
    if (connections->count >= TR_CONNECTIONS_MAX)
        return TR_LIMIT;
    struct connection *connection = connection_new(worker, &row);
    if (!connection)
        return TR_NO_MEMORY;
    /* Begin above the numbers of earlier actors with this key, which were destroyed. So no number
     * is used twice. */
    if (!connections->last)
        connections->last = atom64_load(&actor->kind->host->destroyed, ATOM_RELAXED) << 32;
    connection->number = connections->last + 1;
    connection->is_opening = true;
    tr_status status = tr__connection_put(actor, connection);
    if (status == TR_OK) {
        connections->last++;
        status = last_put(actor);
    }
    if (status != TR_OK) {
        connection_free(worker, connection);
        return status;
    }
    connection_add(worker, actor, connection);
    *made = connection;
    return TR_OK;
}

/* Makes the connection, calls the handler of tr_connected, and replies to the session. */
static tr_next connect_turn(struct tr_self *self, struct tr_self *verb, struct durable_actor *actor,
                            void *state, const struct tr_durable_connect *wish)
{
    struct connection *connection;
    tr_next next = TR_SAME;
    uint64_t before = actor->connections ? actor->connections->event_last : 0;
    /* Save first. Then earlier events are on disk and can be read. */
    tr_status status = wish->has_last ? tr_try_save(self) : TR_OK;
    if (status == TR_OK)
        status = connect_begin(self, actor, wish, &connection);
    if (status != TR_OK) {
        turn_fail_reply(self, status);
        return status == TR_LIMIT ? TR_SAME : tr_fail(self, status, "no connection can be made");
    }
    self->frame->call.connection = connection->number;
    if (actor->kind->connected) {
        const struct tr_connected connected = {
            .connection = {connection->number}, .caller = connection->caller, .query = wish->query};
        next = call_whole(self, verb, actor->kind->connected, true, state, &connected);
    }
    if (next.code == TR_NEXT_FAILED || self->is_cancelled)
        return next;
    /* The reply of the handler has refused the connection. */
    if (self->envelope->kind != ENVELOPE_ASK) {
        status = row_remove(actor, connection->number);
        connection_remove(self->worker, actor, connection);
    } else {
        status = begun_end(self->worker, actor, connection);
        if (status == TR_OK)
            status = welcome(self, actor, connection, wish, before);
    }
    return status == TR_OK ? next : tr_fail(self, status, "a connection cannot be made");
}

tr_next tr__durable_connect(tr_self *self, void *state, const void *message)
{
    TURN_VERB(self);
    const struct tr_durable_connect *wish = message;
    struct durable_actor *actor = durable_of(self);
    tr_next next;
    if (tr__durable_is_over(self, actor, &next))
        return next;
    if (self->envelope->kind != ENVELOPE_ASK)
        return (tr_next){TR_NEXT_UNHANDLED};
    actor->call = (struct durable_call){.is_socket = true, .caller = wish->caller};
    if (!tr__frame_begin(self, actor, "tr_connected", false))
        return tr_fail(self, TR_NO_MEMORY, "out of memory for a turn");
    tr__ttl_use(self->worker, actor);
    next = connect_turn(self, verb_turn, actor, state, wish);
    next = tr__durable_changed(self, verb_turn, actor, next);
    next = tr__frame_done(self, actor, next, false);
    tr__frame_end(self, actor);
    tr__durable_drive(self->worker, actor, false);
    return next;
}

/* ---- Ending. ---- */

/* Calls the handler of tr_disconnected, then frees the record of the connection. */
static tr_next disconnect(struct tr_self *self, struct tr_self *verb, struct durable_actor *actor,
                          bool is_fresh, void *state, uint64_t number, int code)
{
    tr_next next = TR_SAME;
    struct connection *connection = tr__connection_find(actor, number);
    if (!connection->is_lost) { /* to a lost connection nothing is sent */
        connection->is_lost = true;
        actor->connections->lost_count++;
    }
    /* If a crash comes after this, only tr_disconnected runs again. */
    tr_status status = begun_end(self->worker, actor, connection);
    if (status == TR_OK && actor->kind->disconnected) {
        const struct tr_disconnected gone = {.connection = {number}, .code = code};
        next = call_whole(self, verb, actor->kind->disconnected, is_fresh, state, &gone);
    }
    if (next.code == TR_NEXT_FAILED || self->is_cancelled)
        return next;
    if (status == TR_OK)
        status = row_remove(actor, number);
    if (status != TR_OK)
        return tr_fail(self, status, "the end of a connection cannot be stored");
    connection_remove(self->worker, actor, connection);
    return next;
}

/* Finds the connection that has ended. Returns NULL if the actor has handled the end before, or has
 * never accepted the connection. */
static struct connection *find_gone(const struct durable_actor *actor,
                                    const struct tr_durable_disconnect *gone)
{
    if (gone->number || !actor->connections)
        return tr__connection_find(actor, gone->number);
    LIST_EACH (link, &actor->connections->all) {
        struct connection *connection = LIST_OWNER(link, struct connection, link);
        if (connection->session == gone->session && connection->channel == gone->channel &&
            !connection->is_lost)
            return connection;
    }
    return NULL;
}

tr_next tr__durable_disconnect(tr_self *self, void *state, const void *message)
{
    TURN_VERB(self);
    const struct tr_durable_disconnect *gone = message;
    struct durable_actor *actor = durable_of(self);
    tr_next next;
    if (tr__durable_is_over(self, actor, &next))
        return next;
    struct connection *connection = find_gone(actor, gone);
    if (!connection)
        return tr__durable_skip(self);
    /* The turn of tr_connected still runs. At its end it handles is_unwanted. */
    if (connection->is_opening) {
        connection->is_unwanted = true;
        return tr__durable_skip(self);
    }
    const uint64_t number = connection->number;
    actor->call = (struct durable_call){.connection = number, .is_end = true};
    if (connection->caller)
        actor->call.caller = tr_format(self, "%s", connection->caller);
    if (!tr__frame_begin(self, actor, "tr_disconnected", false))
        return tr_fail(self, TR_NO_MEMORY, "out of memory for a turn");
    next = disconnect(self, verb_turn, actor, true, state, number, gone->code);
    next = tr__durable_changed(self, verb_turn, actor, next);
    next = tr__frame_done(self, actor, next, false);
    tr__frame_end(self, actor);
    tr__durable_drive(self->worker, actor, false);
    return next;
}

bool tr__connection_refused(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    if (!self->frame || !self->frame->call.is_again)
        return false;
    self->frame->call.is_refused = true;
    return true;
}

/* Calls the handler of tr_connected again, because an earlier process has ended while that handler ran. Sets
 * *is_refused if the handler has refused the connection. The record of the connection is then freed. */
static tr_next connect_again(struct tr_self *self, struct tr_self *verb,
                             struct durable_actor *actor, void *state,
                             struct connection *connection, bool *is_refused)
{
    /* Copy the texts, because the record of the connection may be freed while the handler waits. */
    const struct tr_connected connected = {
        .connection = {connection->number},
        .caller = self->frame->call.caller,
        .query = connection->query ? tr_format(self, "%s", connection->query) : NULL};
    /* First store that the handler has begun in this process. If the handler fails now, the next
     * generation then does not run it again. */
    connection->begun = actor->end.generation.epoch;
    tr_status status = tr__connection_put(actor, connection);
    if (status == TR_OK)
        status = tr_try_save(self);
    if (status != TR_OK)
        return tr_fail(self, status, "a connection cannot be stored");
    self->frame->call.is_again = true;
    tr_next next = call_whole(self, verb, actor->kind->connected, true, state, &connected);
    self->frame->call.is_again = false;
    *is_refused = self->frame->call.is_refused;
    if (next.code == TR_NEXT_FAILED || self->is_cancelled)
        return next;
    if (!*is_refused)
        return next;
    status = row_remove(actor, connection->number);
    connection_remove(self->worker, actor, connection);
    return status == TR_OK ? next : tr_fail(self, status, "a refused connection cannot be removed");
}

/* Ends a connection that belonged to an earlier process. */
static tr_next bury(struct tr_self *self, struct tr_self *verb, struct durable_actor *actor,
                    void *state, struct connection *connection)
{
    const uint64_t number = connection->number;
    tr_next next = TR_SAME;
    bool is_refused = false;
    self->frame->call = (struct durable_call){.connection = number};
    if (connection->caller)
        self->frame->call.caller = tr_format(self, "%s", connection->caller);
    bool is_again = connection->begun && connection->begun != actor->end.generation.epoch;
    if (is_again && actor->kind->connected)
        next = connect_again(self, verb, actor, state, connection, &is_refused);
    if (next.code == TR_NEXT_SAME && !self->is_cancelled && !is_refused)
        next = disconnect(self, verb, actor, false, state, number, CONNECTION_LOST);
    self->frame->call = (struct durable_call){0};
    return next;
}

/* Returns the first lost connection. There must be one. Connections of earlier processes are first in the list. */
static struct connection *first_lost(const struct connections *connections)
{
    LIST_EACH (link, &connections->all) {
        struct connection *connection = LIST_OWNER(link, struct connection, link);
        if (connection->is_lost)
            return connection;
    }
    TR_ASSERT(false);
    return NULL;
}

tr_next tr__connections_bury(struct tr_self *self, struct tr_self *verb,
                             struct durable_actor *actor, void *state)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    tr_next next = TR_SAME;
    while (next.code == TR_NEXT_SAME && !self->is_cancelled && connections_are_lost(actor)) {
        next = bury(self, verb, actor, state, first_lost(actor->connections));
    }
    return next;
}

void tr__connections_settle(struct worker *worker, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(durable_is_mine(actor));
    if (!actor->is_settling || !list_is_empty(&actor->commits))
        return;
    actor->is_settling = false;
    if (!actor->connections)
        return;
    LIST_EACH (link, &actor->connections->all) {
        const struct connection *connection = LIST_OWNER(link, struct connection, link);
        const struct tr_gateway_close_ close = {.channel = connection->channel,
                                                .code = 1001,
                                                .words = "the actor is destroyed",
                                                .is_settled = true};
        struct address address = {.kind = ENVELOPE_NOTICE, .to = connection->session};
        struct cell *cell = slots_find(worker->slots, connection->session);
        struct envelope *envelope;
        if (!cell ||
            tr__mail_new(&worker->pool, address, &tr_type_tr_gateway_close_, &close, &envelope) !=
                TR_OK)
            /* The connection is gone, or there is no memory. Its client will close the socket. */
            continue;
        if (tr__mail_send_now(worker, cell, envelope) != TR_OK)
            envelope_give(&worker->pool, envelope);
    }
}
