/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Faults in a document, built from the inside out.
 *
 * The function that finds a fault sets it. Each caller on the way back puts its own step in front
 * of the path. So reading a correct document pays nothing for paths.
 *
 * Readers and writers take the current place in the document. They return the place after what they have read or
 * written, or NULL after a fault. So the place stays in a register from the first field to the last.
 */
#ifndef WIRE_FAULT_H
#define WIRE_FAULT_H

#include <troupe/wire.h>

/** Sets a fault with an empty path. */
__attribute__((__cold__, __format__(__printf__, 4, 5))) void tr__fault_set(tr_wire_error *error,
                                                                           tr_status status,
                                                                           size_t offset,
                                                                           const char *format, ...);
__attribute__((__cold__)) void tr__fault_in_field(tr_wire_error *error, const char *name);
__attribute__((__cold__)) void tr__fault_in_item(tr_wire_error *error, size_t index);

/** Sets a fault and gives NULL, for `return FAULT(error, status, offset, format, ...);`. */
#define FAULT(...) (tr__fault_set(__VA_ARGS__), NULL)
/** Adds to the path that the fault is inside the field of this name. Gives NULL. */
#define FAULT_IN_FIELD(error, name) (tr__fault_in_field(error, name), NULL)
/** Adds to the path that the fault is inside the item of this index. Gives NULL. */
#define FAULT_IN_ITEM(error, index) (tr__fault_in_item(error, index), NULL)

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
/*
 * Inlining of readers and writers. The loop over the fields of a message is fast if the common kinds, and only those,
 * are inlined into it. With a sanitizer forced inlining would only take long to compile.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INLINE inline
#else
#define INLINE inline __attribute__((__always_inline__))
#endif
#define NO_INLINE __attribute__((__noinline__))

#endif
