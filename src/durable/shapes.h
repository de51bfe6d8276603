/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The shapes of stored data (wire/shape.h). The host knows the shapes of this program's kinds, and
 * those in the store.
 *
 * States, snapshots and events are stored behind the hash of their shape. For messages see
 * durable/message_shape.h. The store has the text of a shape once. To get it there, every batch of
 * a kind has all shapes of that kind, until one of these batches is on disk. Values that an earlier
 * version of the library has stored have no hash. They are read by the positions of their fields.
 *
 * All shapes are known when the host has started, and do not change afterwards. Any thread may read
 * them.
 */
#ifndef DURABLE_SHAPES_H
#define DURABLE_SHAPES_H

#include <troupe/wire.h>

#include "durable/host.h"

struct store_batch;

/** A shape that the host knows. */
struct shape {
    struct shape *next;
    uint64_t hash;
    bool is_stored; /* the store already had this shape when the host started */
    size_t size;
    char text[];
};

/** A type of a kind whose values may be in the store. */
struct kind_shape {
    const tr_type *type;
    const struct shape *shape; /* NULL: the type has no shape */
};

/** The size of tr_wire_error.text. */
enum { SHAPE_WHY_SIZE = sizeof((tr_wire_error *)NULL)->text };

/**
 * Makes the shapes of a kind. Checks that each migration, including those of events, fits the
 * migration after it. If one does not fit, logs both shapes and returns TR_INVALID_ARGUMENT. Can
 * also fail with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__shapes_of_kind(struct durable_kind *kind);
void tr__shapes_of_kind_free(struct durable_kind *kind);
/** Reads the shapes of the store, which must be open. */
TR_MUST_CHECK tr_status tr__shapes_load(struct durable_host *host);
void tr__shapes_free(struct durable_host *host);

/** Adds the shapes of a kind to a batch. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__shapes_put(const struct durable_kind *kind, struct store_batch *batch);

/** Returns the hash with which values of this type are stored. Returns 0 if they have none. */
uint64_t tr__shape_of(const struct durable_kind *kind, const tr_type *type);

/** Whether the store had this shape when the host started. */
bool tr__shape_is_stored(const struct durable_host *host, uint64_t hash);
/**
 * Does what tr__shape_check does, but compares the stored shape with the text of any shape. That shape need not belong
 * to a kind. `hash` must not be 0.
 */
TR_MUST_CHECK tr_status tr__shape_compare_stored(const struct durable_host *host, tr_bytes text,
                                                 uint64_t hash, const char *path, bool *is_longer,
                                                 char *why);
/**
 * Returns TR_OK if data that was stored with the shape `hash` can be read as `type`, a type of the
 * kind. Sets *is_longer if the stored shape has fields that `type` does not have. If `hash` is 0,
 * the shape is not known. The status is then TR_OK, and reading the data shows whether they can be
 * read.
 *
 * TR_WRONG_SHAPE: the data cannot be read. why[SHAPE_WHY_SIZE] names the difference, and the log
 * has both shapes, with `path`. TR_STORE_CORRUPT: the store does not have the shape.
 */
TR_MUST_CHECK tr_status tr__shape_check(const struct durable_kind *kind, const tr_type *type,
                                        uint64_t hash, const char *path, bool *is_longer,
                                        char *why);

/** Logs the stored shape, and the shape of the type with which the bytes are read. */
void tr__shape_log(const struct durable_kind *kind, const tr_type *type, uint64_t hash,
                   const char *path);

/** Returns the migration that begins at this version. Returns NULL if there is none. */
const tr_migration *tr__migration_from(const tr_migration *const *migrations, uint32_t version);
/**
 * Returns the first version, `version` or later, at which a migration begins. If there is none, returns `last`, which
 * is the version of the code.
 */
uint32_t tr__migration_readable(const tr_migration *const *migrations, uint32_t version,
                                uint32_t last);
/**
 * Converts a value from the type that a migration returns to the type that the next step expects.
 * The shapes of the two types must fit. *to is a new block, which the caller frees by
 * tr_message_free. Fields at its end that the source does not have are zero.
 */
TR_MUST_CHECK tr_status tr__shape_convert(struct worker *worker, const struct durable_host *host,
                                          const tr_type *from_type, const void *from,
                                          const tr_type *to_type, void **to, size_t *to_size,
                                          tr_wire_error *error);

#endif
