/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Problems: the answers of a gateway to requests that it cannot serve. Their codes are part of the
 * public interface (troupe/gateway.h).
 *
 * If a handler fails, only the log gets the error text. The client only learns that the request has
 * failed, and gets the causal id by which the log can be searched.
 */
#ifndef GATEWAY_PROBLEM_H
#define GATEWAY_PROBLEM_H

#include <stddef.h>
#include <stdint.h>
#include <troupe/ref.h>
#include <troupe/status.h>

enum problem_id {
    PROBLEM_MALFORMED,
    PROBLEM_BAD_JSON,
    PROBLEM_BAD_FIELD,
    PROBLEM_BAD_KEY,
    PROBLEM_UNAUTHORIZED,
    PROBLEM_FORBIDDEN,
    PROBLEM_BAD_ORIGIN,
    PROBLEM_UNKNOWN_KIND,
    PROBLEM_UNKNOWN_MESSAGE,
    PROBLEM_BAD_METHOD,
    PROBLEM_TIMEOUT,
    PROBLEM_SLOW,
    PROBLEM_DESTROYING,
    PROBLEM_KEY_DIFFERS,
    PROBLEM_KEY_BEGUN,
    PROBLEM_TOO_LARGE,
    PROBLEM_BAD_ENCODING,
    PROBLEM_REFUSED,
    PROBLEM_NO_WEBSOCKET,
    PROBLEM_MAILBOX_FULL,
    PROBLEM_LIMIT,
    PROBLEM_TOO_MANY,
    PROBLEM_FAILED,
    PROBLEM_STOPPING,
    PROBLEM_START_FAILED,
    PROBLEM_STORE_FAILED,
    PROBLEM_GUARD_FAILED,
    PROBLEM_BUSY,
    PROBLEM_COUNT
};

struct problem {
    enum problem_id id;
    const char *words; /* text of the problem; NULL: the usual text for its id */
    int reason;        /* PROBLEM_REFUSED: the code that was passed to tr_refuse */
    /*
     * seconds after which the client may send the request again; 0: not known, or only the header Retry-After says it
     */
    uint32_t after_s;
};

/** Returns the problem for an ask that has ended with `status`, which is not TR_OK. `error` may be NULL. */
struct problem tr__problem_of_ask(tr_status status, const tr_error *error);
/** Returns the problem for a request that the HTTP layer has answered with this status. */
enum problem_id tr__problem_of_http(int status);
/** Returns the status of HTTP for a problem. */
int tr__problem_status(const struct problem *problem);
/** Returns the stable code of a problem, such as "actor/destroying". */
const char *tr__problem_code(const struct problem *problem);
/**
 * Writes a problem as the object {"code":...}. Cuts it at `size` and returns its whole length, as
 * snprintf does. A text that is too long or not UTF-8 is left out.
 */
size_t tr__problem_write(const struct problem *problem, char *to, size_t size);

/**
 * Writes the body of an answer, {"error":{"code":...}}. Cuts and counts as tr__problem_write does.
 */
size_t tr__problem_answer_write(const struct problem *problem, char *to, size_t size);

enum {
    PROBLEM_TEXT_MAX = 1024, /* the largest number of bytes that tr__problem_write writes */
    /* the largest number of bytes that tr__problem_answer_write writes */
    PROBLEM_ANSWER_MAX = PROBLEM_TEXT_MAX + 16
};

#endif
