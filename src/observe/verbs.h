/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs of the control protocol. To add a verb, add a row to tr__verbs. */
#ifndef OBSERVE_VERBS_H
#define OBSERVE_VERBS_H

#include "observe/visitor.h"

struct verb {
    const char *name;
    void (*run)(struct visitor *visitor, const struct control_request *request);
    bool changes;    /* the verb changes something, so the request needs "may":true */
    bool is_offline; /* the verb works with a store alone, while no program runs */
};

extern const struct verb tr__verbs[];
extern const size_t tr__verb_count;

/* ---- Verbs that only look, in observe/verbs.c. ---- */
/** Continues a list. Returns true if it has ended. */
bool tr__list_continue(struct visitor *visitor);

/**
 * Writes the type and the age of the oldest message of an actor, or only the age if its worker is
 * stuck. Returns false if the worker took long to answer: then ask no further one.
 */
bool tr__age_write(struct visitor *visitor, const tr_actor_info *info, tr_actor_report *report);

/** Writes the members of an actor in a list. */
void tr__actor_write(struct json_line *line, const tr_actor_info *info);

/** Writes members that describe what a worker does at present. */
void tr__running_write(struct json_line *line, const tr_worker_info *info);

#endif
