/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Frames of WebSocket, by the categories 1 to 7 and 10 of the Autobahn test suite. The expectation of each case is what the
 * named section of RFC 6455 demands. Each is played by a client and by a server that share no code with the codec
 * (tests/support/ws_client.h), at once, byte by byte, and cut in two at every byte.
 */
#include "support/ws_echo.h"

struct ws_case {
    const char *id; /* category and number, and the section of RFC 6455 */
    const char *script;
    const char *expected;
};

#define MESSAGE_MAX (1u << 20)
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
    static const struct ws_case cases[] = {
        {"1.1.1, 5.6", "T", "T\"\""},
        {"1.1.2, 5.2", "T*125", "T*125"},
        {"1.1.3, 5.2", "T*126", "T*126"},
        {"1.1.4, 5.2", "T*127", "T*127"},
        {"1.1.5, 5.2", "T*128", "T*128"},
        {"1.1.6, 5.2", "T*65535", "T*65535"},
        {"1.1.7, 5.2", "T*65536", "T*65536"},
        {"1.2.1, 5.6", "B", "B\"\""},
        {"1.2.2, 5.2", "B*125", "B*125"},
        {"1.2.3, 5.2", "B*126", "B*126"},
        {"1.2.4, 5.2", "B*127", "B*127"},
        {"1.2.5, 5.2", "B*128", "B*128"},
        {"1.2.6, 5.2", "B*65535", "B*65535"},
        {"1.2.7, 5.2", "B*65536", "B*65536"},
        {"ours, 5.6: any bytes", "B\"\x80\xff\xc0\"", "B\"\x80\xff\xc0\""},
        {"ours, 5.2: the limit", "B*1048576", "B*1048576"},
        {"ours, 7.4.1: above the limit", "B*1048577", "C1009\"\""},
        {"ours, 7.4.1: fragments above the limit",
         "b*1048576 P\"a\" -\"\" +\"y\"",
         "O\"a\" C1009\"\""},
        {"ours, 5.2: 16 bits for 125", "w2T*125", "C1002\"\""},
        {"ours, 5.2: 64 bits for 125", "w8T*125", "C1002\"\""},
        {"ours, 5.2: 64 bits for 65535", "w8B*65535", "C1002\"\""},
        {"ours, 5.1: masked by the wrong side", "T\"a\" uT\"b\" T\"c\"", "T\"a\" C1002\"\""},
        {"ours, 5.1: the same of control frames", "uP", "C1002\"\""},
    };
    CHECK_CASES(cases);
}

TEST(pings_are_answered_and_pongs_are_not, "W-08")
{
    static const struct ws_case cases[] = {
        {"2.1, 5.5.2", "P", "O\"\""},
        {"2.2, 5.5.3", "P\"Hello, world!\"", "O\"Hello, world!\""},
        {"2.3, 5.5.2",
         "P\"\x01\xff\xfe\xfd\xfc\xfb\x80\xff\"",
         "O\"\x01\xff\xfe\xfd\xfc\xfb\x80\xff\""},
        {"2.4, 5.5", "P*125", "O*125"},
        {"2.5, 5.5", "P*126", "C1002\"\""},
        {"2.5b, 5.5", "w8P*125", "C1002\"\""},
        {"2.7, 5.5.3", "O", ""},
        {"2.8, 5.5.3", "O\"unsolicited\"", ""},
        {"2.9, 5.5.3", "O\"unsolicited\" P\"ping\"", "O\"ping\""},
        {"2.10, 5.5.2",
         "P\"0\" P\"1\" P\"2\" P\"3\" P\"4\" P\"5\" P\"6\" P\"7\" P\"8\" P\"9\"",
         "O\"0\" O\"1\" O\"2\" O\"3\" O\"4\" O\"5\" O\"6\" O\"7\" O\"8\" O\"9\""},
    };
    CHECK_CASES(cases);
}

TEST(reserved_bits_are_refused, "W-08")
{
    static const struct ws_case cases[] = {
        {"3.1, 5.2", "r1T\"Hello\"", "C1002\"\""},
        {"3.2, 5.2", "T\"Hello\" r2T\"Hello\" P", "T\"Hello\" C1002\"\""},
        {"3.3, 5.2", "T\"Hello\" r3T\"Hello\" P", "T\"Hello\" C1002\"\""},
        {"3.4, 5.2", "T\"Hello\" r4T\"Hello\" P", "T\"Hello\" C1002\"\""},
        {"3.5, 5.2", "r5B\"\x01\xff\"", "C1002\"\""},
        {"3.6, 5.2", "r6P\"Hello\"", "C1002\"\""},
        {"3.7, 5.2", "r7C1000", "C1002\"\""},
        {"ours, 5.2: a continuation", "t\"a\" r4+\"b\"", "C1002\"\""},
    };
    CHECK_CASES(cases);
}

