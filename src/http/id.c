/* SPDX-License-Identifier: Apache-2.0 */
#include "http/id.h"

#include <inttypes.h>
#include <string.h>

#include "actor/cell/verb.h"

/* Whether an id that a client has given may be written to logs and headers: no character in it can be misread there. */
static bool is_good(const char *id)
{
    size_t size = id ? strlen(id) : 0;
    if (!size || size > HTTP_ID_MAX)
        return false;
    for (; *id; id++) {
        bool is_letter = (*id | 0x20) >= 'a' && (*id | 0x20) <= 'z';
        bool is_digit = *id >= '0' && *id <= '9';
        if (!is_letter && !is_digit && *id != '.' && *id != '_' && *id != '-')
            return false;
    }
    return true;
}

void tr__http_request_identify(struct http_request *request)
{
    struct tr_self *self = request->self;
    const char *given = tr_http_header(self, "x-request-id");
    if (!self->causal) /* a turn whose messages are followed has a causal id already */
        self->causal = tr_random(self) | 1;
    /* Copy the id, because the head may move while the body is read. */
    request->id = is_good(given) ? tr_format(self, "%s", given)
                                 : tr_format(self, "%016" PRIx64, self->causal);
    tr_http_set(self, "x-request-id", request->id);
}

const char *tr_http_request_id(tr_self *self)
{
    TURN_VERB(self);
    const struct http_request *request = tr__http_request_of(self);
    return request ? request->id : NULL;
}
