/* SPDX-License-Identifier: Apache-2.0 */
/** Keys, versions, tokens and origins of the handshake of WebSocket. */
#include "http/ws_handshake.h"

#include "base/assert.h"
#include "base/base64.h"
#include "base/sha1.h"

#include <string.h>

/* The text that is appended to the key before it is hashed (RFC 6455 1.3). */
#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

static bool is_base64_digit(unsigned char byte)
{
    unsigned char letter = byte | 0x20;
    return (letter >= 'a' && letter <= 'z') || (byte >= '0' && byte <= '9') || byte == '+' ||
           byte == '/';
}

bool tr__ws_key_is_valid(tr_bytes key)
{
    const unsigned char *bytes = key.data;
    if (key.size != WS_KEY_SIZE || bytes[22] != '=' || bytes[23] != '=')
        return false;
    for (size_t i = 0; i < 22; i++) {
        if (!is_base64_digit(bytes[i]))
            return false;
    }
    return true;
}

void tr__ws_key_write(const unsigned char random[16], char key[WS_KEY_SIZE + 1])
{
    *base64_write(key, random, 16) = '\0';
}

void tr__ws_accept_write(tr_bytes key, char accept[WS_ACCEPT_SIZE + 1])
{
    char text[WS_KEY_SIZE + sizeof(GUID)];
    unsigned char hash[SHA1_SIZE];
    TR_ASSERT(key.size == WS_KEY_SIZE);
    memcpy(text, key.data, WS_KEY_SIZE);
    memcpy(text + WS_KEY_SIZE, GUID, sizeof(GUID));
    tr__sha1(text, WS_KEY_SIZE + sizeof(GUID) - 1, hash);
    *base64_write(accept, hash, sizeof(hash)) = '\0';
}

bool tr__ws_accept_is_valid(tr_bytes key, tr_bytes accept)
{
    char expected[WS_ACCEPT_SIZE + 1];
    tr__ws_accept_write(key, expected);
    return accept.size == WS_ACCEPT_SIZE && memcmp(accept.data, expected, WS_ACCEPT_SIZE) == 0;
}

bool tr__ws_version_is_valid(tr_bytes version)
{
    return version.size == sizeof(WS_VERSION) - 1 &&
           memcmp(version.data, WS_VERSION, version.size) == 0;
}

static unsigned char lower(unsigned char byte)
{
    return byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
}

/* Whether two texts are equal, ignoring upper and lower case. */
static bool is_same(const unsigned char *a, const unsigned char *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (lower(a[i]) != lower(b[i]))
            return false;
    }
    return true;
}

static bool is_space(unsigned char byte)
{
    return byte == ' ' || byte == '\t';
}

bool tr__ws_list_has(tr_bytes list, const char *token)
{
    const unsigned char *bytes = list.data;
    size_t length = strlen(token);
    for (size_t at = 0; at < list.size;) {
        size_t end = at;
        while (end < list.size && bytes[end] != ',')
            end++;
        size_t next = end + 1;
        while (at < end && is_space(bytes[at]))
            at++;
        while (end > at && is_space(bytes[end - 1]))
            end--;
        if (end - at == length && is_same(bytes + at, (const unsigned char *)token, length))
            return true;
        at = next;
    }
    return false;
}

/* A host and its port, as text. The port may be empty. */
struct place {
    const unsigned char *host;
    size_t host_size;
    const unsigned char *port;
    size_t port_size;
};

/* Divides "host", "host:port", "[::1]" or "[::1]:port". Returns false if the text has none of these
 * forms. */
static bool place_cut(const unsigned char *bytes, size_t size, struct place *place)
{
    size_t end = 0;
    if (size > 0 && bytes[0] == '[') {
        while (end < size && bytes[end] != ']')
            end++;
        if (end == size)
            return false;
        end++;
    } else {
        while (end < size && bytes[end] != ':')
            end++;
    }
    *place = (struct place){.host = bytes, .host_size = end};
    if (end == size)
        return end > 0;
    if (bytes[end] != ':')
        return false;
    place->port = bytes + end + 1;
    place->port_size = size - end - 1;
    for (size_t i = 0; i < place->port_size; i++) {
        if (place->port[i] < '0' || place->port[i] > '9')
            return false;
    }
    return end > 0;
}

static bool is_text(const unsigned char *bytes, size_t size, const char *text)
{
    return size == strlen(text) && memcmp(bytes, text, size) == 0;
}

/* Whether an origin, "https://host:port", has the same host and port as the Host header. */
static bool is_same_place(tr_bytes origin, tr_bytes host)
{
    static const struct {
        const char *scheme;
        const char *port;
    } schemes[] = {{"https://", "443"}, {"http://", "80"}};
    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
        size_t size = strlen(schemes[i].scheme);
        struct place page, here;
        if (origin.size < size ||
            !is_same(origin.data, (const unsigned char *)schemes[i].scheme, size))
            continue;
        if (!place_cut((const unsigned char *)origin.data + size, origin.size - size, &page) ||
            !place_cut(host.data, host.size, &here))
            return false;
        if (page.host_size != here.host_size || !is_same(page.host, here.host, here.host_size))
            return false;
        if (page.port_size == 0)
            page.port = (const unsigned char *)schemes[i].port,
            page.port_size = strlen(schemes[i].port);
        return here.port_size == 0 ? is_text(page.port, page.port_size, schemes[i].port)
                                   : page.port_size == here.port_size &&
                                         memcmp(page.port, here.port, here.port_size) == 0;
    }
    return false;
}

bool tr__ws_origin_is_allowed(tr_bytes origin, tr_bytes host, const char *const *others)
{
    if (origin.size == 0)
        return true;
    for (; others != NULL && *others != NULL; others++) {
        if (strcmp(*others, "*") == 0)
            return true;
        if (strlen(*others) == origin.size &&
            is_same(origin.data, (const unsigned char *)*others, origin.size))
            return true;
    }
    return is_same_place(origin, host);
}
