/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The PROXY header: both versions split at every byte, what is refused and with which status, and memory that
 * runs out.
 */
#include "net/proxy.h"

#include "support/fake_memory.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <troupe/limits.h>

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define V4_ADDRESSES "\xcb\x00\x71\x07\x0a\x00\x00\x02\xc7\x38\x01\xbb"
#define V6_HOST(last) "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0" last
#define V6_ADDRESSES V6_HOST("\x07") V6_HOST("\x02") "\xc7\x38\x01\xbb"

/* A header with the size of its literal. */
struct header {
    const char *data;
    size_t size;
};
#define HEADER(literal)                                                                            \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

struct play {
    struct fake_memory memory;
    struct memory_source source;
    struct proxy *proxy;
    struct net_buffer in;
    struct net_buffer out;
};

static void play_init(struct play *play)
{
    play->source = fake_memory_init(&play->memory);
    play->proxy = tr__proxy_new(&play->source);
    ck_assert_ptr_nonnull(play->proxy);
    play->in = NET_BUFFER(&play->source);
    play->out = NET_BUFFER(&play->source);
    ck_assert_int_eq(tr__proxy_filter.begin(play->proxy, &play->out), TR_OK);
}

static void play_deinit(struct play *play)
{
    tr__proxy_filter.free(play->proxy);
    tr__net_buffer_free(&play->in);
    tr__net_buffer_free(&play->out);
    ck_assert_uint_eq(play->memory.blocks, 0);
}

/* Gives exactly these bytes, in memory that ends behind them. */
static tr_status give(struct play *play, const char *data, size_t size, size_t *taken)
{
    char *copy = malloc(size + (size == 0));
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, data, size);
    tr_status status =
        tr__proxy_filter.inbound(play->proxy, (tr_bytes){copy, size}, taken, &play->in, &play->out);
    free(copy);
    ck_assert_uint_eq(net_buffer_size(&play->out), 0);
    return status;
}

/* What the header has said: "source > destination". */
static void check_addresses(const struct play *play, const char *expected)
{
    char source[TR_ADDRESS_TEXT_MAX];
    char destination[TR_ADDRESS_TEXT_MAX];
    char both[2 * TR_ADDRESS_TEXT_MAX + 3];
    snprintf(both,
             sizeof both,
             "%s > %s",
             tr_address_print(&play->proxy->source, source),
             tr_address_print(&play->proxy->destination, destination));
    ck_assert_str_eq(both, expected);
}

/* Gives a stream that comes in two portions, `cut` bytes first, or byte by byte if `cut` is above its size. */
static void check_stream(const char *data, size_t size, size_t header, size_t cut,
                         const char *expected)
{
    struct play play;
    play_init(&play);
    size_t begin = 0;
    for (size_t end = cut > size ? 1 : cut; end <= size; end = cut > size ? end + 1 : size) {
        size_t taken;
        ck_assert_int_eq(give(&play, data + begin, end - begin, &taken), TR_OK);
        ck_assert_uint_eq(taken, end < header ? 0 : end - begin);
        ck_assert_int_eq(tr__proxy_filter.is_open(play.proxy), end >= header);
        begin += taken;
        if (cut <= size && end == size)
            break;
    }
    check_addresses(&play, expected);
    ck_assert_uint_eq(net_buffer_size(&play.in), size - header);
    if (size > header)
        ck_assert_mem_eq(net_buffer_bytes(&play.in).data, data + header, size - header);
    ck_assert_str_eq(tr__proxy_filter.text(play.proxy), "");
    ck_assert_int_eq(tr__proxy_filter.input_end(play.proxy), TR_CLOSED);
    play_deinit(&play);
}

static void check_header(struct header header, const char *expected)
{
    static const char behind[] = "PROXY\r\n\0 and more";
    char data[TR_PROXY_HEADER_MAX + 64];
    size_t size = header.size + sizeof behind;
    memcpy(data, header.data, header.size);
    memcpy(data + header.size, behind, sizeof behind);
    for (size_t cut = 0; cut <= size + 1; cut++)
        check_stream(data, size, header.size, cut, expected);
    check_stream(data, header.size, header.size, header.size, expected);
}

