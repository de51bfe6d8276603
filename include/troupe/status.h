/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The status that functions return, durations, and levels of the log.
 *
 * ```c
 * #include <stdio.h>
 * #include <troupe/status.h>
 *
 * int main(void)
 * {
 *     tr_status status = TR_TIMEOUT;
 *     tr_time half = 500 * TR_MILLISECOND;
 *     printf("%s: %s\n", tr_status_name(status), tr_status_text(status));
 *     return status < TR_OK && 2 * half == TR_SECOND ? 0 : 1;
 * }
 * ```
 *
 * A function that can fail returns a tr_status. TR_OK is 0, errors are negative. The number of a
 * status never changes; new ones are added at the end.
 */
#ifndef TROUPE_STATUS_H
#define TROUPE_STATUS_H

#include <troupe/detail/base.h>

/** Every status: X(name without TR_, number, what tr_status_text gives). At file scope. */
#define TR_STATUS_LIST(X)                                                                          \
    X(OK, 0, "ok")                                                                                 \
    X(TIMEOUT, -1, "no answer in time")                                                            \
    X(REFUSED, -2, "the request was refused")                                                      \
    X(FAILED, -3, "the handler failed")                                                            \
    X(STOPPED, -4, "the actor has stopped")                                                        \
    X(MAILBOX_FULL, -5, "the mailbox is full")                                                     \
    X(CANCELLED, -6, "cancelled")                                                                  \
    X(NO_REPLY, -7, "the handler ended without a reply")                                           \
    X(ASK_CYCLE, -8, "deadlock: a cycle of asks")                                                  \
    X(UNHANDLED, -9, "the receiver has no handler for this message")                               \
    X(NAME_EXISTS, -10, "the name is already in use")                                              \
    X(NAME_INVALID,                                                                                \
      -11,                                                                                         \
      "invalid name: use 1 to 128 characters of A-Z a-z 0-9 _ . -; "                               \
      "tr_name_of makes a name of any key")                                                        \
    X(NOT_FOUND, -12, "not found")                                                                 \
    X(INIT_FAILED, -13, "the set-up failed")                                                       \
    X(STOPPING, -14, "the actor or the system is stopping")                                        \
    X(STASH_FULL, -15, "the stash is full")                                                        \
    X(NO_MEMORY, -16, "out of memory")                                                             \
    X(OVER_BUDGET, -17, "budget exceeded")                                                         \
    X(INVALID_TRANSITION, -18, "not allowed in the current state")                                 \
    X(INVALID_ARGUMENT, -19, "invalid argument")                                                   \
    X(BAD_DATA, -20, "malformed data")                                                             \
    X(ABORTED, -21, "aborted by shutdown")                                                         \
    X(NO_SENDER, -22, "the message has no sender")                                                 \
    X(NOT_IN_A_TURN, -23, "only possible inside a turn")                                           \
    X(TOO_LARGE, -24, "larger than the limit")                                                     \
    X(TOO_DEEP, -25, "nested deeper than the limit")                                               \
    X(NOT_SUPPORTED, -26, "not supported here")                                                    \
    X(WOULD_DEADLOCK, -27, "deadlock: the call would wait for itself")                             \
    X(SHUTDOWN_INCOMPLETE, -28, "shutdown incomplete: some actors did not stop in time")           \
    X(ESCALATED, -29, "a failure was escalated to the root")                                       \
    X(WRONG_TYPE, -30, "the message has the wrong type")                                           \
    X(LIMIT, -31, "a limit is reached")                                                            \
    X(RESTARTED, -32, "the actor was restarted")                                                   \
    X(FAULT, -33, "native fault, such as a segmentation fault")                                    \
    X(STALE, -34, "stale: a newer generation or version has written")                              \
    X(STORE_FAILED, -35, "the store has failed")                                                   \
    X(STORE_BUSY, -36, "the store is open in another process")                                     \
    X(STORE_FULL, -37, "no space left on the disk")                                                \
    X(STORE_CORRUPT, -38, "the stored data is corrupt")                                            \
    X(STORE_FOREIGN, -39, "the store belongs to another program")                                  \
    X(STORE_NEWER, -40, "the store was written by a newer version of Troupe")                      \
    X(STARTING, -41, "the actor is starting")                                                      \
    X(START_FAILED, -42, "the actor could not be started")                                         \
    X(DESTROYING, -43, "the actor is being destroyed")                                             \
    X(CONSTRAINT, -44, "an SQL constraint was violated")                                           \
    X(WRONG_SHAPE, -45, "the stored fields do not match those of the code")                        \
    X(CLOSED, -46, "the other side has closed the connection")                                     \
    X(RESET, -47, "the connection was reset")                                                      \
    X(UNREACHABLE, -48, "the address cannot be reached")                                           \
    X(CONNECT_REFUSED, -49, "nothing listens at that address")                                     \
    X(ADDRESS_IN_USE, -50, "the address is already in use")                                        \
    X(ADDRESS_INVALID, -51, "invalid address, or a name that cannot be resolved")                  \
    X(STALLED, -52, "the other side does not read")                                                \
    X(TLS_FAILED, -53, "TLS: no agreement, or a certificate that is not trusted")                  \
    X(NOT_OWNER, -54, "the channel belongs to another actor")                                      \
    X(NOT_PERMITTED, -55, "the operating system does not permit it")                               \
    X(WOULD_BLOCK, -56, "not possible now, try again later")                                       \
    X(REQUEST_DIFFERS, -57, "the id was used for a request with another content")                  \
    X(REQUEST_BEGUN, -58, "an earlier request with this id has begun and left no answer")          \
    X(CANNOT_EXECUTE, -59, "the program cannot be executed")                                       \
    X(PROCESS_FAILED, -60, "the child process has failed")                                         \
    X(FILE_FAILED, -61, "the file cannot be read")                                                 \
    X(NOT_A_CHANNEL_ACTOR, -62, "the behavior of the actor has no channels")

#define TR_STATUS_ENUM_(name, value, text) TR_##name = (value),
typedef enum tr_status { TR_STATUS_LIST(TR_STATUS_ENUM_) } tr_status;
#undef TR_STATUS_ENUM_

/** A duration or a point in time, in nanoseconds: `5 * TR_SECOND`. */
typedef int64_t tr_time;
#define TR_NANOSECOND INT64_C(1)
#define TR_MICROSECOND INT64_C(1000)
#define TR_MILLISECOND INT64_C(1000000)
#define TR_SECOND INT64_C(1000000000)
#define TR_MINUTE (60 * TR_SECOND)
#define TR_HOUR (60 * TR_MINUTE)

/** How important a line of the log is. */
typedef enum tr_level { TR_LEVEL_DEBUG, TR_LEVEL_INFO, TR_LEVEL_WARN, TR_LEVEL_ERROR } tr_level;

/** The form of the lines of a log: docs/guide/operating.md. */
typedef enum tr_log_format {
    TR_LOG_TEXT,    /* time, level, path and text, for people */
    TR_LOG_JSON,    /* an object in each line: time, level, path, causal, text */
    TR_LOG_JOURNALD /* "<6>path: text": the priority of syslog, and no time, which the journal adds */
} tr_log_format;

TR_BEGIN_C
/**
 * Returns the name of a status, such as "TR_TIMEOUT", or "TR_?" for a number that is no status.
 * Any thread. Does not wait.
 */
const char *tr_status_name(tr_status status);
/**
 * Returns what a status means, such as "no answer in time", or "unknown status" for a number that
 * is no status.
 * Any thread. Does not wait.
 */
const char *tr_status_text(tr_status status);
TR_END_C

#endif
