/* SPDX-License-Identifier: Apache-2.0 */
/** Chunked bodies: how the data of small chunks comes together, and what is refused in which place. */
#include "http/chunk.h"

#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = 256 * 1024 };

/*
 * Reads a body that comes in portions of `portion` bytes. Returns its pieces: "abc|de." if the body has ended, "abc|!" if
 * it is malformed behind the first piece. Pieces of at most `most` bytes.
 */
static const char *pieces_of(const char *text, size_t size, size_t portion, size_t most)
{
    static char said[ALL];
    struct http_chunk chunk = {0};
    size_t length = 0;
    size_t at = 0;
    size_t end = portion < size ? portion : size;
    *said = '\0';
    for (;;) {
        tr_bytes data;
        /* a copy whose memory ends with the portion */
        char *copy = malloc(end - at + 1);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, text + at, end - at);
        size_t used = tr__http_chunks_take(&chunk, (tr_bytes){copy, end - at}, most, &data);
        ck_assert_uint_le(used, end - at);
        ck_assert_uint_le(data.size, most);
        ck_assert_int_eq(memcmp(copy + used, text + at + used, end - at - used), 0);
        if (data.size)
            length += (size_t)snprintf(said + length,
                                       sizeof said - length,
                                       "%s%.*s",
                                       length ? "|" : "",
                                       (int)data.size,
                                       (const char *)data.data);
        free(copy);
        at += used;
        if (chunk.is_over || chunk.is_bad || (!data.size && end == size))
            break;
        if (!data.size)
            end = size - end < portion ? size : end + portion;
    }
    snprintf(said + length,
             sizeof said - length,
             "%s",
             chunk.is_over  ? "."
             : chunk.is_bad ? "!"
                            : "");
    return said;
}

static const char *all_of(const char *text)
{
    return pieces_of(text, strlen(text), SIZE_MAX / 2, ALL);
}

TEST(small_chunks_that_have_come_are_one_piece, "W-05")
{
    ck_assert_str_eq(all_of("1\r\na\r\n2\r\nbc\r\n3;x=y\r\ndef\r\n0\r\n\r\n"), "abcdef.");
    ck_assert_str_eq(all_of("1\r\na\r\n2\r\nbc\r\n3\r\nde"), "abcde");
    ck_assert_str_eq(all_of("0\r\n\r\n"), ".");
    ck_assert_str_eq(all_of("0\r\nT: x\r\n\r\n"), ".");
    ck_assert_str_eq(all_of("1\r"), "");
}

TEST(what_comes_before_a_malformed_chunk_is_a_piece, "W-05")
{
    ck_assert_str_eq(all_of("1\r\na\r\n1\r\nb\r\nzz\r\n"), "ab!");
    ck_assert_str_eq(all_of("1\r\na\r\n1\r\nbb\r\n"), "ab!");
    ck_assert_str_eq(all_of("zz\r\n"), "!");
    ck_assert_str_eq(all_of("1\r\na\r\n0\r\n:\r\n\r\n"), "a!");
}

TEST(a_piece_has_at_most_so_many_bytes, "W-05")
{
    static const char text[] = "5\r\nabcde\r\n2\r\nfg\r\n4\r\nhijk\r\n0\r\n\r\n";
    size_t size = sizeof text - 1;
    ck_assert_str_eq(pieces_of(text, size, size, 7), "abcdefg|hijk.");
    ck_assert_str_eq(pieces_of(text, size, size, 6), "abcde|fghijk.");
    ck_assert_str_eq(pieces_of(text, size, size, 2), "ab|cd|e|fg|hi|jk.");
    for (size_t portion = 1; portion < size; portion++) {
        char joined[64];
        size_t length = 0;
        for (const char *at = pieces_of(text, size, portion, 3); *at; at++) {
            if (*at != '|')
                joined[length++] = *at;
        }
        joined[length] = '\0';
        ck_assert_str_eq(joined, "abcdefghijk.");
    }
}

/* A read must not take long, however small the chunks are, and must not move large chunks. */
TEST(many_chunks_and_large_chunks_are_several_pieces, "W-05")
{
    static char text[ALL];
    size_t length = 0;
    for (int i = 0; i < 10000; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "1\r\na\r\n");
    const char *said = pieces_of(text, length, length, ALL);
    ck_assert_uint_eq(strcspn(said, "|"), 256);
    length = 0;
    for (int i = 0; i < 4; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "500\r\n%01280d\r\n", 0);
    said = pieces_of(text, length, length, ALL);
    ck_assert_uint_eq(strcspn(said, "|"), 1280);
}

SUITE("http chunks", small_chunks_that_have_come_are_one_piece,
      what_comes_before_a_malformed_chunk_is_a_piece, a_piece_has_at_most_so_many_bytes,
      many_chunks_and_large_chunks_are_several_pieces)
