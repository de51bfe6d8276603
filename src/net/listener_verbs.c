/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs that a program calls for a listener. */
#include <troupe/net.h>

#include "actor/cell/verb.h"
#include "net/listener.h"
#include "net/listener_shared.h"
#include "net/secure.h"

tr_address tr_listener_address(tr_self *self, tr_listener_ref listener)
{
    TURN_VERB(self);
    tr_address address = {.family = TR_FAMILY_NONE};
    struct listener_shared *shared = tr__listener_find(self->worker->system, listener.bits);
    if (shared) {
        address = shared->address;
        tr__listener_shared_drop(shared);
    }
    return address;
}

size_t tr_listener_count(tr_self *self, tr_listener_ref listener)
{
    TURN_VERB(self);
    size_t count = 0;
    struct listener_shared *shared = tr__listener_find(self->worker->system, listener.bits);
    if (shared) {
        count = atom32_load(&shared->total, ATOM_RELAXED);
        tr__listener_shared_drop(shared);
    }
    return count;
}

void tr_listener_pause(tr_self *self, tr_listener_ref listener)
{
    TURN_VERB(self);
    tr_tell(self, listener, tr_listener_order_, .what = ORDER_PAUSE);
}

void tr_listener_resume(tr_self *self, tr_listener_ref listener)
{
    TURN_VERB(self);
    tr_tell(self, listener, tr_listener_order_, .what = ORDER_RESUME);
}

tr_status tr_listener_reload(tr_self *self, tr_listener_ref listener)
{
    TURN_VERB(self);
    struct listener_shared *shared = tr__listener_find(self->worker->system, listener.bits);
    if (!shared)
        return TR_STOPPED;
    char why[240] = "";
    tr_status status = tr__secure_reload(shared->endpoint, why, sizeof why);
    if (status == TR_TLS_FAILED)
        tr_log_error(self, "certificates were not reloaded, the old ones stay: %s", why);
    tr__listener_shared_drop(shared);
    return status;
}
