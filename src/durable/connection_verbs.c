/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs of troupe/gateway.h: what a handler of a durable actor can do with its connections. */
#include <stdio.h>
#include <string.h>
#include <troupe/gateway.h>
#include <troupe/wire.h>

#include "actor/cell/verb.h"
#include "durable/commit.h"
#include "durable/connection_row.h"
#include "durable/connections.h"
#include "durable/turn.h"

static struct durable_actor *need(tr_self *self, const char *verb)
{
    TR_ASSERT(self); /* a failure ends the turn, so there must be a turn */
    struct durable_actor *actor = durable_of(self);
    if (!actor)
        tr_crash(self, TR_NOT_SUPPORTED, "%s: this actor is not durable", verb);
    if (!self->frame)
        tr_crash(self, TR_NOT_IN_A_TURN, "%s: not allowed in a set-up or a signal", verb);
    if (self->is_cancelled)
        tr_crash(self, TR_CANCELLED, "%s: the turn was cancelled", verb);
    return actor;
}

static void require(tr_self *self, tr_status status, const char *verb)
{
    if (status != TR_OK)
        tr_crash(self, status, "%s: %s", verb, tr_status_text(status));
}

/* ---- Where a message comes from. ---- */

tr_connection_id tr_from(const tr_self *self)
{
    TURN_VERB(self);
    const struct durable_frame *frame = self ? self->frame : NULL;
    return (tr_connection_id){frame ? frame->call.connection : 0};
}

const char *tr_caller(const tr_self *self)
{
    TURN_VERB(self);
    const struct durable_frame *frame = self ? self->frame : NULL;
    return frame ? frame->call.caller : NULL;
}

size_t tr_connections(tr_self *self, tr_connection_id *connections, size_t max)
{
    TURN_VERB(self);
    const struct durable_actor *actor = need(self, "tr_connections");
    size_t count = 0;
    if (!actor->connections)
        return 0;
    LIST_EACH (link, &actor->connections->all) {
        const struct connection *connection = LIST_OWNER(link, struct connection, link);
        if (connection->is_lost)
            continue;
        if (count < max)
            connections[count].number = connection->number;
        count++;
    }
    return count;
}

/* ---- Events. ---- */

/* Makes the text of an event. The buffer of the text lives as long as the turn. */
static tr_buffer *event_text(tr_self *self, uint64_t number, const tr_type *type,
                             const void *message)
{
    char front[320];
    tr_wire_error error;
    int length = number ? snprintf(front,
                                   sizeof front,
                                   "{\"event\":\"%s\",\"number\":%llu,\"with\":",
                                   type->name,
                                   (unsigned long long)number)
                        : snprintf(front, sizeof front, "{\"event\":\"%s\",\"with\":", type->name);
    size_t size = tr_json_write(type, message, NULL, 0, &error);
    if (!size)
        tr_crash(self, error.status, "an event cannot be written as JSON: %s", error.text);
    if (length < 0 || (size_t)length >= sizeof front || size > TR_CONNECTION_EVENT_MAX)
        tr_crash(self, TR_TOO_LARGE, "an event has more than TR_CONNECTION_EVENT_MAX bytes");
    tr_buffer *text = tr_buffer_of_turn(self, (size_t)length + size + 1);
    char *to = tr_buffer_data(text);
    memcpy(to, front, (size_t)length);
    /* tr_json_write ends its text with a NUL, and `text` has no space for that. */
    char *all = tr_scratch(self, size + 1);
    (void)tr_json_write(type, message, all, size + 1, &error);
    memcpy(to + length, all, size);
    to[(size_t)length + size] = '}';
    return text;
}

/* Stores an event of tr_broadcast. If too many events are stored, removes the oldest. */
static tr_status event_put(struct durable_actor *actor, tr_buffer *text)
{
    struct connections *connections = actor->connections;
    uint64_t number = connections->event_last + 1;
    size_t size = tr_buffer_size(text);
    struct store_batch *batch = tr__commit_batch(actor);
    unsigned char *bytes = batch ? tr__store_batch_alloc(batch, size) : NULL;
    if (!bytes)
        return TR_NO_MEMORY;
    memcpy(bytes, tr_buffer_data(text), size);
    tr_status status = tr__store_queue_push(batch, EVENT_ROWS, number, (tr_bytes){bytes, size});
    if (status != TR_OK)
        return status;
    connections->event_last = number;
    if (!connections->event_first)
        connections->event_first = number;
    while (status == TR_OK && number - connections->event_first >= TR_CONNECTION_EVENTS_KEPT)
        status = tr__store_queue_remove(batch, EVENT_ROWS, connections->event_first++);
    return status;
}

