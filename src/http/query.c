/* SPDX-License-Identifier: Apache-2.0 */
/** Reads queries, forms, percent-encoding and URLs (RFC 3986, the URL standard for forms). */
#include "http/query.h"

#include "wire/utf8.h"

#include <string.h>

bool tr__query_next(struct query *query, struct query_pair *pair)
{
    while (query->at < query->end && *query->at == '&')
        query->at++;
    if (query->at == query->end)
        return false;
    const char *begin = query->at;
    const char *end = memchr(begin, '&', (size_t)(query->end - begin));
    if (end == NULL)
        end = query->end;
    const char *equals = memchr(begin, '=', (size_t)(end - begin));
    const char *name_end = equals == NULL ? end : equals;
    const char *value = equals == NULL ? end : equals + 1;
    pair->name = (tr_bytes){begin, (size_t)(name_end - begin)};
    pair->value = (tr_bytes){value, (size_t)(end - value)};
    query->at = end;
    return true;
}

static unsigned hex_of(unsigned char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - (unsigned)'0';
    unsigned char letter = byte | 0x20;
    return letter >= 'a' && letter <= 'f' ? letter - (unsigned)'a' + 10 : 16;
}

/*
 * Decodes the byte at *at, and moves *at behind it. Returns 256 if the escape there is malformed.
 */
static unsigned decode_next(const unsigned char **at, const unsigned char *end, bool plus_is_space)
{
    unsigned char byte = *(*at)++;
    if (byte == '+' && plus_is_space)
        return ' ';
    if (byte != '%')
        return byte;
    if (end - *at < 2)
        return 256;
    unsigned high = hex_of((*at)[0]);
    unsigned low = hex_of((*at)[1]);
    *at += 2;
    return high > 15 || low > 15 ? 256 : high << 4 | low;
}

/* Whether an encoded text means this name. */
static bool is_name(tr_bytes text, const char *name)
{
    const unsigned char *at = text.data;
    const unsigned char *end = at + text.size;
    for (; at < end; name++) {
        unsigned byte = decode_next(&at, end, true);
        if (byte == 0 || byte != (unsigned char)*name)
            return false;
    }
    return *name == '\0';
}

bool tr__query_find(tr_bytes text, const char *name, tr_bytes *value)
{
    struct query query = query_of(text);
    struct query_pair pair;
    while (tr__query_next(&query, &pair)) {
        if (is_name(pair.name, name)) {
            *value = pair.value;
            return true;
        }
    }
    return false;
}

static tr_status decode(tr_bytes text, bool plus_is_space, char *to, size_t *length)
{
    const unsigned char *at = text.data;
    size_t size = 0;
    if (text.size > 0) {
        for (const unsigned char *end = at + text.size; at < end;) {
            unsigned byte = decode_next(&at, end, plus_is_space);
            if (byte > 255)
                return TR_BAD_DATA;
            to[size++] = (char)byte;
        }
    }
    if (utf8_span((const unsigned char *)to, size) != size)
        return TR_BAD_DATA;
    to[size] = '\0';
    if (length != NULL)
        *length = size;
    return TR_OK;
}

tr_status tr__query_decode(tr_bytes text, char *to, size_t *length)
{
    return decode(text, true, to, length);
}

tr_status tr__path_decode(tr_bytes text, char *to, size_t *length)
{
    return decode(text, false, to, length);
}

static bool is_unreserved(unsigned char byte)
{
    unsigned char letter = byte | 0x20;
    return (letter >= 'a' && letter <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' ||
           byte == '.' || byte == '_' || byte == '~';
}

size_t tr__percent_encode(tr_bytes text, char *to, size_t size)
{
    static const char digits[] = "0123456789ABCDEF";
    const unsigned char *bytes = text.data;
    size_t length = 0;
    for (size_t i = 0; i < text.size; i++) {
        char code[3] = {(char)bytes[i]};
        size_t count = 1;
        if (!is_unreserved(bytes[i])) {
            code[0] = '%';
            code[1] = digits[bytes[i] >> 4];
            code[2] = digits[bytes[i] & 15];
            count = 3;
        }
        for (size_t k = 0; k < count; k++, length++) {
            if (length < size)
                to[length] = code[k];
        }
    }
    if (size > 0)
        to[length < size ? length : size - 1] = '\0';
    return length;
}

/*
 * Reads the scheme of a URL. Returns the length of the scheme, or 0 if it is not http, https, ws or
 * wss.
 */
static size_t read_scheme(const char *text, size_t size, struct url *url)
{
    static const struct {
        const char *text;
        bool is_secure;
        bool is_websocket;
    } schemes[] = {{"http://", false, false},
                   {"https://", true, false},
                   {"ws://", false, true},
                   {"wss://", true, true}};
    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
        size_t length = strlen(schemes[i].text);
        if (size < length)
            continue;
        size_t same = 0;
        while (same < length && (text[same] == schemes[i].text[same] ||
                                 (text[same] >= 'A' && text[same] <= 'Z' &&
                                  (text[same] | 0x20) == schemes[i].text[same])))
            same++;
        if (same == length) {
            url->is_secure = schemes[i].is_secure;
            url->is_websocket = schemes[i].is_websocket;
            return length;
        }
    }
    return 0;
}

/*
 * Reads the port of a URL, such as ":8080"; the text may be empty. Returns false if the text is
 * neither.
 */
static bool read_port(const char *at, const char *end, struct url *url)
{
    unsigned port = 0;
    url->port = url->is_secure ? 443 : 80;
    if (at == end)
        return true;
    if (*at != ':')
        return false;
    for (at++; at < end; at++) {
        if (*at < '0' || *at > '9')
            return false;
        port = port * 10 + (unsigned)(*at - '0');
        if (port > UINT16_MAX)
            return false;
        url->port = (uint16_t)port;
    }
    return url->port != 0;
}

/* Divides "host:port" or "[::1]:port" into host and port. */
static bool read_authority(const char *at, const char *end, struct url *url)
{
    const char *host = at;
    const char *host_end;
    if (at < end && *at == '[') {
        host = at + 1;
        host_end = memchr(host, ']', (size_t)(end - host));
        if (host_end == NULL)
            return false;
        at = host_end + 1;
    } else {
        while (at < end && *at != ':')
            at++;
        host_end = at;
    }
    url->host = (tr_bytes){host, (size_t)(host_end - host)};
    return host_end > host && memchr(host, '@', (size_t)(end - host)) == NULL &&
           read_port(at, end, url);
}

tr_status tr__url_cut(tr_bytes text, struct url *url)
{
    struct url cut = {0};
    const char *at = text.data;
    if (text.size == 0)
        return TR_ADDRESS_INVALID;
    const char *end = memchr(at, '#', text.size);
    end = end != NULL ? end : at + text.size;
    for (const char *each = at; each < end; each++) {
        unsigned char byte = (unsigned char)*each;
        if (byte <= 0x20 || byte >= 0x7f || strchr("\"<>\\^`{|}", byte) != NULL)
            return TR_ADDRESS_INVALID;
    }
    size_t scheme = read_scheme(at, (size_t)(end - at), &cut);
    const char *host = at + scheme;
    const char *target = host;
    while (target < end && *target != '/' && *target != '?')
        target++;
    if (scheme == 0 || !read_authority(host, target, &cut))
        return TR_ADDRESS_INVALID;
    cut.target = target == end ? (tr_bytes){"/", 1} : (tr_bytes){target, (size_t)(end - target)};
    *url = cut;
    return TR_OK;
}
