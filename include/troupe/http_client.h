/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP as a client: requests to servers are asks.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(rate, (str, from), (str, to), (f64, factor));
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     const struct tr_http_answer *answer;
 *     const struct rate *rate;
 *     tr_http_call_ask asked = tr_http_ask(self, "http://127.0.0.1:1/rates/eur", .within_ns = TR_SECOND);
 *     if (tr_try_await(self, asked, &answer) != TR_OK)
 *         tr_log_info(self, "no rate: %s", tr_ask_error(self, asked)->text);
 *     else if (answer->status == 200 && tr_http_try_json(self, answer, rate, &rate) == TR_OK)
 *         tr_log_info(self, "%s is %f %s", rate->from, rate->factor, rate->to);
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, app);
 * }
 * ```
 *
 * The turn that asks gets the answer, or its ask ends with a status. An answer with a status of HTTP such as 404 is no
 * failure of the ask. Failures are the statuses of all asks (troupe/ask.h), and
 *     TR_CONNECT_REFUSED, TR_UNREACHABLE, TR_ADDRESS_INVALID (the name is not known)
 *     TR_TIMEOUT      .within_ns, or the deadline of the request that this turn handles
 *     TR_TLS_FAILED   no agreement, or a certificate that is not trusted; nothing of the request was sent
 *     TR_CLOSED, TR_RESET, TR_STALLED   the connection ended before the answer did
 *     TR_BAD_DATA     what came is no answer of HTTP, or can be read in two ways
 *     TR_TOO_LARGE    the head, or a body of more than .body_max bytes; with HTTP/2 also a head of the request of more than 64 KiB
 *     TR_LIMIT        TR_HTTP_WAITING_MAX asks wait for a connection to this host, or more than
 *                     .redirects_max redirects
 *     TR_NOT_PERMITTED   a redirect from https to http
 *     TR_INVALID_ARGUMENT   the URL, the method, a header or another member
 *     TR_NOT_SUPPORTED   built without HTTP, without TLS, or without what .version asks for; a server of https that does not
 *                     agree on HTTP/2, which .version asks for
 * tr_ask_error has the text.
 *
 * Connections. Each worker keeps connections to a host for later asks, for all its actors: at most TR_HTTP_CONNECTIONS_MAX
 * to one host, each for TR_HTTP_IDLE_NS after its last answer. Asks with another .by or .version have connections of
 * their own. When all are busy, asks wait for one in the order in which they came. An ask whose kept connection has
 * ended before anything of the answer came is sent again once, on a new connection, if its method may be repeated (GET,
 * HEAD, PUT, DELETE, OPTIONS) and its body is no stream. No other ask is repeated, except one that a server of HTTP/2
 * reports as not handled.
 *
 * Versions. A server of https is offered HTTP/2 and HTTP/1.1, and the client speaks what it chooses. Without TLS it is HTTP/1.1,
 * or HTTP/2 by prior knowledge with .version = TR_HTTP_VERSION_2. Asks of one host share a connection of HTTP/2, each as a
 * stream, as many at once as the server allows, at most TR_HTTP2_STREAMS_MAX; one more opens another connection, or
 * waits. Connections that end with GOAWAY do not count while they answer what they have, unless there are as many of them as
 * .connections_max. A stream that nobody reads holds TR_HTTP2_WINDOW bytes, and does not stop the others. An ask that ends by
 * its deadline resets its stream, and so does a stream that is given up: the connection stays. A connection on which nothing
 * came since such an ask gets a ping, and no further asks until something comes; if nothing comes within TR_HTTP2_PING_NS, it
 * ends with TR_STALLED. A stream that the server refuses (REFUSED_STREAM), or that its GOAWAY leaves out, is asked again once,
 * whatever its method, unless its body is a stream; if that fails too: TR_RESET or TR_CLOSED.
 * Any other RST_STREAM: TR_RESET; the text has its code. Frames that are wrong: TR_BAD_DATA, and the connection ends.
 *
 * TLS is verified against the authorities of the system, or those of .by, and the name of the URL. The answers of HEAD and those
 * with 204 and 304 have no body. Nothing is decompressed: no Accept-Encoding is sent unless .headers has one.
 */
#ifndef TROUPE_HTTP_CLIENT_H
#define TROUPE_HTTP_CLIENT_H

#include <troupe/http.h>

/** The version of HTTP: the one that an ask wants, or the one in which its answer came. */
typedef enum tr_http_version {
    TR_HTTP_VERSION_ANY, /* HTTP/2 if a server of https chooses it, else HTTP/1.1 */
    TR_HTTP_VERSION_1,   /* HTTP/1.1 */
    TR_HTTP_VERSION_2    /* HTTP/2; without TLS by prior knowledge */
} tr_http_version;

/** Members of tr_http_ask and tr_http_open. All zero is the default. Everything is copied. */
typedef struct tr_http_call {
    size_t size TR_ZERO;        /* need not be set */
    const char *method TR_ZERO; /* NULL: GET, or POST with a body */
    const char *type
        TR_ZERO; /* Content-Type; NULL: the type for text or for JSON, or application/octet-stream */
    const char *text TR_ZERO; /* the body: .text, .body or .json, or none */
    tr_bytes body TR_ZERO;
    tr_message json TR_ZERO; /* TR_AS_JSON(order, .id = 7) */
    const char *authorization
        /* the header Authorization; like Cookie, it is not sent to another host after a redirect */
        TR_ZERO;
    const struct tr_http_field *headers TR_ZERO; /* further ones; the last is followed by zeros */
    tr_time within_ns TR_ZERO;                   /* for the whole ask; 0: TR_HTTP_CALL_NS */
    size_t head_max
        TR_ZERO; /* the head of the answer has at most so many bytes; 0: TR_HTTP_HEAD_MAX */
    size_t body_max
        TR_ZERO; /* without .streams the body of the answer has at most so many bytes; 0: TR_HTTP_BODY_MAX */
    uint32_t redirects_max TR_ZERO; /* redirects that are followed; 0: a redirect is the answer */
    bool may_downgrade TR_ZERO;     /* a redirect may lead from https to http */
    bool expects TR_ZERO;           /* the body waits for 100 Continue, up to TR_HTTP_CONTINUE_NS */
    bool streams TR_ZERO;           /* the ask ends with the head; tr_http_receive reads the body */
    int64_t length TR_ZERO; /* for tr_http_open: bytes of the body; 0: not known, sent in chunks */
    uint32_t connections_max
        TR_ZERO; /* opens no connection if the host has this many; 0: TR_HTTP_CONNECTIONS_MAX */
    uint32_t waiting_max TR_ZERO; /* TR_LIMIT if this many asks wait; 0: TR_HTTP_WAITING_MAX */
    /* how long the connection of this ask is kept; 0: TR_HTTP_IDLE_NS */
    tr_time idle_ns TR_ZERO;
    /*
     * An endpoint of which only these members may be set: .address, another way to the host (an
     * address, or the path of a UNIX socket); .trusts, .certificate, .key, .server_name, .insecure
     * of TLS. Other members: TR_INVALID_ARGUMENT.
     */
    const tr_endpoint *by TR_ZERO;
    tr_http_version version TR_ZERO; /* unless TR_HTTP_VERSION_ANY, no other version is spoken */
} tr_http_call;

/** A request or an answer whose body is sent or read piece by piece. All zero is none. */
TR_MESSAGE(tr_http_stream, (ref, keeper), (u64, number));
/** An answer. Names of headers are in lower case. `url` is where it came from, after redirects; `version` is a tr_http_version. */
TR_MESSAGE(tr_http_answer, (i32, status), (list(message(tr_http_field)), headers), (bytes, body),
           (str, url), (message(tr_http_stream), stream), (u32, version));
/** What tr_http_ask returns: an ask, for tr_await, tr_try_await and tr_await_any. */
typedef union tr_http_call_ask {
    tr_pending any;
    const struct tr_http_answer *reply; /* Never read: only the type of this member matters. */
} tr_http_call_ask;

/**
 * Sends a request to a server and returns an ask for its answer:
 *     tr_await(self, tr_http_ask(self, "https://example.org/rates"))
 *     tr_http_ask(self, url, .json = TR_AS_JSON(order, .id = 7), .authorization = "Bearer x", .redirects_max = 5)
 * Members of tr_http_call follow the URL. The fragment of the URL is not sent. A URL with a user in
 * it gives TR_INVALID_ARGUMENT. Host, Content-Length, Transfer-Encoding, Connection, Expect and
 * Upgrade cannot be in .headers. Redirects: 303, and POST after 301 and 302, continue as GET
 * without the body; others with the same method and body. In a turn. Does not wait.
 */
#define tr_http_ask(self, ...) TR_HTTP_ASK_(self, __VA_ARGS__, )
/** A message as the body of a request: .json = TR_AS_JSON(order, .id = 7). In a turn. Does not wait. */
#define TR_AS_JSON(...) TR_AS_JSON_(TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
/**
 * Reads the body of an answer as a message: tr_http_try_json(self, answer, order, &order), with a `const struct order *`,
 * borrowed until the turn ends. TR_BAD_DATA: the body is no such message; the log names the field. TR_TOO_LARGE,
 * TR_TOO_DEEP, TR_NO_MEMORY.
 * In a turn. Does not wait.
 */
#define tr_http_try_json(self, answer, m, message)                                                 \
    tr_self_http_answer_json(self, answer, &tr_type_##m, TR_HTTP_MESSAGE_OUT_(struct m, message))
/**
 * Begins a request whose body is sent by tr_http_send:
 *     tr_http_open(self, &stream, "https://example.org/big", .method = "PUT", .length = size)
 * Returns TR_OK when the head was sent, or a status of tr_http_ask. .within_ns limits that; tr_http_send, tr_http_finish and
 * tr_http_receive take up to TR_HTTP_CALL_NS each. .redirects_max, .text, .body, .json and .streams: TR_INVALID_ARGUMENT;
 * `streams` is an argument of tr_http_finish.
 * In a turn. May wait.
 */
#define tr_http_open(self, stream, ...) TR_HTTP_OPEN_(self, stream, __VA_ARGS__, )

TR_BEGIN_C
/** Returns the first header of an answer with this name, in any case, or NULL. Any thread. Does not wait. */
const char *tr_http_answer_header(const struct tr_http_answer *answer, const char *name);
/**
 * Sends a piece of the body, of at most TR_HTTP_PIECE_MAX bytes, and waits until the connection has
 * taken it. TR_CLOSED: the server has answered already, or has ended the connection; tr_http_finish
 * gives the answer or the reason. TR_LIMIT: more than .length. TR_NOT_FOUND: the stream has ended,
 * or was not used for TR_HTTP_STREAM_NS. TR_TOO_LARGE, TR_TIMEOUT, TR_INVALID_TRANSITION (another
 * turn uses it). In a turn. May wait.
 */
tr_status tr_http_send(tr_self *self, struct tr_http_stream stream, tr_bytes bytes);
/**
 * Ends the body, and returns an ask for the answer, as tr_http_ask does. TR_INVALID_TRANSITION: fewer bytes than
 * .length were sent.
 * In a turn. Does not wait.
 */
tr_http_call_ask tr_http_finish(tr_self *self, struct tr_http_stream stream, bool streams);
/**
 * Reads the next piece of the body of an answer with .streams into `buffer`. *got is 0 at the end of the body, and at once if the
 * answer has none. A server whose stream is not read has to wait. TR_NOT_FOUND: the stream has ended, or was not used for
 * TR_HTTP_STREAM_NS. TR_CLOSED, TR_RESET, TR_BAD_DATA: the body is not whole. TR_TIMEOUT, TR_INVALID_TRANSITION (another turn
 * uses it).
 * In a turn. May wait.
 */
TR_MUST_CHECK tr_status tr_http_receive(tr_self *self, struct tr_http_stream stream, void *buffer,
                                        size_t size, size_t *got);
/**
 * Gives a stream up: its connection ends, but a connection of HTTP/2 stays. Does nothing if the
 * stream has ended. In a turn. Does not wait.
 */
void tr_http_drop(tr_self *self, struct tr_http_stream stream);
TR_END_C

/* ---- WebSockets. ---- */

/** Members of tr_ws_connect. All zero is the default. */
typedef struct tr_ws_call {
    size_t size TR_ZERO;                         /* need not be set */
    const char *protocols TR_ZERO;               /* "chat.v2, chat.v1": the server may choose one */
    const char *authorization TR_ZERO;           /* the header */
    const struct tr_http_field *headers TR_ZERO; /* further ones; the last is followed by zeros */
    tr_time within_ns TR_ZERO; /* for the connection and the handshake; 0: TR_CONNECT_NS */
    size_t message_max
        TR_ZERO; /* a message that comes has at most so many bytes; 0: TR_WS_MESSAGE_MAX */
    tr_time ping_ns TR_ZERO;       /* see TR_WS_PING_NS, which is the default; 0: the default */
    bool compresses TR_ZERO;       /* offers permessage-deflate, without context between messages */
    int *refused TR_ZERO;          /* gets the HTTP status if the server refuses */
    const tr_endpoint *by TR_ZERO; /* see the member of this name in tr_http_call */
} tr_ws_call;

/**
 * Connects to a server of WebSockets: tr_ws_connect(self, "wss://example.org/chat", .protocols = "chat"). The channel belongs
 * to this actor. TR_ON(tr_ws_message, ...) gets what comes, the verbs of troupe/http.h send and close, and tr_closed is its end,
 * as on the side of a server. Where tr_ws_try_connect would return an error, the turn ends with it.
 * In a turn. May wait.
 */
#define tr_ws_connect(self, ...) TR_WS_CONNECT_(self, __VA_ARGS__, )
/**
 * As tr_ws_connect, but writes the channel to a tr_channel * and returns a status: those of
 * tr_try_connect, and TR_REFUSED: the server has answered with another status than 101; *.refused
 * has that status. TR_BAD_DATA: its answer is no handshake of RFC 6455, or has a protocol or an
 * extension that was not offered. TR_INVALID_ARGUMENT: the URL, a header, or another member.
 * TR_NOT_SUPPORTED: built without HTTP, TLS, or zlib for .compresses. In a turn. May wait.
 */
#define tr_ws_try_connect(self, channel, ...) TR_WS_TRY_CONNECT_(self, channel, __VA_ARGS__, )

TR_BEGIN_C
/**
 * Returns the protocol on which both sides of a WebSocket have agreed, or NULL; borrowed until the channel ends.
 * In a turn. Does not wait.
 */
const char *tr_ws_protocol(tr_self *self, tr_channel channel);
TR_END_C

#include <troupe/detail/http_client.h>

#endif
