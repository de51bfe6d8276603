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
 * static tr_next on_run(tr_self *self, struct postman_state *postman) // beside other turns
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
 * An actor may have several queues, by name. A queue takes messages of at most TR_QUEUE_ITEM_MAX
 * bytes, as many as fit in TR_QUEUE_BYTES_MAX. tr_queue_receive removes the message that it
 * returns. If the actor fails before the removal is stored, the message comes again. When the
 * removal is stored, the message never comes again, even if its work was not done: at most once.
 * tr_queue_take leaves the message in the queue until tr_queue_done: at least once. Only one turn
 * at a time has a message.
 *
 * Failures. If a turn has taken a message with tr_queue_take, and fails before a tr_queue_done for
 * the message is stored, this is a failed attempt. A tr_queue_retry is a failed attempt, too. The
 * message comes again after 2 s, 4 s, ... 5 min; meanwhile later messages come. After
 * TR_RETRY_ATTEMPTS failed attempts the message becomes a dead letter of its queue, and the actor
 * gets a tr_queue_given_up. The dead letter stays in the queue with cause, attempts and time until
 * tr_queue_put_back or tr_queue_cancel. The retry policy is an option of the kind:
 *
 *     TR_DURABLE(postman, postman_state,
 *                .queues = TR_QUEUES({.name = "mails", .retry = {.attempts = 5}}));
 *
 * If a crash, _exit or a signal ends the process while the turn that has a message runs, or runs a
 * function of tr_blocking, this is a failed attempt too. The attempt is counted when the actor
 * wakes in the next process, also for tr_queue_receive. It is not counted if a tr_queue_done or
 * tr_queue_retry for the message was stored before, or if the turn has got another message since.
 * So a message that always ends the process becomes a dead letter, and the program can run again.
 * It is no failed attempt if the process ends while the turn waits, or if a tr_kill or the end of a
 * grace ends the turn. A power cut may or may not count. If the time of a shutdown ends while a
 * function of tr_blocking runs for a message, this counts as a failed attempt, because the function
 * was not allowed to return.
 *
 * Delays. A message of tr_queue_push_after, or a message that waits for another attempt, does not
 * keep the actor awake. If the kind has a run handler, the message wakes the actor at its time, as
 * an alarm does, also in another process. Times are times of the wall clock; if the clock is set
 * back, no message waits longer than its delay.
 */
#ifndef TROUPE_QUEUE_H
#define TROUPE_QUEUE_H

#include <troupe/retry.h>
#include <troupe/self.h>

/**
 * The message to the run handler of a durable actor: TR_ON(tr_run, on_run). The handler begins at
 * each start, after tr_awake. The actor handles other messages while the handler waits. While the
 * handler waits on a queue, the actor may fall asleep: then the wait ends with TR_ABORTED. At all
 * other times the handler keeps the actor awake until it returns.
 *
 * If the actor has fallen asleep or failed, and a queue from which the handler has taken messages
 * is not empty, the actor wakes again. If a message was pushed or removed since the last wake, the
 * actor wakes at once. Otherwise it wakes after retry_ns of the kind, then after twice as long, and
 * so on up to retry_max_ns. If the handler has returned and left messages, the actor does not wake
 * for them. When a process opens the store, the actors of kinds with a run handler wake if they
 * have messages in any queue. They wake little by little, about 64 actors in 10 ms.
 */
TR_MESSAGE(tr_run);

/**
 * To a durable actor that has a handler for tr_queue_given_up: this message has become a dead
 * letter of its queue. If the turn that had taken the message has failed, tr_queue_given_up comes
 * after the restart.
 */
TR_MESSAGE(tr_queue_given_up, (str, queue), (u64, id), (u32, attempts), (str, cause));

/**
 * Names a message of a queue. An id is never used again, not even after a sleep or a crash. So an
 * actor can keep the id in its state: (u64, mail) and (tr_queued){.id = state->mail}.
 */
typedef struct tr_queued {
    uint64_t id;
} tr_queued;

