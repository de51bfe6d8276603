/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads MessagePack into messages.
 *
 * Rule: the message in the block is valid at any time, because members that were not read yet are
 * zero. So after a fault, a walk over the message finds and frees the buffers that were made before
 * the fault.
 */
#include "wire/msgpack_read.h"

#include "wire/msgpack_input.h"
#include "wire/utf8.h"

#include <math.h>

#define TOO_LARGE(in, at)                                                                          \
    FAULT((in)->error, TR_TOO_LARGE, offset_of(in, at), "the message is too large")

/* Reads an integer whose form has a sign. Such forms are less common than those without. */
static NO_INLINE pack_place read_signed(struct pack_input *in, pack_place at, unsigned tag,
                                        uint64_t *bits, bool *is_negative)
{
    *is_negative = true;
    if (tag >= PACK_NEGATIVE_FIX_INT) {
        *bits = (uint64_t)(int64_t)(int8_t)tag;
        return at;
    }
    if (tag < PACK_I8 || tag > PACK_I64)
        return WRONG_TYPE(in, at - 1, "an integer");
    unsigned width = tag - PACK_I8;
    at = tr__pack_read_wide(in, at, width, bits);
    if (at == NULL)
        return NULL;
    unsigned unused = 64 - (8u << width);
    *bits = (uint64_t)((int64_t)(*bits << unused) >> unused);
    *is_negative = (int64_t)*bits < 0;
    return at;
}

/* Reads an integer of any form. Sets *bits to its two's complement. `at` is the place after the
 * tag. */
static INLINE pack_place read_integer(struct pack_input *in, pack_place at, unsigned tag,
                                      uint64_t *bits, bool *is_negative)
{
    *is_negative = false;
    if (tag <= PACK_FIX_INT_MAX) {
        *bits = tag;
        return at;
    }
    if (LIKELY(tag >= PACK_U8 && tag <= PACK_U64))
        return read_wide(in, at, tag - PACK_U8, bits);
    /* Pass a separate variable. If the address of `bits` were passed, the compiler could not keep
     * `bits` in a register. */
    uint64_t signed_bits = 0;
    bool has_sign = false;
    at = read_signed(in, at, tag, &signed_bits, &has_sign);
    *bits = signed_bits;
    *is_negative = has_sign;
    return at;
}

/* Reads an integer into a field. Each caller passes a constant `kind`, so the compiler makes
 * special code for each kind. */
static INLINE pack_place read_integer_field(struct pack_input *in, pack_place at, tr_kind kind,
                                            unsigned tag, char *to)
{
    uint64_t bits = 0;
    bool is_negative;
    pack_place next = read_integer(in, at, tag, &bits, &is_negative);
    if (UNLIKELY(next == NULL))
        return NULL;
    if (UNLIKELY(!integer_fits(kind, bits, is_negative)))
        return FAULT(in->error,
                     TR_BAD_DATA,
                     offset_of(in, at) - 1,
                     "the integer does not fit into its field");
    bool is_signed = kind <= TR_KIND_I64;
    integer_store(to, (size_t)1 << (kind - (is_signed ? TR_KIND_I8 : TR_KIND_U8)), bits);
    return next;
}

static void store_float(char *to, tr_kind kind, double value)
{
    float narrow = (float)value;
    if (to != NULL && kind == TR_KIND_F32)
        memcpy(to, &narrow, sizeof(narrow));
    else if (to != NULL)
        memcpy(to, &value, sizeof(value));
}

/* Reads a float whose width is not that of the field, or an integer that the field represents
 * exactly. */
static NO_INLINE pack_place read_float_of_another_form(struct pack_input *in, pack_place at,
                                                       tr_kind kind, unsigned tag, char *to)
{
    size_t offset = offset_of(in, at) - 1;
    uint64_t bits = 0;
    bool is_negative = false;
    if (tag == PACK_F32 || tag == PACK_F64) {
        double value;
        float narrow;
        at = tr__pack_read_wide(in, at, tag == PACK_F32 ? 2 : 3, &bits);
        if (at == NULL)
            return NULL;
        memcpy(&narrow, &(uint32_t){(uint32_t)bits}, sizeof(narrow));
        memcpy(&value, &bits, sizeof(value));
        if (tag == PACK_F32)
            value = (double)narrow;
        else if (isinf((float)value) && !isinf(value))
            return FAULT(in->error, TR_BAD_DATA, offset, "the number is too large for its field");
        store_float(to, kind, value);
        return at;
    }
    if (tag > PACK_FIX_INT_MAX && tag < PACK_NEGATIVE_FIX_INT && (tag < PACK_U8 || tag > PACK_I64))
        return WRONG_TYPE(in, at - 1, "a number");
    int64_t exact_max = kind == TR_KIND_F32 ? 1 << 24 : INT64_C(1) << 53;
    at = read_integer(in, at, tag, &bits, &is_negative);
    if (at == NULL)
        return NULL;
    if ((!is_negative && bits > (uint64_t)exact_max) || (int64_t)bits < -exact_max)
        return FAULT(in->error,
                     TR_BAD_DATA,
                     offset,
                     "the integer cannot be stored exactly in its float field");
    store_float(to, kind, (double)(int64_t)bits);
    return at;
}

