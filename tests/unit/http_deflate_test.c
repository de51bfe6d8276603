/* SPDX-License-Identifier: Apache-2.0 */
/**
 * permessage-deflate without context (RFC 7692), by the categories 12 and 13 of the Autobahn test suite, and gzip. The
 * other side is zlib itself, called by this test.
 */
#include "http/deflate.h"

#include "base/rng.h"
#include "support/fake_memory.h"
#include "support/ws_echo.h"

#include <zlib.h>

struct play {
    struct fake_memory memory;
    struct memory_source source;
    struct deflate *deflate;
    struct net_buffer out;
};

static void play_init(struct play *play)
{
    play->source = fake_memory_init(&play->memory);
    play->deflate = tr__deflate_new(&play->source);
    ck_assert_ptr_nonnull(play->deflate);
    play->out = NET_BUFFER(&play->source);
}

static void play_deinit(struct play *play)
{
    tr__deflate_free(play->deflate);
    tr__net_buffer_free(&play->out);
    ck_assert_uint_eq(play->memory.blocks, 0);
}

/* Deflates by zlib, with a sync flush, and removes what RFC 7692 removes. */
static struct ws_bytes oracle_deflate(const void *data, size_t size, int bits, int level)
{
    struct ws_bytes out = {.data = malloc(2 * size + 1000)};
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size};
    ck_assert_int_eq(deflateInit2(&stream, level, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_out = out.data;
    stream.avail_out = (uInt)(2 * size + 1000);
    ck_assert_int_eq(deflate(&stream, size == 0 ? Z_FULL_FLUSH : Z_SYNC_FLUSH), Z_OK);
    out.size = stream.total_out - 4;
    ck_assert_mem_eq(out.data + out.size, "\0\0\xff\xff", 4);
    deflateEnd(&stream);
    return out;
}

/* Inflates by zlib, with a window of that many bits, which is an error if more was used. */
static void oracle_inflate(tr_bytes bytes, int bits, const void *expected, size_t size)
{
    unsigned char *in = malloc(bytes.size + 4);
    unsigned char *out = malloc(size + 1);
    memcpy(in, bytes.data, bytes.size);
    memcpy(in + bytes.size, "\0\0\xff\xff", 4);
    z_stream stream = {.next_in = in, .avail_in = (uInt)bytes.size + (bits < 0 ? 4 : 0)};
    stream.next_out = out;
    stream.avail_out = (uInt)size + 1;
    ck_assert_int_eq(inflateInit2(&stream, bits), Z_OK);
    int result = inflate(&stream, Z_SYNC_FLUSH);
    ck_assert_int_eq(result, bits < 0 ? Z_OK : Z_STREAM_END);
    ck_assert_uint_eq(stream.total_out, size);
    ck_assert_uint_eq(stream.avail_in, 0);
    ck_assert(size == 0 || memcmp(out, expected, size) == 0);
    inflateEnd(&stream);
    free(in);
    free(out);
}

/* Texts that deflate well, and bytes that do not. */
static unsigned char *payload_make(size_t size, bool is_text, struct rng *rng)
{
    static const char *const words[] = {
        "{\"id\":", "12345", ",\"name\":\"", "Alyssa P. Hacker", "\"},", "\xe2\x82\xac"};
    unsigned char *data = malloc(size + 32);
    for (size_t at = 0; at < size;) {
        const char *word = words[rng_below(rng, 6)];
        if (is_text && strlen(word) <= size - at)
            at += (size_t)sprintf((char *)data + at, "%s", word);
        else
            data[at++] = is_text ? 'z' : (unsigned char)rng_below(rng, 256);
    }
    return data;
}

static const size_t sizes[] = {0, 1, 16, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 131072};

TEST(messages_of_all_sizes_go_both_ways, "W-08")
{
    struct play play;
    struct rng rng;
    rng_init(&rng, test_seed());
    play_init(&play);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        for (int bits = 9; bits <= 15; bits += 3) {
            for (int is_text = 0; is_text < 2; is_text++) {
                unsigned char *data = payload_make(sizes[i], is_text, &rng);
                tr_bytes message = {data, sizes[i]};
                ck_assert_int_eq(
                    tr__deflate_message(play.deflate, (unsigned)bits, message, &play.out), TR_OK);
                oracle_inflate(net_buffer_bytes(&play.out), -bits, data, sizes[i]);
                net_buffer_consume(&play.out, net_buffer_size(&play.out));
                struct ws_bytes deflated =
                    oracle_deflate(data, sizes[i], -bits, (int)rng_below(&rng, 10));
                tr_bytes bytes = {deflated.data, deflated.size};
                ck_assert_int_eq(tr__inflate_message(play.deflate, bytes, sizes[i], &play.out),
                                 TR_OK);
                ck_assert_uint_eq(net_buffer_size(&play.out), sizes[i]);
                ck_assert(sizes[i] == 0 ||
                          memcmp(net_buffer_bytes(&play.out).data, data, sizes[i]) == 0);
                net_buffer_consume(&play.out, sizes[i]);
                free(deflated.data);
                free(data);
            }
        }
    }
    play_deinit(&play);
}

