/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Messages: C structs that know their own name and fields.
 *
 * ```c
 * #include <stdio.h>
 * #include <troupe/message.h>
 *
 * TR_MESSAGE(item, (str, name), (u32, count));
 * TR_MESSAGE(order, (u64, number), (list(message(item)), items));
 *
 * int main(void)
 * {
 *     struct item items[] = {{"tea", 2}, {"salt", 1}};
 *     struct order order = {7, {items, 2}};
 *     char text[100];
 *     tr_type_print(&tr_type_order, &order, text, sizeof text);
 *     puts(text);
 *     void *copy = tr_message_copy(&tr_type_order, &order);
 *     tr_message_free(&tr_type_order, copy);
 *     return copy ? 0 : 1;
 * }
 * ```
 *
 * One declaration gives `struct order` and its descriptor, tr_type_order. The descriptor says how a
 * message is copied when it is sent, how it is printed, and which messages have the same type. The
 * declaration may stand in a header or in a source file; nothing else has to be defined. Two
 * declarations with the same name and the same fields are the same type, also in two files or in a
 * plug-in. Two declarations with the same name and different fields are different types.
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
 * where t is any of the types in the lines before array. For a list of lists, declare a message
 * that has a list, and use a list of that message. Write the value of a list or of an optional
 * field in braces, `.width = {true, 640}`; with -Wall the compiler warns if the braces are missing.
 *
 * Ownership. Sending copies all that a message points to, except buffers, which are retained. When
 * the call that sends returns, the sender may reuse its memory. A handler gets the message as one
 * block, borrowed until its turn ends; to keep a string for longer, copy it with tr_strdup. There
 * is no field type for a bare pointer, so that no actor gets memory of another actor by accident.
 *
 * A message has at most TR_PAYLOAD_MAX bytes, without its buffers, and contains messages at most
 * TR_DEPTH_MAX deep.
 */
#ifndef TROUPE_MESSAGE_H
#define TROUPE_MESSAGE_H

#include <troupe/limits.h>
#include <troupe/ref.h>

/** A pointer to bytes, and their number. `data` may be NULL if `size` is 0. */
typedef struct tr_bytes {
    const void *data;
    size_t size;
} tr_bytes;

/**
 * A block of bytes that messages share, with a count of its users. Write to the block only before
 * it is first sent.
 */
typedef struct tr_buffer tr_buffer;

/** The type of a field, or of one value of it if it is an array, a list or optional. */
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

/** One field of a message. In an optional field, the last item_size bytes are the value. */
typedef struct tr_field {
    const char *name;
    /* the type, if the field is a nested message (TR_KIND_MESSAGE); else NULL */
    const struct tr_type *message;
    uint32_t offset;
    uint32_t size;      /* size of the member */
    uint32_t item_size; /* size of one value */
    uint32_t count;     /* number of values of an array, else 1 */
    uint8_t kind;       /* tr_kind */
    uint8_t shape;      /* tr_shape */
    uint8_t reserved[6];
} tr_field;

/**
 * A flat message of at most this many bytes travels inside its envelope, without memory of its own.
 */
#define TR_INLINE_MAX 24

/** The version of the constant tables (types, behaviors) that are compiled into programs. */
#define TR_ABI 1

/** The names of the secret fields of a message. Elements that are not used are NULL. */
typedef struct tr_secrets {
    const char *fields[TR_SECRETS_MAX];
} tr_secrets;

/**
 * The descriptor of a message type. One type may have several descriptors with different addresses,
 * so compare types with tr_type_is_equal. A descriptor is constant, and lives as long as the
 * program or plug-in that declared it.
 */
typedef struct tr_type {
    const char *name;
    const tr_field *fields;
    /* type of the reply to a request; NULL: the message is no request */
    const struct tr_type *reply;
    const char *file;
    uint32_t line;
    uint32_t size; /* size of the struct */
    uint16_t field_count;
    uint16_t field_size; /* size of an element of `fields` */
    uint16_t abi;        /* TR_ABI */
    bool is_flat;        /* contains no pointers: memcpy copies it */
    /* equals `size` for a flat message of at most TR_INLINE_MAX bytes; else 0 */
    uint8_t inline_size;
    /* the fields that TR_SECRET names; NULL: no field is secret */
    const struct tr_secrets *secrets;
    const void *reserved;
} tr_type;

/** A message of any type: its descriptor and its struct, both borrowed. */
typedef struct tr_message {
    const tr_type *type;
    const void *data;
} tr_message;

/**
 * Returns the struct of a message if it is of this type, else NULL: tr_message_as(message, deposit)
 * is a `const struct deposit *`, borrowed as the message is.
 * Any thread. Does not wait.
 */
#define tr_message_as(message, m) ((const struct m *)tr_message_data_as(message, &tr_type_##m))

