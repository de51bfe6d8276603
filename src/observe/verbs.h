/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs of the control protocol. A new verb needs a row in tr__verbs. */
#ifndef OBSERVE_VERBS_H
#define OBSERVE_VERBS_H

#include "observe/visitor.h"

struct verb {
    const char *name;
    void (*run)(struct visitor *visitor, const struct control_request *request);
    bool changes;    /* the verb changes something, so a request for it needs "may":true */
    bool is_offline; /* the verb needs only a store, so it works while no program runs */
};

extern const struct verb tr__verbs[];
extern const size_t tr__verb_count;

/* ---- Verbs that only look, in observe/verbs.c. ---- */
/** Continues a list. Returns true when the list has ended. */
bool tr__list_continue(struct visitor *visitor);

/**
 * Writes the type and the age of the oldest message of an actor. If the actor's worker is stuck,
 * writes only the age. Returns false if the worker took long to answer; the caller then asks no
 * further worker.
 */
bool tr__age_write(struct visitor *visitor, const tr_actor_info *info, tr_actor_report *report);

/** Writes an actor as an item of a list: the members that each item has. */
void tr__actor_write(struct json_line *line, const tr_actor_info *info);

/** Writes members about what a worker does now. */
void tr__running_write(struct json_line *line, const tr_worker_info *info);

#endif
