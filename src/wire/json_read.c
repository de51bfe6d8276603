/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads JSON into messages.
 *
 * Rule: the message in the block is valid at any time. msgpack_read.c says why.
 */
#include "wire/json_input.h"

#include "base/assert.h"
#include "wire/fault.h"
#include "wire/json_number.h"

/* The deepest nesting of a document: an object for each message, an array for each list, and nested
 * values of unknown fields, which are skipped. */
#define NESTING_MAX (3 * TR_DEPTH_MAX + 2)
/* The largest number of fields that a message may have. One bit of a 64-bit word stands for each field that has
 * come. The reader checks the limit, because a program may make descriptors by hand. */
#define FIELDS_MAX 64
_Static_assert(TR_FIELDS_MAX <= FIELDS_MAX, "every TR_MESSAGE can be read");

/*
 * The reader parses a list into memory that grows if the document has at most GROWING_MAX bytes and
 * an item of the list at most GROWING_ITEM_MAX. For any other list, the reader counts the items
 * before it parses them.
 */
#define GROWING_MAX 1024
#define GROWING_ITEM_MAX 256
/* The first capacity of a list that grows, in items. */
#define LIST_FIRST 4

/* A list whose memory grows while the reader parses the items. */
struct growing {
    char *items; /* NULL: the list is only measured */
    size_t count;
    size_t capacity;
    size_t end; /* offset in the block at which the capacity of the list ends */
};

#define TOO_LARGE(in, at)                                                                          \
    FAULT((in)->error, TR_TOO_LARGE, json_offset(in, at), "the message is too large")

static json_place read_bool(struct json_input *in, json_place at, char *to)
{
    unsigned byte = json_byte(in, at);
    if (byte != 't' && byte != 'f')
        return JSON_EXPECTED(in, at, "a bool");
    integer_store(to, sizeof(bool), byte == 't');
    if (byte == 't' && json_has_four(in, at, "true"))
        return at + 4;
    return tr__json_word(in, at, byte == 't' ? "true" : "false");
}

static json_place read_text(struct json_input *in, json_place at, char *to)
{
    struct json_text text;
    char *copy;
    if (json_byte(in, at) == 'n')
        return tr__json_word(in, at, "null");
    json_place next = tr__json_text(in, at, &text);
    if (next == NULL)
        return NULL;
    if (!fill_take(in->fill, text.size + 1, 1, &copy))
        return TOO_LARGE(in, at);
    if (copy == NULL)
        return next;
    tr__json_decode(&text, copy);
    copy[text.size] = '\0';
    if (to != NULL)
        memcpy(to, &copy, sizeof(copy));
    return next;
}

static unsigned base64_value(uint32_t character)
{
    if (character >= 'A' && character <= 'Z')
        return character - 'A';
    if (character >= 'a' && character <= 'z')
        return character - 'a' + 26;
    if (character >= '0' && character <= '9')
        return character - '0' + 52;
    return character == '+' ? 62 : character == '/' ? 63 : 64;
}

/* Decodes a group of four characters of base64 to 24 bits. Sets *whole to the number of bytes that
 * the group has. Returns NULL if the group is not valid. An incomplete group, padding before the
 * last group, and unused bits that are set are not valid. */
static json_place base64_group(const struct json_text *text, json_place at, uint32_t *bits,
                               size_t *whole)
{
    size_t padding = 0;
    *bits = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t character;
        if (at == text->end)
            return NULL;
        at = tr__json_character(at, &character);
        unsigned value = base64_value(character);
        bool is_padding = character == '=' && i >= 2;
        if (is_padding ? at < text->end && i == 3 : value > 63 || padding > 0)
            return NULL;
        padding += is_padding;
        *bits = *bits << 6 | (value & 63);
    }
    *whole = 3 - padding;
    return padding > 0 && (*bits & ((1u << 8 * padding) - 1)) != 0 ? NULL : at;
}

