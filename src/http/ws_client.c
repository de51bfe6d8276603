/* SPDX-License-Identifier: Apache-2.0 */
/**
 * WebSockets of a client: the turn that connects makes the handshake. After that, the WebSocket has
 * the same kind of session as on a server.
 */
#include <stdio.h>
#include <string.h>

#include "actor/cell/verb.h"
#include "base/sized.h"
#include "http/answer.h"
#include "http/client_call.h"
#include "http/client_verbs.h"
#include "http/deflate.h"
#include "http/url.h"
#include "http/ws_handshake.h"
#include "http/ws_session.h"
#include "net/protocol.h"
#include "net/rare.h"

/*
 * The type of a piece of input. No other file has its descriptor, so no program can have a handler
 * for this type.
 */
TR_MESSAGE(tr_ws_piece_, (channel, channel), (bytes, bytes));

/* The data of a turn that connects, in its scratch memory. */
struct ws_job {
    const tr_ws_call *call;
    struct http_url url;
    struct http_conn conn;
    struct http_flow flow;
    struct http_answer_head answer;
    char key[WS_KEY_SIZE + 1];
    struct ws_setup setup;
};

/* ---- The protocol of the channel. ---- */

static tr_next on_piece(tr_self *self, void *state, const void *data)
{
    TURN_VERB(self);
    const struct tr_received *piece = data;
    struct channel *channel;
    if (tr__channel_of(self, piece->channel, &channel) != TR_OK || !ws_session_of(channel))
        return TR_SAME;
    return tr__ws_turn(self, channel, state, piece);
}

static size_t cut(const struct channel *channel, tr_bytes bytes, size_t seen, tr_bytes *piece)
{
    const struct ws_session *session = ws_session_of(channel);
    (void)seen;
    /* before the WebSocket has a session, the turn that connects reads the handshake */
    return session ? tr__ws_cut(session, bytes, piece) : 0;
}

static void on_open(struct channel *channel)
{
    (void)channel;
}

static void on_part(struct channel *channel)
{
    if (ws_session_of(channel))
        tr__ws_wait(channel);
}

static void on_deadline(struct channel *channel)
{
    if (ws_session_of(channel))
        tr__ws_deadline(channel);
    else
        /* the channel needs no deadline, because the turn that connects has a limit */
        channel->deadline_ns = TR_NEVER;
}

static const tr_handler piece_handler = {
    .type = &tr_type_tr_ws_piece_, .call = on_piece, .name = "a frame of a WebSocket"};

static const struct tr_protocol ws_protocol = {
    .dials = true,
    .handler = &piece_handler,
    .cut = cut,
    .on_open = on_open,
    .on_part = on_part,
    .on_deadline = on_deadline,
    .on_close = tr__ws_on_close,
    .on_free = tr__ws_on_free,
    .session_free = tr__ws_session_free,
};

/* ---- The handshake. ---- */

static size_t size_of(const char *text)
{
    /* besides the text, a field has a name and punctuation; 40 bytes are enough for these */
    return text ? strlen(text) + 40 : 0;
}

/*
 * Makes the request of the handshake, in scratch memory. If out of memory, returns bytes whose data
 * is NULL.
 */
static tr_bytes make_request(const struct ws_job *job, struct tr_self *self)
{
    const tr_ws_call *call = job->call;
    size_t size = 512 + strlen(job->url.target) + strlen(job->url.authority) +
                  size_of(call->protocols) + size_of(call->authorization);
    for (const struct tr_http_field *field = call->headers; field && field->name; field++)
        size += strlen(field->name) + size_of(field->value);
    char *begin = tr_try_scratch(self, size);
    if (!begin)
        return (tr_bytes){NULL, 0};
    char *to = begin + snprintf(begin,
                                size,
                                "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\n"
                                "Connection: Upgrade\r\nSec-WebSocket-Version: " WS_VERSION
                                "\r\nSec-WebSocket-Key: %s\r\n",
                                job->url.target,
                                job->url.authority,
                                job->key);
    if (call->protocols)
        to += sprintf(to, "Sec-WebSocket-Protocol: %s\r\n", call->protocols);
    if (call->compresses)
        to += sprintf(to, "Sec-WebSocket-Extensions: %s\r\n", WS_DEFLATE_OFFER);
    if (call->authorization)
        to += sprintf(to, "Authorization: %s\r\n", call->authorization);
    for (const struct tr_http_field *field = call->headers; field && field->name; field++)
        to += sprintf(to, "%s: %s\r\n", field->name, field->value);
    to = stpcpy(to, "\r\n");
    return (tr_bytes){begin, (size_t)(to - begin)};
}

