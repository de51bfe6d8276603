/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A session of the inspector. There are two kinds. A session either answers a request for a file of
 * the page, or it has the WebSocket of a page and the connection of this page to the control
 * socket.
 */
#include <stdio.h>
#include <string.h>
#include <troupe/http.h>

#include "inspect/assets.h"
#include "inspect/inside.h"
#include "wire/utf8.h"

/** Codes with which the inspector closes a WebSocket (ui/PROTOCOL.md). */
enum { CLOSE_NO_PROGRAM = 4001, CLOSE_NO_REQUEST = 4002, CLOSE_TOO_MANY = 4003 };

#define GREETING_NS (5 * TR_SECOND)

/*
 * The first line that a control socket sends, and its answer to "session". Members of these lines
 * that are not here are ignored.
 */
TR_MESSAGE(tr_inspect_greeting, (u32, troupe), (str, app), (i32, pid), (str, why));
TR_MESSAGE(tr_inspect_joined, (u32, pages));
TR_MESSAGE(tr_inspect_answer, (optional(message(tr_inspect_joined)), ok), (str, why));

struct page {
    struct inspector *inspector;
    /*
     * The channel to the program. TR_NO_CHANNEL: this session has no page, or the channel has
     * ended.
     */
    tr_channel control;
    bool is_page; /* this session counts as an open page */
};

/*
 * Cuts off all whole lines that have come, so that the page gets them as one message. Each message costs the page a
 * task of its main thread, and a list has hundreds of lines.
 */
static size_t cut_lines(const tr_framing *framing, tr_bytes bytes, size_t seen, tr_bytes *piece)
{
    const char *begin = bytes.data;
    (void)framing;
    for (size_t end = bytes.size; end > seen; end--) {
        if (begin[end - 1] != '\n')
            continue;
        *piece = (tr_bytes){begin, end - 1};
        return end;
    }
    return 0;
}

static const tr_framing lines = {.name = "lines of an answer", .cut = cut_lines};

static tr_next on_begin(struct page *page, const struct tr_inspect_begin *message)
{
    page->inspector = inspector_of(message);
    return TR_SAME;
}

/* ---- Requests. ---- */

static void headers_set(tr_self *self)
{
    tr_http_set(self,
                "content-security-policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action "
                "'none'");
    tr_http_set(self, "x-content-type-options", "nosniff");
    tr_http_set(self, "x-frame-options", "DENY");
    tr_http_set(self, "referrer-policy", "no-referrer");
    tr_http_set(self, "cross-origin-resource-policy", "same-origin");
    tr_http_set(self, "cache-control", "no-store");
}

/* Sets the headers that every answer has. Refuses a request whose Host or Origin is wrong. */
static bool is_for_here(tr_self *self, const struct page *page,
                        const struct tr_http_request *request, bool needs_origin)
{
    const struct inspector_options *options = &page->inspector->options;
    const char *origin = tr_http_header(self, "origin");
    tr_address here = tr_channel_address(self, tr_peer(self));
    bool is_tls = options->certificate != NULL;
    headers_set(self);
    if (!tr__guard_host(request->host, &here, options->host, is_tls)) {
        (void)tr_http_reply(self, 421, .text = "this inspector has another address\n");
        return false;
    }
    if (origin || needs_origin) {
        if (!tr__guard_origin(origin, request->host, is_tls)) {
            (void)tr_http_reply(self, 403, .text = "pages of other sites may not ask here\n");
            return false;
        }
    }
    return true;
}

static tr_next on_file(tr_self *self, struct page *page, const struct tr_http_request *request)
{
    const struct asset *asset = tr__asset_find(request->path);
    if (!is_for_here(self, page, request, false))
        return TR_SAME;
    if (!asset || (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0))
        return tr_http_reply(self, 404, .text = "not found\n");
    return tr_http_reply(self, 200, .type = asset->type, .body = asset->bytes);
}

/* Sends lines of the program to the page, as one message. */
static void lines_send(tr_self *self, tr_bytes text)
{
    if (tr_ws_send(self, tr_peer(self), text, true) != TR_INVALID_ARGUMENT)
        return;
    /*
     * The text is not UTF-8, because of a value of the program. The page gets "?" for each invalid
     * byte.
     */
    unsigned char *copy = tr_scratch(self, text.size);
    memcpy(copy, text.data, text.size);
    for (size_t i = 0; i < text.size;) {
        size_t good = tr__utf8_character(copy + i, text.size - i);
        if (!good)
            copy[i] = '?';
        i += good ? good : 1;
    }
    (void)tr_ws_send(self, tr_peer(self), (tr_bytes){copy, text.size}, true);
}

/* ---- A page begins. ---- */

