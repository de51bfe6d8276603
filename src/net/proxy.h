/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The PROXY header, versions 1 and 2, as a filter. With this header, which precedes the bytes of
 * the client, a balancer passes on the address of the client.
 *
 *     PROXY TCP4 203.0.113.7 10.0.0.2 51000 443\r\n          version 1; version 2 is binary
 *
 * A listener with .has_proxy_header puts this filter first. The filter is open when it has read the
 * header. From then on it passes bytes unchanged, and may be removed. The header is required: if
 * the input begins with other bytes, the channel ends.
 */
#ifndef NET_PROXY_H
#define NET_PROXY_H

#include "net/filter.h"

#include <troupe/address.h>

/** The state of the filter. Owner only. */
struct proxy {
    const struct memory_source *memory;
    /**
     * Address of the client, and address to which it has connected; valid once is_open returns
     * true. If their family is TR_FAMILY_NONE, the header has no addresses, and those of the socket
     * count. A balancer sends such a header when it checks whether the server lives.
     */
    tr_address source;
    tr_address destination;
    bool has_begun; /* at least one byte has come */
    bool has_header;
    const char *text; /* text that says what is wrong with the header, or "" */
};

/**
 * The functions of the filter. `inbound` returns TR_BAD_DATA if the bytes are no header,
 * TR_TOO_LARGE for a header of version 2 that is longer than TR_PROXY_HEADER_MAX, TR_NO_MEMORY. If
 * the input ends within the header, input_end returns TR_RESET.
 */
extern const struct filter tr__proxy_filter;

/**
 * Returns a new state, which the function `free` of the filter frees. The source must outlive the
 * state. Returns NULL if there is no memory.
 */
TR_MUST_CHECK struct proxy *tr__proxy_new(const struct memory_source *source);

#endif