static INLINE pack_place read_float(struct pack_input *in, pack_place at, tr_kind kind,
                                    unsigned tag, char *to)
{
    uint64_t bits = 0;
    bool is_wide = kind == TR_KIND_F64;
    if (UNLIKELY(tag != (is_wide ? PACK_F64 : PACK_F32)))
        return read_float_of_another_form(in, at, kind, tag, to);
    at = read_wide(in, at, is_wide ? 3 : 2, &bits);
    if (UNLIKELY(at == NULL))
        return NULL;
    /* If the float has the width of the field, keep every bit, even the bits of a NaN. */
    integer_store(to, is_wide ? sizeof(double) : sizeof(float), bits);
    return at;
}

/* Returns a text that stays in the document, with a NUL behind it. Changes the document. If the
 * text is the last value in the document, there is no byte for the NUL behind it. Then the function
 * moves the text one byte to the front, over its head, which has at least one byte. */
static inline const char *text_in_place(struct pack_input *in, pack_place span, size_t size)
{
    unsigned char *text = (unsigned char *)(uintptr_t)span;
    if (LIKELY(span + size != in->end)) {
        in->text_end = text + size;
        return (const char *)text;
    }
    unsigned char *moved = memmove(text - 1, text, size);
    moved[size] = '\0';
    return (const char *)moved;
}

static INLINE pack_place read_text(struct pack_input *in, pack_place at, unsigned tag, char *to)
{
    uint64_t size = tag & 0x1f;
    if (UNLIKELY((tag & 0xe0) != PACK_FIX_STR)) {
        if (tag == PACK_NIL)
            return at; /* The member is already NULL, because the struct was set to zero. */
        if (tag < PACK_STR8 || tag > PACK_STR32)
            return WRONG_TYPE(in, at - 1, "a str");
        at = read_wide(in, at, tag - PACK_STR8, &size);
        if (at == NULL)
            return NULL;
    }
    pack_place next = read_span(in, at, size);
    if (UNLIKELY(next == NULL))
        return NULL;
    size_t good = utf8_span(at, (size_t)size);
    if (UNLIKELY(good != size))
        return FAULT(in->error,
                     TR_BAD_DATA,
                     offset_of(in, at) + good,
                     at[good] == '\0' ? "a str contains a NUL" : "a str is not UTF-8");
    const char *text;
    if (in->is_in_place) {
        text = text_in_place(in, at, (size_t)size);
    } else {
        char *copy;
        if (!fill_take(in->fill, (size_t)size + 1, 1, &copy))
            return TOO_LARGE(in, at);
        if (copy == NULL)
            return next;
        copy_short(copy, at, (size_t)size);
        copy[size] = '\0';
        text = copy;
    }
    if (to != NULL)
        memcpy(to, &text, sizeof(text));
    return next;
}

/* Reads the head of bytes (bin), and sets *size. Returns the place where the bytes begin. */
static INLINE pack_place read_bin(struct pack_input *in, pack_place at, unsigned tag, size_t *size)
{
    uint64_t announced = 0;
    if (UNLIKELY(tag < PACK_BIN8 || tag > PACK_BIN8 + 2))
        return WRONG_TYPE(in, at - 1, "bin");
    at = read_wide(in, at, tag - PACK_BIN8, &announced);
    if (UNLIKELY(at == NULL))
        return NULL;
    if (UNLIKELY(announced > left_of(in, at)))
        return ANNOUNCED(in, at, announced, "bytes");
    *size = (size_t)announced;
    return at;
}

