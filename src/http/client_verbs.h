/* SPDX-License-Identifier: Apache-2.0 */
/** Functions that the verbs of clients share. */
#ifndef HTTP_CLIENT_VERBS_H
#define HTTP_CLIENT_VERBS_H

#include <troupe/net.h>

/** Whether an endpoint that is given as .by has no option that would have no effect. */
bool tr__http_by_is_good(const tr_endpoint *by);

#endif
