/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Queues of durable actors: work that waits on disk, first in, first out.
 *
 *     tr_queue_push(self, "mails", mail, .to = "anna");                   stored with the rest of its stretch
 *
 *     static tr_next on_run(tr_self *self)                                TR_ON(tr_run, on_run)
 *     {
 *         const struct mail *mail;
 *         tr_queued item;
 *         while (tr_queue_take(self, "mails", mail, TR_HOUR, &mail, &item) == TR_OK) {
 *             deliver(mail);
 *             tr_queue_done(self, item);
 *         }
 *         return TR_SAME;
 *     }
 *
 * An actor may have several queues, by name, each with at most TR_QUEUE_MAX messages of at most
 * TR_QUEUE_ITEM_MAX bytes. tr_queue_receive removes a message as it gives it: if the actor fails before its next
 * stretch is stored the message comes again, after that it does not, whatever becomes of the work: at most
 * once. tr_queue_take leaves it there until tr_queue_done: at least once. A message is given to one turn at a time.
 */
#ifndef TROUPE_QUEUE_H
#define TROUPE_QUEUE_H

#include <troupe/self.h>

/**
 * The run handler of a durable actor: TR_ON(tr_run, on_run). It begins at each start, after tr_awake, and goes on,
 * waiting and working, while others of its messages are handled. While it waits on a queue the actor may fall
 * asleep: the wait then ends with TR_ABORTED. Otherwise it keeps the actor awake until it returns.
 *
 * If a queue that it has taken from is not empty when the actor has fallen asleep or failed, the actor wakes again: at
 * once, if anything was pushed or removed since it woke; after retry_ns of the kind, then twice as long and so on up to
 * retry_max_ns, if it was cut off before it got anything done. If it has returned and left all of them, the actor waits
 * until somebody asks. When a process opens the store, the actors of such kinds that have items in any queue wake, some
 * 64 in 10 ms.
 */
TR_MESSAGE(tr_run);

/** A message that was taken and is not done. Ids are never used again, also not after a sleep or a crash. */
typedef struct tr_queued {
    uint64_t id;
} tr_queued;

/**
 * Adds a message to a queue: tr_queue_push(self, "mails", mail, .to = "anna"). Ends the turn with TR_LIMIT
 * (TR_QUEUE_MAX), TR_TOO_LARGE, TR_INVALID_ARGUMENT, TR_NO_MEMORY; tr_self_try_queue_push gives a status.
 */
#define tr_queue_push(self, queue, ...) TR_QUEUE_PUSH_(self, queue, __VA_ARGS__)

/**
 * Waits for the first message of a queue that no other turn has, and gives it in *pointer, a
 * `const struct mail **`, as memory of this turn. Removed from the queue.
 *
 * TR_TIMEOUT: none came within timeout_ns. TR_ABORTED: the actor falls asleep. TR_WRONG_TYPE: the first one is
 * another message; it stays. TR_CANCELLED, TR_NO_MEMORY, TR_INVALID_ARGUMENT, TR_NOT_IN_A_TURN.
 */
#define tr_queue_receive(self, queue, m, timeout_ns, pointer)                                      \
    tr_self_queue_take(                                                                            \
        self, queue, &tr_type_##m, timeout_ns, TR_QUEUE_OUT_(m, pointer), (tr_queued *)0)
/** As tr_queue_receive, and it stays in the queue until tr_queue_done(self, *item). */
#define tr_queue_take(self, queue, m, timeout_ns, pointer, item)                                   \
    tr_self_queue_take(self, queue, &tr_type_##m, timeout_ns, TR_QUEUE_OUT_(m, pointer), item)

TR_BEGIN_C
/** The work is done: the message is removed, with the rest of this stretch. False: there is none. */
bool tr_queue_done(tr_self *self, tr_queued item);
/** How many messages a queue has, those that were taken included. */
size_t tr_queue_count(const tr_self *self, const char *queue);

/* What the macros above call. */
TR_MUST_CHECK tr_status tr_self_try_queue_push(tr_self *self, const char *queue,
                                               const tr_type *type, const void *message);
void tr_self_queue_push(tr_self *self, const char *queue, const tr_type *type, const void *message);
/** item NULL: it is removed. */
TR_MUST_CHECK tr_status tr_self_queue_take(tr_self *self, const char *queue, const tr_type *type,
                                           tr_time timeout_ns, const void **message,
                                           tr_queued *item);
TR_END_C

#include <troupe/detail/queue.h>

#endif