/** An ask of any type; see tr_ask. The compiler does not know the type of its reply. */
typedef struct tr_pending {
    uint64_t id;
} tr_pending;

/**
 * Declares a message: TR_MESSAGE(name, (type, field)...); with 0 to 63 fields. A comma may follow
 * the last field.
 * At file scope.
 */
#define TR_MESSAGE(...) TR_MESSAGE_(__VA_ARGS__, )

/**
 * Declares a message that is answered: TR_REQUEST(name, reply, (type, field)...);
 * At file scope.
 *
 * `reply` is a message that was declared before, such as tr_done, which has no content. TR_REQUEST
 * also declares two types: `name_ask` is what tr_ask returns, and `name_answer` says how the
 * request ended (see tr_ask_then).
 */
#define TR_REQUEST(m, ...) TR_REQUEST_(m, __VA_ARGS__, )

/**
 * Makes a message type of a struct that is already defined: TR_DESCRIBE(point, x, y); for `struct
 * point`.
 * At file scope.
 *
 * The compiler finds the types of the members: numbers, bool, const char *, tr_bytes, tr_buffer *,
 * tr_ref, and arrays of these types. Other members do not compile. A member that is not listed is
 * not sent: it arrives as zero. For C only, not for C++.
 */
#define TR_DESCRIBE(m, ...) TR_DESCRIBE_(m, __VA_ARGS__, )

/**
 * Makes fields of a message secret, at most TR_SECRETS_MAX: TR_SECRET(card, number, code). Write it
 * behind the declaration of `card`, in the same header.
 * At file scope.
 *
 * A secret value is not shown to people: tr_type_print writes "..." in its place, and so do the
 * tools that look into a running program, dead letters included (observe.h). A secret value is
 * sent, stored and written by tr_pack and tr_json_write as any other value is. A name that is no
 * field of the message does not compile.
 */
#define TR_SECRET(m, ...) TR_SECRET_(m, __VA_ARGS__, )

#include <troupe/detail/message.h>

/* ---- Messages that every program has. ---- */

/** A message without content, such as a reply that says only that the request was handled. */
TR_MESSAGE(tr_done);

/** A message without content. A set-up that takes no message has this type. */
TR_MESSAGE(tr_none);

TR_BEGIN_C
/**
 * Returns whether two descriptors mean the same type. They do if their names are equal, and if
 * their fields have equal names, types and offsets. `a` and `b` may be NULL.
 * Any thread. Does not wait.
 */
bool tr_type_is_equal(const tr_type *a, const tr_type *b);

/** The function of tr_message_as, with the descriptor of the type. Any thread. Does not wait. */
const void *tr_message_data_as(const tr_message *message, const tr_type *type);

/**
 * Writes a message as text, `deposit{amount=5, memo="rent"}`, into `buffer`, which ends with a NUL
 * if size > 0.
 * Any thread. Does not wait.
 *
 * Returns the length of the whole text, as snprintf does. If the length is not less than `size`,
 * the text was cut. If `message` or `type` is NULL, the text is "(null)".
 */
size_t tr_type_print(const tr_type *type, const void *message, char *buffer, size_t size);

/**
 * Returns a deep copy in one block, given to the caller; free it with tr_message_free.
 * Any thread. Does not wait.
 *
 * Returns NULL if there is no memory, or if the message is malformed or larger than TR_PAYLOAD_MAX.
 */
TR_MUST_CHECK void *tr_message_copy(const tr_type *type, const void *message);

/**
 * Frees a message that tr_message_copy or tr_unpack has given, and releases its buffers. NULL does
 * nothing.
 * Any thread. Does not wait.
 */
void tr_message_free(const tr_type *type, void *message);

/**
 * Returns a buffer of `size` bytes, which are not initialised. The buffer is given to the caller
 * with a count of 1. Returns NULL if there is no memory. In a turn, tr_buffer_of_turn returns a
 * buffer that need not be released.
 * Any thread. Does not wait.
 */
TR_MUST_CHECK tr_buffer *tr_buffer_new(size_t size);
/** Adds one to the count of a buffer. NULL does nothing. Any thread. Does not wait. */
void tr_buffer_retain(tr_buffer *buffer);
/**
 * Subtracts one from the count of a buffer, and frees it at 0. NULL does nothing.
 * Any thread. Does not wait.
 */
void tr_buffer_release(tr_buffer *buffer);
/**
 * Returns the bytes of a buffer, borrowed, or NULL for NULL. Write to the bytes only before the
 * buffer is first sent.
 * Any thread. Does not wait.
 */
void *tr_buffer_data(tr_buffer *buffer);
/** Returns the number of bytes of a buffer; 0 for NULL. Any thread. Does not wait. */
size_t tr_buffer_size(const tr_buffer *buffer);
TR_END_C

#endif