/* Decodes base64 and writes the bytes. If `to` is NULL, only counts the bytes. */
static json_place decode_base64(struct json_input *in, const struct json_text *text, char *to,
                                size_t *size)
{
    json_place at = text->begin;
    *size = 0;
    while (at < text->end) {
        uint32_t bits;
        size_t whole;
        json_place next = base64_group(text, at, &bits, &whole);
        if (next == NULL)
            return FAULT(in->error, TR_BAD_DATA, json_offset(in, at), "not base64");
        for (size_t i = 0; i < whole && to != NULL; i++)
            to[*size + i] = (char)(bits >> (16 - 8 * i));
        *size += whole;
        at = next;
    }
    return at;
}

/* Scans a text of base64, and counts its bytes. */
static json_place scan_base64(struct json_input *in, json_place at, struct json_text *text,
                              size_t *size)
{
    json_place next = tr__json_text(in, at, text);
    return next == NULL || decode_base64(in, text, NULL, size) == NULL ? NULL : next;
}

static json_place read_bytes(struct json_input *in, json_place at, char *to)
{
    struct json_text text;
    tr_bytes bytes;
    char *copy;
    json_place next = scan_base64(in, at, &text, &bytes.size);
    if (next == NULL || bytes.size == 0)
        return next;
    if (!fill_align(in->fill) || !fill_take(in->fill, bytes.size, 1, &copy))
        return TOO_LARGE(in, at);
    if (copy == NULL)
        return next;
    (void)decode_base64(in, &text, copy, &bytes.size);
    bytes.data = copy;
    if (to != NULL)
        memcpy(to, &bytes, sizeof(bytes));
    return next;
}

static json_place read_buffer(struct json_input *in, json_place at, char *to)
{
    struct json_text text;
    size_t size;
    if (json_byte(in, at) == 'n')
        return tr__json_word(in, at, "null");
    json_place next = scan_base64(in, at, &text, &size);
    if (next == NULL || to == NULL)
        return next;
    tr_buffer *buffer = tr_buffer_new(size);
    if (buffer == NULL)
        return FAULT(in->error,
                     TR_NO_MEMORY,
                     json_offset(in, at),
                     "no memory for a buffer of %zu bytes",
                     size);
    (void)decode_base64(in, &text, tr_buffer_data(buffer), &size);
    memcpy(to, &buffer, sizeof(buffer));
    return next;
}

/* Reads a ref in the form of tr_json_write and of logs: "0x" and one to sixteen hexadecimal
 * digits. */
static json_place read_ref(struct json_input *in, json_place at, char *to)
{
    struct json_text text;
    if (json_byte(in, at) == 'n')
        return tr__json_word(in, at, "null");
    json_place next = tr__json_text(in, at, &text);
    if (next == NULL)
        return NULL;
    uint64_t bits = 0;
    bool is_ref = text.is_plain && text.size > 2 && text.size <= 18 && text.begin[0] == '0' &&
                  text.begin[1] == 'x';
    for (size_t i = 2; i < text.size && is_ref; i++) {
        const char *digits = "0123456789abcdef";
        unsigned char byte = text.begin[i];
        const char *digit = strchr(digits, byte >= 'A' && byte <= 'F' ? byte | 0x20 : byte);
        is_ref = digit != NULL;
        bits = is_ref ? bits << 4 | (uint64_t)(digit - digits) : 0;
    }
    if (!is_ref)
        return FAULT(in->error,
                     TR_BAD_DATA,
                     json_offset(in, at),
                     "not a ref; expected a form such as \"0x1f\"");
    integer_store(to, sizeof(bits), bits);
    return next;
}

static json_place read_message(struct json_input *in, json_place at, const tr_type *type, char *to,
                               unsigned depth);

/* Reads a value into `to`, which must be zero. If `to` is NULL, only measures. */
static json_place read_value(struct json_input *in, json_place at, const tr_field *field, char *to,
                             unsigned depth)
{
    switch ((tr_kind)field->kind) {
    case TR_KIND_BOOL:
        return read_bool(in, at, to);
    case TR_KIND_I8:
    case TR_KIND_I16:
    case TR_KIND_I32:
    case TR_KIND_I64:
    case TR_KIND_U8:
    case TR_KIND_U16:
    case TR_KIND_U32:
    case TR_KIND_U64:
        return tr__json_integer(in, at, field, to);
    case TR_KIND_F32:
    case TR_KIND_F64:
        return tr__json_float(in, at, field, to);
    case TR_KIND_STR:
        return read_text(in, at, to);
    case TR_KIND_BYTES:
        return read_bytes(in, at, to);
    case TR_KIND_BUFFER:
        return read_buffer(in, at, to);
    case TR_KIND_REF:
        return read_ref(in, at, to);
    case TR_KIND_MESSAGE:
        return read_message(in, at, field->message, to, depth + 1);
    }
    TR_NOT_REACHED("a field of an unknown kind");
}

