/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Groups and routers: many equal actors behind one ref.
 *
 *     mill_ref mills = tr_spawn_group(self, mill, "mills", 4);
 *     tr_tell(self, mills, grind, .sacks = 3);                       one of the four gets it
 *
 *     TR_ROUTES(ledger, TR_ROUTE_BY(buy, customer), TR_ROUTE_BY(get_total, customer));
 *     ledger_ref ledgers = tr_spawn_router(self, ledger, "ledgers", 4);
 *     tr_tell(self, ledgers, buy, .customer = 7, .cents = 5);        the one for customer 7
 *
 * The ref is that of one actor to all who use it: it has the same type, may be told, asked, watched,
 * stopped, suspended, named and found. A message goes straight from its sender to a member, chosen on
 * the sender's thread: there is nobody in between through whom all must pass.
 *
 * Which member
 *     group, tr_tell      in turn; each worker, and all clients together, count for themselves
 *     group, tr_ask       one on the worker of who asks, in turn if there are several; else as tr_tell
 *     router              by the key of the message: the same key, the same member
 * A router spreads keys by a consistent hash: when a member is gone, its keys go to the others, and no
 * other key changes its member. Which member has a key differs from one system to the next.
 *
 * Members that cannot take it
 *     stopped     the next one gets it; of a router the one that has the key from now on
 *     full        of a group the next one that has room; when none has, what the overflow of that one
 *                 says whose turn it was. Of a router what the overflow of the key's member says.
 *     suspended, or being restarted: it keeps its turn, and what it gets waits, as with any actor
 * When no member is left: TR_STOPPED, and a dead letter to the ref of the group. Dead letters of what a
 * member had taken, or had no room for, name the member. Messages of one sender to one member arrive in
 * the order sent; to different members there is no order.
 *
 * The members are the children of an actor of the runtime's that stands behind the ref, and that is a
 * child of who spawned the group. They are spread over the workers, beginning with that of the spawner,
 * and called "1", "2", ... below the name of the group. They are supervised as the spawner's children
 * are: by the same rules, and among themselves, so what restarts all members restarts no other child.
 * A restart keeps a member's place. One that has stopped leaves the group, and with the last one the
 * group stops. What would fail the spawner if a member were its child, TR_ESCALATE or restarts of all
 * that are used up, stops the group and fails the spawner; tr_error.links names both, and a
 * tr_child_failed the group. The group itself is never restarted: what would restart it stops it. A
 * member that is TR_PERMANENT would come back as somebody else, and is not possible here.
 *
 * To the spawner the group is one child, with its ref: in tr_children, tr_child, tr_stop_child. Of the
 * failures of members that their group sees to, it is not told.
 *
 * tr_stop of a group: members handle what they have. tr_suspend and tr_resume go to each member; on
 * TR_NO_MEMORY some may have had it. A watch tells of the end of the whole group, with its ref.
 */
#ifndef TROUPE_GROUP_H
#define TROUPE_GROUP_H

#include <troupe/self.h>

/** For the number of members: as many as the system has workers. */
#define TR_ONE_PER_WORKER (-1)

/**
 * Starts a group and gives its ref, a `mill_ref`:
 *     tr_spawn_group(self, mill, "mills", 4)                          NULL for a made-up name
 *     tr_spawn_group(self, mill, "mills", 4, open_mill, .stones = 2)  each with this set-up message
 *
 * Members on this worker have been set up when this returns; the set-up of one that fails fails the
 * group. One elsewhere that fails in its set-up leaves the group. Ends the turn where
 * tr_try_spawn_group would give an error.
 */
#define tr_spawn_group(self, actor, name, ...) TR_SPAWN_GROUP_(self, NULL, actor, name, __VA_ARGS__)
/**
 * As tr_spawn_group, into *ref, a `mill_ref *`, which is written on TR_OK only.
 *
 * As tr_try_spawn; TR_INVALID_ARGUMENT also for no members, or less than none; TR_LIMIT also for more
 * than TR_GROUP_MEMBERS_MAX, or more groups than TR_GROUPS_MAX; TR_NOT_SUPPORTED for members that are
 * TR_PERMANENT. From a client the group is a child of /user, and is set up by worker 0 later:
 * tr_spawn_wait waits for it.
 */
