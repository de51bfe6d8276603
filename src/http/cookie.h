/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Cookies (RFC 6265): reads the header Cookie of a browser, and writes the header Set-Cookie of a
 * server. Pure functions.
 *
 *     Cookie: session=31d4d96e407aad42; theme="dark"
 *     Set-Cookie: session=31d4d96e407aad42; Path=/; Max-Age=3600; Secure; HttpOnly; SameSite=Lax
 */
#ifndef HTTP_COOKIE_H
#define HTTP_COOKIE_H

#include <troupe/message.h>
#include <troupe/status.h>

#include <stdbool.h>

/** A place in a Cookie header: the part that was not read yet. */
struct cookies {
    const char *at;
    const char *end;
};

struct cookie_pair {
    tr_bytes name;
    tr_bytes value; /* the value, without the quotes around it if there were any */
};

/** Begins to read the value of a Cookie header. */
static inline struct cookies cookies_of(tr_bytes header)
{
    const char *begin = header.size == 0 ? "" : (const char *)header.data;
    return (struct cookies){begin, begin + header.size};
}

/**
 * Takes the next cookie. Returns false if there is none. Skips parts without '=' or without a name.
 */
bool tr__cookie_next(struct cookies *cookies, struct cookie_pair *pair);

/**
 * Finds the first cookie with this name. Upper and lower case are different. Returns false if there
 * is no such cookie.
 */
bool tr__cookie_find(tr_bytes header, const char *name, tr_bytes *value);

enum cookie_same_site { COOKIE_SAME_SITE_UNSAID, COOKIE_LAX, COOKIE_STRICT, COOKIE_NONE };

/** A cookie to be set. Members that are NULL or zero are left out. */
struct cookie {
    const char *name; /* a token */
    /*
     * the value of the cookie; it must not have control characters, spaces, quotes, commas,
     * semicolons or backslashes
     */
    const char *value;
    const char *path;
    const char *domain;
    bool has_max_age;
    int64_t max_age_s; /* 0 or less: the browser forgets the cookie */
    bool is_secure;
    bool is_http_only;
    enum cookie_same_site same_site;
};

/**
 * Writes the value of a Set-Cookie header, with a NUL if size > 0. Sets *length to the length of
 * the whole text; if that is `size` or more, the text was cut. Fails with TR_INVALID_ARGUMENT if a
 * member has characters that would change the meaning of the header, or for SameSite=None without
 * Secure, which browsers refuse.
 */
TR_MUST_CHECK tr_status tr__cookie_write(const struct cookie *cookie, char *to, size_t size,
                                         size_t *length);

#endif
