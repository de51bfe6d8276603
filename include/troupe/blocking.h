/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Work that blocks, or takes long, without keeping a worker from its other actors.
 *
 *     struct hash_job job = {.path = message->path};
 *     tr_blocking(self, hash_it, &job);
 *     return tr_reply(self, digest, .value = job.value);
 *
 * The function runs on a helper thread while the turn waits, as in tr_await: its actor handles other
 * messages meanwhile, unless the handler is a barrier (ask.h). Helper threads are made when they are
 * needed, at most TR_BLOCKING_THREADS_MAX of a system, and end when nothing was to be done for a
 * while. Functions beyond them wait for a thread, and begin in the order of their calls.
 *
 * The function gets its argument and nothing else: it must not touch self, the state, or memory of
 * tr_alloc that handlers use meanwhile; it may not call a verb of a turn. What it wrote is there when
 * the turn goes on. It may block, take locks and use errno, but not end its thread. Signals of the
 * process do not reach it. Its time counts for no budget.
 *
 * A function that runs cannot be interrupted. When its actor is killed, fails, or is over its time at
 * shutdown, one that waits for a thread never begins, but one that runs is waited for: its argument
 * most often lives on the stack of the turn. Until it returns the actor neither stops nor is
 * restarted, and a line of the log says so; then the turn is cancelled. A shutdown waits no longer
 * for it than for a handler: see shutdown.h. Work that may take for ever needs an end of its own: a
 * timeout of the system call, or a flag in its argument.
 *
 * On the test kit the one thread calls the function in a step of its own, when the seed says so. On a
 * platform that has no threads otherwise it is called in place.
 */
#ifndef TROUPE_BLOCKING_H
#define TROUPE_BLOCKING_H

#include <troupe/self.h>

TR_BEGIN_C
/** Runs function(argument) on a helper thread and waits for its end; or ends the turn. */
void tr_blocking(tr_self *self, void (*function)(void *argument), void *argument);

/**
 * As tr_blocking, and says how it went. TR_OK: the function has returned. TR_CANCELLED: the actor
 * ends; the function has returned, or never began. It never began: TR_NOT_IN_A_TURN (a set-up,
 * tr_pre_start, tr_post_stop, a cleaner, a defer), TR_LIMIT (TR_BLOCKING_QUEUE_MAX), TR_NO_MEMORY
 * (also when no thread can be made), TR_INVALID_ARGUMENT.
 */
TR_MUST_CHECK tr_status tr_try_blocking(tr_self *self, void (*function)(void *argument),
                                        void *argument);
TR_END_C

#ifdef __cplusplus
#include <troupe/detail/blocking_cxx.h>
#endif

#endif
