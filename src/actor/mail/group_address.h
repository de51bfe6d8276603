/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Group addresses: what senders see of a group of actors. See docs/design/groups.md.
 *
 * The ref of a group is the ref of a slot that has no actor. The door of the slot is closed and its
 * owner is CELL_GROUP_ADDRESS. So code that does not know of groups takes the slot for an actor
 * that has stopped. A sender checks whether a cell is a group address only when its message was
 * refused. If the cell is one, the sender finds the group address by the ref, picks a member, and
 * sends to that member.
 *
 * Each group address has an actor behind it, the group supervisor (actor/verbs/group_supervisor.c),
 * which is the parent of the members. Only the group supervisor writes the words of the group
 * address. The slot of the group address names the group supervisor in door.tenant, where the slot
 * of an actor names its parent. Group addresses are not freed while the system lives, but they are
 * reused. So a thread may read a group address that has another tenant by now. The rules of its
 * member `board` (queue/board.h) make that harmless.
 */
#ifndef ACTOR_MAIL_GROUP_ADDRESS_H
#define ACTOR_MAIL_GROUP_ADDRESS_H

#include <troupe/group.h>

#include "actor/cell/cell.h"
#include "base/hash.h"
#include "os/atomic.h"
#include "os/lock.h"
#include "queue/board.h"

struct slot_cache;
struct slots;
struct tr_system;
struct worker;

/** The addresses of groups. */
struct group_addresses {
    struct lock lock;
    atomptr buckets; /* GROUP_BUCKETS of atomptr; NULL until the first group address */
    uint32_t count;  /* under the lock */
};

enum {
    GROUP_BUCKETS = 1024,
    /*
     * How many places of a router's table there are for each member. With this many, the shares of
     * the members differ by 9 %.
     */
    GROUP_KEYS_EACH = 128,
    GROUP_KEYS_LEAST = 256
};

/**
 * Positions for picking members in turn. There is one struct for each worker, and one for all other
 * threads together, each in a cache line of its own.
 */
struct group_cursor {
    _Alignas(64) atom32 next;
    atom32 next_near; /* as `next`, but only counts the members on that worker; used for asks */
};

struct group_address {
    struct board board;
    struct group_address *next;   /* the next group address in the same bucket; never changes */
    uint32_t capacity;            /* how many entries `turns` has, and `members` too */
    uint32_t key_capacity;        /* of `keys` */
    struct group_cursor *cursors; /* one for each worker, then one for all other threads */
    /*
     * Words of the board. Only the group supervisor writes them once other threads know the tenant.
     */
    /* the refs of `turn_count` members, in the order in which messages without a key go to them */
    atom64 *turns;
    atom64 *members; /* the ref of each member, by its number; 0: that member has ended */
    /*
     * For a router: the ref of the member for each place, by the hash of a key. There are key_count
     * places, which is a power of two.
     */
    atom64 *keys;
    atom64 turn_count;
    atom64 member_count;
    atom64 key_count; /* 0: a group without routes */
    atom64 routes;    /* a pointer to const tr_route; 0: a group without routes */
    atom64 base;      /* the worker of member 0; member 1 is on the next worker, and so on */
    /*
     * The rest of this struct is data of the tenant. The thread that makes the tenant writes it
     * first, and afterwards only the group supervisor.
     */
    struct tr_system *system;
    struct cell *cell; /* the slot */
    /*
     * the ref of the current tenant; 0: the group address is free. Read and written under the lock.
     */
    uint64_t tenant;
    void *memory; /* the allocation that contains this struct and its arrays */
    const tr_behavior *behavior;
    const tr_type *setup_type;
    void *setup;      /* a copy of the set-up message of the members */
    uint64_t spawner; /* the client that gets the error of a failed start; 0 for none */
    tr_supervision supervision;
    tr_child_spec spec; /* spec of the members */
};

/** The behavior of group supervisors, and their set-up message. */
TR_BEHAVIOR_DECLARE(tr_group_supervisor);
TR_MESSAGE(tr_group_open, (u64, group), (u64, ref));

void tr__group_addresses_init(struct group_addresses *group_addresses);
void tr__group_addresses_deinit(struct tr_system *system);

/** How to spawn a group. All pointers are borrowed. */
struct group_plan {
    const tr_spawn_args *spawn;
    const tr_route *routes;
    const tr_supervision *supervision;
    struct slot_cache *cache; /* NULL on a thread that is no worker */
    uint64_t spawner;
    uint32_t members;
    uint32_t base;
};

/**
 * Makes a group address that is not open yet. Returns TR_OK, TR_NO_MEMORY or TR_LIMIT. Returns
 * TR_TOO_LARGE if the set-up message is too large.
 */
