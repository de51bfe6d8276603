/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The worker pool: actors by name, spread over all workers of a system.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_REQUEST(place_order, tr_done, (str, item));
 * TR_ACTOR(orders, place_order);
 *
 * static tr_next on_place_order(tr_self *self, const struct place_order *message)
 * {
 *     tr_log_info(self, "%s", message->item);
 *     return tr_reply(self, tr_done);
 * }
 *
 * TR_BEHAVIOR(orders, void, TR_ON(place_order, on_place_order));
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     orders_ref orders = tr_pool_spawn(self, orders, "orders-17"); // starts it, or finds it
 *     tr_await(self, tr_ask(self, orders, place_order, .item = "tea"));
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(shop, void, TR_ON(tr_args, on_args));
 * static const tr_child_spec pool[] = {TR_POOLED(orders, "orders-1"), {0}};
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, shop, .pool = pool);
 * }
 * ```
 *
 * A name has a position on a hash ring of the workers, so the actor of a name starts on the same
 * worker in every process and after every restart. The directory of the system knows on which
 * worker the actor is now. The ref of an actor of the pool is like any other. A spawn with a name
 * that has an actor returns that actor: there is only one, however many threads spawn the name at
 * the same time.
 *
 * Actors of the pool are children of /user, so tr_find(self, orders, "/user/orders-17") finds them
 * too. tr_system_options.pool_supervision says how they are supervised; without it, they are
 * supervised as all top-level actors. When a strategy restarts several actors together, actors of
 * the pool and other top-level actors do not count as siblings. Actors of the pool end with their
 * system: they do not keep a system with exit_when_empty alive, nor an app whose root has stopped.
 * An actor of the pool stays on the worker of its name. With TR_OPTIONS(.balances = true) in its
 * behavior it may move.
 */
#ifndef TROUPE_POOL_H
#define TROUPE_POOL_H

#include <troupe/self.h>

/**
 * Returns the actor with that name, an `orders_ref`; starts it if there is none:
 *     tr_pool_spawn(self, orders, "orders-17")
 *     tr_pool_spawn(self, orders, "orders-17", open_book, .year = 2024)    with its set-up message
 * In a turn. Does not wait.
 *
 * The name and the message are copied. If the actor exists, the message is ignored. The set-up of a
 * new actor runs later, on the worker of its name; messages that are sent to the actor meanwhile
 * wait. If the set-up fails, the log says so, and those messages are dead letters. If
 * tr_try_pool_spawn would return an error, ends the turn instead.
 */
#define tr_pool_spawn(self, actor, ...) TR_POOL_SPAWN_(self, actor, __VA_ARGS__)

/**
 * Spawns as tr_pool_spawn does, and writes the ref to *ref, an `orders_ref *`, on TR_OK only.
 * In a turn, or client's thread. Does not wait.
 *
 * TR_NAME_EXISTS: the actor with that name has another behavior, or is not of the pool.
 * TR_STOPPING: the system is stopping; or the actor with that name is stopping, and the name can be
 * spawned when it has stopped; or that actor has ended, but is TR_PERMANENT in the table and starts
 * again soon. The other statuses are those of tr_try_spawn: TR_NAME_INVALID (also for NULL),
 * TR_WRONG_TYPE, TR_LIMIT, TR_CANCELLED, TR_INVALID_ARGUMENT, TR_TOO_LARGE, TR_NO_MEMORY.
 * tr_spawn_wait waits for the set-up, also if another thread has spawned the actor.
 */
#define tr_try_pool_spawn(from, ref, actor, ...)                                                   \
    TR_TRY_POOL_SPAWN_(from, ref, NULL, actor, __VA_ARGS__)
/**
 * Spawns as tr_try_pool_spawn does, and describes a failure in *error, a `tr_error *`.
 * In a turn, or client's thread. Does not wait.
 */
#define tr_try_pool_spawn_error(from, ref, error, actor, ...)                                      \
    TR_TRY_POOL_SPAWN_(from, ref, error, actor, __VA_ARGS__)

/**
 * Returns the actor of the pool with that name, an `orders_ref`. Returns TR_NOBODY if no such actor
 * runs, or if it has another behavior than `actor`.
 * In a turn, or client's thread. Does not wait.
 */
#define tr_pool_find(from, actor, name)                                                            \
    actor##_ref_of(TR_SPEAKER_(from, pool_find)(from, &tr_behavior_##actor, name))

/**
 * An element of the table in tr_system_options.pool and tr_app.pool. The table ends with an element
 * of zeros.
 * At file scope.
 *
 * ```c
 * TR_MESSAGE(open_book, (i32, year));
 * static const tr_child_spec orders_of_the_pool[] = {
 *     TR_POOLED(orders, "orders-2"),
 *     TR_POOLED(orders, "orders-3", .setup = TR_WITH(open_book, .year = 1), .restart = TR_PERMANENT),
 *     {0},
 * };
 * ```
 *
 * Members of tr_child_spec may follow the name; is_significant has no effect here. The actors of
 * the table are made before any turn runs, in this order. An actor that is TR_PERMANENT keeps its
 * name while it waits to start again.
 */
#define TR_POOLED(...) TR_POOLED_(__VA_ARGS__, )

TR_BEGIN_C
/**
 * Returns the worker, counted from 0, on which an actor with this name starts in a pool of
 * `workers` workers.
 * Any thread. Does not wait.
 *
 * The result is the same in every process: it comes from a hash ring over crc32. If one worker is
 * added, at most about 1 / (workers + 1) of all names belong to another worker than before. The
 * call takes microseconds. The actor may have moved since its start: the directory knows where it
 * is.
 *
 * Negative results are a tr_status. TR_INVALID_ARGUMENT: no name, or less than one worker;
 * TR_NAME_INVALID; TR_LIMIT: more than TR_WORKERS_MAX workers.
 */
int tr_pool_worker_of(const char *name, int workers);

/**
 * These are the functions of tr_pool_spawn and tr_try_pool_spawn. args->worker is ignored, and
 * args->spec must be NULL.
 * In a turn. Does not wait.
 */
tr_ref tr_self_pool_spawn(tr_self *self, const tr_spawn_args *args);
TR_MUST_CHECK tr_status tr_self_try_pool_spawn(tr_self *self, const tr_spawn_args *args,
                                               uint64_t *ref_bits);
/** See tr_try_pool_spawn. Client's thread. Does not wait. */
TR_MUST_CHECK tr_status tr_client_try_pool_spawn(tr_client *client, const tr_spawn_args *args,
                                                 uint64_t *ref_bits);
/**
 * See tr_pool_find. If `behavior` is NULL, the actor may have any behavior. In a turn. Does not
 * wait.
 */
tr_ref tr_self_pool_find(tr_self *self, const tr_behavior *behavior, const char *name);
/**
 * See tr_pool_find. If `behavior` is NULL, the actor may have any behavior. Client's thread. Does
 * not wait.
 */
tr_ref tr_client_pool_find(tr_client *client, const tr_behavior *behavior, const char *name);
TR_END_C

#include <troupe/detail/pool.h>

#endif
