/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Host names of the virtual network: a table that the test fills. A numeric address, such as
 * "127.0.0.1", needs no entry.
 *
 * All functions: one thread at a time.
 */
#ifndef OS_VIRTUAL_NAMES_H
#define OS_VIRTUAL_NAMES_H

#include "os/virtual_net.h"

/**
 * Adds an address of a name. A lookup of a name with several addresses returns them in the order in
 * which they were added. If `status` is not TR_OK, a lookup of the name fails with that status.
 * This function itself fails with TR_NO_MEMORY.
 */
tr_status tr__virtual_names_add(struct virtual_net *net, const char *name,
                                const tr_address *address, tr_status status);
/**
 * Sets how long each lookup of this name takes from now on. A lookup that is not done returns TR_WOULD_BLOCK. If the
 * time is TR_NEVER, no lookup is ever done. This function itself fails with TR_NO_MEMORY.
 */
tr_status tr__virtual_names_delay(struct virtual_net *net, const char *name, tr_time delay_ns);
/** Removes all names. */
void tr__virtual_names_clear(struct virtual_net *net);
/** Reads a numeric address without a port: "127.0.0.1" or "::1". */
bool tr__virtual_read_host(const char *name, tr_address *address);
/** The function resolve of the platform. */
tr_status tr__virtual_resolve(const tr_platform *platform, const char *name, uint16_t port,
                              tr_address *addresses, size_t max, size_t *count);

#endif
