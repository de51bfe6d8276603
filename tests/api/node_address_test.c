/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Addresses of nodes: what is one, what is none and where, and that both ways lead back.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <troupe/node.h>

static tr_node_address address_of(const char *text)
{
    tr_node_address address;
    tr_node_error error = {.status = TR_OK};
    tr_status status = tr_node_address_parse(text, &address, &error);
    ck_assert_msg(status == TR_OK, "%s: %s", text, error.text);
    ck_assert_int_eq(error.status, TR_OK);
    return address;
}

TEST(an_address_has_four_parts, "N-01")
{
    tr_node_address address = address_of("prod/eu-west-1/shop/node-7");
    ck_assert_str_eq(address.cluster, "prod");
    ck_assert_str_eq(address.datacenter, "eu-west-1");
    ck_assert_str_eq(address.application, "shop");
    ck_assert_str_eq(address.node, "node-7");
}

TEST(what_was_read_is_printed_as_it_was, "N-01")
{
    static const char *const texts[] = {
        "a/b/c/d",
        "0/1/2/3",
        "prod/eu-west-1/shop/node-7",
        "P.r_o-d/D-/a../n__",
        "a/a/a/a",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tr_node_address address = address_of(texts[i]);
        char text[TR_NODE_ADDRESS_MAX + 1];
        ck_assert_uint_eq(tr_node_address_print(&address, text, sizeof text), strlen(texts[i]));
        ck_assert_str_eq(text, texts[i]);
        tr_node_address again = address_of(text);
        ck_assert(tr_node_address_is_same(&address, &again));
        /* Cut, as snprintf does. */
        memset(text, '#', sizeof text);
        ck_assert_uint_eq(tr_node_address_print(&address, text, 4), strlen(texts[i]));
        ck_assert_int_eq(strncmp(text, texts[i], 3), 0);
        ck_assert_int_eq(text[3], '\0');
        ck_assert_int_eq(text[4], '#');
        ck_assert_uint_eq(tr_node_address_print(&address, NULL, 0), strlen(texts[i]));
    }
}

TEST(every_character_is_one_of_a_part_or_refused_where_it_stands, "N-01")
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    for (int c = 1; c < 256; c++) {
        for (int first = 0; first < 2; first++) {
            char text[] = "aa/bb/cc/dd";
            size_t at = first ? 3 : 4;
            text[at] = (char)c;
            tr_node_address address;
            tr_node_error error = {.offset = 99};
            bool is_good = strchr(allowed, c) && !(first && strchr("_.-", c));
            if (tr_node_address_parse(text, &address, &error) == TR_OK) {
                ck_assert_msg(is_good, "%s", text);
                continue;
            }
            ck_assert_msg(!is_good, "%s: %s", text, error.text);
            ck_assert_int_eq(error.status, TR_BAD_DATA);
            /* A '/' in the second place leaves an empty part behind it. */
            ck_assert_uint_eq(error.offset, !first && c == '/' ? 5 : at);
        }
    }
}

struct bad {
    const char *text;
    size_t offset;
    const char *part;
    const char *why;
};

