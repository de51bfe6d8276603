/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Clients that are pages of an inspector (src/inspect). The inspector says so with the verb "session" before it passes on the
 * first line of a browser:
 *     {"id":0,"do":"session","text":"inspector 127.0.0.1:51000","reads_only":true}
 * From then on no secret field leaves the program by this connection, nothing can be changed if it only reads, and lines of
 * the log about changes name it. Another "session" can take more away, and gives nothing back.
 */
#ifndef OBSERVE_PAGE_H
#define OBSERVE_PAGE_H

#include "observe/verbs.h"

enum { OBSERVER_PAGES = 32 /* connections of pages, at most, over all inspectors of a program */ };

void tr__verb_session(struct visitor *visitor, const struct control_request *request);
/** Whether a page may make a request. False: the request was refused. True for all clients that are not pages. */
bool tr__page_may(struct visitor *visitor, struct control_request *request,
                  const struct verb *verb);
/** Frees the place of a page whose visitor ends. */
void tr__page_leave(struct visitor *visitor);

#endif
