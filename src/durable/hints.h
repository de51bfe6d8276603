/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The hints of the clock that were not answered: for which alarms, of which kinds, and when they are told again.
 *
 * Rules
 * 1. An alarm has at most one hint on its way. One whose actor had to be woken takes a place of its kind, of which there
 *    are HINTS_WAKING; the hint of an actor that is awake takes none, however long that is busy.
 * 2. A place is free again when the actor has looked at the alarm, when it is gone, or after HINTS_PATIENCE_NS. An
 *    alarm that was not looked at by then waits, longer each time: HINTS_BACK_OFF_NS at first, HINTS_BACK_OFF_MAX_NS at
 *    most.
 * 3. A kind has at most HINTS_WAITING that wait. When there are more the oldest are forgotten, and what is not known is
 *    told again after HINTS_BACK_OFF_MAX_NS.
 *
 * Owner only: the clock.
 */
#ifndef DURABLE_HINTS_H
#define DURABLE_HINTS_H

#include "actor/cell/worker.h"
#include "store/store.h"

enum {
    HINTS_WAKING = 1024,   /* actors of one kind that are being woken for an alarm */
    HINTS_WAITING = 16384, /* hints of one kind without an answer that are known */
};
#define HINTS_PATIENCE_NS TR_SECOND
#define HINTS_BACK_OFF_NS TR_SECOND
#define HINTS_BACK_OFF_MAX_NS (5 * TR_MINUTE)

struct hint;

/** Of a kind. */
struct hint_kind {
    struct list waking; /* of struct hint, the oldest first */
    struct list waiting;
    uint32_t waking_count;
    uint32_t waiting_count;
    tr_time again_ns; /* when what is not known of a kind with too many is told again */
    bool is_named;    /* the log has said that alarms of this kind wait */
    /* All places were taken: what comes after `place` is told later, by a list of its own. */
    bool is_behind;
    struct store_alarm_place place;
};

struct hints {
    struct hint **buckets; /* NULL: not made */
    size_t bucket_count;
    struct hint_kind *kinds;
    size_t kind_count;
};

/** TR_NO_MEMORY: nothing was made. */
TR_MUST_CHECK tr_status tr__hints_init(struct hints *hints, struct worker *worker,
                                       size_t kind_count);
void tr__hints_deinit(struct hints *hints, struct worker *worker);

/** By what an alarm is known; not 0. */
uint64_t tr__hints_ticket(const struct worker *worker, const struct store_alarm_place *place);

enum hint_verdict {
    HINT_TELL,
    HINT_SKIP, /* it was told, and is not to be told again yet */
};
/** Whether an alarm is to be told. `is_again`: it may have been before. */
enum hint_verdict tr__hints_decide(const struct hints *hints, uint64_t ticket, size_t kind,
                                   bool is_again, tr_time now_ns);
static inline bool hints_is_full(const struct hints *hints, size_t kind)
{
    return hints->kinds[kind].waking_count >= HINTS_WAKING;
}

/**
 * It was told to the actor of `ref`. TR_NO_MEMORY: it is not known, and told again when all are looked at. *is_late: it
 * has been told in vain before, and the log has not said so of this kind.
 */
TR_MUST_CHECK tr_status tr__hints_add(struct hints *hints, struct worker *worker, uint64_t ticket,
                                      size_t kind, uint64_t ref, bool is_awake, tr_time now_ns,
                                      bool *is_late);
/** The actor has looked at it. Gives its kind, or -1: it is not known. */
int tr__hints_answer(struct hints *hints, struct worker *worker, uint64_t ticket);
/** Frees the places of those that have gone, or have taken too long. */
void tr__hints_pass(struct hints *hints, struct worker *worker, tr_time now_ns);
/**
 * All that is due was looked at, since `since_ns`. An alarm that could have been told again and was not is not due any
 * more, and its hint is forgotten.
 */
void tr__hints_forget(struct hints *hints, struct worker *worker, tr_time since_ns);

#endif