/** The options of one queue of a kind; see TR_QUEUES. */
typedef struct tr_queue_options {
    const char *name TR_ZERO;
    tr_retry retry TR_ZERO;
} tr_queue_options;

/**
 * The queues of a kind that have options: .queues = TR_QUEUES({.name = "mails", .retry = {.attempts
 * = 5}}). Other queues have the defaults.
 * At file scope.
 */
#define TR_QUEUES(...) TR_QUEUES_(__VA_ARGS__)

/**
 * Both add a message to a queue, and return a tr_queued that names the message: tr_queue_push(self,
 * "mails", mail, .to = "anna"). A message of tr_queue_push_after(self, "mails", TR_HOUR, mail, .to
 * = "anna") cannot be taken before the delay has passed.
 * In a turn. Does not wait.
 *
 * The message is copied, and stored with the commit of this stretch. Ends the turn with TR_LIMIT
 * (TR_QUEUE_BYTES_MAX, TR_QUEUE_DELAY_MAX), TR_TOO_LARGE, TR_INVALID_ARGUMENT or TR_NO_MEMORY;
 * tr_self_try_queue_push returns a status instead.
 */
#define tr_queue_push(self, queue, ...) TR_QUEUE_PUSH_(self, queue, 0, __VA_ARGS__, )
#define tr_queue_push_after(self, queue, delay_ns, ...)                                            \
    TR_QUEUE_PUSH_(self, queue, delay_ns, __VA_ARGS__, )

/**
 * Waits for the first message of a queue that no other turn has taken. Removes the message, copies
 * it into memory of this turn, and writes its address to *pointer, a `const struct mail **`.
 * In a turn. May wait: at most timeout_ns.
 *
 * TR_OK; TR_TIMEOUT; TR_ABORTED: the actor falls asleep; TR_WRONG_TYPE: the first message is of
 * another type, and stays in the queue; TR_WRONG_SHAPE: the fields of the first message differ from
 * the fields in this program, and it stays in the queue; the log has both shapes; TR_CANCELLED,
 * TR_NO_MEMORY, TR_INVALID_ARGUMENT, TR_NOT_IN_A_TURN.
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

/**
 * Looks at the message that tr_queue_take would give now. Copies it into memory of this turn, and
 * writes its address to *pointer and its name to *item. The message stays as it is.
 * In a turn. Does not wait.
 *
 * TR_OK; TR_NOT_FOUND: there is no message; TR_WRONG_TYPE, TR_WRONG_SHAPE: the message is of another type, or has other
 * fields; *item is written in these cases too; TR_NO_MEMORY, TR_INVALID_ARGUMENT, TR_NOT_SUPPORTED.
 */