static INLINE pack_place read_bytes(struct pack_input *in, pack_place at, unsigned tag, char *to)
{
    tr_bytes bytes = {NULL, 0};
    pack_place span = read_bin(in, at, tag, &bytes.size);
    if (UNLIKELY(span == NULL))
        return NULL;
    if (bytes.size == 0)
        return span;
    bytes.data = span;
    if (!in->is_in_place) {
        char *copy;
        if (!fill_align(in->fill) || !fill_take(in->fill, bytes.size, 1, &copy))
            return TOO_LARGE(in, span);
        if (copy == NULL)
            return span + bytes.size;
        copy_short(copy, span, bytes.size);
        bytes.data = copy;
    }
    if (to != NULL)
        memcpy(to, &bytes, sizeof(bytes));
    return span + bytes.size;
}

static NO_INLINE pack_place read_buffer(struct pack_input *in, pack_place at, unsigned tag,
                                        char *to)
{
    size_t size = 0;
    if (tag == PACK_NIL)
        return at;
    pack_place span = read_bin(in, at, tag, &size);
    if (span == NULL)
        return NULL;
    if (to == NULL)
        return span + size;
    tr_buffer *buffer = tr_buffer_new(size);
    if (buffer == NULL)
        return FAULT(in->error,
                     TR_NO_MEMORY,
                     offset_of(in, span),
                     "no memory for a buffer of %zu bytes",
                     size);
    if (size > 0)
        memcpy(tr_buffer_data(buffer), span, size);
    memcpy(to, &buffer, sizeof(buffer));
    return span + size;
}

static NO_INLINE pack_place read_ref(struct pack_input *in, pack_place at, unsigned tag, char *to)
{
    if (tag == PACK_NIL)
        return at;
    pack_place begin = at - 1;
    uint64_t size = 8;
    if (tag != PACK_FIX_EXT8) {
        if (tag < PACK_EXT8 || tag > PACK_EXT8 + 2)
            return WRONG_TYPE(in, begin, "a ref");
        at = read_wide(in, at, tag - PACK_EXT8, &size);
        if (at == NULL)
            return NULL;
    }
    pack_place next = read_span(in, at, size + 1);
    if (next == NULL)
        return NULL;
    if (at[0] != TR_WIRE_REF || size != 8)
        return FAULT(in->error, TR_BAD_DATA, offset_of(in, begin), "the ext value is not a ref");
    integer_store(to, sizeof(uint64_t), load64(at + 1));
    return next;
}

/* Reads the head of an array. Refuses the array if it has more items than the rest of the document
 * has bytes. */
static INLINE pack_place read_array_head(struct pack_input *in, pack_place at, unsigned tag,
                                         const char *expected, size_t *count)
{
    uint64_t announced = tag & 0x0f;
    if (UNLIKELY((tag & 0xf0) != PACK_FIX_ARRAY)) {
        if (tag != PACK_ARRAY16 && tag != PACK_ARRAY32)
            return WRONG_TYPE(in, at - 1, expected);
        at = tr__pack_read_wide(in, at, tag - PACK_ARRAY16 + 1, &announced);
        if (at == NULL)
            return NULL;
    }
    if (UNLIKELY(announced > left_of(in, at)))
        return ANNOUNCED(in, at, announced, "items");
    *count = (size_t)announced;
    return at;
}

static NO_INLINE pack_place read_message(struct pack_input *in, pack_place at, const tr_type *type,
                                         unsigned tag, char *to, unsigned depth);
static NO_INLINE pack_place read_values(struct pack_input *in, pack_place at, const tr_field *field,
                                        unsigned tag, char *member, unsigned depth);
static NO_INLINE pack_place read_optional(struct pack_input *in, pack_place at,
                                          const tr_field *field, unsigned tag, char *member,
                                          unsigned depth);

/* Reads a field of this form into `to`: a single value, an optional value, an array or a list. The
 * memory at `to` must be zero. If `to` is NULL, only measures. `at` is the place after the tag. */
