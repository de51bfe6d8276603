/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The arithmetic of event sourcing: which events and snapshots exist, how a state is recovered from
 * them, when a snapshot is made, and what may be deleted. This module has no side effects of its
 * own: it uses the store through a table of functions.
 *
 * Events have sequence numbers from 1, without gaps. A snapshot with sequence n is the state after
 * event n. It replaces all events up to n.
 *
 *     events      [1 ... 40] 41 42 ... 97      first 41, highest 97
 *     snapshots   40  80                       events up to 40 may be gone
 *
 * Rules
 *     1. A new event gets the number after `highest`, which never decreases, whatever is deleted.
 *        So no number is used twice.
 *     2. Events are deleted up to the oldest snapshot that is kept, and never beyond. So the state
 *        can be recovered from each snapshot that is kept, even if the newest is damaged.
 *     3. A snapshot is on disk before an event that it replaces is deleted.
 *     4. Recovery is complete or an error. A gap between a snapshot and the events is never skipped.
 */
#ifndef DURABLE_JOURNAL_H
#define DURABLE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <troupe/status.h>

enum { JOURNAL_SNAPSHOTS_MAX = 8 }; /* snapshots that a policy can keep at most */

#define JOURNAL_SEQUENCE_MAX (UINT64_C(1) << 62)

struct journal_policy {
    uint64_t snapshot_every; /* make a snapshot after this many events; 0: never */
    uint32_t keep;           /* snapshots that are kept; 0: all snapshots and all events */
    bool keeps_events;       /* events are kept even if a snapshot replaces them */
};

struct journal {
    uint64_t highest; /* highest sequence number ever written; 0: none; see rule 1 */
    uint64_t first;   /* lowest event that still exists; highest + 1: none */
    uint64_t snapshots[JOURNAL_SNAPSHOTS_MAX]; /* the newest snapshots, ascending */
    uint32_t snapshot_count;
};

/** Makes an empty journal. */
void tr__journal_init(struct journal *journal);

/**
 * Sets the two numbers, which were read from the store. TR_BAD_DATA: `first` is 0 or greater than
 * highest + 1.
 */
TR_MUST_CHECK tr_status tr__journal_open(struct journal *journal, uint64_t first, uint64_t highest);

/* ---- Reading. ---- */

/**
 * Takes an event or a snapshot; the bytes are borrowed for the call. Any status but TR_OK ends the
 * reading with that status.
 */
typedef tr_status (*journal_sink)(void *context, uint64_t sequence, const void *bytes, size_t size);

/** The functions by which recovery reads the events and snapshots of one actor. */
struct journal_source {
    void *context;
    /**
     * Gives the sink the newest snapshot with a sequence not above `most`. TR_NOT_FOUND: there is
     * no such snapshot.
     */
    tr_status (*snapshot)(void *context, uint64_t most, journal_sink on_snapshot, void *sink);
    /** Gives the sink the events from `from` to `to` that exist, ascending. */
    tr_status (*events)(void *context, uint64_t from, uint64_t to, journal_sink on_event,
                        void *sink);
};

/** The state that recovery builds. */
struct journal_target {
    void *context;
    /**
     * Resets the state to its initial value. Called before a snapshot, or before the first event if
     * there is no snapshot.
     */
    void (*reset)(void *context);
    /**
     * Sets the state to a snapshot. If the snapshot is damaged or unknown, returns TR_BAD_DATA;
     * recovery then tries an older one.
     */
    journal_sink on_snapshot;
    journal_sink on_event;
};

/** How a recovery was done, and where it ended. */
struct journal_result {
    uint64_t snapshot; /* the snapshot that recovery began with; 0: none */
    /* sequence number of the recovered state; on failure, of the event that failed or is missing */
    uint64_t sequence;
    uint64_t events;  /* number of events that were replayed */
    uint32_t damaged; /* number of snapshots that were refused */
};

/**
 * Recovers the state after event `to`, or after `highest` if that is lower. Begins with the newest
 * good snapshot, or with the initial state, and applies all later events to it. Pass UINT64_MAX for
 * the newest state.
 *
 * TR_BAD_DATA: events are missing, doubled or out of order (rule 4). *result says which, and the
 * target is in an unknown state. Another status of the source or of on_event is returned as it is.
 * *result is always written. This call does not change the journal's list of snapshots;
 * tr__journal_saved does.
 */
TR_MUST_CHECK tr_status tr__journal_recover(const struct journal *journal,
                                            const struct journal_source *source,
                                            const struct journal_target *target, uint64_t to,
                                            struct journal_result *result);

/**
 * Gives the sink the events from `from` to `to` that still exist, at most `count` of them. If there are none, returns
 * TR_OK. TR_BAD_DATA means the same as for tr__journal_recover.
 */
TR_MUST_CHECK tr_status tr__journal_replay(const struct journal *journal,
                                           const struct journal_source *source, uint64_t from,
                                           uint64_t to, uint64_t count, journal_sink on_event,
                                           void *sink);

/* ---- Writing. ---- */

/**
 * Assigns sequence numbers to `count` events and sets *first. `expected` is the highest number that
 * the writer knows. The journal counts these events from now on, so call this only in the step that
 * writes them.
 *
 * TR_REFUSED: events were written after `expected`. TR_INVALID_ARGUMENT: `count` is 0. TR_LIMIT: no
 * sequence numbers are left.
 */
TR_MUST_CHECK tr_status tr__journal_append(struct journal *journal, uint64_t expected,
                                           uint64_t count, uint64_t *first);

/** Returns whether the policy wants a snapshot now. */
bool tr__journal_wants_snapshot(const struct journal *journal, const struct journal_policy *policy);

/**
 * Notes a snapshot that is on disk. Call it also for each snapshot that is found when a journal is opened, in any
 * order. A second call for the same sequence changes nothing. TR_INVALID_ARGUMENT: the sequence is 0, or greater than
 * `highest`.
 */
TR_MUST_CHECK tr_status tr__journal_saved(struct journal *journal, uint64_t sequence);

/** Events and snapshots that may be deleted; 0: none. */
struct journal_trim {
    uint64_t events;    /* events up to this one, inclusive */
    uint64_t snapshots; /* snapshots up to this one, inclusive */
};

struct journal_trim tr__journal_trim(const struct journal *journal,
                                     const struct journal_policy *policy);

/**
 * Notes that events and snapshots were deleted. `trim` is what tr__journal_trim returned, or less.
 */
void tr__journal_trimmed(struct journal *journal, const struct journal_trim *trim);

#endif
