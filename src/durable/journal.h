/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The arithmetic of event sourcing. It says which events and snapshots exist, how a state is
 * recovered from them, when a snapshot is made, and what may be deleted. This module has no side
 * effects of its own, because it uses the store through a table of functions.
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
 *     2. Only events up to the oldest kept snapshot are deleted. So the state can be recovered from
 *        each kept snapshot, even if the newest is damaged.
 *     3. An event is deleted only by the transaction that stores a snapshot that replaces the
 *        event, or later.
 *     4. If events are missing, recovery fails. It never skips a gap between a snapshot and the
 *        events.
 */
#ifndef DURABLE_JOURNAL_H
#define DURABLE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <troupe/status.h>

enum { JOURNAL_SNAPSHOTS_MAX = 8 }; /* the largest number of snapshots that a policy can keep */

#define JOURNAL_SEQUENCE_MAX (UINT64_C(1) << 62)

struct journal_policy {
    uint64_t snapshot_every; /* make a snapshot after this number of events; 0: never */
    /* how many snapshots are kept; 0: all snapshots are kept, and all events, too */
    uint32_t keep;
    bool keeps_events; /* keep events even if a kept snapshot replaces them */
};

struct journal {
    uint64_t highest; /* highest sequence number that was ever written (rule 1); 0: none */
    uint64_t first;   /* lowest event that still exists; highest + 1: there is none */
    uint64_t snapshots[JOURNAL_SNAPSHOTS_MAX]; /* the newest snapshots, ascending */
    uint32_t snapshot_count;
};

/** Makes an empty journal. */
void tr__journal_init(struct journal *journal);

/**
 * Sets `first` and `highest`, which were read from the store. Returns TR_BAD_DATA if `first` is 0
 * or greater than highest + 1.
 */
TR_MUST_CHECK tr_status tr__journal_open(struct journal *journal, uint64_t first, uint64_t highest);

/* ---- Reading. ---- */

/**
 * A function that takes an event or a snapshot. The bytes are borrowed for the call. If it returns
 * any status but TR_OK, the read ends with that status.
 */
typedef tr_status (*journal_sink)(void *context, uint64_t sequence, const void *bytes, size_t size);

/** The functions through which recovery reads the events and snapshots of one actor. */
struct journal_source {
    void *context;
    /**
     * Passes to the sink the newest snapshot whose sequence number is at most `most`. Returns
     * TR_NOT_FOUND if there is no such snapshot.
     */
    tr_status (*snapshot)(void *context, uint64_t most, journal_sink on_snapshot, void *sink);
    /** Passes to the sink the events from `from` to `to` that exist, in ascending order. */
    tr_status (*events)(void *context, uint64_t from, uint64_t to, journal_sink on_event,
                        void *sink);
};

/** The functions that build the recovered state. */
struct journal_target {
    void *context;
    /**
     * Resets the state to its initial value. Recovery calls it before a snapshot. If there is no
     * snapshot, recovery calls it before the first event.
     */
    void (*reset)(void *context);
    /**
     * Sets the state to a snapshot. Returns TR_BAD_DATA if the snapshot is damaged or not known.
     * Recovery then tries an older snapshot.
     */
    journal_sink on_snapshot;
    journal_sink on_event;
};

/** Where a recovery began and ended. */
struct journal_result {
    uint64_t snapshot; /* the snapshot with which recovery began; 0: none */
    /* The sequence number of the recovered state. On failure, the number of the event that has
     * failed or is missing. */
    uint64_t sequence;
    uint64_t events;  /* how many events were applied */
    uint32_t damaged; /* how many snapshots were refused */
};

/**
 * Recovers the state after event `to`, or after `highest` if that is lower. Begins with the newest
 * good snapshot, or with the initial state, and applies all later events to it. Pass UINT64_MAX for
 * the newest state.
 *
 * TR_BAD_DATA: events are missing, doubled or out of order (rule 4). *result says which, and the
 * state of the target is not known. If the source or on_event returns another status, this call
 * returns that status. *result is always written. This call does not change the journal's list of
 * snapshots; tr__journal_saved does.
 */
TR_MUST_CHECK tr_status tr__journal_recover(const struct journal *journal,
                                            const struct journal_source *source,
                                            const struct journal_target *target, uint64_t to,
                                            struct journal_result *result);

/**
 * Passes to the sink the events from `from` to `to` that still exist, at most `count` of them. If there are none,
 * returns TR_OK. TR_BAD_DATA means the same as for tr__journal_recover.
 */
TR_MUST_CHECK tr_status tr__journal_replay(const struct journal *journal,
                                           const struct journal_source *source, uint64_t from,
                                           uint64_t to, uint64_t count, journal_sink on_event,
                                           void *sink);

/* ---- Writing. ---- */

/**
 * Assigns sequence numbers to `count` events, and sets *first to the number of the first one.
 * `expected` is the highest number that the writer knows. From now on the journal counts these
 * events as written. So the caller must write them right after this call.
 *
 * TR_REFUSED: events were written after `expected`. TR_INVALID_ARGUMENT: `count` is 0. TR_LIMIT: no
 * sequence numbers are left.
 */
TR_MUST_CHECK tr_status tr__journal_append(struct journal *journal, uint64_t expected,
                                           uint64_t count, uint64_t *first);

/** Whether the policy wants a snapshot now. */
bool tr__journal_wants_snapshot(const struct journal *journal, const struct journal_policy *policy);

/**
 * Notes a snapshot that is on disk, or that the same transaction stores which then deletes events.
 * Snapshots may be noted in any order. A second call for the same sequence number changes nothing.
 * Returns TR_INVALID_ARGUMENT if the number is 0, or greater than `highest`.
 */
TR_MUST_CHECK tr_status tr__journal_saved(struct journal *journal, uint64_t sequence);

/** The events and snapshots that may be deleted. 0 means none. */
struct journal_trim {
    /* the highest event that may be deleted; all before it may be deleted too */
    uint64_t events;
    /* number of the newest snapshot that may be deleted; older ones may be deleted too */
    uint64_t snapshots;
};

struct journal_trim tr__journal_trim(const struct journal *journal,
                                     const struct journal_policy *policy);

/**
 * Notes that events and snapshots were deleted. `trim` says which. These must not be more than
 * tr__journal_trim has allowed.
 */
void tr__journal_trimmed(struct journal *journal, const struct journal_trim *trim);

#endif
