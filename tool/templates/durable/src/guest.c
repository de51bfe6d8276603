/* SPDX-License-Identifier: Apache-2.0 */
#include "guest.h"

/* What is stored of a guest: declared as a message is. A new field goes to the end. */
TR_MESSAGE(guest_state, (u64, visits), (str, last_page));

static tr_next on_visit(tr_self *self, struct guest_state *guest, const struct visit *message)
{
    if (!message->page || !*message->page)
        return tr_refuse(self, 1, "which page?");
    const char *before = guest->last_page;
    guest->visits++;
    guest->last_page = tr_strdup(self, message->page); /* it lives as long as the state */
    /* The reply leaves when the change is on disk. */
    return tr_reply(self, seen, .times = guest->visits, .last_page = before);
}

TR_BEHAVIOR(guest, struct guest_state, TR_ON(visit, on_visit));
TR_DURABLE(guest, guest_state, .idle_ns = 10 * TR_SECOND);