TEST(what_is_wrong_is_told_with_its_place, "N-01")
{
    static const struct bad bad[] = {
        {"", 0, "cluster", "cluster, at 0: unexpected end; a part begins with a letter or a digit"},
        {"/",
         0,
         "cluster",
         "cluster, at 0: unexpected '/'; a part begins with a letter or a digit"},
        {"a", 1, "cluster", "cluster, at 1: unexpected end; expected '/' and datacenter"},
        {"a/b/c", 5, "application", "application, at 5: unexpected end; expected '/' and node"},
        {"a/b/c/", 6, "node", "node, at 6: unexpected end; a part begins with a letter or a digit"},
        {"a/b/c/d/", 7, "node", "node, at 7: unexpected fifth part; an address has four"},
        {"a/b/c/d/e", 7, "node", "node, at 7: unexpected fifth part; an address has four"},
        {"/a/b/c/d",
         0,
         "cluster",
         "cluster, at 0: unexpected '/'; a part begins with a letter or a digit"},
        {"a//c/d",
         2,
         "datacenter",
         "datacenter, at 2: unexpected '/'; a part begins with a letter or a digit"},
        {"a/../c/d",
         2,
         "datacenter",
         "datacenter, at 2: unexpected '.'; a part begins with a letter or a digit"},
        {"a/b b/c/d",
         3,
         "datacenter",
         "datacenter, at 3: invalid character ' '; use A-Z a-z 0-9 _ . -"},
        {" a/b/c/d",
         0,
         "cluster",
         "cluster, at 0: unexpected ' '; a part begins with a letter or a digit"},
        {"a/b/c/d\n", 7, "node", "node, at 7: invalid character \\x0a; use A-Z a-z 0-9 _ . -"},
        {"a/b/c/\xc3\xa4",
         6,
         "node",
         "node, at 6: unexpected \\xc3; a part begins with a letter or a digit"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tr_node_address address = {.cluster = "untouched"};
        tr_node_error error;
        ck_assert_int_eq(tr_node_address_parse(bad[i].text, &address, &error), TR_BAD_DATA);
        ck_assert_int_eq(error.status, TR_BAD_DATA);
        ck_assert_str_eq(error.text, bad[i].why);
        ck_assert_str_eq(error.part, bad[i].part);
        ck_assert_uint_eq(error.offset, bad[i].offset);
        ck_assert_str_eq(address.cluster, "untouched");
        ck_assert_int_eq(tr_node_address_parse(bad[i].text, &address, NULL), TR_BAD_DATA);
    }
}

TEST(a_part_has_at_most_63_characters, "N-01")
{
    char text[4 * (TR_NODE_PART_MAX + 2) + 1];
    for (int part = 0; part < 4; part++) {
        for (int more = 0; more < 2; more++) {
            size_t length = 0;
            for (int i = 0; i < 4; i++) {
                size_t size = TR_NODE_PART_MAX + (i == part ? (size_t)more : 0);
                memset(text + length, 'a' + i, size);
                length += size;
                text[length++] = i < 3 ? '/' : '\0';
            }
            tr_node_address address;
            tr_node_error error = {.status = TR_OK};
            tr_status status = tr_node_address_parse(text, &address, &error);
            ck_assert_int_eq(status, more ? TR_LIMIT : TR_OK);
            if (more) {
                ck_assert_uint_eq(error.offset, (size_t)part * 64 + TR_NODE_PART_MAX);
                continue;
            }
            char back[TR_NODE_ADDRESS_MAX + 1];
            ck_assert_uint_eq(tr_node_address_print(&address, back, sizeof back),
                              TR_NODE_ADDRESS_MAX);
            ck_assert_str_eq(back, text);
        }
    }
}

/* Memory beyond what may be an address is not looked at: here there is none. */
TEST(a_text_without_an_end_is_refused, "N-01")
{
    tr_node_address address;
    char text[TR_NODE_PART_MAX + 1];
    memset(text, 'a', sizeof text);
    ck_assert_int_eq(tr_node_address_parse(text, &address, NULL), TR_LIMIT);
}

TEST(what_is_no_address_is_not_printed, "N-01")
{
    tr_node_address good = address_of("a/b/c/d");
    char text[8] = "########";
    tr_node_address bad = good;
    bad.datacenter[0] = '\0';
    ck_assert_uint_eq(tr_node_address_print(&bad, text, sizeof text), 0);
    ck_assert_str_eq(text, "");
    bad = good;
    memset(bad.node, 'n', sizeof bad.node); /* no NUL */
    ck_assert_uint_eq(tr_node_address_print(&bad, text, sizeof text), 0);
    bad = good;
    memset(bad.cluster, 'n', sizeof bad.cluster); /* nor here, where more text follows */
    ck_assert_uint_eq(tr_node_address_print(&bad, text, sizeof text), 0);
    bad = good;
    strcpy(bad.application, "x/y");
    ck_assert_uint_eq(tr_node_address_print(&bad, text, sizeof text), 0);
    ck_assert_uint_eq(tr_node_address_print(NULL, text, sizeof text), 0);
    ck_assert_uint_eq(tr_node_address_print(NULL, NULL, 0), 0);
    ck_assert_uint_eq(tr_node_address_print(NULL, NULL, 8), 0);
    ck_assert_uint_eq(tr_node_address_print(&good, NULL, 8), 7);
}

TEST(addresses_are_the_same_in_all_parts_or_not_at_all, "N-01")
{
    static const char *const others[] = {"A/b/c/d", "a/x/c/d", "a/b/cc/d", "a/b/c/e"};
    tr_node_address one = address_of("a/b/c/d");
    tr_node_address same = one;
    memset(same.node + 2, '#', sizeof same.node - 2); /* behind the NUL */
    ck_assert(tr_node_address_is_same(&one, &same));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        tr_node_address other = address_of(others[i]);
        ck_assert(!tr_node_address_is_same(&one, &other));
    }
    ck_assert(!tr_node_address_is_same(&one, NULL));
    ck_assert(!tr_node_address_is_same(NULL, &one));
    ck_assert(!tr_node_address_is_same(NULL, NULL));
}

TEST(no_address_and_no_room_are_refused, "N-01")
{
    tr_node_address address;
    tr_node_error error;
    ck_assert_int_eq(tr_node_address_parse(NULL, &address, &error), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_node_address_parse("a/b/c/d", NULL, &error), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(error.status, TR_INVALID_ARGUMENT);
}

TEST(names_belong_to_nodes, "N-01")
{
    ck_assert_int_eq(tr_node_of("orders", 3), 0);
    ck_assert_int_eq(tr_node_of("payments", 3), 2);
    ck_assert_int_eq(tr_node_of("counter", 3), 2);
    ck_assert_int_eq(tr_node_of("orders-1", 3), 1);
    ck_assert_int_eq(tr_node_of("user-42", 3), 1);
    ck_assert_int_eq(tr_node_of("cart", 3), 0);
    ck_assert_int_eq(tr_node_of("cart", 1), 0);
    ck_assert_int_eq(tr_node_of(NULL, 3), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_node_of("cart", 0), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_node_of("cart", TR_NODES_MAX + 1), TR_LIMIT);
    ck_assert_int_ge(tr_node_of("cart", TR_NODES_MAX), 0);
    ck_assert_int_eq(tr_node_of("a/b", 3), TR_NAME_INVALID);
}

SUITE("node address", an_address_has_four_parts, what_was_read_is_printed_as_it_was,
      every_character_is_one_of_a_part_or_refused_where_it_stands,
      what_is_wrong_is_told_with_its_place, a_part_has_at_most_63_characters,
      a_text_without_an_end_is_refused, what_is_no_address_is_not_printed,
      addresses_are_the_same_in_all_parts_or_not_at_all, no_address_and_no_room_are_refused,
      names_belong_to_nodes)
