/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Work that blocks or takes long, on a thread of its own instead of a worker.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(sum, (u64, value));
 * TR_REQUEST(add_up, sum, (u64, last));
 * TR_ACTOR(adder, add_up);
 *
 * static void add_slowly(void *argument) // on a helper thread: it may block
 * {
 *     struct sum *sum = (struct sum *)argument;
 *     sum->value = sum->value * (sum->value + 1) / 2;
 * }
 *
 * static tr_next on_add_up(tr_self *self, const struct add_up *message)
 * {
 *     struct sum sum = {message->last};
 *     tr_blocking(self, add_slowly, &sum);
 *     return tr_reply(self, sum, .value = sum.value);
 * }
 *
 * TR_BEHAVIOR(adder, void, TR_ON(add_up, on_add_up));
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     tr_await(self, tr_ask(self, tr_spawn(self, adder, "adder"), add_up, .last = 100));
 *     return TR_STOP;
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
 * The function runs on a helper thread while the turn waits, as in tr_await: the actor of the turn
 * handles other messages meanwhile, unless the handler is a barrier (ask.h). The system makes
 * helper threads when it needs them, at most TR_BLOCKING_THREADS_MAX, and ends a thread that has
 * had no work for some time. If all threads are busy, functions wait for a thread and begin in the
 * order of the calls of tr_blocking.
 *
 * The function gets its argument and nothing else. It must not use self, the state, or memory that
 * handlers use meanwhile. It must not call a function of a turn. When the wait is over, the handler
 * may read what the function has written. The function may block, take locks and use errno, but
 * must not end its thread. Signals of the process do not reach its thread. The CPU time of the
 * function counts for no budget.
 *
 * A function that runs cannot be interrupted. If the actor is killed, fails, or exceeds its time at
 * shutdown, a function that still waits for a thread never begins. For a function that runs
 * already, the actor waits, because the function's argument is usually on the stack of the turn.
 * Until the function returns, the actor neither stops nor restarts, and a line of the log says so.
 * When it has returned, the turn is cancelled. A shutdown waits for the function no longer than for
 * a handler: see shutdown.h. If the work may take forever, give the function a way to end: a
 * timeout of the system call, or a flag in its argument.
 *
 * In a system of the test kit (kit.h), the only thread of the kit calls the function, at a moment
 * that the seed decides. In a system on another platform that has no threads, tr_blocking itself
 * calls the function.
 */
#ifndef TROUPE_BLOCKING_H
#define TROUPE_BLOCKING_H

#include <troupe/self.h>

TR_BEGIN_C
/**
 * Runs function(argument) on a helper thread and waits until it has returned. Where tr_try_blocking
 * would return an error, tr_blocking ends the turn.
 * In a turn. May wait.
 */
void tr_blocking(tr_self *self, void (*function)(void *argument), void *argument);

/**
 * Runs function(argument) as tr_blocking does, and returns the status.
 * In a turn. May wait.
 *
 * TR_OK: the function has returned. TR_CANCELLED: the actor ends; the function has returned, or
 * never began. With any other status the function never began: TR_NOT_IN_A_TURN (a set-up,
 * tr_pre_start, tr_post_stop, a function of tr_at_end or tr_defer), TR_LIMIT
 * (TR_BLOCKING_QUEUE_MAX), TR_NO_MEMORY (also if no thread can be made), TR_INVALID_ARGUMENT.
 */
TR_MUST_CHECK tr_status tr_try_blocking(tr_self *self, void (*function)(void *argument),
                                        void *argument);
TR_END_C

#ifdef __cplusplus
#include <troupe/detail/blocking_cxx.h>
#endif

#endif
