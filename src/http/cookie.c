/* SPDX-License-Identifier: Apache-2.0 */
/** Reads Cookie, writes Set-Cookie. */
#include "http/cookie.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Returns the text without the spaces around it. */
static tr_bytes trim(const char *begin, const char *end)
{
    while (begin < end && is_space(*begin))
        begin++;
    while (end > begin && is_space(end[-1]))
        end--;
    return (tr_bytes){begin, (size_t)(end - begin)};
}

static tr_bytes unquote(tr_bytes text)
{
    const char *bytes = text.data;
    if (text.size >= 2 && bytes[0] == '"' && bytes[text.size - 1] == '"')
        return (tr_bytes){bytes + 1, text.size - 2};
    return text;
}

bool tr__cookie_next(struct cookies *cookies, struct cookie_pair *pair)
{
    while (cookies->at < cookies->end) {
        const char *begin = cookies->at;
        const char *end = memchr(begin, ';', (size_t)(cookies->end - begin));
        cookies->at = end == NULL ? cookies->end : end + 1;
        end = end == NULL ? cookies->end : end;
        const char *equals = memchr(begin, '=', (size_t)(end - begin));
        if (equals == NULL)
            continue;
        pair->name = trim(begin, equals);
        pair->value = unquote(trim(equals + 1, end));
        if (pair->name.size > 0)
            return true;
    }
    return false;
}

bool tr__cookie_find(tr_bytes header, const char *name, tr_bytes *value)
{
    struct cookies cookies = cookies_of(header);
    struct cookie_pair pair;
    size_t size = strlen(name);
    while (tr__cookie_next(&cookies, &pair)) {
        if (pair.name.size == size && memcmp(pair.name.data, name, size) == 0) {
            *value = pair.value;
            return true;
        }
    }
    return false;
}

/* Whether a text has only characters from '!' to '~', except those in `refused`. */
static bool is_clean(const char *text, const char *refused)
{
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte <= 0x20 || byte >= 0x7f || strchr(refused, byte) != NULL)
            return false;
    }
    return true;
}

static bool is_good(const struct cookie *cookie)
{
    if (cookie->name == NULL || *cookie->name == '\0' || cookie->value == NULL)
        return false;
    if (!is_clean(cookie->name, "()<>@,;:\\\"/[]?={}") || !is_clean(cookie->value, "\",;\\"))
        return false;
    if ((cookie->path != NULL && !is_clean(cookie->path, ";")) ||
        (cookie->domain != NULL && !is_clean(cookie->domain, ";")))
        return false;
    return cookie->same_site != COOKIE_NONE || cookie->is_secure;
}

/*
 * Appends to a text, which is cut at `size` bytes. *length counts all bytes, also those that were
 * cut off.
 */
static void add(char *to, size_t size, size_t *length, const char *text)
{
    for (; *text != '\0'; text++, ++*length) {
        if (*length + 1 < size)
            to[*length] = *text;
    }
}

tr_status tr__cookie_write(const struct cookie *cookie, char *to, size_t size, size_t *length)
{
    static const char *const same_sites[] = {
        "", "; SameSite=Lax", "; SameSite=Strict", "; SameSite=None"};
    char age[48] = "";
    size_t written = 0;
    if (!is_good(cookie))
        return TR_INVALID_ARGUMENT;
    if (cookie->has_max_age)
        snprintf(age, sizeof(age), "; Max-Age=%" PRId64, cookie->max_age_s);
    const char *const pieces[] = {
        cookie->name,
        "=",
        cookie->value,
        cookie->path != NULL ? "; Path=" : "",
        cookie->path != NULL ? cookie->path : "",
        cookie->domain != NULL ? "; Domain=" : "",
        cookie->domain != NULL ? cookie->domain : "",
        age,
        cookie->is_secure ? "; Secure" : "",
        cookie->is_http_only ? "; HttpOnly" : "",
        same_sites[cookie->same_site],
    };
    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++)
        add(to, size, &written, pieces[i]);
    if (size > 0)
        to[written < size ? written : size - 1] = '\0';
    *length = written;
    return TR_OK;
}
