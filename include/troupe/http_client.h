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
 * The turn that asks gets the answer, or its ask ends with a failure. An answer with a status of HTTP such as 404 is no
 * failure of the ask. A failure is one of the statuses of all asks (troupe/ask.h), or
 *     TR_CONNECT_REFUSED, TR_UNREACHABLE, TR_ADDRESS_INVALID (the name is not known)
 *     TR_TIMEOUT      .within_ns is over, or the deadline of the request that this turn handles has
 *                     passed
 *     TR_TLS_FAILED   no agreement, or a certificate that is not trusted; nothing of the request was sent
 *     TR_CLOSED, TR_RESET, TR_STALLED   the connection ended before the answer did
 *     TR_BAD_DATA     the answer is not HTTP, or can be read in two ways
 *     TR_TOO_LARGE    the head of the answer is too large, or its body has more than .body_max bytes; with HTTP/2 also:
 *                     the head of the request has more than 64 KiB
 *     TR_LIMIT        TR_HTTP_WAITING_MAX asks wait for a connection to this host, or more than
 *                     .redirects_max redirects
 *     TR_NOT_PERMITTED   a redirect from https to http
 *     TR_INVALID_ARGUMENT   the URL, the method, a header or another member is wrong
 *     TR_NOT_SUPPORTED   the library was built without HTTP, without TLS, or without the .version; or a server of https
 *                        does not agree to the .version HTTP/2
 * tr_ask_error has the text.
 *
 * Connections. Each worker keeps connections to a host for later asks of all its actors: at most
 * TR_HTTP_CONNECTIONS_MAX to one host, each for TR_HTTP_IDLE_NS after its last answer. Asks with another .by or
 * .version have connections of their own. When all connections are busy, asks wait in the order in which they came. A
 * kept connection may end before anything of the answer came. Then the ask is sent again once, on a new connection, if
 * its method may be repeated (GET, HEAD, PUT, DELETE, OPTIONS) and its body is no stream. No other ask is repeated,
 * except an ask that a server of HTTP/2 reports as not handled.
 *
 * Versions. The client offers HTTP/2 and HTTP/1.1 to a server of https, and speaks what the server chooses. Without TLS
 * the client speaks HTTP/1.1, or HTTP/2 by prior knowledge with .version = TR_HTTP_VERSION_2. Asks to one host share a
 * connection of HTTP/2. Each ask is a stream. A connection has as many streams at once as the server allows, at most
 * TR_HTTP2_STREAMS_MAX. An ask beyond this number opens another connection, or waits. A connection that has got a
 * GOAWAY finishes its streams, and meanwhile does not count for .connections_max, unless there are already
 * .connections_max such connections. A stream that nobody reads holds up to TR_HTTP2_WINDOW bytes, and does not stop
 * the other streams. If an ask ends by its deadline, or a stream is given up, the stream is reset and the connection
 * stays. If the server has sent nothing on the connection since that ask began, the client sends a ping, and gives the
 * connection no further asks until something comes. If nothing comes within TR_HTTP2_PING_NS, the connection ends with
 * TR_STALLED. If the server refuses a stream (REFUSED_STREAM), or its GOAWAY leaves a stream out, the request is sent
 * again once, whatever its method, unless its body is a stream. If that fails too, the status is TR_RESET or TR_CLOSED.
 * After any other RST_STREAM the status is TR_RESET, and the text has its code. After frames that are wrong the status
 * is TR_BAD_DATA, and the connection ends.
 *
 * The certificate of a server must come from an authority of the machine, or of .by, and must have the name in the URL.
 * Answers to HEAD, and answers with 204 and 304, have no body. Bodies are not decompressed; an Accept-Encoding is sent
 * only if .headers has one.
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

/**
 * A request: the members of tr_http_ask and tr_http_open. All zero is the default. Everything is
 * copied.
 */
