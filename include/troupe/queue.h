/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Queues of durable actors: work that waits on disk, first in, first out.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(mail, (str, to));
 * TR_REQUEST(send_mail, tr_done, (str, to));
 * TR_ACTOR(postman, send_mail);
 * TR_MESSAGE(postman_state, (u64, sent));
 *
 * static tr_next on_send_mail(tr_self *self, const struct send_mail *message)
 * {
 *     tr_queue_push(self, "mails", mail, .to = message->to); // on disk before the reply leaves
 *     return tr_reply(self, tr_done);
 * }
 *
 * static tr_next on_run(tr_self *self, struct postman_state *postman) // works beside the others
 * {
 *     const struct mail *mail;
 *     tr_queued item;
 *     while (tr_queue_take(self, "mails", mail, TR_HOUR, &mail, &item) == TR_OK)
 *         postman->sent += tr_queue_done(self, item);
 *     return TR_SAME;
 * }
 *
 * TR_BEHAVIOR(postman, struct postman_state, TR_ON(send_mail, on_send_mail),
 *             TR_ON(tr_run, on_run));
 * TR_DURABLE(postman, postman_state);
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     tr_await(self, tr_ask(self, tr_durable(self, postman, "paul"), send_mail, .to = "anna"));
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(office, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, office, .durable = TR_DURABLES(postman));
 * }
 * ```
 *
 * An actor may have several queues, by name, each with at most TR_QUEUE_MAX messages of at most
 * TR_QUEUE_ITEM_MAX bytes. tr_queue_receive removes a message as it gives it. If the actor fails
 * before that is stored, the message comes again; after that it does not, whether or not the work
 * was done: at most once. tr_queue_take leaves the message in the queue until tr_queue_done: at
 * least once. A message is given to one turn at a time.
 */
#ifndef TROUPE_QUEUE_H
#define TROUPE_QUEUE_H

#include <troupe/self.h>

/**
 * The message to the run handler of a durable actor: TR_ON(tr_run, on_run). The handler begins at
 * each start, after tr_awake. Other messages are handled while it waits. While it waits on a queue
 * the actor may fall asleep: then the wait ends with TR_ABORTED. Otherwise it keeps the actor awake
 * until it returns.
 *
 * If the actor has fallen asleep or failed and a queue from which it has taken is not empty, it
 * wakes again. It wakes at once if a message was pushed or removed since it woke; otherwise after
 * retry_ns of the kind, then after twice as long, and so on up to retry_max_ns. If the handler has
 * returned and left messages, the actor does not wake for them. When a process opens the store, the
 * actors of such kinds with messages in any queue wake, about 64 in 10 ms.
 */
TR_MESSAGE(tr_run);

/**
 * Names a message that was taken and is not done. An id is never used again, not even after a sleep
 * or a crash.
 */
typedef struct tr_queued {
    uint64_t id;
} tr_queued;

/**
 * Adds a message to a queue: tr_queue_push(self, "mails", mail, .to = "anna").
 * In a turn. Does not wait.
 *
 * The message is copied, and stored with the commit of this stretch. Ends the turn with TR_LIMIT
 * (TR_QUEUE_MAX), TR_TOO_LARGE, TR_INVALID_ARGUMENT or TR_NO_MEMORY; tr_self_try_queue_push returns
 * a status instead.
 */
#define tr_queue_push(self, queue, ...) TR_QUEUE_PUSH_(self, queue, __VA_ARGS__)

/**
 * Waits for the first message of a queue that no other turn has, removes it, and writes it to
 * *pointer, a `const struct mail **`, as memory of this turn.
 * In a turn. May wait: at most timeout_ns.
 *
 * TR_OK; TR_TIMEOUT; TR_ABORTED: the actor falls asleep; TR_WRONG_TYPE: the first message is of
 * another type, and stays; TR_CANCELLED, TR_NO_MEMORY, TR_INVALID_ARGUMENT, TR_NOT_IN_A_TURN.
 */
#define tr_queue_receive(self, queue, m, timeout_ns, pointer)                                      \
    tr_self_queue_take(                                                                            \
        self, queue, &tr_type_##m, timeout_ns, TR_QUEUE_OUT_(m, pointer), (tr_queued *)0)
/**
 * Waits for a message as tr_queue_receive does, and leaves it in the queue until
 * tr_queue_done(self, *item).
 * In a turn. May wait: at most timeout_ns.
 */
#define tr_queue_take(self, queue, m, timeout_ns, pointer, item)                                   \
    tr_self_queue_take(self, queue, &tr_type_##m, timeout_ns, TR_QUEUE_OUT_(m, pointer), item)

TR_BEGIN_C
/**
 * Removes a taken message from its queue. The removal is stored with the commit of this stretch.
 * Returns false if the message is not in a queue.
 * In a turn. Does not wait.
 */
bool tr_queue_done(tr_self *self, tr_queued item);
/**
 * Returns how many messages a queue has, those that were taken included. In a turn. Does not wait.
 */
size_t tr_queue_count(const tr_self *self, const char *queue);

/**
 * Pushes as tr_queue_push does, but returns the status instead of ending the turn.
 * In a turn. Does not wait.
 */
TR_MUST_CHECK tr_status tr_self_try_queue_push(tr_self *self, const char *queue,
                                               const tr_type *type, const void *message);
/** See tr_queue_push. In a turn. Does not wait. */
void tr_self_queue_push(tr_self *self, const char *queue, const tr_type *type, const void *message);
/**
 * See tr_queue_take. item NULL: the message is removed, as by tr_queue_receive.
 * In a turn. May wait.
 */
TR_MUST_CHECK tr_status tr_self_queue_take(tr_self *self, const char *queue, const tr_type *type,
                                           tr_time timeout_ns, const void **message,
                                           tr_queued *item);
TR_END_C

#include <troupe/detail/queue.h>

#endif
