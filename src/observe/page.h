/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Clients that are pages of an inspector (src/inspect). Before the inspector passes on the first
 * line of a browser, it sends the verb "session":
 *     {"id":0,"do":"session","text":"inspector 127.0.0.1:51000","reads_only":true}
 * From then on this connection shows no secret field. With "reads_only" it cannot change anything.
 * Lines of the log about its changes name the page. A second "session" can restrict the connection
 * further, but cannot remove restrictions.
 */
#ifndef OBSERVE_PAGE_H
#define OBSERVE_PAGE_H

#include "observe/verbs.h"

enum {
    /* all inspectors of a program together have at most this many connections of pages */
    OBSERVER_PAGES = 32
};

void tr__verb_session(struct visitor *visitor, const struct control_request *request);
/**
 * Whether a client may make a request. A client that is not a page may make any. If a page may not
 * make this request, refuses it.
 */
bool tr__page_may(struct visitor *visitor, struct control_request *request,
                  const struct verb *verb);
/** Frees the place of a page. The visitor of the page ends. */
void tr__page_leave(struct visitor *visitor);

#endif
