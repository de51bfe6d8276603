/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fronts: what a group of actors shows to those who send to it. See docs/design/groups.md.
 *
 * The ref of a group is that of a slot in which nobody lives. Its door is closed and its owner is
 * CELL_GROUP_ADDRESS, so whoever knows nothing of groups takes it for an actor that has stopped; only when a
 * message was refused does a sender look whether it stands before a group address. Then it finds the group address by
 * the ref, picks a member and sends to that.
 *
 * Behind a group address stands an actor, the group supervisor (actor/verbs/group_supervisor.c), the parent of the members. It alone writes
 * the group address's words, and the group address's slot names it as the tenant's parent. Group addresses are never freed while
 * the system lives; queue/board.h has the rules for those who read one that is another's by now.
 */
#ifndef ACTOR_MAIL_GROUP_ADDRESS_H
#define ACTOR_MAIL_GROUP_ADDRESS_H

#include <troupe/group.h>

#include "actor/cell/cell.h"
#include "base/hash.h"
#include "queue/board.h"

struct group_addresses;
struct slot_cache;
struct slots;
struct tr_system;
struct worker;

enum {
    GROUP_BUCKETS = 1024,
    GROUP_KEYS_EACH = 128, /* places in a router's table for each member: shares differ by 9 % */
    GROUP_KEYS_LEAST = 256
};

/** Whose turn it is, as one worker, or all other threads, count: a line of its own. */
struct group_cursor {
    _Alignas(64) atom32 next;
    atom32 next_near; /* of the members on that worker, for asks */
};

struct group_address {
    struct board board;
    struct group_address *next;   /* in its bucket, for ever */
    uint32_t capacity;            /* of `turns` and `seats`, each */
    uint32_t key_capacity;        /* of `keys` */
    struct group_cursor *cursors; /* of each worker, then of all clients */
    /* Words of the board: written by the group supervisor, or while nobody knows the tenant. */
    atom64 *turns; /* refs of members, `turn_count` of them */
    atom64 *seats; /* by a member's number; 0: it is gone */
    atom64 *keys;  /* of a router: refs, by the hash of a key; a power of two */
    atom64 turn_count;
    atom64 seat_count;
    atom64 key_count; /* 0: a group */
    atom64 routes;    /* the const tr_route *; 0: a group */
    atom64 base;      /* the worker of seat 0; the next one has the next */
    /* Of the tenant; who made it, then the group supervisor. */
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

/** What a group supervisor is, and its set-up message. */
TR_BEHAVIOR_DECLARE(tr_group_supervisor);
TR_MESSAGE(tr_group_open, (u64, group), (u64, ref));

void tr__group_addresses_init(struct group_addresses *group_addresses);
void tr__group_addresses_deinit(struct tr_system *system);

/** How a group is spawned; all borrowed. */
struct group_plan {
    const tr_spawn_args *spawn;
    const tr_route *routes;
    const tr_supervision *supervision;
    struct slot_cache *cache; /* NULL on threads that are no workers */
    uint64_t spawner;
    uint32_t members;
    uint32_t base;
};

/** A group address that lets nobody through yet. TR_NO_MEMORY, TR_LIMIT. */
TR_MUST_CHECK tr_status tr__group_new(struct tr_system *system, const struct group_plan *plan,
                                      struct group_address **made);
/** The tenant is gone, or never came: the slot is free. The second time nothing is done. Any thread. */
void tr__group_free(struct group_address *group, uint64_t ref);

/** If this spawn is that of a group supervisor: its group address leads to this cell, nobody knows of which yet. */
void tr__group_bind(struct tr_system *system, const tr_spawn_args *args, struct cell *supervisor);
/** If this is the origin of a group supervisor, that is gone for good: frees its group address. */
void tr__group_unbind(const struct cell_origin *origin);
/** The ref of the group address of a group supervisor; 0 of other cells. Owner only, until its origin is dropped. */
uint64_t tr__group_address_of_supervisor(const struct cell *cell);
/** The ref by which a child is known: of a group supervisor that of its group address. Who has it in its list only. */
uint64_t tr__group_of_child(const struct cell *child);

/** Whether a cell is a group address. Any thread. */
static inline bool cell_is_group_address(const struct cell *cell)
{
    return __builtin_expect(cell_owner(cell) == CELL_GROUP_ADDRESS, 0);
}

/** The ref of the actor behind a group address; any other ref as it is. Any thread. */
uint64_t tr__group_behind(const struct slots *slots, uint64_t ref);
/** Whether `target` is the group address of this group supervisor. Owner only. */
bool tr__group_is_before(const struct slots *slots, const struct cell *supervisor, uint64_t target);
/** Nobody gets through any more. Any thread. */
void tr__group_close(struct tr_system *system, uint64_t ref);

/** The group address of a ref, which may have gone since; NULL for none. Any thread. */
struct group_address *tr__group_find(const struct tr_system *system, uint64_t ref);

/* ---- For the group supervisor. ---- */

/** Seats a member. */
void tr__group_seat(struct group_address *group, uint32_t number, uint64_t member);
/** All are seated. */
void tr__group_seated(struct group_address *group);
/** Takes a member out; gives how many are left. */
uint32_t tr__group_leave(struct group_address *group, uint64_t member);

/** How much a member wants a place of a router's table: the one that wants it most has it. */
static inline uint64_t group_score(uint64_t place, uint32_t number)
{
    return hash_mix(hash_mix(place + 1) + number + 1);
}

/* ---- Picking a member. ---- */

/** A walk over those who may take a message, the best first. */
struct group_walk {
    const struct slots *slots;
    struct group_address *group;
    uint64_t
        ref; /* 0: of the group supervisor itself, to which the group address is always there */
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
    bool is_held; /* only the group supervisor, and the sender is announced */
};

/** Who sends what through a group address. */
struct group_letter {
    const tr_type *type;
    const void *data;
    bool is_ask;
};

#endif