TEST(version_1_split_at_every_byte_is_read, "CH-02")
{
    check_header((struct header)HEADER("PROXY TCP4 203.0.113.7 10.0.0.2 51000 443\r\n"),
                 "203.0.113.7:51000 > 10.0.0.2:443");
    check_header((struct header)HEADER("PROXY TCP6 2001:db8::7 2001:db8::2 51000 443\r\n"),
                 "[2001:db8::7]:51000 > [2001:db8::2]:443");
    check_header((struct header)HEADER("PROXY TCP6 ::ffff:1.2.3.4 ::1 0 65535\r\n"),
                 "[::ffff:1.2.3.4]:0 > [::1]:65535");
    check_header((struct header)HEADER("PROXY UNKNOWN\r\n"), "none > none");
    check_header((struct header)HEADER(
                     "PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
                     "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"), /* 107 bytes */
                 "none > none");
    check_header((struct header)HEADER("PROXY UNKNOWN what\0ever\xff\r\n"), "none > none");
}

TEST(version_2_split_at_every_byte_is_read, "CH-02")
{
    check_header((struct header)HEADER(SIGNATURE "\x21\x11\x00\x0c" V4_ADDRESSES),
                 "203.0.113.7:51000 > 10.0.0.2:443");
    check_header((struct header)HEADER(SIGNATURE "\x21\x12\x00\x0c" V4_ADDRESSES),
                 "203.0.113.7:51000 > 10.0.0.2:443");
    check_header((struct header)HEADER(SIGNATURE "\x21\x21\x00\x24" V6_ADDRESSES),
                 "[2001:db8::7]:51000 > [2001:db8::2]:443");
    /* LOCAL, whatever follows, and a family that is not specified. */
    check_header((struct header)HEADER(SIGNATURE "\x20\x00\x00\x00"), "none > none");
    check_header((struct header)HEADER(SIGNATURE "\x20\x11\x00\x0c" V4_ADDRESSES), "none > none");
    check_header((struct header)HEADER(SIGNATURE "\x20\xff\x00\x02zz"), "none > none");
    check_header((struct header)HEADER(SIGNATURE "\x21\x00\x00\x03zzz"), "none > none");
    /* Two values behind the addresses, one of them empty. */
    check_header((struct header)HEADER(SIGNATURE "\x21\x11\x00\x17" V4_ADDRESSES "\x02\x00\x05"
                                                 "a.exa"
                                                 "\x04\x00\x00"),
                 "203.0.113.7:51000 > 10.0.0.2:443");
}

TEST(a_unix_address_has_no_path_here, "")
{
    char data[16 + 216] = SIGNATURE "\x21\x31\x00\xd8/run/client.sock";
    struct header header = {data, sizeof data};
    check_stream(header.data, header.size, header.size, header.size, "unix > unix");
    check_stream(header.data, header.size, header.size, header.size + 1, "unix > unix");
}

/* ---- Checksums. ---- */

/* The checksum of the next case was computed by another program, whose CRC-32C of "123456789" is 0xe3069283. */
#define WITH_CHECKSUM(sum) SIGNATURE "\x21\x11\x00\x13" V4_ADDRESSES "\x03\x00\x04" sum

TEST(a_checksum_is_compared, "")
{
    check_header((struct header)HEADER(WITH_CHECKSUM("\x11\xc1\x65\x26")),
                 "203.0.113.7:51000 > 10.0.0.2:443");
}

/* ---- What is refused. ---- */

