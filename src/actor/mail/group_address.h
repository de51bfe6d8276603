/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Group addresses: what senders see of a group of actors. See docs/design/groups.md.
 *
 * The ref of a group is the ref of a slot that has no actor. The door of the slot is closed and its
 * owner is CELL_GROUP_ADDRESS, so to code that does not know of groups it looks like an actor that
 * has stopped. Only when a message was refused does a sender check whether the cell is a group
 * address. If so, the sender finds the group address by the ref, picks a member, and sends to the
 * member.
 *
 * Each group address has an actor behind it, the group supervisor (actor/verbs/group_supervisor.c),
 * which is the parent of the members. Only the group supervisor writes the words of the group
 * address. The slot of the group address names the group supervisor in door.tenant, where the slot
 * of an actor names its parent. Group addresses are not freed while the system lives, but they are
 * reused; queue/board.h has the rules for a thread that reads one which has another tenant by now.
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
    /*
     * places in a router's table for each member; with this many, the shares of the members differ
     * by 9 %
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
    atom32 next_near; /* the next of the members on that worker, for asks */
};

struct group_address {
    struct board board;
    struct group_address *next;   /* the next one in its bucket; never changes */
    uint32_t capacity;            /* entries of `turns`, and of `members` */
    uint32_t key_capacity;        /* of `keys` */
    struct group_cursor *cursors; /* one for each worker, then one for all other threads */
    /*
     * Words of the board: written by the group supervisor, or while no other thread knows the
     * tenant.
     */
    atom64 *turns;   /* refs of the members in turn, `turn_count` of them */
    atom64 *members; /* refs by the number of the member; 0: that member has ended */
    atom64 *keys; /* for a router: refs by the hash of a key. key_count entries, a power of two */
    atom64 turn_count;
    atom64 member_count;
    atom64 key_count; /* 0: a group without routes */
    atom64 routes;    /* the const tr_route *; 0: a group without routes */
    atom64 base;      /* the worker of member 0; member 1 is on the next worker, and so on */
    /*
     * The members below belong to the tenant. They are written by the thread that makes the tenant,
     * then by the group supervisor.
     */
    struct tr_system *system;
    struct cell *cell; /* the slot */
    uint64_t tenant;   /* ref of the current tenant, 0: free; read and written under the lock */
    void *memory;      /* the allocation that contains all of this, to free it */
    const tr_behavior *behavior;
    const tr_type *setup_type;
    void *setup;      /* a copy of the set-up message of the members */
    uint64_t spawner; /* the client that is notified of a failed start, 0 for none */
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
    struct slot_cache *cache; /* NULL on threads that are not workers */
    uint64_t spawner;
    uint32_t members;
    uint32_t base;
};

/**
 * Makes a group address that is not open yet. Returns TR_OK, TR_NO_MEMORY, TR_LIMIT, or
 * TR_TOO_LARGE for the set-up message.
 */
TR_MUST_CHECK tr_status tr__group_new(struct tr_system *system, const struct group_plan *plan,
                                      struct group_address **made);
/**
 * Frees a group address and its slot, after the group supervisor has ended, or if it was never
 * spawned. If the group address no longer has this ref, does nothing. Any thread.
 */
void tr__group_free(struct group_address *group, uint64_t ref);

/**
 * If `args` spawn a group supervisor, makes its group address lead to this cell. No other thread
 * may know the cell yet.
 */
void tr__group_bind(struct tr_system *system, const tr_spawn_args *args, struct cell *supervisor);
/**
 * If `origin` belongs to a group supervisor, frees the group address of that supervisor, which must
 * have ended for good.
 */
void tr__group_unbind(const struct cell_origin *origin);
/**
 * Returns the ref of the group address of a group supervisor, 0 for other cells. Owner only, until
 * the origin of the cell is dropped.
 */
uint64_t tr__group_address_of_supervisor(const struct cell *cell);
/**
 * Returns the ref by which others know a child: for a group supervisor the ref of its group
 * address, otherwise its own. Only for the owner of the child, and for the parent while the child
 * is in its list.
 */
uint64_t tr__group_of_child(const struct cell *child);

/** Whether a cell is a group address. Any thread. */
static inline bool cell_is_group_address(const struct cell *cell)
{
    /* pairs with slot_open. A thread may have the ref from elsewhere than the thread that made it. */
    return __builtin_expect(atom32_load(&cell->door.owner, ATOM_ACQUIRE) == CELL_GROUP_ADDRESS, 0);
}

/**
 * Returns the ref of the group supervisor behind a group address, and any other ref unchanged. Any
 * thread.
 */
uint64_t tr__group_behind(const struct slots *slots, uint64_t ref);
/** Whether `target` is the group address of this group supervisor. Owner only. */
bool tr__group_is_before(const struct slots *slots, const struct cell *supervisor, uint64_t target);
/** Closes a group address: senders get no member from it any more. Any thread. */
void tr__group_close(struct tr_system *system, uint64_t ref);

/**
 * Returns the group address of a ref, NULL for none. The group address may have another tenant by
 * the time that the caller reads it. Any thread.
 */
struct group_address *tr__group_find(const struct tr_system *system, uint64_t ref);

/* ---- Functions for the group supervisor only. ---- */

/** Sets the member with this number. */
void tr__group_member_put(struct group_address *group, uint32_t number, uint64_t member);
/** Fills the turns, and the table of a router, after the refs of all members were set. */
void tr__group_members_done(struct group_address *group);
/** Removes a member. Returns how many are left. */
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

/** A walk over the members that may take a message, the first choice first. */
struct group_walk {
    const struct slots *slots;
    struct group_address *group;
    /* 0: a walk of the group supervisor itself, for which the tenant is always there */
    uint64_t ref;
    uint64_t member; /* the member that the walk returned last */
    uint64_t hash;   /* hash of the key */
    uint64_t score;  /* for a router: the score of the last member */
    uint64_t stay;   /* number of the stay (queue/board.h) in which the sender is announced */
    /* index of the sender's worker; worker_count or more: the sender is not on a worker */
    uint32_t worker;
    uint32_t near_left; /* members on the sender's worker that are still to be tried */
    uint32_t near;      /* the next of the members on the sender's worker */
    uint32_t near_step;
    /*
     * turns that are still to be tried; for a router: 1 until the member that has the key was tried
     */
    uint32_t left;
    uint32_t turn;
    bool has_turn; /* `turn` is set */
    bool is_router;
    bool is_held; /* the sender is announced, and can only pick the group supervisor */
};

/** A message that is sent through a group address. */
struct group_letter {
    const tr_type *type;
    const void *data;
    bool is_ask;
};

#endif
