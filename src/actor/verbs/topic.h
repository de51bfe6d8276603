/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Topics: who has subscribed to what. See docs/design/groups.md.
 *
 * A topic is a number, its place and a generation, as refs are. Topics lie in chunks that are never
 * freed while the system lives, each under a lock of its own; a topic that is closed gives its place to
 * a later one under another generation.
 *
 * Subscribers are refs in a hash table without order. Who publishes takes a count of the table under
 * the lock and walks it without: a word of it is one atomic store, so one who subscribes or leaves
 * meanwhile is met or not. A table that becomes too small is replaced, and freed by the last who walks
 * it. Those who have stopped are left in it until it is full, or a walk has met too many of them: their
 * refs reach nobody.
 */
#ifndef ACTOR_VERBS_TOPIC_H
#define ACTOR_VERBS_TOPIC_H

#include "actor/cell/names.h"
#include "os/atomic.h"
#include "os/lock.h"

struct topics;
struct tr_system;

enum {
    SUBSCRIBERS_LEAST = 8 /* places of a table */
};

/** Who has subscribed to one topic. A place is 0, SUBSCRIBER_GONE or a ref. */
struct subscribers {
    atom32 holders; /* the topic, and those who walk it; any thread */
    uint32_t mask;  /* places, a power of two, less one */
    uint32_t used;  /* places that are not 0; under the topic's lock */
    bool has_gone;  /* somebody has left a place; under the lock */
    atom64 refs[];
};

struct topic {
    _Alignas(64) struct lock lock;
    uint32_t generation;             /* of the last tenant */
    uint64_t id;                     /* under the lock; 0: there is none */
    struct subscribers *subscribers; /* under the lock; NULL: nobody */
    struct name *name;               /* or NULL; under the lock of all */
    uint32_t free_next;              /* place + 1 of the next free one; under the lock of all */
};

void tr__topics_init(struct topics *topics, struct tr_system *system);
void tr__topics_deinit(struct tr_system *system);

/** Who is to be told, and in which table that was found. */
struct topic_walk {
    struct tr_system *system;
    struct topic *topic;
    struct subscribers *subscribers; /* NULL: nobody */
    uint64_t id;
    uint32_t place; /* the next one */
    uint32_t met;   /* subscribers so far, */
    uint32_t gone;  /* and those who have stopped */
};

/** Begins a walk over the subscribers. TR_STOPPED: there is no such topic. Any thread. */
TR_MUST_CHECK tr_status tr__topic_begin(struct tr_system *system, uint64_t id,
                                        struct topic_walk *walk);
/** The next subscriber that lives; 0: that was the last. */
uint64_t tr__topic_next(struct topic_walk *walk);
/** Ends a walk. */
void tr__topic_end(struct topic_walk *walk);

/** Any thread, as all of these. */
TR_MUST_CHECK tr_status tr__topic_open(struct tr_system *system, const char *name, uint64_t *id);
tr_status tr__topic_close(struct tr_system *system, uint64_t id);
size_t tr__topic_count(struct tr_system *system, uint64_t id);
TR_MUST_CHECK tr_status tr__topic_subscribe(struct tr_system *system, uint64_t id, uint64_t ref);
tr_status tr__topic_unsubscribe(struct tr_system *system, uint64_t id, uint64_t ref);

#endif
