/* SPDX-License-Identifier: Apache-2.0 */
#include "inspect/guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { HTTP_PORT = 80, HTTPS_PORT = 443 };

/*
 * Whether a Host header is `name` followed by `port`. `is_usual` says that `port` is the usual port
 * of the scheme; then the port may be missing.
 */
static bool is_host(const char *host, const char *name, unsigned port, bool is_usual)
{
    size_t length = strlen(name);
    char digits[8];
    if (strncasecmp(host, name, length) != 0)
        return false;
    (void)snprintf(digits, sizeof digits, ":%u", port);
    return strcmp(host + length, digits) == 0 || (is_usual && !host[length]);
}

bool tr__guard_host(const char *host, const tr_address *here, const char *name, bool is_tls)
{
    char text[TR_ADDRESS_TEXT_MAX];
    unsigned port = here->port;
    bool is_usual = port == (is_tls ? HTTPS_PORT : HTTP_PORT);
    if (!host)
        return false;
    (void)tr_address_print(here, text);
    char *colon = strrchr(text, ':');
    if (colon)
        *colon = '\0';
    return is_host(host, text, port, is_usual) || is_host(host, "localhost", port, is_usual) ||
           (name && is_host(host, name, port, is_usual));
}

bool tr__guard_origin(const char *origin, const char *host, bool is_tls)
{
    const char *scheme = is_tls ? "https://" : "http://";
    return origin && host && strncasecmp(origin, scheme, strlen(scheme)) == 0 &&
           strcasecmp(origin + strlen(scheme), host) == 0;
}

bool tr__guard_is_name(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
    size_t length = strspn(name, allowed);
    return length && length <= GUARD_NAME_MAX && !name[length];
}

/*
 * Returns the next item of a list with commas, without the spaces around it. Returns NULL if there
 * is no further item.
 */
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
