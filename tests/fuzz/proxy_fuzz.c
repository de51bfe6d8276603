/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the PROXY header: a stream that comes at once and one that comes in random portions give the same
 * addresses, status and bytes behind the header. The first byte seeds the portions.
 */
#include <stdlib.h>
#include <string.h>
#include <troupe/limits.h>

#include "base/rng.h"
#include "net/proxy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void *resize(const tr_platform *self, void *memory, size_t size)
{
    (void)self;
    if (size > 0)
        return realloc(memory, size);
    free(memory);
    return NULL;
}

static const tr_platform platform = {.resize = resize};
static const struct memory_source memory_only = {.platform = &platform};

struct result {
    tr_status status;
    struct proxy *proxy;
    struct net_buffer in;
};

/* Gives the stream in portions of at most `portion_max` bytes; what was not taken comes again. */
static struct result play(const uint8_t *data, size_t size, size_t portion_max, struct rng *rng)
{
    struct result result = {.proxy = tr__proxy_new(&memory_only), .in = NET_BUFFER(&memory_only)};
    struct net_buffer out = NET_BUFFER(&memory_only);
    size_t begin = 0;
    require(result.proxy != NULL);
    for (size_t end = 0; end < size && result.status == TR_OK;) {
        size_t left = size - end < portion_max ? size - end : portion_max;
        end += 1 + rng_below(rng, left);
        end = end < size ? end : size;
        size_t taken;
        uint8_t *copy = malloc(end - begin);
        require(copy != NULL);
        memcpy(copy, data + begin, end - begin);
        result.status = tr__proxy_filter.inbound(
            result.proxy, (tr_bytes){copy, end - begin}, &taken, &result.in, &out);
        free(copy);
        require(taken <= end - begin);
        begin += taken;
        bool is_open = tr__proxy_filter.is_open(result.proxy);
        require(is_open == (begin > 0) && (!is_open || begin == end));
        require(is_open || result.status != TR_OK || end < 16 + TR_PROXY_HEADER_MAX);
        require((result.status != TR_OK) == (*tr__proxy_filter.text(result.proxy) != '\0'));
    }
    require(net_buffer_size(&out) == 0);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct rng rng;
    rng_init(&rng, data[0]);
    data++;
    size--;
    struct result once = play(data, size, SIZE_MAX / 2, &rng);
    struct result often = play(data, size, 9, &rng);
    require(tr_address_is_equal(&once.proxy->source, &often.proxy->source));
    require(tr_address_is_equal(&once.proxy->destination, &often.proxy->destination));
    /* A stream that is refused may be refused earlier if it comes in portions, never later or as another one. */
    require(once.status == often.status && once.proxy->has_header == often.proxy->has_header);
    require(once.status == TR_OK || once.status == TR_BAD_DATA || once.status == TR_TOO_LARGE);
    require(net_buffer_size(&once.in) == net_buffer_size(&often.in));
    if (net_buffer_size(&once.in) > 0)
        require(memcmp(net_buffer_bytes(&once.in).data,
                       net_buffer_bytes(&often.in).data,
                       net_buffer_size(&once.in)) == 0);
    tr__net_buffer_free(&once.in);
    tr__net_buffer_free(&often.in);
    tr__proxy_filter.free(once.proxy);
    tr__proxy_filter.free(often.proxy);
    return 0;
}
