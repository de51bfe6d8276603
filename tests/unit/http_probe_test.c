/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Heads and chunks against the public cases of Http11Probe (tests/data), as a pure function: what a server would answer
 * to the bytes of each case. "200" is a request that goes to a handler; "close" behind it: the connection is not kept;
 * "wait": more bytes are needed.
 */
#include "http/chunk.h"
#include "http/head.h"
#include "support/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 100, ANSWERS_MAX = 8 };
static const struct http_limits limits = {.head_max = 16 * 1024, .headers_max = FIELDS};

struct verdict {
    char text[128];
    int good;    /* requests that would go to a handler */
    int refused; /* the status of a refusal; 0: none */
    bool closes;
};

/* Takes the body behind a head. Returns its size; SIZE_MAX: it is not there; SIZE_MAX - 1: it is malformed. */
static size_t body_of(const struct http_head *head, const char *data, size_t size)
{
    struct http_chunk chunk = {0};
    size_t at = 0;
    if (!head->is_chunked) {
        size_t length = head->length > 0 ? (size_t)head->length : 0;
        return length <= size ? length : SIZE_MAX;
    }
    while (!chunk.is_over) {
        tr_bytes piece;
        size_t used = tr__http_chunk_next(&chunk, (tr_bytes){data + at, size - at}, &piece);
        if (chunk.is_bad)
            return SIZE_MAX - 1;
        if (!used)
            return SIZE_MAX;
        at += used;
    }
    return at;
}

static void add(struct verdict *verdict, const char *text)
{
    size_t size = strlen(verdict->text);
    snprintf(verdict->text + size, sizeof verdict->text - size, "%s%s", size ? " " : "", text);
}

/* What a server would answer to these bytes, of which `data` is a copy of its own. */
static struct verdict judge(char *data, size_t size)
{
    struct verdict verdict = {.text = ""};
    struct tr_http_field fields[FIELDS];
    size_t at = 0;
    while (at < size) {
        struct http_head head = {.fields = fields};
        tr_bytes piece;
        size_t used =
            tr__http_head_cut((tr_bytes){data + at, size - at}, 0, limits.head_max, &piece);
        ck_assert_uint_le(used, size - at);
        if (!used) {
            add(&verdict, "wait");
            return verdict;
        }
        verdict.refused =
            tr__http_head_parse((char *)(uintptr_t)piece.data, piece.size, &limits, &head);
        at += used;
        size_t body = verdict.refused ? 0 : body_of(&head, data + at, size - at);
        if (body == SIZE_MAX - 1)
            verdict.refused = 400;
        if (verdict.refused) {
            char code[16];
            snprintf(code, sizeof code, "%d", verdict.refused);
            add(&verdict, code);
            return verdict;
        }
        if (body == SIZE_MAX) {
            add(&verdict, "wait");
            return verdict;
        }
        at += body;
        verdict.good++;
        add(&verdict, "200");
        verdict.closes = !head.keeps;
        if (verdict.closes) {
            add(&verdict, "close");
            return verdict;
        }
    }
    return verdict;
}

struct probe {
    const char *id;
    const char *level;
    const char *exact; /* "Exact", "Range2xx" or "" */
    bool is_smuggling;
    char *data; /* NULL: the case has no payload */
    size_t size;
};

/* A character of the file is a byte. */
static char *bytes_of(const char *text, size_t *size)
{
    char *data = malloc(strlen(text) + 1);
    *size = 0;
    ck_assert_ptr_nonnull(data);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        unsigned code = *at;
        if (code >= 0xc2)
            code = (code & 0x1fu) << 6 | (*++at & 0x3fu);
        data[(*size)++] = (char)code;
    }
    return data;
}

static char *payload_of(const json_t *entry, size_t *size)
{
    const json_t *payload = json_object_get(entry, "payload");
    if (!json_is_string(payload))
        return NULL;
    const char *text = json_string_value(payload);
    size_t length = json_string_length(payload);
    if (strlen(text) == length)
        return bytes_of(text, size);
    char *data = malloc(length); /* it has a NUL, and then nothing else that is not ASCII */
    ck_assert_ptr_nonnull(data);
    memcpy(data, text, length);
    *size = length;
    return data;
}

