/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes messages as MessagePack, each value in its shortest form.
 *
 * Rules:
 * 1. The place never passes `end`. If the longest head fits before `end`, a head is written at the
 *    place. Otherwise the head is written to `spare` first, and copied to the place if it fits.
 * 2. Bytes that do not fit are counted in `lost`, so that the total size is right.
 */
#include "wire/msgpack_write.h"

#include "wire/fault.h"
#include "wire/fill.h"
#include "wire/msgpack.h"
#include "wire/utf8.h"

#include "base/assert.h"

/* The size of the longest head, which is the head of a ref: one byte for the head, one for its
 * type, and the 64 bits of the ref. */
#define HEAD_MAX 10

struct writer {
    unsigned char *begin;
    unsigned char *end;
    size_t lost;
    size_t items_size; /* bytes of the items of all lists; at most TR_PAYLOAD_MAX */
    tr_wire_error *error;
    unsigned char spare[HEAD_MAX];
};

static size_t pack_written(const struct writer *w, const unsigned char *at)
{
    return (size_t)(at - w->begin) + w->lost;
}

static inline unsigned char *head_begin(struct writer *w, unsigned char *at)
{
    return LIKELY(w->end - at >= HEAD_MAX) ? at : w->spare;
}

static inline unsigned char *put_raw(struct writer *w, unsigned char *at, const void *data,
                                     size_t size)
{
    if (UNLIKELY(size > (size_t)(w->end - at))) {
        w->lost += size;
        return at;
    }
    copy_short(at, data, size);
    return at + size;
}

static inline unsigned char *head_end(struct writer *w, unsigned char *at,
                                      const unsigned char *head, size_t size)
{
    return LIKELY(head != w->spare) ? at + size : put_raw(w, at, head, size);
}

static inline unsigned char *put_byte(struct writer *w, unsigned char *at, unsigned char byte)
{
    return put_raw(w, at, &byte, 1);
}

/* Writes a head with a number of 1, 2, 4 or 8 bytes. `first` is the tag of the form whose number
 * has one byte. */
static inline size_t head_wide(unsigned char *head, unsigned first, uint64_t value)
{
    if (value <= UINT8_MAX) {
        head[0] = (unsigned char)first;
        head[1] = (unsigned char)value;
        return 2;
    }
    if (value <= UINT16_MAX) {
        head[0] = (unsigned char)(first + 1);
        store16(head + 1, value);
        return 3;
    }
    if (value <= UINT32_MAX) {
        head[0] = (unsigned char)(first + 2);
        store32(head + 1, value);
        return 5;
    }
    head[0] = (unsigned char)(first + 3);
    store64(head + 1, value);
    return 9;
}

static inline unsigned char *put_unsigned(struct writer *w, unsigned char *at, uint64_t value)
{
    if (value <= PACK_FIX_INT_MAX)
        return put_byte(w, at, (unsigned char)value);
    unsigned char *head = head_begin(w, at);
    return head_end(w, at, head, head_wide(head, PACK_U8, value));
}

static inline unsigned char *put_signed(struct writer *w, unsigned char *at, int64_t value)
{
    if (value >= 0)
        return put_unsigned(w, at, (uint64_t)value);
    unsigned char *head = head_begin(w, at);
    size_t size = 1;
    if (value < INT32_MIN) {
        head[0] = PACK_I64;
        store64(head + 1, (uint64_t)value);
        size = 9;
    } else if (value < INT16_MIN) {
        head[0] = PACK_I8 + 2;
        store32(head + 1, (uint64_t)value);
        size = 5;
    } else if (value < INT8_MIN) {
        head[0] = PACK_I8 + 1;
        store16(head + 1, (uint64_t)value);
        size = 3;
    } else if (value < -32) {
        head[0] = PACK_I8;
        head[1] = (unsigned char)value;
        size = 2;
    } else {
        head[0] = (unsigned char)value;
    }
    return head_end(w, at, head, size);
}

static inline unsigned char *put_array_head(struct writer *w, unsigned char *at, size_t count)
{
    if (count < 16)
        return put_byte(w, at, (unsigned char)(PACK_FIX_ARRAY | count));
    unsigned char *head = head_begin(w, at);
    bool is_short = count <= UINT16_MAX;
    head[0] = is_short ? PACK_ARRAY16 : PACK_ARRAY32;
    if (is_short)
        store16(head + 1, count);
    else
        store32(head + 1, count);
    return head_end(w, at, head, is_short ? 3 : 5);
}

static inline unsigned char *put_text(struct writer *w, unsigned char *at, const char *text)
{
    if (text == NULL)
        return put_byte(w, at, PACK_NIL);
    size_t size = strnlen(text, TR_PAYLOAD_MAX);
    if (UNLIKELY(size >= TR_PAYLOAD_MAX))
        return FAULT(w->error, TR_TOO_LARGE, pack_written(w, at), "a str is too long");
    size_t good = utf8_span((const unsigned char *)text, size);
    if (UNLIKELY(good != size))
        return FAULT(
            w->error, TR_BAD_DATA, pack_written(w, at), "byte %zu of a str is not UTF-8", good);
    if (size < 32) {
        at = put_byte(w, at, (unsigned char)(PACK_FIX_STR | size));
    } else {
        unsigned char *head = head_begin(w, at);
        at = head_end(w, at, head, head_wide(head, PACK_STR8, size));
    }
    return put_raw(w, at, text, size);
}

