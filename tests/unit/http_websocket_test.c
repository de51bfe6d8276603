/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Frames of WebSocket: the cases of support/ws_cases.h, for the codec alone. Each is played by a client and by a server that
 * share no code with the codec (tests/support/ws_client.h), at once, byte by byte, and cut in two at every byte. Sessions are
 * played in tests/api/http_ws_cases_test.c.
 */
#include "support/ws_cases.h"
#include "support/ws_echo.h"

#define MESSAGE_MAX WS_CASES_MESSAGE_MAX
/* Above this many bytes a case is cut near its ends and twice between. */
#define CUT_ALL_MAX 2048

/* Plays a script that comes in two portions, or in portions of one byte if `cut` is SIZE_MAX. Returns what was sent. */
static char *play(const struct ws_bytes *input, size_t cut, enum ws_role role, struct ws_echo *echo)
{
    *echo = (struct ws_echo){0};
    tr__ws_reader_init(&echo->reader, role, MESSAGE_MAX, false);
    if (cut == SIZE_MAX) {
        for (size_t i = 0; i < input->size; i++)
            ws_echo_give(echo, input->data + i, 1);
    } else {
        ws_echo_give(echo, input->data, cut);
        ws_echo_give(echo, input->data + cut, input->size - cut);
    }
    return ws_print(&echo->sent, role == WS_CLIENT);
}

static void check_once(const struct ws_case *it, const struct ws_bytes *input, size_t cut,
                       enum ws_role role)
{
    struct ws_echo echo;
    char *sent = play(input, cut, role, &echo);
    ck_assert_msg(strcmp(sent, it->expected) == 0,
                  "%s, cut at %zu, role %d: sent %s, expected %s",
                  it->id,
                  cut,
                  (int)role,
                  sent,
                  it->expected);
    /* Nothing is left behind: an endpoint that is over takes everything. */
    ck_assert_uint_eq(echo.is_over && echo.fault == NULL ? echo.unread.size : 0, 0);
    free(sent);
    ws_echo_deinit(&echo);
}

static void check_case(const struct ws_case *it)
{
    for (enum ws_role role = WS_SERVER; role <= WS_CLIENT; role++) {
        struct ws_bytes input = {0};
        ws_add_script(&input, it->script, role == WS_SERVER);
        size_t step = input.size <= CUT_ALL_MAX ? 1 : input.size / 3;
        size_t near = input.size < 1 << 18 ? 64 : 4;
        for (size_t cut = 0; cut <= input.size;
             cut += cut < near || cut + near > input.size ? 1 : step)
            check_once(it, &input, cut, role);
        if (input.size <= CUT_ALL_MAX)
            check_once(it, &input, SIZE_MAX, role);
        free(input.data);
    }
}

#define CHECK_CASES(cases)                                                                         \
    for (size_t i = 0; i < sizeof(cases) / sizeof(*(cases)); i++)                                  \
    check_case(&(cases)[i])

TEST(payloads_of_every_length_form_are_echoed, "W-08")
{
    CHECK_CASES(ws_payloads);
}

TEST(pings_are_answered_and_pongs_are_not, "W-08")
{
    CHECK_CASES(ws_pings);
}

TEST(reserved_bits_are_refused, "W-08")
{
    CHECK_CASES(ws_reserved_bits);
}

TEST(reserved_opcodes_are_refused, "W-08")
{
    CHECK_CASES(ws_reserved_opcodes);
}

TEST(fragments_are_joined_and_control_frames_come_between, "W-08")
{
    CHECK_CASES(ws_fragments);
}

TEST(texts_are_utf8_over_fragments, "W-08")
{
    CHECK_CASES(ws_texts);
}

TEST(every_border_of_utf8_is_kept, "W-08")
{
    ws_each_border(check_case);
}

/* Autobahn 6.4: the byte that cannot be right ends the connection, before the rest of its frame comes. */
TEST(a_wrong_byte_of_a_text_fails_at_once, "W-08")
{
    struct ws_bytes input = {0};
    ws_add_script(&input, "t\"\xce\xba\xe1\" +\"\xbd\xb9\xcf\x83\xf4\x90\x80\x80 edited\"", true);
    size_t wrong = input.size - strlen("\x90\x80\x80 edited");
    struct ws_echo echo = {0};
    tr__ws_reader_init(&echo.reader, WS_SERVER, MESSAGE_MAX, false);
    ws_echo_give(&echo, input.data, wrong);
    ck_assert(!echo.is_over);
    ws_echo_give(&echo, input.data + wrong, 1);
    ck_assert(echo.is_over);
    ck_assert_str_eq(echo.fault, "a text is not UTF-8");
    ws_echo_deinit(&echo);
    free(input.data);
}