static void page_leave(void *context)
{
    struct page *page = context;
    if (page->is_page)
        (void)atom32_fetch_sub(&page->inspector->pages, 1, ATOM_RELAXED);
    page->is_page = false;
}

/* Counts one more open page. Returns false if there are too many pages. */
static bool page_enter(tr_self *self, struct page *page)
{
    struct inspector *inspector = page->inspector;
    if (page->is_page)
        return true;
    if (atom32_load(&inspector->pages, ATOM_RELAXED) >= INSPECTOR_PAGES)
        return false;
    (void)atom32_fetch_add(&inspector->pages, 1, ATOM_RELAXED);
    page->is_page = true;
    tr_at_end(self, page, page_leave);
    return true;
}

/* Closes a page, because the program of the page cannot be reached. */
static void page_close(tr_self *self, const char *why)
{
    tr_ws_close(self, tr_peer(self), CLOSE_NO_PROGRAM, why);
}

/*
 * Reads a line of the program as a message. Sets *rest to the lines that came with it. If that fails, returns NULL, with a
 * sentence in *why.
 */
static const void *line_read(tr_self *self, tr_channel control, const tr_type *type, tr_bytes *line,
                             tr_bytes *rest, const char **why)
{
    tr_wire_error error;
    const char *end;
    size_t space_size;
    *why = "the program does not answer on its control socket";
    if (tr_try_read(self, control, line) != TR_OK)
        return NULL;
    end = memchr(line->data, '\n', line->size);
    *rest = end ? (tr_bytes){end + 1, line->size - (size_t)(end + 1 - (const char *)line->data)}
                : TR_BYTES("");
    line->size -= end ? rest->size + 1 : 0;
    space_size = type->size + 2 * line->size + 1024;
    void *space = tr_scratch(self, space_size);
    *why = "no program of Troupe answers on the control socket";
    if (tr_json_read_in(type, *line, space, space_size, NULL, &error) != TR_OK)
        return NULL;
    *why = NULL;
    return space;
}

/* Sends the first message of a page. */
static void greet(tr_self *self, const struct page *page,
                  const struct tr_inspect_greeting *greeting,
                  const struct tr_inspect_joined *joined, const char *line)
{
    struct inspector *inspector = page->inspector;
    char program[TR_NAME_MAX + 1];
    size_t length = 0;
    for (const char *at = greeting->app ? greeting->app : ""; *at && length < TR_NAME_MAX; at++)
        program[length++] = *at;
    for (size_t i = 0; i < length; i++) {
        if (program[i] == '"' || program[i] == '\\' || (unsigned char)program[i] < 0x20)
            program[i] = '?';
    }
    program[length] = '\0';
    (void)tr_ws_print(self,
                      tr_peer(self),
                      "{\"inspect\":{\"allowed\":%s,\"pid\":%d,\"program\":\"%s\","
                      "\"since_unix_ms\":%lld,\"by\":\"%s\",\"pages\":%u,\"pages_max\":%d,"
                      "\"dropped\":%llu}}",
                      inspector->options.allows ? "true" : "false",
                      greeting->pid,
                      program,
                      (long long)(inspector->since_ns / TR_MILLISECOND),
                      inspector->options.is_tool ? "tool" : "program",
                      joined->pages,
                      INSPECTOR_PAGES,
                      (unsigned long long)atom64_load(&inspector->dropped, ATOM_RELAXED));
    (void)tr_ws_text(self, tr_peer(self), line);
}

/*
 * Sends the verb "session" to the program. From then on the program refuses what a page is not
 * allowed to do.
 */
static const struct tr_inspect_joined *join(tr_self *self, const struct page *page, tr_bytes *rest,
                                            const char **why)
{
    tr_bytes line;
    (void)tr_print(self,
                   page->control,
                   "{\"id\":0,\"do\":\"session\",\"text\":\"inspector %s\",\"reads_only\":%s}\n",
                   tr_address_text(self, tr_channel_peer(self, tr_peer(self))),
                   page->inspector->options.allows ? "false" : "true");
    const struct tr_inspect_answer *answer =
        line_read(self, page->control, &tr_type_tr_inspect_answer, &line, rest, why);
    if (!answer)
        return NULL;
    if (answer->ok.has)
        return &answer->ok.value;
    *why = answer->why && *answer->why ? answer->why : "the program is of an older version";
    return NULL;
}

/*
 * Connects to the program and greets the page. Returns NULL on success, and on failure a sentence
 * that says why.
 */
