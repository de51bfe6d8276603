/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The schema of a program: its messages and durable kinds, as JSON (docs/guide/schema.md).
 *
 *     {"troupe_schema":1,"app":"bank",
 *      "messages":[{"name":"deposit","shape":"{cents:u64}","fields":[{"name":"cents","type":"u64"}]},...],
 *      "durable":[{"name":"cart","version":2,"state":"cart","shape":"{...}","migrations":[...],"events":[...]},...]}
 *
 * The messages are those that the behaviors of the program handle, the messages that these contain,
 * and their replies. States and events, which are never sent, are listed with the durable kinds.
 * All is sorted by name and shape, so that the same program always gives the same text.
 */
#ifndef OBSERVE_SCHEMA_H
#define OBSERVE_SCHEMA_H

#include <troupe/behavior.h>
#include <troupe/durable.h>

#include "observe/json_line.h"

struct visitor;
struct control_request;

/** Where to find the messages of a program. All members are borrowed, and may be NULL. */
struct schema_source {
    const char *app;
    const tr_behavior *root;
    const tr_child_spec *pool;          /* as tr_system_options.pool */
    const struct tr_durables *durables; /* as tr_system_options.durable */
    /* the behaviors that TR_BEHAVIOR has declared, up to behaviors_end */
    const tr_behavior *const *behaviors;
    const tr_behavior *const *behaviors_end;
};

/**
 * Writes the schema, without a line feed. Fails with TR_NO_MEMORY, or with TR_LIMIT for more than
 * TR_SCHEMA_MESSAGES_MAX messages.
 */
TR_MUST_CHECK tr_status tr__schema_write(struct json_line *text, const struct schema_source *source,
                                         const struct memory_source *memory);

void tr__verb_schema(struct visitor *visitor, const struct control_request *request);
/** Writes the messages for which an actor has handlers and which clients may send. */
void tr__verb_messages(struct visitor *visitor, const struct control_request *request);

#endif
