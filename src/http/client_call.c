/* SPDX-License-Identifier: Apache-2.0 */
#include "http/client_call.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/system.h"
#include "actor/verbs/self_memory.h"
#include "http/answer.h"
#include "http/check.h"
#include "http/h2_session.h"
#include "http/url.h"
#include "net/buffer.h"

/* The data of a turn that handles an ask. They are in scratch memory of the turn. */
struct http_job {
    struct tr_self *self;
    struct http_client *client;
    const struct tr_http_call_ *call;
    const char *method;
    bool has_body;
    bool is_elsewhere; /* a redirect has led to another host */
    uint32_t redirects;
    struct http_url url;
    struct http_url next; /* of a redirect */
    struct http_flow flow;
    struct http_answer_head head;
    char *key;
    const char *why;
};

/* ---- The head of a request. ---- */

/*
 * Headers that a program must not give, because the client itself decides about the body and the
 * connection.
 */
static const char *const own_headers[] = {"host",
                                          "content-length",
                                          "transfer-encoding",
                                          "connection",
                                          "expect",
                                          "upgrade",
                                          "te",
                                          "trailer",
                                          "keep-alive"};
/* Headers that must not be sent to another host after a redirect. */
static const char *const secret_headers[] = {
    "authorization", "cookie", "proxy-authorization", "www-authenticate"};

static bool is_listed(const char *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(list[i], name) == 0)
            return true;
    }
    return false;
}
#define IS_LISTED(list, name) is_listed(list, sizeof(list) / sizeof *(list), name)

static bool is_token(const char *text)
{
    const char *at = text;
    while (tr__http_token[(unsigned char)*at])
        at++;
    return at > text && !*at;
}

bool tr__http_field_is_good(const struct tr_http_field *field)
{
    return field->name && field->value && is_token(field->name) &&
           tr__http_is_clean(field->value) && !IS_LISTED(own_headers, field->name);
}

/* Whether a program may send these headers. */
static bool headers_are_good(const struct tr_http_call_ *call)
{
    for (size_t i = 0; i < call->headers.count; i++) {
        if (!tr__http_field_is_good(&call->headers.items[i]))
            return false;
    }
    return (!call->type || tr__http_is_clean(call->type)) &&
           (!call->authorization || tr__http_is_clean(call->authorization));
}

static bool has_header(const struct tr_http_call_ *call, const char *name)
{
    for (size_t i = 0; i < call->headers.count; i++) {
        if (strcasecmp(call->headers.items[i].name, name) == 0)
            return true;
    }
    return false;
}

static size_t size_of(const char *text)
{
    return text ? strlen(text) + 4 : 0;
}

static char *put(char *to, const char *name, const char *value)
{
    return stpcpy(stpcpy(stpcpy(stpcpy(to, name), ": "), value), "\r\n");
}

/*
 * Whether a request with this method must have "Content-Length: 0" if it has no body (RFC 9110,
 * 8.6).
 */
static bool expects_body(const char *method)
{
    return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 ||
           strcmp(method, "PATCH") == 0;
}

static char *put_framing(struct http_job *job, char *to)
{
    const struct tr_http_call_ *call = job->call;
    const struct http_flow *flow = &job->flow;
    if (flow->has_chunks)
        return put(to, "Transfer-Encoding", "chunked");
    if (!job->has_body && !(call->flags & CALL_OPENS) && !expects_body(job->method))
        return to;
    return to + sprintf(to, "Content-Length: %lld\r\n", (long long)flow->to_send);
}

/*
 * Makes the head of the request, in scratch memory. If out of memory, returns bytes whose data is
 * NULL.
 */
