/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Messages: C structs that know their own name and fields.
 *
 *     TR_MESSAGE(deposit, (u64, amount), (str, memo));
 *     TR_REQUEST(get_balance, balance);
 *
 * One declaration gives `struct deposit` and its descriptor, from which come the copy on sending,
 * the printed form and the identity of the type. It may stand in a header or in a source file, and
 * there is nothing else to define. A message type *is* its name and its fields: two files that
 * include the same header, or a plug-in that repeats the declaration, mean the same type; two files
 * with private messages of one name and other fields mean different types.
 *
 * Types of fields
 *     bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64     (also int32_t, double, ... by their C names)
 *     enum_of(color)  enum color, which must have 4 bytes
 *     str             const char *, ends with NUL; NULL is "absent"
 *     bytes           tr_bytes: a pointer and a size
 *     buffer          tr_buffer *: a counted block that is shared and not copied; NULL is "absent"
 *     ref             tr_ref                  ref_of(account)   account_ref
 *     message(m)      struct m inside this one
 *     array(t, n)     t[n]
 *     list(t)         struct { const t *items; size_t count; }
 *     optional(t)     struct { bool has; t value; }
 * where t is any of the types above array. A list of lists is a list of messages with a list. Lists
 * and optional values are given in braces, `.width = {true, 640}`; -Wall says where they lack.
 *
 * Who owns what: sending copies everything that a message points to, so that the sender's memory is
 * the sender's again when the verb returns; a buffer is retained instead. What a handler receives
 * is one block, borrowed until its turn ends; tr_strdup keeps a string longer. There is no field type
 * for a bare pointer: what one actor owns reaches no other by accident.
 *
 * A message is one block of at most TR_PAYLOAD_MAX bytes, buffers not counted, and holds messages
 * at most TR_DEPTH_MAX deep.
 */
#ifndef TROUPE_MESSAGE_H
#define TROUPE_MESSAGE_H

#include <troupe/limits.h>
#include <troupe/ref.h>

/** Bytes with their number. data may be NULL when size is 0. */
typedef struct tr_bytes {
    const void *data;
    size_t size;
} tr_bytes;

/** A counted block of bytes that messages share. It is filled before it is sent, then constant. */
typedef struct tr_buffer tr_buffer;

/** What one value of a field is. */
typedef enum tr_kind {
    TR_KIND_BOOL,
    TR_KIND_I8,
    TR_KIND_I16,
    TR_KIND_I32,
    TR_KIND_I64,
    TR_KIND_U8,
    TR_KIND_U16,
    TR_KIND_U32,
    TR_KIND_U64,
    TR_KIND_F32,
    TR_KIND_F64,
    TR_KIND_STR,
    TR_KIND_BYTES,
    TR_KIND_BUFFER,
    TR_KIND_REF,
    TR_KIND_MESSAGE
} tr_kind;

/** How many values a field has. */
typedef enum tr_shape { TR_SHAPE_ONE, TR_SHAPE_ARRAY, TR_SHAPE_LIST, TR_SHAPE_OPTIONAL } tr_shape;

/** One field of a message. The value of an optional one is its last item_size bytes. */
typedef struct tr_field {
    const char *name;
    const struct tr_type *message; /* of TR_KIND_MESSAGE, else NULL */
    uint32_t offset;
    uint32_t size;      /* of the member */
    uint32_t item_size; /* of one value */
    uint32_t count;     /* of an array, else 1 */
    uint8_t kind;       /* tr_kind */
    uint8_t shape;      /* tr_shape */
    uint8_t reserved[6];
} tr_field;

/** Bytes of a flat message that travels inside its envelope, without a block of memory of its own. */
#define TR_INLINE_MAX 24

/** The version of the constant tables, types and behaviors, that are compiled into programs. */
#define TR_ABI 1

/**
 * The descriptor of a message type. Two mean the same type when tr_type_is_equal says so; compare
 * addresses only as a short cut. Constant, as long as the program or plug-in that declared it.
 */
