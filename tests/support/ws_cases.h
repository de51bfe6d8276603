/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Cases of WebSocket by the categories 1 to 7 and 10 of the Autobahn test suite, in the notation of support/ws_client.h: what is
 * sent to an endpoint that echoes messages, and what it must send. The expectation of each case is what the named section of
 * RFC 6455 demands. A close that is the endpoint's own, after an error, may have a reason where the table has none.
 */
#ifndef TROUPE_TESTS_SUPPORT_WS_CASES_H
#define TROUPE_TESTS_SUPPORT_WS_CASES_H

#include "support/ws_client.h"

struct ws_case {
    const char *id; /* category and number, and the section of RFC 6455 */
    const char *script;
    const char *expected;
};

/** Bytes of a message, at most, of the endpoint. */
#define WS_CASES_MESSAGE_MAX (1u << 20)

static const struct ws_case ws_payloads[] = {
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
    {"ours, 7.4.1: fragments above the limit", "b*1048576 P\"a\" -\"\" +\"y\"", "O\"a\" C1009\"\""},
    {"ours, 5.2: 16 bits for 125", "w2T*125", "C1002\"\""},
    {"ours, 5.2: 64 bits for 125", "w8T*125", "C1002\"\""},
    {"ours, 5.2: 64 bits for 65535", "w8B*65535", "C1002\"\""},
    {"ours, 5.1: masked by the wrong side", "T\"a\" uT\"b\" T\"c\"", "T\"a\" C1002\"\""},
    {"ours, 5.1: the same of control frames", "uP", "C1002\"\""},
};

static const struct ws_case ws_pings[] = {
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

static const struct ws_case ws_reserved_bits[] = {
    {"3.1, 5.2", "r1T\"Hello\"", "C1002\"\""},
    {"3.2, 5.2", "T\"Hello\" r2T\"Hello\" P", "T\"Hello\" C1002\"\""},
    {"3.3, 5.2", "T\"Hello\" r3T\"Hello\" P", "T\"Hello\" C1002\"\""},
    {"3.4, 5.2", "T\"Hello\" r4T\"Hello\" P", "T\"Hello\" C1002\"\""},
    {"3.5, 5.2", "r5B\"\x01\xff\"", "C1002\"\""},
    {"3.6, 5.2", "r6P\"Hello\"", "C1002\"\""},
    {"3.7, 5.2", "r7C1000", "C1002\"\""},
    {"ours, 5.2: a continuation", "t\"a\" r4+\"b\"", "C1002\"\""},
};

static const struct ws_case ws_reserved_opcodes[] = {
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

static const struct ws_case ws_fragments[] = {
    {"5.1, 5.4", "!9t\"fragment1\" +\"fragment2\"", "C1002\"\""},
    {"5.2, 5.4", "!10t\"fragment1\" +\"fragment2\"", "C1002\"\""},
    {"5.3, 5.4", "t\"fragment1\" +\"fragment2\"", "T\"fragment1fragment2\""},
    {"5.3b, 5.4", "b\"fragment1\" +\"fragment2\"", "B\"fragment1fragment2\""},
    {"5.6, 5.4", "t\"fragment1\" P\"ping\" +\"fragment2\"", "O\"ping\" T\"fragment1fragment2\""},
    {"5.9, 5.4", "-\"non-continuation\" T\"Hello\"", "C1002\"\""},
    {"5.10, 5.4", "+\"non-continuation\" T\"Hello\"", "C1002\"\""},
    {"5.12, 5.4", "T\"Hello\" -\"non-continuation\"", "T\"Hello\" C1002\"\""},
    {"5.15, 5.4", "t\"a\" +\"b\" -\"c\" T\"d\"", "T\"ab\" C1002\"\""},
    {"5.16, 5.4", "-\"a\" t\"b\" +\"c\" -\"d\"", "C1002\"\""},
    {"5.17, 5.4", "+\"a\" t\"b\" +\"c\"", "C1002\"\""},
    {"5.18, 5.4", "t\"fragment1\" T\"fragment2\"", "C1002\"\""},
    {"5.18b, 5.4", "b\"fragment1\" t\"fragment2\"", "C1002\"\""},
    {"5.19, 5.4", "t\"1\" -\"2\" P\"a\" -\"3\" -\"4\" P\"b\" +\"5\"", "O\"a\" O\"b\" T\"12345\""},
    {"ours, 5.5.1: a close between", "t\"1\" C1000 +\"2\"", "C1000\"\""},
    {"ours, 5.4: empty fragments", "b -\"\" -\"\" +\"a\" b\"b\" -\"\" +\"\"", "B\"a\" B\"b\""},
    {"10.1.1, 5.4", "t*1300 -*1300 -*1300 +*100", "T*4000"},
};

static const struct ws_case ws_texts[] = {
    {"6.1.1, 5.6", "T", "T\"\""},
    {"6.1.2, 5.6", "t -\"\" +\"\"", "T\"\""},
    {"6.1.3, 5.6", "t -\"middle\" +\"\"", "T\"middle\""},
    {"6.2.1, 8.1", "T\"Hello-\xc2\xb5@\xc3\x9f-UTF-8!!\"", "T\"Hello-\xc2\xb5@\xc3\x9f-UTF-8!!\""},
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

/** The rows of table 3-7 of the Unicode standard at their borders, and what is beside them. */
static const struct {
    const char *text;
    bool is_valid;
} ws_borders[] = {
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

/** Calls a function with the cases 6.5 to 6.23: each border behind 0 to 19 letters. */
static inline void ws_each_border(void (*check)(const struct ws_case *it))
{
    for (size_t i = 0; i < sizeof(ws_borders) / sizeof(*ws_borders); i++) {
        for (size_t before = 0; before < 20; before++) {
            char script[64];
            char expected[64];
            snprintf(script,
                     sizeof(script),
                     "T\"%.*s%s\"",
                     (int)before,
                     "abcdefghijklmnopqrstuvwxyz",
                     ws_borders[i].text);
            snprintf(
                expected, sizeof(expected), "%s", ws_borders[i].is_valid ? script : "C1007\"\"");
            check(&(struct ws_case){"6.5 to 6.23, 8.1", script, expected});
        }
    }
}

#define WS_X41 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define WS_LONGEST_CLOSE "C1000\"" WS_X41 WS_X41 WS_X41 "\""

static const struct ws_case ws_closes[] = {
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
    {"7.3.5, 5.5", "C1000*123", WS_LONGEST_CLOSE},
    {"7.3.6, 5.5", "C1000*124", "C1002\"\""},
    {"7.5.1, 5.5.1", "C1000\"\xce\xba\xed\xa0\x80\"", "C1007\"\""},
};

/** Calls a function with the cases 7.7.1 to 7.13.2: codes that may be sent, and others. */
static inline void ws_each_code(void (*check)(const struct ws_case *it))
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
        check(&(struct ws_case){"7.7.1 to 7.7.13, 7.4", script, script});
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        snprintf(script, sizeof(script), "C%u\"a\"", bad[i]);
        snprintf(expected, sizeof(expected), "C1002\"\"");
        check(&(struct ws_case){"7.9.1 to 7.13.2, 7.4", script, expected});
    }
}

#endif