static json_t *load(void)
{
    json_error_t error;
    json_t *root = json_load_file(TEST_DATA "/http11probe.json", JSON_ALLOW_NUL, &error);
    ck_assert_msg(root != NULL, "%s", error.text);
    return root;
}

static struct probe probe_of(const json_t *root, size_t index)
{
    const json_t *entry = json_array_get(root, index);
    const json_t *exact = json_object_get(entry, "exact");
    struct probe probe = {
        .id = json_string_value(json_object_get(entry, "id")),
        .level = json_string_value(json_object_get(entry, "level")),
        .exact = json_is_array(exact) ? json_string_value(json_array_get(exact, 0)) : "",
        .is_smuggling =
            strcmp(json_string_value(json_object_get(entry, "suite")), "Smuggling") == 0};
    probe.data = payload_of(entry, &probe.size);
    return probe;
}

TEST(cases_that_demand_400_get_it_and_those_that_demand_2xx_get_that, "W-02")
{
    json_t *root = load();
    size_t bad = 0, good = 0;
    for (size_t i = 0; i < json_array_size(root); i++) {
        struct probe probe = probe_of(root, i);
        if (probe.data && strcmp(probe.exact, "Exact") == 0) {
            struct verdict verdict = judge(probe.data, probe.size);
            ck_assert_msg(
                strcmp(verdict.text, "400") == 0, "%s: %s, not 400", probe.id, verdict.text);
            bad++;
        } else if (probe.data && strcmp(probe.exact, "Range2xx") == 0) {
            struct verdict verdict = judge(probe.data, probe.size);
            ck_assert_msg(
                strcmp(verdict.text, "200") == 0, "%s: %s, not 200", probe.id, verdict.text);
            good++;
        }
        free(probe.data);
    }
    ck_assert_uint_eq(bad, 62);
    ck_assert_uint_eq(good, 5); /* the base line, and the four that MUST be 2xx */
    json_decref(root);
}

