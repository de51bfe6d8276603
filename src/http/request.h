/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A request that a turn handles, and its answer.
 *
 * The record of a request is in scratch memory of the turn, and channel->request points to it until
 * the turn has ended. So the code that ends a turn always finds the request, even after a crash,
 * and decides whether the connection is kept. Owner only.
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
    /* the row of the request; NULL: no row fits, or none was looked for yet */
    const struct http_route *route;
    struct http_head head;
    struct http_path *path; /* the decoded path; NULL: not decoded yet */
    tr_time since_ns;
    bool reads_body;             /* the turn waits for the next piece of the request's body */
    struct tr_http_request *raw; /* message of a raw row; NULL: the row is typed */
    const tr_type *type;         /* type of the message that the handler gets */
    void *message;               /* message of a typed row */
    /* memory that the reader of JSON has allocated; NULL: none */
    void *block;
    const tr_type *block_type; /* its type */
    /* the parts of the path that were used, decoded; NULL: not used yet */
    const char *parts[TR_HTTP_PARTS_MAX];
    const char *form; /* the whole body, in which tr_http_form looks; NULL: not read yet */
    size_t form_size; /* its bytes */
    /* state of tr_http_next_part; see http/form.c; NULL: not started */
    struct http_form *multipart;
    /* result of tr_http_request_id; NULL: the request has no id */
    const char *id;
    /* method and path, as the access log has them; NULL: the option .logs is not set */
    const char *logged;
    /* tr_http_keep_plain was called, so the answer is not compressed */
    bool is_plain;
    bool has_later; /* tr_reply_later was called */
    /* if has_later: the ask for whose reply this turn waits */
    tr_pending later;
    /* The body. */
    bool body_is_over;
    bool is_told;   /* 100 Continue was sent, or the client does not wait for it */
    tr_bytes there; /* bytes of the body that came with the head and were not read yet */
    uint64_t body_left;
    struct http_chunk chunk;
    /* The answer. */
    enum answer_phase phase;
    bool keeps;       /* the connection is kept after the answer */
    bool has_chunks;  /* the answer is sent in chunks */
    bool has_no_body; /* the answer has no body: HEAD, 204, 304 */
    int status;       /* the status that was sent, or that tr_http_status has set; 0: neither */
    /* how many bytes of the announced length were not sent yet; -1: no length was announced */
    int64_t left;
    uint64_t sent; /* bytes of the body that were sent */
    uint32_t set_count;
    /*
     * how many elements at the beginning of `set` were not set by the handler; an answer to a
     * failure has only these
     */
    uint32_t own_count;
    struct tr_http_field *set; /* headers that tr_http_set has added */
    /* the stream of HTTP/2 that has the request and the answer; NULL: HTTP/1.1 */
    struct h2_stream *stream;
};

/**
 * Makes the record of a request whose head has `head_size` bytes, in scratch memory of its turn.
 */
struct http_request *tr__http_request_new(struct tr_self *self, struct channel *channel,
                                          size_t head_size);
/** Frees the memory of a request that is not in scratch memory of its turn. */
void tr__http_request_end(struct http_request *request);
/** Returns the request of this turn. Returns NULL if the turn handles no request. */
struct http_request *tr__http_request_of(struct tr_self *self);
/** Returns the request of this turn. If there is none, ends the turn with TR_INVALID_TRANSITION. */
TR_NON_NULL struct http_request *tr__http_request_need(struct tr_self *self, const char *verb);

/** Ends the turn, but not as a failure of its actor. Call after the answer was sent. */
_Noreturn void tr__http_request_leave(struct http_request *request);

#endif
