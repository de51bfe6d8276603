/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Framings: what is written with a head is cut again, in one go and split at every byte; lengths that no
 * memory has; heads that are too long.
 */
#include "base/rng.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/limits.h>
#include <troupe/net.h>

static const tr_framing *const lengths[] = {
    TR_LENGTH(1), TR_LENGTH(2), TR_LENGTH(4), TR_LENGTH(varint)};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* Cuts in a copy that has no byte more than was given, so that a sanitizer sees each one too many. */
static size_t cut(const tr_framing *framing, const void *data, size_t size, size_t seen,
                  tr_bytes *piece)
{
    unsigned char *copy = malloc(size + (size == 0));
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, data, size);
    size_t cut_size = framing->cut(framing, (tr_bytes){copy, size}, seen, piece);
    if (cut_size != 0 && cut_size != SIZE_MAX) {
        ck_assert_uint_le(cut_size, size);
        size_t offset = (size_t)((const unsigned char *)piece->data - copy);
        ck_assert_uint_le(offset, size);
        ck_assert_uint_le(piece->size, size - offset);
        piece->data = (const unsigned char *)data + offset;
    }
    free(copy);
    return cut_size;
}

/* Appends a piece with its head. Returns the new size. */
static size_t put(const tr_framing *framing, unsigned char *to, size_t at, const void *data,
                  size_t size)
{
    unsigned char head[TR_FRAME_HEAD_MAX];
    size_t head_size = framing->head(framing, size, head);
    ck_assert_uint_le(head_size, sizeof head);
    memcpy(to + at, head, head_size);
    memcpy(to + at + head_size, data, size);
    return at + head_size + size;
}

static void check_cut(const tr_framing *framing, const char *data, size_t size, size_t expected,
                      const char *expected_piece)
{
    tr_bytes piece = {NULL, 77};
    ck_assert_uint_eq(cut(framing, data, size, 0, &piece), expected);
    if (expected_piece) {
        ck_assert_uint_eq(piece.size, strlen(expected_piece));
        ck_assert_mem_eq(piece.data, expected_piece, piece.size);
    } else {
        ck_assert_uint_eq(piece.size, 77);
    }
}

TEST(lines_end_with_lf_or_cr_lf, "")
{
    check_cut(TR_LINES, "", 0, 0, NULL);
    check_cut(TR_LINES, "abc", 3, 0, NULL);
    check_cut(TR_LINES, "abc\r", 4, 0, NULL);
    check_cut(TR_LINES, "abc\n", 4, 4, "abc");
    check_cut(TR_LINES, "abc\r\n", 5, 5, "abc");
    check_cut(TR_LINES, "abc\ndef\n", 8, 4, "abc");
    check_cut(TR_LINES, "\n", 1, 1, "");
    check_cut(TR_LINES, "\r\n", 2, 2, "");
    check_cut(TR_LINES, "\r\r\n", 3, 3, "\r");
    check_cut(TR_LINES, "a\rb\n", 4, 4, "a\rb");
    check_cut(TR_LINES, "\r\n\n", 3, 2, "");
    ck_assert(!TR_LINES->head);
}

TEST(lines_are_not_looked_at_twice, "CH-02")
{
    /* A line end among the bytes that were looked at is not found: they are not looked at again. */
    tr_bytes piece = {NULL, 77};
    ck_assert_uint_eq(cut(TR_LINES, "abc\ndef", 7, 4, &piece), 0);
    ck_assert_uint_eq(cut(TR_LINES, "abc\ndef\n", 8, 4, &piece), 8);
    ck_assert_uint_eq(cut(TR_LINES, "abc", 3, 3, &piece), 0);
    ck_assert_uint_eq(TR_LINES->cut(TR_LINES, (tr_bytes){NULL, 0}, 0, &piece), 0);
    /* A CR that was looked at and the LF behind it are one end. */
    ck_assert_uint_eq(cut(TR_LINES, "abc\r\n", 5, 4, &piece), 5);
    ck_assert_uint_eq(piece.size, 3);
}

