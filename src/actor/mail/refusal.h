/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What becomes of a request that gets no reply: the envelope of the request, or a copy of it,
 * becomes the EXCEPTION that tells the asker.
 */
#ifndef ACTOR_MAIL_REFUSAL_H
#define ACTOR_MAIL_REFUSAL_H

#include <troupe/message.h>

struct worker;

/**
 * The messages that notify an asker that its ask got no reply. tr_ask_ended is used when there is
 * no text, and when there is no memory for the text.
 */
TR_MESSAGE(tr_ask_failed, (i32, status), (i32, code), (str, text));
TR_MESSAGE(tr_ask_ended, (i32, status), (i32, code));

/**
 * The code of an EXCEPTION for a request that no handler has seen. The asker may send such a
 * request again. Only tr__refusal_is_unbegun looks for this code.
 */
enum { REFUSAL_UNBEGUN = INT32_MIN };

/**
 * Copies a request without its message. The copy can be sent as an EXCEPTION while the turn keeps
 * the request itself. Returns NULL when out of memory.
 */
struct envelope *tr__request_stand_in(struct worker *worker, const struct envelope *request);

/**
 * Answers a request with an EXCEPTION instead of a reply. Takes the envelope. `from` is the actor
 * that was asked. `text` may be NULL.
 */
void tr__ask_refuse(struct worker *worker, struct envelope *envelope, uint64_t from,
                    tr_status status, int code, const char *text);
/**
 * Turns the envelope of a request or of an answer into a tr_ask_ended, so that nothing need be
 * allocated.
 */
void tr__ask_become_ended(struct envelope *envelope, tr_status status, int code);
/** Reads status, code and text of an EXCEPTION into *error. */
void tr__ask_read_error(struct envelope *envelope, tr_error *error);
/** Whether this answer is an EXCEPTION with REFUSAL_UNBEGUN. */
bool tr__refusal_is_unbegun(struct envelope *answer);

#endif