static tr_bytes make_head(struct http_job *job)
{
    const struct tr_http_call_ *call = job->call;
    size_t size = 256 + strlen(job->method) + strlen(job->url.target) + size_of(call->type) +
                  size_of(call->authorization) + strlen(job->url.authority);
    for (size_t i = 0; i < call->headers.count; i++)
        size += size_of(call->headers.items[i].name) + size_of(call->headers.items[i].value);
    char *begin = tr_try_scratch(job->self, size);
    if (!begin)
        return (tr_bytes){NULL, 0};
    char *to = stpcpy(stpcpy(begin, job->method), " ");
    to = stpcpy(stpcpy(to, job->url.target), " HTTP/1.1\r\n");
    to = put(to, "Host", job->url.authority);
    if (!has_header(call, "user-agent"))
        to = put(to, "User-Agent", "troupe");
    if (!has_header(call, "accept"))
        to = put(to, "Accept", "*/*");
    if (call->authorization && !job->is_elsewhere)
        to = put(to, "Authorization", call->authorization);
    if (job->has_body || call->flags & CALL_OPENS)
        to = call->type ? put(to, "Content-Type", call->type) : to;
    for (size_t i = 0; i < call->headers.count; i++) {
        const struct tr_http_field *field = &call->headers.items[i];
        if (!job->is_elsewhere || !IS_LISTED(secret_headers, field->name))
            to = put(to, field->name, field->value);
    }
    to = put_framing(job, to);
    if (call->flags & CALL_EXPECTS && (job->has_body || call->flags & CALL_OPENS))
        to = put(to, "Expect", "100-continue");
    to = stpcpy(to, "\r\n");
    return (tr_bytes){begin, (size_t)(to - begin)};
}

/* ---- Connections. ---- */

static const char *text_of(const char *text)
{
    return text ? text : "";
}

/* Fills in `wish`: which kind of connection the request needs. Returns false if out of memory. */
static bool make_wish(struct http_job *job, struct http_wish *wish)
{
    const struct tr_http_call_ *call = job->call;
    /*
     * the program's address, certificates and names are only for the host of its URL, not for one
     * that a redirect names
     */
    bool is_own = !job->is_elsewhere;
    const char *address = is_own && call->address ? call->address : job->url.address;
    bool is_unix = strchr(address, '/') || address[0] == '@';
    *wish = (struct http_wish){.deadline_ns = job->flow.deadline_ns,
                               .connections_max = call->connections_max,
                               .waiting_max = call->waiting_max};
    wish->demands_2 = call->flags & CALL_VERSION_2;
    wish->offers_2 = wish->demands_2 ||
                     (job->url.is_tls && tr__h2_is_built() && !(call->flags & CALL_VERSION_1));
    wish->to = (tr_endpoint){.size = sizeof wish->to, .address = address};
    wish->to.kind = job->url.is_tls ? TR_ENDPOINT_TLS
                    : is_unix       ? TR_ENDPOINT_UNIX
                                    : TR_ENDPOINT_TCP;
    if (job->url.is_tls) {
        wish->to.trusts = call->trusts;
        wish->to.alpn = !wish->offers_2 ? "http/1.1" : wish->demands_2 ? "h2" : "h2,http/1.1";
        wish->to.server_name = is_own && call->address ? job->url.host : NULL;
        if (is_own && call->server_name)
            wish->to.server_name = call->server_name;
        wish->to.certificate = is_own ? call->certificate : NULL;
        wish->to.key = is_own ? call->key : NULL;
        wish->to.insecure = is_own && call->flags & CALL_INSECURE;
    }
    const tr_endpoint *to = &wish->to;
    size_t size = 64 + strlen(address) + strlen(job->url.address) + size_of(to->trusts) +
                  size_of(to->server_name) + size_of(to->certificate) + size_of(to->key);
    char *key = tr_try_scratch(job->self, size);
    if (!key)
        return false;
    snprintf(key,
             size,
             "%d%d%d%d %s %s %s %s %s %s",
             job->url.is_tls,
             to->insecure,
             wish->offers_2,
             wish->demands_2,
             job->url.address,
             address,
             text_of(to->server_name),
             text_of(to->trusts),
             text_of(to->certificate),
             text_of(to->key));
    wish->key = key;
    return true;
}

