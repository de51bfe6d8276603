/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads queries, urlencoded forms, percent-encoding and URLs. Pure functions, which allocate
 * nothing.
 *
 *     struct query query = query_of(text);                      name=Anna+S&tag=a%26b&tag=c
 *     struct query_pair pair;
 *     while (tr__query_next(&query, &pair))
 *         status = tr__query_decode(pair.value, to);            "Anna S", "a&b", "c"
 */
#ifndef HTTP_QUERY_H
#define HTTP_QUERY_H

#include <troupe/message.h>
#include <troupe/status.h>

#include <stdbool.h>

/** A place in a text of pairs: the part that was not read yet. */
struct query {
    const char *at;
    const char *end;
};

/** One pair, still encoded. A pair without '=' has an empty value. */
struct query_pair {
    tr_bytes name;
    tr_bytes value;
};

/**
 * Begins to read a query, which is the text after '?' in a URL, or the body of a form
 * (application/x-www-form-urlencoded).
 */
static inline struct query query_of(tr_bytes text)
{
    const char *begin = text.size == 0 ? "" : (const char *)text.data;
    return (struct query){begin, begin + text.size};
}

/** Takes the next pair. Returns false if there is none. Skips empty pairs, as in "a=1&&b=2". */
bool tr__query_next(struct query *query, struct query_pair *pair);

/** Finds the first pair with this name, after decoding. Returns false if there is none. */
bool tr__query_find(tr_bytes text, const char *name, tr_bytes *value);

/**
 * Decodes a name or value of a query to a text with a NUL: '+' is a space, "%41" is 'A'. `to` has
 * space for size + 1 bytes, and may be the memory of the text itself. Sets *length to the length of
 * the result without the NUL, unless `length` is NULL. Fails with TR_BAD_DATA for a '%' without two
 * hexadecimal digits, a NUL, or bytes that are not UTF-8.
 */
TR_MUST_CHECK tr_status tr__query_decode(tr_bytes text, char *to, size_t *length);

/** Decodes a segment of a path as tr__query_decode does, but '+' stays '+'. */
TR_MUST_CHECK tr_status tr__path_decode(tr_bytes text, char *to, size_t *length);

/**
 * Encodes a text so that it may stand in a path or query: each byte becomes "%XX", except letters,
 * digits and "-._~". Writes up to `size` bytes, with a NUL if size > 0. Returns the length of the
 * whole result, as snprintf does.
 */
size_t tr__percent_encode(tr_bytes text, char *to, size_t size);

/** A URL with the scheme http, https, ws or wss. Its parts point into the text. */
struct url {
    bool is_secure;    /* the scheme is https or wss */
    bool is_websocket; /* the scheme is ws or wss */
    tr_bytes host;     /* the host, without the brackets of an IPv6 address */
    uint16_t port;     /* the port; if the URL names none: 443 for a secure scheme, else 80 */
    tr_bytes target; /* path and query; "/" if the URL has no path, "?a=1" if it has only a query */
};

/**
 * Divides a URL into its parts, and leaves out what follows '#'. Fails with TR_ADDRESS_INVALID if
 * the URL has another scheme, no host, a user or password, a port that is no number up to 65535, or
 * a character that is not allowed in a URL, such as a space.
 */
TR_MUST_CHECK tr_status tr__url_cut(tr_bytes text, struct url *url);

#endif