typedef struct tr_http_call {
    size_t size TR_ZERO;        /* need not be set */
    const char *method TR_ZERO; /* NULL: POST if there is a body, else GET */
    /*
     * Content-Type of the body; NULL: the type for .text or for .json, else
     * application/octet-stream
     */
    const char *type TR_ZERO;
    const char *text TR_ZERO; /* the body; set .text, .body or .json, or none of them */
    tr_bytes body TR_ZERO;
    tr_message json TR_ZERO; /* TR_AS_JSON(order, .id = 7) */
    /* the header Authorization; like Cookie, it is not sent to another host after a redirect */
    const char *authorization TR_ZERO;
    const struct tr_http_field *headers
        TR_ZERO; /* further headers; the last is followed by zeros */
    /* how long the whole ask may take; 0: TR_HTTP_CALL_NS */
    tr_time within_ns TR_ZERO;
    /* the largest head of an answer, in bytes; 0: TR_HTTP_HEAD_MAX */
    size_t head_max TR_ZERO;
    /* without .streams: the largest body of an answer, in bytes; 0: TR_HTTP_BODY_MAX */
    size_t body_max TR_ZERO;
    /* how many redirects are followed; 0: none, the redirect is the answer */
    uint32_t redirects_max TR_ZERO;
    bool may_downgrade TR_ZERO; /* a redirect may lead from https to http */
    /* the body is sent after 100 Continue, or after TR_HTTP_CONTINUE_NS */
    bool expects TR_ZERO;
    /* the ask ends when the head has come; tr_http_receive reads the body */
    bool streams TR_ZERO;
    /* for tr_http_open: bytes of the body; 0: not known, the body is sent in chunks */
    int64_t length TR_ZERO;
    /*
     * the client has at most this many connections to the host: an ask that finds them all in use waits; 0:
     * TR_HTTP_CONNECTIONS_MAX
     */
    uint32_t connections_max TR_ZERO;
    /*
     * if this many asks wait for a connection already, this ask ends with TR_LIMIT; 0:
     * TR_HTTP_WAITING_MAX
     */
    uint32_t waiting_max TR_ZERO;
    /* how long the connection is kept after this ask; 0: TR_HTTP_IDLE_NS */
    tr_time idle_ns TR_ZERO;
    /*
     * How to reach the host: an endpoint of which only these members may be set. .address is the
     * address or the path of a UNIX socket to connect to, instead of the host of the URL. .trusts,
     * .certificate, .key, .server_name and .insecure are for TLS. If another member is set, the
     * status is TR_INVALID_ARGUMENT.
     */
    const tr_endpoint *by TR_ZERO;
    /* the only version that is spoken; TR_HTTP_VERSION_ANY: the server chooses */
    tr_http_version version TR_ZERO;
} tr_http_call;

/**
 * A request whose body is sent piece by piece, or an answer whose body is read piece by piece. All
 * zero: none.
 */
TR_MESSAGE(tr_http_stream, (ref, keeper), (u64, number));
/**
 * An answer. Names of headers are in lower case. `url` is the URL that gave this answer, after
 * redirects; `version` is a tr_http_version.
 */
TR_MESSAGE(tr_http_answer, (i32, status), (list(message(tr_http_field)), headers), (bytes, body),
           (str, url), (message(tr_http_stream), stream), (u32, version));
/** What tr_http_ask returns: an ask, for tr_await, tr_try_await and tr_await_any. */
typedef union tr_http_call_ask {
    tr_pending any;
    const struct tr_http_answer *reply; /* never read; only the type of this member matters */
} tr_http_call_ask;

/**
 * Sends a request to a server and returns an ask for its answer:
 *     tr_await(self, tr_http_ask(self, "https://example.org/rates"))
 *     tr_http_ask(self, url, .json = TR_AS_JSON(order, .id = 7), .authorization = "Bearer x", .redirects_max = 5)
 * Members of tr_http_call may follow the URL. The fragment of the URL is not sent. A URL with a
 * user in it gives TR_INVALID_ARGUMENT. Host, Content-Length, Transfer-Encoding, Connection, Expect
 * and Upgrade cannot be in .headers. After a redirect with 303, and after a POST with 301 or 302,
 * the ask continues as a GET without the body. Other redirects keep the method and the body. In a
 * turn. Does not wait.
 */
#define tr_http_ask(self, ...) TR_HTTP_ASK_(self, __VA_ARGS__, )
/** A message as the body of a request: .json = TR_AS_JSON(order, .id = 7). In a turn. Does not wait. */
#define TR_AS_JSON(...) TR_AS_JSON_(TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
/**
 * Reads the body of an answer as a message: tr_http_try_json(self, answer, order, &order), with a `const struct order
 * *`, borrowed until the turn ends. TR_OK; TR_BAD_DATA: the body is no such message, and the log names the field;
 * TR_TOO_LARGE, TR_TOO_DEEP, TR_NO_MEMORY.
 * In a turn. Does not wait.
 */
