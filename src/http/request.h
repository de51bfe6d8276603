/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A request that a turn handles, and its answer.
 *
 * It is in scratch memory of the turn, and channel->request points to it until the turn has ended. So the end of a turn
 * finds it in any case, also after a crash, and decides what becomes of the connection. Owner only.
 *
 * Phases of the answer
 *     ANSWER_NONE    nothing was sent
 *     ANSWER_BEGUN   a head was sent; pieces follow
 *     ANSWER_DONE    all was sent
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include "http/chunk.h"
#include "http/head.h"
#include "http/path.h"
#include "http/site.h"
#include "net/protocol.h"

enum answer_phase { ANSWER_NONE, ANSWER_BEGUN, ANSWER_DONE };

struct http_request {
    struct tr_self *self;
    struct channel *channel;
    const struct http_site *site;
    const struct http_route *route; /* NULL: none, or not looked for yet */
    struct http_head head;
    struct http_path path;
    tr_time since_ns;
    struct tr_http_request *raw;          /* NULL: the row is typed */
    const tr_type *type;                  /* of the message that the handler gets */
    void *message;                        /* of a typed row */
    void *block;                          /* what a reader of JSON has allocated; NULL: none */
    const tr_type *block_type;            /* its type */
    const char *parts[TR_HTTP_PARTS_MAX]; /* of the path, decoded; NULL: not asked for yet */
    const char *form;                     /* the whole body, for tr_http_form; NULL: not read yet */
    /* The body. */
    bool body_is_over;
    bool is_told;   /* 100 Continue was sent, or need not be */
    tr_bytes there; /* of the body: it came with the head, and was not read */
    uint64_t body_left;
    struct http_chunk chunk;
    /* The answer. */
    enum answer_phase phase;
    bool keeps;       /* the connection is kept after it */
    bool has_chunks;  /* it is sent in chunks */
    bool has_no_body; /* of HEAD, 204 and 304 */
    int status;       /* that was sent, or that tr_http_status has set; 0: neither */
    int64_t left;     /* of the length that was announced; -1: not announced */
    uint64_t sent;    /* bytes of the body */
    uint32_t set_count;
    struct tr_http_field *set; /* of tr_http_set */
};

/** Returns the request of this turn; NULL: it has none. */
struct http_request *tr__http_request_of(struct tr_self *self);
/** As tr__http_request_of. A turn that has none ends with TR_INVALID_TRANSITION. */
TR_NON_NULL struct http_request *tr__http_request_need(struct tr_self *self, const char *verb);

/** Ends the turn, without a failure of its actor. The answer was sent. */
_Noreturn void tr__http_request_leave(struct http_request *request);

/* ---- Answers: answer.c. ---- */

/** Whether text may stand in a header. */
bool tr__http_is_clean(const char *text);
/**
 * Sends the head of an answer. `length` is that of the body, -1: chunks. Further headers are those of tr_http_set and
 * of `response`, which may be NULL. Waits.
 */
void tr__http_answer_head(struct http_request *request, int status, const char *type,
                          int64_t length, const tr_http_response *response);
/** Answers with a body as a whole. Waits. */
void tr__http_answer(struct http_request *request, int status, const char *type, tr_bytes body,
                     const tr_http_response *response);
/** Answers with a message as JSON. Returns TR_OK, or the status of tr_json_write. Waits. */
tr_status tr__http_answer_json(struct http_request *request, int status, const tr_type *type,
                               const void *message);
/** Answers with an error as JSON. `allow` is that header, or NULL. Waits. */
void tr__http_answer_error(struct http_request *request, int status, const char *text,
                           const char *allow);
/** Answers with an error, outside of a turn: without memory nothing is sent. The connection is not kept. Does not wait. */
void tr__http_answer_bare(struct channel *channel, int status);
/** Returns the reason phrase of a status. */
const char *tr__http_reason(int status);
/** The Date header of now, with its line end. */
const char *tr__http_date(struct worker *worker);
/** Writes a time as HTTP does, "Sun, 06 Nov 1994 08:49:37 GMT", 29 characters and a NUL. */
void tr__http_time(int64_t seconds, char *text);

/* ---- Bodies: body.c. ---- */

/** Prepares the body of a request whose head was parsed; the input stands behind that. */
void tr__http_body_begin(struct http_request *request, char *head_bytes, size_t head_size);
/** Reads the next piece. False: that was all. Ends the request with 400, 408 or 413. Waits. */
bool tr__http_body_read(struct http_request *request, tr_bytes *bytes);
/** Reads the rest as a whole. */
tr_bytes tr__http_body_all(struct http_request *request, size_t max);
/** Reads and drops what no handler has read, so that the connection can be kept. False: it is too much. Waits. */
bool tr__http_body_drop(struct http_request *request);
/** Whether so little of the body is left that it will be dropped. */
bool tr__http_body_is_small(const struct http_request *request);

/* ---- Messages: fill.c. ---- */

/** Makes the message of a typed row. False: the request was refused. Waits for the body. */
bool tr__http_fill_typed(struct http_request *request);
/** Makes the message of a raw row. */
void tr__http_fill_raw(struct http_request *request);
/** Returns a part of the path by its number, decoded. */
const char *tr__http_part(struct http_request *request, uint32_t number);

/** The protocol: session.c. */
extern const struct tr_protocol tr__http_protocol;

#endif
