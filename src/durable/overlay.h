/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Keys that a durable actor has put or deleted and that are not on disk yet, so that a read of them sees it.
 *
 * They are in a list, oldest first, since they reach the disk, and are taken back, in the order of their
 * commits. Few are searched as a list. From OVERLAYS_INDEXED on there is a hash table besides, so that a
 * handler that gets and puts n keys takes n steps and not n^2. Without memory for the table the list is searched.
 */
#ifndef DURABLE_OVERLAY_H
#define DURABLE_OVERLAY_H

#include "durable/actor.h"

enum { OVERLAYS_INDEXED = 16 };

struct overlay {
    struct list link;  /* of its actor, oldest first */
    struct list chain; /* of its bucket, newest first; not in one while there is no table */
    uint64_t commit;   /* number of the commit it belongs to */
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

/** Below 0, 0, above 0: as bytes compare. */
int tr__overlay_compare(tr_bytes a, tr_bytes b);

/** Memory for one; NULL: there is none. Given to tr__overlay_add, or freed by source_resize. */
struct overlay *tr__overlay_new(struct worker *worker, tr_bytes key, tr_bytes value,
                                bool is_deleted);
/** The newest from now on, of the commit that runs. Takes it. */
void tr__overlay_add(struct worker *worker, struct durable_actor *actor, struct overlay *overlay);
/** The newest of a key; NULL: there is none. */
const struct overlay *tr__overlay_find(const struct durable_actor *actor, tr_bytes key);

/** Puts those with this prefix, from this key on, in the order of their keys, the oldest of a key first. */
size_t tr__overlays_sort(const struct durable_actor *actor, tr_bytes prefix, tr_bytes from,
                         const struct overlay **sorted, const struct overlay **spare);

/** All overlays up to a commit go; UINT64_MAX: all. */
void tr__overlays_drop(struct worker *worker, struct durable_actor *actor, uint64_t commit);
/** Those of the commit that runs go. */
void tr__overlays_undo(struct worker *worker, struct durable_actor *actor);

#endif
