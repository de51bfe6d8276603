/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/journal.h"

#include <string.h>

#include "base/assert.h"

void tr__journal_init(struct journal *journal)
{
    *journal = (struct journal){.first = 1};
}

tr_status tr__journal_open(struct journal *journal, uint64_t first, uint64_t highest)
{
    if (first == 0 || highest > JOURNAL_SEQUENCE_MAX || first > highest + 1)
        return TR_BAD_DATA;
    *journal = (struct journal){.highest = highest, .first = first};
    return TR_OK;
}

/* ---- Reading. ---- */

/* The state of a read. It counts events, to find out whether an event is missing, doubled or
 * surplus. */
struct reading {
    journal_sink sink;
    void *context;
    uint64_t next; /* sequence number of the event that must come next */
    uint64_t last;
    bool is_bad;
};

static tr_status on_event(void *context, uint64_t sequence, const void *bytes, size_t size)
{
    struct reading *reading = context;
    if (sequence != reading->next || sequence > reading->last) {
        reading->is_bad = true;
        return TR_BAD_DATA;
    }
    tr_status status = reading->sink(reading->context, sequence, bytes, size);
    if (status == TR_OK)
        reading->next++;
    return status;
}

/* Reads the events from reading->next to reading->last, all of which must exist. */
static tr_status read_events(const struct journal_source *source, struct reading *reading)
{
    if (reading->next > reading->last)
        return TR_OK;
    tr_status status =
        source->events(source->context, reading->next, reading->last, on_event, reading);
    if (reading->is_bad || (status == TR_OK && reading->next != reading->last + 1))
        return TR_BAD_DATA;
    return status;
}

/* A snapshot that the source is passing to the target. */
struct arrival {
    const struct journal_target *target;
    uint64_t most;
    uint64_t sequence; /* sequence number of the snapshot; 0: none has come yet */
    bool is_damaged;
};

static tr_status on_snapshot(void *context, uint64_t sequence, const void *bytes, size_t size)
{
    struct arrival *arrival = context;
    arrival->is_damaged = sequence == 0 || sequence > arrival->most;
    if (arrival->is_damaged)
        return TR_BAD_DATA;
    arrival->sequence = sequence;
    arrival->target->reset(arrival->target->context);
    tr_status status =
        arrival->target->on_snapshot(arrival->target->context, sequence, bytes, size);
    arrival->is_damaged = status == TR_BAD_DATA;
    return status;
}

/* Sets the state to the newest good snapshot up to `to`. If there is none, sets the state to its initial value. */
static tr_status begin_with_snapshot(const struct journal_source *source,
                                     const struct journal_target *target, uint64_t to,
                                     struct journal_result *result)
{
    for (uint64_t most = to; most > 0;) {
        struct arrival arrival = {.target = target, .most = most};
        tr_status status = source->snapshot(source->context, most, on_snapshot, &arrival);
        if (status == TR_OK && arrival.sequence > 0 && !arrival.is_damaged) {
            result->snapshot = arrival.sequence;
            return TR_OK;
        }
        if (status == TR_NOT_FOUND)
            break;
        if (!arrival.is_damaged)
            return status == TR_OK ? TR_BAD_DATA : status;
        result->damaged++;
        /* The source has passed a snapshot that was not asked for. */
        if (arrival.sequence == 0)
            return TR_BAD_DATA;
        most = arrival.sequence - 1;
    }
    target->reset(target->context);
    return TR_OK;
}

tr_status tr__journal_recover(const struct journal *journal, const struct journal_source *source,
                              const struct journal_target *target, uint64_t to,
                              struct journal_result *result)
{
    *result = (struct journal_result){.snapshot = 0};
    if (to > journal->highest)
        to = journal->highest;
    tr_status status = begin_with_snapshot(source, target, to, result);
    if (status != TR_OK)
        return status;
    struct reading reading = {.sink = target->on_event,
                              .context = target->context,
                              .next = result->snapshot + 1,
                              .last = to};
    /* Rule 4: refuse if events are missing. They were deleted, and cannot be replayed. */
    bool has_hole = reading.next < journal->first && reading.next <= to;
    status = has_hole ? TR_BAD_DATA : read_events(source, &reading);
    result->events = reading.next - result->snapshot - 1;
    result->sequence = status == TR_OK ? to : reading.next;
    return status;
}

