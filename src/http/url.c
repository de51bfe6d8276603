/* SPDX-License-Identifier: Apache-2.0 */
#include "http/url.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *text;
    bool is_tls;
    bool is_websocket;
} schemes[] = {
    {"http://", false, false},
    {"https://", true, false},
    {"ws://", false, true},
    {"wss://", true, true},
};

/* Whether a byte is allowed in a path or a query. */
static bool is_target(char c)
{
    return c > 0x20 && c < 0x7f && !strchr("\"<>\\^`{|}#", c);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether a byte is allowed in a host: a name, an IPv4 address, or, if `is_v6`, an IPv6 address
 * between brackets. */
static bool is_host(char c, bool is_v6)
{
    bool is_hex = is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
    if (is_v6)
        return is_hex || c == ':' || c == '.';
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' || c == '.' ||
           c == '_';
}

/*
 * Reads the host and the port of a URL. Returns the place behind them, or NULL if they are
 * malformed.
 */
static const char *read_authority(const char *at, struct http_url *url)
{
    bool is_v6 = *at == '[';
    size_t size = 0;
    if (is_v6)
        url->host[size++] = *at++;
    size_t begin = size;
    for (; is_host(*at, is_v6); at++) {
        if (size >= TR_HOST_MAX - 1)
            return NULL;
        url->host[size] = *at;
        if (*at >= 'A' && *at <= 'Z')
            url->host[size] = (char)(*at + ('a' - 'A'));
        size++;
    }
    if (size == begin || (is_v6 && *at != ']'))
        return NULL;
    if (is_v6)
        url->host[size++] = *at++;
    url->host[size] = '\0';
    unsigned port = url->is_tls ? 443 : 80;
    if (*at == ':') {
        port = 0;
        size_t digits = 0;
        for (at++; is_digit(*at); at++) {
            port = port * 10 + (unsigned)(*at - '0');
            if (++digits > 5)
                return NULL;
        }
        if (!port || port > UINT16_MAX)
            return NULL;
    }
    url->port = (uint16_t)port;
    return *at == '\0' || *at == '/' || *at == '?' || *at == '#' ? at : NULL;
}

static void fill_in(struct http_url *url)
{
    snprintf(url->address, sizeof url->address, "%s:%u", url->host, (unsigned)url->port);
    bool is_default = url->port == (url->is_tls ? 443 : 80);
    snprintf(url->authority, sizeof url->authority, "%s", is_default ? url->host : url->address);
}

/* Reads path and query, and drops the fragment. */
static tr_status take_target(const char *at, struct http_url *url)
{
    size_t size = 0;
    if (*at != '/')
        url->target[size++] = '/';
    for (; *at && *at != '#'; at++) {
        if (!is_target(*at))
            return TR_INVALID_ARGUMENT;
        if (size > HTTP_URL_MAX)
            return TR_TOO_LARGE;
        url->target[size++] = *at;
    }
    url->target[size] = '\0';
    return TR_OK;
}

static tr_status read_behind(const char *at, struct http_url *url)
{
    at = read_authority(at, url);
    if (!at)
        return TR_INVALID_ARGUMENT;
    fill_in(url);
    return take_target(at, url);
}

tr_status tr__http_url_read(const char *text, struct http_url *url)
{
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t size = strlen(schemes[i].text);
        if (strncasecmp(text, schemes[i].text, size) != 0)
            continue;
        url->is_tls = schemes[i].is_tls;
        url->is_websocket = schemes[i].is_websocket;
        return read_behind(text + size, url);
    }
    return TR_INVALID_ARGUMENT;
}

/* Removes "." and ".." from the path of a target (RFC 3986, 5.2.4). */
static void remove_dots(char *target)
{
    char *from = target;
    char *to = target;
    while (*from == '/') {
        size_t size = 1 + strcspn(from + 1, "/?");
        bool is_last = from[size] != '/';
        bool is_dot = size == 2 && from[1] == '.';
        bool is_up = size == 3 && from[1] == '.' && from[2] == '.';
        if (is_up) {
            while (to > target && *--to != '/')
                ;
        }
        if (!is_dot && !is_up) {
            memmove(to, from, size);
            to += size;
        } else if (is_last) {
            *to++ = '/';
        }
        from += size;
    }
    if (to == target)
        *to++ = '/';
    memmove(to, from, strlen(from) + 1);
}

tr_status tr__http_url_resolve(const struct http_url *base, const char *reference,
                               struct http_url *url)
{
    size_t scheme = strcspn(reference, ":/?#");
    if (scheme && reference[scheme] == ':')
        return tr__http_url_read(reference, url);
    url->is_tls = base->is_tls;
    url->is_websocket = base->is_websocket;
    if (reference[0] == '/' && reference[1] == '/')
        return read_behind(reference + 2, url);
    url->port = base->port;
    memcpy(url->host, base->host, sizeof url->host);
    fill_in(url);
    /* the number of bytes of the base's target that stay in front of the reference */
    size_t keep = strcspn(base->target, "?");
    if (reference[0] == '/')
        keep = 0;
    else if (reference[0] == '\0' || reference[0] == '#')
        keep = strlen(base->target);
    else if (reference[0] != '?') {
        while (keep && base->target[keep - 1] != '/')
            keep--;
    }
    char joined[2 * HTTP_URL_MAX];
    int size = snprintf(joined, sizeof joined, "%.*s%s", (int)keep, base->target, reference);
    if (size < 0 || (size_t)size >= sizeof joined)
        return TR_TOO_LARGE;
    tr_status status = take_target(joined, url);
    if (status == TR_OK)
        remove_dots(url->target);
    return status;
}

bool tr__http_url_is_same_origin(const struct http_url *one, const struct http_url *other)
{
    return one->is_tls == other->is_tls && one->port == other->port &&
           strcmp(one->host, other->host) == 0;
}

void tr__http_url_print(const struct http_url *url, char *text)
{
    const char *scheme = url->is_websocket ? "ws" : "http";
    snprintf(text,
             HTTP_URL_TEXT_MAX,
             "%s%s://%s%s",
             scheme,
             url->is_tls ? "s" : "",
             url->authority,
             url->target);
}
