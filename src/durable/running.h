/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which items and alarms handlers work on now, in a file that outlives the process.
 *
 * A handler may end the process: by a crash, by _exit, because the system kills it. Then nothing is stored of the
 * attempt, the item or the alarm comes again at the next start, and the program would end in the same way forever. So
 * while a turn with an item or an alarm runs, or its blocking call, a slot of the file "running" in the directory of
 * the store names the item or alarm. A slot that the next start finds is a failed attempt (tr__running_fail).
 *
 * The file is mapped and never synced: it costs no system call, and after a kill of the process it
 * is as the process left it. What a power cut does to it does not matter. Without the file, or
 * without a free slot, an attempt that ends with the process is not counted.
 *
 * 1. A slot is free if its `state` is SLOT_FREE. The other members are written before the state, and read after it.
 * 2. The first SLOTS_PAST slots are those that the start has found. Each is freed when the failed attempt is stored. A
 *    slot has the number of attempts that had failed before. So it counts only once, even if this process ends before
 *    the slot is freed.
 * 3. The other slots belong to the workers, SLOTS_WORKER to each. Only the worker writes them.
 */
#ifndef DURABLE_RUNNING_H
#define DURABLE_RUNNING_H

#include "durable/actor.h"

struct durable_frame;
struct queue_item;
struct running_slot;

/**
 * Opens the file in the directory of the store, and collects the slots in use. Without a directory, or after an error,
 * the host has no such file.
 */
void tr__running_open(struct durable_host *host);
void tr__running_close(struct durable_host *host);

/**
 * Notes that the running turn has got an item: with `is_held` until tr__running_drop, otherwise until the turn gets the
 * next item.
 */
void tr__running_add(struct tr_self *self, const struct queue_item *item, bool is_held);
/**
 * The end of an item's attempt is in the open commit, which is not stored yet. So an item that is the last one stays until the
 * turn gets the next: if the process ends before the commit is stored, something must count. If it is stored, the next start
 * sees that and counts nothing.
 */
void tr__running_drop(struct durable_frame *frame, uint64_t id);
/**
 * Names the alarm and the items of a turn in a slot, if the turn has any. Call when the turn begins to handle its
 * alarm, or resumes.
 */
void tr__running_enter(struct tr_self *self);
/** Frees the slot of a turn that waits or has ended. */
void tr__running_leave(struct durable_frame *frame);

/** Whether an earlier process has ended while a handler of this actor ran. */
bool tr__running_has_past(const struct durable_actor *actor);
/**
 * Stores a failed attempt of each item and alarm of this actor that a handler had when an earlier process ended. In the
 * first turn of a generation. May wait. TR_NO_MEMORY, or what tr_try_save returns.
 */
TR_MUST_CHECK tr_status tr__running_fail(struct tr_self *self, struct durable_actor *actor);

#endif
