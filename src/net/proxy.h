/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The PROXY header, versions 1 and 2, as a filter: a balancer says, before the client's own bytes, who the client is.
 *
 *     PROXY TCP4 203.0.113.7 10.0.0.2 51000 443\r\n          version 1; version 2 is the same in binary
 *
 * A listener with .has_proxy_header puts this filter first. The channel is open when the header was read; from then on the
 * filter passes bytes unchanged and may be removed. A header is required: anything else ends the channel.
 */
#ifndef NET_PROXY_H
#define NET_PROXY_H

#include "net/filter.h"

#include <troupe/address.h>

/** The state of the filter. Owner only. */
struct proxy {
    const struct memory_source *memory;
    /**
     * Where the client is, and where it has connected to, once is_open is true. TR_FAMILY_NONE: the
     * header has no addresses, and the addresses of the socket are valid. A balancer does so that
     * checks whether the server lives.
     */
    tr_address source;
    tr_address destination;
    bool has_begun; /* bytes have come */
    bool has_header;
    const char *text; /* what was wrong with the header, or "" */
};

/**
 * The functions of the filter. `inbound` returns TR_BAD_DATA for what is no header, TR_TOO_LARGE for a header of
 * version 2 that is longer than TR_PROXY_HEADER_MAX, TR_NO_MEMORY. An end within the header is TR_RESET.
 */
extern const struct filter tr__proxy_filter;

/** Returns a new state, which `free` of the filter frees; the source must outlive it. NULL: out of memory. */
TR_MUST_CHECK struct proxy *tr__proxy_new(const struct memory_source *source);

#endif