/*
 * Finds a field with this name, which may occur only once. Returns false if the field occurs twice.
 */
static bool field_of(const struct ws_job *job, const char *name, tr_bytes *value)
{
    const struct http_head *head = &job->answer.head;
    bool is_there = false;
    *value = (tr_bytes){"", 0};
    for (uint32_t i = 0; i < head->field_count; i++) {
        if (strcmp(head->fields[i].name, name) != 0)
            continue;
        if (is_there)
            return false;
        is_there = true;
        *value = (tr_bytes){head->fields[i].value, strlen(head->fields[i].value)};
    }
    return true;
}

/* Whether the answer has the headers that RFC 6455, 4.1 requires. */
static bool is_upgrade(const struct ws_job *job)
{
    tr_bytes upgrade, connection, accept;
    const tr_bytes key = {job->key, WS_KEY_SIZE};
    return field_of(job, "upgrade", &upgrade) && tr__ws_list_has(upgrade, "websocket") &&
           field_of(job, "connection", &connection) && tr__ws_list_has(connection, "upgrade") &&
           field_of(job, "sec-websocket-accept", &accept) && tr__ws_accept_is_valid(key, accept);
}

/* Checks the answer to the handshake. Returns TR_OK, TR_REFUSED or TR_BAD_DATA. */
static tr_status check(struct ws_job *job)
{
    tr_bytes protocol, extension;
    if (job->answer.status != 101) {
        if (job->call->refused)
            *job->call->refused = job->answer.status;
        return TR_REFUSED;
    }
    if (!is_upgrade(job) || !field_of(job, "sec-websocket-protocol", &protocol) ||
        !field_of(job, "sec-websocket-extensions", &extension))
        return TR_BAD_DATA;
    if (protocol.size) {
        const char *offered = job->call->protocols ? job->call->protocols : "";
        if (!tr__ws_list_has((tr_bytes){offered, strlen(offered)}, protocol.data))
            return TR_BAD_DATA;
        job->setup.protocol = protocol.data;
    }
    if (!extension.size)
        return TR_OK;
    bool is_agreed =
        job->call->compresses && tr__ws_deflate_accepted(extension, &job->setup.deflate);
    return is_agreed ? TR_OK : TR_BAD_DATA;
}

static tr_status shake(struct tr_self *self, struct ws_job *job)
{
    const tr_platform *platform = self->worker->loop.platform;
    uint64_t random[2] = {platform->random(platform), platform->random(platform)};
    unsigned char bytes[16];
    memcpy(bytes, random, sizeof bytes);
    tr__ws_key_write(bytes, job->key);
    tr_bytes request = make_request(job, self);
    if (!request.data)
        return TR_NO_MEMORY;
    tr_status status = tr__http_flow_write(&job->flow, request);
    if (status == TR_OK)
        status = tr__http_flow_head(&job->flow, &job->answer);
    return status == TR_OK ? check(job) : status;
}

/* ---- The verbs. ---- */

static bool call_is_good(const tr_ws_call *call)
{
    for (const struct tr_http_field *field = call->headers; field && field->name; field++) {
        if (!tr__http_field_is_good(field) || strncasecmp(field->name, "sec-websocket-", 14) == 0)
            return false;
    }
    return call->within_ns >= 0 && call->ping_ns >= 0 && call->message_max <= TR_PAYLOAD_MAX &&
           (!call->protocols || (call->protocols[0] && tr__http_is_clean(call->protocols))) &&
           (!call->authorization || tr__http_is_clean(call->authorization)) &&
           (!call->by || tr__http_by_is_good(call->by));
}

static bool has_tls_options(const tr_endpoint *by)
{
    return by && (by->trusts || by->certificate || by->key || by->server_name || by->insecure);
}

/* Returns the endpoint to which the WebSocket connects. */
static tr_endpoint endpoint_of(const struct ws_job *job, tr_time within_ns)
{
    const tr_endpoint *by = job->call->by;
    const char *address = by && by->address && by->address[0] ? by->address : job->url.address;
    bool is_unix = strchr(address, '/') || address[0] == '@';
    tr_endpoint to = {
        .size = sizeof to, .address = address, .connect_ns = within_ns, .protocol = &ws_protocol};
    to.kind = job->url.is_tls ? TR_ENDPOINT_TLS : is_unix ? TR_ENDPOINT_UNIX : TR_ENDPOINT_TCP;
    if (!job->url.is_tls)
        return to;
    to.alpn = "http/1.1";
    to.server_name = address == job->url.address ? NULL : job->url.host;
    if (by) {
        to.trusts = by->trusts;
        to.certificate = by->certificate;
        to.key = by->key;
        to.insecure = by->insecure;
        to.server_name = by->server_name ? by->server_name : to.server_name;
    }
    return to;
}

