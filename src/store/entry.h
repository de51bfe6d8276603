/* SPDX-License-Identifier: Apache-2.0 */
/** Entries. An entry is the right to write under a name. The rules are in store/store.h. */
#ifndef STORE_ENTRY_H
#define STORE_ENTRY_H

#include "store/store.h"

/**
 * Enters a name. From now on every earlier entry of the name is stale, whether it was left or not.
 *
 * Batches of an earlier entry may still be on their way to the disk, whether that entry was left or
 * not. As long as such a batch is on its way, the new entry is not ready. Until then its owner must
 * not submit, and what its owner reads may be outdated. When the new entry becomes ready,
 * `on_ready` is called once, on the committing thread. If tr__store_entry_is_ready returns true
 * right after this call, on_ready is never called.
 *
 * TR_INVALID_ARGUMENT: kind or key is missing or too long. TR_NOT_PERMITTED: the store is read
 * only. Also fails with TR_NO_MEMORY or TR_STORE_FAILED. Any thread.
 */
TR_MUST_CHECK tr_status tr__store_enter(struct store *store, const char *kind, tr_bytes key,
                                        void (*on_ready)(void *context, struct store_entry *entry),
                                        void *context, struct store_entry **entry);

/**
 * Enters a name that has no entry and no batch on its way. So the new entry is ready at once.
 * Returns TR_STORE_BUSY if the name has an entry, and does not change that entry. The other
 * statuses are those of tr__store_enter. Any thread.
 */
TR_MUST_CHECK tr_status tr__store_enter_alone(struct store *store, const char *kind, tr_bytes key,
                                              struct store_entry **entry);

/**
 * Whether no batch of an earlier entry is on its way. When it has returned true, it returns true
 * for this entry from then on. Any thread.
 */
bool tr__store_entry_is_ready(const struct store_entry *entry);
/** Whether no later entry of the same name was made. Any thread. */
bool tr__store_entry_is_current(const struct store_entry *entry);
struct store_generation tr__store_entry_generation(const struct store_entry *entry);

/**
 * Gives an entry back. The caller must not use it after that. Submitted batches of the entry are
 * still committed; the others can only be freed. Any thread, but not while another thread is in
 * on_ready or on_done of this entry.
 */
void tr__store_leave(struct store_entry *entry);

/* ---- For the files of this directory only. ---- */

/**
 * Writes kind, NUL, key to `name` and returns their size. Returns 0 if the kind or the key is not
 * valid.
 */
size_t tr__store_name(const char *kind, tr_bytes key, unsigned char name[STORE_NAME_MAX]);

/**
 * Notes that a batch of this entry is finished. If that was the last batch, makes the entry's
 * successor ready. Call before the on_done of the batch. Committing thread.
 */
void tr__store_entry_batch_done(struct store_entry *entry);

/** Makes the table of entries. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__store_entries_init(struct store *store);
void tr__store_entries_deinit(struct store *store);

#endif