static inline unsigned char *put_bytes(struct writer *w, unsigned char *at, const void *data,
                                       size_t size)
{
    if (UNLIKELY(size > TR_PAYLOAD_MAX))
        return FAULT(w->error, TR_TOO_LARGE, pack_written(w, at), "a bytes value is too long");
    if (UNLIKELY(size > 0 && data == NULL))
        return FAULT(w->error,
                     TR_BAD_DATA,
                     pack_written(w, at),
                     "a bytes value has size %zu but a NULL pointer",
                     size);
    unsigned char *head = head_begin(w, at);
    at = head_end(w, at, head, head_wide(head, PACK_BIN8, size));
    return put_raw(w, at, data, size);
}

static inline unsigned char *put_ref(struct writer *w, unsigned char *at, uint64_t bits)
{
    if (bits == 0)
        return put_byte(w, at, PACK_NIL);
    unsigned char *head = head_begin(w, at);
    head[0] = PACK_FIX_EXT8;
    head[1] = TR_WIRE_REF;
    store64(head + 2, bits);
    return head_end(w, at, head, 10);
}

static inline unsigned char *put_f32(struct writer *w, unsigned char *at, uint32_t bits)
{
    unsigned char *head = head_begin(w, at);
    head[0] = PACK_F32;
    store32(head + 1, bits);
    return head_end(w, at, head, 5);
}

static inline unsigned char *put_f64(struct writer *w, unsigned char *at, uint64_t bits)
{
    unsigned char *head = head_begin(w, at);
    head[0] = PACK_F64;
    store64(head + 1, bits);
    return head_end(w, at, head, 9);
}

static unsigned char *put_message(struct writer *w, unsigned char *at, const tr_type *type,
                                  const char *message, unsigned depth);

/* The value of this type at the address `value`, which need not be aligned. */
#define VALUE(type) (*(type *)memcpy(&(type){0}, value, sizeof(type)))

static NO_INLINE unsigned char *put_field(struct writer *w, unsigned char *at,
                                          const tr_field *field, const char *message,
                                          unsigned depth);

/* Writes a field of this form, which is at `value`: a single value, an optional value, an array or
 * a list. */
static INLINE unsigned char *put_form(struct writer *w, unsigned char *at, const tr_field *field,
                                      unsigned form, const char *value, unsigned depth)
{
    switch (form) {
    case TR_KIND_BOOL:
        return put_byte(w, at, VALUE(unsigned char) ? PACK_TRUE : PACK_FALSE);
    case TR_KIND_I8:
        return put_signed(w, at, VALUE(int8_t));
    case TR_KIND_I16:
        return put_signed(w, at, VALUE(int16_t));
    case TR_KIND_I32:
        return put_signed(w, at, VALUE(int32_t));
    case TR_KIND_I64:
        return put_signed(w, at, VALUE(int64_t));
    case TR_KIND_U8:
        return put_unsigned(w, at, VALUE(uint8_t));
    case TR_KIND_U16:
        return put_unsigned(w, at, VALUE(uint16_t));
    case TR_KIND_U32:
        return put_unsigned(w, at, VALUE(uint32_t));
    case TR_KIND_U64:
        return put_unsigned(w, at, VALUE(uint64_t));
    case TR_KIND_F32:
        return put_f32(w, at, VALUE(uint32_t));
    case TR_KIND_F64:
        return put_f64(w, at, VALUE(uint64_t));
    case TR_KIND_STR:
        return put_text(w, at, VALUE(const char *));
    case TR_KIND_BYTES:
        return put_bytes(w, at, VALUE(tr_bytes).data, VALUE(tr_bytes).size);
    case TR_KIND_BUFFER: {
        tr_buffer *buffer = VALUE(tr_buffer *);
        return buffer == NULL ? put_byte(w, at, PACK_NIL)
                              : put_bytes(w, at, tr_buffer_data(buffer), tr_buffer_size(buffer));
    }
    case TR_KIND_REF:
        return put_ref(w, at, VALUE(uint64_t));
    case TR_KIND_MESSAGE:
        return put_message(w, at, field->message, value, depth + 1);
    default:
        return put_field(w, at, field, value - field->offset, depth);
    }
}

static NO_INLINE unsigned char *put_value(struct writer *w, unsigned char *at,
                                          const tr_field *field, const char *value, unsigned depth)
{
    return put_form(w, at, field, FORM(TR_SHAPE_ONE, field->kind), value, depth);
}

