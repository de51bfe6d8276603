/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request.h"

#include <string.h>

#include "actor/mail/kind.h"
#include "actor/turn/turn.h"
#include "net/protocol_turn.h"

struct http_request *tr__http_request_new(struct tr_self *self, struct channel *channel)
{
    const struct http_site *site = channel->endpoint->site;
    struct http_request *request = tr_scratch(self, sizeof *request);
    memset(request, 0, offsetof(struct http_request, path));
    memset(&request->since_ns, 0, sizeof *request - offsetof(struct http_request, since_ns));
    request->self = self;
    request->channel = channel;
    request->site = site;
    request->since_ns = self->worker->loop.now_ns;
    request->left = -1;
    request->head.fields =
        tr_scratch(self, (site->limits.headers_max + 1) * sizeof *request->head.fields);
    return request;
}

void tr__http_request_end(struct http_request *request)
{
    if (request->block)
        tr_message_free(request->block_type, request->block);
    request->block = NULL;
}

struct http_request *tr__http_request_of(struct tr_self *self)
{
    const struct envelope *envelope = self->envelope;
    if (!envelope || envelope->kind != ENVELOPE_CHANNEL || !envelope->sender ||
        envelope->sender & 1)
        return NULL;
    if (protocol_turn_is(envelope))
        return protocol_turn_of(envelope)->request;
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
