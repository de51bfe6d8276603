/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the files of records of durable turns. The sum is set right, so that what is behind it is reached too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32.h"
#include "durable/record_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The pairs of a list are within its bytes. */
static void read_pairs(const struct tr_record_item *item)
{
    static tr_kv pairs[1024];
    if (!tr__record_pairs(item, pairs, sizeof pairs / sizeof *pairs))
        return;
    size_t size = 0;
    for (size_t i = 0; i < item->number; i++)
        size += RECORD_PAIR_LEAST + pairs[i].key.size + pairs[i].value.size;
    if (size != item->bytes.size)
        abort();
}

static void read_file(const void *bytes, size_t size)
{
    char why[RECORD_WHY_SIZE];
    struct tr_record *record = NULL;
    memset(why, 'x', sizeof why);
    tr_status status = tr__record_read((tr_bytes){bytes, size}, &record, why);
    if (status == TR_OK && (!record || !record->kind || !record->message))
        abort();
    if (status != TR_OK && !memchr(why, 0, sizeof why))
        abort();
    for (size_t i = 0; status == TR_OK && i < record->items.count; i++)
        read_pairs(&record->items.items[i]);
    if (status == TR_OK)
        tr_message_free(&tr_type_tr_record, record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_file(data, size);
    if (size)
        read_pairs(&(struct tr_record_item){RECORD_LIST, data[0], {data + 1, size - 1}});
    char head[128];
    int length =
        snprintf(head, sizeof head, "troupe-record 1\nprogram /a\nhandler b\nsize %zu\n", size);
    uint32_t sum = tr__crc32(tr__crc32(0, head, (size_t)length), data, size);
    length += snprintf(head + length, sizeof head - (size_t)length, "sum %08x\n\n", (unsigned)sum);
    char *file = malloc((size_t)length + size);
    if (!file)
        abort();
    memcpy(file, head, (size_t)length);
    memcpy(file + length, data, size);
    read_file(file, (size_t)length + size);
    free(file);
    return 0;
}
