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
#include "net/channel.h"

struct h2_stream;

enum answer_phase { ANSWER_NONE, ANSWER_BEGUN, ANSWER_DONE };

struct http_request {
    struct tr_self *self;
    struct channel *channel;
    const struct http_site *site;
    const struct http_route *route; /* NULL: none, or not looked for yet */
    struct http_head head;
    struct http_path path;
    tr_time since_ns;
    bool reads_body;                      /* a turn waits for the next piece of it */
    struct tr_http_request *raw;          /* NULL: the row is typed */
    const tr_type *type;                  /* of the message that the handler gets */
    void *message;                        /* of a typed row */
    void *block;                          /* what a reader of JSON has allocated; NULL: none */
    const tr_type *block_type;            /* its type */
    const char *parts[TR_HTTP_PARTS_MAX]; /* of the path, decoded; NULL: not asked for yet */
    const char *form;                     /* the whole body, for tr_http_form; NULL: not read yet */
    size_t form_size;                     /* its bytes */
    struct http_form *multipart;          /* of tr_http_next_part: http/form.c; NULL: not begun */
    const char *id;                       /* of tr_http_request_id; NULL: there is none */
    bool is_plain;                        /* tr_http_keep_plain */
    bool has_later;                       /* tr_reply_later was called, */
    tr_pending later;                     /* and this ask of the turn gets the reply */
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
    struct h2_stream *stream;  /* of HTTP/2, which carries both; NULL: HTTP/1 */
};

/** Makes the record of a request in scratch memory of its turn. */
struct http_request *tr__http_request_new(struct tr_self *self, struct channel *channel);
/** Frees what is not in scratch memory. */
void tr__http_request_end(struct http_request *request);
/** Returns the request of this turn; NULL: it has none. */
struct http_request *tr__http_request_of(struct tr_self *self);
/** As tr__http_request_of. A turn that has none ends with TR_INVALID_TRANSITION. */
TR_NON_NULL struct http_request *tr__http_request_need(struct tr_self *self, const char *verb);

/** Ends the turn, without a failure of its actor. The answer was sent. */
_Noreturn void tr__http_request_leave(struct http_request *request);

#endif