/* Writes arrays and lists. */
static NO_INLINE unsigned char *put_values(struct writer *w, unsigned char *at,
                                           const tr_field *field, struct field_values values,
                                           unsigned depth)
{
    if (values.items == NULL && values.count > 0)
        return FAULT(w->error,
                     TR_BAD_DATA,
                     pack_written(w, at),
                     "a list has %zu items but a NULL pointer",
                     values.count);
    if (field->shape == TR_SHAPE_LIST) {
        if (values.count > (TR_PAYLOAD_MAX - w->items_size) / field->item_size)
            return FAULT(w->error, TR_TOO_LARGE, pack_written(w, at), "a list is too long");
        w->items_size += values.count * field->item_size;
    }
    at = put_array_head(w, at, values.count);
    for (size_t i = 0; i < values.count; i++) {
        at = put_value(w, at, field, values.items + i * field->item_size, depth);
        if (UNLIKELY(at == NULL))
            return FAULT_IN_ITEM(w->error, i);
    }
    return at;
}

static unsigned char *put_field(struct writer *w, unsigned char *at, const tr_field *field,
                                const char *message, unsigned depth)
{
    struct field_values values = tr__field_values(field, message);
    if (field->shape != TR_SHAPE_OPTIONAL)
        return put_values(w, at, field, values, depth);
    if (values.count == 0)
        return put_byte(w, at, PACK_NIL);
    if (value_is_nil(field, values.items))
        at = put_array_head(w, at, 1);
    return put_value(w, at, field, values.items, depth);
}

/*
 * Writes the fields of a message. The head of the array announces `more` further fields, which the
 * caller must write after them.
 */
static INLINE unsigned char *put_fields(struct writer *w, unsigned char *at, const tr_type *type,
                                        const char *message, size_t more, unsigned depth)
{
    /* Read these members only once. Otherwise the compiler would load them again after each write
     * below, because for the compiler any write may change them. */
    size_t count = type->field_count;
    size_t field_size = type->field_size;
    const tr_field *field = type->fields;
    at = put_array_head(w, at, count + more);
    for (; count > 0; count--) {
        unsigned form = FORM(field->shape, field->kind);
        at = put_form(w, at, field, form, message + field->offset, depth);
        if (UNLIKELY(at == NULL))
            return FAULT_IN_FIELD(w->error, field->name);
        field = tr__field_next(field, field_size);
    }
    return at;
}

static unsigned char *put_message(struct writer *w, unsigned char *at, const tr_type *type,
                                  const char *message, unsigned depth)
{
    if (depth > TR_DEPTH_MAX)
        return FAULT(w->error, TR_TOO_DEEP, pack_written(w, at), "messages are nested too deep");
    return put_fields(w, at, type, message, 0, depth);
}

static NO_INLINE unsigned char *put_with_tail(struct writer *w, unsigned char *at,
                                              const tr_type *type, const char *message,
                                              const struct tail *tail)
{
    at = put_fields(w, at, type, message, tail->count, 0);
    return at == NULL ? NULL : put_raw(w, at, tail->bytes.data, tail->bytes.size);
}

/* Whether a reader could hold the message in TR_PAYLOAD_MAX bytes. Texts and bytes have the same
 * size in the document as in the message. So only lists can make the message much larger than the
 * document. If the lists are large, measures the message. */
static bool is_small(const struct writer *w, size_t size, const tr_type *type, const void *message)
{
    if (size > TR_PAYLOAD_MAX)
        return false;
    return type->size + w->items_size + COPY_ALIGNMENT * size <= TR_PAYLOAD_MAX ||
           tr__copy_size(type, message) != SIZE_MAX;
}

size_t tr_pack(const tr_type *type, const void *message, void *buffer, size_t size,
               tr_wire_error *error)
{
    return tr__pack_tail(type, message, NULL, buffer, size, error);
}

size_t tr__pack_tail(const tr_type *type, const void *message, const struct tail *tail,
                     void *buffer, size_t size, tr_wire_error *error)
{
    tr_wire_error unasked;
    struct writer w;
    w.error = error == NULL ? &unasked : error;
    if (type == NULL || message == NULL || type->abi != TR_ABI || (buffer == NULL && size > 0)) {
        tr__fault_set(
            w.error, TR_INVALID_ARGUMENT, 0, "invalid argument: NULL, or an unknown descriptor");
        return 0;
    }
    TR_ASSERT_SLOW(tr__type_is_valid(type, NULL));
    /* Without a buffer, each value is written to w.spare and then only counted in w.lost. `begin`
     * must not be NULL, because a NULL place means a fault. */
    w.begin = buffer == NULL ? w.spare : buffer;
    w.end = w.begin + (size < TR_PAYLOAD_MAX ? size : TR_PAYLOAD_MAX);
    w.lost = 0;
    w.items_size = 0;
    const unsigned char *at = LIKELY(tail == NULL || tail->count == 0)
                                  ? put_message(&w, w.begin, type, message, 0)
                                  : put_with_tail(&w, w.begin, type, message, tail);
    if (at == NULL)
        return 0;
    size_t needed = pack_written(&w, at);
    if (is_small(&w, needed, type, message))
        return needed;
    tr__fault_set(w.error, TR_TOO_LARGE, needed, "the message is too large");
    return 0;
}
