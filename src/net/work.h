/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The input and the output of a channel. A channel has this record only while it has bytes that
 * were received, or that wait to be sent. A worker keeps some free records, so that a channel gets
 * one without an allocation. Owner only.
 */
#ifndef NET_WORK_H
#define NET_WORK_H

#include "net/channel.h"
#include "base/assert.h"

enum { WORKS_KEPT = 64 /* by a worker */ };

/** The record of all channels without bytes. It is never written. */
extern const struct channel_work tr__no_work;

static inline bool work_is_there(const struct channel *channel)
{
    return channel->work != &tr__no_work;
}

/** Gives a channel a record. Returns NULL if there is no memory. */
struct channel_work *tr__work_new(struct channel *channel);
/**
 * Takes the record from a channel. The channel must have no bytes, and no turn may have borrowed
 * any.
 */
void tr__work_give(struct channel *channel);
/** Frees the records that a worker keeps. */
void tr__works_free(struct worker *worker);

/** Returns the record of a channel, and makes it if needed. Returns NULL if there is no memory. */
static inline struct channel_work *work_of(struct channel *channel)
{
    return work_is_there(channel) ? channel->work : tr__work_new(channel);
}

/**
 * If the record of a channel is empty, and no filter has bytes to send, takes the record from the
 * channel.
 */
static inline void work_rest(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const struct channel_work *work = channel->work;
    if (work_is_there(channel) && !work->output.first && !work->input.buffer.data &&
        !work->input.borrower && work->input.piece == UINT32_MAX &&
        !net_buffer_size(&channel->rare->filter.out))
        tr__work_give(channel);
}

#endif