static void flow_init(struct http_job *job)
{
    const struct tr_http_call_ *call = job->call;
    bool opens = call->flags & CALL_OPENS;
    tr_time deadline_ns = job->flow.deadline_ns;
    job->flow = (struct http_flow){.self = job->self, .deadline_ns = deadline_ns};
    job->flow.limits = (struct http_limits){.head_max = (size_t)call->head_max,
                                            .headers_max = TR_HTTP_HEADERS_MAX};
    job->flow.is_tls = job->url.is_tls;
    job->flow.is_head = strcmp(job->method, "HEAD") == 0;
    job->flow.has_chunks = opens && call->length <= 0;
    job->flow.to_send = opens ? call->length : job->has_body ? (int64_t)call->body.size : 0;
}

/* ---- One exchange. ---- */

/*
 * Sends the request, and reads the head of the answer. If the program sends the body of the request
 * later, reads no answer.
 */
static tr_status exchange(struct http_job *job)
{
    struct http_flow *flow = &job->flow;
    const struct tr_http_call_ *call = job->call;
    bool opens = call->flags & CALL_OPENS;
    bool waits = call->flags & CALL_EXPECTS && (opens || job->has_body);
    tr_bytes head = make_head(job);
    if (!head.data)
        return TR_NO_MEMORY;
    tr_status status = tr__http_flow_ask(flow, head);
    if (status == TR_OK && waits)
        status = tr__http_flow_expect(flow, &job->head);
    if (opens)
        return flow->has_begun ? TR_OK : status;
    if (status == TR_OK && job->has_body)
        status = tr__http_flow_send(flow, call->body);
    if (status == TR_OK)
        status = tr__http_flow_end(flow);
    /*
     * Read the answer even if the connection has ended, because the server may have answered before
     * that.
     */
    if (status != TR_OK && !flow->has_begun && status != TR_CLOSED && status != TR_RESET)
        return status;
    return tr__http_flow_head(flow, &job->head);
}

static bool may_repeat(const struct http_job *job)
{
    static const char *const methods[] = {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (strcmp(methods[i], job->method) == 0)
            return !(job->call->flags & CALL_OPENS);
    }
    return false;
}

/*
 * Whether a request that has failed may be sent again: either a kept connection has ended before
 * the answer, and the request may be repeated; or a server of HTTP/2 says that it has not processed
 * the request.
 */
static bool is_asked_again(const struct http_job *job, tr_status status, bool was_kept)
{
    bool is_gone = status == TR_CLOSED || status == TR_RESET;
    if (!is_gone || job->flow.has_any)
        return false;
    if (job->flow.is_unprocessed && !(job->call->flags & CALL_OPENS))
        return true;
    return was_kept && !job->flow.is_reset && may_repeat(job);
}

/*
 * Takes a connection, sends the request and reads the answer. If that fails and is_asked_again allows it, tries a
 * second time on a new connection.
 */
static tr_status exchange_safely(struct http_job *job)
{
    struct http_wish wish;
    if (!make_wish(job, &wish))
        return TR_NO_MEMORY;
    for (;;) {
        flow_init(job);
        tr_status status = tr__http_flow_open(&job->flow, &job->client->hosts, &wish);
        if (status != TR_OK) {
            if (status == TR_NOT_SUPPORTED)
                job->why = "the server does not agree on HTTP/2";
            return status;
        }
        bool was_kept = job->flow.conn->is_kept;
        status = exchange(job);
        if (status == TR_OK)
            return TR_OK;
        bool is_again = !wish.is_new && is_asked_again(job, status, was_kept);
        bool is_shared = job->flow.call;
        tr__http_flow_drop(&job->flow, &job->client->hosts, status);
        if (is_shared) /* it stays */
            tr__http_client_arm(job->self, job->client);
        if (!is_again)
            return status;
        wish.is_new = true;
    }
}

/* ---- Redirects. ---- */

static const char *field_of(const struct http_answer_head *head, const char *name)
{
    for (uint32_t i = 0; i < head->head.field_count; i++) {
        if (strcmp(head->head.fields[i].name, name) == 0)
            return head->head.fields[i].value;
    }
    return NULL;
}

/* Whether the answer is a redirect that the client follows. */
static bool is_redirect(const struct http_job *job)
{
    int status = job->head.status;
    bool is_one = status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
    return is_one && job->call->redirects_max && field_of(&job->head, "location");
}

