/* SPDX-License-Identifier: Apache-2.0 */
/** Forms with files: what comes in any portions is read as if it came at once; what is malformed is refused. */
#include "http/multipart.h"

#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE "multipart/form-data; boundary=XyZ"
#define PART(head, content) "--XyZ\r\n" head "\r\n\r\n" content "\r\n"
#define NAMED(name, content) PART("Content-Disposition: form-data; name=\"" name "\"", content)
#define END "--XyZ--"

struct transcript {
    char text[4096];
    size_t length;
};

static void note(struct transcript *transcript, const void *data, size_t size)
{
    ck_assert_uint_lt(transcript->length + size, sizeof(transcript->text));
    memcpy(transcript->text + transcript->length, data, size);
    transcript->length += size;
    transcript->text[transcript->length] = '\0';
}

static void note_event(struct transcript *transcript, const struct multipart_event *event)
{
    switch (event->kind) {
    case MULTIPART_MORE:
        break;
    case MULTIPART_PART:
        note(transcript, "[", 1);
        note(transcript, event->name.data, event->name.size);
        if (event->filename.data != NULL) {
            note(transcript, "|", 1);
            note(transcript, event->filename.data, event->filename.size);
        }
        if (event->type.size > 0) {
            note(transcript, "|", 1);
            note(transcript, event->type.data, event->type.size);
        }
        note(transcript, ":", 1);
        break;
    case MULTIPART_DATA:
        ck_assert_uint_gt(event->bytes.size, 0);
        note(transcript, event->bytes.data, event->bytes.size);
        break;
    case MULTIPART_CLOSE:
        note(transcript, "]", 1);
        break;
    case MULTIPART_END:
        note(transcript, "END", 3);
        break;
    case MULTIPART_ERROR:
        note(transcript,
             event->status == TR_TOO_LARGE ? "LARGE" : "BAD",
             event->status == TR_TOO_LARGE ? 5 : 3);
        ck_assert_ptr_nonnull(event->text);
        break;
    }
}

/* Reads a body that comes in two portions, or byte by byte if `cut` is SIZE_MAX. */
static void read_body(const char *body, size_t size, size_t cut, struct transcript *transcript)
{
    struct multipart form;
    size_t begin = 0;
    size_t end = cut == SIZE_MAX ? 1 : cut;
    *transcript = (struct transcript){0};
    ck_assert_int_eq(tr__multipart_init(&form, (tr_bytes){TYPE, strlen(TYPE)}, 3), TR_OK);
    for (;;) {
        struct multipart_event event;
        do {
            unsigned char *exact = malloc(end - begin + (begin == end));
            memcpy(exact, body + begin, end - begin);
            size_t taken = tr__multipart_read(&form, exact, end - begin, &event);
            ck_assert_uint_le(taken, end - begin);
            begin += taken;
            note_event(transcript, &event);
            free(exact);
        } while (event.kind != MULTIPART_MORE && event.kind != MULTIPART_ERROR);
        if (end == size)
            break;
        end = cut == SIZE_MAX ? end + 1 : size;
    }
    ck_assert_int_eq(tr__multipart_is_ended(&form), strstr(transcript->text, "END") != NULL);
}

static void check(const char *body, const char *expected)
{
    struct transcript transcript;
    size_t size = strlen(body);
    for (size_t cut = 0; cut <= size; cut++) {
        read_body(body, size, cut, &transcript);
        ck_assert_msg(strcmp(transcript.text, expected) == 0,
                      "%s, cut at %zu: %s",
                      body,
                      cut,
                      transcript.text);
    }
    read_body(body, size, SIZE_MAX, &transcript);
    ck_assert_msg(
        strcmp(transcript.text, expected) == 0, "%s, byte by byte: %s", body, transcript.text);
}

TEST(parts_are_read_in_any_portions, "W-12")
{
    check(END, "END");
    check(NAMED("a", "1") END "\r\n", "[a:1]END");
    check(NAMED("a", "1") NAMED("b", "") NAMED("c", "\r\n") END, "[a:1][b:][c:\r\n]END");
    check("preamble\r\n--XyZ is not alone\r\n", "BAD");
    check("preamble\r\n" NAMED("a", "1") END "\r\nepilogue --XyZ", "[a:1]END");
    check(PART("content-disposition: Form-Data; filename=\"f.txt\"; "
               "name=\"a\"\r\nCONTENT-TYPE:text/plain ",
               "x") END,
          "[a|f.txt|text/plain:x]END");
    check(PART("Content-Disposition: form-data;name=a;filename=", "x") END, "[a|:x]END");
    check(PART("X-Other: y\r\nContent-Disposition: form-data; name=\"q\\\"u\\\\o\\t;e\"; x=y", "")
              END,
          "[q\"u\\o\\t;e:]END");
    check("--XyZ  \t\r\nContent-Disposition: form-data; name=\"\xe2\x82\xac\"\r\n\r\nx\r\n" END,
          "[\xe2\x82\xac:x]END");
}

