/* SPDX-License-Identifier: Apache-2.0 */
/** What clients say on sockets, and what is stored of connections, as bytes. */
#include <stdio.h>
#include <string.h>

#include "durable/connection_row.h"
#include "gateway/words.h"
#include "support/test.h"

static struct words words;
static char printed[200];

static const char *reads(const char *text)
{
    tr_wire_error error;
    tr_status status = tr__words_read((tr_bytes){text, strlen(text)}, &words, &error);
    if (status != TR_OK) {
        ck_assert_ptr_null(words.block);
        return tr_status_name(status);
    }
    snprintf(printed,
             sizeof printed,
             "%s %d %s %.*s",
             words.ask,
             words.has_id ? (int)words.id : -1,
             words.key ? words.key : "-",
             (int)words.with.size,
             words.with.size ? (const char *)words.with.data : "");
    tr__words_free(&words);
    return printed;
}

TEST(words_are_read_in_any_order, "H-01")
{
    ck_assert_str_eq(reads("{\"id\":1,\"ask\":\"say\",\"with\":{\"a\":1},\"key\":\"k\"}"),
                     "say 1 k {\"a\":1}");
    ck_assert_str_eq(reads("{\"with\":{\"a\":{\"with\":[1,2]}},\"ask\":\"say\"}"),
                     "say -1 - {\"a\":{\"with\":[1,2]}}");
    ck_assert_str_eq(
        reads(" { \"ask\" : \"say\" , \"with\" : { \"t\" : \"}]\\\"{\\\\\" } , \"id\":2 } "),
        "say 2 - { \"t\" : \"}]\\\"{\\\\\" }");
    ck_assert_str_eq(reads("{\"ask\":\"say\",\"x\":[{\"with\":1}],\"y\":\"\\\"with\\\":3\"}"),
                     "say -1 - ");
    ck_assert_str_eq(reads("{\"ask\":\"say\",\"with\":7}"), "say -1 - 7");
    ck_assert_str_eq(reads("{\"ask\":\"say\",\"with\":\"x\",\"id\":3}"), "say 3 - \"x\"");
    ck_assert_str_eq(reads("{}"), " -1 - ");
}

TEST(words_that_are_none_are_refused, "H-06")
{
    static const char *const wrong[] = {"",
                                        "x",
                                        "[]",
                                        "7",
                                        "{",
                                        "{\"ask\":7}",
                                        "{\"id\":-1}",

                                        "{\"ask\":\"a\"} x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(strncmp(reads(wrong[i]), "TR_", 3) == 0, "%s", wrong[i]);
}

TEST(a_row_is_read_as_it_was_written, "H-04")
{
    unsigned char bytes[200];
    struct connection_row back;
    const struct connection_row rows[] = {
        {.epoch = 7, .session = UINT64_MAX, .channel = 1},
        {.epoch = 1, .caller = {"", 0}},
        {.caller = {"anna", 4}, .type = {"member", 6}, .kept = {"\x91\xa1x", 3}},
        {.epoch = 7, .caller = {"anna", 4}, .begun = 7}, /* tr_connected has not ended */
        {.type = {"member", 6}, .kept = {"x", 1}, .begun = 8, .query = {"wait=1", 6}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t size = tr__connection_row_size(&rows[i]);
        tr__connection_row_write(&rows[i], bytes);
        ck_assert_int_eq(tr__connection_row_read((tr_bytes){bytes, size}, &back), TR_OK);
        ck_assert(back.epoch == rows[i].epoch && back.session == rows[i].session &&
                  back.channel == rows[i].channel);
        ck_assert(!back.caller.data == !rows[i].caller.data);
        ck_assert_uint_eq(back.begun, rows[i].begun);
        ck_assert(!back.query.data == !rows[i].query.data && back.query.size == rows[i].query.size);
        ck_assert(back.caller.size == rows[i].caller.size && back.type.size == rows[i].type.size &&
                  back.kept.size == rows[i].kept.size);
        /* Cut short it is corrupt, or has kept less. */
        for (size_t cut = 0; cut < size - rows[i].kept.size; cut++)
            ck_assert_int_eq(tr__connection_row_read((tr_bytes){bytes, cut}, &back),
                             TR_STORE_CORRUPT);
        bytes[0] = 3;
        ck_assert_int_eq(tr__connection_row_read((tr_bytes){bytes, size}, &back), TR_NOT_SUPPORTED);
    }
    uint64_t last = 0;
    tr__connection_last_write(UINT64_C(0x123456789), bytes);
    ck_assert_int_eq(tr__connection_last_read((tr_bytes){bytes, CONNECTION_LAST_SIZE}, &last),
                     TR_OK);
    ck_assert_uint_eq(last, UINT64_C(0x123456789));
    ck_assert_int_eq(tr__connection_last_read((tr_bytes){bytes, 3}, &last), TR_STORE_CORRUPT);
}

SUITE("words and rows of gateways", words_are_read_in_any_order, words_that_are_none_are_refused,
      a_row_is_read_as_it_was_written)
