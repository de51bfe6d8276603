/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One client of the control socket: takes the bytes that it sends and makes the bytes to send back.
 *
 * The server first sends a line that says what it is:
 *     {"troupe":1,"app":"chat","pid":4711,"verbs":["ls","show",...]}
 * Each request is a line (observe/request.h). Its answer is any number of lines {"id":1,"part":...} and one of
 * {"id":1,"ok":...} or {"id":1,"no":"TR_NOT_FOUND","why":"..."}. Requests of one client are answered in order.
 *
 * It knows no sockets, so that tests and a fuzzer can feed it. Limits: a request has at most SESSION_REQUEST_MAX bytes.
 * No further answer begins, and no list continues, while SESSION_PAGE_MAX / 2 bytes wait to be sent.
 */
#ifndef OBSERVE_SESSION_H
#define OBSERVE_SESSION_H

#include "observe/json_line.h"
#include "observe/observer.h"
#include "observe/request.h"

enum { SESSION_REQUEST_MAX = 64 * 1024, SESSION_PAGE_MAX = 256 * 1024 };

/** What a session has begun and not finished. */
enum session_job { JOB_NONE, JOB_LIST, JOB_ASK };

struct session {
    struct observer *observer;
    uint32_t uid; /* of the client */
    char *input;  /* SESSION_REQUEST_MAX bytes; NULL until the first byte */
    size_t input_size;
    struct json_line output;
    bool is_over; /* close it when `output` is sent */
    enum session_job job;
    struct control_request *request; /* of the job */
    /* JOB_LIST */
    tr_actor_query query;
    uint32_t listed;
    /* JOB_ASK */
    tr_pending asked;
    const tr_type *asked_type;
};

/** Begins a session: the greeting is in its output. */
void tr__session_open(struct session *session, struct observer *observer, uint32_t uid);
/** Frees what it has. An ask that was not answered is cancelled. */
void tr__session_close(struct session *session);
/** Takes bytes of the client, at most `session_space`. */
void tr__session_input(struct session *session, const char *bytes, size_t size);
/** Continues what it has begun, and begins what the client has asked for since. */
void tr__session_work(struct session *session);
/** Returns how many bytes tr__session_input can take. */
size_t tr__session_space(const struct session *session);

/* ---- For the files with the verbs. ---- */

/** Begins {"id":1,"ok":{ or, if it is_part, {"id":1,"part":{ . */
void tr__session_begin(struct session *session, uint64_t id, bool is_part);
/** Ends both objects, and the line. */
void tr__session_end(struct session *session);
/** Answers that it was not done: "why" has a sentence for a person. */
void tr__session_refuse(struct session *session, uint64_t id, tr_status status, const char *format,
                        ...) TR_PRINTF(4, 5);
/**
 * Finds the actor of a request, and refuses the request if there is none. TR_NOBODY: it was refused.
 */
tr_ref tr__session_actor(struct session *session, const struct control_request *request);

#endif
