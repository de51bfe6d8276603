/* SPDX-License-Identifier: Apache-2.0 */
/** The functions of http/deflate.h for a build without zlib: nothing is deflated or inflated. */
#include "http/deflate.h"

bool tr__deflate_is_built(void)
{
    return false;
}

struct deflate *tr__deflate_new(const struct memory_source *source)
{
    (void)source;
    return NULL;
}

void tr__deflate_free(struct deflate *state)
{
    (void)state;
}

tr_status tr__deflate_message(struct deflate *state, unsigned bits, tr_bytes message,
                              struct net_buffer *out)
{
    (void)state;
    (void)bits;
    (void)message;
    (void)out;
    return TR_NOT_SUPPORTED;
}

tr_status tr__inflate_message(struct deflate *state, tr_bytes message, size_t size_max,
                              struct net_buffer *out)
{
    (void)state;
    (void)message;
    (void)size_max;
    (void)out;
    return TR_NOT_SUPPORTED;
}

tr_status tr__gzip(struct deflate *state, tr_bytes body, struct net_buffer *out)
{
    (void)state;
    (void)body;
    (void)out;
    return TR_NOT_SUPPORTED;
}

tr_status tr__gunzip(struct deflate *state, tr_bytes body, size_t size_max, struct net_buffer *out)
{
    (void)state;
    (void)body;
    (void)size_max;
    (void)out;
    return TR_NOT_SUPPORTED;
}
