/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP: requests are messages, and their paths stand beside the handlers.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(greeting, (str, text));
 * TR_REQUEST(greet, greeting, (str, name), (optional(bool), loud));
 *
 * static tr_next on_greet(tr_self *self, const struct greet *message)
 * {
 *     if (!message->name[0])
 *         return tr_refuse(self, 422, "a name is needed");
 *     return tr_reply(self, greeting, .text = tr_format(self, "Hello, %s", message->name));
 * }
 *
 * static tr_next on_version(tr_self *self)
 * {
 *     return tr_http_reply(self, 200, .text = "1.0\n");
 * }
 *
 * TR_BEHAVIOR(api, void, TR_GET("/greet/{name}", greet, on_greet),
 *             TR_GET("/version", tr_http_request, on_version));
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     tr_listener_ref listener;
 *     // curl localhost:8080/greet/anna gives {"text":"Hello, anna"}
 *     tr_status status = tr_try_listen(self, &listener, api, TR_HTTP("127.0.0.1:0"));
 *     return status == TR_OK || status == TR_NOT_SUPPORTED ? TR_STOP : TR_SAME;
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
 * Each connection has an actor, its session; in the example this is an `api`. Each request is one
 * turn of the session. A row is a clause such as TR_GET. A row with a request of your own is typed:
 * the fields of the request are filled by name, from the path, the query, and the body, which is
 * JSON. A request that does not fit is answered with 400, and the text names the field. tr_reply
 * becomes 200 with JSON. tr_refuse(self, 404, "no user %d", id) becomes 404 with
 * {"error":{"code":404,"message":"no user 7"}}. If the code of tr_refuse is no status of HTTP, or
 * is below 400, the status is 422. tr_forward waits for the answer of the other actor.
 * tr_reply_later leaves the answer to a later turn of the session. If the reply does not come
 * within .later_ns, the answer is 504; if the session ends first, it is 503. The same handler also
 * answers actors that send it the request. If a handler fails, the answer is 500 without the text
 * of the error, and the connection ends.
 *
 * A row with tr_http_request is raw: the handler sees the request and answers with the verbs below.
 * TR_ON(tr_http_request, ...) handles the requests for which there is no row. Without it, an
 * unknown path is answered with 404, and a method that the path does not have with 405. The row of
 * GET also answers HEAD, without the body. The runtime answers OPTIONS, unless there is a
 * TR_ON(tr_http_request, ...).
 *
 * A turn may wait: for other actors, for more of the body, or until the client has read what was
 * written. Requests that the client sends ahead (pipelining) wait until the turn has ended, so the
 * answers come in the order of the requests. When the client goes away the turn is not cancelled,
 * but what the turn writes is dropped, and tr_http_is_gone returns true.
 *
 * A session that becomes another behavior has no paths any more: its requests are answered with
 * 500.
 *
 * HTTP/1.1 and 1.0. Parsing is strict: a request that two servers could read in two ways is answered with 400, and its
 * connection ends. HTTP/2 is spoken over TLS if ALPN chooses it, and without TLS with clients that begin with it.
 * Several requests of one HTTP/2 connection are handled at once, each in a turn of its own.
 */
#ifndef TROUPE_HTTP_H
#define TROUPE_HTTP_H

#include <troupe/net.h>
#include <troupe/wire.h>

/**
 * An endpoint for tr_listen: TR_HTTP(":8080"), TR_HTTP(":8080", .http = &options). Members of
 * tr_endpoint may follow the address, except .framing. An address with '/' or '@' is a UNIX socket.
 * tr_try_listen returns TR_NOT_SUPPORTED if the library was built without HTTP, and
 * TR_INVALID_ARGUMENT if a path of the behavior is malformed or does not fit its message; the log
 * names the path.
 * Any thread. Does not wait.
 */
#define TR_HTTP(...) TR_HTTP_ENDPOINT_(TR_ENDPOINT_TCP, __VA_ARGS__, )
/**
 * As TR_HTTP, over TLS: TR_HTTPS(":8443", .certificate = "a.pem", .key = "a.key"). Without .alpn clients may choose
 * HTTP/2 or HTTP/1.1.
 * Any thread. Does not wait.
 */
