/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Keys that a durable actor has put or deleted and that are not on disk yet. A read of such a key
 * finds the new value here.
 *
 * Overlays are in a list, oldest first, because commits reach the disk, or are undone, in this
 * order. A short list is searched. From OVERLAYS_INDEXED on there is also a hash table, so that a
 * handler that gets and puts n keys takes n steps and not n^2. If there is no memory for the table
 * the list is searched.
 */
#ifndef DURABLE_OVERLAY_H
#define DURABLE_OVERLAY_H

#include "durable/actor.h"

enum { OVERLAYS_INDEXED = 16 };

struct overlay {
    struct list link;  /* link in durable_actor.overlays, oldest first */
    struct list chain; /* link in its bucket, newest first; unused while there is no table */
    uint64_t commit;   /* number of its commit */
    bool is_deleted;
    size_t key_size;
    size_t value_size;
    unsigned char bytes[]; /* the key, then the value */
};

static inline tr_bytes overlay_key(const struct overlay *overlay)
{
    return (tr_bytes){overlay->bytes, overlay->key_size};
}

static inline tr_bytes overlay_value(const struct overlay *overlay)
{
    return (tr_bytes){overlay->bytes + overlay->key_size, overlay->value_size};
}

/** Compares keys as bytes. Returns a number below 0, 0, or a number above 0. */
int tr__overlay_compare(tr_bytes a, tr_bytes b);

/** Allocates an overlay. NULL: no memory. The caller gives it to tr__overlay_add or frees it by source_resize. */
struct overlay *tr__overlay_new(struct worker *worker, tr_bytes key, tr_bytes value,
                                bool is_deleted);
/** Adds an overlay of the open commit as the newest. Takes ownership. */
void tr__overlay_add(struct worker *worker, struct durable_actor *actor, struct overlay *overlay);
/** Returns the newest overlay of a key, or NULL. */
const struct overlay *tr__overlay_find(const struct durable_actor *actor, tr_bytes key);

/**
 * Collects the overlays whose keys begin with `prefix` and are not below `from`. Sorts them by key,
 * and overlays of the same key by age, oldest first. Returns their number.
 */
size_t tr__overlays_sort(const struct durable_actor *actor, tr_bytes prefix, tr_bytes from,
                         const struct overlay **sorted, const struct overlay **spare);

/** Frees the overlays of all commits with numbers up to `commit`. UINT64_MAX: of all commits. */
void tr__overlays_drop(struct worker *worker, struct durable_actor *actor, uint64_t commit);
/** Frees the overlays of the open commit. */
void tr__overlays_undo(struct worker *worker, struct durable_actor *actor);

#endif