#define tr_queue_peek(self, queue, m, pointer, item)                                               \
    tr_self_queue_peek(self, queue, &tr_type_##m, TR_QUEUE_OUT_(m, pointer), item)
/**
 * Writes the message of any item, also of a dead letter, to *pointer, as memory of this turn.
 * In a turn. Does not wait.
 *
 * TR_OK; TR_NOT_FOUND: there is no such item; TR_WRONG_TYPE, TR_WRONG_SHAPE: as for tr_queue_take; TR_NO_MEMORY,
 * TR_INVALID_ARGUMENT, TR_NOT_SUPPORTED.
 */
#define tr_queue_read(self, item, m, pointer)                                                      \
    tr_self_queue_read(self, item, &tr_type_##m, TR_QUEUE_OUT_(m, pointer))

/** What tr_queue_list and tr_queue_list_dead say of an item; its texts are memory of the turn. */
typedef struct tr_queue_entry {
    tr_queued item;
    const char *type; /* the name of the type of its message */
    bool is_taken;    /* a turn has the item */
    /* the item cannot be taken before this time; 0: it can be taken at once */
    tr_time due_wall_ns;
    uint32_t attempts;      /* attempts that have failed */
    tr_status failure;      /* the status of the last failed attempt */
    const char *cause;      /* the text of the last failed attempt; "": no attempt has failed */
    tr_time failed_wall_ns; /* the time of the last failed attempt */
} tr_queue_entry;

TR_BEGIN_C
/**
 * Removes a message from its queue. The removal is stored with the commit of this stretch. Returns
 * false if the message is not in a queue.
 * In a turn. Does not wait.
 */
bool tr_queue_done(tr_self *self, tr_queued item);
/**
 * Says that the work of a message that this turn has taken did not succeed. The message comes again
 * after a delay, or becomes a dead letter if this was its last attempt. The cause is copied. The
 * change is stored with the commit of this stretch. Returns false if this turn does not have the
 * message.
 * In a turn. Does not wait.
 */
bool tr_queue_retry(tr_self *self, tr_queued item, const char *cause);
/**
 * As tr_queue_retry, but the message that this turn has taken becomes a dead letter at once. Use it
 * for a message for which every further attempt would fail too. In a turn. Does not wait.
 */
bool tr_queue_give_up(tr_self *self, tr_queued item, const char *cause);
/**
 * Removes a message that no turn has taken, or a dead letter. Returns false if there is no such
 * message, or if a turn has it.
 * In a turn. Does not wait.
 */
bool tr_queue_cancel(tr_self *self, tr_queued item);
/**
 * Puts a dead letter back into its queue as a message: the message can be taken at once, and has
 * all its attempts again. Returns false if there is no such dead letter.
 * In a turn. Does not wait.
 */
bool tr_queue_put_back(tr_self *self, tr_queued item);
/**
 * These return numbers of messages. tr_queue_count returns how many messages a queue has, without
 * dead letters: messages that can be taken, messages that a turn has taken, and messages that wait
 * for their time. tr_queue_count_dead returns how many dead letters a queue has.
 * In a turn. Does not wait.
 */
size_t tr_queue_count(const tr_self *self, const char *queue);
size_t tr_queue_count_dead(const tr_self *self, const char *queue);
/**
 * tr_queue_list lists the messages that tr_queue_count counts, tr_queue_list_dead the dead letters.
 * Both list at most `max` items in the order of their ids, and return how many they have listed.
 * They begin with the first item after `after`. If `after` is {0}, they begin with the first item
 * of the queue. In a turn. Does not wait.
 *
 * Each call looks at all items of the actor. If there is no memory, ends the turn with
 * TR_NO_MEMORY.
 */
size_t tr_queue_list(tr_self *self, const char *queue, tr_queued after,
                     const tr_queue_entry **entries, size_t max);
size_t tr_queue_list_dead(tr_self *self, const char *queue, tr_queued after,
                          const tr_queue_entry **entries, size_t max);

/**
 * Pushes as tr_queue_push_after does, but returns the status instead of ending the turn. On TR_OK,
 * writes the name of the message to *item; `item` may be NULL.
 * In a turn. Does not wait.
 */
TR_MUST_CHECK tr_status tr_self_try_queue_push(tr_self *self, const char *queue, tr_time delay_ns,
                                               const tr_type *type, const void *message,
                                               tr_queued *item);
/** See tr_queue_push_after. In a turn. Does not wait. */
tr_queued tr_self_queue_push(tr_self *self, const char *queue, tr_time delay_ns,
                             const tr_type *type, const void *message);
/**
 * See tr_queue_take. If `item` is NULL, removes the message, as tr_queue_receive does.
 * In a turn. May wait.
 */
TR_MUST_CHECK tr_status tr_self_queue_take(tr_self *self, const char *queue, const tr_type *type,
                                           tr_time timeout_ns, const void **message,
                                           tr_queued *item);
/** See tr_queue_peek. In a turn. Does not wait. */
TR_MUST_CHECK tr_status tr_self_queue_peek(tr_self *self, const char *queue, const tr_type *type,
                                           const void **message, tr_queued *item);
/** See tr_queue_read. In a turn. Does not wait. */
TR_MUST_CHECK tr_status tr_self_queue_read(tr_self *self, tr_queued item, const tr_type *type,
                                           const void **message);
TR_END_C

#include <troupe/detail/queue.h>

#endif