#define TR_HTTPS(...) TR_HTTP_ENDPOINT_(TR_ENDPOINT_TLS, __VA_ARGS__, )

/**
 * The options of an endpoint of HTTP: what tr_endpoint.http points to. They are copied. All zero is
 * the default.
 */
typedef struct tr_http_options {
    size_t size TR_ZERO;     /* need not be set */
    size_t head_max TR_ZERO; /* the largest head of a request, in bytes; 0: TR_HTTP_HEAD_MAX */
    /* a request may have at most this many headers; 0: TR_HTTP_HEADERS_MAX */
    uint32_t headers_max TR_ZERO;
    /* the largest body that is collected as a whole, in bytes; 0: TR_HTTP_BODY_MAX */
    size_t body_max TR_ZERO;
    /* longest time from the first byte of a head to its last; 0: TR_HTTP_HEAD_NS */
    tr_time head_ns TR_ZERO;
    tr_time body_ns TR_ZERO; /* longest time between two pieces of a body; 0: TR_HTTP_BODY_NS */
    /* longest time between two requests of a connection; 0: TR_HTTP_KEEP_NS */
    tr_time keep_ns TR_ZERO;
    const char *server TR_ZERO; /* value of the header Server; NULL: it is not sent */
    /*
     * GET /healthz is answered with 200; /readyz too, but with 503 when the listener stops or
     * is paused
     */
    bool has_health TR_ZERO;
    bool logs TR_ZERO; /* each request writes one line to the log, without its query */
    /* the largest message of a WebSocket, in bytes; 0: TR_WS_MESSAGE_MAX */
    size_t ws_message_max TR_ZERO;
    /* after how much silence a WebSocket gets a ping; 0: TR_WS_PING_NS */
    tr_time ws_ping_ns TR_ZERO;
    /*
     * origins whose pages may open WebSockets, besides those of this host; NULL ends the list;
     * "*": all
     */
    const char *const *origins TR_ZERO;
    /*
     * WebSockets use permessage-deflate, without context between messages, if the client offers it
     */
    bool ws_compresses TR_ZERO;
    /* longest time until the reply of tr_reply_later comes; 0: TR_HTTP_LATER_NS */
    tr_time later_ns TR_ZERO;
    /* one HTTP/2 connection may have at most this many open streams; 0: TR_HTTP2_STREAMS_MAX */
    uint32_t streams_max TR_ZERO;
    bool has_no_http2 TR_ZERO; /* HTTP/1.1 alone */
    /* each request has an id, which is sent back as X-Request-Id: see tr_http_request_id */
    bool has_ids TR_ZERO;
    /* whole answers of text, JSON or XML are sent as gzip if the client accepts it */
    bool compresses TR_ZERO;
    size_t compress_min TR_ZERO; /* the shortest body that is compressed; 0: TR_HTTP_COMPRESS_MIN */
    /*
     * bodies with Content-Encoding: gzip are accepted, if they are read as a whole; else they
     * are answered with 415
     */
    bool inflates TR_ZERO;
    /* a form with files may have at most this many parts; 0: TR_HTTP_FORM_PARTS_MAX */
    uint32_t parts_max TR_ZERO;
    /**
     * GET /openapi.json describes the rows: paths, fields, answers, from the descriptors of the
     * messages (OpenAPI 3.1). This member is the title of the description. If a row has this path,
     * the row answers. NULL: there is no description.
     */
    const char *openapi TR_ZERO;
} tr_http_options;

/* ---- Requests. ---- */

/** A header of a request or an answer. */
TR_MESSAGE(tr_http_field, (str, name), (str, value));
/**
 * A request, borrowed until its turn ends. `path` is decoded, without dot segments; `target` is the path as the client
 * sent it. `query` is what is behind '?', not decoded, or NULL. Names of headers are in lower case. If the whole body
 * came with the head, `body` has it. tr_http_read and tr_http_body read the body whether or not `body` has it.
 * `body_size` is -1 if the size is not known.
 */
TR_MESSAGE(tr_http_request, (channel, channel), (str, method), (str, target), (str, path),
           (str, query), (str, host), (list(message(tr_http_field)), headers), (bytes, body),
           (bool, has_body), (i64, body_size));