TEST(reserved_opcodes_are_refused, "W-08")
{
    static const struct ws_case cases[] = {
        {"4.1.1, 5.2", "!3T", "C1002\"\""},
        {"4.1.2, 5.2", "!4T\"reserved\"", "C1002\"\""},
        {"4.1.3, 5.2", "T\"Hello\" !5T P", "T\"Hello\" C1002\"\""},
        {"4.1.4, 5.2", "T\"Hello\" !6T\"reserved\" P", "T\"Hello\" C1002\"\""},
        {"4.1.5, 5.2", "T\"Hello\" !7T\"reserved\" P", "T\"Hello\" C1002\"\""},
        {"4.2.1, 5.2", "!11T", "C1002\"\""},
        {"4.2.2, 5.2", "!12T\"reserved\"", "C1002\"\""},
        {"4.2.3, 5.2", "T\"Hello\" !13T P", "T\"Hello\" C1002\"\""},
        {"4.2.4, 5.2", "T\"Hello\" !14T\"reserved\" P", "T\"Hello\" C1002\"\""},
        {"4.2.5, 5.2", "T\"Hello\" !15T\"reserved\" P", "T\"Hello\" C1002\"\""},
    };
    CHECK_CASES(cases);
}

TEST(fragments_are_joined_and_control_frames_come_between, "W-08")
{
    static const struct ws_case cases[] = {
        {"5.1, 5.4", "!9t\"fragment1\" +\"fragment2\"", "C1002\"\""},
        {"5.2, 5.4", "!10t\"fragment1\" +\"fragment2\"", "C1002\"\""},
        {"5.3, 5.4", "t\"fragment1\" +\"fragment2\"", "T\"fragment1fragment2\""},
        {"5.3b, 5.4", "b\"fragment1\" +\"fragment2\"", "B\"fragment1fragment2\""},
        {"5.6, 5.4",
         "t\"fragment1\" P\"ping\" +\"fragment2\"",
         "O\"ping\" T\"fragment1fragment2\""},
        {"5.9, 5.4", "-\"non-continuation\" T\"Hello\"", "C1002\"\""},
        {"5.10, 5.4", "+\"non-continuation\" T\"Hello\"", "C1002\"\""},
        {"5.12, 5.4", "T\"Hello\" -\"non-continuation\"", "T\"Hello\" C1002\"\""},
        {"5.15, 5.4", "t\"a\" +\"b\" -\"c\" T\"d\"", "T\"ab\" C1002\"\""},
        {"5.16, 5.4", "-\"a\" t\"b\" +\"c\" -\"d\"", "C1002\"\""},
        {"5.17, 5.4", "+\"a\" t\"b\" +\"c\"", "C1002\"\""},
        {"5.18, 5.4", "t\"fragment1\" T\"fragment2\"", "C1002\"\""},
        {"5.18b, 5.4", "b\"fragment1\" t\"fragment2\"", "C1002\"\""},
        {"5.19, 5.4",
         "t\"1\" -\"2\" P\"a\" -\"3\" -\"4\" P\"b\" +\"5\"",
         "O\"a\" O\"b\" T\"12345\""},
        {"ours, 5.5.1: a close between", "t\"1\" C1000 +\"2\"", "C1000\"\""},
        {"ours, 5.4: empty fragments", "b -\"\" -\"\" +\"a\" b\"b\" -\"\" +\"\"", "B\"a\" B\"b\""},
        {"10.1.1, 5.4", "t*1300 -*1300 -*1300 +*100", "T*4000"},
    };
    CHECK_CASES(cases);
}

TEST(texts_are_utf8_over_fragments, "W-08")
{
    static const struct ws_case cases[] = {
        {"6.1.1, 5.6", "T", "T\"\""},
        {"6.1.2, 5.6", "t -\"\" +\"\"", "T\"\""},
        {"6.1.3, 5.6", "t -\"middle\" +\"\"", "T\"middle\""},
        {"6.2.1, 8.1",
         "T\"Hello-\xc2\xb5@\xc3\x9f-UTF-8!!\"",
         "T\"Hello-\xc2\xb5@\xc3\x9f-UTF-8!!\""},
        {"6.2.3, 5.6: inside a character",
         "t\"\xce\" -\"\xba\xe1\" -\"\xbd\" +\"\xb9\"",
         "T\"\xce\xba\xe1\xbd\xb9\""},
        {"6.2.4, 5.6: with a ping there",
         "t\"\xf0\x9f\" P\"\x80\" +\"\x98\x80\"",
         "O\"\x80\" T\"\xf0\x9f\x98\x80\""},
        {"6.3.1, 8.1", "T\"\xce\xba\xed\xa0\x80 edited\"", "C1007\"\""},
        {"6.3.2, 8.1", "t\"\xce\xba\xed\" -\"\xa0\x80\" +\"edited\"", "C1007\"\""},
        {"6.4.1, 8.1", "t\"\xce\xba\" -\"\xf4\x90\x80\x80\" +\"edited\"", "C1007\"\""},
        {"ours, 8.1: ends inside a character", "T\"a\xf0\x9f\x98\"", "C1007\"\""},
        {"ours, 8.1: the same in fragments", "t\"a\xf0\" -\"\x9f\" +\"\x98\"", "C1007\"\""},
        {"ours, 8.1: the next text is new", "T\"\xc2\xb5\" T\"\xb5\"", "T\"\xc2\xb5\" C1007\"\""},
        {"ours, 5.6: binary is not checked between", "B\"\xc2\" T\"a\"", "B\"\xc2\" T\"a\""},
    };
    CHECK_CASES(cases);
}

