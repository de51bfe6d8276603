/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request.h"

#include "actor/mail/kind.h"
#include "actor/turn/turn.h"
#include "net/protocol_turn.h"
#include "base/assert.h"

enum { FIELD_MIN = 4 /* least size of a field with its line end */ };

struct http_request *tr__http_request_new(struct tr_self *self, struct channel *channel,
                                          size_t head_size)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const struct http_site *site = channel->endpoint->site;
    static_assert(sizeof(struct http_request) % _Alignof(struct tr_http_field) == 0,
                  "the fields are behind the request");
    size_t fields_max = site->limits.headers_max + 1;
    if (head_size / FIELD_MIN < fields_max)
        fields_max = head_size / FIELD_MIN;
    /*
     * Take memory only for as many fields as a head of this size can have. Scratch memory is
     * zeroed, and zeroing space for the largest allowed number of fields would take too long.
     */
    struct http_request *request =
        tr_scratch(self, sizeof *request + fields_max * sizeof(struct tr_http_field));
    request->self = self;
    request->channel = channel;
    request->site = site;
    request->since_ns = self->worker->loop.now_ns;
    request->left = -1;
    request->head.fields = (struct tr_http_field *)(request + 1);
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
    TR_ASSERT_SLOW(turn_is_mine(self));
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
    TR_ASSERT_SLOW(turn_is_mine(self));
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