/* Reads exactly `count` items of an array. More or fewer items are a fault. */
static json_place read_items(struct json_input *in, json_place at, const tr_field *field,
                             size_t count, char *items, unsigned depth)
{
    json_place begin = at;
    size_t i = 0;
    at = json_space(in, at + 1);
    while (json_byte(in, at) != ']' || i > 0) {
        char *to = i < count ? fill_inside(items, i * field->item_size) : NULL;
        at = read_value(in, at, field, to, depth);
        if (at == NULL)
            return FAULT_IN_ITEM(in->error, i);
        i++;
        at = json_space(in, at);
        if (json_byte(in, at) == ']')
            break;
        if (json_byte(in, at) != ',')
            return JSON_EXPECTED(in, at, "',' or ']'");
        at = json_space(in, at + 1);
    }
    if (i != count)
        return FAULT(in->error,
                     TR_BAD_DATA,
                     json_offset(in, begin),
                     "an array has %zu items instead of %zu",
                     i,
                     count);
    return at + 1;
}

/* Doubles the capacity of a list. If the list is the last data in the block, it grows in place;
 * otherwise it moves to the end. Returns false if more than TR_PAYLOAD_MAX would be in use. */
static bool grow_list(struct fill *fill, const tr_field *field, struct growing *list)
{
    size_t more = list->capacity == 0 ? LIST_FIRST : list->capacity;
    char *place;
    if (list->capacity > 0 && list->end == fill->used) {
        if (!fill_take(fill, more, field->item_size, &place))
            return false;
        list->items = place == NULL ? NULL : list->items;
    } else {
        char *old = list->items;
        if (!fill_align(fill) || !fill_take(fill, more + list->capacity, field->item_size, &place))
            return false;
        list->items = place;
        if (place != NULL && list->count > 0)
            memcpy(place, old, list->count * field->item_size);
    }
    list->end = fill->used;
    list->capacity += more;
    return true;
}

/* Reads a list that grows as its items come. Counting the items first would scan them twice. Each
 * time the list moves, it leaves a gap in the block; for small documents this is cheap. */
static json_place read_growing(struct json_input *in, json_place at, const tr_field *field,
                               char *member, unsigned depth)
{
    struct growing list = {0};
    json_place begin = at;
    at = json_space(in, at + 1);
    if (json_byte(in, at) == ']')
        return at + 1;
    for (;;) {
        if (list.count == list.capacity && !grow_list(in->fill, field, &list))
            return TOO_LARGE(in, begin);
        char *to = member == NULL ? NULL : fill_inside(list.items, list.count * field->item_size);
        list.count++;
        if (to != NULL) {
            zero_short(to, field->item_size);
            memcpy(member, &(struct list_value){list.items, list.count}, sizeof(struct list_value));
        }
        at = read_value(in, at, field, to, depth);
        if (at == NULL)
            return FAULT_IN_ITEM(in->error, list.count - 1);
        at = json_space(in, at);
        unsigned byte = json_byte(in, at);
        if (byte != ',' && byte != ']')
            return JSON_EXPECTED(in, at, "',' or ']'");
        if (byte == ']')
            break;
        at = json_space(in, at + 1);
    }
    /* Give unused capacity back to the block. If the block was too small, do not: then `used` must
     * stay above the size of the block, because tr__fill_new makes a larger block only in this
     * case. */
    if (list.items != NULL && list.end == in->fill->used)
        in->fill->used -= (list.capacity - list.count) * field->item_size;
    return at + 1;
}

/* Reads a list after counting its items. If counting finds a fault, reads the items nevertheless,
 * because reading finds the same fault and sets its path. */
