/* SPDX-License-Identifier: Apache-2.0 */
#include "base/address.h"

#include <stdio.h>
#include <string.h>
#include <troupe/limits.h>

enum { GROUPS = 8, LABEL_MAX = 63 };

/* ---- Reading. ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool tr__address_read_number(const char *text, size_t size, uint32_t max, uint32_t *number)
{
    uint64_t value = 0;
    if (size == 0 || (size > 1 && text[0] == '0'))
        return false;
    for (size_t i = 0; i < size; i++) {
        if (!is_digit(text[i]))
            return false;
        value = value * 10 + (uint64_t)(text[i] - '0');
        if (value > max)
            return false;
    }
    *number = (uint32_t)value;
    return true;
}

/*
 * Reads four numbers up to 255 with dots between them. Refuses leading zeros, because some other programs read such
 * numbers as octal.
 */
static bool read_v4(const char *text, size_t size, uint8_t *host)
{
    const char *end = text + size;
    for (int i = 0; i < 4; i++) {
        const char *dot = i < 3 ? memchr(text, '.', (size_t)(end - text)) : end;
        uint32_t number;
        if (!dot || !tr__address_read_number(text, (size_t)(dot - text), UINT8_MAX, &number))
            return false;
        host[i] = (uint8_t)number;
        text = dot + (i < 3);
    }
    return true;
}

/* The groups of an IPv6 address as they are read. */
struct groups {
    uint8_t bytes[2 * GROUPS];
    int count;
    int gap; /* index of the first group behind "::"; -1: there is no "::" */
};

/*
 * Reads one group of up to four hexadecimal digits. Returns how many characters the group has, or 0
 * if there is no group.
 */
static size_t read_group(const char *text, size_t size, struct groups *groups)
{
    uint32_t value = 0;
    size_t length = 0;
    while (length < size && hex_value(text[length]) >= 0) {
        if (length == 4)
            return 0;
        value = value << 4 | (uint32_t)hex_value(text[length++]);
    }
    if (length == 0 || groups->count == GROUPS)
        return 0;
    groups->bytes[2 * groups->count] = (uint8_t)(value >> 8);
    groups->bytes[2 * groups->count + 1] = (uint8_t)value;
    groups->count++;
    return length;
}

/* Reads the last two groups of an IPv6 address if they are written as an IPv4 address. */
static bool read_v4_tail(const char *text, size_t size, struct groups *groups)
{
    if (groups->count > GROUPS - 2 || !read_v4(text, size, groups->bytes + 2 * groups->count))
        return false;
    groups->count += 2;
    return true;
}

static bool read_groups(const char *text, size_t size, struct groups *groups)
{
    const char *end = text + size;
    if (size >= 2 && text[0] == ':' && text[1] == ':') {
        groups->gap = 0;
        text += 2;
        if (text == end)
            return true;
    }
    for (;;) {
        size_t left = (size_t)(end - text);
        const char *colon = memchr(text, ':', left);
        if (!colon && memchr(text, '.', left))
            return read_v4_tail(text, left, groups);
        size_t length = read_group(text, left, groups);
        text += length;
        if (length == 0 || text == end)
            return length > 0;
        if (*text++ != ':' || text == end)
            return false;
        if (*text != ':')
            continue;
        if (groups->gap >= 0)
            return false;
        groups->gap = groups->count;
        if (++text == end)
            return true;
    }
}

static bool read_v6(const char *text, size_t size, uint8_t *host)
{
    struct groups groups = {.count = 0, .gap = -1};
    if (!read_groups(text, size, &groups))
        return false;
    if (groups.gap < 0 ? groups.count != GROUPS : groups.count == GROUPS)
        return false;
    size_t before = groups.gap < 0 ? sizeof groups.bytes : 2 * (size_t)groups.gap;
    size_t after = 2 * (size_t)groups.count - (groups.gap < 0 ? before : 2 * (size_t)groups.gap);
    memset(host, 0, sizeof groups.bytes);
    memcpy(host, groups.bytes, before);
    memcpy(host + sizeof groups.bytes - after, groups.bytes + before, after);
    return true;
}

tr_status tr__address_read_v4(const char *text, size_t size, tr_address *address)
{
    tr_address read = {.family = TR_FAMILY_V4};
    if (!read_v4(text, size, read.host))
        return TR_ADDRESS_INVALID;
    *address = read;
    return TR_OK;
}

tr_status tr__address_read_v6(const char *text, size_t size, tr_address *address)
{
    tr_address read = {.family = TR_FAMILY_V6};
    if (!read_v6(text, size, read.host))
        return TR_ADDRESS_INVALID;
    *address = read;
    return TR_OK;
}

/* Reads the text between brackets: an IPv6 address, which may have the number of a scope, as in "fe80::1%2". */
static tr_status read_scoped(const char *text, size_t size, tr_address *address)
{
    const char *percent = memchr(text, '%', size);
    size_t length = percent ? (size_t)(percent - text) : size;
    uint32_t scope = 0;
    if (percent && !tr__address_read_number(percent + 1, size - length - 1, UINT32_MAX, &scope))
        return TR_ADDRESS_INVALID;
    tr_status status = tr__address_read_v6(text, length, address);
    if (status == TR_OK)
        address->scope = scope;
    return status;
}

/*
 * Reads the port behind the last colon. Returns a pointer to that colon, or NULL if there is no
 * port.
 */
static const char *read_port(const char *text, uint16_t *port)
{
    uint32_t number;
    const char *colon = strrchr(text, ':');
    if (!colon || !tr__address_read_number(colon + 1, strlen(colon + 1), UINT16_MAX, &number))
        return NULL;
    *port = (uint16_t)number;
    return colon;
}

