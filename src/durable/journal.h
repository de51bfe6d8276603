/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The arithmetic of event sourcing: which events and snapshots there are, how a state comes back from
 * them, when to make a snapshot, and what may be thrown away. Pure: the store is a table of functions.
 *
 * Events have sequence numbers from 1, without holes. A snapshot with sequence n is the state after event
 * n; it stands for all events up to n.
 *
 *     events      [1 ... 40] 41 42 ... 97      first 41, highest 97
 *     snapshots   40  80                       events up to 40 may be gone
 *
 * Rule 1: `highest` never falls, whatever is deleted: a number is not given out twice.
 * Rule 2: events are deleted up to the oldest snapshot that is kept, and never beyond. So each kept snapshot
 * can be recovered from, and if the newest is damaged the one before does.
 * Rule 3: a snapshot is durable before anything that it stands for is deleted.
 * Rule 4: recovery is whole or an error: a hole between snapshot and events is never skipped.
 */
#ifndef DURABLE_JOURNAL_H
#define DURABLE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <troupe/status.h>

enum { JOURNAL_SNAPSHOTS_MAX = 8 }; /* that a policy can keep */

#define JOURNAL_SEQUENCE_MAX (UINT64_C(1) << 62)

struct journal_policy {
    uint64_t snapshot_every; /* events; 0: no snapshots by themselves */
    uint32_t keep;           /* snapshots; 0: all that there are, and all events */
    bool keeps_events;       /* all of them, whatever becomes of snapshots */
};

struct journal {
    uint64_t highest; /* of all events that were ever written; 0 for none; rule 1 */
    uint64_t first;   /* the lowest that is still there; highest + 1 for none */
    uint64_t snapshots[JOURNAL_SNAPSHOTS_MAX]; /* the newest, ascending */
    uint32_t snapshot_count;
};

/** Of nothing. */
void tr__journal_init(struct journal *journal);

/** What the store has kept of the two numbers. TR_BAD_DATA: first is 0, or beyond highest + 1. */
TR_MUST_CHECK tr_status tr__journal_open(struct journal *journal, uint64_t first, uint64_t highest);

/* ---- Reading. ---- */

/** Takes an event or a snapshot, borrowed for the call. Anything but TR_OK ends the reading with it. */
typedef tr_status (*journal_sink)(void *context, uint64_t sequence, const void *bytes, size_t size);

/** The store of one actor. */
struct journal_source {
    void *context;
    /** Gives the newest snapshot with sequence <= `most` to the sink; TR_NOT_FOUND: there is none. */
    tr_status (*snapshot)(void *context, uint64_t most, journal_sink on_snapshot, void *sink);
    /** Gives the events from `from` to `to` that are there to the sink, ascending. */
    tr_status (*events)(void *context, uint64_t from, uint64_t to, journal_sink on_event,
                        void *sink);
};

/** Where a state is put together. */
struct journal_target {
    void *context;
    /** Back to nothing: before a snapshot, and before the first event. */
    void (*reset)(void *context);
    /** TR_BAD_DATA: it is damaged or of nobody's; an older one is tried. */
    journal_sink on_snapshot;
    journal_sink on_event;
};

/** What recovery did, and where it ended. */
struct journal_result {
    uint64_t snapshot; /* from which it began; 0 for none */
    uint64_t sequence; /* of the state; when it failed, of the event that failed or was missing */
    uint64_t events;   /* that were replayed */
    uint32_t damaged;  /* snapshots that were refused */
};

/**
 * Recovers the state after event `to`, at most `highest`: from the newest good snapshot, then event by event;
 * from nothing when there is none. `to` is UINT64_MAX for the newest.
 *
 * TR_BAD_DATA: events are missing, doubled or out of order (rule 4): *result says which, and the target is
 * in an unknown state. What the source or on_event fail with, is passed on. *result is always written. The
 * journal learns which snapshots there are from what was saved, not from here.
 */
TR_MUST_CHECK tr_status tr__journal_recover(const struct journal *journal,
                                            const struct journal_source *source,
                                            const struct journal_target *target, uint64_t to,
                                            struct journal_result *result);

/**
 * Gives the events from `from` to `to`, at most `count` of them: those that are still there. An empty range,
 * a count of 0 and a range that was deleted give none, and TR_OK. TR_BAD_DATA as above.
 */
TR_MUST_CHECK tr_status tr__journal_replay(const struct journal *journal,
                                           const struct journal_source *source, uint64_t from,
                                           uint64_t to, uint64_t count, journal_sink on_event,
                                           void *sink);

/* ---- Writing. ---- */

/**
 * Numbers for `count` events of a writer who knows the journal up to `expected`; gives the first. The journal
 * has them from now on: call it when they are written.
 *
 * TR_REFUSED: somebody else has written since; TR_INVALID_ARGUMENT: no events; TR_LIMIT.
 */
TR_MUST_CHECK tr_status tr__journal_append(struct journal *journal, uint64_t expected,
                                           uint64_t count, uint64_t *first);

/** Whether it is time for a snapshot. */
bool tr__journal_wants_snapshot(const struct journal *journal, const struct journal_policy *policy);

/**
 * A snapshot is durable; also called for each that is found when a journal is opened, in any order. One
 * of the same sequence replaces. TR_INVALID_ARGUMENT: of sequence 0, or of events that were never written.
 */
TR_MUST_CHECK tr_status tr__journal_saved(struct journal *journal, uint64_t sequence);

/** What may be deleted, and everything below it; 0 for nothing. */
struct journal_trim {
    uint64_t events;    /* up to this one, including it */
    uint64_t snapshots; /* likewise */
};

struct journal_trim tr__journal_trim(const struct journal *journal,
                                     const struct journal_policy *policy);

/** That has been deleted: as much as tr__journal_trim gave, or less. */
void tr__journal_trimmed(struct journal *journal, const struct journal_trim *trim);

#endif