TR_MUST_CHECK tr_status tr__group_new(struct tr_system *system, const struct group_plan *plan,
                                      struct group_address **made);
/**
 * Frees a group address and its slot. The group supervisor has ended, or was never spawned. If the
 * group address no longer has this ref, does nothing. Any thread.
 */
void tr__group_free(struct group_address *group, uint64_t ref);

/**
 * If `args` spawn a group supervisor, makes the group address of that supervisor lead to this cell.
 * No other thread may know the cell yet.
 */
void tr__group_bind(struct tr_system *system, const tr_spawn_args *args, struct cell *supervisor);
/**
 * If `origin` belongs to a group supervisor, frees the group address of that supervisor. The group
 * supervisor must have ended, and must not come back.
 */
void tr__group_unbind(const struct cell_origin *origin);
/**
 * Returns the ref of the group address of a group supervisor, 0 for any other cell. The origin of
 * the cell must not be dropped yet. Owner only.
 */
uint64_t tr__group_address_of_supervisor(const struct cell *cell);
/**
 * Returns the ref by which others know a child. For a group supervisor this is the ref of its group
 * address, for any other child its own ref. Only for the owner of the child, and for the parent
 * while the child is in its list.
 */
uint64_t tr__group_of_child(const struct cell *child);

/** Whether a cell is a group address. Any thread. */
static inline bool cell_is_group_address(const struct cell *cell)
{
    /*
     * Pairs with slot_open. A thread need not have the ref from the thread that made the group
     * address.
     */
    return __builtin_expect(atom32_load(&cell->door.owner, ATOM_ACQUIRE) == CELL_GROUP_ADDRESS, 0);
}

/**
 * Returns the ref of the group supervisor behind a group address. Returns any other ref unchanged.
 * Any thread.
 */
uint64_t tr__group_behind(const struct slots *slots, uint64_t ref);
/** Whether `target` is the group address of this group supervisor. Owner only. */
bool tr__group_is_before(const struct slots *slots, const struct cell *supervisor, uint64_t target);
/** Closes a group address: senders get no member from it any more. Any thread. */
void tr__group_close(struct tr_system *system, uint64_t ref);

/**
 * Returns the group address with this ref, NULL for none. When the caller reads the group address,
 * it may have another tenant already. Any thread.
 */
struct group_address *tr__group_find(const struct tr_system *system, uint64_t ref);

/* ---- Functions for the group supervisor only. ---- */

/** Sets the member with this number. */
void tr__group_member_put(struct group_address *group, uint32_t number, uint64_t member);
/**
 * Fills the array `turns` and, for a router, the array `keys`. Called after tr__group_member_put has
 * set all members.
 */
void tr__group_members_done(struct group_address *group);
/** Removes a member. Returns how many members are left. */
uint32_t tr__group_leave(struct group_address *group, uint64_t member);

/**
 * Returns the score of a member for a place of a router's table. The member with the highest score
 * has the place.
 */
static inline uint64_t group_score(uint64_t place, uint32_t number)
{
    return hash_mix(hash_mix(place + 1) + number + 1);
}

/* ---- Picking a member. ---- */

/**
 * A walk over the members that may take a message. The first member of the walk is the first
 * choice.
 */
struct group_walk {
    const struct slots *slots;
    struct group_address *group;
    /*
     * The ref of the group address. It is 0 if the group supervisor itself walks, because the
     * tenant cannot be gone then.
     */
    uint64_t ref;
    uint64_t member; /* the member that the walk returned last */
    uint64_t hash;   /* hash of the key of the message */
    uint64_t score;  /* for a router: the score of the member that the walk returned last */
    /* while `is_held`: the number of the stay of the announcement; see rule 3 of queue/board.h */
    uint64_t stay;
    /* the index of the sender's worker; worker_count or more for a sender on another thread */
    uint32_t worker;
    uint32_t near_left; /* how many members on the sender's worker are still to be tried */
    uint32_t near;      /* the number of the member on the sender's worker that is tried next */
    uint32_t near_step;
    /*
     * How many elements of group_address.turns are still to be tried. For a router this is 1 until
     * the member that has the key was tried.
     */
    uint32_t left;
    uint32_t turn;
    bool has_turn; /* `turn` is set */
    bool is_router;
    /*
     * `group->board` is not open yet. The message was announced there, and must be sent to the
     * group supervisor and not to a member: see rule 2 of queue/board.h
     */
    bool is_held;
};

/** A message that is sent through a group address. */
struct group_letter {
    const tr_type *type;
    const void *data;
    bool is_ask;
};

#endif
