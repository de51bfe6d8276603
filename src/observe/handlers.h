/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What is known about handlers: the times of their turns (actor/turn/samples.h), and their
 * failures.
 */
#ifndef OBSERVE_HANDLERS_H
#define OBSERVE_HANDLERS_H

#include "actor/cell/samples.h"
#include "observe/visitor.h"

enum { HANDLERS_MAX = 1024 };

struct handler_mail;

/** The figures of a handler. They are sums over all workers. */
struct handler_figures {
    const tr_behavior *behavior;
    const tr_handler *handler;
    uint64_t samples;
    uint64_t weight; /* sum of the weights of the timed turns; see struct turn_sample */
    uint64_t waited;
    uint64_t sum_ns;
    uint64_t longest_ns;
    uint64_t buckets[SAMPLE_BUCKETS];
    /* An estimate of how many messages the handler has handled since timing began. For each worker
     * it is the handler's share of all weights, times the number of the worker's turns. */
    uint64_t handled;
    uint64_t failed;
};

/** Makes workers time their turns for a while. Any thread. */
void tr__handlers_watch(tr_system *system);
/**
 * Collects the figures of handlers, those with the most samples first. Returns how many, at most
 * `max`. Any thread.
 */
size_t tr__handlers_collect(tr_system *system, struct handler_figures *figures, size_t max);
/**
 * Returns an estimate of the time that `percent` of the sampled turns did not exceed. Assumes that
 * turns are spread evenly over a bucket of the histogram.
 */
uint64_t tr__handlers_percentile(const struct handler_figures *figures, unsigned percent);

/** Adds the times and the estimated messages of a handler to the sums of its behavior. */
void tr__handlers_add(struct handler_figures *sum, const struct handler_figures *figures);
/** Writes the members for the estimated number of messages, the times and the histogram. */
void tr__handlers_times(struct json_line *line, const struct handler_figures *figures);
/** Writes the members for the limits of the buckets of histograms, and for how long turns have been timed. */
void tr__handlers_scale(struct visitor *visitor);

void tr__verb_handlers(struct visitor *visitor, const struct control_request *request);
/**
 * Writes the member "handlers" with at most `max` handlers. `mail` has the messages that wait for
 * them; NULL: not known.
 */
void tr__handlers_write(struct visitor *visitor, const struct handler_mail *mail, size_t max);

#endif