/* The examples of RFC 7692 7.2.3, and forms that other senders use. */
TEST(the_examples_of_the_rfc_are_inflated, "W-08")
{
    static const struct {
        const char *name;
        const char *bytes;
        size_t size;
        const char *text;
    } rows[] = {
        {"7.2.3.1", "\xf2\x48\xcd\xc9\xc9\x07\x00", 7, "Hello"},
        {"7.2.3.3, stored", "\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00", 11, "Hello"},
        {"7.2.3.4, a last block", "\xf3\x48\xcd\xc9\xc9\x07\x00\x00", 8, "Hello"},
        {"7.2.3.5, two blocks",
         "\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00",
         13,
         "Hello"},
        {"7.2.3.6, empty", "\x00", 1, ""},
        {"a last block, and more",
         "\xf3\x48\xcd\xc9\xc9\x07\x00\xf2\x48\xcd\xc9\xc9\x07\x00",
         14,
         "HelloHello"},
        {"the empty block is the last one",
         "\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x01",
         11,
         "Hello"},
        {"ends inside a block", "\xf2\x48\xcd\xc9", 4, NULL},
        {"nothing at all", "", 0, NULL},
        {"a wrong kind of block", "\x06", 1, NULL},
        {"a stored block with a wrong size", "\x00\x05\x00\xfa\xfe\x48", 6, NULL},
        {"a distance before the beginning", "\x4b\x04\x22\x00\x00", 5, NULL},
    };
    struct play play;
    play_init(&play);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        tr_bytes bytes = {rows[i].bytes, rows[i].size};
        ck_assert_int_eq(tr__net_buffer_append(&play.out, "before", 6), TR_OK);
        tr_status status = tr__inflate_message(play.deflate, bytes, 100, &play.out);
        if (rows[i].text == NULL) {
            ck_assert_msg(status == TR_BAD_DATA, "%s: %d", rows[i].name, (int)status);
            ck_assert_uint_eq(net_buffer_size(&play.out), 6);
        } else {
            const char *text = rows[i].text;
            ck_assert_msg(status == TR_OK, "%s: %d", rows[i].name, (int)status);
            ck_assert_uint_eq(net_buffer_size(&play.out), 6 + strlen(text));
            ck_assert(memcmp((const char *)net_buffer_bytes(&play.out).data + 6,
                             text,
                             strlen(text)) == 0);
        }
        net_buffer_consume(&play.out, net_buffer_size(&play.out));
    }
    ck_assert_int_eq(tr__deflate_message(play.deflate, 15, (tr_bytes){"Hello", 5}, &play.out),
                     TR_OK);
    ck_assert_uint_eq(net_buffer_size(&play.out), 7);
    ck_assert_mem_eq(net_buffer_bytes(&play.out).data, "\xf2\x48\xcd\xc9\xc9\x07\x00", 7);
    play_deinit(&play);
}