/* The other cases that say MUST: what is answered, and the section that says so. */
static const struct {
    const char *id;
    const char *answer;
    const char *section;
} others[] = {
    {"COMP-UNKNOWN-TE-501", "501", "RFC 9112, 6.1"},
    {"COMP-POST-CL-BODY", "200", "RFC 9112, 6.3"},
    {"COMP-POST-CL-UNDERSEND", "wait", "RFC 9112, 8"},
    {"COMP-CHUNKED-BODY", "200", "RFC 9112, 7.1"},
    {"COMP-CHUNKED-MULTI", "200", "RFC 9112, 7.1"},
    {"COMP-CHUNKED-NO-FINAL", "wait", "RFC 9112, 8"},
    {"COMP-UPGRADE-POST", "200", "RFC 9110, 7.8: ignored"},
    {"COMP-UPGRADE-MISSING-CONN", "200", "RFC 9110, 7.8: ignored"},
    {"COMP-UPGRADE-UNKNOWN", "200", "RFC 9110, 7.8: ignored"},
    {"COMP-CHUNKED-EXTENSION", "200", "RFC 9112, 7.1.1: ignored"},
    {"COMP-UPGRADE-INVALID-VER", "200", "RFC 9110, 7.8: ignored"},
    {"COMP-CONNECTION-CLOSE", "200 close", "RFC 9112, 9.6"},
    {"COMP-CHUNKED-TRAILER-VALID", "200", "RFC 9112, 7.1.2"},
    {"COMP-CHUNKED-HEX-UPPERCASE", "200", "RFC 9112, 7.1"},
    {"COMP-RANGE-POST", "200", "RFC 9110, 14.2: ignored"},
    {"COMP-UPGRADE-HTTP10", "200 close", "RFC 9110, 7.8: ignored"},
    {"COMP-HEAD-NO-BODY", "200", "RFC 9110, 9.3.2"},
    {"COMP-405-ALLOW", "200", "RFC 9110, 15.5.6: the routes decide"},
    {"COMP-DATE-HEADER", "200", "RFC 9110, 6.6.1"},
    {"COMP-NO-1XX-HTTP10", "200 close", "RFC 9110, 15.2"},
    {"COMP-NO-CL-IN-204", "200", "RFC 9110, 8.6"},
    {"SMUG-TE-XCHUNKED", "400", "RFC 9112, 6.1"},
    {"SMUG-TE-TRAILING-SPACE", "400", "RFC 9112, 6.1"},
    {"SMUG-TE-IDENTITY", "400", "RFC 9112, 6.1"},
    {"SMUG-TRANSFER_ENCODING", "200", "RFC 9110, 5.1: another field"},
    {"SMUG-CL-COMMA-SAME", "400", "RFC 9112, 6.3"},
    {"SMUG-CL-COMMA-TRIPLE", "400", "RFC 9112, 6.3"},
    {"SMUG-CHUNKED-WITH-PARAMS", "400", "RFC 9112, 7"},
    {"SMUG-EXPECT-100-CL", "200", "RFC 9110, 10.1.1"},
    {"SMUG-TRAILER-CL", "200", "RFC 9110, 6.5.1: dropped"},
    {"SMUG-TRAILER-TE", "200", "RFC 9110, 6.5.1: dropped"},
    {"SMUG-TRAILER-HOST", "200", "RFC 9110, 6.5.1: dropped"},
    {"SMUG-TRAILER-AUTH", "200", "RFC 9110, 6.5.1: dropped"},
    {"SMUG-HEAD-CL-BODY", "200 close", "RFC 9110, 9.3.2"},
    {"SMUG-OPTIONS-CL-BODY", "200 close", "RFC 9112, 6.3"},
    {"SMUG-TE-OBS-FOLD", "400", "RFC 9112, 5.2"},
    {"SMUG-TE-TAB-BEFORE-VALUE", "400", "RFC 9112, 6.1"},
    {"SMUG-ABSOLUTE-URI-HOST-MISMATCH", "200", "RFC 9112, 3.2.2: the host of the target"},
    {"SMUG-TRAILER-CONTENT-TYPE", "200", "RFC 9110, 6.5.1: dropped"},
    {"SMUG-CLTE-CONN-CLOSE", "400", "RFC 9112, 6.1"},
    {"SMUG-TECL-CONN-CLOSE", "400", "RFC 9112, 6.1"},
    {"SMUG-CLTE-DESYNC", "400", "RFC 9112, 6.1"},
    {"SMUG-CLTE-SMUGGLED-GET", "200 400", "RFC 9112, 3: the second begins with a chunk"},
    {"SMUG-CLTE-SMUGGLED-GET-CL-PLUS", "200 400", "RFC 9112, 3"},
    {"SMUG-CLTE-SMUGGLED-GET-CL-NON-NUMERIC", "200 400", "RFC 9112, 3"},
    {"SMUG-CLTE-SMUGGLED-GET-TE-OBS-FOLD", "200 400", "RFC 9112, 3"},
    {"SMUG-CLTE-SMUGGLED-HEAD", "200 400", "RFC 9112, 3"},
    {"SMUG-CLTE-SMUGGLED-GET-TE-TRAILING-SPACE", "200 400", "RFC 9112, 3"},
    {"SMUG-CLTE-SMUGGLED-GET-TE-LEADING-COMMA", "200 400", "RFC 9112, 3"},
    {"SMUG-CLTE-SMUGGLED-GET-TE-CASE-MISMATCH", "200 400", "RFC 9112, 3"},
    {"SMUG-TE-DUPLICATE-HEADERS-SMUGGLED-GET", "200 400", "RFC 9112, 3"},
    {"SMUG-TECL-SMUGGLED-GET", "200 close", "RFC 9110, 9.3.1"},
    {"SMUG-DUPLICATE-CL-SMUGGLED-GET", "200 400", "RFC 9112, 6.3"},
    {"SMUG-TECL-DESYNC", "400", "RFC 9112, 6.1"},
    {"SMUG-OPTIONS-TE-OBS-FOLD", "400", "RFC 9112, 5.2"},
    {"SMUG-CHUNK-INVALID-SIZE-DESYNC", "400", "RFC 9112, 7.1"},
    {"MAL-POST-CL-HUGE-NO-BODY", "wait", "RFC 9112, 8"},
    {"NORM-SP-BEFORE-COLON-CL", "400", "RFC 9112, 5.1"},
    {"NORM-TAB-IN-NAME", "400", "RFC 9112, 5.1"},
};
enum { OTHERS = sizeof others / sizeof others[0] };

