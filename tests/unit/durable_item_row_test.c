/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Rows of items: those of earlier programs, round trips of all classes, and damaged ones.
 */
#include "durable/item_row.h"

#include <string.h>

#include "store/record.h"
#include "support/fake_memory.h"
#include "support/stores.h"

static struct worker worker;
static struct queues queues;
static struct fake_memory memory;

static void begin(void)
{
    worker.source = fake_memory_init(&memory);
    tr__items_init(&queues);
}

static void end(void)
{
    tr__items_deinit(&worker, &queues);
    ck_assert_uint_eq(memory.blocks, 0);
}

static struct store_row row_of(const char *name, uint64_t id, const void *bytes, size_t size)
{
    return (struct store_row){.name = name, .id = id, .bytes = {bytes, size}};
}

TEST(a_row_of_an_earlier_program_is_an_item_as_it_was, "K-05", "K-21")
{
    static const char bytes[] = "job\0\x81\xa1n\x05";
    struct queue_item *item;
    begin();
    const struct store_row row = row_of("mails", 7, bytes, sizeof bytes - 1);
    ck_assert_int_eq(tr__item_row_read(&worker, &queues, &row, &item), TR_OK);
    ck_assert_str_eq(item->queue->name, "mails");
    ck_assert_str_eq(item->type, "job");
    ck_assert_uint_eq(item->id, 7);
    ck_assert_int_eq(item->class, ITEM_PLAIN);
    ck_assert_uint_eq(item->attempts, 0);
    ck_assert_mem_eq(item_message(item), bytes + 4, sizeof bytes - 5);
    ck_assert_uint_eq(item->bytes_size, sizeof bytes - 5);
    end();
}

/* Puts a row into a batch and returns it as the store gives it back. */
static struct store_row put(struct store_batch *batch, struct queue_item *item,
                            char name[TR_QUEUE_NAME_MAX + STORE_QUEUE_PREFIX_MAX + 1])
{
    ck_assert_int_eq(tr__item_row_put(batch, item), TR_OK);
    const struct store_op *op = batch->last;
    memcpy(name, op->key.data, op->key.size);
    name[op->key.size] = 0;
    return row_of(name, op->number, op->value.data, op->value.size);
}

static void check_same(const struct queue_item *a, const struct queue_item *b)
{
    ck_assert_str_eq(a->queue->name, b->queue->name);
    ck_assert_uint_eq(a->id, b->id);
    ck_assert_int_eq(a->class, b->class);
    ck_assert_uint_eq(a->attempts, b->attempts);
    ck_assert_int_eq(a->due_ns, b->due_ns);
    ck_assert_int_eq(a->span_ns, b->span_ns);
    ck_assert_int_eq(a->failed_ns, b->failed_ns);
    ck_assert_int_eq(a->failure, b->failure);
    ck_assert_str_eq(a->cause ? a->cause : "", b->cause ? b->cause : "");
    ck_assert_uint_eq(a->type_size, b->type_size);
    ck_assert_uint_eq(a->bytes_size, b->bytes_size);
    ck_assert_mem_eq(a->type, b->type, a->type_size + a->bytes_size);
}

/* Reads each beginning of a row, and the row with each byte changed. */
static void damage(const struct store_row *row)
{
    unsigned char bytes[1024];
    struct queues others;
    ck_assert_uint_lt(row->bytes.size, sizeof bytes);
    tr__items_init(&others);
    for (size_t i = 0; i < 2 * row->bytes.size; i++) {
        struct queue_item *item;
        struct store_row bad = *row;
        memcpy(bytes, row->bytes.data, row->bytes.size);
        bad.id = i + 1;
        bad.bytes.data = bytes;
        if (i < row->bytes.size)
            bad.bytes.size = i;
        else
            bytes[i - row->bytes.size] ^= 0x80;
        tr_status status = tr__item_row_read(&worker, &others, &bad, &item);
        ck_assert(status == TR_OK || status == TR_STORE_CORRUPT || status == TR_NOT_SUPPORTED);
    }
    tr__items_deinit(&worker, &others);
}

static struct queue_item *make(const char *queue_name, uint64_t id, enum item_class class)
{
    struct queue *queue = tr__items_queue_make(&worker, &queues, queue_name);
    struct queue_item *item = tr__item_new(&worker, queue, "job", id, 3);
    memcpy(item_message(item), "abc", 3);
    item->class = class;
    if (class == ITEM_PLAIN)
        return item;
    item->due_ns = INT64_MAX;
    item->span_ns = 5 * TR_HOUR;
    item->failed_ns = 1;
    item->attempts = UINT32_MAX;
    item->failure = TR_BAD_DATA;
    return item;
}

TEST(rows_of_all_classes_come_back_and_damaged_ones_do_no_harm, "K-21")
{
    char name[TR_QUEUE_NAME_MAX + STORE_QUEUE_PREFIX_MAX + 1];
    char long_name[TR_QUEUE_NAME_MAX + 1];
    memset(long_name, '\377', TR_QUEUE_NAME_MAX);
    long_name[TR_QUEUE_NAME_MAX] = 0;
    begin();
    const struct store_options options = stores_options(NULL);
    struct store *store = stores_open(&options);
    struct store_entry *entry = stores_enter(store, "k", "a");
    struct store_batch *batch = stores_batch(entry);
    for (uint64_t i = 0; i < 6; i++) {
        struct queue_item *read;
        struct queue_item *item = make(i % 2 ? long_name : "q", i + 1, (enum item_class)(i / 2));
        if (i > 3) {
            item->cause = source_resize(&worker.source, NULL, TR_QUEUE_CAUSE_MAX + 100);
            memset(item->cause, 'c', TR_QUEUE_CAUSE_MAX + 99);
            item->cause[TR_QUEUE_CAUSE_MAX + 99] = 0;
        }
        struct store_row row = put(batch, item, name);
        /* Rows that must not wake their actor sort before QUEUE_NAMES_FROM, all others behind it. */
        ck_assert((strcmp(name, QUEUE_NAMES_FROM) < 0) == (item->class != ITEM_PLAIN));
        ck_assert_int_eq(tr__item_row_read(&worker, &queues, &row, &read), TR_OK);
        if (item->cause)
            item->cause[TR_QUEUE_CAUSE_MAX] = 0; /* it was cut */
        check_same(item, read);
        damage(&row);
        tr__item_free(&worker, item);
    }
    static const char later[] = "\001znew";
    const struct store_row unknown = row_of(later, 100, "job", 4);
    struct queue_item *none;
    ck_assert_int_eq(tr__item_row_read(&worker, &queues, &unknown, &none), TR_NOT_SUPPORTED);
    tr__store_batch_free(batch);
    tr__store_leave(entry);
    tr__store_close(store);
    end();
}

SUITE("durable item rows", a_row_of_an_earlier_program_is_an_item_as_it_was,
      rows_of_all_classes_come_back_and_damaged_ones_do_no_harm)