/**
 * TR_GET(path, message, handler): as TR_ON, for requests of this path. "{name}" stands for one part of the path, and
 * "{name...}" for the rest of the path. In one behavior, a handler may be in at most one row for GET, one row for PUT,
 * and so on. A clause of TR_BEHAVIOR.
 */
#define TR_GET(path, message, ...)                                                                 \
    (TR_CLAUSE_HTTP, TR_METHOD_GET, "GET", path, message, __VA_ARGS__, )
/** As TR_GET, for PUT. A clause of TR_BEHAVIOR. */
#define TR_PUT(path, message, ...)                                                                 \
    (TR_CLAUSE_HTTP, TR_METHOD_PUT, "PUT", path, message, __VA_ARGS__, )
/** As TR_GET, for POST. A clause of TR_BEHAVIOR. */
#define TR_POST(path, message, ...)                                                                \
    (TR_CLAUSE_HTTP, TR_METHOD_POST, "POST", path, message, __VA_ARGS__, )
/** As TR_GET, for PATCH. A clause of TR_BEHAVIOR. */
#define TR_PATCH(path, message, ...)                                                               \
    (TR_CLAUSE_HTTP, TR_METHOD_PATCH, "PATCH", path, message, __VA_ARGS__, )
/** As TR_GET, for DELETE. A clause of TR_BEHAVIOR. */
#define TR_DELETE(path, message, ...)                                                              \
    (TR_CLAUSE_HTTP, TR_METHOD_DELETE, "DELETE", path, message, __VA_ARGS__, )
/**
 * TR_FILES("/static/{path...}", "www"): files below a directory, for GET and HEAD, with ETag, Last-Modified and ranges.
 * The path must end with a part of the form "{name...}". The answer is 404 for names that begin with a dot, for links
 * that lead out of the directory, and for what is no regular file. A path that ends with '/' stands for the file
 * index.html in that directory.
 * A clause of TR_BEHAVIOR.
 */
#define TR_FILES(path, directory) (TR_CLAUSE_FILES, path, directory)

/**
 * TR_WEBSOCKET(path, message, handler): for WebSockets of this path. If `message` is a request of
 * your own, or tr_http_request, the handler decides with tr_ws_accept or tr_refuse, and
 * TR_ON(tr_ws_message, ...) gets the messages. If `message` is tr_ws_message, all WebSockets are
 * accepted, and the handler gets the messages. A request that is no handshake of RFC 6455 is
 * answered with 400 or 426, and the handshake of a page of another origin with 403. A clause of
 * TR_BEHAVIOR.
 */
#define TR_WEBSOCKET(path, message, ...)                                                           \
    (TR_CLAUSE_HTTP, TR_METHOD_WEBSOCKET, "WEBSOCKET", path, message, __VA_ARGS__, )

/** A part of a form with files. */
struct tr_http_form_part {
    const char *name;
    const char *filename; /* as the client says, with any characters; NULL: the part is no file */
    const char *type;     /* Content-Type of the part; "" if it has none */
};

TR_BEGIN_C
/**
 * Returns a header of the request of this turn, or NULL. If several headers have this name, their
 * values are joined by ", ". In a turn. Does not wait.
 */
const char *tr_http_header(tr_self *self, const char *name);
/** Returns the value of a parameter of the query, decoded, or NULL. In a turn. Does not wait. */
const char *tr_http_query(tr_self *self, const char *name);
/** Returns the part of the path that "{name}" or "{name...}" stands for, decoded, or NULL. In a turn. Does not wait. */
const char *tr_http_part(tr_self *self, const char *name);
/** Returns the value of a cookie, or NULL. In a turn. Does not wait. */
const char *tr_http_cookie(tr_self *self, const char *name);
/**
 * Returns a field of a form in the body (application/x-www-form-urlencoded, or multipart/form-data), decoded, or NULL.
 * The first call reads the whole body, as tr_http_body does with .body_max.
 * In a turn. May wait.
 */
const char *tr_http_form(tr_self *self, const char *name);
/**
 * Reads the next piece of the body, borrowed until the next read. Returns false at the end of the
 * body. An error ends the turn, and the request is answered with 400. If no piece comes for
 * .body_ns, the turn ends, and the request is answered with 408. In a turn. May wait.
 */
