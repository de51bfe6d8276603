/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Groups and routers: many equal actors behind one ref.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(total, (u64, cents));
 * TR_REQUEST(buy, total, (u64, customer), (u64, cents));
 * TR_ACTOR(ledger, buy);
 *
 * struct ledger {
 *     uint64_t cents;
 * };
 *
 * static tr_next on_buy(tr_self *self, struct ledger *ledger, const struct buy *message)
 * {
 *     ledger->cents += message->cents;
 *     return tr_reply(self, total, .cents = ledger->cents);
 * }
 *
 * TR_BEHAVIOR(ledger, struct ledger, TR_ON(buy, on_buy));
 * TR_ROUTES(ledger, TR_ROUTE_BY(buy, customer));
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     ledger_ref any = tr_spawn_group(self, ledger, "any", 4); // the members in turn
 *     ledger_ref one = tr_spawn_router(self, ledger, "one", 4); // one member for each customer
 *     tr_await(self, tr_ask(self, any, buy, .customer = 7, .cents = 5));
 *     tr_await(self, tr_ask(self, one, buy, .customer = 7, .cents = 5));
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(shop, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, shop);
 * }
 * ```
 *
 * The ref of a group is used like the ref of one actor: it has the same type, and takes messages and requests; the
 * group can be watched, stopped, suspended, named and found. The sender's thread chooses a member, and the message goes
 * directly to that member, not through another actor.
 *
 * Which member gets a message
 *     group, tr_tell      the members in turn. Each worker has a count of its own, and all clients
 *                         share one count
 *     group, tr_ask       a member on the worker of the asking actor; if that worker has several,
 *                         these take turns. If it has none, all members in turn, as for tr_tell
 *     router              the member that has the key of the message: the same key always goes to
 *                         the same member
 * A router spreads keys by a consistent hash. When a member is gone its keys go to the others, and
 * no other key changes its member. Which member has a key differs from one system to the next.
 *
 * If that member cannot take the message
 *     stopped     the next member gets the message; in a router, the member that has the key from
 *                 now on
 *     full        in a group the next member with capacity gets the message. If no member has capacity, the overflow
 *                 rule of the member whose turn it was applies. In a router the overflow rule of the key's member
 *                 applies.
 *     suspended, or being restarted: the message waits for this member, as for any actor.
 *     When no member is left, the status is TR_STOPPED, and the message is a dead letter to the ref
 *     of the group. A dead letter of a message that a member had taken, or had no capacity for,
 *     names the member.
 *
 * Messages of one sender to one member arrive in the order sent; between different members
 * there is no order.
 *
 * The ref refers to an actor of the runtime, a child of the spawner. The members are the children
 * of that actor. They are spread over the workers, beginning with the spawner's, and named "1",
 * "2", ... below the name of the group. They are supervised by the rules of the spawner's children,
 * but only among themselves: a restart of all members restarts no other child of the spawner. A
 * member that is restarted stays in the group. A member that stops leaves the group, and the group
 * stops with its last member. Some failures of a child make its parent fail: if `decide` returns
 * TR_ESCALATE, or if the strategy restarts several children together and all its restarts are used
 * up. If a member fails in such a way, the group stops and the spawner fails. Then tr_error.links
 * has both the group and the spawner, and a tr_child_failed names the group. The group itself is
 * never restarted: it stops instead. Members cannot be TR_PERMANENT, because such a member would
 * start again as another actor.
 *
 * For tr_children, tr_child and tr_stop_child of the spawner, the group is one child with the ref
 * of the group. The spawner gets no signal for failures of members that the group handles.
 *
 * After tr_stop of a group, the members still handle the messages that they have. tr_suspend and
 * tr_resume go to each member; if they give TR_NO_MEMORY, some members may already be suspended or
 * resumed. A watch reports the end of the whole group, with its ref.
 */
#ifndef TROUPE_GROUP_H
#define TROUPE_GROUP_H

#include <troupe/ask.h>

/** As the number of members of a group: one member for each worker of the system. */
#define TR_ONE_PER_WORKER (-1)

/**
 * Starts a group and returns its ref, a `mill_ref`:
 *     tr_spawn_group(self, mill, "mills", 4)                          NULL: a name is made up
 *     tr_spawn_group(self, mill, "mills", 4, open_mill, .stones = 2)  each with this set-up message
 * In a turn. Does not wait.
 *
 * When tr_spawn_group returns, the set-ups of members on this worker have run; if one has failed,
 * the group fails. If the set-up of a member on another worker fails, that member leaves the group.
 * If tr_try_spawn_group would return an error, ends the turn instead.
 */
#define tr_spawn_group(self, actor, name, ...) TR_SPAWN_GROUP_(self, NULL, actor, name, __VA_ARGS__)
/**
 * Starts a group as tr_spawn_group does, and writes its ref to *ref, a `mill_ref *`, on TR_OK only.
 * In a turn, or client's thread. Does not wait.
 *
 * The statuses are those of tr_try_spawn. TR_INVALID_ARGUMENT may also mean less than one member.
 * TR_LIMIT may also mean more than TR_GROUP_MEMBERS_MAX members or TR_GROUPS_MAX groups.
 * TR_NOT_SUPPORTED: the members are TR_PERMANENT. A group that a client starts is a child of /user.
 * Worker 0 sets it up later; tr_spawn_wait waits until that is done.
 */
#define tr_try_spawn_group(from, ref, actor, name, ...)                                            \
    TR_TRY_SPAWN_GROUP_(from, ref, NULL, actor, name, __VA_ARGS__)

/**
 * Starts a router as tr_spawn_group starts a group; the actor must have TR_ROUTES. In a turn. Does
 * not wait.
 */
#define tr_spawn_router(self, actor, name, ...)                                                    \
    TR_SPAWN_GROUP_(self, tr_routes_##actor, actor, name, __VA_ARGS__)
/**
 * Starts a router as tr_spawn_router does, and writes its ref to *ref on TR_OK only.
 * In a turn, or client's thread. Does not wait.
 *
 * The statuses are those of tr_try_spawn_group; TR_INVALID_ARGUMENT also means that the routes are
 * wrong: no message, the same message twice, or a key that is no integer, string, bytes or ref.
 */
#define tr_try_spawn_router(from, ref, actor, name, ...)                                           \
    TR_TRY_SPAWN_GROUP_(from, ref, tr_routes_##actor, actor, name, __VA_ARGS__)

/**
 * Says by which key a router of these actors routes each message:
 *     TR_ROUTES(ledger, TR_ROUTE_BY(buy, customer), TR_ROUTE_WITH(sell, key_of_sell));
 * At file scope.
 *
 * Put TR_ROUTES into the file that spawns the router. A message that is not in the list reaches no
 * member: tr_tell and tr_ask give TR_UNHANDLED.
 */
#define TR_ROUTES(actor, ...) TR_ROUTES_(actor, __VA_ARGS__, )
/**
 * The key is this field: an integer, bool, enum, str (NULL is a key too), bytes or ref.
 * A route of TR_ROUTES.
 *
 * Equal integers of different widths are the same key, and so are str and bytes with the same
 * contents.
 */
#define TR_ROUTE_BY(message, field) (TR_ROUTED_BY, message, field)
/**
 * The key is what `uint64_t function(const struct <message> *)` returns.
 * A route of TR_ROUTES.
 *
 * Senders call the function on any thread, and may call it several times for one message. Its
 * argument is the sender's struct or a copy of that struct. The result must depend on the message
 * alone, and the function must not keep a pointer to the message.
 */
#define TR_ROUTE_WITH(message, function) (TR_ROUTED_WITH, message, function)

/**
 * Returns how many members a group has now, or 0 if it has stopped or is no group.
 * In a turn, or client's thread. Does not wait.
 */
#define tr_group_count(from, group) TR_SPEAKER_(from, group_members)(from, tr_any(group), NULL, 0)
/**
 * Copies up to `max` refs of the members of a group. Returns how many members there are.
 * In a turn, or client's thread. Does not wait.
 */
#define tr_group_members(from, group, members, max)                                                \
    TR_SPEAKER_(from, group_members)(from, tr_any(group), members, max)

/**
 * Asks every member of a group, waits until each ask has an outcome, and returns how many members
 * there are:
 *     total_ask asked[8];
 *     size_t count = tr_gather(self, ledgers, asked, 8, get_total, .year = 2026);
 * In a turn. May wait.
 *
 * The first `max` members are asked. Each ask is written to `asks`, and tr_try_await of it does not
 * wait: if a member has stopped, failed or not replied in time, this is the outcome of its ask.
 * Returns 0 if the group has stopped, or if the ref is no group. If the turn cannot wait, or is
 * cancelled, the outcomes say so.
 */
#define tr_gather(self, group, asks, max, ...) TR_GATHER_(self, 0, group, asks, max, __VA_ARGS__, )
/** As tr_gather, but each ask has the timeout `timeout_ns`. In a turn. May wait. */
#define tr_gather_within(self, timeout_ns, group, asks, max, ...)                                  \
    TR_GATHER_(self, timeout_ns, group, asks, max, __VA_ARGS__, )

/** How a router finds the key of a message of one type. A table of routes ends with zeros. */
typedef struct tr_route {
    const tr_type *type;
    uint64_t (*key)(const void *message); /* NULL: the key is the field at `offset` */
    size_t offset;
} tr_route;

/** How a group is made: arguments of tr_self_spawn_group. */
typedef struct tr_group_args {
    size_t size; /* sizeof(tr_group_args) */
    int members;
    /* must live as long as the router; NULL: this is a group and no router */
    const tr_route *routes;
} tr_group_args;

TR_BEGIN_C
/**
 * See tr_spawn_group. `spawn` is used for each member; its name is the name of the group. In a
 * turn. Does not wait.
 */
tr_ref tr_self_spawn_group(tr_self *self, const tr_spawn_args *spawn, const tr_group_args *group);
/** See tr_try_spawn_group. In a turn. Does not wait. */
TR_MUST_CHECK tr_status tr_self_try_spawn_group(tr_self *self, const tr_spawn_args *spawn,
                                                const tr_group_args *group, uint64_t *ref_bits);
/** See tr_try_spawn_group. Client's thread. Does not wait. */
TR_MUST_CHECK tr_status tr_client_try_spawn_group(tr_client *client, const tr_spawn_args *spawn,
                                                  const tr_group_args *group, uint64_t *ref_bits);
/** See tr_group_members. In a turn. Does not wait. */
size_t tr_self_group_members(tr_self *self, tr_ref group, tr_ref *members, size_t max);
/** See tr_gather_within. timeout_ns 0: TR_ASK_NS. In a turn. May wait. */
size_t tr_self_gather(tr_self *self, tr_ref group, const tr_type *type, const void *message,
                      tr_time timeout_ns, tr_pending *asks, size_t max);
/** See tr_group_members. Client's thread. Does not wait. */
size_t tr_client_group_members(tr_client *client, tr_ref group, tr_ref *members, size_t max);
TR_END_C

#include <troupe/detail/group.h>

#endif