/* The rows of table 3-7 of the Unicode standard at their borders, and what is beside them. */
TEST(every_border_of_utf8_is_kept, "W-08")
{
    static const struct {
        const char *text;
        bool is_valid;
    } rows[] = {
        {"\x7f", true},
        {"\x80", false},
        {"\xbf", false},
        {"\xc0\x80", false},
        {"\xc1\xbf", false},
        {"\xc2\x80", true},
        {"\xc2\x7f", false},
        {"\xc2\xc0", false},
        {"\xdf\xbf", true},
        {"\xe0\x9f\xbf", false},
        {"\xe0\xa0\x80", true},
        {"\xe0\xbf\xbf", true},
        {"\xe1\x80\x80", true},
        {"\xe1\x80\x7f", false},
        {"\xec\xbf\xbf", true},
        {"\xed\x9f\xbf", true},
        {"\xed\xa0\x80", false},
        {"\xed\xbf\xbf", false},
        {"\xee\x80\x80", true},
        {"\xef\xbf\xbe", true},
        {"\xef\xbf\xbf", true},
        {"\xf0\x8f\xbf\xbf", false},
        {"\xf0\x90\x80\x80", true},
        {"\xf3\xbf\xbf\xbf", true},
        {"\xf4\x8f\xbf\xbf", true},
        {"\xf4\x90\x80\x80", false},
        {"\xf5\x80\x80\x80", false},
        {"\xf8\x88\x80\x80\x80", false},
        {"\xfe", false},
        {"\xff", false},
        {"\xf1\x80\x80\xc0", false},
        {"\xe1\x80", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        for (size_t before = 0; before < 20; before++) {
            char script[64];
            char expected[64];
            snprintf(script,
                     sizeof(script),
                     "T\"%.*s%s\"",
                     (int)before,
                     "abcdefghijklmnopqrstuvwxyz",
                     rows[i].text);
            snprintf(expected, sizeof(expected), "%s", rows[i].is_valid ? script : "C1007\"\"");
            check_case(&(struct ws_case){"6.5 to 6.23, 8.1", script, expected});
        }
    }
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
    static const struct ws_case cases[] = {
        {"7.1.1, 5.5.1", "T\"Hello\" C1000", "T\"Hello\" C1000\"\""},
        {"7.1.2, 5.5.1", "C1000 C1000", "C1000\"\""},
        {"7.1.3, 5.5.1", "C1000 P", "C1000\"\""},
        {"7.1.4, 5.5.1", "C1000 T\"Hello\"", "C1000\"\""},
        {"7.1.5, 5.5.1", "t\"fragment1\" C1000 +\"fragment2\"", "C1000\"\""},
        {"7.1.6, 5.5.1", "T*262144 C1000 P", "T*262144 C1000\"\""},
        {"7.3.1, 5.5.1", "C", "C\"\""},
        {"7.3.2, 5.5.1", "C\"a\"", "C1002\"\""},
        {"7.3.3, 5.5.1", "C1000", "C1000\"\""},
        {"7.3.4, 5.5.1", "C1000\"Hello World!\"", "C1000\"Hello World!\""},
        {"7.3.5, 5.5", "C1000*123", NULL},
        {"7.3.6, 5.5", "C1000*124", "C1002\"\""},
        {"7.5.1, 5.5.1", "C1000\"\xce\xba\xed\xa0\x80\"", "C1007\"\""},
    };
    char longest[160] = "C1000\"";
    memset(longest + 6, 'x', 123);
    strcpy(longest + 129, "\"");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct ws_case it = cases[i];
        it.expected = it.expected != NULL ? it.expected : longest;
        check_case(&it);
    }
}

TEST(codes_of_a_close_are_checked, "W-08")
{
    static const unsigned good[] = {1000,
                                    1001,
                                    1002,
                                    1003,
                                    1007,
                                    1008,
                                    1009,
                                    1010,
                                    1011,
                                    1012,
                                    1013,
                                    1014,
                                    3000,
                                    3999,
                                    4000,
                                    4999};
    static const unsigned bad[] = {
        0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535};
    char script[32];
    char expected[32];
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        snprintf(script, sizeof(script), "C%u\"a\"", good[i]);
        check_case(&(struct ws_case){"7.7.1 to 7.7.13, 7.4", script, script});
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        snprintf(script, sizeof(script), "C%u\"a\"", bad[i]);
        snprintf(expected, sizeof(expected), "C1002\"\"");
        check_case(&(struct ws_case){"7.9.1 to 7.13.2, 7.4", script, expected});
    }
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
