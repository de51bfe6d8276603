/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes chains of filters: a stream that comes at once and one that comes in random portions give the same bytes and the
 * same end, and what is written comes back through the same filters. The first byte seeds the portions.
 */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "net/chain.h"
#include "net/user_filter.h"

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

/* ---- Filters: runs of bytes, and blocks with their length before them. ---- */

static tr_status unpack(void *state, tr_bytes bytes, size_t *taken, tr_sink *in, tr_sink *out)
{
    (void)state;
    (void)out;
    const unsigned char *pairs = bytes.data;
    *taken = bytes.size / 2 * 2;
    for (size_t i = 0; i < *taken; i += 2) {
        void *run = pairs[i] ? tr_sink_reserve(in, pairs[i]) : NULL;
        if (!run)
            return TR_BAD_DATA;
        memset(run, pairs[i + 1], pairs[i]);
        tr_sink_commit(in, pairs[i]);
    }
    return TR_OK;
}

static tr_status pack(void *state, tr_bytes bytes, tr_sink *out)
{
    (void)state;
    tr_status status = TR_OK;
    for (size_t i = 0; i < bytes.size && status == TR_OK; i++) {
        unsigned char pair[2] = {1, ((const unsigned char *)bytes.data)[i]};
        status = tr_sink_put(out, (tr_bytes){pair, 2});
    }
    return status;
}

static tr_status unblock(void *state, tr_bytes bytes, size_t *taken, tr_sink *in, tr_sink *out)
{
    (void)state;
    (void)out;
    const unsigned char *data = bytes.data;
    size_t at = 0;
    tr_status status = TR_OK;
    while (at < bytes.size && (size_t)data[at] + 1 <= bytes.size - at && status == TR_OK) {
        status = tr_sink_put(in, (tr_bytes){data + at + 1, data[at]});
        at += (size_t)data[at] + 1;
    }
    *taken = at;
    return status;
}

static tr_status block(void *state, tr_bytes bytes, tr_sink *out)
{
    (void)state;
    tr_status status = TR_OK;
    for (size_t at = 0; at < bytes.size && status == TR_OK;) {
        unsigned char size = (unsigned char)(bytes.size - at < 255 ? bytes.size - at : 255);
        status = tr_sink_put(out, (tr_bytes){&size, 1});
        if (status == TR_OK)
            status = tr_sink_put(out, (tr_bytes){(const char *)bytes.data + at, size});
        at += size;
    }
    return status;
}

static const tr_filter packing = {.name = "packing", .inbound = unpack, .outbound = pack};
static const tr_filter blocking = {.name = "blocking", .inbound = unblock, .outbound = block};

static struct chain *chain_make(void)
{
    static const tr_filter *const tables[] = {&blocking, &packing, &blocking};
    struct chain *chain = tr__chain_new(&memory_only);
    require(chain != NULL);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        void *state = tr__user_filter_new(&memory_only, tables[i]);
        require(state && tr__chain_add(chain, &tr__user_filter, state) == TR_OK);
    }
    struct net_buffer out = NET_BUFFER(&memory_only);
    require(tr__chain_filter.begin(chain, &out) == TR_OK);
    require(tr__chain_filter.is_open(chain) && !net_buffer_size(&out));
    return chain;
}

struct result {
    tr_status status;
    struct net_buffer in;
};

/* Gives the stream to a chain in portions of at most `portion_max` bytes, and then its end. */
static struct result play(const uint8_t *data, size_t size, size_t portion_max, struct rng *rng)
{
    struct result result = {.in = NET_BUFFER(&memory_only)};
    struct net_buffer out = NET_BUFFER(&memory_only);
    struct chain *chain = chain_make();
    for (size_t at = 0; at < size && result.status == TR_OK;) {
        size_t left = size - at;
        size_t portion = 1 + rng_below(rng, portion_max < left ? portion_max : left);
        size_t taken;
        portion = portion_max == SIZE_MAX ? left : portion;
        result.status = tr__chain_filter.inbound(
            chain, (tr_bytes){data + at, portion}, &taken, &result.in, &out);
        require(taken == portion);
        at += portion;
        while (result.status == TR_OK && tr__chain_filter.has_more(chain))
            result.status =
                tr__chain_filter.inbound(chain, (tr_bytes){NULL, 0}, &taken, &result.in, &out);
    }
    if (result.status == TR_OK)
        result.status = tr__chain_filter.input_end(chain);
    require(!net_buffer_size(&out));
    tr__chain_filter.free(chain);
    return result;
}

/* What is written comes back. */
static void check_back(const uint8_t *data, size_t size, struct rng *rng)
{
    struct chain *chain = chain_make();
    struct net_buffer out = NET_BUFFER(&memory_only);
    require(tr__chain_filter.outbound(chain, (tr_bytes){data, size}, &out) == TR_OK);
    tr__chain_filter.free(chain);
    tr_bytes bytes = net_buffer_bytes(&out);
    struct result back = play(bytes.data, bytes.size, 300, rng);
    require(back.status == TR_CLOSED && net_buffer_size(&back.in) == size);
    require(!size || memcmp(net_buffer_bytes(&back.in).data, data, size) == 0);
    tr__net_buffer_free(&back.in);
    tr__net_buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct rng rng;
    rng_init(&rng, data[0]);
    data++;
    size--;
    struct result once = play(data, size, SIZE_MAX, &rng);
    struct result later = play(data, size, 7, &rng);
    require(once.status == later.status);
    size_t length = net_buffer_size(&once.in);
    if (once.status ==
        TR_CLOSED) { /* a filter that fails may have passed on some bytes more, or less */
        require(length == net_buffer_size(&later.in));
        require(!length ||
                memcmp(net_buffer_bytes(&once.in).data, net_buffer_bytes(&later.in).data, length) ==
                    0);
    }
    tr__net_buffer_free(&once.in);
    tr__net_buffer_free(&later.in);
    check_back(data, size, &rng);
    return 0;
}
