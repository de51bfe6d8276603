/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Times JSON: an order with three items, a document of 216 bytes, as a typed HTTP route reads and writes it.
 *
 *     cmake --build build --target micro_json && build/micro/json
 *
 * Prints the best and the median of many rounds for each, in nanoseconds for one document.
 */
#include <troupe/wire.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

TR_MESSAGE(item, (str, sku), (u32, quantity), (u64, cents));
TR_MESSAGE(order, (str, customer), (u64, id), (bool, gift), (f64, weight),
           (list(message(item)), items));

/* Short rounds: some of them are not disturbed by whatever else runs. */
enum { ROUNDS = 1000, DOCUMENTS = 1000 };

static const char document[] =
    "{\"customer\":\"Anna "
    "Schmidt\",\"id\":9007199254740993,\"gift\":true,\"weight\":12.75,\"items\":["
    "{\"sku\":\"tea-green\",\"quantity\":2,\"cents\":450},{\"sku\":\"cup-blue\",\"quantity\":1,"
    "\"cents\":1250},"
    "{\"sku\":\"pot\",\"quantity\":1,\"cents\":3900}]}";
static void *order;
static volatile size_t sink; /* So that the work is not left out. */

static size_t json_read(void)
{
    void *message;
    if (tr_json_read(&tr_type_order, (tr_bytes){document, sizeof document - 1}, &message, NULL) !=
        TR_OK)
        abort();
    size_t count = ((struct order *)message)->items.count;
    tr_message_free(&tr_type_order, message);
    return count;
}

/* Into memory that is there, as a turn has it: nothing is allocated. */
static size_t json_read_in(void)
{
    static _Alignas(16) char space[1024];
    tr_bytes bytes = {document, sizeof document - 1};
    if (tr_json_read_in(&tr_type_order, bytes, space, sizeof space, NULL, NULL) != TR_OK)
        abort();
    return ((struct order *)(void *)space)->items.count;
}

static size_t json_write(void)
{
    char text[1024];
    return tr_json_write(&tr_type_order, order, text, sizeof text, NULL);
}

static int compare(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return difference < 0 ? -1 : difference > 0;
}

static void measure(const char *name, size_t (*work)(void))
{
    static double rounds[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        size_t sum = 0;
        for (size_t i = 0; i < DOCUMENTS; i++)
            sum += work();
        sink = sum;
        clock_gettime(CLOCK_MONOTONIC, &end);
        rounds[round] =
            ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
            DOCUMENTS;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, compare);
    printf("%-28s best %7.1f ns   median %7.1f ns\n", name, rounds[0], rounds[ROUNDS / 2]);
}

int main(void)
{
    char text[1024];
    if (tr_json_read(&tr_type_order, (tr_bytes){document, sizeof document - 1}, &order, NULL) !=
        TR_OK)
        return 1;
    /* What is written is what was read. */
    if (tr_json_write(&tr_type_order, order, text, sizeof text, NULL) != sizeof document - 1 ||
        strcmp(text, document) != 0)
        return 1;
    printf("a document of %zu bytes\n", sizeof document - 1);
    measure("tr_json_read and free", json_read);
    measure("tr_json_read_in", json_read_in);
    measure("tr_json_write", json_write);
    tr_message_free(&tr_type_order, order);
    return 0;
}
