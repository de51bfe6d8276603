/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Names of the real platform: addresses of numbers, names of this machine, and what has no address.
 */
#include "os/resolve.h"
#include "support/sockets.h"

#include <errno.h>
#include <netinet/in.h>

static tr_status resolve(const char *name, tr_address *addresses, size_t max, size_t *count)
{
    const tr_platform *real = tr_platform_real();
    return real->resolve(real, name, 7000, addresses, max, count);
}

TEST(addresses_of_numbers_need_no_name, "")
{
    tr_address found[4];
    size_t count = 0;
    ck_assert_int_eq(resolve("127.0.0.1", found, 4, &count), TR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert(is_same(found[0], loopback_v4(7000)));
    ck_assert_int_eq(resolve("::1", found, 4, &count), TR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert(is_same(found[0], loopback_v6(7000)));
    ck_assert_int_eq(resolve("fe80::1%1", found, 4, &count), TR_OK);
    ck_assert_uint_eq(found[0].scope, 1);
    ck_assert_int_eq(resolve("::ffff:127.0.0.1", found, 4, &count), TR_OK);
    ck_assert(is_same(found[0], loopback_v4(7000)));
}

TEST(this_machine_has_a_name, "")
{
    tr_address found[8];
    size_t count = 0;
    ck_assert_int_eq(resolve("localhost", found, 8, &count), TR_OK);
    ck_assert_uint_ge(count, 1);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(found[i].port, 7000);
        for (size_t j = 0; j < i; j++)
            ck_assert(!is_same(found[i], found[j]));
    }
    ck_assert_int_eq(resolve("localhost", found, 1, &count), TR_OK);
    ck_assert_uint_eq(count, 1);
}

TEST(what_is_no_name_is_invalid, "")
{
    tr_address found[1];
    size_t count = 7;
    char label[80];
    memset(label, 'x', sizeof label); /* a label has 63 bytes at most */
    label[79] = '\0';
    const char *const wrong[] = {"", "a..b", label};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_int_eq(resolve(wrong[i], found, 1, &count), TR_ADDRESS_INVALID);
    ck_assert_int_eq(resolve(NULL, found, 1, &count), TR_ADDRESS_INVALID);
    ck_assert_int_eq(resolve("::1", found, 0, &count), TR_INVALID_ARGUMENT);
    ck_assert_uint_eq(count, 7);
}

TEST(each_address_comes_once_and_in_order, "")
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr other = {.sa_family = AF_APPLETALK};
    struct addrinfo list[5] = {
        {.ai_addr = (struct sockaddr *)&v6, .ai_addrlen = sizeof v6},
        {.ai_addr = (struct sockaddr *)&v4, .ai_addrlen = sizeof v4},
        {.ai_addr = &other, .ai_addrlen = sizeof other},
        {.ai_addr = (struct sockaddr *)&v6, .ai_addrlen = sizeof v6},
        {.ai_addr = (struct sockaddr *)&v4, .ai_addrlen = sizeof v4},
    };
    for (size_t i = 0; i + 1 < 5; i++)
        list[i].ai_next = &list[i + 1];
    tr_address found[5];
    ck_assert_uint_eq(tr__resolve_write(list, 7000, found, 5), 2);
    ck_assert(is_same(found[0], loopback_v6(7000)));
    ck_assert(is_same(found[1], loopback_v4(7000)));
    ck_assert_uint_eq(tr__resolve_write(list, 7000, found, 1), 1);
    ck_assert_uint_eq(tr__resolve_write(NULL, 7000, found, 1), 0);
}

TEST(each_error_of_a_look_up_has_a_status, "")
{
    ck_assert_int_eq(tr__resolve_status(0, 0), TR_OK);
    ck_assert_int_eq(tr__resolve_status(EAI_NONAME, 0), TR_ADDRESS_INVALID);
    ck_assert_int_eq(tr__resolve_status(EAI_NODATA, 0), TR_ADDRESS_INVALID);
    ck_assert_int_eq(tr__resolve_status(EAI_FAIL, 0), TR_ADDRESS_INVALID);
    ck_assert_int_eq(tr__resolve_status(EAI_AGAIN, 0), TR_TIMEOUT);
    ck_assert_int_eq(tr__resolve_status(EAI_MEMORY, 0), TR_NO_MEMORY);
    ck_assert_int_eq(tr__resolve_status(EAI_SYSTEM, ENOMEM), TR_NO_MEMORY);
    ck_assert_int_eq(tr__resolve_status(EAI_SYSTEM, EMFILE), TR_LIMIT);
    ck_assert_int_eq(tr__resolve_status(EAI_SYSTEM, EIO), TR_TIMEOUT);
}

SUITE("os resolve", addresses_of_numbers_need_no_name, this_machine_has_a_name,
      what_is_no_name_is_invalid, each_address_comes_once_and_in_order,
      each_error_of_a_look_up_has_a_status)
