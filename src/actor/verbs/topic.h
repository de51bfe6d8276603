/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Topics and their subscribers. See docs/design/groups.md.
 *
 * The id of a topic is made of a place and a generation, as a ref is. Topics are in chunks that are
 * never freed while the system lives. Each topic has its own lock. When a topic is closed, a later
 * topic can get its place, with another generation.
 *
 * The subscribers of a topic are refs in a hash table without order. A publisher increments
 * `holders` of the table under the lock, and walks through the table without the lock. A place
 * changes by one atomic store. So the walk either meets or misses an actor that subscribes or
 * unsubscribes during the walk. A table that becomes too small is replaced, and its last holder
 * frees it. Subscribers that have stopped stay in the table until it is full, or until a walk has
 * met too many of them. That does no harm, because their refs reach no actor.
 */
#ifndef ACTOR_VERBS_TOPIC_H
#define ACTOR_VERBS_TOPIC_H

#include <troupe/limits.h>

#include "actor/cell/names.h"
#include "os/atomic.h"
#include "os/lock.h"

struct tr_system;

/** Topics. */
enum { TOPICS_CHUNK = 256, TOPICS_CHUNKS = TR_TOPICS_MAX / TOPICS_CHUNK };

struct topics {
    struct lock lock;
    /* arrays of struct topic; written under the lock, read by any thread */
    atomptr chunks[TOPICS_CHUNKS];
    /* number of places that were ever used; under the lock, like all members below */
    uint32_t used;
    uint32_t free_first; /* index of the first free place, plus 1; 0: there is none */
    uint32_t generation_first;
    struct names *names;
};

enum {
    SUBSCRIBERS_LEAST = 8 /* the least number of places of a table */
};

/** The table of the subscribers of one topic. A place is 0, SUBSCRIBER_GONE or a ref. */
struct subscribers {
    atom32 holders; /* the number of holders: the topic, and each walk; any thread writes it */
    uint32_t mask;  /* the number of places, which is a power of two, minus one */
    uint32_t used;  /* how many places are not 0; under the topic's lock */
    bool has_gone;  /* a place is SUBSCRIBER_GONE now, or was; under the topic's lock */
    atom64 refs[];
};

struct topic {
    _Alignas(64) struct lock lock;
    /* generation of the last topic in this place; under topics.lock */
    uint32_t generation;
    uint64_t id;                     /* 0: the place is free; under the lock */
    struct subscribers *subscribers; /* NULL: there are no subscribers; under the lock */
    struct name *name;               /* NULL: the topic has no name; under topics.lock */
    /* 1 + the index of the next free place; 0: none; under topics.lock */
    uint32_t free_next;
};

void tr__topics_init(struct topics *topics, struct tr_system *system);
void tr__topics_deinit(struct tr_system *system);

/** A walk over the subscribers of a topic, in the table that the topic had when the walk began. */
struct topic_walk {
    struct tr_system *system;
    struct topic *topic;
    struct subscribers *subscribers; /* NULL: none */
    uint64_t id;
    uint32_t place; /* the place where the walk continues */
    uint32_t met;   /* how many live subscribers the walk has met so far */
    uint32_t gone;  /* how many stopped subscribers the walk has met so far */
};

/**
 * Begins a walk over the subscribers of a topic. Returns TR_OK, or TR_STOPPED if there is no topic
 * with this id. Any thread.
 */
TR_MUST_CHECK tr_status tr__topic_begin(struct tr_system *system, uint64_t id,
                                        struct topic_walk *walk);
/** Returns the ref of the next live subscriber; 0 if there is none left. */
uint64_t tr__topic_next(struct topic_walk *walk);
/** Ends a walk. If the walk has met too many stopped subscribers, replaces the table. */
void tr__topic_end(struct topic_walk *walk);

/**
 * These five functions do what tr_topic_open, tr_topic_close, tr_topic_count, tr_subscribe and
 * tr_unsubscribe promise. Any thread.
 */
TR_MUST_CHECK tr_status tr__topic_open(struct tr_system *system, const char *name, uint64_t *id);
tr_status tr__topic_close(struct tr_system *system, uint64_t id);
size_t tr__topic_count(struct tr_system *system, uint64_t id);
TR_MUST_CHECK tr_status tr__topic_subscribe(struct tr_system *system, uint64_t id, uint64_t ref);
tr_status tr__topic_unsubscribe(struct tr_system *system, uint64_t id, uint64_t ref);

#endif
