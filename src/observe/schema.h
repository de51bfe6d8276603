/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The schema of a program: its messages and durable kinds, as JSON (docs/guide/schema.md).
 *
 *     {"troupe_schema":1,"app":"bank",
 *      "messages":[{"name":"deposit","shape":"{cents:u64}","fields":[{"name":"cents","type":"u64"}]},...],
 *      "durable":[{"name":"cart","version":2,"state":"cart","shape":"{...}","migrations":[...],"events":[...]},...]}
 *
 * "messages" has the messages that the behaviors of the program handle, the messages inside of these, and their
 * replies. States and events are never sent, so they are listed with the durable kinds. Everything is sorted by name
 * and shape, so that the same program always gives the same text.
 */
#ifndef OBSERVE_SCHEMA_H
#define OBSERVE_SCHEMA_H

#include <troupe/behavior.h>
#include <troupe/durable.h>

#include "observe/json_line.h"

struct visitor;
struct control_request;

/** Where the messages of a program can be found. All members are borrowed and may be NULL. */
struct schema_source {
    const char *app;
    const tr_behavior *root;
    const tr_child_spec *pool;          /* tr_system_options.pool */
    const struct tr_durables *durables; /* tr_system_options.durable */
    /* The behaviors that TR_BEHAVIOR has declared, from here to behaviors_end. */
    const tr_behavior *const *behaviors;
    const tr_behavior *const *behaviors_end;
};

/**
 * Writes the schema, without a line feed. Fails with TR_NO_MEMORY, or with TR_LIMIT if there are
 * more than TR_SCHEMA_MESSAGES_MAX messages.
 */
TR_MUST_CHECK tr_status tr__schema_write(struct json_line *text, const struct schema_source *source,
                                         const struct memory_source *memory);

void tr__verb_schema(struct visitor *visitor, const struct control_request *request);
/**
 * The verb messages. It writes the messages that clients may send to an actor and for which the
 * actor has handlers.
 */
void tr__verb_messages(struct visitor *visitor, const struct control_request *request);

#endif