static void broadcast(tr_self *self, struct durable_actor *actor, const tr_type *type,
                      const void *message)
{
    struct connections *connections = tr__connections_of(self->worker, actor);
    require(self, connections ? TR_OK : TR_NO_MEMORY, "tr_broadcast");
    tr_buffer *text = event_text(self, connections->event_last + 1, type, message);
    require(self, event_put(actor, text), "tr_broadcast");
    LIST_EACH (link, &connections->all) {
        struct connection *connection = LIST_OWNER(link, struct connection, link);
        require(self,
                tr__connection_send(self, connection, connections->event_last, text),
                "tr_broadcast");
    }
}

tr_status tr_self_send_event(tr_self *self, uint64_t number, const tr_type *type,
                             const void *message)
{
    TURN_VERB(self);
    struct durable_actor *actor = need(self, number ? "tr_send" : "tr_broadcast");
    if (!type || !message)
        tr_crash(self, TR_INVALID_ARGUMENT, "an event without a message");
    if (!number) {
        broadcast(self, actor, type, message);
        return TR_OK;
    }
    struct connection *connection = tr__connection_find(actor, number);
    if (!connection || connection->is_lost)
        return TR_CLOSED;
    require(self,
            tr__connection_send(self, connection, 0, event_text(self, 0, type, message)),
            "tr_send");
    return TR_OK;
}

void tr_disconnect(tr_self *self, tr_connection_id connection, int code, const char *words)
{
    TURN_VERB(self);
    struct durable_actor *actor = need(self, "tr_disconnect");
    bool is_code = code == 1000 || code == 1001 || (code >= 1007 && code <= 1014) ||
                   (code >= 3000 && code <= 4999);
    if (!is_code)
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_disconnect: %d is no code of a close", code);
    const struct connection *found = tr__connection_find(actor, connection.number);
    if (!found || found->is_lost)
        return;
    const struct tr_gateway_close_ close = {
        .channel = found->channel, .code = code, .words = words ? words : ""};
    (void)tr_self_tell(self, tr_ref_from_bits(found->session), &tr_type_tr_gateway_close_, &close);
}

/* ---- The message that is kept with a connection. ---- */

void tr_self_connection_keep(tr_self *self, tr_connection_id id, const tr_type *type,
                             const void *message)
{
    TURN_VERB(self);
    struct durable_actor *actor = need(self, "tr_connection_keep");
    const struct memory_source *source = &self->worker->source;
    struct connection *connection = tr__connection_find(actor, id.number);
    tr_wire_error error;
    if (!connection)
        return;
    size_t size = tr_pack(type, message, NULL, 0, &error);
    if (!size)
        tr_crash(self, error.status, "tr_connection_keep: %s", error.text);
    if (size > TR_CONNECTION_KEPT_MAX || strlen(type->name) > UINT8_MAX)
        tr_crash(self, TR_TOO_LARGE, "tr_connection_keep: more than TR_CONNECTION_KEPT_MAX bytes");
    unsigned char *kept = source_resize(source, NULL, size);
    char *name = source_resize(source, NULL, strlen(type->name) + 1);
    if (!kept || !name) {
        source_resize(source, kept, 0);
        source_resize(source, name, 0);
        tr_crash(self, TR_NO_MEMORY, "tr_connection_keep: out of memory");
    }
    (void)tr_pack(type, message, kept, size, &error);
    source_resize(source, connection->kept, 0);
    source_resize(source, connection->type, 0);
    connection->kept = kept;
    connection->kept_size = size;
    connection->type = strcpy(name, type->name);
    require(self, tr__connection_put(actor, connection), "tr_connection_keep");
}

const void *tr_self_connection_kept(tr_self *self, tr_connection_id id, const tr_type *type)
{
    TURN_VERB(self);
    const struct durable_actor *actor = need(self, "tr_connection_kept");
    const struct connection *connection = tr__connection_find(actor, id.number);
    tr_wire_error error;
    if (!connection || !connection->type || strcmp(connection->type, type->name) != 0)
        return NULL;
    struct kept_message *kept = tr_scratch(self, sizeof *kept);
    kept->type = type;
    tr_status status = tr_unpack(
        type, (tr_bytes){connection->kept, connection->kept_size}, &kept->message, &error);
    if (status != TR_OK)
        tr_crash(self, status, "tr_connection_kept: %s", error.text);
    kept->next = self->frame->read;
    self->frame->read = kept;
    return kept->message;
}