static INLINE pack_place read_form(struct pack_input *in, pack_place at, const tr_field *field,
                                   unsigned form, unsigned tag, char *to, unsigned depth)
{
    switch (form) {
    case TR_KIND_BOOL:
        if (UNLIKELY((tag & ~1u) != PACK_FALSE))
            return WRONG_TYPE(in, at - 1, "a bool");
        integer_store(to, sizeof(bool), tag & 1);
        return at;
    case TR_KIND_I8:
        return read_integer_field(in, at, TR_KIND_I8, tag, to);
    case TR_KIND_I16:
        return read_integer_field(in, at, TR_KIND_I16, tag, to);
    case TR_KIND_I32:
        return read_integer_field(in, at, TR_KIND_I32, tag, to);
    case TR_KIND_I64:
        return read_integer_field(in, at, TR_KIND_I64, tag, to);
    case TR_KIND_U8:
        return read_integer_field(in, at, TR_KIND_U8, tag, to);
    case TR_KIND_U16:
        return read_integer_field(in, at, TR_KIND_U16, tag, to);
    case TR_KIND_U32:
        return read_integer_field(in, at, TR_KIND_U32, tag, to);
    case TR_KIND_U64:
        return read_integer_field(in, at, TR_KIND_U64, tag, to);
    case TR_KIND_F32:
        return read_float(in, at, TR_KIND_F32, tag, to);
    case TR_KIND_F64:
        return read_float(in, at, TR_KIND_F64, tag, to);
    case TR_KIND_STR:
        return read_text(in, at, tag, to);
    case TR_KIND_BYTES:
        return read_bytes(in, at, tag, to);
    case TR_KIND_BUFFER:
        return read_buffer(in, at, tag, to);
    case TR_KIND_REF:
        return read_ref(in, at, tag, to);
    case TR_KIND_MESSAGE:
        return read_message(in, at, field->message, tag, to, depth + 1);
    default:
        return field->shape == TR_SHAPE_OPTIONAL ? read_optional(in, at, field, tag, to, depth)
                                                 : read_values(in, at, field, tag, to, depth);
    }
}

static NO_INLINE pack_place read_value(struct pack_input *in, pack_place at, const tr_field *field,
                                       unsigned tag, char *to, unsigned depth)
{
    return read_form(in, at, field, FORM(TR_SHAPE_ONE, field->kind), tag, to, depth);
}

/* Reads an array or a list. The items of a list are in the block. */
static pack_place read_values(struct pack_input *in, pack_place at, const tr_field *field,
                              unsigned tag, char *member, unsigned depth)
{
    size_t count = 0;
    char *items = member;
    size_t offset = offset_of(in, at) - 1;
    at = read_array_head(in, at, tag, "an array", &count);
    if (at == NULL)
        return NULL;
    if (field->shape == TR_SHAPE_ARRAY && count != field->count)
        return FAULT(in->error,
                     TR_BAD_DATA,
                     offset,
                     "an array has %zu items instead of %u",
                     count,
                     field->count);
    if (field->shape == TR_SHAPE_LIST && count > 0) {
        if (!fill_align(in->fill) || !fill_take(in->fill, count, field->item_size, &items))
            return TOO_LARGE(in, at);
        if (items != NULL) {
            memset(items, 0, count * field->item_size);
            memcpy(member, &(struct list_value){items, count}, sizeof(struct list_value));
        }
    }
    for (size_t i = 0; i < count; i++) {
        at = read_tag(in, at, &tag);
        if (LIKELY(at != NULL))
            at = read_value(in, at, field, tag, fill_inside(items, i * field->item_size), depth);
        if (UNLIKELY(at == NULL))
            return FAULT_IN_ITEM(in->error, i);
    }
    return at;
}

static pack_place read_optional(struct pack_input *in, pack_place at, const tr_field *field,
                                unsigned tag, char *member, unsigned depth)
{
    if (tag == PACK_NIL)
        return at;
    /* A document has an optional value that is present but nil as an array that contains only
     * nil. */
    if (kind_has_nil(field->kind) && tag == (PACK_FIX_ARRAY | 1) && left_of(in, at) > 0 &&
        *at == PACK_NIL)
        at = read_tag(in, at, &tag);
    if (member != NULL)
        memcpy(member, &(bool){true}, sizeof(bool));
    char *value = fill_inside(member, field->size - field->item_size);
    return read_value(in, at, field, tag, value, depth);
}

/* Reads the first `count` fields of a message in their order. */
static INLINE pack_place read_fields(struct pack_input *in, pack_place at, const tr_type *type,
                                     size_t count, char *to, unsigned depth)
{
    /* Read these members only once. Otherwise the compiler would load them again after each write
     * below, because for the compiler any write may change them. */
    size_t field_size = type->field_size;
    const tr_field *field = type->fields;
    unsigned tag = 0;
    for (size_t i = 0; i < count; i++) {
        char *member = fill_inside(to, field->offset);
        at = read_tag(in, at, &tag);
        if (LIKELY(at != NULL))
            at = read_form(in, at, field, FORM(field->shape, field->kind), tag, member, depth);
        if (UNLIKELY(at == NULL))
            return FAULT_IN_FIELD(in->error, field->name);
        field = tr__field_next(field, field_size);
    }
    return at;
}

