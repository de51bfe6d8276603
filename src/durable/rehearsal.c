/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/rehearsal.h"

#include <stdio.h>
#include <string.h>
#include <troupe/self.h>

#include "durable/actor.h"

tr_next tr__rehearsal_note(struct tr_self *self, const struct durable_actor *actor, tr_next next)
{
    struct rehearsal *rehearsal = actor->kind->host->rehearsal;
    bool is_it = strcmp(rehearsal->kind, actor->kind->declared->name) == 0 &&
                 rehearsal->key.size == actor->key_size &&
                 memcmp(rehearsal->key.data, actor->key, actor->key_size) == 0;
    bool has_failed = next.code == TR_NEXT_FAILED;
    if (is_it && !rehearsal->is_over) {
        rehearsal->is_over = true;
        rehearsal->status = has_failed ? self->error.status : TR_OK;
        (void)snprintf(
            rehearsal->text, sizeof rehearsal->text, "%s", has_failed ? self->error.text : "");
    }
    return has_failed ? next : tr_fail(self, TR_CANCELLED, "a rehearsal only loads the actor");
}
