/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Finds to whom machine code belongs: to the runtime, to the C library and similar libraries, or to
 * the application.
 *
 * Code that traps faults must know whether the frames that it drops could hold a lock or have
 * changed something halfway. The runtime can be linked as a shared library, or as an archive
 * without link-time optimisation, whose code is in its own section. With both, the runtime's code
 * is one range of addresses. Link-time optimisation mixes the runtime's code with the
 * application's.
 */
#ifndef OS_TEXT_H
#define OS_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <troupe/status.h>

enum text_owner {
    TEXT_APPLICATION, /* all other code */
    TEXT_RUNTIME,
    TEXT_SYSTEM /* the C library, the loader, the allocator and the like, all of which have locks */
};

/**
 * Reads where all loaded objects are. Objects that are loaded later count as the application's.
 * TR_NOT_SUPPORTED: the code of the runtime or of the C library cannot be distinguished from the
 * application's. One thread at a time.
 */
TR_MUST_CHECK tr_status tr__text_map(void);

/**
 * Returns the owner of the code at an address. After tr__text_map. Any thread, also in a signal
 * handler.
 */
enum text_owner tr__text_owner(uintptr_t address);

/**
 * Whether this address is the start of a function of the C library that holds no lock and changes
 * only the memory that it was given, such as memcpy. After tr__text_map. Any thread, also in a
 * signal handler.
 */
bool tr__text_is_leaf(uintptr_t function);

/**
 * Returns the name of the object that contains an address, and its beginning in *base; NULL if
 * unknown. After tr__text_map. Any thread, also in a signal handler.
 */
const char *tr__text_object(uintptr_t address, uintptr_t *base);

#endif
