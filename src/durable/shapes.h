/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The shapes of what is stored (wire/shape.h): those of the kinds of this program, and those in the store.
 *
 * A state, a snapshot or an event is stored with the hash of its shape in front. The text of the shape is in the store
 * once: each batch of a kind has all shapes of that kind until one of these batches is on disk. What an earlier
 * library has stored has no hash, and is read as it was then: by its place in the message only.
 *
 * All shapes are known after the start of the host and do not change later: any thread may read them.
 */
#ifndef DURABLE_SHAPES_H
#define DURABLE_SHAPES_H

#include <troupe/wire.h>

#include "durable/host.h"

struct store_batch;

/** A shape, of the host. */
struct shape {
    struct shape *next;
    uint64_t hash;
    bool is_stored; /* when the host started */
    size_t size;
    char text[];
};

/** A type of a kind that may be in the store, or be read from there. */
struct kind_shape {
    const tr_type *type;
    const struct shape *shape; /* NULL: the type has none */
};

/** As much as a tr_wire_error has. */
enum { SHAPE_WHY_SIZE = sizeof((tr_wire_error *)NULL)->text };

/**
 * Makes the shapes of a kind, and checks that its migrations, and those of its events, follow from one another.
 * TR_INVALID_ARGUMENT: they do not, and the log has both shapes. TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__shapes_of_kind(struct durable_kind *kind);
void tr__shapes_of_kind_free(struct durable_kind *kind);
/** Reads those of the store, which is open. */
TR_MUST_CHECK tr_status tr__shapes_load(struct durable_host *host);
void tr__shapes_free(struct durable_host *host);

/** Adds the shapes of a kind to a batch. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__shapes_put(const struct durable_kind *kind, struct store_batch *batch);

/** The hash that a value of this type of a kind is stored with; 0: none. */
uint64_t tr__shape_of(const struct durable_kind *kind, const tr_type *type);

/**
 * Whether what was stored with a shape can be read as `type`, one of those of the kind; hash 0: nobody knows, so it is
 * tried. *is_longer: the stored one has fields that `type` does not have.
 *
 * TR_WRONG_SHAPE: it cannot, and why[SHAPE_WHY_SIZE] names where they differ; the log has both, with `path`.
 * TR_STORE_CORRUPT: the store does not know the shape.
 */
TR_MUST_CHECK tr_status tr__shape_check(const struct durable_kind *kind, const tr_type *type,
                                        uint64_t hash, const char *path, bool *is_longer,
                                        char *why);

/** Writes what was stored with a shape, and what it is read as, to the log. */
void tr__shape_log(const struct durable_kind *kind, const tr_type *type, uint64_t hash,
                   const char *path);

/** The migration from a version, or NULL. */
const tr_migration *tr__migration_from(const tr_migration *const *migrations, uint32_t version);
/** The first version from `version` on that a migration begins with, or `last`, that of the code. */
uint32_t tr__migration_readable(const tr_migration *const *migrations, uint32_t version,
                                uint32_t last);
/**
 * Makes a value of another type of a value whose shape fits it (what a migration has made, for what comes after it):
 * a new block, given, for tr_message_free. Fields that it has at its end are zero.
 */
TR_MUST_CHECK tr_status tr__shape_convert(struct worker *worker, const struct durable_host *host,
                                          const tr_type *from_type, const void *from,
                                          const tr_type *to_type, void **to, size_t *to_size,
                                          tr_wire_error *error);

#endif