/* Each fault is found at the first byte that shows it: nothing waits for a payload that may never come. */
TEST(faults_of_a_header_are_found_before_its_end, "W-08")
{
    static const struct {
        const char *bytes;
        size_t size;
        unsigned code;
    } rows[] = {
        {"\x83", 1, 1002},
        {"\xc1", 1, 1002},
        {"\x09", 1, 1002},
        {"\x80", 1, 1002},
        {"\x81\x05", 2, 1002},
        {"\x89\xfe", 2, 1002},
        {"\x81\xfe\x00\x7d", 4, 1002},
        {"\x82\xff\x80\x00\x00\x00\x00\x00\x00\x00", 10, 1002},
        {"\x82\xff\x00\x00\x00\x00\x00\x00\xff\xff", 10, 1002},
        {"\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x01\x02\x03\x04", 14, 1009},
        {"\x82\xff\x00\x00\x00\x01\x00\x00\x00\x00\x01\x02\x03\x04", 14, 1009},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct ws_echo echo = {0};
        tr__ws_reader_init(&echo.reader, WS_SERVER, MESSAGE_MAX, false);
        ws_echo_give(&echo, (const unsigned char *)rows[i].bytes, rows[i].size - 1);
        ck_assert_msg(!echo.is_over, "row %zu", i);
        ws_echo_give(&echo, (const unsigned char *)rows[i].bytes + rows[i].size - 1, 1);
        char expected[32];
        snprintf(expected, sizeof(expected), "C%u\"\"", rows[i].code);
        char *sent = ws_print(&echo.sent, false);
        ck_assert_msg(strcmp(sent, expected) == 0, "row %zu: %s", i, sent);
        free(sent);
        ws_echo_deinit(&echo);
    }
}

TEST(closes_are_answered_once, "W-08")
{
    CHECK_CASES(ws_closes);
}

TEST(codes_of_a_close_are_checked, "W-08")
{
    ws_each_code(check_case);
}

TEST(rsv1_begins_a_deflated_message_only, "W-08")
{
    static const struct {
        const char *script;
        bool is_refused;
        bool is_deflated;
    } rows[] = {
        {"r4T\"a\"", false, true},
        {"r4b\"a\" +\"b\"", false, true},
        {"T\"a\"", false, false},
        {"r4P", true, false},
        {"r4C1000", true, false},
        {"t\"a\" r4+\"b\"", true, false},
        {"r2T\"a\"", true, false},
        {"r6T\"a\"", true, false},
        {"r4t\"\xff\" +\"\xff\"", false, true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct ws_bytes input = {0};
        struct ws_reader reader;
        ws_add_script(&input, rows[i].script, true);
        tr__ws_reader_init(&reader, WS_SERVER, MESSAGE_MAX, true);
        bool is_refused = false;
        bool is_deflated = false;
        for (size_t at = 0; at < input.size && !is_refused;) {
            struct ws_event event;
            size_t taken = tr__ws_read(&reader, input.data + at, input.size - at, &event);
            at += taken;
            is_refused = event.kind == WS_ERROR;
            is_deflated = is_deflated || event.is_deflated;
        }
        ck_assert_msg(is_refused == rows[i].is_refused, "row %zu", i);
        ck_assert_msg(is_refused || is_deflated == rows[i].is_deflated, "row %zu", i);
        free(input.data);
    }
}

TEST(masks_fit_every_length_and_place, "W-08")
{
    static const unsigned char mask[4] = {0x12, 0x34, 0xab, 0xff};
    for (size_t size = 0; size < 100; size++) {
        for (size_t at = 0; at < 17; at++) {
            unsigned char bytes[128];
            for (size_t i = 0; i < sizeof(bytes); i++)
                bytes[i] = (unsigned char)(i * 7);
            tr__ws_mask(bytes + at, size, mask);
            for (size_t i = 0; i < sizeof(bytes); i++) {
                unsigned char key = i >= at && i < at + size ? mask[(i - at) % 4] : 0;
                ck_assert_uint_eq(bytes[i], (unsigned char)(i * 7) ^ key);
            }
        }
    }
}

TEST(a_reason_that_is_too_long_is_cut_between_characters, "W-08")
{
    char reason[200] = "";
    unsigned char payload[WS_CONTROL_MAX];
    for (int i = 0; i < 40; i++)
        strcat(reason, "\xe2\x82\xac");
    strcat(reason, "a\xe2\x82\xac\xe2\x82\xac");
    /* 40 * 3 + 1 bytes, then a character that ends at byte 124, one more than there is space for. */
    ck_assert_uint_eq(tr__ws_write_close(1000, (tr_bytes){reason, strlen(reason)}, payload),
                      2 + 121);
    ck_assert_mem_eq(payload, "\x03\xe8\xe2\x82\xac", 5);
    ck_assert_uint_eq(tr__ws_write_close(1000, (tr_bytes){reason, 120}, payload), 2 + 120);
    ck_assert_uint_eq(tr__ws_write_close(1000, (tr_bytes){reason, 119}, payload), 2);
    ck_assert_uint_eq(tr__ws_write_close(WS_CODE_NONE, (tr_bytes){0}, payload), 0);
    ck_assert_uint_eq(tr__ws_write_close(4999, (tr_bytes){0}, payload), 2);
}

SUITE("http websocket", payloads_of_every_length_form_are_echoed,
      pings_are_answered_and_pongs_are_not, reserved_bits_are_refused, reserved_opcodes_are_refused,
      fragments_are_joined_and_control_frames_come_between, texts_are_utf8_over_fragments,
      every_border_of_utf8_is_kept, a_wrong_byte_of_a_text_fails_at_once,
      faults_of_a_header_are_found_before_its_end, closes_are_answered_once,
      codes_of_a_close_are_checked, rsv1_begins_a_deflated_message_only,
      masks_fit_every_length_and_place, a_reason_that_is_too_long_is_cut_between_characters)
