/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One client of the control socket. A visitor takes the bytes that the client sends, and makes the
 * bytes to send back.
 *
 * The server first sends a line that says what the server is:
 *     {"troupe":1,"app":"chat","pid":4711,"verbs":["ls","show",...]}
 * Each request is a line (observe/request.h). Its answer is any number of lines
 * {"id":1,"part":...}, and then one line {"id":1,"ok":...} or
 * {"id":1,"no":"TR_NOT_FOUND","why":"..."}. Requests of one client are answered in order. If a
 * request has "progress":true and its verb takes long, it also gets a line
 * {"id":1,"progress":{"for_ms":50,...}} after VISITOR_PROGRESS_MS, and then one each second.
 *
 * A client is a tool on the socket, or a page: the web page of an inspector in a browser
 * (observe/page.h). A visitor uses no sockets, so that tests and a fuzzer can call it. A request
 * has at most VISITOR_REQUEST_MAX bytes. While VISITOR_PAGE_MAX / 2 bytes wait to be sent, no
 * further answer begins and no list continues. Long work is done in slices, so that other clients
 * have their turn.
 */
#ifndef OBSERVE_VISITOR_H
#define OBSERVE_VISITOR_H

#include "observe/json_line.h"
#include "observe/observer.h"
#include "observe/request.h"

enum {
    VISITOR_REQUEST_MAX = 64 * 1024,
    VISITOR_PAGE_MAX = 256 * 1024,
    /* The longest line, in bytes, for a client that is a page of an inspector. */
    VISITOR_LINE_MAX = 1024 * 1024,
    VISITOR_VIA_MAX = 80,
    /* The length of a slice in microseconds. After a slice another client has its turn. */
    VISITOR_SLICE_US = 2000,
    /* The time in milliseconds until the first line of progress. */
    VISITOR_PROGRESS_MS = 50,
    VISITOR_STEPS_MAX = 256 /* as well */
};

/** Work that a visitor has begun and not finished. */
enum visitor_job {
    JOB_NONE,
    JOB_LIST,
    JOB_ASK,
    JOB_STEPS, /* `step` continues the job as soon as the output has space */
    JOB_WAIT   /* `step` checks every few milliseconds whether the job has ended */
};

struct visitor {
    struct observer *observer;
    uint32_t uid; /* id of the client's user */
    char *input;  /* buffer of VISITOR_REQUEST_MAX bytes; NULL: no byte has come yet */
    size_t input_size;
    struct json_line output;
    size_t line_at; /* where the last line begins in `output` */
    uint64_t line_id;
    bool is_over; /* close the connection when `output` was sent */
    /* The next three members are for a client that is a page of an inspector (observe/page.h). */
    bool is_page;
    bool reads_only;
    /* The name of the page for lines of the log. "": the client is not a page. */
    char via[VISITOR_VIA_MAX];
    enum visitor_job job;
    struct control_request *request; /* the request of the current job */
    /* JOB_LIST */
    tr_actor_query query;
    uint32_t listed;
    bool follows;      /* the visitor has called tr__follow_open; see observe/trace.h */
    uint64_t followed; /* ref of the actor that the visitor has marked; 0: none */
    /* JOB_ASK */
    tr_pending asked;
    const tr_type *asked_type;
    tr_ref asked_of;
    /* The next members are for JOB_STEPS and JOB_WAIT. */
    /* Continues the job. Returns true when the job has ended. */
    bool (*step)(struct visitor *visitor);
    void *work; /* data of the job; NULL: none */
    void (*work_free)(struct visitor *visitor, void *work);
    /* Adds members to a line of progress. If this member is NULL, there is nothing to add. */
    void (*work_tell)(struct visitor *visitor);
    tr_time begun_ns; /* when the job began */
    /* when the last line of progress was written; before that, when the job began */
    tr_time told_ns;
    /* A text that several requests bring in pieces. */
    struct json_line gathered;
};

/** Makes a visitor, and writes the greeting to its output. */
void tr__visitor_open(struct visitor *visitor, struct observer *observer, uint32_t uid);
/** Frees the memory of a visitor. Cancels its ask if that was not answered. */
void tr__visitor_close(struct visitor *visitor);
/** Takes bytes from the client. They must not be more than tr__visitor_space. */
void tr__visitor_input(struct visitor *visitor, const char *bytes, size_t size);
/**
 * Works for one slice. Continues the current job, and handles further requests. Returns true if
 * there is more to do as soon as the output has space.
 */
bool tr__visitor_work(struct visitor *visitor);
/** Returns how many bytes tr__visitor_input can take now. */
size_t tr__visitor_space(const struct visitor *visitor);

/* ---- For the files with the verbs. ---- */

/** Begins an answer with the objects {"id":1,"ok":{ . If `is_part`, these are {"id":1,"part":{ . */
void tr__visitor_begin(struct visitor *visitor, uint64_t id, bool is_part);
/**
 * Ends both objects that tr__visitor_begin has begun, and the line. If the client is a page of an
 * inspector and the line has more than VISITOR_LINE_MAX bytes, replaces the line by a refusal of
 * the request with TR_TOO_LARGE. For the page the answer ends with the refusal: it ignores later
 * lines of this answer.
 */
void tr__visitor_end(struct visitor *visitor);
/** Answers that a request was refused. The formatted sentence becomes the member "why". */
void tr__visitor_refuse(struct visitor *visitor, uint64_t id, tr_status status, const char *format,
                        ...) TR_PRINTF(4, 5);
/**
 * Begins a job that is done in steps. The job owns `work`. When the job ends, `work_free` frees
 * `work`.
 */
void tr__visitor_steps(struct visitor *visitor, enum visitor_job job,
                       bool (*step)(struct visitor *visitor), void *work,
                       void (*work_free)(struct visitor *visitor, void *work));
/**
 * Finds the actor that a request names. If there is none, refuses the request and returns
 * TR_NOBODY.
 */
tr_ref tr__visitor_actor(struct visitor *visitor, const struct control_request *request);

#endif
