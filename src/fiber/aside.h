/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A large stack beside the stacks of fibers, for calls of functions that need more stack than a handler has.
 *
 * Handlers run on stacks of TR_STACK_SIZE, of which a system may have a hundred thousand. A third-party library may
 * need more, so it is called on the one large stack of the worker. Such a call neither waits nor ends the turn, so one
 * large stack for each worker is enough. Only the pages that are touched use memory.
 */
#ifndef FIBER_ASIDE_H
#define FIBER_ASIDE_H

#include "fiber/fiber.h"
#include "os/memory.h"

#define ASIDE_STACK_SIZE ((size_t)8 * 1024 * 1024)

struct aside {
    struct fiber fiber;
    void *slab; /* NULL: not made yet */
    enum os_guard guard;
    unsigned valgrind_id;
    struct fiber *caller;
    struct fiber_host *host;
    void (*call)(void *context);
    void *context;
};

/**
 * Makes the large stack if there is none yet; an aside that is all zero has none. Returns TR_OK or
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__aside_init(struct aside *aside, struct fiber_pool *pool);
/** Frees the large stack, if there is one. */
void tr__aside_deinit(struct aside *aside);

/** Calls a function on the large stack. The function must not switch fibers. Call only on a fiber of the host. */
void tr__aside_call(struct aside *aside, struct fiber_host *host, void (*call)(void *context),
                    void *context);

#endif