TEST(what_is_no_header_is_refused, "SE-07")
{
    static const struct {
        struct header header;
        tr_status status;
        const char *text;
    } cases[] = {
        {HEADER("G"), TR_BAD_DATA, "no header at all"},
        {HEADER("GET / HTTP/1.1\r\n"), TR_BAD_DATA, "no header at all"},
        {HEADER("proxy TCP4 "), TR_BAD_DATA, "no header at all"},
        {HEADER("PROXX"), TR_BAD_DATA, "no header at all"},
        {HEADER("PROXY\t"), TR_BAD_DATA, "no header at all"},
        {HEADER("\0"), TR_BAD_DATA, "no header at all"},
        {HEADER("\r\n\r\n\r"), TR_BAD_DATA, "no header at all"},
        {HEADER("PROXY \r\n"), TR_BAD_DATA, "unknown protocol"},
        {HEADER("PROXY  TCP4 1.2.3.4 1.2.3.4 1 2\r\n"), TR_BAD_DATA, "unknown protocol"},
        {HEADER("PROXY TCP5 1.2.3.4 1.2.3.4 1 2\r\n"), TR_BAD_DATA, "unknown protocol"},
        {HEADER("PROXY tcp4 1.2.3.4 1.2.3.4 1 2\r\n"), TR_BAD_DATA, "unknown protocol"},
        {HEADER("PROXY UDP4 1.2.3.4 1.2.3.4 1 2\r\n"), TR_BAD_DATA, "unknown protocol"},
        {HEADER("PROXY UNKNOWNS\r\n"), TR_BAD_DATA, "unknown protocol"},
        {HEADER("PROXY TCP4\r\n"), TR_BAD_DATA, "invalid address"},
        {HEADER("PROXY TCP4 \r\n"), TR_BAD_DATA, "invalid address"},
        {HEADER("PROXY TCP4 1.2.3.4\r\n"), TR_BAD_DATA, "invalid address"},
        {HEADER("PROXY TCP4  1.2.3.4 1.2.3.4 1 2\r\n"), TR_BAD_DATA, "invalid address"},
        {HEADER("PROXY TCP4 1.2.3.4  1.2.3.4 1 2\r\n"), TR_BAD_DATA, "invalid address"},
        {HEADER("PROXY TCP4 01.2.3.4 1.2.3.4 1 2\r\n"), TR_BAD_DATA, "invalid address"},
        {HEADER("PROXY TCP4 1.2.3.4 1.2.3.256 1 2\r\n"), TR_BAD_DATA, "invalid address"},
        {HEADER("PROXY TCP4 ::1 1.2.3.4 1 2\r\n"), TR_BAD_DATA, "invalid address"},
        {HEADER("PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n"), TR_BAD_DATA, "invalid address"},
        {HEADER("PROXY TCP6 fe80::1%1 ::1 1 2\r\n"), TR_BAD_DATA, "invalid address"},
        {HEADER("PROXY TCP6 [::1] ::1 1 2\r\n"), TR_BAD_DATA, "invalid address"},
        {HEADER("PROXY TCP4 1.2.3.4\0 1.2.3.4 1 2\r\n"), TR_BAD_DATA, "invalid address"},
        {HEADER("PROXY TCP4 1.2.3.4 1.2.3.4\r\n"), TR_BAD_DATA, "invalid port"},
        {HEADER("PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n"), TR_BAD_DATA, "invalid port"},
        {HEADER("PROXY TCP4 1.2.3.4 1.2.3.4 1 \r\n"), TR_BAD_DATA, "invalid port"},
        {HEADER("PROXY TCP4 1.2.3.4 1.2.3.4 1 2 \r\n"), TR_BAD_DATA, "invalid port"},
        {HEADER("PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n"), TR_BAD_DATA, "invalid port"},
        {HEADER("PROXY TCP4 1.2.3.4 1.2.3.4 1  2\r\n"), TR_BAD_DATA, "invalid port"},
        {HEADER("PROXY TCP4 1.2.3.4 1.2.3.4 65536 2\r\n"), TR_BAD_DATA, "invalid port"},
        {HEADER("PROXY TCP4 1.2.3.4 1.2.3.4 1 02\r\n"), TR_BAD_DATA, "invalid port"},
        {HEADER("PROXY TCP4 1.2.3.4 1.2.3.4 -1 2\r\n"), TR_BAD_DATA, "invalid port"},
        {HEADER("PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n"), TR_BAD_DATA, "LF without CR"},
        {HEADER("PROXY UNKNOWN a\nb\r\n"), TR_BAD_DATA, "LF without CR"},
        {HEADER("PROXY UNKNOWN a\rb\r\n"), TR_BAD_DATA, "CR inside the line"},
        {HEADER("PROXY UNKNOWN\r\r\n"), TR_BAD_DATA, "CR inside the line"},
        {HEADER(SIGNATURE "\x11"), TR_BAD_DATA, "unknown version"},
        {HEADER(SIGNATURE "\x31\x11\x00\x0c" V4_ADDRESSES), TR_BAD_DATA, "unknown version"},
        {HEADER(SIGNATURE "\x22"), TR_BAD_DATA, "unknown command"},
        {HEADER(SIGNATURE "\x2f\x11\x00\x0c" V4_ADDRESSES), TR_BAD_DATA, "unknown command"},
        {HEADER(SIGNATURE "\x21\x13\x00\x0c" V4_ADDRESSES), TR_BAD_DATA, "unknown family"},
        {HEADER(SIGNATURE "\x21\x10\x00\x0c" V4_ADDRESSES), TR_BAD_DATA, "unknown family"},
        {HEADER(SIGNATURE "\x21\x01\x00\x00"), TR_BAD_DATA, "unknown family"},
        {HEADER(SIGNATURE "\x21\x41\x00\x0c" V4_ADDRESSES), TR_BAD_DATA, "unknown family"},
        {HEADER(SIGNATURE "\x21\x11\x00\x00"), TR_BAD_DATA, "too short for its addresses"},
        {HEADER(SIGNATURE "\x21\x11\x00\x0b" V4_ADDRESSES),
         TR_BAD_DATA,
         "too short for its addresses"},
        {HEADER(SIGNATURE "\x21\x21\x00\x23" V6_ADDRESSES),
         TR_BAD_DATA,
         "too short for its addresses"},
        {HEADER(SIGNATURE "\x21\x31\x00\x0c" V4_ADDRESSES),
         TR_BAD_DATA,
         "too short for its addresses"},
        {HEADER(SIGNATURE "\x21\x11\x00\x0d" V4_ADDRESSES "\x04"),
         TR_BAD_DATA,
         "a value is longer than the header"},
        {HEADER(SIGNATURE "\x21\x11\x00\x0e" V4_ADDRESSES "\x04\x00"),
         TR_BAD_DATA,
         "a value is longer than the header"},
        {HEADER(SIGNATURE "\x21\x11\x00\x10" V4_ADDRESSES "\x04\x00\x02z"),
         TR_BAD_DATA,
         "a value is longer than the header"},
        {HEADER(SIGNATURE "\x21\x11\x00\x0f" V4_ADDRESSES "\x04\xff\xff"),
         TR_BAD_DATA,
         "a value is longer than the header"},
        {HEADER(SIGNATURE "\x21\x11\x00\x12" V4_ADDRESSES "\x03\x00\x03zzz"),
         TR_BAD_DATA,
         "invalid checksum"},
        {HEADER(WITH_CHECKSUM("\0\0\0\0")), TR_BAD_DATA, "wrong checksum"},
        {HEADER(SIGNATURE "\x21\x11\x10\x01"), TR_TOO_LARGE, "more than 4096 bytes"},
        {HEADER(SIGNATURE "\x20\x00\xff\xff"), TR_TOO_LARGE, "more than 4096 bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct header *header = &cases[i].header;
        struct play play;
        play_init(&play);
        size_t taken = 77;
        tr_status status = give(&play, header->data, header->size, &taken);
        if (status != cases[i].status || !strstr(play.proxy->text, cases[i].text))
            ck_abort_msg("%zu: %s, \"%s\" instead of \"%s\"",
                         i,
                         tr_status_name(status),
                         play.proxy->text,
                         cases[i].text);
        ck_assert_uint_eq(taken, 0);
        ck_assert(!tr__proxy_filter.is_open(play.proxy));
        check_addresses(&play, "none > none");
        ck_assert_uint_eq(net_buffer_size(&play.in), 0);
        play_deinit(&play);
    }
}

/* Byte by byte, a bad header is refused at its first wrong byte at the latest when it is complete. */
TEST(a_line_without_end_is_refused_at_its_limit, "SE-07")
{
    char data[200];
    memset(data, 'x', sizeof data);
    memcpy(data, "PROXY UNKNOWN ", 14);
    for (size_t size = 1; size <= sizeof data; size++) {
        struct play play;
        play_init(&play);
        size_t taken;
        ck_assert_int_eq(give(&play, data, size, &taken), size < 107 ? TR_OK : TR_BAD_DATA);
        ck_assert_uint_eq(taken, 0);
        play_deinit(&play);
    }
    /* An end of which only the CR is within the limit is too late. */
    struct play play;
    play_init(&play);
    size_t taken;
    memcpy(data + 106, "\r\n", 2);
    ck_assert_int_eq(give(&play, data, 108, &taken), TR_BAD_DATA);
    play_deinit(&play);
}

/* A header of `size` bytes behind its first 16, one value long. */
static size_t large_header(char *data, size_t size)
{
    size_t value = size - 12 - 3;
    memcpy(data, SIGNATURE "\x21\x11\x00\x00" V4_ADDRESSES "\x05", 29);
    data[14] = (char)(size >> 8);
    data[15] = (char)size;
    data[29] = (char)(value >> 8);
    data[30] = (char)value;
    memset(data + 31, 'x', value);
    return 16 + size;
}

TEST(the_limit_of_version_2_is_exact, "SE-07")
{
    static char data[TR_PROXY_HEADER_MAX + 64];
    size_t size = large_header(data, TR_PROXY_HEADER_MAX);
    check_stream(data, size, size, 100, "203.0.113.7:51000 > 10.0.0.2:443");
    check_stream(data, size + 7, size, size, "203.0.113.7:51000 > 10.0.0.2:443");
    struct play play;
    play_init(&play);
    size_t taken;
    large_header(data, TR_PROXY_HEADER_MAX + 1);
    ck_assert_int_eq(give(&play, data, 15, &taken), TR_OK);
    ck_assert_int_eq(give(&play, data, 16, &taken), TR_TOO_LARGE);
    play_deinit(&play);
}

/* ---- The rest of the filter. ---- */

TEST(an_end_amid_the_header_is_a_reset, "")
{
    struct play play;
    play_init(&play);
    size_t taken;
    ck_assert_int_eq(tr__proxy_filter.input_end(play.proxy), TR_CLOSED);
    ck_assert_int_eq(give(&play, "PROX", 4, &taken), TR_OK);
    ck_assert_int_eq(tr__proxy_filter.input_end(play.proxy), TR_RESET);
    play_deinit(&play);
}

TEST(what_the_actor_writes_passes, "")
{
    struct play play;
    play_init(&play);
    ck_assert_int_eq(tr__proxy_filter.outbound(play.proxy, (tr_bytes){"hello", 5}, &play.out),
                     TR_OK);
    ck_assert_int_eq(tr__proxy_filter.finish(play.proxy, &play.out), TR_OK);
    ck_assert_uint_eq(net_buffer_size(&play.out), 5);
    ck_assert_mem_eq(net_buffer_bytes(&play.out).data, "hello", 5);
    play_deinit(&play);
}

TEST(memory_that_runs_out_changes_nothing, "")
{
    static const char data[] = "PROXY TCP4 203.0.113.7 10.0.0.2 51000 443\r\nhello";
    struct play play;
    play_init(&play);
    play.memory.fail_all = true;
    size_t taken;
    ck_assert_ptr_null(tr__proxy_new(&play.source));
    ck_assert_int_eq(give(&play, data, sizeof data, &taken), TR_NO_MEMORY);
    ck_assert_uint_eq(taken, 0);
    ck_assert(!tr__proxy_filter.is_open(play.proxy));
    ck_assert_int_eq(tr__proxy_filter.outbound(play.proxy, (tr_bytes){"x", 1}, &play.out),
                     TR_NO_MEMORY);
    play.memory.fail_all = false;
    ck_assert_int_eq(give(&play, data, sizeof data, &taken), TR_OK);
    ck_assert_uint_eq(taken, sizeof data);
    check_addresses(&play, "203.0.113.7:51000 > 10.0.0.2:443");
    play_deinit(&play);
    tr__proxy_filter.free(NULL);
}

SUITE("net proxy", version_1_split_at_every_byte_is_read, version_2_split_at_every_byte_is_read,
      a_unix_address_has_no_path_here, a_checksum_is_compared, what_is_no_header_is_refused,
      a_line_without_end_is_refused_at_its_limit, the_limit_of_version_2_is_exact,
      an_end_amid_the_header_is_a_reset, what_the_actor_writes_passes,
      memory_that_runs_out_changes_nothing)