#define tr_try_spawn_group(from, ref, actor, name, ...)                                            \
    TR_TRY_SPAWN_GROUP_(from, ref, NULL, actor, name, __VA_ARGS__)

/** As tr_spawn_group, of a router: the actor has TR_ROUTES. */
#define tr_spawn_router(self, actor, name, ...)                                                    \
    TR_SPAWN_GROUP_(self, tr_routes_##actor, actor, name, __VA_ARGS__)
/**
 * As tr_try_spawn_group, of a router. TR_INVALID_ARGUMENT also for routes that are none: no message,
 * the same message twice, a key that is no integer, string, bytes or ref.
 */
#define tr_try_spawn_router(from, ref, actor, name, ...)                                           \
    TR_TRY_SPAWN_GROUP_(from, ref, tr_routes_##actor, actor, name, __VA_ARGS__)

/**
 * Says by what a router of these actors routes, in the file that spawns it:
 *     TR_ROUTES(ledger, TR_ROUTE_BY(buy, customer), TR_ROUTE_WITH(sell, key_of_sell));
 *
 * A message that is not in the list reaches no member: tr_tell and tr_ask give TR_UNHANDLED.
 */
#define TR_ROUTES(actor, ...) TR_ROUTES_(actor, __VA_ARGS__, )
/**
 * The key is this field: an integer, bool, enum, str (NULL is a key too), bytes or ref. Equal integers
 * of different widths are the same key, and so are str and bytes with the same contents.
 */
#define TR_ROUTE_BY(message, field) (TR_ROUTED_BY, message, field)
/**
 * The key is what `uint64_t function(const struct <message> *)` gives. It is called by whoever sends,
 * on any thread, also several times for one message, with the sender's own struct or a copy of it: it
 * looks at what is in the message and at nothing else, and keeps no pointer to it.
 */
#define TR_ROUTE_WITH(message, function) (TR_ROUTED_WITH, message, function)

/** How many members a group has now; 0 when it has stopped, or was never a group. */
#define tr_group_count(from, group) TR_SPEAKER_(from, group_members)(from, tr_any(group), NULL, 0)
/** Copies up to `max` refs of its members; gives how many there are. */
#define tr_group_members(from, group, members, max)                                                \
    TR_SPEAKER_(from, group_members)(from, tr_any(group), members, max)

/** How to find the key of a message. A table of them ends with a row of zeros. */
typedef struct tr_route {
    const tr_type *type;
    uint64_t (*key)(const void *message); /* NULL: the field at `offset` */
    size_t offset;
} tr_route;

/** What makes a spawn one of a group. */
typedef struct tr_group_args {
    size_t size; /* sizeof(tr_group_args) */
    int members;
    const tr_route *routes; /* NULL: a group. Lives as long as the router. */
} tr_group_args;

TR_BEGIN_C
/** As tr_self_spawn, of a group; `spawn` is for each member, its name that of the group. */
tr_ref tr_self_spawn_group(tr_self *self, const tr_spawn_args *spawn, const tr_group_args *group);
TR_MUST_CHECK tr_status tr_self_try_spawn_group(tr_self *self, const tr_spawn_args *spawn,
                                                const tr_group_args *group, uint64_t *ref_bits);
TR_MUST_CHECK tr_status tr_client_try_spawn_group(tr_client *client, const tr_spawn_args *spawn,
                                                  const tr_group_args *group, uint64_t *ref_bits);
size_t tr_self_group_members(tr_self *self, tr_ref group, tr_ref *members, size_t max);
size_t tr_client_group_members(tr_client *client, tr_ref group, tr_ref *members, size_t max);
TR_END_C

#include <troupe/detail/group.h>

#endif