/* Skips fields that this program does not know. */
static NO_INLINE pack_place skip_fields(struct pack_input *in, pack_place at, size_t count,
                                        unsigned depth)
{
    pack_place next = tr__pack_skip(in, at, count, depth + 1);
    if (in->tail == NULL || next == NULL)
        return next;
    if (depth > 0) {
        in->tail->is_nested = true;
    } else {
        in->tail->count = count;
        in->tail->bytes = (tr_bytes){at, (size_t)(next - at)};
    }
    return next;
}

static pack_place read_message(struct pack_input *in, pack_place at, const tr_type *type,
                               unsigned tag, char *to, unsigned depth)
{
    size_t count = 0;
    if (UNLIKELY(depth > TR_DEPTH_MAX))
        return FAULT(in->error, TR_TOO_DEEP, offset_of(in, at) - 1, "messages are nested too deep");
    at = read_array_head(in, at, tag, "an array of fields", &count);
    if (UNLIKELY(at == NULL))
        return NULL;
    size_t known = count < type->field_count ? count : type->field_count;
    /* There are two calls, because the compiler then makes one loop that only fills. This loop need
     * not check for each value whether it has to write. */
    at = LIKELY(to != NULL) ? read_fields(in, at, type, known, to, depth)
                            : read_fields(in, at, type, known, NULL, depth);
    if (UNLIKELY(at == NULL))
        return NULL;
    return LIKELY(count == known) ? at : skip_fields(in, at, count - known, depth);
}

static bool read_document(void *context, const tr_type *type, struct fill *fill)
{
    struct pack_input *in = context;
    char *to;
    unsigned tag = 0;
    in->fill = fill;
    in->text_end = NULL;
    fill->used = 0;
    if (!fill_take(fill, type->size, 1, &to))
        return TOO_LARGE(in, in->begin);
    if (to != NULL)
        zero_short(to, type->size);
    pack_place at = read_tag(in, in->begin, &tag);
    if (LIKELY(at != NULL))
        at = read_message(in, at, type, tag, to, 0);
    if (LIKELY(at == in->end)) {
        if (UNLIKELY(in->tail != NULL))
            in->tail->message_size = fill->used;
        return true;
    }
    if (at != NULL)
        tr__fault_set(in->error,
                      TR_BAD_DATA,
                      offset_of(in, at),
                      "%zu extra bytes after the end of the document",
                      left_of(in, at));
    if (to != NULL)
        tr__copy_drop(type, to);
    return false;
}

tr_status tr_unpack(const tr_type *type, tr_bytes document, void **message, tr_wire_error *error)
{
    return tr__unpack_tail(type, document, message, NULL, error);
}

tr_status tr__unpack_tail(const tr_type *type, tr_bytes document, void **message, struct tail *tail,
                          tr_wire_error *error)
{
    tr_wire_error unasked;
    struct pack_input in = {.error = error == NULL ? &unasked : error, .tail = tail};
    if (tail != NULL)
        *tail = (struct tail){.count = 0};
    if (!fill_check(type, document.data, document.size, message, in.error))
        return in.error->status;
    in.begin = document.size == 0 ? (pack_place) "" : document.data;
    in.end = in.begin + document.size;
    return tr__fill_new(type, document.size, read_document, &in, in.error, message);
}

tr_status tr_unpack_in_place(const tr_type *type, void *document, size_t document_size, void *room,
                             size_t room_size, tr_wire_error *error)
{
    tr_wire_error unasked;
    struct pack_input in = {.error = error == NULL ? &unasked : error, .is_in_place = true};
    if (!fill_check(type, document, document_size, room, in.error))
        return in.error->status;
    if (UNLIKELY((uintptr_t)room % COPY_ALIGNMENT != 0)) {
        tr__fault_set(in.error, TR_INVALID_ARGUMENT, 0, "the buffer is not aligned");
        return TR_INVALID_ARGUMENT;
    }
    in.begin = document_size == 0 ? (pack_place) "" : document;
    in.end = in.begin + document_size;
    struct fill fill = {room, room_size, 0};
    if (!read_document(&in, type, &fill))
        return in.error->status;
    if (LIKELY(fill.used <= room_size))
        return TR_OK;
    if (type->size <= room_size)
        tr__copy_drop(type, room);
    tr__fault_set(in.error,
                  TR_TOO_LARGE,
                  0,
                  "the buffer is too small: the message needs %zu bytes",
                  fill.used);
    return TR_TOO_LARGE;
}

void tr_message_deinit(const tr_type *type, void *message)
{
    if (message != NULL)
        tr__copy_drop(type, message);
}
