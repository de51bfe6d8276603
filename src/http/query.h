/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Queries of a URL and urlencoded forms, percent-encoding, and addresses as a client names them. Pure functions; nothing
 * is allocated.
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

/** The unread rest of a text of pairs. */
struct query {
    const char *at;
    const char *end;
};

/** One pair as it stands in the text, encoded. A pair without '=' has an empty value. */
struct query_pair {
    tr_bytes name;
    tr_bytes value;
};

/** Begins a query, which is what comes after '?', or the body of a form (application/x-www-form-urlencoded). */
static inline struct query query_of(tr_bytes text)
{
    const char *begin = text.size == 0 ? "" : (const char *)text.data;
    return (struct query){begin, begin + text.size};
}

/** Takes the next pair; false: there is none. Empty pairs, as in "a=1&&b=2", are passed over. */
bool tr__query_next(struct query *query, struct query_pair *pair);

/** Finds the first pair whose decoded name is this one. Returns false if there is none. */
bool tr__query_find(tr_bytes text, const char *name, tr_bytes *value);

/**
 * Decodes a name or value of a query to a text with a NUL: '+' is a space, "%41" is 'A'. `to` has
 * size + 1 bytes; it may be the same memory as the text. *length is the length of the result
 * without the NUL; `length` may be NULL. TR_BAD_DATA: a '%' without two hexadecimal digits, a NUL,
 * or bytes that are not UTF-8.
 */
TR_MUST_CHECK tr_status tr__query_decode(tr_bytes text, char *to, size_t *length);

/** Decodes a segment of a path by the rules of tr__query_decode, but '+' is no space. */
TR_MUST_CHECK tr_status tr__path_decode(tr_bytes text, char *to, size_t *length);

/**
 * Encodes a text so that it may stand in a path or query: all but letters, digits and "-._~" becomes "%XX". Writes up to
 * `size` bytes, with a NUL if size > 0. Returns the length of the whole, as snprintf does.
 */
size_t tr__percent_encode(tr_bytes text, char *to, size_t size);

/** A URL of http, https, ws or wss; the parts are inside the text. */
struct url {
    bool is_secure;    /* https and wss */
    bool is_websocket; /* ws and wss */
    tr_bytes host;     /* without the brackets of an IPv6 address */
    uint16_t port;     /* 80 and 443 if the URL names none */
    tr_bytes target; /* the path and query: "/" if it has no path, "?a=1" if it has a query only */
};

/**
 * Cuts a URL. TR_ADDRESS_INVALID: another scheme, no host, a user and password, a port that is no number up to 65535, or a
 * character that may not be in a URL, such as a space. What is after '#' is left out.
 */
TR_MUST_CHECK tr_status tr__url_cut(tr_bytes text, struct url *url);

#endif