static const char *connect_program(tr_self *self, struct page *page)
{
    const struct inspector_options *options = &page->inspector->options;
    char path[TR_ADDRESS_PATH_MAX];
    char *why = tr_scratch(self, INSPECTOR_WHY_SIZE);
    const char *wrong;
    tr_bytes line;
    /* lines of the program that came with the line that was read last; the page gets them after the greeting */
    tr_bytes rest;
    if (!options->find(options->context, path, sizeof path, why, INSPECTOR_WHY_SIZE))
        return why;
    tr_status status = tr_try_connect(
        self,
        TR_UNIX(
            path, .framing = &lines, .frame_max = INSPECTOR_LINE_MAX, .connect_ns = GREETING_NS),
        &page->control);
    if (status != TR_OK) {
        page->control = TR_NO_CHANNEL;
        (void)snprintf(why,
                       INSPECTOR_WHY_SIZE,
                       "the control socket of the program does not answer: %s",
                       tr_status_text(status));
        return why;
    }
    tr_channel_within(self, page->control, GREETING_NS);
    const struct tr_inspect_greeting *greeting =
        line_read(self, page->control, &tr_type_tr_inspect_greeting, &line, &rest, &wrong);
    if (!greeting)
        return wrong;
    if (greeting->troupe != 1)
        return greeting->why && *greeting->why ? greeting->why
                                               : "the program is of another version";
    char *first = tr_scratch(self, line.size + 1);
    memcpy(first, line.data, line.size);
    first[line.size] = '\0';
    const struct tr_inspect_joined *joined = join(self, page, &rest, &wrong);
    if (!joined)
        return wrong;
    tr_channel_within(self, page->control, 0);
    greet(self, page, greeting, joined, first);
    if (rest.size)
        lines_send(self, rest);
    return NULL;
}

static tr_next on_page(tr_self *self, struct page *page, const struct tr_http_request *request)
{
    const char *protocols = tr_http_header(self, "sec-websocket-protocol");
    if (!is_for_here(self, page, request, true))
        return TR_SAME;
    if (!tr__guard_token(protocols, page->inspector->token))
        return tr_http_reply(self, 403, .text = "the token is wrong\n");
    if (!tr__guard_protocol(protocols))
        return tr_http_reply(self, 400, .text = "the subprotocol " GUARD_PROTOCOL " is missing\n");
    tr_next next = tr_ws_accept_as(self, GUARD_PROTOCOL);
    if (!page_enter(self, page)) {
        /*
         * Accept the WebSocket and then close it, because a page can read the reason of a close,
         * but not the reason of a refusal.
         */
        tr_ws_close(self, tr_peer(self), CLOSE_TOO_MANY, "too many pages are open; close one");
        return next;
    }
    const char *why = connect_program(self, page);
    if (why)
        page_close(self, why);
    return next;
}

/* ---- Messages of an open page. ---- */

/* Returns why a message of a page is no request. Returns NULL if it may be a request. */
static const char *request_is_wrong(const struct tr_ws_message *message)
{
    if (!message->is_text)
        return "a request is a text";
    if (message->bytes.size > INSPECTOR_REQUEST_MAX)
        return "a request has at most 60000 bytes";
    return memchr(message->bytes.data, '\n', message->bytes.size) ? "a request is one line" : NULL;
}

static tr_next on_request(tr_self *self, struct page *page, const struct tr_ws_message *message)
{
    const char *why = request_is_wrong(message);
    if (why) {
        tr_ws_close(self, message->channel, CLOSE_NO_REQUEST, why);
        return TR_SAME;
    }
    /* If this fails because the program is gone, a tr_closed will follow. */
    if (message->bytes.size && tr_write(self, page->control, message->bytes) == TR_OK)
        (void)tr_write(self, page->control, TR_BYTES("\n"));
    return TR_SAME;
}

static tr_next on_answer(tr_self *self, const struct tr_received *message)
{
    lines_send(self, message->bytes);
    return TR_SAME;
}

static tr_next on_closed(tr_self *self, struct page *page, const struct tr_closed *message)
{
    bool is_control = page->control.bits && message->channel.bits == page->control.bits;
    if (!is_control) {
        if (message->status == TR_STALLED)
            (void)atom64_fetch_add(&page->inspector->dropped, 1, ATOM_RELAXED);
        return TR_STOP;
    }
    page->control = TR_NO_CHANNEL;
    /* unsent bytes mean that the page reads more slowly than the program writes */
    if (tr_output_size(self, tr_peer(self)) > 0)
        (void)atom64_fetch_add(&page->inspector->dropped, 1, ATOM_RELAXED);
    page_close(self, "the program has ended, or has closed the connection");
    return TR_SAME;
}

TR_BEHAVIOR(tr_inspect_page, struct page, TR_SETUP_WITH(tr_inspect_begin, on_begin),
            TR_WEBSOCKET("/ws", tr_http_request, on_page), TR_ON(tr_http_request, on_file),
            TR_ON(tr_ws_message, on_request), TR_ON(tr_received, on_answer),
            TR_ON(tr_closed, on_closed));
