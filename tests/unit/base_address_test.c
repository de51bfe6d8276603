/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Addresses: what is read, what is refused, that what is printed is read again, and all of it against the
 * readers and printers of the C library.
 */
#include "base/address.h"

#include "base/rng.h"
#include "support/test.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <troupe/limits.h>

static tr_address address_of(const char *text)
{
    tr_address address;
    if (tr_address_parse(text, &address) != TR_OK)
        ck_abort_msg("\"%s\" was refused", text);
    return address;
}

static void check_print(const char *text, const char *expected)
{
    char printed[TR_ADDRESS_TEXT_MAX];
    tr_address address = address_of(text);
    ck_assert_ptr_eq(tr_address_print(&address, printed), printed);
    ck_assert_str_eq(printed, expected);
}

TEST(addresses_are_read, "")
{
    static const uint8_t zeros[16] = {0};
    tr_address address = address_of("10.0.255.7:7000");
    ck_assert_uint_eq(address.family, TR_FAMILY_V4);
    ck_assert_uint_eq(address.port, 7000);
    ck_assert_mem_eq(address.host, "\x0a\x00\xff\x07\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    ck_assert_uint_eq(address.scope, 0);
    address = address_of("[fe80::1:a0B%4294967295]:65535");
    ck_assert_uint_eq(address.family, TR_FAMILY_V6);
    ck_assert_uint_eq(address.port, 65535);
    ck_assert_uint_eq(address.scope, UINT32_MAX);
    ck_assert_mem_eq(address.host, "\xfe\x80\0\0\0\0\0\0\0\0\0\0\x00\x01\x0a\x0b", 16);
    address = address_of(":0");
    ck_assert_uint_eq(address.family, TR_FAMILY_V6);
    ck_assert_uint_eq(address.port, 0);
    ck_assert_mem_eq(address.host, zeros, 16);
}

TEST(addresses_are_printed_in_one_way, "")
{
    static const char *const pairs[][2] = {
        {"127.0.0.1:0", "127.0.0.1:0"},
        {"255.255.255.255:65535", "255.255.255.255:65535"},
        {":7000", "[::]:7000"},
        {"[::]:7000", "[::]:7000"},
        {"[::1]:1", "[::1]:1"},
        {"[1::]:1", "[1::]:1"},
        {"[2001:DB8::0:1]:80", "[2001:db8::1]:80"},
        {"[2001:db8:0:1:1:1:1:1]:80", "[2001:db8:0:1:1:1:1:1]:80"},
        {"[2001:0:0:1:0:0:0:1]:80", "[2001:0:0:1::1]:80"},
        {"[2001:db8:0:0:1:0:0:1]:80", "[2001:db8::1:0:0:1]:80"},
        {"[0:0:0:0:0:0:0:1]:80", "[::1]:80"},
        {"[1:2:3:4:5:6:7::]:80", "[1:2:3:4:5:6:7:0]:80"},
        {"[::2:3:4:5:6:7:8]:80", "[0:2:3:4:5:6:7:8]:80"},
        {"[::ffff:10.0.0.7]:80", "[::ffff:10.0.0.7]:80"},
        {"[::ffff:a00:7]:80", "[::ffff:10.0.0.7]:80"},
        {"[::10.0.0.7]:80", "[::a00:7]:80"},
        {"[64:ff9b::1.2.3.4]:80", "[64:ff9b::102:304]:80"},
        {"[1:2:3:4:5:6:1.2.3.4]:80", "[1:2:3:4:5:6:102:304]:80"},
        {"[fe80::1%0]:80", "[fe80::1]:80"},
        {"[fe80::1%12]:80", "[fe80::1%12]:80"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        check_print(pairs[i][0], pairs[i][1]);
}

TEST(what_is_no_network_address_is_printed_as_a_word, "")
{
    char text[TR_ADDRESS_TEXT_MAX];
    ck_assert_str_eq(tr_address_print(&(tr_address){.family = TR_FAMILY_NONE}, text), "none");
    ck_assert_str_eq(tr_address_print(&(tr_address){.family = TR_FAMILY_UNIX}, text), "unix");
    ck_assert_str_eq(tr_address_print(&(tr_address){.family = 77}, text), "none");
}

TEST(the_longest_address_fits, "")
{
    char text[TR_ADDRESS_TEXT_MAX];
    tr_address address = {
        .family = TR_FAMILY_V6, .port = UINT16_MAX, .scope = UINT32_MAX, .host = {0}};
    memset(address.host, 0xff, sizeof address.host);
    tr_address_print(&address, text);
    ck_assert_str_eq(text, "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff%4294967295]:65535");
    tr_address again = address_of(text);
    ck_assert(tr_address_is_equal(&address, &again));
}

TEST(bad_texts_are_refused_and_nothing_is_written, "")
{
    static const char *const texts[] = {"",
                                        ":",
                                        "::",
                                        "1",
                                        "7000",
                                        "localhost:80",
                                        "host",
                                        "1.2.3.4",
                                        "1.2.3.4:",
                                        "[::1]",
                                        "[::1]:",
                                        /* ports */
                                        "1.2.3.4:65536",
                                        "1.2.3.4:99999999999999999999",
                                        "1.2.3.4:-1",
                                        "1.2.3.4:+1",
                                        "1.2.3.4: 80",
                                        "1.2.3.4:80 ",
                                        "1.2.3.4:0x50",
                                        "1.2.3.4:080",
                                        "1.2.3.4:00",
                                        "1.2.3.4:http",
                                        ":80x",
                                        ":\n80",
                                        "::80",
                                        "[::1]80",
                                        "[::1]:80]",
                                        /* IPv4 */
                                        "1.2.3:80",
                                        "1.2.3.4.5:80",
                                        "1.2.3.256:80",
                                        "1.2.3.-4:80",
                                        "1..3.4:80",
                                        ".1.2.3:80",
                                        "1.2.3.:80",
                                        "01.2.3.4:80",
                                        "1.2.3.00:80",
                                        "0x1.2.3.4:80",
                                        " 1.2.3.4:80",
                                        "1.2.3.4 :80",
                                        "1.2.3.4%1:80",
                                        "[1.2.3.4]:80",
                                        "16909060:80",
                                        /* IPv6 */
                                        "::1:80",
                                        "[]:80",
                                        "[:]:80",
                                        "[:::]:80",
                                        "[::1:80",
                                        "::1]:80",
                                        "[[::1]]:80",
                                        "[1:2:3:4:5:6:7]:80",
                                        "[1:2:3:4:5:6:7:8:9]:80",
                                        "[1:2:3:4:5:6:7:8::]:80",
                                        "[::1:2:3:4:5:6:7:8]:80",
                                        "[1::2::3]:80",
                                        "[1:::2]:80",
                                        "[:1:2:3:4:5:6:7]:80",
                                        "[1:2:3:4:5:6:7:]:80",
                                        "[12345::]:80",
                                        "[::g]:80",
                                        "[::0x1]:80",
                                        "[::-1]:80",
                                        "[ ::1]:80",
                                        "[::1 ]:80",
                                        "[::1.2.3]:80",
                                        "[::1.2.3.256]:80",
                                        "[::01.2.3.4]:80",
                                        "[1:2:3:4:5:6:7:1.2.3.4]:80",
                                        "[1.2.3.4::]:80",
                                        "[::1.2.3.4:5]:80",
                                        "[::.]:80",
                                        "[::1/64]:80",
                                        /* scopes */
                                        "[fe80::1%]:80",
                                        "[fe80::1%eth0]:80",
                                        "[fe80::1%4294967296]:80",
                                        "[fe80::1%-1]:80",
                                        "[fe80::1%01]:80",
                                        "[fe80::1%1%1]:80",
                                        "[%1]:80",
                                        "[fe80::%1::]:80",
                                        "[::1]%1:80"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tr_address address = {.family = 77, .port = 78};
        if (tr_address_parse(texts[i], &address) != TR_ADDRESS_INVALID)
            ck_abort_msg("\"%s\" was read", texts[i]);
        ck_assert_uint_eq(address.family, 77);
        ck_assert_uint_eq(address.port, 78);
    }
    tr_address address;
    ck_assert_int_eq(tr_address_parse(NULL, &address), TR_ADDRESS_INVALID);
}

/* Random bytes, of which many are zero, as in addresses that people use. */
static tr_address random_address(struct rng *rng)
{
    bool is_v6 = rng_below(rng, 2);
    tr_address address = {.family = is_v6 ? TR_FAMILY_V6 : TR_FAMILY_V4,
                          .port = (uint16_t)rng_next(rng),
                          .scope = is_v6 && rng_below(rng, 2) ? (uint32_t)rng_next(rng) : 0};
    for (int i = 0; i < (is_v6 ? 16 : 4); i += 2) {
        if (rng_below(rng, 2)) {
            address.host[i] = rng_below(rng, 2) ? (uint8_t)rng_next(rng) : 0;
            address.host[i + 1] = (uint8_t)rng_next(rng);
        }
    }
    if (is_v6 && rng_below(rng, 8) == 0) {
        memset(address.host, 0, 10);
        memset(address.host + 10, 0xff, 2);
    }
    return address;
}

TEST(what_is_printed_is_read_again, "")
{
    struct rng rng;
    rng_init(&rng, test_seed());
    for (uint64_t i = 0; i < test_scale(20000, 2000000); i++) {
        char text[TR_ADDRESS_TEXT_MAX];
        tr_address address = random_address(&rng);
        tr_address again = address_of(tr_address_print(&address, text));
        if (!tr_address_is_equal(&address, &again) || memcmp(&address, &again, sizeof again) != 0)
            ck_abort_msg("%s is read as another one", text);
    }
}

/* The printer of the C library writes the deprecated "::10.0.0.7" too; ours does not. */
static bool is_compatible_v4(const tr_address *address)
{
    static const uint8_t zeros[12] = {0};
    return memcmp(address->host, zeros, sizeof zeros) == 0;
}

TEST(printed_hosts_are_those_of_the_c_library, "")
{
    struct rng rng;
    rng_init(&rng, test_seed());
    for (int i = 0; i < 20000; i++) {
        char text[TR_ADDRESS_TEXT_MAX];
        char host[INET6_ADDRSTRLEN];
        char expected[TR_ADDRESS_TEXT_MAX];
        tr_address address = random_address(&rng);
        address.scope = 0;
        bool is_v6 = address.family == TR_FAMILY_V6;
        if (is_v6 && is_compatible_v4(&address))
            continue;
        ck_assert_ptr_nonnull(
            inet_ntop(is_v6 ? AF_INET6 : AF_INET, address.host, host, sizeof host));
        snprintf(expected, sizeof expected, is_v6 ? "[%s]:%d" : "%s:%d", host, address.port);
        ck_assert_str_eq(tr_address_print(&address, text), expected);
    }
}

/* Texts that are almost addresses: random ones of few characters, and real ones with one changed. */
static void random_text(struct rng *rng, char *text, bool *is_v6)
{
    static const char characters[] = "0123456789afFg:::...%";
    tr_address address = random_address(rng);
    *is_v6 = address.family == TR_FAMILY_V6;
    size_t length = rng_below(rng, 12);
    if (rng_below(rng, 2)) {
        inet_ntop(*is_v6 ? AF_INET6 : AF_INET, address.host, text, INET6_ADDRSTRLEN);
        text[rng_below(rng, strlen(text))] = characters[rng_below(rng, sizeof characters - 1)];
        return;
    }
    for (size_t i = 0; i < length; i++)
        text[i] = characters[rng_below(rng, sizeof characters - 1)];
    text[length] = '\0';
}

TEST(hosts_are_read_as_the_c_library_reads_them, "")
{
    struct rng rng;
    rng_init(&rng, test_seed());
    int read_count = 0;
    for (int i = 0; i < 200000; i++) {
        char text[TR_ADDRESS_TEXT_MAX];
        uint8_t expected[16] = {0};
        tr_address address = {.family = TR_FAMILY_NONE};
        bool is_v6;
        random_text(&rng, text, &is_v6);
        bool is_good = inet_pton(is_v6 ? AF_INET6 : AF_INET, text, expected) == 1;
        tr_status status = is_v6 ? tr__address_read_v6(text, strlen(text), &address)
                                 : tr__address_read_v4(text, strlen(text), &address);
        if ((status == TR_OK) != is_good)
            ck_abort_msg("\"%s\": the C library says %d", text, is_good);
        if (is_good && memcmp(address.host, expected, is_v6 ? 16 : 4) != 0)
            ck_abort_msg("\"%s\" is another one", text);
        read_count += is_good;
    }
    ck_assert_int_gt(read_count, 1000);
}

TEST(addresses_are_equal_if_all_that_counts_is, "")
{
    static const char *const texts[] = {"1.2.3.4:80",
                                        "1.2.3.4:81",
                                        "1.2.3.5:80",
                                        "[::ffff:1.2.3.4]:80",
                                        "[::1]:80",
                                        "[::1%2]:80",
                                        "[::1%3]:80",
                                        "[::1]:81"};
    size_t count = sizeof texts / sizeof *texts;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            tr_address a = address_of(texts[i]);
            tr_address b = address_of(texts[j]);
            ck_assert_int_eq(tr_address_is_equal(&a, &b), i == j);
        }
    }
    /* What is not part of an IPv4 address does not count. */
    tr_address a = address_of("1.2.3.4:80");
    tr_address b = a;
    b.scope = 7;
    b.host[15] = 1;
    ck_assert(tr_address_is_equal(&a, &b));
    tr_address none = {.family = TR_FAMILY_NONE};
    tr_address local = {.family = TR_FAMILY_UNIX};
    ck_assert(tr_address_is_equal(&none, &none));
    ck_assert(tr_address_is_equal(&local, &local));
    ck_assert(!tr_address_is_equal(&none, &local));
}

TEST(host_and_port_are_split, "")
{
    char host[TR_HOST_MAX + 1];
    uint16_t port = 0;
    ck_assert_int_eq(tr__address_split("localhost:7000", host, sizeof host, &port), TR_OK);
    ck_assert_str_eq(host, "localhost");
    ck_assert_uint_eq(port, 7000);
    ck_assert_int_eq(tr__address_split("a-1._b.x4.EXAMPLE.:0", host, sizeof host, &port), TR_OK);
    ck_assert_str_eq(host, "a-1._b.x4.EXAMPLE.");
    ck_assert_uint_eq(port, 0);
    ck_assert_int_eq(tr__address_split("1.2.3.4a:1", host, sizeof host, &port), TR_OK);
    ck_assert_int_eq(tr__address_split("0xg:1", host, sizeof host, &port), TR_OK);
    /* The buffer: the host and its NUL. */
    ck_assert_int_eq(tr__address_split("host:65535", host, 5, &port), TR_OK);
    ck_assert_int_eq(tr__address_split("host:1", host, 4, &port), TR_ADDRESS_INVALID);
    ck_assert_int_eq(tr__address_split("host:1", host, 0, &port), TR_ADDRESS_INVALID);
    ck_assert_uint_eq(port, 65535);
}

/* "aaa.aaa...:80": a host of `size` bytes whose labels have at most `label` characters. */
static void host_of(char *text, size_t size, size_t label)
{
    for (size_t i = 0; i < size; i++)
        text[i] = (i + 1) % (label + 1) == 0 ? '.' : 'a';
    strcpy(text + size, ":80");
}

TEST(hosts_have_limits, "")
{
    char text[TR_HOST_MAX + 20];
    char host[TR_HOST_MAX + 20];
    uint16_t port;
    host_of(text, TR_HOST_MAX, 63);
    ck_assert_int_eq(tr__address_split(text, host, sizeof host, &port), TR_OK);
    ck_assert_uint_eq(strlen(host), TR_HOST_MAX);
    host_of(text, TR_HOST_MAX + 1, 60);
    ck_assert_int_eq(tr__address_split(text, host, sizeof host, &port), TR_ADDRESS_INVALID);
    host_of(text, 63, 63);
    ck_assert_int_eq(tr__address_split(text, host, sizeof host, &port), TR_OK);
    host_of(text, 64, 64);
    ck_assert_int_eq(tr__address_split(text, host, sizeof host, &port), TR_ADDRESS_INVALID);
}

TEST(bad_hosts_are_refused, "")
{
    static const char *const texts[] = {
        "",           ":",          ":80",       "host",           "host:",       "host:x",
        "host:080",   "host:65536", "host:80 ",  "host: 80",       "host:80:80",  " host:80",
        "ho st:80",   ".host:80",   "host..:80", "a..b:80",        ".:80",        "-a:80",
        "a-:80",      "a.-b.c:80",  "a.b-.c:80", "h\xc3\xb6st:80", "host%1:80",   "[host]:80",
        "[::1]:80",   "::1:80",     "/tmp/x:80", "user@host:80",   "http://h:80", "host\n:80",
        "1.2.3.4:80", "1.2.3:80",   "80:80",     "a.1:80",         "a.017.:80",   "0x7f.1:80",
        "a.0x7F:80",  "a.0x:80"};
    char host[TR_HOST_MAX + 1] = "as it was";
    uint16_t port = 7;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (tr__address_split(texts[i], host, sizeof host, &port) != TR_ADDRESS_INVALID)
            ck_abort_msg("\"%s\" was split", texts[i]);
    }
    ck_assert_int_eq(tr__address_split(NULL, host, sizeof host, &port), TR_ADDRESS_INVALID);
    ck_assert_str_eq(host, "as it was");
    ck_assert_uint_eq(port, 7);
}

SUITE("base address", addresses_are_read, addresses_are_printed_in_one_way,
      what_is_no_network_address_is_printed_as_a_word, the_longest_address_fits,
      bad_texts_are_refused_and_nothing_is_written, what_is_printed_is_read_again,
      printed_hosts_are_those_of_the_c_library, hosts_are_read_as_the_c_library_reads_them,
      addresses_are_equal_if_all_that_counts_is, host_and_port_are_split, hosts_have_limits,
      bad_hosts_are_refused)
