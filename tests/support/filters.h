/* SPDX-License-Identifier: Apache-2.0 */
/** Filters for tests: one that shifts bytes, one that packs runs of bytes. */
#ifndef TROUPE_TESTS_SUPPORT_FILTERS_H
#define TROUPE_TESTS_SUPPORT_FILTERS_H

#include "support/net.h"

#include <troupe/filter.h>

KITS_UNUSED static int closes; /* states that were closed */

/* Adds `option` to each byte that leaves, and subtracts it from each that comes. */
struct shift {
    unsigned by;
};

static tr_status shift_open(void *state, const void *option, tr_sink *out)
{
    (void)out;
    struct shift *shift = state;
    ck_assert_uint_eq(shift->by, 0); /* a state begins as zeros */
    shift->by = *(const unsigned *)option;
    return TR_OK;
}

static tr_status shift_all(tr_bytes bytes, unsigned by, tr_sink *to)
{
    const unsigned char *from = bytes.data;
    unsigned char *shifted = tr_sink_reserve(to, bytes.size);
    if (!shifted)
        return TR_NO_MEMORY;
    for (size_t i = 0; i < bytes.size; i++)
        shifted[i] = (unsigned char)(from[i] + by);
    tr_sink_commit(to, bytes.size);
    return TR_OK;
}

static tr_status shift_in(void *state, tr_bytes bytes, size_t *taken, tr_sink *in, tr_sink *out)
{
    (void)out;
    struct shift *shift = state;
    ck_assert_uint_eq(*taken, bytes.size);
    return shift_all(bytes, 0u - shift->by, in);
}

static tr_status shift_out(void *state, tr_bytes bytes, tr_sink *out)
{
    return shift_all(bytes, ((struct shift *)state)->by, out);
}

static void count_close(void *state)
{
    (void)state;
    closes++;
}

#define SHIFT(name_, by_)                                                                          \
    KITS_UNUSED static const unsigned name_##_by = by_;                                            \
    KITS_UNUSED static const tr_filter name_ = {.name = #name_,                                    \
                                                .state_size = sizeof(struct shift),                \
                                                .option = &name_##_by,                             \
                                                .open = shift_open,                                \
                                                .inbound = shift_in,                               \
                                                .outbound = shift_out,                             \
                                                .close = count_close}
SHIFT(one, 1);
SHIFT(two, 2);

/* Pairs of a count and a byte; a count of 0 is malformed. Half a pair is left for later. */
static tr_status unpack(void *state, tr_bytes bytes, size_t *taken, tr_sink *in, tr_sink *out)
{
    (void)state;
    (void)out;
    const unsigned char *pairs = bytes.data;
    *taken = bytes.size / 2 * 2;
    for (size_t i = 0; i < *taken; i += 2) {
        if (!pairs[i])
            return TR_BAD_DATA;
        void *run = tr_sink_reserve(in, pairs[i]);
        if (!run)
            return TR_NO_MEMORY;
        memset(run, pairs[i + 1], pairs[i]);
        tr_sink_commit(in, pairs[i]);
    }
    return TR_OK;
}

static tr_status pack(void *state, tr_bytes bytes, tr_sink *out)
{
    (void)state;
    for (size_t i = 0; i < bytes.size; i++) {
        unsigned char pair[2] = {1, ((const unsigned char *)bytes.data)[i]};
        if (tr_sink_put(out, (tr_bytes){pair, 2}) != TR_OK)
            return TR_NO_MEMORY;
    }
    return TR_OK;
}

static tr_status pack_finish(void *state, tr_sink *out)
{
    (void)state;
    return tr_sink_put(out, TR_BYTES("\1."));
}

KITS_UNUSED static const tr_filter packing = {.name = "packing",
                                              .inbound = unpack,
                                              .outbound = pack,
                                              .finish = pack_finish,
                                              .close = count_close};

#endif
