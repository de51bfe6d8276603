/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests that get no reply: the request itself, or a copy of it, becomes the EXCEPTION that says so.
 */
#ifndef ACTOR_MAIL_REFUSAL_H
#define ACTOR_MAIL_REFUSAL_H

#include <troupe/message.h>

struct worker;

/** What is said of an ask that got no reply; the second when there is no memory for a text. */
TR_MESSAGE(tr_ask_failed, (i32, status), (i32, code), (str, text));
TR_MESSAGE(tr_ask_ended, (i32, status), (i32, code));

/** A copy of a request without its message, so that the turn keeps the one it has. NULL when out of memory. */
struct envelope *tr__request_stand_in(struct worker *worker, const struct envelope *request);

/**
 * Answers a request without a reply; takes the envelope. `from` is who was asked; text may be NULL.
 */
void tr__ask_refuse(struct worker *worker, struct envelope *envelope, uint64_t from,
                    tr_status status, int code, const char *text);
/** A request becomes what says that it has no reply: nothing need be allocated. */
void tr__ask_become_ended(struct envelope *envelope, tr_status status, int code);
/** Reads status, code and text out of an EXCEPTION. */
void tr__ask_read_error(struct envelope *envelope, tr_error *error);

#endif