TEST(lengths_are_heads_of_pieces, "")
{
    check_cut(TR_LENGTH(1), "\0", 1, 1, "");
    check_cut(TR_LENGTH(1), "\3abcd", 5, 4, "abc");
    check_cut(TR_LENGTH(1), "\3ab", 3, 0, NULL);
    check_cut(TR_LENGTH(2), "\0\3abcd", 6, 5, "abc");
    check_cut(TR_LENGTH(2), "\1\0abcd", 6, 0, NULL);
    check_cut(TR_LENGTH(2), "\0", 1, 0, NULL);
    check_cut(TR_LENGTH(4), "\0\0\0\3abcd", 8, 7, "abc");
    check_cut(TR_LENGTH(4), "\0\0\0\0", 4, 4, "");
    check_cut(TR_LENGTH(4), "\0\0\0", 3, 0, NULL);
    check_cut(TR_LENGTH(varint), "\3abcd", 5, 4, "abc");
    check_cut(TR_LENGTH(varint), "\0", 1, 1, "");
    check_cut(TR_LENGTH(varint), "\x83", 1, 0, NULL);
    check_cut(TR_LENGTH(varint),
              "\xac\x02"
              "abc",
              5,
              0,
              NULL);
    for (int i = 0; i < LENGTHS; i++)
        check_cut(lengths[i], "", 0, 0, NULL);
}

