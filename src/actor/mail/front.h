/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fronts: what a group of actors shows to those who send to it. See docs/design/groups.md.
 *
 * The ref of a group is that of a slot in which nobody lives. Its door is closed and its owner is
 * CELL_FRONT, so whoever knows nothing of groups takes it for an actor that has stopped; only when a
 * message was refused does a sender look whether it stands before a front. Then it finds the front by
 * the ref, picks a member and sends to that.
 *
 * Behind a front stands an actor, the crew (actor/verbs/crew.c), the parent of the members. It alone writes
 * the front's words, and the front's slot names it as the tenant's parent. Fronts are never freed while
 * the system lives; queue/board.h has the rules for those who read one that is another's by now.
 */
#ifndef ACTOR_MAIL_FRONT_H
#define ACTOR_MAIL_FRONT_H

#include <troupe/group.h>

#include "actor/cell/cell.h"
#include "base/hash.h"
#include "os/lock.h"
#include "queue/board.h"

struct tr_system;
struct worker;
struct slots;
struct slot_cache;

enum {
    FRONT_BUCKETS = 1024,
    FRONT_KEYS_EACH = 128, /* places in a router's table for each member: shares differ by 9 % */
    FRONT_KEYS_LEAST = 256
};

/** Whose turn it is, as one worker, or all other threads, count: a line of its own. */
struct front_cursor {
    _Alignas(64) atom32 next;
    atom32 next_near; /* of the members on that worker, for asks */
};

struct front {
    struct board board;
    struct front *next;           /* in its bucket, for ever */
    uint32_t capacity;            /* of `turns` and `seats`, each */
    uint32_t key_capacity;        /* of `keys` */
    struct front_cursor *cursors; /* of each worker, then of all clients */
    /* Words of the board: written by the crew, or while nobody knows the tenant. */
    atom64 *turns; /* refs of members, `turn_count` of them */
    atom64 *seats; /* by a member's number; 0: it is gone */
    atom64 *keys;  /* of a router: refs, by the hash of a key; a power of two */
    atom64 turn_count;
    atom64 seat_count;
    atom64 key_count; /* 0: a group */
    atom64 routes;    /* the const tr_route *; 0: a group */
    atom64 base;      /* the worker of seat 0; the next one has the next */
    /* Of the tenant; who made it, then the crew. */
    struct tr_system *system;
    struct cell *cell; /* the slot */
    uint64_t tenant;   /* 0: it is free; under the lock */
    void *memory;      /* what the source gave */
    const tr_behavior *behavior;
    const tr_type *setup_type;
    void *setup;      /* a copy */
    uint64_t spawner; /* the client that wants to know of a failure, 0 for none */
    tr_supervision supervision;
    tr_child_spec spec; /* of the members */
};

struct fronts {
    struct lock lock;
    atomptr buckets; /* FRONT_BUCKETS of atomptr; NULL until the first front */
    uint32_t count;  /* under the lock */
};

/** What a crew is, and its set-up message. */
TR_BEHAVIOR_DECLARE(tr_crew);
TR_MESSAGE(tr_crew_open, (u64, front), (u64, ref));

void tr__fronts_init(struct fronts *fronts);
void tr__fronts_deinit(struct tr_system *system);

/** How a group is spawned; all borrowed. */
struct front_plan {
    const tr_spawn_args *spawn;
    const tr_route *routes;
    const tr_supervision *supervision;
    struct slot_cache *cache; /* NULL on threads that are no workers */
    uint64_t spawner;
    uint32_t members;
    uint32_t base;
};

/** A front that lets nobody through yet. TR_NO_MEMORY, TR_LIMIT. */
TR_MUST_CHECK tr_status tr__front_new(struct tr_system *system, const struct front_plan *plan,
                                      struct front **made);
/** The tenant is gone, or never came: the slot is free. The second time nothing is done. Any thread. */
void tr__front_free(struct front *front, uint64_t ref);

/** If this spawn is that of a crew: its front leads to this cell, nobody knows of which yet. */
void tr__front_bind(struct tr_system *system, const tr_spawn_args *args, struct cell *crew);
/** If this is the origin of a crew, that is gone for good: frees its front. */
void tr__front_unbind(const struct cell_origin *origin);
/** The ref of the front of a crew; 0 of other cells. Owner only, until its origin is dropped. */
uint64_t tr__front_of_crew(const struct cell *cell);
/** The ref by which a child is known: of a crew that of its front. Who has it in its list only. */
uint64_t tr__front_of_child(const struct cell *child);

