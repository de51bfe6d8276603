/* SPDX-License-Identifier: Apache-2.0 */
/** Queries, forms, percent-encoding, URLs, cookies and Accept-Encoding: what is read, what is refused. */
#include "http/cookie.h"
#include "http/encoding.h"
#include "http/query.h"

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

/* Prints all pairs, decoded: "a=1|b=2"; "!" for what cannot be decoded. */
static const char *pairs_of(const char *text)
{
    static char all[512];
    struct query query = query_of(exact(text));
    struct query_pair pair;
    size_t length = 0;
    *all = '\0';
    while (tr__query_next(&query, &pair)) {
        char name[128];
        char value[128];
        if (tr__query_decode(pair.name, name, NULL) != TR_OK)
            strcpy(name, "!");
        if (tr__query_decode(pair.value, value, NULL) != TR_OK)
            strcpy(value, "!");
        length += (size_t)snprintf(
            all + length, sizeof(all) - length, "%s%s=%s", length > 0 ? "|" : "", name, value);
    }
    return all;
}

TEST(queries_are_cut_and_decoded, "")
{
    ck_assert_str_eq(pairs_of(""), "");
    ck_assert_str_eq(pairs_of("a=1"), "a=1");
    ck_assert_str_eq(pairs_of("a=1&b=2"), "a=1|b=2");
    ck_assert_str_eq(pairs_of("&&a=1&&b=2&"), "a=1|b=2");
    ck_assert_str_eq(pairs_of("a"), "a=");
    ck_assert_str_eq(pairs_of("a&b="), "a=|b=");
    ck_assert_str_eq(pairs_of("=1"), "=1");
    ck_assert_str_eq(pairs_of("a=b=c"), "a=b=c");
    ck_assert_str_eq(pairs_of("a+b=c+d"), "a b=c d");
    ck_assert_str_eq(pairs_of("a%26=%3d%2B"), "a&==+");
    ck_assert_str_eq(pairs_of("euro=%E2%82%ac"), "euro=\xe2\x82\xac");
    ck_assert_str_eq(pairs_of("a=%"), "a=!");
    ck_assert_str_eq(pairs_of("a=%4"), "a=!");
    ck_assert_str_eq(pairs_of("a=%4g"), "a=!");
    ck_assert_str_eq(pairs_of("a=%00"), "a=!");
    ck_assert_str_eq(pairs_of("a=%ff"), "a=!");
    ck_assert_str_eq(pairs_of("a=%C0%80"), "a=!");
    ck_assert_str_eq(pairs_of("%zz=1&b=2"), "!=1|b=2");
}

TEST(names_are_found_decoded_and_the_first_counts, "")
{
    tr_bytes value;
    tr_bytes text = exact("a%62=1&ab=2&c+d=3&%zz=4");
    ck_assert(tr__query_find(text, "ab", &value));
    ck_assert_mem_eq(value.data, "1", 1);
    ck_assert(tr__query_find(text, "c d", &value));
    ck_assert(!tr__query_find(text, "a", &value));
    ck_assert(!tr__query_find(text, "abc", &value));
    ck_assert(!tr__query_find(text, "", &value));
    ck_assert(!tr__query_find(exact("%00=1"), "", &value));
    ck_assert(!tr__query_find(exact(""), "a", &value));
}

TEST(paths_keep_plus_signs, "")
{
    char to[32];
    size_t length;
    ck_assert_int_eq(tr__path_decode(exact("a+b%20c"), to, &length), TR_OK);
    ck_assert_str_eq(to, "a+b c");
    ck_assert_uint_eq(length, 5);
    ck_assert_int_eq(tr__path_decode(exact("%2"), to, &length), TR_BAD_DATA);
    ck_assert_int_eq(tr__path_decode((tr_bytes){NULL, 0}, to, &length), TR_OK);
    ck_assert_str_eq(to, "");
}

