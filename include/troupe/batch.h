/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Batches: messages that wait one behind the other, handled in one turn.
 *
 *     static tr_next on_append(tr_self *self, struct journal *journal,
 *                              const struct append *const *messages, size_t count)
 *     {
 *         ...write all of them at once...
 *         for (size_t i = 0; i < count; i++)
 *             tr_reply_at(self, i, appended, .offset = journal->offset++);
 *         return TR_SAME;
 *     }
 *     TR_BEHAVIOR(journal, struct journal, TR_ON_BATCH(append, on_append));
 *
 * A batch is what waits when its turn begins, in the order in which it would have been handled one by
 * one; nothing waits for it to fill. It ends before a message of another type, before the other kind (a
 * request, or one that was told), before one that the filter does not let pass or that is a barrier by
 * a predicate, and at .batch_max. So nothing is overtaken; one that may not be in a batch comes alone,
 * to the same handler. For the fairness among actors a batch counts as many turns as it has messages.
 *
 * The messages stay until the turn ends, over awaits too. A request without an answer then gets
 * TR_NO_REPLY; when the turn fails, TR_FAILED. What a handler returns is meant for all: TR_DECLINE
 * makes each a dead letter. A batch cannot be set aside: tr_stash fails the turn. tr_reply, tr_sender,
 * tr_forward, tr_reply_later and tr_causal_id are about the first message; tr_refuse, and so tr_await and
 * tr_give_up, refuses all that have no answer yet.
 */
#ifndef TROUPE_BATCH_H
#define TROUPE_BATCH_H

#include <troupe/ask.h>

/**
 * As tr_try_reply, to one message of the batch: tr_reply_at(self, i, appended, .offset = 5).
 *
 * May be ignored. TR_INVALID_ARGUMENT: there is no such message; TR_WRONG_TYPE: its request declares
 * another reply.
 */
#define tr_reply_at(self, index, ...) TR_REPLY_AT_(self, index, __VA_ARGS__)

TR_BEGIN_C
/** As tr_refuse, of one message of the batch. TR_OK, TR_INVALID_ARGUMENT. */
tr_status tr_refuse_at(tr_self *self, size_t index, int code, const char *format, ...)
    TR_PRINTF(4, 5);

/** As tr_reply_later, of one message of the batch. */
tr_later tr_reply_later_at(tr_self *self, size_t index);

/** As tr_sender, of one message of the batch; nobody when there is no such message. */
tr_ref tr_sender_at(const tr_self *self, size_t index);

/* ---- What the macro above calls. ---- */

tr_status tr_self_reply_at(tr_self *self, size_t index, const tr_type *type, const void *message);
TR_END_C

#include <troupe/detail/batch.h>

#endif
