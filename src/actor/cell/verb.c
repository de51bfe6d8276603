/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Verbs that need only the turn, such as tr_fail, tr_crash and tr_now. Verbs of other rooms call
 * them.
 */
#include "actor/cell/verb.h"

#include "actor/cell/recorder.h"

#include <stdarg.h>
#include <stdio.h>
#include <troupe/self.h>

#include "actor/cell/system.h"
#include "actor/cell/upcalls.h"
#include "base/assert.h"

static void error_fill(struct tr_self *self, tr_status status, const char *format, va_list list)
{
    if (!format)
        format = "";
    turn_require_slow_end(self);
    self->error = (tr_error){.status = status, .actor = tr_ref_from_bits(self->cell->identity)};
    vsnprintf(self->error.text, sizeof self->error.text, format, list);
    snprintf(self->error.where,
             sizeof self->error.where,
             "%s",
             self->envelope ? self->envelope->type->name : "a signal");
}

tr_next tr_fail(tr_self *self, tr_status status, const char *format, ...)
{
    TURN_VERB(self);
    va_list list;
    va_start(list, format);
    if (self)
        error_fill(self, status, format, list);
    va_end(list);
    return TR_VALUE(tr_next, TR_NEXT_FAILED);
}

void tr_crash(tr_self *self, tr_status status, const char *format, ...)
{
    TURN_VERB(self);
    TR_ASSERT(self); /* without `self` there is no turn to end */
    va_list list;
    va_start(list, format);
    error_fill(self, status, format, list);
    va_end(list);
    tr__turn_crash(self);
}

tr_time tr_now(const tr_self *self)
{
    if (!self)
        return 0;
    const tr_platform *platform = self->worker->system->platform;
    tr_time now_ns = platform->mono_now(platform);
    return self->reads ? (tr_time)tr__verb_read(self, 1, (uint64_t)now_ns) : now_ns;
}

uint64_t tr__verb_read(const tr_self *self, uint32_t what, uint64_t number)
{
    struct tr_self *turn = (struct tr_self *)(uintptr_t)self;
    const struct turn_recorder *recorder = self->worker->system->durable.recorder;
    if (recorder)
        recorder->on_read(turn, what, &number);
    return number;
}
