/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A request of the control protocol: one line of JSON.
 *
 *     {"id":1,"do":"ls","path":"/user","limit":200}
 *     {"id":2,"do":"ask","path":"/user/bank","message":"get_balance","json":"{}","may":true}
 *
 * Members that are not known are ignored. Missing members are zero.
 */
#ifndef OBSERVE_REQUEST_H
#define OBSERVE_REQUEST_H

#include <troupe/message.h>
#include <troupe/wire.h>

struct control_request {
    uint64_t id;
    const char *verb; /* "do" */
    const char *path;
    const char *behavior;
    const char *state;
    const char *message; /* name of a message */
    const char *json;    /* its content */
    const char *level;
    const char *kind;   /* kind of a durable actor */
    const char *key;    /* key of a durable actor, or a prefix of keys; bytes may be %xx */
    const char *text;   /* an SQL statement, or a path of files */
    const char *causal; /* causal id in hexadecimal digits */
    /* for a list that is sent part by part: the key after which this part begins */
    const char *from;
    uint32_t limit;
    uint32_t queued;     /* list only actors with at least this many queued messages */
    uint32_t timeout_ms; /* time-out of an ask */
    uint64_t after;      /* number of the last record that the client has */
    bool may;            /* the client permits a verb that changes something */
    bool is_sorted;      /* "sorted": the fullest mailboxes come first */
    bool secrets;        /* show the values of secret fields */
    bool writes;         /* the SQL statement may change tables */
    bool more;           /* another request brings the next piece of `json` */
    bool reads_only;     /* of "session": no later request may change anything */
    bool is_direct;      /* "direct": list only children */
    bool failing;        /* record only turns that fail */
    bool follows;        /* "follow": follow slow turns */
    bool progress;       /* write a line each second that says how far the job is */
};

/**
 * Reads a request. The caller frees *request by tr_message_free(&tr__control_request_type,
 * request). Returns TR_OK, TR_BAD_DATA, or another status of tr_json_read.
 */
TR_MUST_CHECK tr_status tr__control_request_read(tr_bytes line, struct control_request **request,
                                                 tr_wire_error *error);

extern const tr_type tr__control_request_type;

#endif
