/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Marks bytes of the runtime's pools as inaccessible for AddressSanitizer. Does nothing in other
 * builds.
 *
 * Memory is unpoisoned before it goes back to its source, which does not know about poisoning.
 */
#ifndef MEM_POISON_H
#define MEM_POISON_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define POISON_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISON_HAS_ASAN 1
#endif
#endif
#ifndef POISON_HAS_ASAN
#define POISON_HAS_ASAN 0
#endif

#if POISON_HAS_ASAN
#include <sanitizer/asan_interface.h>
/** Attribute of a function that may read poisoned bytes. */
#define POISON_IGNORED __attribute__((__no_sanitize_address__, __noinline__))
#else
#define POISON_IGNORED
#endif

/** Makes these bytes inaccessible. */
static inline void poison_set(const void *memory, size_t size)
{
#if POISON_HAS_ASAN
    __asan_poison_memory_region(memory, size);
#else
    (void)memory;
    (void)size;
#endif
}

/** Makes these bytes accessible again. */
static inline void poison_clear(const void *memory, size_t size)
{
#if POISON_HAS_ASAN
    __asan_unpoison_memory_region(memory, size);
#else
    (void)memory;
    (void)size;
#endif
}

/** Whether the byte is known to be poisoned. Always false in builds without AddressSanitizer. */
static inline bool poison_is_set(const void *memory)
{
#if POISON_HAS_ASAN
    return __asan_address_is_poisoned(memory) != 0;
#else
    (void)memory;
    return false;
#endif
}

#endif
