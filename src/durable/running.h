/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which items and alarms handlers work on now, in a file that outlives the process.
 *
 * A handler may end the process: by a crash, by _exit, because the system kills it. Then nothing is
 * stored of the attempt, the item or the alarm comes again at the next start, and the program would
 * end in the same way forever. Therefore the file "running" in the directory of the store has a
 * slot that names the item or alarm, while its turn or a blocking call of that turn runs. Each slot
 * that the next start finds is a failed attempt (tr__running_fail).
 *
 * The file is mapped and never synced, so that a change needs no system call. The contents survive
 * the end of the process; they need not survive a power cut. If there is no file or no free slot,
 * an attempt that ends with the process is not counted.
 *
 * 1. A slot is free if its `state` is SLOT_FREE. The other members are written before the state,
 *    and read after it.
 * 2. The first SLOTS_PAST slots are those that the start has found. Each is freed once its failed
 *    attempt is stored. A slot says how many attempts had failed before. If the stored number
 *    differs, the attempt of the slot is in it already. So the attempt counts only once, even if
 *    this process ends before it frees the slot.
 * 3. The other slots belong to the workers, SLOTS_WORKER to each. Only the worker writes them.
 */
#ifndef DURABLE_RUNNING_H
#define DURABLE_RUNNING_H

#include "durable/actor.h"

struct durable_frame;
struct queue_item;
struct running_slot;

/**
 * Opens the file in the directory of the store, and collects the slots in use. If there is no
 * directory, or after an error, the host has no such file.
 */
void tr__running_open(struct durable_host *host);
void tr__running_close(struct durable_host *host);

/**
 * Notes that the running turn has got an item. If `is_held`, the note stays until tr__running_drop;
 * otherwise until the turn gets the next item.
 */
void tr__running_add(struct tr_self *self, const struct queue_item *item, bool is_held);
/**
 * Notes that an item's attempt has ended in the open commit, which is not stored yet. The note of
 * the turn's last item stays until the turn gets the next item: if the process ends before the
 * commit is stored, the attempt counts as failed. If the commit was stored, the next start sees
 * that and counts nothing.
 */
void tr__running_drop(struct durable_frame *frame, uint64_t id);
/**
 * If a turn has an alarm or items, writes their names into a slot. Call when the turn begins to
 * handle its alarm, or resumes.
 */
void tr__running_enter(struct tr_self *self);
/** Frees the slot of a turn that waits or has ended. */
void tr__running_leave(struct durable_frame *frame);

/** Whether an earlier process has ended while a handler of this actor ran. */
bool tr__running_has_past(const struct durable_actor *actor);
/**
 * Stores a failed attempt of each item and alarm of this actor that a handler had when an earlier
 * process ended. In the first turn of a generation. May wait. Fails with TR_NO_MEMORY, or as
 * tr_try_save.
 */
TR_MUST_CHECK tr_status tr__running_fail(struct tr_self *self, struct durable_actor *actor);

#endif
