/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs "durable kv" and "durable queue": what one actor has stored besides its state, in pages.
 *
 *     {"id":1,"do":"durable kv","kind":"cart","key":"anna","text":"2024-","from":"2024-07"}
 *     {"id":2,"do":"durable queue","kind":"cart","key":"anna","text":"mails","after":100}
 *
 * "text" is what keys begin with, or the name of a queue; without it all are listed. A page has at
 * most DURABLE_ROWS rows; "next" of its last line is "from" or "after" of the next page. With
 * "limit":1 a value is written whole, else its beginning.
 */
#ifndef OBSERVE_DURABLE_ROWS_H
#define OBSERVE_DURABLE_ROWS_H

#include "observe/visitor.h"

enum { DURABLE_ROWS = 100 };

void tr__verb_durable_kv(struct visitor *visitor, const struct control_request *request);
void tr__verb_durable_queue(struct visitor *visitor, const struct control_request *request);

#endif