TEST(heads_are_the_highest_byte_first, "")
{
    unsigned char head[TR_FRAME_HEAD_MAX];
    ck_assert_uint_eq(TR_LENGTH(1)->head(TR_LENGTH(1), 0xfe, head), 1);
    ck_assert_mem_eq(head, "\xfe", 1);
    ck_assert_uint_eq(TR_LENGTH(2)->head(TR_LENGTH(2), 0x1234, head), 2);
    ck_assert_mem_eq(head, "\x12\x34", 2);
    ck_assert_uint_eq(TR_LENGTH(4)->head(TR_LENGTH(4), 0x12345678, head), 4);
    ck_assert_mem_eq(head, "\x12\x34\x56\x78", 4);
    ck_assert_uint_eq(TR_LENGTH(varint)->head(TR_LENGTH(varint), 300, head), 2);
    ck_assert_mem_eq(head, "\xac\x02", 2);
    ck_assert_uint_eq(TR_LENGTH(varint)->head(TR_LENGTH(varint), SIZE_MAX, head), 10);
    ck_assert_mem_eq(head, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
}

TEST(a_piece_that_its_head_cannot_say_is_refused, "")
{
    static const struct {
        const tr_framing *framing;
        size_t largest;
        size_t head;
    } cases[] = {{TR_LENGTH(1), 0xff, 1}, {TR_LENGTH(2), 0xffff, 2}, {TR_LENGTH(4), 0xffffffff, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char head[TR_FRAME_HEAD_MAX];
        const tr_framing *framing = cases[i].framing;
        ck_assert_uint_eq(framing->head(framing, cases[i].largest, head), cases[i].head);
        ck_assert_uint_eq(framing->head(framing, cases[i].largest + 1, head), SIZE_MAX);
        ck_assert_uint_eq(framing->head(framing, SIZE_MAX, head), SIZE_MAX);
    }
}

TEST(a_length_that_no_memory_has_does_not_overflow, "")
{
    check_cut(TR_LENGTH(4),
              "\xff\xff\xff\xff"
              "abc",
              7,
              0,
              NULL);
    /* 2^63, 2^64 - 12, 2^64 - 11: with its head of ten bytes the second has SIZE_MAX - 1 bytes. */
    check_cut(TR_LENGTH(varint), "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10, 0, NULL);
    check_cut(TR_LENGTH(varint), "\xf4\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, 0, NULL);
    check_cut(TR_LENGTH(varint), "\xf5\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, SIZE_MAX, NULL);
    check_cut(TR_LENGTH(varint), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, SIZE_MAX, NULL);
}

TEST(a_varint_has_ten_bytes_at_most, "")
{
    /* Padded with zeros, as protobuf allows. */
    check_cut(TR_LENGTH(varint),
              "\x83\x00"
              "abcd",
              6,
              5,
              "abc");
    check_cut(TR_LENGTH(varint), "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 10, 10, "");
    check_cut(TR_LENGTH(varint), "\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00z", 11, 11, "z");
    check_cut(TR_LENGTH(varint), "\x80\x80\x80\x80\x80\x80\x80\x80\x80", 9, 0, NULL);
    /* The tenth byte has one bit; an eleventh byte there is not. */
    check_cut(TR_LENGTH(varint), "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 10, SIZE_MAX, NULL);
    check_cut(TR_LENGTH(varint), "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", 10, SIZE_MAX, NULL);
    check_cut(
        TR_LENGTH(varint), "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x81\x00", 11, SIZE_MAX, NULL);
}

/* A stream as it comes, and how much of it was looked at. */
struct stream {
    const unsigned char *data;
    size_t begin;
    size_t seen;
    size_t end;
};

/* Cuts all pieces that have come. Appends "size:bytes," for each; ends with the status that a channel would. */
static bool cut_all(const tr_framing *framing, struct stream *stream, char *said)
{
    for (;;) {
        tr_bytes piece;
        size_t size = cut(framing,
                          stream->data + stream->begin,
                          stream->end - stream->begin,
                          stream->seen,
                          &piece);
        stream->seen = stream->end - stream->begin;
        if (size == 0)
            return true;
        if (size == SIZE_MAX)
            return false;
        said += strlen(said);
        sprintf(said, "%zu:%.*s,", piece.size, (int)piece.size, (const char *)piece.data);
        stream->begin += size;
        stream->seen = 0;
    }
}

/* Three cuts of the stream at all places, and byte by byte, give what one gives. */
static void check_splits(const tr_framing *framing, const unsigned char *data, size_t size,
                         const char *expected)
{
    char said[4096] = "";
    struct stream stream = {.data = data, .end = size};
    ck_assert(cut_all(framing, &stream, said));
    ck_assert_str_eq(said, expected);
    for (size_t first = 0; first <= size; first++) {
        for (size_t second = first; second <= size; second++) {
            const size_t ends[] = {first, second, size};
            stream = (struct stream){.data = data};
            said[0] = '\0';
            for (int i = 0; i < 3; i++) {
                stream.end = ends[i];
                ck_assert(cut_all(framing, &stream, said));
            }
            ck_assert_str_eq(said, expected);
        }
    }
    stream = (struct stream){.data = data};
    said[0] = '\0';
    while (stream.end < size) {
        stream.end++;
        ck_assert(cut_all(framing, &stream, said));
    }
    ck_assert_str_eq(said, expected);
}

TEST(lines_split_at_every_byte_are_the_same, "CH-02")
{
    static const char text[] = "one\r\n\n\r\ntwo, longer\nthree\rx\r\n";
    check_splits(TR_LINES,
                 (const unsigned char *)text,
                 sizeof text - 1,
                 "3:one,0:,0:,11:two, longer,7:three\rx,");
}

TEST(lengths_split_at_every_byte_are_the_same, "CH-02")
{
    char longer[141];
    memset(longer, 'x', sizeof longer);
    longer[140] = '\0';
    const char *const pieces[] = {"one", "", "two, longer", longer, "", ""};
    for (int i = 0; i < LENGTHS; i++) {
        unsigned char data[512];
        char expected[1024] = "";
        size_t size = 0;
        for (size_t j = 0; j < sizeof pieces / sizeof *pieces; j++) {
            size = put(lengths[i], data, size, pieces[j], strlen(pieces[j]));
            sprintf(expected + strlen(expected), "%zu:%s,", strlen(pieces[j]), pieces[j]);
        }
        check_splits(lengths[i], data, size, expected);
    }
}

TEST(what_is_written_is_cut_again, "")
{
    struct rng rng;
    rng_init(&rng, test_seed());
    unsigned char *data = malloc(70000);
    unsigned char *piece_data = malloc(70000);
    ck_assert(data && piece_data);
    for (int i = 0; i < 70000; i++)
        piece_data[i] = (unsigned char)rng_next(&rng);
    for (int i = 0; i < 2000; i++) {
        const tr_framing *framing = lengths[rng_below(&rng, LENGTHS)];
        size_t max = framing == TR_LENGTH(1) ? 256 : 65536;
        size_t size = rng_below(&rng, rng_below(&rng, max) + 1);
        size_t total = put(framing, data, 0, piece_data, size);
        tr_bytes piece;
        ck_assert_uint_eq(framing->cut(framing, (tr_bytes){data, total}, 0, &piece), total);
        ck_assert_uint_eq(piece.size, size);
        ck_assert_mem_eq(piece.data, piece_data, size);
        if (total > 0)
            ck_assert_uint_eq(framing->cut(framing, (tr_bytes){data, total - 1}, 0, &piece), 0);
    }
    free(data);
    free(piece_data);
}

SUITE("net framing", lines_end_with_lf_or_cr_lf, lines_are_not_looked_at_twice,
      lengths_are_heads_of_pieces, heads_are_the_highest_byte_first,
      a_piece_that_its_head_cannot_say_is_refused, a_length_that_no_memory_has_does_not_overflow,
      a_varint_has_ten_bytes_at_most, lines_split_at_every_byte_are_the_same,
      lengths_split_at_every_byte_are_the_same, what_is_written_is_cut_again)
