/* SPDX-License-Identifier: Apache-2.0 */
/** What the verbs of clients share. */
#ifndef HTTP_CLIENT_VERBS_H
#define HTTP_CLIENT_VERBS_H

#include <troupe/net.h>

/** Whether an endpoint for .by sets no option that would be ignored. */
bool tr__http_by_is_good(const tr_endpoint *by);

#endif
