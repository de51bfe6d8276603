/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Two TLS filters back to back in memory: what one appends to `out`, the other one gets, in pieces of any size.
 */
#ifndef TROUPE_TESTS_SUPPORT_TLS_PAIR_H
#define TROUPE_TESTS_SUPPORT_TLS_PAIR_H

#include "support/source.h"
#include "net/tls.h"
#include "net/tls_context.h"
#include "support/certificates.h"
#include "support/fake_memory.h"

#include <troupe/net.h>

#define TLS_PIECE_ALL SIZE_MAX

/** One end of a connection. */
struct tls_end {
    void *state;
    struct net_buffer out; /* for the other end */
    struct net_buffer in;  /* for the actor */
    tr_status status;      /* the last one of begin and inbound */
};

struct tls_pair {
    struct tls_end server;
    struct tls_end client;
};

static inline tr_time tls_test_now(const tr_platform *platform)
{
    (void)platform;
    return time(NULL) * TR_SECOND;
}

/** A platform with counted memory and a clock. */
static inline void tls_memory_init(struct fake_memory *memory)
{
    (void)fake_memory_init(memory);
    memory->platform.mono_now = tls_test_now;
    memory->platform.wall_now = tls_test_now;
}

/** Makes a context that must be made. */
static inline struct tls_context *tls_context(const tr_platform *platform, bool is_server,
                                              const tr_endpoint *endpoint)
{
    struct tls_context *context = NULL;
    char why[TLS_WHY_SIZE] = "";
    tr_status status =
        tr__tls_context_new(platform, endpoint, is_server, &context, why, sizeof why);
    ck_assert_msg(status == TR_OK, "%s: %s", tr_status_name(status), why);
    return context;
}

static inline void tls_end_init(struct tls_end *end, struct tls_context *context, unsigned worker,
                                const char *name, const tr_platform *platform)
{
    *end = (struct tls_end){.out = NET_BUFFER(source_of(platform)),
                            .in = NET_BUFFER(source_of(platform))};
    ck_assert_int_eq(tr__tls_begin(context, worker, name, &end->state), TR_OK);
    end->status = tr__tls_filter.begin(end->state, &end->out);
}

static inline void tls_end_deinit(struct tls_end *end)
{
    tr__net_buffer_free(&end->out);
    tr__net_buffer_free(&end->in);
    if (end->state)
        tr__tls_filter.free(end->state);
}

/** Gives an end bytes as a channel would: those that were not taken come again. False: it has ended. */
static inline bool tls_end_give(struct tls_end *end, tr_bytes bytes)
{
    while (bytes.size > 0 && end->status == TR_OK) {
        size_t taken = 0;
        end->status = tr__tls_filter.inbound(end->state, bytes, &taken, &end->in, &end->out);
        ck_assert_uint_le(taken, bytes.size);
        ck_assert(end->status != TR_OK || taken == bytes.size);
        bytes = (tr_bytes){(const char *)bytes.data + taken, bytes.size - taken};
    }
    return end->status == TR_OK;
}

/** Moves what one end has sent to the other one, in pieces. Returns how many bytes. */
static inline size_t tls_move(struct tls_end *from, struct tls_end *to, size_t piece)
{
    size_t moved = 0;
    while (net_buffer_size(&from->out) > 0) {
        tr_bytes bytes = net_buffer_bytes(&from->out);
        if (bytes.size > piece)
            bytes.size = piece;
        (void)tls_end_give(to, bytes);
        net_buffer_consume(&from->out, bytes.size);
        moved += bytes.size;
    }
    return moved;
}

/** Moves bytes in both directions until there are none. */
static inline void tls_settle(struct tls_pair *pair, size_t piece)
{
    while (tls_move(&pair->client, &pair->server, piece) +
               tls_move(&pair->server, &pair->client, piece) >
           0)
        continue;
}

static inline bool tls_is_open(const struct tls_end *end)
{
    return tr__tls_filter.is_open(end->state);
}

static inline const char *tls_text(const struct tls_end *end)
{
    return tr__tls_filter.text(end->state);
}

static inline void tls_write(struct tls_end *end, const void *data, size_t size)
{
    ck_assert_int_eq(tr__tls_filter.outbound(end->state, (tr_bytes){data, size}, &end->out), TR_OK);
}

/** What an end has read must be this text; it is consumed. */
static inline void tls_expect(struct tls_end *end, const char *text)
{
    ck_assert_uint_eq(net_buffer_size(&end->in), strlen(text));
    ck_assert_int_eq(memcmp(net_buffer_bytes(&end->in).data, text, strlen(text)), 0);
    net_buffer_consume(&end->in, strlen(text));
}

static inline void tls_pair_init(struct tls_pair *pair, struct tls_context *server,
                                 struct tls_context *client, const tr_platform *platform)
{
    tls_end_init(&pair->server, server, 0, NULL, platform);
    tls_end_init(&pair->client, client, 0, NULL, platform);
}

static inline void tls_pair_deinit(struct tls_pair *pair)
{
    tls_end_deinit(&pair->server);
    tls_end_deinit(&pair->client);
}

#endif
