/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request.h"

#include "actor/mail/kind.h"
#include "actor/turn/turn.h"

struct http_request *tr__http_request_of(struct tr_self *self)
{
    const struct envelope *envelope = self->envelope;
    if (!envelope || envelope->kind != ENVELOPE_CHANNEL || !envelope->sender ||
        envelope->sender & 1)
        return NULL;
    const struct channel *channel = (const struct channel *)(uintptr_t)envelope->sender;
    return channel->request;
}

struct http_request *tr__http_request_need(struct tr_self *self, const char *verb)
{
    struct http_request *request = tr__http_request_of(self);
    if (!request)
        tr_crash(self, TR_INVALID_TRANSITION, "%s: this turn has no request of HTTP", verb);
    return request;
}

_Noreturn void tr__http_request_leave(struct http_request *request)
{
    tr__turn_abort(request->self, TR_SAME);
    __builtin_unreachable();
}
