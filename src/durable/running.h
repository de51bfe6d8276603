/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which items and alarms handlers work on now, in a file that outlives the process.
 *
 * A handler may end the process: by a crash, by _exit, because the system kills it. Then nothing is stored of the attempt,
 * the item or the alarm comes again at the next start, and the program would end in the same way forever. So while a turn
 * with an item or an alarm runs, or a blocking call of it, a slot of the file "running" in the directory of the store names
 * it. A slot that the next start finds is a failed attempt (tr__running_fail).
 *
 * The file is mapped and never synced: it costs no system call, a killed process leaves it as it was, and what a power cut
 * does to it does not matter. Without the file, or without a free slot, an attempt that ends with the process is not counted.
 *
 * 1. A slot is free if its `state` is SLOT_FREE. The other members are written before the state, and read after it.
 * 2. The first SLOTS_PAST slots are those that the start has found. Each is freed when the failed attempt is stored. It has
 *    the number of attempts that had failed before, so that it counts once, even if this process ends before that.
 * 3. The others belong to the workers, SLOTS_WORKER to each. Only the worker writes them.
 */
#ifndef DURABLE_RUNNING_H
#define DURABLE_RUNNING_H

#include "durable/actor.h"

struct durable_frame;
struct queue_item;
struct running_slot;

/** Opens the file of the store's directory, and collects what it has. Without a directory, or if that fails, there is none. */
void tr__running_open(struct durable_host *host);
void tr__running_close(struct durable_host *host);

/** The running turn has got an item. `is_held`: until tr__running_drop; otherwise until it gets the next. */
void tr__running_add(struct tr_self *self, const struct queue_item *item, bool is_held);
/**
 * The end of an item's attempt is in the open commit, which is not stored yet. So an item that is the last one stays until the
 * turn gets the next: if the process ends before the commit is stored, something must count. If it is stored, the next start
 * sees that and counts nothing.
 */
void tr__running_drop(struct durable_frame *frame, uint64_t id);
/** The running turn has begun to handle its alarm, or resumes: names what it has, if it has something. */
void tr__running_enter(struct tr_self *self);
/** The turn waits, or has ended. */
void tr__running_leave(struct durable_frame *frame);

/** Whether an earlier process has ended while a handler of this actor ran. */
bool tr__running_has_past(const struct durable_actor *actor);
/**
 * Stores a failed attempt of each item and alarm of this actor that an earlier process has ended with. In the first turn of a
 * generation. May wait. TR_NO_MEMORY, or what tr_try_save returns.
 */
TR_MUST_CHECK tr_status tr__running_fail(struct tr_self *self, struct durable_actor *actor);

#endif
