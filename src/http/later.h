/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tr_reply_later in a turn of HTTP. When the handler returns, the turn does not end: it waits for
 * the reply to an ask that the library has made. The program replies to this ask by the tr_later
 * handle, as to an ask of any actor. So the turn itself writes the answer, as usual. The next
 * request of the connection waits, and when the session ends, the ask ends. Owner only.
 */
#ifndef HTTP_LATER_H
#define HTTP_LATER_H

#include <troupe/ask.h>

#include "http/request.h"

/** What tr_reply_later does in a turn of HTTP. */
tr_later tr__http_later(struct tr_self *self);
/**
 * Call when the handler has returned. Waits for the reply, and answers the request with the reply
 * or with an error.
 */
void tr__http_later_answer(struct http_request *request);

#endif
