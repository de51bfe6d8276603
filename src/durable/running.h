/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A file that says which items and alarms handlers are working on. It outlives the process.
 *
 * A handler may end the process: it crashes, it calls _exit, or the operating system kills the
 * process. Then nothing is stored about the attempt. The item or the alarm comes again at the next
 * start, and the program would end in the same way each time. Therefore, while the turn of an item
 * or alarm or a blocking call of that turn runs, a slot names the item or alarm. The slots are in
 * the file "running" in the directory of the store. Each used slot that the next start finds is a
 * failed attempt (tr__running_fail).
 *
 * The file is mapped and never synced, so that a change needs no system call. Its contents survive
 * the end of the process. They need not survive a power cut. If there is no file or no free slot,
 * and the process ends during an attempt, that attempt is not counted.
 *
 * 1. A slot is free if its `state` is SLOT_FREE. The other members are written before the state,
 *    and read after it.
 * 2. The first SLOTS_PAST slots are those that the start has found. A slot is freed when its failed
 *    attempt is stored. A slot says how many attempts had failed before. If the stored number
 *    differs from that, it already includes the attempt of the slot. So the attempt counts only
 *    once, even if this process ends before it frees the slot.
 * 3. The other slots belong to the workers; each worker has SLOTS_WORKER slots. Only that worker
 *    writes them.
 */
#ifndef DURABLE_RUNNING_H
#define DURABLE_RUNNING_H

#include "durable/actor.h"

struct durable_frame;
struct queue_item;
struct running_slot;

/**
 * Opens the file in the directory of the store, and collects the used slots. If the store has no
 * directory, or after an error, the host has no such file.
 */
void tr__running_open(struct durable_host *host);
void tr__running_close(struct durable_host *host);

/**
 * Notes that the running turn has got an item. If `is_held` is true, the note stays until
 * tr__running_drop. Otherwise it stays until the turn gets the next item.
 */
void tr__running_add(struct tr_self *self, const struct queue_item *item, bool is_held);
/**
 * Notes that the attempt of an item has ended in the open commit, which is not stored yet. The note
 * of the turn's last item stays until the turn gets the next item. If the process ends before the
 * commit is stored, the attempt counts as failed. If the process ends later, the next start finds
 * the stored commit and counts nothing.
 */
void tr__running_drop(struct durable_frame *frame, uint64_t id);
/**
 * If the turn has an alarm or items, writes their names into a slot. Call when the turn begins to
 * handle its alarm, and when the turn resumes.
 */
void tr__running_enter(struct tr_self *self);
/** Frees the slot of a turn that waits or has ended. */
void tr__running_leave(struct durable_frame *frame);

/** Whether an earlier process ended while a handler of this actor was running. */
bool tr__running_has_past(const struct durable_actor *actor);
/**
 * Stores a failed attempt for each item and alarm that a handler of this actor had when an earlier
 * process ended. In the first turn of a generation. May wait. Fails with TR_NO_MEMORY and the
 * statuses of tr_try_save.
 */
TR_MUST_CHECK tr_status tr__running_fail(struct tr_self *self, struct durable_actor *actor);

#endif