/*
 * Reads and drops the rest of an answer's body, so that the connection can be kept. If the rest is
 * too long, ends the connection instead.
 */
static void finish_unread(struct http_job *job)
{
    tr_bytes piece;
    size_t dropped = 0;
    tr_status status = TR_OK;
    while (status == TR_OK && !job->flow.is_over && dropped <= TR_HTTP_DROP_MAX) {
        status = tr__http_flow_read(&job->flow, TR_HTTP_DROP_MAX, &piece);
        dropped += piece.size;
    }
    if (status == TR_OK && job->flow.is_over)
        tr__http_flow_close(&job->flow, &job->client->hosts, job->call->idle_ns);
    else
        tr__http_flow_drop(&job->flow, &job->client->hosts, status);
    tr__http_client_arm(job->self, job->client);
}

/*
 * Prepares the request to the URL of a redirect. Returns TR_OK, or why the redirect cannot be
 * followed.
 */
static tr_status redirect(struct http_job *job)
{
    int code = job->head.status;
    tr_status status =
        tr__http_url_resolve(&job->url, field_of(&job->head, "location"), &job->next);
    finish_unread(job);
    if (status != TR_OK || job->next.is_websocket) {
        job->why = "the location of a redirect is no URL of HTTP";
        return TR_BAD_DATA;
    }
    if (job->redirects++ == job->call->redirects_max) {
        job->why = "there are more redirects than .redirects_max";
        return TR_LIMIT;
    }
    if (job->url.is_tls && !job->next.is_tls && !(job->call->flags & CALL_DOWNGRADES)) {
        job->why = "a redirect leads from https to http";
        return TR_NOT_PERMITTED;
    }
    bool is_head = strcmp(job->method, "HEAD") == 0;
    bool is_post = strcmp(job->method, "POST") == 0;
    if (!is_head && (code == 303 || (is_post && (code == 301 || code == 302)))) {
        job->method = "GET";
        job->has_body = false;
    }
    /*
     * After one redirect to another host, no secrets are sent any more, even to the first host: the
     * other host may have chosen the URL there to steal them.
     */
    job->is_elsewhere |= !tr__http_url_is_same_origin(&job->url, &job->next);
    job->url = job->next;
    return TR_OK;
}

/* ---- The answer. ---- */

static void answer_fill(struct tr_http_answer *answer, const struct http_answer_head *head,
                        const char *url)
{
    *answer = (struct tr_http_answer){.status = head->status, .url = url};
    answer->headers.items = head->head.fields;
    answer->headers.count = head->head.field_count;
}

static void body_free(void *body)
{
    tr__net_buffer_free(body);
}

/* Reads the whole body into a buffer, which the caller frees. */
static tr_status read_all(struct http_flow *flow, uint64_t max, struct net_buffer *body)
{
    while (!flow->is_over) {
        tr_bytes piece;
        tr_status status = tr__http_flow_read(flow, 64 * 1024, &piece);
        if (status != TR_OK)
            return status;
        if (net_buffer_size(body) + piece.size > max) {
            flow->why = "the body has more than .body_max bytes";
            return TR_TOO_LARGE;
        }
        status = tr__net_buffer_append(body, piece.data, piece.size);
        if (status != TR_OK)
            return status;
    }
    return TR_OK;
}

