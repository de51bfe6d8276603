/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tr_reply_later in a turn of HTTP. When the handler returns, the turn does not end: it waits for
 * an ask that the library has made. The program replies to this ask by its handle, as to an ask of
 * any actor. So the turn itself writes the answer as usual, the next request of the connection
 * waits, and the end of the session ends the ask. Owner only.
 */
#ifndef HTTP_LATER_H
#define HTTP_LATER_H

#include <troupe/ask.h>

#include "http/request.h"

/** Implements tr_protocol.later: tr_reply_later in a turn of HTTP. */
tr_later tr__http_later(struct tr_self *self);
/** Waits for the reply after the handler has returned. Answers with the reply, or with an error. */
void tr__http_later_answer(struct http_request *request);

#endif