TEST(a_bomb_is_stopped_at_the_limit, "W-08")
{
    struct play play;
    size_t size = 16 << 20;
    unsigned char *zeros = calloc(1, size);
    struct ws_bytes bomb = oracle_deflate(zeros, size, -15, 9);
    tr_bytes bytes = {bomb.data, bomb.size};
    play_init(&play);
    size_t before = play.memory.bytes;
    ck_assert_uint_lt(bomb.size, 20000);
    ck_assert_int_eq(tr__inflate_message(play.deflate, bytes, 100000, &play.out), TR_TOO_LARGE);
    ck_assert_uint_eq(net_buffer_size(&play.out), 0);
    ck_assert_uint_lt(play.memory.bytes - before,
                      400000); /* 40 KiB of zlib's, and a buffer that has doubled. */
    ck_assert_int_eq(tr__inflate_message(play.deflate, bytes, size - 1, &play.out), TR_TOO_LARGE);
    ck_assert_int_eq(tr__inflate_message(play.deflate, bytes, size, &play.out), TR_OK);
    ck_assert_uint_eq(net_buffer_size(&play.out), size);
    free(bomb.data);
    free(zeros);
    play_deinit(&play);
}

static struct play *echo_play;

static unsigned inflate_and_deflate(const struct ws_bytes *message, bool is_text,
                                    struct ws_bytes *to)
{
    struct net_buffer *out = &echo_play->out;
    tr_status status = tr__inflate_message(
        echo_play->deflate, (tr_bytes){message->data, message->size}, 1 << 20, out);
    if (status != TR_OK)
        return status == TR_TOO_LARGE ? WS_CODE_TOO_LARGE : WS_CODE_BAD_DATA;
    if (is_text && !tr__ws_text_is_valid(net_buffer_bytes(out)))
        return WS_CODE_BAD_DATA;
    size_t size = net_buffer_size(out);
    unsigned char *copy = malloc(size + 1);
    memcpy(copy, net_buffer_bytes(out).data, size);
    net_buffer_consume(out, size);
    ck_assert_int_eq(tr__deflate_message(echo_play->deflate, 15, (tr_bytes){copy, size}, out),
                     TR_OK);
    free(copy);
    ws_add(to, net_buffer_bytes(out).data, net_buffer_size(out));
    net_buffer_consume(out, net_buffer_size(out));
    return 0;
}

/* Gives a deflated message in frames of at most `frame_max` bytes to an endpoint that echoes. Returns what it sent. */
static struct ws_bytes echo_deflated(struct play *play, const struct ws_bytes *deflated,
                                     size_t frame_max)
{
    struct ws_echo echo = {.on_deflated = inflate_and_deflate};
    struct ws_bytes input = {0};
    echo_play = play;
    tr__ws_reader_init(&echo.reader, WS_SERVER, 1 << 20, true);
    for (size_t at = 0; at == 0 || at < deflated->size; at += frame_max) {
        size_t size = deflated->size - at < frame_max ? deflated->size - at : frame_max;
        unsigned first = at == 0 ? 0x41 : 0;
        first |= at + size == deflated->size ? 0x80 : 0;
        ws_add_frame(
            &input, (struct ws_made){.first = first, .is_masked = true}, deflated->data + at, size);
    }
    for (size_t at = 0; at < input.size; at += 997)
        ws_echo_give(&echo, input.data + at, input.size - at < 997 ? input.size - at : 997);
    struct ws_bytes sent = echo.sent;
    echo.sent = (struct ws_bytes){0};
    free(input.data);
    ws_echo_deinit(&echo);
    return sent;
}

