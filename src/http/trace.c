/* SPDX-License-Identifier: Apache-2.0 */
#include "http/trace.h"

#include "actor/cell/follow.h"
#include "actor/cell/system.h"
#include "actor/turn/follow_turn.h"
#include "http/request.h"
#include "base/assert.h"

bool tr__http_trace_is_on(const struct tr_self *self)
{
    return atom32_load(&self->worker->system->follow->is_on, ATOM_RELAXED);
}

void tr__http_trace_begin(struct http_request *request)
{
    struct tr_self *self = request->self;
    struct follow *follow = self->worker->system->follow;
    struct follow_export *export = follow_export_of(follow);
    const char *text = export ? tr_http_header(self, "traceparent") : NULL;
    struct trace_parent parent;
    bool is_adopted = text && tr__trace_parent_read(text, &parent);
    if (!self->causal)
        self->causal = tr_random(self) | 1;
    if (is_adopted) {
        if (!parent.is_sampled)
            self->causal |= FOLLOW_UNSAMPLED;
        tr__follow_adopt(export,
                         &(struct follow_context){
                             self->causal, parent.trace_high, parent.trace_low, parent.span});
        if (parent.is_sampled)
            tr__follow_causal(follow, self->causal);
    }
    /* If the turn is followed already, because its session is followed, change nothing. */
    if (is_adopted || !self->followed)
        tr__follow_again(self);
}

bool tr__http_trace_out(const struct tr_self *self, char text[TRACE_PARENT_SIZE])
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct follow_export *export = follow_export_of(self->worker->system->follow);
    if (!export || !self->followed)
        return false;
    struct follow_context context = tr__follow_context(export, self->causal);
    const struct trace_parent parent = {.trace_high = context.trace_high,
                                        .trace_low = context.trace_low,
                                        .span = tr__follow_span(export, self->followed),
                                        .is_sampled = true};
    tr__trace_parent_write(&parent, text);
    return true;
}