bool tr_http_read(tr_self *self, tr_bytes *bytes);
/**
 * Reads the rest of the body. If the rest has more than `max` bytes, the turn ends, and the request
 * is answered with 413. In a turn. May wait.
 */
tr_bytes tr_http_body(tr_self *self, size_t max);
/**
 * Returns the id of the request of this turn, or NULL without .has_ids. If the header X-Request-Id has 1 to 128
 * letters, digits, '.', '_' and '-', it is the id. Otherwise the id is the causal id of the turn in hexadecimal. The id
 * is in the answer, in the line of .logs, and in the requests that this turn makes by tr_http_ask.
 * In a turn. Does not wait.
 */
const char *tr_http_request_id(tr_self *self);
/**
 * Begins the next part of a form with files (multipart/form-data). What was not read of the part
 * before is dropped. Returns false at the end of the form. The texts are borrowed until the turn
 * ends. On an error the turn ends: a body that is no such form is answered with 415, a malformed
 * form with 400, and more than .parts_max parts with 413. tr_http_read, tr_http_body and
 * tr_http_form cannot be used for the same request. In a turn. May wait.
 */
bool tr_http_next_part(tr_self *self, struct tr_http_form_part *part);
/**
 * Reads the next piece of a part, borrowed until the next read. Returns false at the end of the
 * part. In a turn. May wait.
 */
bool tr_http_read_part(tr_self *self, tr_bytes *bytes);
/** Returns whether the client has gone, so that nobody will see an answer. In a turn. Does not wait. */
bool tr_http_is_gone(tr_self *self);
TR_END_C
/**
 * Reads the body as a message: TR_HTTP_JSON(self, order) returns a `const struct order *`. If the
 * body is wrong, the turn ends, and the request is answered with 400. In a turn. May wait.
 */
#define TR_HTTP_JSON(self, m) ((const struct m *)tr_self_http_json(self, &tr_type_##m))

/* ---- Answers. The first verb that sends something settles the status; a second answer is dropped. ---- */

/** An answer: the members of tr_http_reply and tr_http_begin. */
typedef struct tr_http_response {
    size_t size TR_ZERO; /* need not be set: tr_http_reply and tr_http_begin do it */
    int status TR_ZERO;
    const char *type TR_ZERO; /* NULL: text/plain for .text, application/octet-stream for .body */
    const char *text TR_ZERO; /* set .text, or .body, or neither */
    tr_bytes body TR_ZERO;
    int64_t length TR_ZERO; /* for tr_http_begin: how many bytes will be written; 0: not known */
    const char *location TR_ZERO;
    const char *cache TR_ZERO; /* Cache-Control */
    /* further headers; the last is followed by zeros */
    const struct tr_http_field *headers TR_ZERO;
} tr_http_response;

/**
 * Answers: return tr_http_reply(self, 200, .text = "Hello"); return tr_http_reply(self, 303, .location = "/"). A status
 * outside 200 to 599, or a header with a control character, ends the turn with TR_INVALID_ARGUMENT.
 * In a turn. May wait.
 */
#define tr_http_reply(self, ...) tr_self_http_reply(self, TR_HTTP_RESPONSE_(__VA_ARGS__))
/**
 * Answers with a message as JSON: return tr_http_reply_json(self, 201, user, .id = 7, .name = "anna").
 * In a turn. May wait.
 */