/* Autobahn 12.1 to 12.5, with fragments as in 13. */
TEST(deflated_texts_are_echoed_over_frames, "W-08")
{
    struct play play;
    struct rng rng;
    rng_init(&rng, test_seed());
    play_init(&play);
    for (size_t i = 1; i < sizeof(sizes) / sizeof(*sizes); i++) {
        for (size_t frame_max = 1 << 20; frame_max >= 32; frame_max /= 64) {
            unsigned char *data = payload_make(sizes[i], true, &rng);
            struct ws_bytes deflated = oracle_deflate(data, sizes[i], -15, 6);
            struct ws_bytes sent = echo_deflated(&play, &deflated, frame_max);
            ck_assert_uint_eq(sent.data[0], 0xc1); /* FIN, RSV1, a text */
            unsigned length = sent.data[1];
            size_t head = length == 126 ? 4 : length == 127 ? 10 : 2;
            oracle_inflate((tr_bytes){sent.data + head, sent.size - head}, -15, data, sizes[i]);
            free(sent.data);
            free(deflated.data);
            free(data);
        }
    }
    play_deinit(&play);
}

TEST(a_deflated_text_is_utf8_when_it_is_inflated, "W-08")
{
    struct play play;
    play_init(&play);
    struct ws_bytes deflated = oracle_deflate("a\xc3\x28", 3, -15, 6);
    struct ws_bytes sent = echo_deflated(&play, &deflated, 3);
    char *text = ws_print(&sent, false);
    ck_assert_str_eq(text, "C1007\"\"");
    free(text);
    free(sent.data);
    free(deflated.data);
    play_deinit(&play);
}

TEST(gzip_is_what_zlib_reads, "")
{
    struct play play;
    struct rng rng;
    rng_init(&rng, test_seed());
    play_init(&play);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        unsigned char *data = payload_make(sizes[i], i % 2 == 0, &rng);
        ck_assert_int_eq(
            tr__gzip(play.deflate, (tr_bytes){sizes[i] > 0 ? data : NULL, sizes[i]}, &play.out),
            TR_OK);
        oracle_inflate(net_buffer_bytes(&play.out), 15 + 16, data, sizes[i]);
        net_buffer_consume(&play.out, net_buffer_size(&play.out));
        free(data);
    }
    play_deinit(&play);
}

/* Whether all that needs memory succeeded. After a failure nothing was appended, and the next call works. */
static bool is_done_with(struct fake_memory *memory, const struct memory_source *source)
{
    struct net_buffer out = NET_BUFFER(source);
    struct deflate *deflate = tr__deflate_new(source);
    bool is_done = deflate != NULL;
    static char text[10000];
    memset(text, 'a', sizeof(text));
    for (int step = 0; step < 4 && deflate != NULL; step++) {
        tr_status status =
            step == 0   ? tr__deflate_message(deflate, 15, (tr_bytes){text, sizeof(text)}, &out)
            : step == 1 ? tr__deflate_message(deflate, 10, (tr_bytes){text, 0}, &out)
            : step == 2 ? tr__gzip(deflate, (tr_bytes){text, 100}, &out)
                        : tr__inflate_message(
                              deflate, (tr_bytes){"\xf2\x48\xcd\xc9\xc9\x07\x00", 7}, 5, &out);
        ck_assert(status == TR_OK || status == TR_NO_MEMORY);
        is_done = is_done && status == TR_OK;
        ck_assert_int_eq(net_buffer_size(&out) == 0, status != TR_OK);
        tr__net_buffer_free(&out);
    }
    tr__deflate_free(deflate);
    ck_assert_uint_eq(memory->blocks, 0);
    return is_done;
}

TEST(memory_that_runs_out_is_a_status, "W-08")
{
    for (size_t fail_at = 1;; fail_at++) {
        struct fake_memory memory;
        struct memory_source source = fake_memory_init(&memory);
        memory.fail_at = fail_at;
        if (is_done_with(&memory, &source)) {
            ck_assert_uint_gt(fail_at, 6);
            break;
        }
    }
}

SUITE("http deflate", messages_of_all_sizes_go_both_ways, the_examples_of_the_rfc_are_inflated,
      a_bomb_is_stopped_at_the_limit, deflated_texts_are_echoed_over_frames,
      a_deflated_text_is_utf8_when_it_is_inflated, gzip_is_what_zlib_reads,
      memory_that_runs_out_is_a_status)