/* What looks like a delimiter and is none. */
TEST(content_may_look_like_a_delimiter, "W-12")
{
    check(NAMED("a", "--XyZ") END, "[a:--XyZ]END");
    check(NAMED("a", "\r\n--XyY\r\n--Xy\r\n-\r\n\r\r\n--Xy") END,
          "[a:\r\n--XyY\r\n--Xy\r\n-\r\n\r\r\n--Xy]END");
    check(NAMED("a", "\r\n--Xy\r\n--X\r") END, "[a:\r\n--Xy\r\n--X\r]END");
    check(PART("Content-Disposition: form-data; name=b", "\xff\xfe") END, "[b:\xff\xfe]END");
}

TEST(malformed_forms_are_refused, "W-12")
{
    check("--XyZ-x", "BAD");
    check("--XyZx\r\n", "BAD");
    check("--XyZ\r\n\r\ncontent", "BAD");
    check(PART("Content-Type: text/plain", "x"), "BAD");
    check(PART("Content-Disposition: form-data", "x"), "BAD");
    check(PART("Content-Disposition: form-data; filename=\"x\"", "x"), "BAD");
    check(PART("Content-Disposition: attachment; name=\"x\"", "x"), "BAD");
    check(PART("Content-Disposition: form-data; name=\"x", "x"), "BAD");
    check(PART("Content-Disposition: form-data; name=\"x\"y", "x"), "BAD");
    check(PART("Content-Disposition: form-data; name=\"x\"; name=\"y\"", "x"), "BAD");
    check(PART("Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b",
               "x"),
          "BAD");
    check(PART("Content-Disposition: form-data; =a", "x"), "BAD");
    check(PART("Content-Disposition: form-data; name=\"\xff\"", "x"), "BAD");
    check(PART("no colon", "x"), "BAD");
    check(PART(": x", "x"), "BAD");
    check(PART(" folded: x", "x"), "BAD");
    check(PART("Space : x", "x"), "BAD");
    check(PART("Content-Disposition: form-data; name=a\rb", "x"), "BAD");
    /* A body that is cut off is no error of the reader, and no end either. */
    check(NAMED("a", "1") "--XyZ-", "[a:1]");
}

TEST(limits_are_kept, "W-12")
{
    check(NAMED("a", "") NAMED("b", "") NAMED("c", "") NAMED("d", "") END, "[a:][b:][c:]LARGE");
    struct transcript transcript;
    char *body = malloc(20000);
    size_t size = (size_t)sprintf(body, "--XyZ\r\nX: ");
    memset(body + size, 'x', 10000);
    read_body(body, size + 10000, 0, &transcript);
    ck_assert_str_eq(transcript.text, "LARGE");
    read_body(body, size + 10000, SIZE_MAX, &transcript);
    ck_assert_str_eq(transcript.text, "LARGE");
    size = (size_t)sprintf(body, "--XyZ");
    memset(body + size, ' ', 1000);
    read_body(body, size + 1000, SIZE_MAX, &transcript);
    ck_assert_str_eq(transcript.text, "BAD");
    free(body);
}

TEST(boundaries_are_those_of_the_rfc, "W-12")
{
    static const struct {
        const char *type;
        bool is_good;
    } rows[] = {
        {"multipart/form-data; boundary=a", true},
        {"Multipart/Form-Data;charset=utf-8;Boundary=\"a b'()+_,-./:=?\"", true},
        {"multipart/form-data; "
         "boundary=1234567890123456789012345678901234567890123456789012345678901234567890",
         true},
        {"multipart/form-data; "
         "boundary=12345678901234567890123456789012345678901234567890123456789012345678901",
         false},
        {"multipart/form-data", false},
        {"multipart/form-data; boundary=", false},
        {"multipart/form-data; boundary=\"\"", false},
        {"multipart/form-data; boundary=\"a \"", false},
        {"multipart/form-data; boundary=\"a", false},
        {"multipart/form-data; boundary=a; boundary=b", false},
        {"multipart/form-data; boundary=a{", false},
        {"multipart/form-data; boundary", false},
        {"multipart/form-datax; boundary=a", false},
        {"multipart/mixed; boundary=a", false},
        {"text/plain", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct multipart form;
        tr_status status =
            tr__multipart_init(&form, (tr_bytes){rows[i].type, strlen(rows[i].type)}, 1);
        ck_assert_msg(status == (rows[i].is_good ? TR_OK : TR_BAD_DATA), "%s", rows[i].type);
    }
}

SUITE("http multipart", parts_are_read_in_any_portions, content_may_look_like_a_delimiter,
      malformed_forms_are_refused, limits_are_kept, boundaries_are_those_of_the_rfc)