#define tr_http_reply_json(self, code, ...)                                                        \
    TR_HTTP_REPLY_JSON_(self, code, TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
/**
 * Begins an answer that is written piece by piece: tr_http_begin(self, 200, .type = "text/csv").
 * In a turn. May wait.
 */
#define tr_http_begin(self, ...) tr_self_http_begin(self, TR_HTTP_RESPONSE_(__VA_ARGS__))

TR_BEGIN_C
/**
 * Sets the HTTP status of the answer that this turn gives with tr_reply: tr_http_status(self, 201). Does nothing in a
 * turn that answers an actor.
 * In a turn. Does not wait.
 */
void tr_http_status(tr_self *self, int status);
/**
 * Adds a header to the answer, which must not have begun: tr_http_set(self, "etag", tag). Does
 * nothing in a turn that answers an actor. In a turn. Does not wait.
 */
void tr_http_set(tr_self *self, const char *name, const char *value);
/**
 * Switches compression off for the answer of this turn. Use it for a text that has a secret beside
 * bytes that a stranger may choose, because the size of the compressed text would reveal the secret
 * (BREACH). In a turn. Does not wait.
 */
void tr_http_keep_plain(tr_self *self);
/**
 * Writes a piece of the answer that tr_http_begin began, as tr_write does. Returns TR_CLOSED when
 * the client has gone. In a turn. May wait.
 */
tr_status tr_http_write(tr_self *self, tr_bytes bytes);
/** As tr_http_write, with the arguments of printf. In a turn. May wait. */
tr_status tr_http_print(tr_self *self, const char *format, ...) TR_PRINTF(2, 3);
/**
 * Writes an event of text/event-stream, which is sent when the run of the actor ends. `data` may have several lines;
 * `event` may be NULL. If tr_http_begin was not called, the first event begins the answer.
 * In a turn. May wait.
 */
tr_status tr_http_event(tr_self *self, const char *event, const char *data);
/**
 * Ends the answer that tr_http_begin began. If a turn ends without calling it, the connection is reset, so that the
 * client does not take a part of the answer for the whole answer.
 * In a turn. May wait.
 */
tr_next tr_http_end(tr_self *self);
TR_END_C

/* ---- WebSockets. ---- */

/**
 * A message of a WebSocket, joined from its fragments. A text is UTF-8, and a NUL is behind it. Borrowed until its turn
 * ends. The next message comes when that turn has ended.
 */
TR_MESSAGE(tr_ws_message, (channel, channel), (bytes, bytes), (bool, is_text));

TR_BEGIN_C
/**
 * Accepts the WebSocket of this turn: `return tr_ws_accept(self);`. The functions below may be
 * called after it in the same turn. The session gets tr_closed when the WebSocket has ended. If the
 * other side has closed it, the status in tr_closed is TR_CLOSED, and the text has the code and the
 * reason of the other side. If the other side did not answer a ping, the status is TR_TIMEOUT. In a
 * turn. May wait.
 */
tr_next tr_ws_accept(tr_self *self);
/** As tr_ws_accept, with one of the protocols that the client has offered. In a turn. May wait. */
tr_next tr_ws_accept_as(tr_self *self, const char *protocol);
/**
 * Sends a text, as tr_write does. TR_INVALID_ARGUMENT: the text is no UTF-8. TR_INVALID_TRANSITION:
 * the channel is no WebSocket. In a turn. May wait.
 */
tr_status tr_ws_text(tr_self *self, tr_channel channel, const char *text);
/** As tr_ws_text, with the arguments of printf. In a turn. May wait. */
tr_status tr_ws_print(tr_self *self, tr_channel channel, const char *format, ...) TR_PRINTF(3, 4);
/** Sends a message of bytes, as tr_ws_text does. In a turn. May wait. */
tr_status tr_ws_binary(tr_self *self, tr_channel channel, tr_bytes bytes);
/**
 * Sends bytes, as a text if `is_text`: tr_ws_send(self, message->channel, message->bytes,
 * message->is_text). In a turn. May wait.
 */
tr_status tr_ws_send(tr_self *self, tr_channel channel, tr_bytes bytes, bool is_text);
/**
 * Closes a WebSocket with a code, 1000 to 1003, 1007 to 1014 or 3000 to 4999, and a reason,
 * `words`, which may be NULL. Any other code ends the turn with TR_INVALID_ARGUMENT. A reason of
 * more than 123 bytes is cut. The session gets tr_closed with TR_OK. tr_close sends the code 1000.
 * A session that ends without a close sends 1000, or 1001 if its system shuts down. A session that
 * fails sends 1011. If the run that failed has written something, the connection is reset instead.
 * In a turn. Does not wait.
 */
void tr_ws_close(tr_self *self, tr_channel channel, int code, const char *words);
TR_END_C

#include <troupe/detail/http.h>

#endif
