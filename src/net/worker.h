/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a worker keeps for its channels: the area to receive into, pages of output, deadlines, and the channels that
 * wait for something. Worker only.
 */
#ifndef NET_WORKER_H
#define NET_WORKER_H

#include "base/list.h"
#include "net/buffer.h"
#include "timer/wheel.h"

struct worker;
union free_work;

struct net_worker {
    struct area *area;             /* where the next receive goes */
    struct out_page *pages;        /* free pages of output */
    struct net_spare spare_input;  /* of a channel with filters */
    struct net_spare spare_output; /* likewise */
    uint32_t page_count;
    uint32_t work_count;
    union free_work *works;      /* free records: net/work.h */
    struct datagrams *datagrams; /* memory for the datagrams of the next channel; NULL: none yet */
    struct wheel wheel;          /* nodes of struct channel_timer */
    struct list dirty;           /* channels with output that is to be sent when the run ends */
    struct list lingering;       /* channels without an actor */
    struct list shaking;  /* channel_rare of channels whose handshake may continue: net/shakes.h */
    uint32_t shakes_left; /* how many steps of handshakes may still be done in this round */
    struct list
        starved; /* channels whose event could not be queued for lack of memory, or that read again soon */
    bool has_more;         /* one of them reads again in the next round */
    tr_time date_until_ns; /* until when `date` is right; 0: it was not made yet */
    uint64_t http_client;  /* ref of the actor that asks servers: src/http/client.h; 0: none yet */
    void *deflate;         /* streams of zlib: src/http/worker.h; NULL: none yet */
    void (*deflate_free)(void *deflate);
    char date[40]; /* the Date header of answers, made once a second: src/http */
};

/** Returns what this worker keeps for its channels, made if needed; NULL: out of memory. */
struct net_worker *tr__net_worker_of(struct worker *worker);
/** Frees what a worker keeps for its channels, with all channels that linger. The worker ends. */
void tr__net_worker_end(struct worker *worker);

#endif