static void job_init(struct ws_job *job, struct tr_self *self, const tr_ws_call *call,
                     tr_time deadline_ns)
{
    memset(job, 0, sizeof *job);
    job->call = call;
    job->flow.self = self;
    job->flow.conn = &job->conn;
    job->flow.deadline_ns = deadline_ns;
    job->flow.upgrades = true;
    job->flow.limits =
        (struct http_limits){.head_max = TR_HTTP_HEAD_MAX, .headers_max = TR_HTTP_HEADERS_MAX};
    job->setup =
        (struct ws_setup){.role = WS_CLIENT,
                          .message_max = call->message_max ? call->message_max : TR_WS_MESSAGE_MAX,
                          .ping_ns = call->ping_ns ? call->ping_ns : TR_WS_PING_NS};
}

/* Makes a channel a WebSocket. Call when its handshake has ended. */
static tr_status begin(struct tr_self *self, struct ws_job *job)
{
    struct channel *channel;
    tr_status status = tr__channel_of(self, job->conn.channel, &channel);
    if (status == TR_OK && channel->state != CHANNEL_OPEN)
        status = TR_CLOSED;
    if (status == TR_OK)
        status = tr__ws_session_begin(channel, &job->setup);
    if (status != TR_OK)
        return status;
    if (rare_is_there(channel))
        channel->rare->within_ns = 0;
    tr__ws_wait(channel);
    /* frames may have come together with the answer, so handle them now */
    tr__channel_call(channel);
    return TR_OK;
}

static tr_status connect_as(struct tr_self *self, struct ws_job *job, tr_time within_ns,
                            tr_channel *made)
{
    const tr_endpoint to = endpoint_of(job, within_ns);
    struct channel *channel;
    tr_status status = tr_try_connect(self, &to, &job->conn.channel);
    if (status != TR_OK)
        return status;
    status = shake(self, job);
    if (status == TR_OK)
        status = begin(self, job);
    if (status == TR_OK)
        *made = job->conn.channel;
    else if (tr__channel_of(self, job->conn.channel, &channel) == TR_OK)
        /* the program has never got the channel, so its actor must not get tr_closed */
        tr__channel_free(channel);
    return status;
}

tr_status tr_self_ws_try_connect(tr_self *self, tr_channel *channel, const char *url,
                                 const tr_ws_call *given)
{
    TURN_VERB(self);
    tr_ws_call call;
    if (!self || !channel || !url || !given ||
        !sized_read(&call, sizeof call, given, given->size ? given->size : sizeof call) ||
        !call_is_good(&call))
        return TR_INVALID_ARGUMENT;
    if (!tr__http_is_built() || (call.compresses && !tr__deflate_is_built()))
        return TR_NOT_SUPPORTED;
    tr_time within_ns = call.within_ns ? call.within_ns : TR_CONNECT_NS;
    struct ws_job *job = tr_try_scratch(self, sizeof *job);
    if (!job)
        return TR_NO_MEMORY;
    job_init(job, self, &call, timer_deadline(clock_bound(&self->worker->clock), within_ns));
    tr_status status = tr__http_url_read(url, &job->url);
    if (status == TR_OK &&
        (!job->url.is_websocket || (!job->url.is_tls && has_tls_options(call.by))))
        status = TR_INVALID_ARGUMENT;
    return status == TR_OK ? connect_as(self, job, within_ns, channel) : status;
}

tr_channel tr_self_ws_connect(tr_self *self, const char *url, const tr_ws_call *call)
{
    TURN_VERB(self);
    tr_channel channel = {0};
    tr_status status = tr_self_ws_try_connect(self, &channel, url, call);
    if (status != TR_OK)
        tr_crash(self,
                 status,
                 "cannot connect to %s: %s",
                 url ? url : "nowhere",
                 tr_status_text(status));
    return channel;
}

const char *tr_ws_protocol(tr_self *self, tr_channel channel)
{
    TURN_VERB(self);
    struct channel *found;
    if (tr__channel_of(self, channel, &found) != TR_OK || !ws_session_of(found))
        return NULL;
    return tr__ws_protocol(ws_session_of(found));
}
