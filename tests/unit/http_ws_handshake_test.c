/* SPDX-License-Identifier: Apache-2.0 */
/** The handshake of WebSocket: keys, tokens, origins, and the agreement on permessage-deflate. SHA-1 below it. */
#include "http/ws_extension.h"
#include "http/ws_handshake.h"

#include "base/base64.h"
#include "base/sha1.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy whose memory ends behind the text. */
static tr_bytes exact(const char *text)
{
    static char *copies[64];
    static size_t next;
    char **copy = &copies[next++ % 64];
    free(*copy);
    *copy = malloc(strlen(text) + (*text == '\0'));
    ck_assert_ptr_nonnull(*copy);
    memcpy(*copy, text, strlen(text));
    return (tr_bytes){*copy, strlen(text)};
}

static void check_sha1(const void *bytes, size_t size, const char *expected)
{
    unsigned char hash[SHA1_SIZE];
    char text[2 * SHA1_SIZE + 1];
    tr__sha1(bytes, size, hash);
    for (size_t i = 0; i < SHA1_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", hash[i]);
    ck_assert_str_eq(text, expected);
}

/* The examples of FIPS 180, and the sizes at which the padding takes one block more. */
TEST(sha1_gives_the_known_hashes, "")
{
    static char zeros[1000000];
    check_sha1("abc", 3, "a9993e364706816aba3e25717850c26c9cd0d89d");
    check_sha1(NULL, 0, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    check_sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
               56,
               "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    check_sha1(memset(zeros, 'a', sizeof(zeros)),
               sizeof(zeros),
               "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    check_sha1(zeros, 55, "c1c8bbdc22796e28c0e15163d20899b65621d65a");
    check_sha1(zeros, 56, "c2db330f6083854c99d4b5bfb6e8f29f201be699");
    check_sha1(zeros, 63, "03f09f5b158a7a8cdad920bddc29b81c18a551f5");
    check_sha1(zeros, 64, "0098ba824b5c16427bd7a1122a5a442a25ec644d");
    check_sha1(zeros, 65, "11655326c708d70319be2610e8a57d9a5b959d3b");
}

/* RFC 4648, section 10. */
TEST(base64_gives_the_known_texts, "")
{
    static const char *const texts[] = {
        "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (size_t size = 0; size <= 6; size++) {
        char text[16];
        char *end = base64_write(text, (const unsigned char *)"foobar", size);
        *end = '\0';
        ck_assert_str_eq(text, texts[size]);
        ck_assert_uint_eq((size_t)(end - text), BASE64_SIZE(size));
    }
}

/* The example of RFC 6455 1.3. */
TEST(the_answer_to_a_key_is_that_of_the_rfc, "W-08")
{
    char accept[WS_ACCEPT_SIZE + 1];
    char key[WS_KEY_SIZE + 1];
    tr__ws_accept_write(exact("dGhlIHNhbXBsZSBub25jZQ=="), accept);
    ck_assert_str_eq(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    tr__ws_key_write((const unsigned char *)"the sample nonce", key);
    ck_assert_str_eq(key, "dGhlIHNhbXBsZSBub25jZQ==");
    ck_assert(tr__ws_accept_is_valid(exact(key), exact("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")));
    ck_assert(!tr__ws_accept_is_valid(exact(key), exact("s3pPLMBiTxaQ9kYGzzhZRbK+xOO=")));
    ck_assert(!tr__ws_accept_is_valid(exact(key), exact("s3pPLMBiTxaQ9kYGzzhZRbK+xOo")));
    ck_assert(!tr__ws_accept_is_valid(exact(key), exact("")));
}

TEST(keys_are_the_base64_of_16_bytes, "W-08")
{
    static const struct {
        const char *key;
        bool is_valid;
    } rows[] = {
        {"dGhlIHNhbXBsZSBub25jZQ==", true},
        {"++++++++++++++++/////w==", true},
        {"", false},
        {"dGhlIHNhbXBsZSBub25jZQ=", false},
        {"dGhlIHNhbXBsZSBub25jZQ", false},
        {"dGhlIHNhbXBsZSBub25jZQAA", false},
        {"dGhlIHNhbXBsZSBub25jZQ===", false},
        {"dGhlIHNhbXBsZSBub25j ZQ=", false},
        {"dGhlIHNhbXBsZSBub25-ZQ==", false},
        {"dGhlIHNhbXBsZSBub2=jZQ==", false},
        {"AAAAAAAAAAAAAAAAAAAAAAAAAA==", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        ck_assert_msg(
            tr__ws_key_is_valid(exact(rows[i].key)) == rows[i].is_valid, "%s", rows[i].key);
    ck_assert(tr__ws_version_is_valid(exact("13")));
    ck_assert(!tr__ws_version_is_valid(exact("8")));
    ck_assert(!tr__ws_version_is_valid(exact("13, 8")));
    ck_assert(!tr__ws_version_is_valid(exact("")));
    ck_assert(!tr__ws_version_is_valid(exact("013")));
}

TEST(tokens_are_found_in_lists, "W-08")
{
    static const struct {
        const char *list;
        bool has;
    } rows[] = {
        {"Upgrade", true},
        {"upgrade", true},
        {"keep-alive, Upgrade", true},
        {"keep-alive ,\tUPGRADE ", true},
        {"upgrade,close", true},
        {"", false},
        {"upgraded", false},
        {"keep-alive", false},
        {"up grade", false},
        {",,", false},
        {" , upgrade,", true},
        {"-upgrade", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        ck_assert_msg(
            tr__ws_list_has(exact(rows[i].list), "upgrade") == rows[i].has, "%s", rows[i].list);
}

TEST(pages_of_other_hosts_are_refused_unless_listed, "W-08")
{
    static const char *const listed[] = {"https://app.example.org", "null", NULL};
    static const char *const all[] = {"*", NULL};
    static const struct {
        const char *origin;
        const char *host;
        bool is_allowed;
        bool is_listed; /* allowed with the list */
    } rows[] = {
        {"", "example.org", true, true},
        {"http://example.org", "example.org", true, true},
        {"https://example.org", "example.org", true, true},
        {"https://EXAMPLE.org", "example.ORG", true, true},
        {"https://example.org", "example.org:443", true, true},
        {"https://example.org:443", "example.org", true, true},
        {"http://example.org", "example.org:80", true, true},
        {"http://example.org:8080", "example.org:8080", true, true},
        {"http://example.org:8080", "example.org", false, false},
        {"http://example.org", "example.org:8080", false, false},
        {"http://example.org", "example.org:443", false, false},
        {"http://[::1]:8080", "[::1]:8080", true, true},
        {"http://[::1]", "[::1]", true, true},
        {"http://[::1", "[::1", false, false},
        {"http://evil.org", "example.org", false, false},
        {"http://example.org.evil.org", "example.org", false, false},
        {"http://xexample.org", "example.org", false, false},
        {"http://example.org/", "example.org", false, false},
        {"http://example.org@evil.org", "evil.org", false, false},
        {"https://app.example.org", "example.org", false, true},
        {"https://app.example.org:444", "example.org", false, false},
        {"null", "example.org", false, true},
        {"null", "null", false, true},
        {"file://", "", false, false},
        {"http://", "", false, false},
        {"http://:80", ":80", false, false},
        {"ftp://example.org", "example.org", false, false},
        {"http", "http", false, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        tr_bytes origin = exact(rows[i].origin);
        tr_bytes host = exact(rows[i].host);
        ck_assert_msg(
            tr__ws_origin_is_allowed(origin, host, NULL) == rows[i].is_allowed, "row %zu", i);
        ck_assert_msg(
            tr__ws_origin_is_allowed(origin, host, listed) == rows[i].is_listed, "row %zu", i);
        ck_assert_msg(tr__ws_origin_is_allowed(origin, host, all), "row %zu", i);
    }
}

#define ANSWER "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

/* RFC 7692, sections 5.1 and 7.1; Autobahn's 13 offers these parameters. */
TEST(the_first_offer_that_can_be_kept_is_taken, "W-08")
{
    static const struct {
        const char *offers;
        const char *answer;
        unsigned bits;
    } rows[] = {
        {"", "", 0},
        {"permessage-deflate", ANSWER, 15},
        {"permessage-deflate; client_max_window_bits", ANSWER, 15},
        {"permessage-deflate;client_max_window_bits=10", ANSWER, 15},
        {"permessage-deflate ; client_max_window_bits = \"10\"", ANSWER, 15},
        {"permessage-deflate; server_max_window_bits=9", ANSWER "; server_max_window_bits=9", 9},
        {"permessage-deflate; server_max_window_bits=15", ANSWER "; server_max_window_bits=15", 15},
        {"permessage-deflate; client_no_context_takeover; server_no_context_takeover", ANSWER, 15},
        {"x-webkit-deflate-frame, permessage-deflate", ANSWER, 15},
        {"foo; bar=\"baz\"; x, permessage-deflate", ANSWER, 15},
        {"permessage-deflate; server_max_window_bits=8, permessage-deflate", ANSWER, 15},
        {"permessage-deflate; what, permessage-deflate; server_max_window_bits=12, "
         "permessage-deflate",
         ANSWER "; server_max_window_bits=12",
         12},
        {"permessage-deflate; server_max_window_bits=8", "", 0},
        {"permessage-deflate; server_max_window_bits", "", 0},
        {"permessage-deflate; server_max_window_bits=16", "", 0},
        {"permessage-deflate; server_max_window_bits=010", "", 0},
        {"permessage-deflate; server_max_window_bits=7", "", 0},
        {"permessage-deflate; client_max_window_bits=7", "", 0},
        {"permessage-deflate; client_max_window_bits=1x", "", 0},
        {"permessage-deflate; client_max_window_bits=100", "", 0},
        {"permessage-deflate; server_no_context_takeover=1", "", 0},
        {"permessage-deflate; server_no_context_takeover; server_no_context_takeover", "", 0},
        {"permessage-deflate; client_max_window_bits; client_max_window_bits=9", "", 0},
        {"permessage-deflates", "", 0},
        {"Permessage-Deflate", "", 0},
        {"permessage-deflate;", "", 0},
        {"permessage-deflate,", "", 0},
        {", permessage-deflate", "", 0},
        {"permessage-deflate; x=\"", "", 0},
        {"permessage-deflate; x=", "", 0},
        {"permessage-deflate x", "", 0},
        {"permessage-deflate; client_max_window_bits=\"9", "", 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char answer[WS_DEFLATE_ANSWER_MAX];
        struct ws_deflate agreed = tr__ws_deflate_answer(exact(rows[i].offers), answer);
        ck_assert_msg(strcmp(answer, rows[i].answer) == 0, "%s: %s", rows[i].offers, answer);
        ck_assert_msg(agreed.is_agreed == (rows[i].bits > 0) && agreed.bits == rows[i].bits,
                      "%s",
                      rows[i].offers);
    }
}

TEST(a_client_takes_what_it_offered_and_no_more, "W-08")
{
    static const struct {
        const char *answer;
        bool is_fine;
        bool is_agreed;
    } rows[] = {
        {"", true, false},
        {ANSWER, true, true},
        {"permessage-deflate; server_no_context_takeover", true, true},
        {"permessage-deflate; server_no_context_takeover; server_max_window_bits=10", true, true},
        {"permessage-deflate", false, false},
        {"permessage-deflate; server_no_context_takeover; client_max_window_bits=10", false, false},
        {"permessage-deflate; server_no_context_takeover; server_max_window_bits", false, false},
        {"permessage-deflate; server_no_context_takeover; x", false, false},
        {ANSWER ", " ANSWER, false, false},
        {"x-other", false, false},
        {";", false, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct ws_deflate agreed;
        ck_assert_msg(tr__ws_deflate_accepted(exact(rows[i].answer), &agreed) == rows[i].is_fine,
                      "%s",
                      rows[i].answer);
        ck_assert_msg(agreed.is_agreed == rows[i].is_agreed, "%s", rows[i].answer);
    }
    /* What a client offers, a server takes. */
    char answer[WS_DEFLATE_ANSWER_MAX];
    struct ws_deflate agreed;
    ck_assert(tr__ws_deflate_answer(exact(WS_DEFLATE_OFFER), answer).is_agreed);
    ck_assert(tr__ws_deflate_accepted(exact(answer), &agreed));
    ck_assert(agreed.is_agreed);
}

SUITE("http ws handshake", sha1_gives_the_known_hashes, base64_gives_the_known_texts,
      the_answer_to_a_key_is_that_of_the_rfc, keys_are_the_base64_of_16_bytes,
      tokens_are_found_in_lists, pages_of_other_hosts_are_refused_unless_listed,
      the_first_offer_that_can_be_kept_is_taken, a_client_takes_what_it_offered_and_no_more)
