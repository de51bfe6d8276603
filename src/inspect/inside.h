/* SPDX-License-Identifier: Apache-2.0 */
/** Data that the files of the inspector share. */
#ifndef INSPECT_INSIDE_H
#define INSPECT_INSIDE_H

#include <troupe/self.h>

#include "inspect/guard.h"
#include "inspect/inspector.h"
#include "os/atomic.h"

struct inspector {
    struct inspector_options options;
    tr_system *system;
    tr_client *client;
    /* the address at which the inspector listens; the set-up of its listener writes it */
    tr_address address;
    tr_time since_ns; /* wall clock */
    char token[GUARD_TOKEN_SIZE + 1];
    char url[TR_ADDRESS_TEXT_MAX + GUARD_NAME_MAX + GUARD_TOKEN_SIZE + 32];
    atom32 pages; /* number of open pages */
    /* how many pages were dropped since the start because they did not read what was sent */
    atom64 dropped;
};

/**
 * The message with which a session begins: a pointer to its inspector, which lives longer than the
 * session's system.
 */
TR_MESSAGE(tr_inspect_begin, (u64, inspector));
TR_ACTOR(tr_inspect_page);

static inline struct inspector *inspector_of(const struct tr_inspect_begin *message)
{
    return (struct inspector *)(uintptr_t)message->inspector;
}

#endif