TEST(other_cases_that_say_must_get_what_their_section_says, "W-02")
{
    json_t *root = load();
    size_t found = 0;
    for (size_t i = 0; i < json_array_size(root); i++) {
        struct probe probe = probe_of(root, i);
        if (probe.data && !probe.exact[0] && strcmp(probe.level, "Must") == 0) {
            size_t row = 0;
            while (row < OTHERS && strcmp(others[row].id, probe.id) != 0)
                row++;
            ck_assert_msg(row < OTHERS, "%s is not in the table", probe.id);
            struct verdict verdict = judge(probe.data, probe.size);
            ck_assert_msg(strcmp(verdict.text, others[row].answer) == 0,
                          "%s: %s, but %s says %s",
                          probe.id,
                          verdict.text,
                          others[row].section,
                          others[row].answer);
            found++;
        }
        free(probe.data);
    }
    ck_assert_uint_eq(found, OTHERS);
    json_decref(root);
}

TEST(no_case_gets_two_answers_and_smuggling_ends_the_connection, "W-02")
{
    json_t *root = load();
    size_t payloads = 0;
    for (size_t i = 0; i < json_array_size(root); i++) {
        struct probe probe = probe_of(root, i);
        if (!probe.data)
            continue;
        payloads++;
        struct verdict verdict = judge(probe.data, probe.size);
        ck_assert_msg(verdict.good <= 1, "%s: %s", probe.id, verdict.text);
        bool is_open = probe.is_smuggling && strcmp(probe.level, "Must") != 0;
        ck_assert_msg(!is_open || verdict.refused || verdict.closes,
                      "%s: %s, and the connection is kept",
                      probe.id,
                      verdict.text);
        free(probe.data);
    }
    ck_assert_uint_eq(payloads, 183);
    json_decref(root);
}

static struct verdict judge_text(const char *text)
{
    char *copy = strdup(text);
    ck_assert_ptr_nonnull(copy);
    struct verdict verdict = judge(copy, strlen(text));
    free(copy);
    return verdict;
}

TEST(limits_of_a_head_have_their_status, "W-04")
{
    static char text[40000];
    int at = snprintf(text, sizeof text, "GET /");
    memset(text + at, 'a', 20000);
    strcpy(text + at + 20000, " HTTP/1.1\r\nHost: a\r\n\r\n");
    ck_assert_str_eq(judge_text(text).text, "414");
    at = snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
    memset(text + at, 'a', 20000);
    strcpy(text + at + 20000, "\r\n\r\n");
    ck_assert_str_eq(judge_text(text).text, "431");
    for (int count = FIELDS - 1; count <= FIELDS + 1; count++) {
        at = snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: a\r\n");
        for (int i = 1; i < count; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, "X-%d: b\r\n", i);
        snprintf(text + at, sizeof text - (size_t)at, "\r\n");
        ck_assert_str_eq(judge_text(text).text, count > FIELDS ? "431" : "200");
    }
    for (int extra = -1; extra <= 1; extra++) { /* the head limit at -1, 0 and +1 */
        at = snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
        int fill = 16 * 1024 + extra - at - 4;
        memset(text + at, 'a', (size_t)fill);
        strcpy(text + at + fill, "\r\n\r\n");
        ck_assert_str_eq(judge_text(text).text, extra > 0 ? "431" : "200");
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
    ck_assert_str_eq(judge_text("GET /\r\n").text, "400");
    ck_assert_str_eq(judge_text("\x16\x03\x01\r\n").text, "400");
    ck_assert_str_eq(judge_text("GET / HTTP/1.1\n").text, "400");
    ck_assert_str_eq(judge_text("GET / HTTP/1.1\r\nHost: a").text, "wait");
    ck_assert_str_eq(judge_text("GET / HTTP/2.0\r\nHost: a\r\n\r\n").text, "505");
    ck_assert_str_eq(judge_text("GET / HTTP/1.7\r\nHost: a\r\n\r\n").text, "200");
    ck_assert_str_eq(judge_text("BREW / HTTP/1.1\r\nHost: a\r\n\r\n").text, "501");
    ck_assert_str_eq(judge_text("GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n").text, "417");
}

SUITE("http probe", cases_that_demand_400_get_it_and_those_that_demand_2xx_get_that,
      other_cases_that_say_must_get_what_their_section_says,
      no_case_gets_two_answers_and_smuggling_ends_the_connection,
      limits_of_a_head_have_their_status, a_head_that_comes_byte_by_byte_is_cut_at_the_same_place,
      lines_that_cannot_be_a_request_are_refused_at_once)
