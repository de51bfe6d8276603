/* SPDX-License-Identifier: Apache-2.0 */
/** What is known about handlers: times of turns (actor/turn/samples.h), and failures. */
#ifndef OBSERVE_HANDLERS_H
#define OBSERVE_HANDLERS_H

#include "actor/cell/samples.h"
#include "observe/visitor.h"

enum { HANDLERS_MAX = 1024 };

/** The figures of a handler, over all workers. */
struct handler_figures {
    const tr_behavior *behavior;
    const tr_handler *handler;
    uint64_t samples;
    uint64_t weight; /* sum of the weights of its timed turns; see struct turn_sample */
    uint64_t waited;
    uint64_t sum_ns;
    uint64_t longest_ns;
    uint64_t buckets[SAMPLE_BUCKETS];
    /* estimated number of messages that it has handled since timing began: the share of its weight
     * in the turns of its workers */
    uint64_t handled;
    uint64_t failed;
};

/** Makes workers measure the time of turns for a while. Any thread. */
void tr__handlers_watch(tr_system *system);
/**
 * Collects figures of at most `max` handlers, those with the most samples first. Returns their
 * number. Any thread.
 */
size_t tr__handlers_collect(tr_system *system, struct handler_figures *figures, size_t max);
/** Returns an upper bound for the times of `percent` of the sampled turns: the end of a bucket. */
uint64_t tr__handlers_percentile(const struct handler_figures *figures, unsigned percent);

/** Adds the times and the estimated messages of a handler to those of its behavior. */
void tr__handlers_add(struct handler_figures *sum, const struct handler_figures *figures);
/** Writes members with the estimated number of messages, the times and the histogram. */
void tr__handlers_times(struct json_line *line, const struct handler_figures *figures);
/** Writes members with the limits of the buckets of histograms, and the time since which turns are timed. */
void tr__handlers_scale(struct visitor *visitor);

void tr__verb_handlers(struct visitor *visitor, const struct control_request *request);
/** Writes the member "handlers" with at most `max` handlers. */
void tr__handlers_write(struct visitor *visitor, size_t max);

#endif