#define tr_http_try_json(self, answer, m, message)                                                 \
    tr_self_http_answer_json(self, answer, &tr_type_##m, TR_HTTP_MESSAGE_OUT_(struct m, message))
/**
 * Begins a request whose body is sent by tr_http_send:
 *     tr_http_open(self, &stream, "https://example.org/big", .method = "PUT", .length = size)
 * Returns TR_OK when the head was sent, or a status of tr_http_ask. .within_ns limits the time until the head was sent;
 * tr_http_send, tr_http_finish and tr_http_receive take up to TR_HTTP_CALL_NS each. If .redirects_max, .text, .body,
 * .json or .streams is set, returns TR_INVALID_ARGUMENT; tr_http_finish has an argument `streams` instead. In a turn.
 * May wait.
 */
#define tr_http_open(self, stream, ...) TR_HTTP_OPEN_(self, stream, __VA_ARGS__, )

TR_BEGIN_C
/** Returns the first header of an answer with this name, in upper or lower case, or NULL. Any thread. Does not wait. */
const char *tr_http_answer_header(const struct tr_http_answer *answer, const char *name);
/**
 * Sends a piece of the body, of at most TR_HTTP_PIECE_MAX bytes, and waits until the connection has
 * taken it. TR_CLOSED: the server has answered already, or has ended the connection; tr_http_finish
 * gives the answer or the reason. TR_LIMIT: the body is longer than .length. TR_NOT_FOUND: the
 * stream has ended, or was not used for TR_HTTP_STREAM_NS. TR_INVALID_TRANSITION: another turn uses
 * the stream. Also TR_OK, TR_TOO_LARGE, TR_TIMEOUT. In a turn. May wait.
 */
tr_status tr_http_send(tr_self *self, struct tr_http_stream stream, tr_bytes bytes);
/**
 * Ends the body, and returns an ask for the answer, as tr_http_ask does. The outcome is TR_INVALID_TRANSITION if fewer
 * bytes than .length were sent.
 * In a turn. Does not wait.
 */
tr_http_call_ask tr_http_finish(tr_self *self, struct tr_http_stream stream, bool streams);
/**
 * Reads the next piece of the body of an answer with .streams into `buffer`. *got is 0 at the end of the body, and at
 * the first call if the answer has no body. While nobody reads a stream, its server has to wait. TR_NOT_FOUND: the
 * stream has ended, or was not used for TR_HTTP_STREAM_NS. TR_CLOSED, TR_RESET, TR_BAD_DATA: the body is not whole.
 * TR_INVALID_TRANSITION: another turn uses the stream. Also TR_OK, TR_TIMEOUT.
 * In a turn. May wait.
 */
TR_MUST_CHECK tr_status tr_http_receive(tr_self *self, struct tr_http_stream stream, void *buffer,
                                        size_t size, size_t *got);
/**
 * Gives a stream up. A connection of HTTP/1.1 ends with its stream; a connection of HTTP/2 stays.
 * Does nothing if the stream has ended. In a turn. Does not wait.
 */
void tr_http_drop(tr_self *self, struct tr_http_stream stream);
TR_END_C

/* ---- WebSockets. ---- */

/** How to connect to a WebSocket: the members of tr_ws_connect. All zero is the default. */
typedef struct tr_ws_call {
    size_t size TR_ZERO;               /* need not be set */
    const char *protocols TR_ZERO;     /* "chat.v2, chat.v1": the server may choose one */
    const char *authorization TR_ZERO; /* the header */
    const struct tr_http_field *headers
        TR_ZERO; /* further headers; the last is followed by zeros */
    /* how long the connection and the handshake may take; 0: TR_CONNECT_NS */
    tr_time within_ns TR_ZERO;
    /* the largest message that may come, in bytes; 0: TR_WS_MESSAGE_MAX */
    size_t message_max TR_ZERO;
    tr_time ping_ns TR_ZERO; /* as ws_ping_ns of tr_http_options */
    /* the client offers permessage-deflate, without context between messages */
    bool compresses TR_ZERO;
    int *refused TR_ZERO;          /* gets the HTTP status if the server refuses */
    const tr_endpoint *by TR_ZERO; /* see the member of this name in tr_http_call */
} tr_ws_call;

/**
 * Connects to a server of WebSockets: tr_ws_connect(self, "wss://example.org/chat", .protocols = "chat"). The channel
 * belongs to this actor. As on the side of a server, TR_ON(tr_ws_message, ...) gets the messages that come, the
 * functions of troupe/http.h send and close, and a tr_closed comes at the end. If tr_ws_try_connect would return an
 * error, ends the turn with this error instead. In a turn. May wait.
 */
#define tr_ws_connect(self, ...) TR_WS_CONNECT_(self, __VA_ARGS__, )
/**
 * As tr_ws_connect, but writes the channel to a tr_channel * and returns a status. The statuses are
 * those of tr_try_connect, and these. TR_REFUSED: the server has answered with another status of
 * HTTP than 101; this status is in *.refused. TR_BAD_DATA: the answer is no handshake of RFC 6455,
 * or has a protocol or an extension that was not offered. TR_INVALID_ARGUMENT: the URL, a header,
 * or another member is wrong. TR_NOT_SUPPORTED: the library was built without HTTP, TLS, or zlib
 * for .compresses. In a turn. May wait.
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
