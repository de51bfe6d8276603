/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Heads of requests as a pure function: limits, cuts at every byte, and first lines that cannot be right. The public cases of
 * Http11Probe are played against a server, in tests/api/http_probe_test.c.
 */
#include "http/head.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 100 };
static const struct http_limits limits = {.head_max = 16 * 1024, .headers_max = FIELDS};

/* The status of a text that is a head: 200 if it would go to a handler, 0 if more bytes are needed. */
static int judge(const char *text)
{
    struct tr_http_field fields[FIELDS];
    struct http_head head = {.fields = fields};
    char *copy = strdup(text);
    tr_bytes piece;
    ck_assert_ptr_nonnull(copy);
    size_t size = strlen(copy);
    size_t used = tr__http_head_cut((tr_bytes){copy, size}, 0, limits.head_max, &piece);
    ck_assert_uint_le(used, size);
    int status = 0;
    if (used) {
        char *bytes = (char *)(uintptr_t)piece.data;
        status = tr__http_head_parse(bytes, piece.size, &limits, &head);
        status = status ? status : 200;
    }
    free(copy);
    return status;
}

TEST(limits_of_a_head_have_their_status, "W-04")
{
    static char text[40000];
    int at = snprintf(text, sizeof text, "GET /");
    memset(text + at, 'a', 20000);
    strcpy(text + at + 20000, " HTTP/1.1\r\nHost: a\r\n\r\n");
    ck_assert_int_eq(judge(text), 414);
    at = snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
    memset(text + at, 'a', 20000);
    strcpy(text + at + 20000, "\r\n\r\n");
    ck_assert_int_eq(judge(text), 431);
    for (int count = FIELDS - 1; count <= FIELDS + 1; count++) {
        at = snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: a\r\n");
        for (int i = 1; i < count; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, "X-%d: b\r\n", i);
        snprintf(text + at, sizeof text - (size_t)at, "\r\n");
        ck_assert_int_eq(judge(text), count > FIELDS ? 431 : 200);
    }
    for (int extra = -1; extra <= 1; extra++) { /* the head limit at -1, 0 and +1 */
        at = snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
        int fill = 16 * 1024 + extra - at - 4;
        memset(text + at, 'a', (size_t)fill);
        strcpy(text + at + fill, "\r\n\r\n");
        ck_assert_int_eq(judge(text), extra > 0 ? 431 : 200);
    }
}

TEST(a_head_that_comes_byte_by_byte_is_cut_at_the_same_place, "W-02")
{
    static const char text[] = "\r\nPOST /a?b HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
    tr_bytes piece, whole;
    size_t all = tr__http_head_cut((tr_bytes){text, sizeof text - 1}, 0, limits.head_max, &whole);
    ck_assert_uint_eq(all, sizeof text - 1 - 3);
    for (size_t size = 1; size < all; size++)
        ck_assert_uint_eq(
            tr__http_head_cut((tr_bytes){text, size}, size - 1, limits.head_max, &piece), 0);
    ck_assert_uint_eq(tr__http_head_cut((tr_bytes){text, all}, all - 1, limits.head_max, &piece),
                      all);
    ck_assert_uint_eq(piece.size, whole.size);
    ck_assert_ptr_eq(piece.data, whole.data);
}

TEST(lines_that_cannot_be_a_request_are_refused_at_once, "W-02", "W-04")
{
    ck_assert_int_eq(judge("GET /\r\n"), 400);
    ck_assert_int_eq(judge("\x16\x03\x01\r\n"), 400);
    ck_assert_int_eq(judge("GET / HTTP/1.1\n"), 400);
    ck_assert_int_eq(judge("GET / HTTP/1.1\r\nHost: a"), 0);
    ck_assert_int_eq(judge("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
    ck_assert_int_eq(judge("GET / HTTP/1.7\r\nHost: a\r\n\r\n"), 200);
    ck_assert_int_eq(judge("GET / HTTP/1.1\r\nHost: a.example,b.example\r\n\r\n"),
                     400); /* joined by an intermediary */
    ck_assert_int_eq(judge("BREW / HTTP/1.1\r\nHost: a\r\n\r\n"), 501);
    ck_assert_int_eq(judge("GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n"), 417);
}

SUITE("http head", limits_of_a_head_have_their_status,
      a_head_that_comes_byte_by_byte_is_cut_at_the_same_place,
      lines_that_cannot_be_a_request_are_refused_at_once)
