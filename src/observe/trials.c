/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/trials.h"

#include "actor/cell/follow.h"
#include "actor/cell/system.h"
#include "actor/turn/follow_turn.h"

enum {
    /* How many causal ids may be followed until the next request. The records of so many fit into
     * the rings. */
    TRIALS = 64,
    TURNS_FREE = 200000, /* turns per second that may look at the table, on average */
    /* slow turns are followed for at least one part in this many of the time */
    TURNS_LEAST_SHARE = 400
};

#define LEASE_NS (6 * TR_SECOND)        /* how long one request counts; pages ask every 4 s */
#define FIRST_NS (500 * TR_MILLISECOND) /* used while it is not known how busy the program is */

/* Returns for how long to follow slow turns. It depends on how many messages were handled since the
 * last request. */
static tr_time window_of(const struct observer *observer, uint64_t handled, tr_time now_ns)
{
    tr_time passed_ns = now_ns - observer->trials.asked_ns;
    if (!observer->trials.asked_ns || passed_ns > LEASE_NS || passed_ns < TR_MILLISECOND)
        return FIRST_NS;
    double rate = (double)(handled - observer->trials.handled) * TR_SECOND / (double)passed_ns;
    double share = rate > TURNS_FREE ? TURNS_FREE / rate : 1;
    share = share * TURNS_LEAST_SHARE < 1 ? 1.0 / TURNS_LEAST_SHARE : share;
    return (tr_time)(share * (double)LEASE_NS);
}

tr_status tr__trials_begin(struct observer *observer)
{
    struct tr_system *system = observer->system;
    tr_time now_ns = tr__observer_now(observer);
    tr_counters counters;
    tr_status status = observer->trials.until_ns ? TR_OK : tr__follow_open(system);
    if (status != TR_OK)
        return status;
    tr_system_counters(system, &counters);
    tr_time until_ns = now_ns + window_of(observer, counters.handled, now_ns);
    if (until_ns > observer->trials.until_ns)
        observer->trials.until_ns = until_ns;
    observer->trials.handled = counters.handled;
    observer->trials.asked_ns = now_ns;
    tr__follow_trials_allow(&system->follow, TRIALS);
    return TR_OK;
}

int tr__trials_look(struct observer *observer)
{
    if (!observer->trials.until_ns)
        return -1;
    tr_time left_ns = observer->trials.until_ns - tr__observer_now(observer);
    if (left_ns > 0)
        return (int)(left_ns / TR_MILLISECOND) + 1;
    tr__trials_end(observer);
    return -1;
}

void tr__trials_end(struct observer *observer)
{
    if (!observer->trials.until_ns)
        return;
    observer->trials.until_ns = 0;
    tr__follow_trials_allow(&observer->system->follow, 0);
    tr__follow_close(observer->system);
}
