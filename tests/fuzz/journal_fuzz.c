/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the arithmetic of journals and recovery from a store that gives whatever it likes. Two bytes are a
 * command. What is recovered is whole: from a good snapshot, or from nothing, event by event to the end.
 */
#include "durable/journal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* What a store gives: the bytes of the input, each one a sequence number. */
struct gift {
    const uint8_t *data;
    size_t size;
};

static tr_status give_snapshot(void *context, uint64_t most, journal_sink on_snapshot, void *sink)
{
    const struct gift *gift = context;
    uint64_t newest = 0;
    for (size_t i = 0; i < gift->size; i += 3) {
        if (gift->data[i] <= most && gift->data[i] > newest)
            newest = gift->data[i];
    }
    return newest ? on_snapshot(sink, newest, "", 0) : TR_NOT_FOUND;
}

/* With no regard to the range, in any order. */
static tr_status give_events(void *context, uint64_t from, uint64_t to, journal_sink on_event,
                             void *sink)
{
    const struct gift *gift = context;
    (void)from;
    (void)to;
    for (size_t i = 0; i < gift->size; i++) {
        tr_status status = on_event(sink, gift->data[i], "", 0);
        if (status != TR_OK)
            return status;
    }
    return TR_OK;
}

static void state_reset(void *context)
{
    *(uint64_t *)context = 0;
}

static tr_status state_load(void *context, uint64_t sequence, const void *bytes, size_t size)
{
    (void)bytes;
    (void)size;
    if (sequence % 5 == 0) /* It is damaged. */
        return TR_BAD_DATA;
    *(uint64_t *)context = sequence;
    return TR_OK;
}

static tr_status state_add(void *context, uint64_t sequence, const void *bytes, size_t size)
{
    uint64_t *state = context;
    (void)bytes;
    (void)size;
    require(sequence == *state + 1);
    *state = sequence;
    return TR_OK;
}

static void recover(const struct journal *journal, struct gift gift, uint64_t to)
{
    uint64_t state = 0;
    struct journal_source source = {
        .context = &gift, .snapshot = give_snapshot, .events = give_events};
    struct journal_target target = {
        .context = &state, .reset = state_reset, .on_snapshot = state_load, .on_event = state_add};
    struct journal_result story;
    tr_status status = tr__journal_recover(journal, &source, &target, to, &story);
    require(status == TR_OK || status == TR_BAD_DATA);
    if (status == TR_OK) {
        require(state == (to < journal->highest ? to : journal->highest));
        require(story.sequence == state && story.snapshot + story.events == state);
    }
}

static void check(const struct journal *journal, const struct journal *before)
{
    require(journal->highest >= before->highest && journal->first >= before->first);
    require(journal->first >= 1 && journal->first <= journal->highest + 1);
    require(journal->snapshot_count <= JOURNAL_SNAPSHOTS_MAX);
    for (uint32_t i = 0; i < journal->snapshot_count; i++) {
        require(journal->snapshots[i] >= 1 && journal->snapshots[i] <= journal->highest);
        require(i == 0 || journal->snapshots[i - 1] < journal->snapshots[i]);
    }
}

/* Whether the events after the oldest snapshot are there: not if that is what an old deletion left behind. */
static bool can_recover(const struct journal *journal)
{
    return journal->snapshot_count == 0 || journal->first <= journal->snapshots[0] + 1;
}

static void trim(struct journal *journal, uint8_t value)
{
    bool could_recover = can_recover(journal);
    struct journal_policy policy = {.snapshot_every = value >> 4, .keep = value & 15};
    struct journal_trim trim = tr__journal_trim(journal, &policy);
    (void)tr__journal_wants_snapshot(journal, &policy);
    require(trim.events <= journal->highest);
    require(trim.events == 0 || journal->snapshot_count > 0);
    tr__journal_trimmed(journal, &trim);
    require(!could_recover || can_recover(journal));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct journal journal;
    if (size < 2)
        return 0;
    tr__journal_init(&journal);
    if (tr__journal_open(&journal, data[0], data[1]) != TR_OK) {
        require(data[0] == 0 || data[0] > data[1] + 1);
        tr__journal_init(&journal);
    }
    for (size_t i = 2; i + 2 <= size; i += 2) {
        struct journal before = journal;
        uint64_t value = data[i + 1];
        uint64_t first = 0;
        switch (data[i] % 5) {
        case 0:
            if (tr__journal_append(&journal, before.highest, value, &first) == TR_OK)
                require(first == before.highest + 1 && journal.highest == before.highest + value);
            else
                require(value == 0);
            break;
        case 1:
            require(tr__journal_append(&journal, before.highest + 1 + value, 1, &first) ==
                    TR_REFUSED);
            break;
        case 2:
            require((tr__journal_saved(&journal, value) == TR_OK) ==
                    (value > 0 && value <= before.highest));
            break;
        case 3:
            trim(&journal, (uint8_t)value);
            break;
        default:
            recover(&journal, (struct gift){data + i + 2, size - i - 2}, value);
            recover(&journal, (struct gift){data + i + 2, size - i - 2}, UINT64_MAX);
            break;
        }
        check(&journal, &before);
    }
    return 0;
}
