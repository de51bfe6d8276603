/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/order.h"

#include <troupe/ask.h>

#include "actor/ask/turn_asks.h"
#include "actor/ask/ask_then.h"
#include "actor/ask/await.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/signal.h"
#include "actor/cell/system.h"
#include "actor/turn/park.h"
#include "base/assert.h"

/* The delays before further attempts. They are the same as in durable/key_ask.c. */
#define AGAIN_NS TR_MILLISECOND
#define AGAIN_MAX_NS (100 * TR_MILLISECOND)

static tr_next on_answer(tr_self *self, void *state, const void *message);

/*
 * The handler that statistics and reports name. Its entry is static, because statistics and reports
 * may use its address after the turn has ended. The copy in `attempt` would be gone then, because
 * it is on the stack of a turn.
 */
static const tr_handler answer_row = {
    .type = &tr_type_tr_answered, .call = on_answer, .name = "an answer of a gateway"};

/*
 * Handles the outcome of an ask as a message of its own, after the messages that came before it.
 * Wakes the turn that has made the ask.
 */
static tr_next on_answer(tr_self *self, void *state, const void *message)
{
    (void)state;
    self->handler = &answer_row;
    worker_set_handler(self->worker, &answer_row);
    const struct tr_answered *answered = message;
    tr_answer answer = tr_self_answer(self);
    struct ordered_ask *ask = answer.context;
    const struct ask *record = (const struct ask *)(uintptr_t)answered->ask;
    bool is_unbegun = answer.status == TR_STOPPED &&
                      (ask->has_id || tr__ask_is_unbegun(self, ask_pending(record)));
    if (is_unbegun)
        ask->is_again = true;
    else
        ask->on_outcome(ask, answer.status, answer.reply, answer.why);
    ask->is_done = true;
    tr__turn_wake(ask->turn, TR_OK);
    return TR_SAME;
}

static void fail(struct ordered_ask *ask, tr_status status)
{
    ask->on_outcome(ask, status, NULL, NULL);
    ask->is_done = true;
}

/*
 * Whether the actor cannot be woken just now, because its earlier generation is ending and still
 * has the actor's name.
 */
static bool is_leaving(const struct tr_system *system, tr_status status)
{
    return status == TR_STOPPING && !atom32_load(&system->ending.is_stopping, ATOM_RELAXED);
}

/*
 * Sends the request once, and waits for the outcome. Sets is_again if the request may be sent
 * again.
 */
static void attempt(struct tr_self *self, struct ordered_ask *ask, tr_time deadline_ns)
{
    const tr_behavior *behavior = self->cell->dispatch->behavior;
    const tr_then then = {
        .state_name = behavior->state_name,
        .state_size = behavior->state_size,
        .handler = {.type = ask->type, .call = on_answer, .name = "an answer of a gateway"}};
    uint64_t bits;
    tr_status status = tr_self_try_durable(self, ask->kind, ask->key, &bits);
    if (is_leaving(self->worker->system, status)) {
        ask->is_again = true;
        return;
    }
    tr_time left_ns = deadline_ns - tr_now(self);
    if (status == TR_OK)
        status = tr__ask_then_in_order(
            self, &then, ask, tr_ref_from_bits(bits), ask->message, left_ns > 0 ? left_ns : 1);
    if (status != TR_OK) {
        fail(ask, status);
        return;
    }
    while (!ask->is_done && !self->is_cancelled) {
        /*
         * The ask must not outlive its turn. So if memory for the wait is missing, let the turn
         * crash, which also ends the session.
         */
        if (turn_park_at(self, TR_NEVER, NULL) == TR_NO_MEMORY)
            tr_crash(self, TR_NO_MEMORY, "out of memory to wait for an answer");
    }
}

void tr__ask_in_order(struct tr_self *self, struct ordered_ask *ask)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    tr_time deadline_ns = tr_now(self) + TR_ASK_NS;
    tr_time delay_ns = 0;
    ask->turn = self;
    for (;;) {
        ask->is_done = false;
        ask->is_again = false;
        attempt(self, ask, deadline_ns);
        if (!ask->is_again || self->is_cancelled)
            return;
        if (tr_now(self) + delay_ns >= deadline_ns ||
            (delay_ns && tr_self_sleep(self, delay_ns, NULL) != TR_OK)) {
            fail(ask, TR_STOPPED);
            return;
        }
        delay_ns = delay_ns ? 2 * delay_ns : AGAIN_NS;
        if (delay_ns > AGAIN_MAX_NS)
            delay_ns = AGAIN_MAX_NS;
    }
}
