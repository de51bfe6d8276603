/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Faults in a document, built from the inside out.
 *
 * The function that finds a fault sets it with an empty path. Each caller on the way back puts its
 * own step in front of the path. So a document without a fault causes no work for paths.
 *
 * Readers and writers get the current place in the document as an argument. They return the place
 * behind the part that they have read or written, or NULL after a fault. So the compiler can keep
 * the place in a register.
 */
#ifndef WIRE_FAULT_H
#define WIRE_FAULT_H

#include <troupe/wire.h>

/** Sets a fault. Its path is empty at first. */
__attribute__((__cold__, __format__(__printf__, 4, 5))) void tr__fault_set(tr_wire_error *error,
                                                                           tr_status status,
                                                                           size_t offset,
                                                                           const char *format, ...);
__attribute__((__cold__)) void tr__fault_in_field(tr_wire_error *error, const char *name);
__attribute__((__cold__)) void tr__fault_in_item(tr_wire_error *error, size_t index);

/**
 * Sets a fault. The value of the macro is NULL, for `return FAULT(error, status, offset, format,
 * ...);`.
 */
#define FAULT(...) (tr__fault_set(__VA_ARGS__), NULL)
/** Puts the field of this name in front of the path. The value of the macro is NULL. */
#define FAULT_IN_FIELD(error, name) (tr__fault_in_field(error, name), NULL)
/** Puts the item with this index in front of the path. The value of the macro is NULL. */
#define FAULT_IN_ITEM(error, index) (tr__fault_in_item(error, index), NULL)

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
/* How readers and writers are inlined. The loop over the fields of a message is fast only if the
 * readers of common kinds are inlined into it and all other readers are not. With a sanitizer,
 * forced inlining has no benefit and makes compiling slow. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INLINE inline
#else
#define INLINE inline __attribute__((__always_inline__))
#endif
#define NO_INLINE __attribute__((__noinline__))

#endif
