/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Group commit: a journal writes what waits for it in one go, however many lines that are, and each
 * line gets its own reply. An urgent line is written alone, in its place. A rotation is a barrier: no
 * line is written before it is over.
 */
#include <inttypes.h>
#include <stdio.h>
#include <troupe/troupe.h>

#define LINES 8

TR_MESSAGE(appended, (u64, offset));
TR_REQUEST(append, appended, (str, line), (bool, is_urgent));
TR_REQUEST(rotate, tr_done, (bool, is_slow));
TR_ACTOR(journal, append, rotate);

struct journal {
    uint64_t offset;
    unsigned writes;
};

static bool is_patient(const struct append *message)
{
    return !message->is_urgent;
}

/* The messages are where they were sent to; nothing was copied to put them side by side. */
static tr_next on_append(tr_self *self, struct journal *journal,
                         const struct append *const *messages, size_t count)
{
    printf("write %u:", ++journal->writes);
    for (size_t i = 0; i < count; i++)
        printf(" %s", messages[i]->line);
    printf("\n");
    for (size_t i = 0; i < count; i++) {
        if (messages[i]->line[0] == '\0')
            tr_refuse_at(self, i, 1, "an empty line");
        else
            tr_reply_at(self, i, appended, .offset = journal->offset++);
    }
    return TR_SAME;
}

static bool is_slow(const struct rotate *message)
{
    return message->is_slow;
}

static tr_next on_rotate(tr_self *self, struct journal *journal)
{
    unsigned before = journal->writes;
    (void)tr_sleep(self, TR_MILLISECOND);
    printf("rotated, %u writes meanwhile\n", journal->writes - before);
    return tr_reply(self, tr_done);
}

TR_BEHAVIOR(journal, struct journal, TR_ON_BATCH_IF(append, is_patient, on_append, .batch_max = 3),
            TR_ON_BARRIER_IF(rotate, is_slow, on_rotate));

/* ---- A writer with many lines. ---- */

static tr_next on_args(tr_self *self)
{
    journal_ref journal = tr_spawn(self, journal, "journal");
    append_ask asks[LINES];
    rotate_ask rotated = tr_ask(self, journal, rotate, .is_slow = true);
    for (size_t i = 0; i < LINES; i++)
        asks[i] = tr_ask(self,
                         journal,
                         append,
                         .line = i == 6 ? "" : tr_format(self, "line-%zu", i),
                         .is_urgent = i == 4);
    tr_await(self, rotated);
    for (size_t i = 0; i < LINES; i++) {
        const struct appended *done;
        if (tr_try_await(self, asks[i], &done) == TR_OK)
            printf("line %zu is at %" PRIu64 "\n", i, done->offset);
        else
            printf("line %zu: %s\n", i, tr_ask_error(self, asks[i])->text);
    }
    return TR_STOP;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app);
}