tr_status tr_address_parse(const char *text, tr_address *address)
{
    tr_address read = {.family = TR_FAMILY_V6};
    uint16_t port;
    const char *colon = text ? read_port(text, &port) : NULL;
    if (!colon)
        return TR_ADDRESS_INVALID;
    size_t size = (size_t)(colon - text);
    tr_status status = TR_OK;
    if (size >= 2 && text[0] == '[' && colon[-1] == ']')
        status = read_scoped(text + 1, size - 2, &read);
    else if (size > 0)
        status = tr__address_read_v4(text, size, &read);
    if (status != TR_OK)
        return status;
    read.port = port;
    *address = read;
    return TR_OK;
}

/* ---- Hosts. ---- */

static bool is_label(const char *text, size_t size)
{
    if (size == 0 || size > LABEL_MAX || text[0] == '-' || text[size - 1] == '-')
        return false;
    for (size_t i = 0; i < size; i++) {
        char lower = (char)(text[i] | 0x20);
        if (!is_digit(text[i]) && !(lower >= 'a' && lower <= 'z') && text[i] != '-' &&
            text[i] != '_')
            return false;
    }
    return true;
}

/* Whether the C library could take a label for the last part of an IPv4 address: "80", "0x7f", "017". */
static bool is_number(const char *text, size_t size)
{
    if (size >= 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
        for (size_t i = 2; i < size; i++) {
            if (hex_value(text[i]) < 0)
                return false;
        }
        return true;
    }
    for (size_t i = 0; i < size; i++) {
        if (!is_digit(text[i]))
            return false;
    }
    return true;
}

static bool is_host(const char *text, size_t size)
{
    if (size == 0 || size > TR_HOST_MAX)
        return false;
    const char *end = text + size - (text[size - 1] == '.');
    for (;;) {
        const char *dot = memchr(text, '.', (size_t)(end - text));
        const char *label_end = dot ? dot : end;
        if (!is_label(text, (size_t)(label_end - text)))
            return false;
        if (!dot)
            return !is_number(text, (size_t)(end - text));
        text = dot + 1;
    }
}

tr_status tr__address_split(const char *text, char *host, size_t size, uint16_t *port)
{
    uint16_t number;
    const char *colon = text ? read_port(text, &number) : NULL;
    if (!colon)
        return TR_ADDRESS_INVALID;
    size_t length = (size_t)(colon - text);
    if (!is_host(text, length) || length >= size)
        return TR_ADDRESS_INVALID;
    memcpy(host, text, length);
    host[length] = '\0';
    *port = number;
    return TR_OK;
}

/* ---- Printing. ---- */

/*
 * Returns where the longest run of at least two zero groups begins, and sets *length. If several runs are equally long,
 * returns the first.
 */
static int find_zeros(const uint8_t *host, int groups, int *length)
{
    int best = -1;
    *length = 1;
    for (int i = 0; i < groups; i++) {
        int run = 0;
        while (i + run < groups && host[2 * (i + run)] == 0 && host[2 * (i + run) + 1] == 0)
            run++;
        if (run > *length) {
            best = i;
            *length = run;
        }
        i += run;
    }
    return best;
}

/* Writes an IPv6 address in the form of RFC 5952. A mapped IPv4 address is written with dots: "::ffff:10.0.0.7". */
static char *print_v6(const uint8_t *host, char *to)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    bool is_mapped = memcmp(host, mapped, sizeof mapped) == 0;
    int groups = is_mapped ? GROUPS - 2 : GROUPS;
    int zeros_length;
    int zeros = find_zeros(host, groups, &zeros_length);
    bool needs_colon = false;
    for (int i = 0; i < groups; i++) {
        if (i == zeros) {
            to += sprintf(to, "::");
            i += zeros_length - 1;
            needs_colon = false;
            continue;
        }
        to += sprintf(to, "%s%x", needs_colon ? ":" : "", host[2 * i] << 8 | host[2 * i + 1]);
        needs_colon = true;
    }
    if (is_mapped)
        to += sprintf(to, ":%d.%d.%d.%d", host[12], host[13], host[14], host[15]);
    return to;
}

tr_address tr_address_of_path(const char *path)
{
    return (tr_address){.family = TR_FAMILY_UNIX, .path = path};
}

char *tr_address_print(const tr_address *address, char *text)
{
    const uint8_t *host = address->host;
    char *to = text;
    switch ((tr_family)address->family) {
    case TR_FAMILY_V4:
        sprintf(to, "%d.%d.%d.%d:%d", host[0], host[1], host[2], host[3], address->port);
        return text;
    case TR_FAMILY_V6:
        *to++ = '[';
        to = print_v6(host, to);
        if (address->scope != 0)
            to += sprintf(to, "%%%u", address->scope);
        sprintf(to, "]:%d", address->port);
        return text;
    case TR_FAMILY_UNIX:
        (void)snprintf(text,
                       TR_ADDRESS_TEXT_MAX,
                       "unix%s%s",
                       address->path ? ":" : "",
                       address->path ? address->path : "");
        return text;
    case TR_FAMILY_NONE:
        break;
    }
    return strcpy(text, "none");
}

bool tr_address_is_equal(const tr_address *a, const tr_address *b)
{
    if (a->family != b->family)
        return false;
    switch ((tr_family)a->family) {
    case TR_FAMILY_V4:
        return a->port == b->port && memcmp(a->host, b->host, 4) == 0;
    case TR_FAMILY_V6:
        return a->port == b->port && a->scope == b->scope &&
               memcmp(a->host, b->host, sizeof a->host) == 0;
    case TR_FAMILY_UNIX:
        return a->path && b->path ? strcmp(a->path, b->path) == 0 : a->path == b->path;
    case TR_FAMILY_NONE:
        break;
    }
    return true;
}