/** Whether a cell is a front. Any thread. */
static inline bool front_is(const struct cell *cell)
{
    return __builtin_expect(cell_owner(cell) == CELL_FRONT, 0);
}

/** The ref of the actor behind a front; any other ref as it is. Any thread. */
uint64_t tr__front_behind(const struct slots *slots, uint64_t ref);
/** Whether `target` is the front of this crew. Owner only. */
bool tr__front_is_before(const struct slots *slots, const struct cell *crew, uint64_t target);
/** Nobody gets through any more. Any thread. */
void tr__front_close(struct tr_system *system, uint64_t ref);

/** The front of a ref, which may have gone since; NULL for none. Any thread. */
struct front *tr__front_find(const struct tr_system *system, uint64_t ref);

/* ---- For the crew. ---- */

/** Seats a member. */
void tr__front_seat(struct front *front, uint32_t number, uint64_t member);
/** All are seated. */
void tr__front_seated(struct front *front);
/** Takes a member out; gives how many are left. */
uint32_t tr__front_leave(struct front *front, uint64_t member);

/** How much a member wants a place of a router's table: the one that wants it most has it. */
static inline uint64_t front_score(uint64_t place, uint32_t number)
{
    return hash_mix(hash_mix(place + 1) + number + 1);
}

/* ---- Picking a member. ---- */

/** A walk over those who may take a message, the best first. */
struct front_walk {
    const struct slots *slots;
    struct front *front;
    uint64_t ref;       /* 0: of the crew itself, to which the front is always there */
    uint64_t member;    /* the last one */
    uint64_t hash;      /* of the key */
    uint64_t score;     /* of the last one, of a router */
    uint64_t stay;      /* of who is announced */
    uint32_t worker;    /* of the sender; its count or more: none */
    uint32_t near_left; /* seats on the sender's worker that are still to be looked at */
    uint32_t near;      /* the next of them */
    uint32_t near_step;
    uint32_t left; /* turns that are still to be looked at; of a router: whether there is one */
    uint32_t turn;
    bool has_turn; /* `turn` was taken */
    bool is_router;
    bool is_held; /* only the crew, and the sender is announced */
};

/** Who sends what through a front. */
struct front_letter {
    const tr_type *type;
    const void *data;
    bool is_ask;
};

/**
 * Begins a walk for a message. TR_OK, TR_STOPPED, or TR_UNHANDLED: it has no key. `worker` is the
 * sender's, NULL on other threads.
 */
TR_MUST_CHECK tr_status tr__front_begin(struct tr_system *system, const struct worker *worker,
                                        uint64_t ref, const struct front_letter *letter,
                                        struct front_walk *walk);
/** The next member that is there; NULL: none is left. */
struct cell *tr__front_next(struct front_walk *walk);
/** Of a walk whose message was not taken. */
void tr__front_give_up(struct front_walk *walk);
/** The member for a message that its crew passes on; 0 for none. TR_UNHANDLED: it has no key. */
TR_MUST_CHECK tr_status tr__front_choose(struct front *front, const struct worker *worker,
                                         const struct front_letter *letter, uint64_t *member);

/**
 * Sends a message, a notice or an ask, to one of those behind a front. *cell and *to are the front and
 * its ref, and then who has it, or on TR_MAILBOX_FULL whose turn it was. Takes the envelope on TR_OK.
 */
tr_status tr__front_send(struct worker *worker, struct envelope *envelope, struct cell **cell,
                         uint64_t *to);
/** The same from any thread. It does not wait for room. */
tr_status tr__front_send_outside(struct tr_system *system, struct envelope *envelope,
                                 struct cell **cell, uint64_t *to);

/** All members, for tr__front_each. Any thread. */
struct front_walk tr__front_all(struct tr_system *system, uint64_t ref);
/** The next of them; false: that was the last. */
bool tr__front_each(struct front_walk *walk, uint64_t *member);

/* ---- Routes. ---- */

/** Whether a table of routes is sound; *why says what is not. */
bool tr__routes_are_valid(const tr_route *routes, const char **why);
/** The hash of a message's key; false: it has none. Any thread. */
bool tr__route_hash(const tr_route *routes, struct hash_key key, const tr_type *type,
                    const void *data, uint64_t *hash);

#endif
