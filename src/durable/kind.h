/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kinds of durable actors.
 */
#ifndef DURABLE_KIND_H
#define DURABLE_KIND_H

#include "durable/host.h"

/**
 * Makes the handler table of a kind, as the system uses it. Fails with TR_INVALID_ARGUMENT,
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__durable_kind_init(struct durable_kind *kind, struct durable_host *host,
                                              const tr_durable_kind *origin);
void tr__durable_kind_deinit(struct durable_kind *kind);

/**
 * Writes the path that an actor has in the directory. Returns the length of the path, or 0 if the key is empty or too
 * long.
 */
size_t tr__durable_path(const struct durable_kind *kind, tr_bytes key, char path[TR_PATH_MAX + 1]);

#endif
