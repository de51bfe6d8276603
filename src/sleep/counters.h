/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The counters that keep a durable actor awake: one list, from which all tables of counters are generated.
 *
 * A line of the list is one counter: its name, its text for reports to people, and three flags. The flags say whether
 * the counter blocks idle sleep, the end of a sleep's grace, and the end of a destroy's grace. When several counters
 * block, the first one in the list is reported. The predicates for idle sleep and for the end of a grace, the warning
 * at the deadline and `why` all use this list. So a new counter needs one new line and nothing else.
 *
 * For the idle predicate, an actor is ready only in the state Started, and only while NOT_READY is not raised.
 *
 * Two special cases are lines of the list, not code. A connection that can hibernate is a counter that blocks nothing.
 * A run handler that waits on its queue moves from RUN to RUN_WAITS, which does not block idle sleep but does block the
 * end of a sleep's grace.
 *
 * MAIL, LATERS and STASH are work outside of turns. The host does not raise them when that work arrives, because this
 * would make every message slower. Instead the host reads their values from the actor before each decision
 * (durable/work.c). The end of a destroy's grace does not wait for mail and stash. To get rid of these, the actor would
 * need further messages, and a destroy refuses further messages.
 */
#ifndef SLEEP_COUNTERS_H
#define SLEEP_COUNTERS_H

#include <stdint.h>

#define SLEEP_COUNTERS(X)                                                                          \
    /* name, text, what it blocks: idle sleep, the end of a sleep, the end of a destroy */         \
    X(NOT_READY, "not ready", 1, 0, 0)                                                             \
    X(NO_SLEEP, "the no-sleep option", 1, 0, 0)                                                    \
    X(REQUESTS, "active requests", 1, 1, 1)                                                        \
    X(MAIL, "waiting mail", 1, 1, 0)                                                               \
    X(LATERS, "replies owed", 1, 1, 1)                                                             \
    X(STASH, "stashed messages", 1, 1, 0)                                                          \
    X(KEEP_AWAKE, "keep-awake", 1, 1, 1)                                                           \
    X(INTERNAL, "internal keep-awake", 1, 1, 1)                                                    \
    X(RUN, "the run handler", 1, 1, 0)                                                             \
    X(DISCONNECTS, "disconnects", 1, 1, 1)                                                         \
    X(CONNECTIONS, "connections", 1, 0, 0)                                                         \
    X(SOCKETS, "socket callbacks", 1, 1, 1)                                                        \
    X(RUN_WAITS, "the run handler, waiting on its queue", 0, 1, 0)                                 \
    X(HOOKS, "dispatched hooks", 0, 1, 1)                                                          \
    X(TASKS, "shutdown tasks", 0, 1, 1)                                                            \
    X(HIBERNATING, "connections that hibernate", 0, 0, 0)

#define SLEEP_COUNTER_ENUM(name, text, idle, sleep, destroy) COUNTER_##name,
enum sleep_counter { SLEEP_COUNTERS(SLEEP_COUNTER_ENUM) COUNTER_COUNT };
#undef SLEEP_COUNTER_ENUM

/** What the idle predicate returns if no counter blocks. */
#define COUNTER_NONE COUNTER_COUNT

_Static_assert(COUNTER_COUNT <= 32, "a set of counters is 32 bits");

/**
 * The sets of counters that block idle sleep, the end of a sleep, and the end of a destroy. A set
 * has one bit for each counter.
 */
#define SLEEP_COUNTER_IDLE(name, text, idle, sleep, destroy) | (uint32_t)(idle) << COUNTER_##name
#define SLEEP_COUNTER_SLEEP(name, text, idle, sleep, destroy) | (uint32_t)(sleep) << COUNTER_##name
#define SLEEP_COUNTER_DESTROY(name, text, idle, sleep, destroy)                                    \
    | (uint32_t)(destroy) << COUNTER_##name
static const uint32_t counters_block_idle = 0 SLEEP_COUNTERS(SLEEP_COUNTER_IDLE);
static const uint32_t counters_block_sleep = 0 SLEEP_COUNTERS(SLEEP_COUNTER_SLEEP);
static const uint32_t counters_block_destroy = 0 SLEEP_COUNTERS(SLEEP_COUNTER_DESTROY);
#undef SLEEP_COUNTER_IDLE
#undef SLEEP_COUNTER_SLEEP
#undef SLEEP_COUNTER_DESTROY

/** Returns the first counter of a set, in the order of the list, or COUNTER_NONE if the set is empty. */
static inline enum sleep_counter counters_first(uint32_t set)
{
    return set ? (enum sleep_counter)__builtin_ctz(set) : COUNTER_NONE;
}

#endif
