/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Batches and barriers: every clause, every shape of a handler and every verb once, in C++17.
 */
#include <troupe/troupe.h>

TR_MESSAGE(note, (u32, n));
TR_REQUEST(count_it, tr_done, (u32, n));
TR_REQUEST(look, tr_done, (u32, n));
TR_MESSAGE(first, (u32, n));
TR_MESSAGE(second, (u32, n));
TR_ACTOR(book, note, count_it, look, first, second);

struct book {
    size_t notes;
};

static bool is_odd(const struct count_it *message)
{
    return message->n & 1;
}

static bool is_large(const struct look *message)
{
    return message->n > 1000;
}

static bool is_zero(const void *message)
{
    return *static_cast<const uint32_t *>(message) == 0;
}

static tr_next on_notes(struct book *book, const struct note *const *messages, size_t count)
{
    book->notes += messages[0]->n + count;
    return TR_SAME;
}

static tr_next on_counts(tr_self *self, struct book *book, const struct count_it *const *messages,
                         size_t count)
{
    tr_later later = tr_reply_later_at(self, 0);
    for (size_t i = 1; i < count; i++) {
        if (messages[i]->n == 0)
            tr_refuse_at(self, i, 1, "nothing from %d", tr_is_nobody(tr_sender_at(self, i)));
        else if (tr_reply_at(self, i, tr_done) == TR_OK)
            book->notes++;
    }
    tr_reply_to(self, later, tr_done);
    return TR_SAME;
}

static tr_next on_look(tr_self *self)
{
    return tr_reply(self, tr_done);
}

static tr_next on_first(tr_self *self, const struct first *const *messages, size_t count)
{
    return tr_fail(self, TR_BAD_DATA, "%u, %zu", (unsigned)messages[0]->n, count);
}

static tr_next on_second(const struct second *const *messages, size_t count)
{
    return messages[count - 1]->n ? TR_SAME : TR_STOP;
}

TR_BEHAVIOR(book, struct book, TR_ON_BATCH(note, on_notes),
            TR_ON_BATCH_IF(count_it, is_odd, on_counts, .batch_max = 3, .barrier_if = is_zero),
            TR_ON_BARRIER_IF(look, is_large, on_look), TR_ON_BATCH(first, on_first, .batch_max = 9),
            TR_ON_BATCH(second, on_second, .is_barrier = true));

TR_MESSAGE(third);

static tr_next on_third(const struct third *const *messages, size_t count)
{
    return messages[0] && count ? TR_SAME : TR_STOP;
}

TR_BEHAVIOR(reader, void, TR_ON_BATCH(third, on_third));
