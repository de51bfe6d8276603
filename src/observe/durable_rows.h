/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs "durable kv" and "durable queue". They list keys or items that one actor has stored, in pages.
 *
 *     {"id":1,"do":"durable kv","kind":"cart","key":"anna","text":"2024-","from":"2024-07"}
 *     {"id":2,"do":"durable queue","kind":"cart","key":"anna","text":"mails","after":100}
 *
 * For "durable kv", "text" is the prefix of the keys that are listed. For "durable queue", "text"
 * is the name of a queue. Without "text" all are listed. A page has at most DURABLE_ROWS rows. The
 * last line of a page has "next". To get the next page, a request gives this value as "from" (for
 * keys) or "after" (for items). With "limit":1 a value is written whole, otherwise only its
 * beginning.
 */
#ifndef OBSERVE_DURABLE_ROWS_H
#define OBSERVE_DURABLE_ROWS_H

#include "observe/visitor.h"

enum { DURABLE_ROWS = 100 };

void tr__verb_durable_kv(struct visitor *visitor, const struct control_request *request);
void tr__verb_durable_queue(struct visitor *visitor, const struct control_request *request);

#endif
