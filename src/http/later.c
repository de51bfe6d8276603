/* SPDX-License-Identifier: Apache-2.0 */
#include "http/later.h"

#include "actor/ask/answer.h"
#include "actor/ask/ask.h"
#include "actor/ask/ask_open.h"
#include "actor/ask/turn_asks.h"
#include "actor/turn/park.h"
#include "http/answer.h"
#include "http/session.h"
#include "base/assert.h"

tr_later tr__http_later(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct http_request *request = tr__http_request_of(self);
    struct worker *worker = self->worker;
    tr_later none = {0};
    if (!request || request->phase != ANSWER_NONE || request->has_later)
        return none;
    struct ask *ask = tr__ask_new(self, self->cell->identity, request->type);
    if (ask && !turn_asks_add(self, ask)) {
        tr__ask_end(worker, self->cell, ask);
        ask = NULL;
    }
    if (!ask)
        return none;
    ask->asked_ns = clock_bound_roughly(&worker->clock);
    ask->is_untimed = false;
    ask_arm(worker, ask, timer_deadline(ask->asked_ns, request->site->options.later_ns));
    request->has_later = true;
    request->later = ask_pending(ask);
    struct envelope asked = {.sender = self->cell->identity, .causal = self->causal};
    asked.payload.ask.id = ask->id;
    tr_later later = tr__later_new(self, &asked, request->type);
    if (!later.number)
        tr__ask_done(worker, ask, TR_NO_MEMORY);
    return later;
}

void tr__http_later_answer(struct http_request *request)
{
    struct tr_self *self = request->self;
    const void *reply = NULL;
    if (self->is_barrier)
        /* end the barrier, because another turn of this actor makes the reply */
        tr__barrier_end(self);
    /* while the turn waits, let its handler be that of the protocol, which is no barrier */
    self->handler = tr__http_protocol.handler;
    tr_status status = tr_self_try_await(self, request->later, &reply);
    if (status == TR_CANCELLED || request->phase != ANSWER_NONE)
        return; /* return, because the end of the turn completes what the turn has left open */
    if (status == TR_OK) {
        const struct envelope *kept = place_answer(self->asks.places[request->later.id >> 32]);
        int code = request->status ? request->status : 200;
        if (tr__http_answer_json(request, code, kept->type, reply) == TR_OK)
            return;
    }
    if (status == TR_TIMEOUT)
        tr__http_answer_error(request, 504, "the answer took too long", NULL);
    else if (status == TR_STOPPED || status == TR_RESTARTED || status == TR_NO_MEMORY)
        tr__http_answer_error(request, 503, "the server is stopping", NULL);
    else
        tr__http_answer_error(request, 500, "the server has failed", NULL);
}