typedef struct tr_type {
    const char *name;
    const tr_field *fields;
    const struct tr_type *reply; /* of a request, else NULL */
    const char *file;
    uint32_t line;
    uint32_t size; /* of the struct */
    uint16_t field_count;
    uint16_t field_size; /* of a row of `fields` */
    uint16_t abi;        /* TR_ABI */
    bool is_flat;        /* holds no pointers: memcpy copies it */
    uint8_t inline_size; /* `size` if it is flat and at most TR_INLINE_MAX; 0: see those two */
    const void *reserved[2];
} tr_type;

/** Any message: its type and its struct, both borrowed. */
typedef struct tr_message {
    const tr_type *type;
    const void *data;
} tr_message;

/**
 * The struct of any message if it is of this type, else NULL: tr_message_as(message, deposit) is a
 * `const struct deposit *`, borrowed as the message is. Any thread.
 */
#define tr_message_as(message, m) ((const struct m *)tr_message_data_as(message, &tr_type_##m))

/** A request on its way, without the type of its reply. */
typedef struct tr_pending {
    uint64_t id;
} tr_pending;

/**
 * Declares a message: TR_MESSAGE(name, (type, field)...); with at most 63 fields, or none. A comma
 * may follow the last field.
 */
#define TR_MESSAGE(...) TR_MESSAGE_(__VA_ARGS__, )

/**
 * Declares a message that wants an answer: TR_REQUEST(name, reply, (type, field)...);
 *
 * `reply` is a message that was declared before; tr_done is the one that says nothing. Also gives
 * the types `name_ask`, a request on its way, and `name_answer`, how it ended (see tr_ask_then).
 */
#define TR_REQUEST(m, ...) TR_REQUEST_(m, __VA_ARGS__, )

/**
 * Makes a message of a struct that exists already: TR_DESCRIBE(point, x, y); for `struct point`.
 *
 * The compiler finds the types: numbers, bool, const char *, tr_bytes, tr_buffer *, tr_ref, and
 * arrays of those. Other members do not compile. A member that is left out is not sent: it arrives
 * as zero. C only.
 */
#define TR_DESCRIBE(m, ...) TR_DESCRIBE_(m, __VA_ARGS__, )

#include <troupe/detail/message.h>

/* ---- Messages that every program has. ---- */

/** The reply that says no more than "it is done". */
TR_MESSAGE(tr_done);

/** Nothing: the message of a set-up that takes none. */
TR_MESSAGE(tr_none);

TR_BEGIN_C
/**
 * Whether two descriptors mean the same message: equal names, and fields of equal names, types and
 * places. Either may be NULL. Any thread.
 */
bool tr_type_is_equal(const tr_type *a, const tr_type *b);

/** See tr_message_as. */
const void *tr_message_data_as(const tr_message *message, const tr_type *type);

/**
 * Writes a message as text, `deposit{amount=5, memo="rent"}`, into `buffer`, which always ends with
 * a NUL when size > 0. Returns the length of the whole text, as snprintf does: when that is not
 * less than size, the text was cut. message or type NULL gives "(null)". Any thread.
 */
size_t tr_type_print(const tr_type *type, const void *message, char *buffer, size_t size);

/**
 * A deep copy in one block, given to the caller, who frees it with tr_message_free. NULL when out
 * of memory, or when the message is malformed or above TR_PAYLOAD_MAX. Any thread.
 */
TR_MUST_CHECK void *tr_message_copy(const tr_type *type, const void *message);

/** Frees what tr_message_copy gave, and releases its buffers. NULL does nothing. Any thread. */
void tr_message_free(const tr_type *type, void *message);

/**
 * A buffer of `size` bytes, not initialised, given to the caller with a count of 1. NULL when out
 * of memory. In a handler tr_buffer_of_turn needs no release. Any thread.
 */
TR_MUST_CHECK tr_buffer *tr_buffer_new(size_t size);
/** Adds one to its count. NULL does nothing. Any thread. */
void tr_buffer_retain(tr_buffer *buffer);
/** Takes one from its count; the last one frees it. NULL does nothing. Any thread. */
void tr_buffer_release(tr_buffer *buffer);
/** Its bytes, borrowed, to be written before it is first sent only; NULL of NULL. Any thread. */
void *tr_buffer_data(tr_buffer *buffer);
/** Its number of bytes; 0 of NULL. Any thread. */
size_t tr_buffer_size(const tr_buffer *buffer);
TR_END_C

#endif
