/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/connection_row.h"

#include <string.h>

enum { VERSION = 1, VERSION_BEGUN = 2, NOBODY = 65535, FRONT = 1 + 3 * 8 + 2, BEGUN = 8 + 4 };
#define NO_QUERY UINT32_MAX

static unsigned char *put(unsigned char *to, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (unsigned char)(number >> (8 * i));
    return to + size;
}

static uint64_t get(const unsigned char *from, size_t size)
{
    uint64_t number = 0;
    for (size_t i = size; i > 0; i--)
        number = number << 8 | from[i - 1];
    return number;
}

static unsigned char *put_bytes(unsigned char *to, tr_bytes bytes)
{
    if (bytes.data)
        memcpy(to, bytes.data, bytes.size);
    return to + bytes.size;
}

size_t tr__connection_row_size(const struct connection_row *row)
{
    size_t begun = row->begun ? BEGUN + row->query.size : 0;
    return FRONT + row->caller.size + 1 + row->type.size + begun + row->kept.size;
}

void tr__connection_row_write(const struct connection_row *row, unsigned char *bytes)
{
    *bytes++ = row->begun ? VERSION_BEGUN : VERSION;
    bytes = put(bytes, row->epoch, 8);
    bytes = put(bytes, row->session, 8);
    bytes = put(bytes, row->channel, 8);
    bytes = put(bytes, row->caller.data ? row->caller.size : NOBODY, 2);
    bytes = put_bytes(bytes, row->caller);
    bytes = put(bytes, row->type.size, 1);
    bytes = put_bytes(bytes, row->type);
    if (row->begun) {
        bytes = put(bytes, row->begun, 8);
        bytes = put(bytes, row->query.data ? row->query.size : NO_QUERY, 4);
        bytes = put_bytes(bytes, row->query);
    }
    (void)put_bytes(bytes, row->kept);
}

/* Takes `size` bytes from the beginning of `from`. Returns false if `from` has fewer. */
static bool take(tr_bytes *from, size_t size, tr_bytes *taken)
{
    if (from->size < size)
        return false;
    *taken = (tr_bytes){from->data, size};
    *from = (tr_bytes){(const unsigned char *)from->data + size, from->size - size};
    return true;
}

/* Takes what a row has only while tr_connected has not ended. Returns false if bytes are
 * missing. */
static bool take_begun(tr_bytes *bytes, struct connection_row *row)
{
    tr_bytes front;
    if (!take(bytes, BEGUN, &front))
        return false;
    row->begun = get(front.data, 8);
    size_t query = (size_t)get((const unsigned char *)front.data + 8, 4);
    return row->begun && (query == NO_QUERY || take(bytes, query, &row->query));
}

tr_status tr__connection_row_read(tr_bytes bytes, struct connection_row *row)
{
    tr_bytes front, length;
    *row = (struct connection_row){0};
    if (!take(&bytes, FRONT, &front))
        return TR_STORE_CORRUPT;
    const unsigned char *at = front.data;
    if (at[0] != VERSION && at[0] != VERSION_BEGUN)
        return TR_NOT_SUPPORTED;
    row->epoch = get(at + 1, 8);
    row->session = get(at + 9, 8);
    row->channel = get(at + 17, 8);
    size_t caller = (size_t)get(at + 25, 2);
    if (caller != NOBODY && !take(&bytes, caller, &row->caller))
        return TR_STORE_CORRUPT;
    if (!take(&bytes, 1, &length) || !take(&bytes, *(const unsigned char *)length.data, &row->type))
        return TR_STORE_CORRUPT;
    if (at[0] == VERSION_BEGUN && !take_begun(&bytes, row))
        return TR_STORE_CORRUPT;
    row->kept = bytes;
    return TR_OK;
}

void tr__connection_last_write(uint64_t last, unsigned char bytes[CONNECTION_LAST_SIZE])
{
    bytes[0] = VERSION;
    (void)put(bytes + 1, last, 8);
}

tr_status tr__connection_last_read(tr_bytes bytes, uint64_t *last)
{
    const unsigned char *at = bytes.data;
    if (bytes.size != CONNECTION_LAST_SIZE)
        return TR_STORE_CORRUPT;
    if (at[0] != VERSION)
        return TR_NOT_SUPPORTED;
    *last = get(at + 1, 8);
    return TR_OK;
}
