/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which machine code belongs to whom: the runtime, the C library and its kin, or the application.
 *
 * Whoever traps faults must know whether the code that was left could hold a lock or have half changed
 * something. The runtime's code is a range of addresses in two of the ways to link it: as a shared
 * library, and as the archive without link-time optimisation, whose code is in a section of its own
 *. Link-time optimisation mixes it with the application's.
 */
#ifndef OS_TEXT_H
#define OS_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <troupe/status.h>

enum text_owner {
    TEXT_APPLICATION, /* everything that is none of the others */
    TEXT_RUNTIME,
    TEXT_SYSTEM /* the C library, the loader, the allocator and such: they have locks */
};

/**
 * Looks where everything is. Objects that are loaded later are the application's. TR_NOT_SUPPORTED:
 * the runtime, or the C library, cannot be told from the application. One thread at a time.
 */
TR_MUST_CHECK tr_status tr__text_map(void);

/** Whose code this is. After tr__text_map; any thread, also in a signal handler. */
enum text_owner tr__text_owner(uintptr_t address);

/**
 * Whether this is the first address of a function of the C library that holds no lock and changes
 * nothing but the memory that it was given, such as memcpy. As above.
 */
bool tr__text_is_leaf(uintptr_t function);

/** The name of the object with this address, its beginning in *base; NULL when unknown. As above. */
const char *tr__text_object(uintptr_t address, uintptr_t *base);

#endif
