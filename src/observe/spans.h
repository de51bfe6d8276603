/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Spans. A span is a turn that is followed (actor/cell/follow.h), with the turn that sent its message. Only the
 * exporter of OTLP uses them.
 *
 * Records come in the order of their numbers. A message has a record of its sending and a record of the turn that
 * handles it. The first of these may come after the second, if the turn runs on another worker. Therefore a span is
 * ready only one tick after it has ended. Rules:
 *   1. A span is in one list: `open`, `ended` or `unused`.
 *   2. There are SPANS_MAX spans. If all are in use, the oldest span is dropped and counted.
 *   3. SPANS_SENDS_MAX messages whose turn has not started are kept. A new message replaces the
 *      oldest. A turn whose message was replaced has no parent.
 */
#ifndef OBSERVE_SPANS_H
#define OBSERVE_SPANS_H

#include "actor/cell/follow.h"
#include "base/list.h"
#include "mem/source.h"

enum { SPANS_MAX = 2048, SPANS_SENDS_MAX = 4096, SPANS_BUCKETS = 1024 };

struct span {
    struct list link;
    uint64_t turn;
    /* The turn that sent the message of this turn. 0: not known, or no turn sent it. */
    uint64_t parent;
    uint64_t causal;
    uint64_t actor;
    tr_time start_ns;
    tr_time end_ns;
    uint64_t tick; /* number of the tick in which the turn ended */
    const tr_type *type;
    const char *handler;
    const char *behavior;
    tr_status status;
    uint16_t worker;
    uint8_t kind; /* enum envelope_kind */
    char path[FOLLOW_PATH_MAX + 1];
};

/** A message that a turn has sent. */
struct span_send {
    struct list link; /* link in its bucket; if linked to itself, this struct is not used */
    uint64_t turn;
    uint64_t causal;
    uint64_t receiver;
    const tr_type *type;
    tr_time time_ns;
};

struct spans {
    struct list open;
    struct list ended; /* spans that have ended, in the order of their ends */
    struct list unused;
    /* lists of struct span_send; causal id and receiver choose the list */
    struct list buckets[SPANS_BUCKETS];
    size_t sends_next; /* index of the struct span_send that is used next */
    uint64_t tick;
    size_t ended_count;
    uint64_t dropped; /* how many spans were dropped since the last spans_drops_take */
    struct span all[SPANS_MAX];
    struct span_send sends[SPANS_SENDS_MAX];
};

/** Makes an empty table. Returns NULL if there is no memory. */
struct spans *tr__spans_new(const struct memory_source *source);
void tr__spans_free(const struct memory_source *source, struct spans *spans);

/** Takes a record. */
void tr__spans_add(struct spans *spans, const struct follow_event *event);
/** All spans that ended before this call become ready. Call when all new records were read. */
void tr__spans_tick(struct spans *spans);
/**
 * Returns the first span that is ready, with its parent. Returns NULL if there is none. The span stays in the table
 * until tr__spans_remove.
 */
struct span *tr__spans_first(struct spans *spans);
/** Returns the next span after this one that is ready. Returns NULL if there is none. */
struct span *tr__spans_next(struct spans *spans, struct span *span);
void tr__spans_remove(struct spans *spans, struct span *span);

#endif
