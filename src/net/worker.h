/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a worker keeps for its channels: its area, free pages of output, deadlines, and lists of
 * channels that wait. Worker only.
 */
#ifndef NET_WORKER_H
#define NET_WORKER_H

#include "base/list.h"
#include "net/buffer.h"
#include "timer/wheel.h"

struct worker;
union free_work;

struct net_worker {
    struct area *area;             /* the area into which the next receive writes */
    struct out_page *pages;        /* free pages for output */
    struct net_spare spare_input;  /* memory kept for the input of the next channel with a filter */
    struct net_spare spare_output; /* memory kept for the output of such a channel */
    uint32_t page_count;
    uint32_t work_count;
    union free_work *works; /* free records; see net/work.h */
    /* memory for the next channel that receives datagrams; NULL: none yet */
    struct datagrams *datagrams;
    struct wheel wheel;    /* timers of channels: struct channel_timer.node */
    struct list dirty;     /* channels with output that must be sent when the run ends */
    struct list lingering; /* channels that have no actor */
    /* struct channel_rare of channels whose handshake may continue; see net/shakes.h */
    struct list shaking;
    uint32_t shakes_left; /* steps of handshakes that may still be done in this round */
    /*
     * channels whose event could not be queued because memory was missing, and channels that are
     * read again soon
     */
    struct list starved;
    /* one of the channels in `starved` must be read again in the next round, without a delay */
    bool has_more;
    tr_time date_until_ns; /* when `date` must be made again; 0: it was not made yet */
    /* ref of the actor that sends requests to servers, see src/http/client.h; 0: none yet */
    uint64_t http_client;
    void *deflate; /* streams of zlib, see src/http/worker.h; NULL: none yet */
    void (*deflate_free)(void *deflate);
    char date[40]; /* the Date header of answers, made once a second: src/http */
};

/**
 * Returns the record of this worker, and makes it if needed. Returns NULL if there is no memory.
 */
struct net_worker *tr__net_worker_of(struct worker *worker);
/**
 * Frees what a worker keeps for its channels, and all channels that linger on it. Call when the
 * worker ends.
 */
void tr__net_worker_end(struct worker *worker);

#endif
