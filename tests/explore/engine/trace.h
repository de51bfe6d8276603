/* SPDX-License-Identifier: Apache-2.0 */
/** The trace of one schedule, printed while it is run a second time. */
#ifndef ENGINE_TRACE_H
#define ENGINE_TRACE_H

#include "engine/machine.h"
#include "os/atomic.h"

/** Before the schedules of another model: forgets the names. */
void trace_begin(void);
/** After the first setup: the names are the same in all schedules. */
void trace_names_end(void);

/** The name of an address, or its digits. The text lasts for a few calls. */
const char *trace_name(const void *address);
/** A word, as its kind is best read. The text lasts for a few calls. */
const char *trace_word(enum explore_kind kind, uint64_t value);

__attribute__((format(printf, 2, 3))) void trace_print(const struct explore_site *site,
                                                       const char *format, ...);

/* The arguments are not evaluated in schedules without a trace, which are nearly all. */
#define trace_site(site, ...)                                                                      \
    do {                                                                                           \
        if (machine.is_traced && machine.phase == PHASE_RUN)                                       \
            trace_print(site, __VA_ARGS__);                                                        \
    } while (0)
#define trace_line(...) trace_site(NULL, __VA_ARGS__)

/** A site as file:line, without folders. The text lasts for a few calls. */
const char *trace_place(const struct explore_site *site);

#endif