TEST(encoding_is_undone_by_decoding, "")
{
    char encoded[256 * 3 + 1];
    char decoded[256 * 3 + 1];
    char small[5];
    char all[128];
    for (size_t i = 0; i < 127; i++)
        all[i] = (char)(i + 1);
    size_t length = tr__percent_encode((tr_bytes){all, 127}, encoded, sizeof(encoded));
    ck_assert_uint_eq(length, strlen(encoded));
    ck_assert_int_eq(tr__path_decode(exact(encoded), decoded, &length), TR_OK);
    ck_assert_uint_eq(length, 127);
    ck_assert_mem_eq(decoded, all, 127);
    ck_assert_uint_eq(tr__percent_encode((tr_bytes){"a b", 3}, small, sizeof(small)), 5);
    ck_assert_str_eq(small, "a%20");
    ck_assert_uint_eq(tr__percent_encode((tr_bytes){"a b", 3}, NULL, 0), 5);
}

TEST(urls_are_cut, "")
{
    static const struct {
        const char *text;
        const char *parts; /* NULL: refused */
    } rows[] = {
        {"http://example.org", "plain example.org 80 /"},
        {"HTTPS://example.org/", "secure example.org 443 /"},
        {"ws://h:8080/chat?room=1", "plain ws h 8080 /chat?room=1"},
        {"wss://[::1]:9/a", "secure ws ::1 9 /a"},
        {"http://h?x=1#part", "plain h 80 ?x=1"},
        {"http://h/#", "plain h 80 /"},
        {"http://h:/a", "plain h 80 /a"},
        {"http://h:65535", "plain h 65535 /"},
        {"http://h:65536", NULL},
        {"http://h:99999999999999999999", NULL},
        {"http://h:0", NULL},
        {"http://h:8a", NULL},
        {"http://:80", NULL},
        {"http://", NULL},
        {"http:///a", NULL},
        {"http://user@h/", NULL},
        {"http://user:pass@h/", NULL},
        {"http://[::1", NULL},
        {"http://[::1]x", NULL},
        {"http://[]", NULL},
        {"ftp://h", NULL},
        {"h", NULL},
        {"", NULL},
        {"http://h/a b", NULL},
        {"http://h/\r\nX: y", NULL},
        {"http://h\\a", NULL},
        {"http://h/\xe2\x82\xac", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct url url;
        char parts[128];
        tr_status status = tr__url_cut(exact(rows[i].text), &url);
        if (rows[i].parts == NULL) {
            ck_assert_msg(status == TR_ADDRESS_INVALID, "%s", rows[i].text);
            continue;
        }
        ck_assert_msg(status == TR_OK, "%s", rows[i].text);
        snprintf(parts,
                 sizeof(parts),
                 "%s%s %.*s %u %.*s",
                 url.is_secure ? "secure" : "plain",
                 url.is_websocket ? " ws" : "",
                 (int)url.host.size,
                 (const char *)url.host.data,
                 url.port,
                 (int)url.target.size,
                 (const char *)url.target.data);
        ck_assert_str_eq(parts, rows[i].parts);
    }
}

static const char *cookies_in(const char *header)
{
    static char all[256];
    struct cookies cookies = cookies_of(exact(header));
    struct cookie_pair pair;
    size_t length = 0;
    *all = '\0';
    while (tr__cookie_next(&cookies, &pair))
        length += (size_t)snprintf(all + length,
                                   sizeof(all) - length,
                                   "(%.*s)(%.*s)",
                                   (int)pair.name.size,
                                   (const char *)pair.name.data,
                                   (int)pair.value.size,
                                   (const char *)pair.value.data);
    return all;
}

TEST(cookies_are_cut, "")
{
    tr_bytes value;
    ck_assert_str_eq(cookies_in(""), "");
    ck_assert_str_eq(cookies_in("a=1"), "(a)(1)");
    ck_assert_str_eq(cookies_in("a=1; b=2"), "(a)(1)(b)(2)");
    ck_assert_str_eq(cookies_in(" a = 1 ;b=2;"), "(a)(1)(b)(2)");
    ck_assert_str_eq(cookies_in("a=\"x y\"; b=\"; c=\"\""), "(a)(x y)(b)(\")(c)()");
    ck_assert_str_eq(cookies_in("a=b=c"), "(a)(b=c)");
    ck_assert_str_eq(cookies_in("a; =b; ; c="), "(c)()");
    ck_assert(tr__cookie_find(exact("a=1; A=2; a=3"), "A", &value));
    ck_assert_mem_eq(value.data, "2", 1);
    ck_assert(tr__cookie_find(exact("a=1; A=2; a=3"), "a", &value));
    ck_assert_mem_eq(value.data, "1", 1);
    ck_assert(!tr__cookie_find(exact("ab=1"), "a", &value));
}

TEST(cookies_are_written_as_browsers_read_them, "")
{
    char text[200];
    size_t length;
    struct cookie cookie = {.name = "session", .value = "31d4"};
    ck_assert_int_eq(tr__cookie_write(&cookie, text, sizeof(text), &length), TR_OK);
    ck_assert_str_eq(text, "session=31d4");
    cookie = (struct cookie){"s", "", "/", "example.org", true, -1, true, true, COOKIE_NONE};
    ck_assert_int_eq(tr__cookie_write(&cookie, text, sizeof(text), &length), TR_OK);
    ck_assert_str_eq(text,
                     "s=; Path=/; Domain=example.org; Max-Age=-1; Secure; HttpOnly; SameSite=None");
    ck_assert_uint_eq(length, strlen(text));
    ck_assert_int_eq(tr__cookie_write(&cookie, text, 5, &length), TR_OK);
    ck_assert_str_eq(text, "s=; ");
    ck_assert_uint_gt(length, 70);
    cookie.is_secure = false;
    ck_assert_int_eq(tr__cookie_write(&cookie, text, sizeof(text), &length), TR_INVALID_ARGUMENT);
    static const char *const bad[] = {
        "a b", "a;b", "a,b", "a\"b", "a\\b", "a\r\nb", "\xc3\xa4", "\x7f"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        cookie = (struct cookie){.name = "a", .value = bad[i]};
        ck_assert_int_eq(tr__cookie_write(&cookie, text, sizeof(text), &length),
                         TR_INVALID_ARGUMENT);
        cookie = (struct cookie){.name = bad[i], .value = "a"};
        ck_assert_int_eq(tr__cookie_write(&cookie, text, sizeof(text), &length),
                         TR_INVALID_ARGUMENT);
    }
    cookie = (struct cookie){.name = "a", .value = "b", .path = "/; Domain=evil.org"};
    ck_assert_int_eq(tr__cookie_write(&cookie, text, sizeof(text), &length), TR_INVALID_ARGUMENT);
    cookie = (struct cookie){.name = "", .value = "b"};
    ck_assert_int_eq(tr__cookie_write(&cookie, text, sizeof(text), &length), TR_INVALID_ARGUMENT);
    cookie = (struct cookie){.name = "a=b", .value = "b"};
    ck_assert_int_eq(tr__cookie_write(&cookie, text, sizeof(text), &length), TR_INVALID_ARGUMENT);
}

TEST(gzip_is_accepted_if_its_weight_is_not_0, "")
{
    static const struct {
        const char *list;
        bool is_accepted;
    } rows[] = {
        {"gzip", true},
        {"gzip, deflate, br", true},
        {"deflate,GZIP;q=0.5", true},
        {"br ; q=1 , gzip ; q=0.001", true},
        {"*", true},
        {"*;q=0, gzip", true},
        {"gzip;q=0, *", false},
        {"gzip;q=0", false},
        {"gzip;q=0.000", false},
        {"identity", false},
        {"*;q=0", false},
        {"x-gzip", false},
        {"gzipped", false},
        {"", false},
        {",", false},
        {"gzip;q=2", false},
        {"gzip;q=1.5", false},
        {"gzip;q=0.1234", false},
        {"gzip;q=", false},
        {"gzip;x=1", false},
        {"gzip deflate", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        ck_assert_msg(tr__encoding_is_accepted(exact(rows[i].list), "gzip") == rows[i].is_accepted,
                      "%s",
                      rows[i].list);
}

SUITE("http query", queries_are_cut_and_decoded, names_are_found_decoded_and_the_first_counts,
      paths_keep_plus_signs, encoding_is_undone_by_decoding, urls_are_cut, cookies_are_cut,
      cookies_are_written_as_browsers_read_them, gzip_is_accepted_if_its_weight_is_not_0)