static json_place read_list(struct json_input *in, json_place at, const tr_field *field,
                            char *member, unsigned depth)
{
    size_t count;
    char *items = NULL;
    if (in->end - in->begin <= GROWING_MAX && field->item_size <= GROWING_ITEM_MAX)
        return read_growing(in, at, field, member, depth);
    if (tr__json_count(in, at, NESTING_MAX, &count) == NULL) {
        count = SIZE_MAX;
    } else if (count > 0) {
        if (!fill_align(in->fill) || !fill_take(in->fill, count, field->item_size, &items))
            return TOO_LARGE(in, at);
        if (member == NULL)
            items = NULL;
        if (items != NULL) {
            memset(items, 0, count * field->item_size);
            memcpy(member, &(struct list_value){items, count}, sizeof(struct list_value));
        }
    }
    return read_items(in, at, field, count, items, depth);
}

static json_place read_optional(struct json_input *in, json_place at, const tr_field *field,
                                char *member, unsigned depth)
{
    unsigned byte = json_byte(in, at);
    if (byte == 'n')
        return tr__json_word(in, at, "null");
    if (member != NULL)
        memcpy(member, &(bool){true}, sizeof(bool));
    if (byte != '[' || !kind_has_nil(field->kind))
        return read_value(
            in, at, field, fill_inside(member, field->size - field->item_size), depth);
    /* A document has an optional value that is present but nil as an array that contains only
     * null. */
    at = tr__json_word(in, json_space(in, at + 1), "null");
    if (at == NULL)
        return NULL;
    at = json_space(in, at);
    return json_byte(in, at) == ']' ? at + 1 : JSON_EXPECTED(in, at, "']'");
}

static json_place read_field(struct json_input *in, json_place at, const tr_field *field,
                             char *member, unsigned depth)
{
    switch ((tr_shape)field->shape) {
    case TR_SHAPE_ONE:
        return read_value(in, at, field, member, depth);
    case TR_SHAPE_OPTIONAL:
        return read_optional(in, at, field, member, depth);
    case TR_SHAPE_ARRAY:
    case TR_SHAPE_LIST:
        if (json_byte(in, at) != '[')
            return JSON_EXPECTED(in, at, "an array");
        return field->shape == TR_SHAPE_LIST
                   ? read_list(in, at, field, member, depth)
                   : read_items(in, at, field, field->count, member, depth);
    }
    TR_NOT_REACHED("a field of an unknown shape");
}

static bool is_name(const struct json_text *text, const char *name)
{
    if (text->is_plain)
        return strlen(name) == text->size && memcmp(name, text->begin, text->size) == 0;
    for (json_place at = text->begin; at < text->end; name++) {
        uint32_t character;
        at = tr__json_character(at, &character);
        if (character != (unsigned char)*name)
            return false;
    }
    return *name == '\0';
}

/* Returns the index of the field with this name, or field_count if there is none. Begins the search
 * at index `expected`. */
static size_t find_field(const tr_type *type, const struct json_text *name, size_t expected)
{
    for (size_t i = 0; i < type->field_count; i++) {
        size_t index = (expected + i) % type->field_count;
        if (is_name(name, tr__type_field(type, index)->name))
            return index;
    }
    return type->field_count;
}

/* If `name` comes next, in quotes and without escapes, skips it and returns the place after it.
 * Otherwise returns NULL. */
static inline json_place pass_name(const struct json_input *in, json_place at, const char *name)
{
    if (json_byte(in, at) != '"')
        return NULL;
    for (at++; *name != '\0'; at++, name++) {
        if (json_byte(in, at) != (unsigned char)*name)
            return NULL;
    }
    return json_byte(in, at) == '"' ? at + 1 : NULL;
}

/* Reads one name and its value. *index is the index of the field that is expected next. Sets *index
 * to the index of the field that was read. */
