/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The inside of the test kit: a system on the virtual platform, which runs while the test waits.
 *
 * One thread.
 */
#ifndef ACTOR_SYSTEM_KIT_H
#define ACTOR_SYSTEM_KIT_H

#include <troupe/kit.h>

#include "actor/system/kit_clock.h"
#include "os/virtual.h"

struct tr_kit {
    struct virtual_platform *virtual;
    struct tr_system *system;
    tr_client *client;
    struct rng rng; /* chooses the worker that runs next */
    uint64_t trace;
    bool is_stepping;
    uint64_t thread_id; /* id of the only thread */
    struct list peers;  /* the peers of actor/system/kit_net.h; the oldest peer is first */
    struct kit_clock clock;
    struct list listeners; /* the listeners of actor/system/kit_net.h */
};

/** Options of a kit that tr_kit_options does not have. */
struct kit_stacks {
    bool traps_faults;  /* as in tr_system_options; only for a kit with one worker */
    size_t stack_bytes; /* as in tr_system_options */
};

/**
 * As tr_kit_new, with the options in `stacks`. Returns NULL also if the platform cannot trap
 * faults.
 */
TR_MUST_CHECK tr_kit *tr__kit_new(const tr_kit_options *options, const struct kit_stacks *stacks);

/**
 * Makes one step of the kit, for a caller that waits. If there is nothing to do, moves the clock to
 * the next event, but not beyond the deadline. Aborts if there is no next event and the deadline is
 * TR_NEVER, because the wait would never end.
 */
void tr__kit_wait(tr_kit *kit, tr_time deadline_ns);

#endif