tr_status tr__http_client_reply(struct tr_self *self, struct http_client *client,
                                struct http_flow *flow, const struct http_answer_head *head,
                                const struct http_stream_wish *wish)
{
    struct tr_http_answer answer;
    answer_fill(&answer, head, wish->url);
    answer.version = flow->call ? TR_HTTP_VERSION_2 : TR_HTTP_VERSION_1;
    if (wish->streams && !flow->is_over) {
        tr_status status = tr__http_stream_new(
            self, client, flow, wish->idle_ns, wish->body_max, wish->url, &answer.stream);
        if (status == TR_OK)
            (void)tr_self_try_reply(self, &tr_type_tr_http_answer, &answer);
        else
            tr__http_flow_drop(flow, &client->hosts, status);
        return status;
    }
    struct net_buffer *body = tr_scratch(self, sizeof *body);
    *body = NET_BUFFER(&self->worker->system->source);
    tr__turn_defer(
        self, body, body_free); /* this frees the body even if the turn ends during a wait */
    bool is_long = head->head.length > 0 && (uint64_t)head->head.length > wish->body_max;
    tr_status status =
        is_long && !flow->is_over ? TR_TOO_LARGE : read_all(flow, wish->body_max, body);
    if (status == TR_OK) {
        answer.body = net_buffer_bytes(body);
        (void)tr_self_try_reply(self, &tr_type_tr_http_answer, &answer);
    }
    tr__net_buffer_free(body);
    if (status == TR_OK)
        tr__http_flow_close(flow, &client->hosts, wish->idle_ns);
    else
        tr__http_flow_drop(flow, &client->hosts, status);
    tr__http_client_arm(self, client);
    return status;
}

/*
 * Makes a stream for the body of the request, and replies that the program may now send the body.
 */
static tr_status reply_open(struct http_job *job, const char *url)
{
    const struct tr_http_call_ *call = job->call;
    struct tr_http_answer answer = {.url = url};
    tr_status status = tr__http_stream_new(
        job->self, job->client, &job->flow, call->idle_ns, call->body_max, url, &answer.stream);
    if (status == TR_OK)
        (void)tr_self_try_reply(job->self, &tr_type_tr_http_answer, &answer);
    else
        tr__http_flow_drop(&job->flow, &job->client->hosts, status);
    return status;
}

static tr_status job_run(struct http_job *job)
{
    tr_status status;
    for (;;) {
        status = exchange_safely(job);
        if (status != TR_OK)
            return status;
        if (!job->flow.has_final || !is_redirect(job))
            break;
        status = redirect(job);
        if (status != TR_OK)
            return status;
    }
    char *url = tr_try_scratch(job->self, HTTP_URL_TEXT_MAX);
    if (!url) {
        tr__http_flow_drop(&job->flow, &job->client->hosts, status);
        return TR_NO_MEMORY;
    }
    tr__http_url_print(&job->url, url);
    if (job->call->flags & CALL_OPENS)
        return reply_open(job, url);
    const struct http_stream_wish wish = {.streams = job->call->flags & CALL_STREAMS,
                                          .idle_ns = job->call->idle_ns,
                                          .body_max = job->call->body_max,
                                          .url = url};
    return tr__http_client_reply(job->self, job->client, &job->flow, &job->head, &wish);
}

static bool has_tls_options(const struct tr_http_call_ *call)
{
    return call->trusts || call->certificate || call->key || call->server_name ||
           call->flags & CALL_INSECURE;
}

tr_status tr__http_client_call(struct tr_self *self, struct http_client *client,
                               const struct tr_http_call_ *message, const char **why)
{
    struct http_job *job = tr_try_scratch(self, sizeof *job);
    *why = NULL;
    if (!job)
        return TR_NO_MEMORY;
    job->self = self;
    job->client = client;
    job->call = message;
    job->method = message->method;
    job->has_body = message->has_body;
    job->is_elsewhere = false;
    job->redirects = 0;
    job->why = NULL;
    job->flow.why = NULL;
    job->flow.deadline_ns = tr__http_client_deadline(self);
    tr_status status = tr__http_url_read(message->url, &job->url);
    *why = "the URL is not one of http or https";
    if (status != TR_OK || job->url.is_websocket)
        return status == TR_OK ? TR_INVALID_ARGUMENT : status;
    *why = "options of TLS for a URL without it";
    if (!job->url.is_tls && has_tls_options(message))
        return TR_INVALID_ARGUMENT;
    *why = "a method or a header that no request may have";
    if (!is_token(message->method) || strcmp(message->method, "CONNECT") == 0 ||
        !headers_are_good(message))
        return TR_INVALID_ARGUMENT;
    *why = NULL;
    status = job_run(job);
    *why = job->why ? job->why : job->flow.why;
    return status;
}
