/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the reader of addresses against the one of the C library, and the splitter of host and port. What is
 * read is printed, and read again as the same.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/limits.h>

#include "base/address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Checks one host against the C library. The copy has no byte more than the reader may look at. */
static void check_host(const char *text, size_t size)
{
    char *exact = malloc(size + (size == 0));
    tr_address address = {.family = TR_FAMILY_NONE};
    uint8_t host[16] = {0};
    require(exact != NULL);
    memcpy(exact, text, size);
    bool is_text = memchr(text, '\0', size) == NULL && text[size] == '\0';
    tr_status status = tr__address_read_v4(exact, size, &address);
    require((status == TR_OK) == (is_text && inet_pton(AF_INET, text, host) == 1));
    require(status != TR_OK || memcmp(address.host, host, sizeof host) == 0);
    memset(host, 0, sizeof host);
    status = tr__address_read_v6(exact, size, &address);
    require((status == TR_OK) == (is_text && inet_pton(AF_INET6, text, host) == 1));
    require(status != TR_OK || memcmp(address.host, host, sizeof host) == 0);
    free(exact);
}

static void check_split(const char *text)
{
    char host[TR_HOST_MAX + 1];
    uint16_t port;
    tr_address address;
    if (tr__address_split(text, host, sizeof host, &port) != TR_OK)
        return;
    require(strncmp(text, host, strlen(host)) == 0 && text[strlen(host)] == ':');
    require(strtoul(text + strlen(host) + 1, NULL, 10) == port);
    struct in_addr number;
    require(tr_address_parse(text, &address) == TR_ADDRESS_INVALID);
    require(inet_aton(host, &number) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    tr_address address;
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    check_host(text, size);
    check_split(text);
    if (tr_address_parse(text, &address) == TR_OK) {
        char printed[TR_ADDRESS_TEXT_MAX];
        tr_address again;
        require(tr_address_parse(tr_address_print(&address, printed), &again) == TR_OK);
        require(tr_address_is_equal(&address, &again));
    }
    free(text);
    return 0;
}
