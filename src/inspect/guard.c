/* SPDX-License-Identifier: Apache-2.0 */
#include "inspect/guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { HTTP_PORT = 80 };

bool tr__guard_host(const char *host, const tr_address *here)
{
    char text[TR_ADDRESS_TEXT_MAX];
    char local[32];
    if (!host)
        return false;
    (void)tr_address_print(here, text);
    (void)snprintf(local, sizeof local, "localhost:%u", (unsigned)here->port);
    if (strcasecmp(host, text) == 0 || strcasecmp(host, local) == 0)
        return true;
    char *colon = strrchr(text, ':');
    if (here->port != HTTP_PORT || !colon)
        return false;
    *colon = '\0';
    return strcasecmp(host, text) == 0 || strcasecmp(host, "localhost") == 0;
}

bool tr__guard_origin(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    return origin && host && strncasecmp(origin, scheme, sizeof scheme - 1) == 0 &&
           strcasecmp(origin + sizeof scheme - 1, host) == 0;
}

/* Returns the next item of a list with commas, without the spaces around it; NULL: there is none. */
static const char *item_next(const char **list, size_t *size)
{
    *list += strspn(*list, ", \t");
    const char *item = *list;
    *size = strcspn(item, ",");
    *list += *size;
    while (*size && (item[*size - 1] == ' ' || item[*size - 1] == '\t'))
        --*size;
    return *size ? item : NULL;
}

bool tr__guard_token(const char *protocols, const char token[GUARD_TOKEN_SIZE + 1])
{
    static const size_t prefix = sizeof GUARD_TOKEN_PREFIX - 1;
    const char *item;
    size_t size;
    bool is_right = false;
    while (protocols && (item = item_next(&protocols, &size))) {
        if (size != prefix + GUARD_TOKEN_SIZE || memcmp(item, GUARD_TOKEN_PREFIX, prefix) != 0)
            continue;
        unsigned different = 0;
        for (size_t i = 0; i < GUARD_TOKEN_SIZE; i++)
            different |= (unsigned char)item[prefix + i] ^ (unsigned char)token[i];
        is_right |= different == 0;
    }
    return is_right;
}

bool tr__guard_protocol(const char *protocols)
{
    const char *item;
    size_t size;
    while (protocols && (item = item_next(&protocols, &size))) {
        if (size == sizeof GUARD_PROTOCOL - 1 && memcmp(item, GUARD_PROTOCOL, size) == 0)
            return true;
    }
    return false;
}

bool tr__guard_is_loopback(const tr_address *address)
{
    static const uint8_t loopback[16] = {[15] = 1};
    if (address->family == TR_FAMILY_V4)
        return address->host[0] == 127;
    return address->family == TR_FAMILY_V6 && memcmp(address->host, loopback, sizeof loopback) == 0;
}

void tr__guard_token_write(uint64_t high, uint64_t low, char token[GUARD_TOKEN_SIZE + 1])
{
    (void)snprintf(token, GUARD_TOKEN_SIZE + 1, "%016" PRIx64 "%016" PRIx64, high, low);
}
