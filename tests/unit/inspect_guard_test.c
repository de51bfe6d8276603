/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which requests the inspector answers: Host, Origin, token.
 */
#include "support/test.h"

#include <string.h>

#include "inspect/guard.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static bool host(const char *text, const char *address)
{
    tr_address here;
    ck_assert_int_eq(tr_address_parse(address, &here), TR_OK);
    return tr__guard_host(text, &here, NULL, false);
}

TEST(a_host_is_the_address_or_localhost_with_the_port, "I-02")
{
    ck_assert(host("127.0.0.1:4000", "127.0.0.1:4000"));
    ck_assert(host("localhost:4000", "127.0.0.1:4000"));
    ck_assert(host("LocalHost:4000", "127.0.0.1:4000"));
    ck_assert(host("[::1]:4000", "[::1]:4000"));
    ck_assert(host("localhost", "127.0.0.1:80"));
    ck_assert(host("127.0.0.1", "127.0.0.1:80"));
    ck_assert(!host(NULL, "127.0.0.1:4000"));
    ck_assert(!host("", "127.0.0.1:4000"));
    ck_assert(!host("127.0.0.1", "127.0.0.1:4000"));
    ck_assert(!host("localhost", "127.0.0.1:4000"));
    ck_assert(!host("127.0.0.2:4000", "127.0.0.1:4000"));
    ck_assert(!host("localhost:40000", "127.0.0.1:4000"));
    ck_assert(!host("localhost.example:4000", "127.0.0.1:4000"));
    ck_assert(!host("127.0.0.1:4000.example", "127.0.0.1:4000"));
}

TEST(a_name_of_the_machine_is_a_host_too, "I-02")
{
    tr_address here;
    ck_assert_int_eq(tr_address_parse("10.0.0.7:8443", &here), TR_OK);
    ck_assert(tr__guard_host("bank.example:8443", &here, "bank.example", true));
    ck_assert(tr__guard_host("Bank.Example:8443", &here, "bank.example", true));
    ck_assert(tr__guard_host("10.0.0.7:8443", &here, "bank.example", true));
    ck_assert(!tr__guard_host("bank.example", &here, "bank.example", true));
    ck_assert(!tr__guard_host("bank.example:84430", &here, "bank.example", true));
    ck_assert(!tr__guard_host("bank.example.evil:8443", &here, "bank.example", true));
    ck_assert(!tr__guard_host("a.bank.example:8443", &here, "bank.example", true));
    ck_assert(!tr__guard_host("bank.example:8443", &here, NULL, true));
    ck_assert_int_eq(tr_address_parse("10.0.0.7:443", &here), TR_OK);
    ck_assert(tr__guard_host("bank.example", &here, "bank.example", true));
    ck_assert(!tr__guard_host("bank.example", &here, "bank.example", false));
    ck_assert(tr__guard_origin("https://bank.example", "bank.example", true));
    ck_assert(!tr__guard_origin("http://bank.example", "bank.example", true));
    ck_assert(tr__guard_is_name("bank-1.example"));
    ck_assert(!tr__guard_is_name("bank.example:443"));
    ck_assert(!tr__guard_is_name("bank/x"));
    ck_assert(!tr__guard_is_name(""));
}

TEST(an_origin_is_that_of_the_host, "I-02")
{
    ck_assert(tr__guard_origin("http://localhost:4000", "localhost:4000", false));
    ck_assert(tr__guard_origin("HTTP://LOCALHOST:4000", "localhost:4000", false));
    ck_assert(!tr__guard_origin("https://localhost:4000", "localhost:4000", false));
    ck_assert(!tr__guard_origin("http://localhost:4001", "localhost:4000", false));
    ck_assert(!tr__guard_origin("http://127.0.0.1:4000", "localhost:4000", false));
    ck_assert(!tr__guard_origin("http://localhost:4000/", "localhost:4000", false));
    ck_assert(!tr__guard_origin("null", "localhost:4000", false));
    ck_assert(!tr__guard_origin("", "", false));
    ck_assert(!tr__guard_origin(NULL, "localhost:4000", false));
    ck_assert(!tr__guard_origin("http://", NULL, false));
}

TEST(the_token_is_one_of_the_subprotocols, "I-02")
{
    static const char *const right[] = {"token." TOKEN,
                                        "troupe-inspect-1, token." TOKEN,
                                        "troupe-inspect-1,token." TOKEN " ,other",
                                        " \t,, token." TOKEN "\t",
                                        "token.00000000000000000000000000000000, token." TOKEN};
    static const char *const wrong[] = {"",
                                        TOKEN,
                                        "token.",
                                        "token." TOKEN "0",
                                        "Token." TOKEN,
                                        "token.0123456789abcdef0123456789abcdee",
                                        "token.1123456789abcdef0123456789abcdef",
                                        "token.0123456789ABCDEF0123456789abcdef",
                                        "token. " TOKEN,
                                        "troupe-inspect-1;token." TOKEN};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        ck_assert(tr__guard_token(right[i], TOKEN));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert(!tr__guard_token(wrong[i], TOKEN));
    ck_assert(!tr__guard_token(NULL, TOKEN));
    ck_assert(tr__guard_protocol("a,troupe-inspect-1"));
    ck_assert(!tr__guard_protocol("troupe-inspect-10, troupe-inspect"));
    ck_assert(!tr__guard_protocol(NULL));
}

TEST(a_token_has_all_bits_that_it_was_given, "I-02")
{
    char token[GUARD_TOKEN_SIZE + 1];
    tr__guard_token_write(0x0123456789abcdef, 0xf, token);
    ck_assert_str_eq(token, "0123456789abcdef000000000000000f");
}

TEST(only_loopback_addresses_are_of_this_machine, "I-02")
{
    static const char *const near[] = {"127.0.0.1:0", "127.9.8.7:1", "[::1]:0"};
    static const char *const far[] = {
        ":0", "0.0.0.0:0", "10.0.0.1:80", "128.0.0.1:1", "[::]:0", "[::2]:0", "[fe80::1%2]:0"};
    tr_address address;
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        ck_assert_int_eq(tr_address_parse(near[i], &address), TR_OK);
        ck_assert(tr__guard_is_loopback(&address));
    }
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        ck_assert_int_eq(tr_address_parse(far[i], &address), TR_OK);
        ck_assert(!tr__guard_is_loopback(&address));
    }
}

SUITE("inspect guard", a_host_is_the_address_or_localhost_with_the_port,
      a_name_of_the_machine_is_a_host_too, an_origin_is_that_of_the_host,
      the_token_is_one_of_the_subprotocols, a_token_has_all_bits_that_it_was_given,
      only_loopback_addresses_are_of_this_machine)
