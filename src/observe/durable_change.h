/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Verbs that change durable actors. A stored actor can be changed only while it sleeps. The change
 * enters the name of the actor in the store (store/entry.h), and this fails while the actor is
 * awake.
 */
#ifndef OBSERVE_DURABLE_CHANGE_H
#define OBSERVE_DURABLE_CHANGE_H

#include "observe/stored.h"
#include "observe/visitor.h"

struct store_batch;
struct store_entry;
struct store_sql;

void tr__verb_durable_set(struct visitor *visitor, const struct control_request *request);
void tr__verb_durable_rm(struct visitor *visitor, const struct control_request *request);
/** The verb record. It asks for files with records of the next turns of a durable actor. */
void tr__verb_record(struct visitor *visitor, const struct control_request *request);
void tr__verb_sleep(struct visitor *visitor, const struct control_request *request);
void tr__verb_wake(struct visitor *visitor, const struct control_request *request);

/** A change of one actor, until it is on disk. */
struct change;

/**
 * Begins a change with an empty batch. If the actor is awake, or something is missing, refuses the
 * request and returns NULL. Values that the caller adds must be in memory of the batch.
 */
struct change *tr__change_begin(struct visitor *visitor, const struct control_request *request,
                                const struct stored *stored, const char *kind, tr_bytes key,
                                struct store_batch **batch);
/** Frees a change that was not submitted. */
void tr__change_drop(struct change *change);
/**
 * Submits a change. The visitor answers when the change is on disk. `sql` is taken, and may be
 * NULL.
 */
void tr__change_submit(struct visitor *visitor, struct change *change, struct store_sql *sql);

#endif
