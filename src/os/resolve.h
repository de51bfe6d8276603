/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Names of the real platform: what the C library says. troupe/platform.h says what it promises.
 */
#ifndef OS_RESOLVE_H
#define OS_RESOLVE_H

#include <netdb.h>

#include <troupe/platform.h>

tr_status tr__real_resolve(const tr_platform *platform, const char *name, uint16_t port,
                           tr_address *addresses, size_t max, size_t *count);

/** The status of an error of getaddrinfo. `error` is errno, for EAI_SYSTEM. */
tr_status tr__resolve_status(int code, int error);

/** Writes the addresses of a list, each once, in its order, at most `max`. Returns how many. */
size_t tr__resolve_write(const struct addrinfo *found, uint16_t port, tr_address *addresses,
                         size_t max);

#endif
