/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The overlays of a durable actor. An overlay is a key that the actor has put or deleted, as long
 * as the change is not on disk. A read of such a key finds the new value here.
 *
 * Overlays are in a list, oldest first, because commits reach the disk in this order. A short list
 * is searched. If there are more than OVERLAYS_INDEXED overlays, there is also a hash table. With
 * the table, a handler that gets and puts n keys takes n steps and not n^2. If there is no memory
 * for the table, the list is searched.
 */
#ifndef DURABLE_OVERLAY_H
#define DURABLE_OVERLAY_H

#include "durable/actor.h"

enum { OVERLAYS_INDEXED = 16 };

struct overlay {
    struct list link;  /* link in durable_actor.overlays, oldest first */
    struct list chain; /* link in its bucket, newest first; not used while there is no table */
    uint64_t commit;   /* number of the commit that has made the overlay */
    bool is_deleted;
    size_t key_size;
    size_t value_size;
    unsigned char bytes[]; /* the key, and behind it the value */
};

static inline tr_bytes overlay_key(const struct overlay *overlay)
{
    return (tr_bytes){overlay->bytes, overlay->key_size};
}

static inline tr_bytes overlay_value(const struct overlay *overlay)
{
    return (tr_bytes){overlay->bytes + overlay->key_size, overlay->value_size};
}

/**
 * Compares keys as bytes. Returns a number below 0 if `a` comes first, 0 if the keys are equal, and
 * a number above 0 if `b` comes first.
 */
int tr__overlay_compare(tr_bytes a, tr_bytes b);

/**
 * Allocates an overlay. Returns NULL if there is no memory. The caller passes the overlay to tr__overlay_add, or frees
 * it by source_resize.
 */
struct overlay *tr__overlay_new(struct worker *worker, tr_bytes key, tr_bytes value,
                                bool is_deleted);
/** Adds an overlay of the open commit, as the newest. The overlay is taken. */
void tr__overlay_add(struct worker *worker, struct durable_actor *actor, struct overlay *overlay);
/** Returns the newest overlay of a key. Returns NULL if the key has none. */
const struct overlay *tr__overlay_find(const struct durable_actor *actor, tr_bytes key);

/**
 * Collects the overlays whose keys begin with `prefix` and are not below `from`. Sorts them by key,
 * and overlays of the same key by age, oldest first. Returns their number.
 */
size_t tr__overlays_sort(const struct durable_actor *actor, tr_bytes prefix, tr_bytes from,
                         const struct overlay **sorted, const struct overlay **spare);

/**
 * Frees the overlays of all commits with numbers up to `commit`. If `commit` is UINT64_MAX, frees
 * all overlays.
 */
void tr__overlays_drop(struct worker *worker, struct durable_actor *actor, uint64_t commit);
/** Frees the overlays of the open commit. */
void tr__overlays_undo(struct worker *worker, struct durable_actor *actor);

#endif
