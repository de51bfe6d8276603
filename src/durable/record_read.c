/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/record_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/wire.h>

#include "base/crc32.h"

/* Takes the rest of the next line, which must begin with `name` and a space. Returns false if it does not. */
static bool line_take(tr_bytes *rest, const char *name, tr_bytes *value)
{
    const char *at = rest->data;
    const char *end = rest->size ? memchr(at, '\n', rest->size) : NULL;
    size_t length = strlen(name);
    if (!end || (size_t)(end - at) < length + 1 || memcmp(at, name, length) != 0 ||
        at[length] != ' ')
        return false;
    *value = (tr_bytes){at + length + 1, (size_t)(end - at) - length - 1};
    rest->size -= (size_t)(end - at) + 1;
    rest->data = end + 1;
    return true;
}

/* Reads a number with this base. The number must take up the whole text. Returns false if the text
 * is not a number, or has more than ten digits. */
static bool number_read(tr_bytes text, unsigned base, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < text.size; i++) {
        char digit = ((const char *)text.data)[i];
        unsigned value = digit >= '0' && digit <= '9'   ? (unsigned)(digit - '0')
                         : digit >= 'a' && digit <= 'f' ? (unsigned)(digit - 'a') + 10
                                                        : base;
        if (value >= base)
            return false;
        *number = *number * base + value;
    }
    return text.size && text.size <= 10;
}

static tr_status record_refuse(char *why, const char *text)
{
    (void)snprintf(why, RECORD_WHY_SIZE, "%s", text);
    return TR_BAD_DATA;
}

tr_status tr__record_read(tr_bytes file, struct tr_record **record, char why[RECORD_WHY_SIZE])
{
    tr_bytes rest = file;
    tr_bytes version;
    tr_bytes value;
    uint64_t size;
    uint64_t sum;
    tr_wire_error error;
    void *message;
    if (!line_take(&rest, "troupe-record", &version))
        return record_refuse(why, "this is no record of a turn");
    if (version.size != 1 || *(const char *)version.data != '1')
        return record_refuse(why, "another version of the library has written this record");
    if (!line_take(&rest, "program", &value) || !line_take(&rest, "handler", &value) ||
        !line_take(&rest, "size", &value) || !number_read(value, 10, &size))
        return record_refuse(why, "the head of the record is damaged");
    size_t head = (size_t)((const char *)rest.data - (const char *)file.data);
    if (!line_take(&rest, "sum", &value) || !number_read(value, 16, &sum) || !rest.size ||
        *(const char *)rest.data != '\n' || head > RECORD_HEAD_MAX)
        return record_refuse(why, "the head of the record is damaged");
    rest = (tr_bytes){(const char *)rest.data + 1, rest.size - 1};
    if (rest.size < size)
        return record_refuse(why, "the record is not whole: the end of the file is missing");
    if (rest.size > size)
        return record_refuse(why, "there is something behind the end of the record");
    if (tr__crc32(tr__crc32(0, file.data, head), rest.data, rest.size) != sum)
        return record_refuse(why, "the record is damaged: its sum does not match");
    tr_status status = tr_unpack(&tr_type_tr_record, rest, &message, &error);
    if (status != TR_OK) {
        (void)snprintf(why,
                       RECORD_WHY_SIZE,
                       "the record cannot be read: %.60s %.100s",
                       error.path,
                       error.text);
        return status;
    }
    *record = message;
    if ((*record)->kind && (*record)->message && (*record)->app && (*record)->status)
        return TR_OK;
    tr_message_free(&tr_type_tr_record, message);
    return record_refuse(why, "the record has no kind or no message");
}

/* Takes the next piece of a list, which is the key or the value of a pair. Returns false if fewer than `size` bytes are
 * left. */
static bool piece_take(tr_bytes *rest, size_t size, tr_bytes *piece)
{
    if (rest->size < size)
        return false;
    *piece = (tr_bytes){rest->data, size};
    *rest = (tr_bytes){(const char *)rest->data + size, rest->size - size};
    return true;
}

static size_t size_read(tr_bytes bytes)
{
    const unsigned char *at = bytes.data;
    return (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
}

bool tr__record_pairs(const struct tr_record_item *item, tr_kv *pairs, size_t max)
{
    tr_bytes rest = item->bytes;
    if (item->number > max)
        return false;
    for (size_t i = 0; i < item->number; i++) {
        tr_bytes sizes[2];
        if (!piece_take(&rest, 4, &sizes[0]) || !piece_take(&rest, 4, &sizes[1]) ||
            !piece_take(&rest, size_read(sizes[0]), &pairs[i].key) ||
            !piece_take(&rest, size_read(sizes[1]), &pairs[i].value))
            return false;
    }
    return !rest.size;
}