tr_status tr__journal_replay(const struct journal *journal, const struct journal_source *source,
                             uint64_t from, uint64_t to, uint64_t count, journal_sink sink,
                             void *context)
{
    if (from < journal->first)
        from = journal->first;
    if (to > journal->highest)
        to = journal->highest;
    if (count == 0 || from > to)
        return TR_OK;
    struct reading reading = {.sink = sink,
                              .context = context,
                              .next = from,
                              .last = count <= to - from ? from + count - 1 : to};
    return read_events(source, &reading);
}

/* ---- Writing. ---- */

tr_status tr__journal_append(struct journal *journal, uint64_t expected, uint64_t count,
                             uint64_t *first)
{
    if (count == 0)
        return TR_INVALID_ARGUMENT;
    if (expected != journal->highest)
        return TR_REFUSED;
    if (count > JOURNAL_SEQUENCE_MAX - journal->highest)
        return TR_LIMIT;
    *first = journal->highest + 1;
    journal->highest += count;
    return TR_OK;
}

static uint64_t newest_snapshot(const struct journal *journal)
{
    return journal->snapshot_count > 0 ? journal->snapshots[journal->snapshot_count - 1] : 0;
}

bool tr__journal_wants_snapshot(const struct journal *journal, const struct journal_policy *policy)
{
    return policy->snapshot_every > 0 &&
           journal->highest - newest_snapshot(journal) >= policy->snapshot_every;
}

tr_status tr__journal_saved(struct journal *journal, uint64_t sequence)
{
    if (sequence == 0 || sequence > journal->highest)
        return TR_INVALID_ARGUMENT;
    uint32_t count = journal->snapshot_count;
    uint64_t *snapshots = journal->snapshots;
    uint32_t place = count;
    while (place > 0 && snapshots[place - 1] > sequence)
        place--;
    if (place > 0 && snapshots[place - 1] == sequence)
        return TR_OK;
    if (count == JOURNAL_SNAPSHOTS_MAX) {
        if (place == 0) /* the new snapshot is older than all snapshots in the list */
            return TR_OK;
        memmove(snapshots, snapshots + 1, (place - 1) * sizeof *snapshots);
        snapshots[place - 1] = sequence;
        return TR_OK;
    }
    memmove(snapshots + place + 1, snapshots + place, (count - place) * sizeof *snapshots);
    snapshots[place] = sequence;
    journal->snapshot_count++;
    return TR_OK;
}

struct journal_trim tr__journal_trim(const struct journal *journal,
                                     const struct journal_policy *policy)
{
    uint32_t keep = policy->keep < JOURNAL_SNAPSHOTS_MAX ? policy->keep : JOURNAL_SNAPSHOTS_MAX;
    if (keep == 0 || journal->snapshot_count < keep)
        return (struct journal_trim){.events = 0};
    uint64_t oldest = journal->snapshots[journal->snapshot_count - keep];
    TR_ASSERT(oldest > 0);
    TR_ASSERT(oldest <= journal->highest);
    return (struct journal_trim){.events = policy->keeps_events ? 0 : oldest,
                                 .snapshots = oldest - 1};
}

void tr__journal_trimmed(struct journal *journal, const struct journal_trim *trim)
{
    TR_ASSERT(trim->events <= newest_snapshot(journal)); /* rule 2 */
    TR_ASSERT(trim->snapshots <= newest_snapshot(journal));
    if (trim->events >= journal->first)
        journal->first = trim->events + 1;
    uint32_t gone = 0;
    while (gone < journal->snapshot_count && journal->snapshots[gone] <= trim->snapshots)
        gone++;
    journal->snapshot_count -= gone;
    memmove(journal->snapshots,
            journal->snapshots + gone,
            journal->snapshot_count * sizeof *journal->snapshots);
}