static json_place read_member(struct json_input *in, json_place at, const tr_type *type, char *to,
                              unsigned depth, uint64_t *seen, size_t *index)
{
    struct json_text name;
    json_place begin = at;
    size_t found = *index;
    /* Try the next field first, because most documents have the fields in order. */
    json_place next =
        found < type->field_count ? pass_name(in, at, tr__type_field(type, found)->name) : NULL;
    at = next != NULL ? next : tr__json_text(in, at, &name);
    if (at == NULL)
        return NULL;
    at = json_space(in, at);
    if (json_byte(in, at) != ':')
        return JSON_EXPECTED(in, at, "':'");
    at = json_space(in, at + 1);
    if (next == NULL)
        found = find_field(type, &name, *index);
    if (found == type->field_count)
        return tr__json_skip(in, at, TR_DEPTH_MAX);
    const tr_field *field = tr__type_field(type, found);
    uint64_t bit = UINT64_C(1) << found;
    if (*seen & bit)
        tr__fault_set(in->error, TR_BAD_DATA, json_offset(in, begin), "the field occurs twice");
    at = *seen & bit ? NULL : read_field(in, at, field, fill_inside(to, field->offset), depth);
    *seen |= bit;
    *index = found + 1;
    return at == NULL ? FAULT_IN_FIELD(in->error, field->name) : at;
}

static json_place read_message(struct json_input *in, json_place at, const tr_type *type, char *to,
                               unsigned depth)
{
    uint64_t seen = 0;
    size_t index = 0;
    if (json_byte(in, at) != '{')
        return JSON_EXPECTED(in, at, "an object");
    if (depth > TR_DEPTH_MAX)
        return FAULT(in->error, TR_TOO_DEEP, json_offset(in, at), "messages are nested too deep");
    if (type->field_count > FIELDS_MAX)
        return FAULT(in->error, TR_INVALID_ARGUMENT, json_offset(in, at), "too many fields");
    at = json_space(in, at + 1);
    if (json_byte(in, at) == '}')
        return at + 1;
    for (;;) {
        at = read_member(in, at, type, to, depth, &seen, &index);
        if (at == NULL)
            return NULL;
        at = json_space(in, at);
        if (json_byte(in, at) == '}')
            return at + 1;
        if (json_byte(in, at) != ',')
            return JSON_EXPECTED(in, at, "',' or '}'");
        at = json_space(in, at + 1);
    }
}

static bool read_document(void *context, const tr_type *type, struct fill *fill)
{
    struct json_input *in = context;
    char *to;
    in->fill = fill;
    fill->used = 0;
    if (!fill_take(fill, type->size, 1, &to))
        return TOO_LARGE(in, in->begin);
    if (to != NULL)
        zero_short(to, type->size);
    json_place at = read_message(in, json_space(in, in->begin), type, to, 0);
    if (at != NULL)
        at = json_space(in, at);
    if (at == in->end)
        return true;
    if (at != NULL)
        tr__fault_set(in->error,
                      TR_BAD_DATA,
                      json_offset(in, at),
                      "%zu extra bytes after the end of the document",
                      (size_t)(in->end - at));
    if (to != NULL)
        tr__copy_drop(type, to);
    return false;
}

static struct json_input input_of(tr_bytes document, tr_wire_error *error)
{
    json_place begin = document.size == 0 ? (json_place) "" : document.data;
    return (struct json_input){.begin = begin, .end = begin + document.size, .error = error};
}

tr_status tr_json_read(const tr_type *type, tr_bytes document, void **message, tr_wire_error *error)
{
    tr_wire_error unasked;
    error = error == NULL ? &unasked : error;
    if (!fill_check(type, document.data, document.size, message, error))
        return error->status;
    struct json_input in = input_of(document, error);
    return tr__fill_new(type, document.size, read_document, &in, error, message);
}

tr_status tr_json_read_in(const tr_type *type, tr_bytes document, void *space, size_t space_size,
                          size_t *needed, tr_wire_error *error)
{
    tr_wire_error unasked;
    size_t unread;
    error = error == NULL ? &unasked : error;
    needed = needed == NULL ? &unread : needed;
    if (!fill_check(type, document.data, document.size, space, error))
        return error->status;
    struct json_input in = input_of(document, error);
    struct fill fill = {space, space_size, 0};
    TR_ASSERT((uintptr_t)space % COPY_ALIGNMENT == 0);
    *needed = 0;
    if (!read_document(&in, type, &fill))
        return error->status;
    *needed = fill.used;
    if (fill.used <= fill.size)
        return TR_OK;
    if (type->size <= space_size)
        tr__copy_drop(type, space);
    tr__fault_set(error,
                  TR_TOO_LARGE,
                  document.size,
                  "the message needs %zu bytes, the space has %zu",
                  fill.used,
                  space_size);
    return TR_TOO_LARGE;
}
