/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes the stored data of durable actors as JSON. The control socket of a running program uses
 * it, and the tool while no program runs.
 *
 * A running program has the descriptors, so it knows which fields are secret (TR_SECRET). The store
 * has only the names and types of fields (wire/shape.h). So without the program, a state is shown
 * only if the request asks for secrets.
 */
#ifndef OBSERVE_STORED_H
#define OBSERVE_STORED_H

#include "durable/host.h"
#include "observe/json_line.h"

struct store_reader;

/* At most STORED_ROWS keys are shown, and at most STORED_VALUE bytes of a value. */
enum { STORED_ROWS = 100, STORED_VALUE = 1024 };

/** What is needed to read stored actors. */
struct stored {
    struct store_reader *reader;
    const struct memory_source *source;
    struct durable_host *host; /* NULL: no program runs */
    bool shows_secrets;
    /* The largest number of bytes of JSON that are written for a state, a snapshot or an event. 0: no limit. */
    size_t value_max;
};

/**
 * Returns the kind of the program with this name. Returns NULL if the program has no such kind, or
 * if no program runs.
 */
struct durable_kind *tr__stored_kind(const struct stored *stored, const char *name);
/**
 * Returns the type of the message with this name, if actors of a kind handle such messages.
 * Otherwise returns NULL.
 */
const tr_type *tr__stored_message_type(const struct durable_kind *kind, const char *name);
/** Whether an actor is awake. */
bool tr__stored_is_awake(const struct stored *stored, const char *kind, tr_bytes key);

/**
 * Writes the members of one actor: version, state, keys and values, alarms, queues, events, tables.
 * If this fails, with TR_NOT_FOUND, TR_STORE_CORRUPT or another status, a part of them may have
 * been written.
 */
TR_MUST_CHECK tr_status tr__stored_write(const struct stored *stored, const char *kind,
                                         tr_bytes key, struct json_line *line);

/**
 * Writes a state, a snapshot or an event as a member. Its fields are those that its descriptor or
 * its shape names. If a value has more than `value_max` bytes, writes null, and a member
 * <member>_bytes with its size.
 */
void tr__stored_value(const struct stored *stored, const struct durable_kind *kind,
                      const tr_type *type, const char *member, tr_bytes bytes,
                      struct json_line *line);
/** Writes a packed message that has no front, and so no hash of its shape. */
void tr__stored_message(const struct stored *stored, const tr_type *type, const char *member,
                        tr_bytes packed, struct json_line *line);

/** The figures of one queue of an actor. */
struct stored_queue {
    char name[TR_QUEUE_NAME_MAX + 1];
    uint64_t items; /* items that wait; those that are not due yet count too */
    uint64_t bytes;
    uint64_t dead;
    uint64_t oldest; /* id of the first item; 0: none */
    char oldest_type[64];
    tr_time failed_ns; /* when the last attempt failed; 0: no attempt has failed */
};
/**
 * How many items of one actor are read for the figures of its queues, and how many bytes. There is
 * a limit because other clients wait meanwhile.
 */
enum { QUEUE_ITEMS_MAX = 10000, QUEUE_BYTES_MAX = 16 * 1024 * 1024 };
/**
 * Fills in the figures of at most `max` queues of an actor. Sets *count to how many queues these
 * are. If the actor has more items than are read, the figures count only the first items, and
 * *is_cut is true.
 */
TR_MUST_CHECK tr_status tr__stored_queues(const struct stored *stored, const char *kind,
                                          tr_bytes key, struct stored_queue *queues, size_t max,
                                          size_t *count, bool *is_cut);
void tr__stored_queue_write(const struct stored *stored, const struct stored_queue *queue,
                            struct json_line *line);
/** Writes the members of an alarm: its name, when and how often it fires, and its message. */
void tr__stored_alarm_write(const struct stored *stored, const char *kind, const char *name,
                            tr_time due_wall_ns, tr_bytes bytes, struct json_line *line);
/** Returns the time of the wall clock. */
tr_time tr__stored_now(const struct stored *stored);

#endif
