/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Entries: who may write what a name has. Rules 1 to 4 are in store/store.h.
 */
#ifndef STORE_ENTRY_H
#define STORE_ENTRY_H

#include "store/store.h"

/**
 * Enters a name: from now on every entry of it that was made before is stale, left or not.
 *
 * Batches that such an entry had submitted before it left are still committed, and those of one that
 * has not left may be on their way to the disk. As long as there are any the new entry is not ready:
 * what is read could be old. `on_ready` is called once, on the committing thread, when it is; or never
 * when tr__store_entry_is_ready says so right after this call. Until then it does not submit.
 *
 * TR_INVALID_ARGUMENT: kind or key too long, or none. TR_NO_MEMORY, TR_STORE_FAILED. Any thread.
 */
TR_MUST_CHECK tr_status tr__store_enter(struct store *store, const char *kind, tr_bytes key,
                                        void (*on_ready)(void *context, struct store_entry *entry),
                                        void *context, struct store_entry **entry);

/** Whether nothing of earlier entries is on its way. Stays true. Any thread. */
bool tr__store_entry_is_ready(const struct store_entry *entry);
/** False as soon as another entry of the same name was made. Any thread. */
bool tr__store_entry_is_current(const struct store_entry *entry);
struct store_generation tr__store_entry_generation(const struct store_entry *entry);

/**
 * Takes the entry. What it submitted is committed all the same; batches that were not submitted can
 * only be freed. Any thread; not within on_ready or on_done of another thread's call for it.
 */
void tr__store_leave(struct store_entry *entry);

/* For the files of this directory. */

/** Writes kind, NUL, key; its size, or 0 when one of them is not as it should be. */
size_t tr__store_name(const char *kind, tr_bytes key, unsigned char name[STORE_NAME_MAX]);

/** A batch of this entry was told of: whoever waits for that may go on. Committing thread. */
void tr__store_entry_told(struct store_entry *entry);

/** Makes the table of entries. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__store_entries_init(struct store *store);
void tr__store_entries_deinit(struct store *store);

#endif
