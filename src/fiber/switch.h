/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The two assembly functions of boost.context, with C prototypes of our own (the library has C
 * linkage but only C++ headers). Used in src/fiber only.
 */
#ifndef FIBER_SWITCH_H
#define FIBER_SWITCH_H

#include <stddef.h>

/** What an arrival is told: where the leaver can be continued, and what it passed. */
struct fiber_transfer {
    void *context;
    void *data;
};

/** Leaves this stack and continues at `context`, which is used up; returns when continued. */
struct fiber_transfer jump_fcontext(void *context, void *data);

/** Prepares a stack that ends at `top`: the first jump to it calls `main`, which never returns. */
void *make_fcontext(void *top, size_t size, void (*main)(struct fiber_transfer from));

#endif
