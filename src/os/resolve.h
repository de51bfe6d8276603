/* SPDX-License-Identifier: Apache-2.0 */
/** Looks up host names for the real platform, by the C library. troupe/platform.h says what the function promises. */
#ifndef OS_RESOLVE_H
#define OS_RESOLVE_H

#include <netdb.h>

#include <troupe/platform.h>

tr_status tr__real_resolve(const tr_platform *platform, const char *name, uint16_t port,
                           tr_address *addresses, size_t max, size_t *count);

/**
 * Returns the status for an error code of getaddrinfo. `error` is the errno for the code
 * EAI_SYSTEM.
 */
tr_status tr__resolve_status(int code, int error);

/** Writes the addresses of a list without repetitions, in the order of the list, at most `max`. Returns how many. */
size_t tr__resolve_write(const struct addrinfo *found, uint16_t port, tr_address *addresses,
                         size_t max);

#endif
