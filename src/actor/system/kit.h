/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The test kit inside: a system on the virtual platform, and how waiting runs it.
 *
 * One thread.
 */
#ifndef ACTOR_SYSTEM_KIT_H
#define ACTOR_SYSTEM_KIT_H

#include <troupe/kit.h>

#include "os/virtual.h"

struct tr_kit {
    struct virtual_platform *virtual;
    struct tr_system *system;
    tr_client *client;
    struct rng rng; /* chooses the worker that runs next */
    uint64_t trace;
    bool is_stepping;
    uint64_t thread_id;    /* of the only thread */
    struct list peers;     /* of actor/system/kit_net.h, oldest first */
    struct list listeners; /* of actor/system/kit_net.h */
};

/**
 * Does what a wait does: makes one step. If there is nothing to do, moves the clock to the next event,
 * at most to the deadline. Aborts if there is none and the deadline is TR_NEVER.
 */
void tr__kit_wait(tr_kit *kit, tr_time deadline_ns);

#endif
