/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Batches: one turn handles several messages of one type that wait directly one behind the other.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(appended, (u64, offset));
 * TR_REQUEST(append, appended, (u64, number));
 * TR_ACTOR(journal, append);
 *
 * static tr_next on_append(tr_self *self, const struct append *const *messages, size_t count)
 * {
 *     for (size_t i = 0; i < count; i++) // a real program would write them all at once here
 *         tr_reply_at(self, i, appended, .offset = messages[i]->number);
 *     return TR_SAME;
 * }
 *
 * TR_BEHAVIOR(journal, void, TR_ON_BATCH(append, on_append));
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     journal_ref journal = tr_spawn(self, journal, "journal");
 *     append_ask a = tr_ask(self, journal, append, .number = 1);
 *     append_ask b = tr_ask(self, journal, append, .number = 2);
 *     return tr_await_all(self, a, b) == TR_OK ? TR_STOP : tr_give_up(self, a);
 * }
 *
 * TR_BEHAVIOR(root, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, root);
 * }
 * ```
 *
 * A batch has the messages that wait when its turn begins, in the order in which they would be
 * handled one by one. It does not wait for more messages. The messages of a batch have one type,
 * and are either all requests or all sent by tr_tell. A batch has at most .batch_max messages, and
 * ends before the first message that must not be in it. So no message overtakes another. A message
 * must not be in the batch if it has another type or was sent in the other way, if the filter
 * (TR_ON_BATCH_IF) excludes it, or if the predicate of TR_ON_BARRIER_IF returns true for it. A
 * message that the filter or the predicate keeps out comes alone, to the same handler. For fairness
 * among actors, a batch of n messages counts as n turns.
 *
 * The messages stay valid until the turn ends, also while it waits. A request that has no answer at
 * the end of the turn ends with TR_NO_REPLY, or with TR_FAILED if the turn fails. The result of the
 * handler counts for all messages: TR_DECLINE makes each of them a dead letter. A batch cannot be
 * stashed: tr_stash fails the turn. tr_reply, tr_sender, tr_forward, tr_reply_later and
 * tr_causal_id are about the first message. tr_refuse refuses all messages that have no answer yet.
 * tr_await and tr_give_up do so too if the ask was refused.
 */
#ifndef TROUPE_BATCH_H
#define TROUPE_BATCH_H

#include <troupe/ask.h>

/**
 * Answers one message of the batch: tr_reply_at(self, i, appended, .offset = 5).
 * In a turn. May wait: as tr_reply does.
 *
 * The statuses are those of tr_try_reply; TR_INVALID_ARGUMENT: there is no such message;
 * TR_WRONG_TYPE: its request declares another reply. The status may be ignored.
 */
#define tr_reply_at(self, index, ...) TR_REPLY_AT_(self, index, __VA_ARGS__, )

TR_BEGIN_C
/**
 * Refuses one message of the batch, as tr_refuse does. Returns TR_OK or TR_INVALID_ARGUMENT. In a
 * turn. Does not wait.
 */
tr_status tr_refuse_at(tr_self *self, size_t index, int code, const char *format, ...)
    TR_PRINTF(4, 5);

/**
 * Puts off the reply to one message of the batch, as tr_reply_later does. In a turn. Does not wait.
 */
tr_later tr_reply_later_at(tr_self *self, size_t index);

/**
 * Returns the sender of one message of the batch. Returns TR_NOBODY if the message has no sender,
 * or if there is no such message. In a turn. Does not wait.
 */
tr_ref tr_sender_at(const tr_self *self, size_t index);

/** See tr_reply_at. In a turn. May wait: as tr_reply does. */
tr_status tr_self_reply_at(tr_self *self, size_t index, const tr_type *type, const void *message);
TR_END_C

#include <troupe/detail/batch.h>

#endif
