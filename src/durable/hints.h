/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The clock's hints that have no answer yet. For each of them, this table knows the alarm, and when
 * the hint is sent again.
 *
 * 1. An alarm has at most one hint without an answer. If its actor had to be woken, the hint takes
 *    one of the HINTS_WAKING places of its kind. The hint of an awake actor takes no place, however
 *    long the actor is busy.
 * 2. A place becomes free when the actor has answered, when the actor is gone, or after
 *    HINTS_PATIENCE_NS. A hint that got no answer in that time waits before it is sent again. This
 *    wait is HINTS_BACK_OFF_NS at first. It becomes longer each time, up to HINTS_BACK_OFF_MAX_NS.
 * 3. At most HINTS_WAITING hints of a kind wait. If there are more, the oldest are forgotten. From
 *    then on, an alarm that has no hint in the table gets a hint again after HINTS_BACK_OFF_MAX_NS.
 *
 * Only the clock uses this table.
 */
#ifndef DURABLE_HINTS_H
#define DURABLE_HINTS_H

#include "actor/cell/worker.h"
#include "store/read.h"

enum {
    HINTS_WAKING = 1024,   /* how many actors of a kind may be woken for alarms at the same time */
    HINTS_WAITING = 16384, /* how many hints of a kind may wait */
};
#define HINTS_PATIENCE_NS TR_SECOND
#define HINTS_BACK_OFF_NS TR_SECOND
#define HINTS_BACK_OFF_MAX_NS (5 * TR_MINUTE)

struct hint;

/** The hints of one kind. */
struct hint_kind {
    struct list waking; /* hints that take a place: list of struct hint, oldest first */
    struct list waiting;
    uint32_t waking_count;
    uint32_t waiting_count;
    /*
     * When hints were forgotten: the time at which the clock sends hints again for alarms that have
     * no hint here.
     */
    tr_time again_ns;
    bool is_named; /* the log has said that alarms of this kind wait */
    /*
     * If this is true, the clock has handled the alarms of this kind only up to the alarm at `place`, because too many
     * actors of the kind were being woken. A walk for this kind alone sends the hints of the later alarms.
     */
    bool is_behind;
    struct store_alarm_place place;
};

struct hints {
    struct hint **buckets; /* NULL: not allocated yet */
    size_t bucket_count;
    struct hint_kind *kinds;
    size_t kind_count;
};

/** Makes an empty table. Fails with TR_NO_MEMORY, and has then made nothing. */
TR_MUST_CHECK tr_status tr__hints_init(struct hints *hints, struct worker *worker,
                                       size_t kind_count);
void tr__hints_deinit(struct hints *hints, struct worker *worker);

/** Returns the number that stands for an alarm in its hints. The number is never 0. */
uint64_t tr__hints_ticket(const struct worker *worker, const struct store_alarm_place *place);

enum hint_verdict {
    HINT_TELL,
    HINT_SKIP, /* a hint was sent before, and it is too early to repeat the hint */
};
/**
 * Decides whether a hint for an alarm must be sent now. If `is_again` is true, a hint may have been
 * sent before.
 */
enum hint_verdict tr__hints_decide(const struct hints *hints, uint64_t ticket, size_t kind,
                                   bool is_again, tr_time now_ns);
static inline bool hints_is_full(const struct hints *hints, size_t kind)
{
    return hints->kinds[kind].waking_count >= HINTS_WAKING;
}

/**
 * Notes that a hint was sent to the actor of `ref`. If it returns TR_NO_MEMORY, the hint is not
 * noted, and the next walk sends the hint again. Sets *is_late if an earlier hint for the alarm got
 * no answer and the log has not said so for this kind.
 */
TR_MUST_CHECK tr_status tr__hints_add(struct hints *hints, struct worker *worker, uint64_t ticket,
                                      size_t kind, uint64_t ref, bool is_awake, tr_time now_ns,
                                      bool *is_late);
/**
 * Notes that an actor has answered a hint, because it has checked its alarm. Returns the number of
 * the actor's kind, or -1 if the hint is not known.
 */
int tr__hints_answer(struct hints *hints, struct worker *worker, uint64_t ticket);
/** Frees the places of hints whose actors are gone or did not answer in time (rule 2). */
void tr__hints_pass(struct hints *hints, struct worker *worker, tr_time now_ns);
/**
 * Forgets hints whose alarms are not due any more. Call it after a walk of all due alarms that
 * began at `since_ns`. The walk has renewed the hint of each alarm that it met. So the alarm of an
 * older hint is not due any more.
 */
void tr__hints_forget(struct hints *hints, struct worker *worker, tr_time since_ns);

#endif
