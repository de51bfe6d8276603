/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/request_record.h"

#include <assert.h>
#include <string.h>
#include <troupe/limits.h>

#include "base/hash.h"
#include "store/store.h"
#include "wire/shape.h"

/* The layout of a record; numbers have their low byte first. It begins with the format (1), the
 * outcome, until, before, and both hashes. For REQUEST_REPLIED, these follow: the name of the reply
 * with its NUL, the front of the reply's shape (wire/shape.h), and the packed reply. The front is
 * missing if the reply has no shape, or if an earlier version of the library has stored the record.
 * For REQUEST_ENDED, the status, the code, and the text with its NUL follow. */
enum { FORMAT = 1, OUTCOME_AT = 1, UNTIL_AT = 2, BEFORE_AT = 10, LOW_AT = 18, HIGH_AT = 26 };
static_assert(HIGH_AT + 8 == REQUEST_FRONT, "the numbers are the front");
static_assert(TR_REQUEST_ANSWER_MAX + REQUEST_FRONT + TR_NAME_MAX + 1 + SHAPE_FRONT <=
                  STORE_REQUEST_MAX,
              "a record fits into the store");

static void put_number(unsigned char *at, uint64_t number, int size)
{
    for (int i = 0; i < size; i++)
        at[i] = (unsigned char)(number >> (8 * i));
}

static uint64_t get_number(const unsigned char *at, int size)
{
    uint64_t number = 0;
    for (int i = 0; i < size; i++)
        number |= (uint64_t)at[i] << (8 * i);
    return number;
}

struct request_print tr__request_print(const char *type, tr_bytes packed)
{
    /* The keys are fixed, because each process must compute the same hashes. They need not be
     * secret. */
    static const struct hash_key low = {UINT64_C(0x7274726571756573), UINT64_C(0x742d6c6f772d3031)};
    static const struct hash_key high = {UINT64_C(0x74722d6f6e63652d),
                                         UINT64_C(0x686967682d303031)};
    size_t size = strlen(type);
    struct hash_key low_key = {low.low ^ hash_bytes(low, type, size), low.high};
    struct hash_key high_key = {high.low ^ hash_bytes(high, type, size), high.high};
    return (struct request_print){hash_bytes(low_key, packed.data, packed.size),
                                  hash_bytes(high_key, packed.data, packed.size)};
}

size_t tr__request_size(const struct request_record *record)
{
    switch (record->outcome) {
    case REQUEST_BEGUN:
        break;
    case REQUEST_REPLIED:
        return REQUEST_FRONT + strlen(record->reply) + 1 + (record->shape ? SHAPE_FRONT : 0) +
               record->bytes.size;
    case REQUEST_ENDED:
        return REQUEST_FRONT + 8 + strlen(record->text) + 1;
    }
    return REQUEST_FRONT;
}

void tr__request_write(const struct request_record *record, unsigned char *bytes)
{
    bytes[0] = FORMAT;
    bytes[OUTCOME_AT] = (unsigned char)record->outcome;
    put_number(bytes + UNTIL_AT, (uint64_t)record->until_wall_ns, 8);
    put_number(bytes + BEFORE_AT, record->before, 8);
    put_number(bytes + LOW_AT, record->print.low, 8);
    put_number(bytes + HIGH_AT, record->print.high, 8);
    unsigned char *at = bytes + REQUEST_FRONT;
    if (record->outcome == REQUEST_REPLIED) {
        size_t size = strlen(record->reply) + 1;
        memcpy(at, record->reply, size);
        if (record->shape) {
            tr__shape_front_write(at + size, record->shape);
            size += SHAPE_FRONT;
        }
        if (record->bytes.size)
            memcpy(at + size, record->bytes.data, record->bytes.size);
    } else if (record->outcome == REQUEST_ENDED) {
        put_number(at, (uint64_t)(int64_t)record->status, 4);
        put_number(at + 4, (uint64_t)(int64_t)record->code, 4);
        memcpy(at + 8, record->text, strlen(record->text) + 1);
    }
}

/* Returns the size of the text at `at`, with its NUL. Returns 0 if there is no NUL before `end`. */
static size_t text_size(const unsigned char *at, const unsigned char *end)
{
    size_t left = (size_t)(end - at);
    size_t size = strnlen((const char *)at, left) + 1;
    return size > left ? 0 : size;
}

tr_status tr__request_read(tr_bytes stored, struct request_record *record)
{
    const unsigned char *bytes = stored.data;
    if (stored.size < REQUEST_FRONT || bytes[0] != FORMAT)
        return TR_STORE_CORRUPT;
    const unsigned char *end = bytes + stored.size;
    const unsigned char *at = bytes + REQUEST_FRONT;
    *record = (struct request_record){
        .outcome = (enum request_outcome)bytes[OUTCOME_AT],
        .until_wall_ns = (tr_time)get_number(bytes + UNTIL_AT, 8),
        .before = get_number(bytes + BEFORE_AT, 8),
        .print = {get_number(bytes + LOW_AT, 8), get_number(bytes + HIGH_AT, 8)}};
    size_t size;
    switch (record->outcome) {
    case REQUEST_BEGUN:
        return TR_OK;
    case REQUEST_REPLIED:
        size = text_size(at, end);
        record->reply = (const char *)at;
        record->bytes =
            tr__shape_front_read((tr_bytes){at + size, (size_t)(end - at) - size}, &record->shape);
        return size ? TR_OK : TR_STORE_CORRUPT;
    case REQUEST_ENDED:
        if (end - at < 8 || !text_size(at + 8, end))
            return TR_STORE_CORRUPT;
        record->status = (tr_status)(int32_t)(uint32_t)get_number(at, 4);
        record->code = (int32_t)(uint32_t)get_number(at + 4, 4);
        record->text = (const char *)at + 8;
        return TR_OK;
    }
    return TR_STORE_CORRUPT;
}
