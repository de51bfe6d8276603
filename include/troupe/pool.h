/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The worker pool: actors by name over all workers of a process.
 *
 *     orders_ref orders = tr_pool_spawn(self, orders, "orders-17");
 *     tr_tell(self, orders, place_order, .item = "tea");
 *
 * A name has a place on a hash ring of the workers, so it begins on the same worker in every process
 * and after every restart; where an actor is now, the directory of the system says. Its ref is one
 * like any other, wherever it lives. Who spawns a name that is there gets the actor that is there: one
 * is made, however many spawn it at the same time, on all workers and threads.
 *
 * Actors of the pool are children of /user, so tr_find(self, orders, "/user/orders-17") finds them too.
 * tr_system_options.pool_supervision says what becomes of those that fail, and without it what is said
 * for all top-level actors; when several are restarted together, the pool and the others at the top do
 * not go along with each other. They end with their system: a system that shuts down when its last actor
 * has stopped does not wait for the pool, and neither does an app whose root has stopped. They stay on
 * the worker of their name unless their behavior says TR_OPTIONS(.balances = true).
 */
#ifndef TROUPE_POOL_H
#define TROUPE_POOL_H

#include <troupe/self.h>

/**
 * The actor of that name, an `orders_ref`, started if there is none:
 *     tr_pool_spawn(self, orders, "orders-17")
 *     tr_pool_spawn(self, orders, "orders-17", open_book, .year = 2024)    with its set-up message
 *
 * The name and the message are copied; of an actor that is there the message is ignored. Its set-up
 * runs later, on the worker of its name; what is sent meanwhile waits. One that fails is logged, and
 * what was sent is dead letters. Ends the turn where tr_try_pool_spawn would give an error.
 */
#define tr_pool_spawn(self, actor, ...) TR_POOL_SPAWN_(self, actor, __VA_ARGS__)

/**
 * As tr_pool_spawn, into *ref, an `orders_ref *`, which is written on TR_OK only.
 *
 * TR_NAME_EXISTS: the name is another behavior's, or that of an actor that was not spawned by the pool.
 * TR_STOPPING: the system is stopping; or the actor of that name is, and another can be spawned when it
 * has; or it has ended and, being a TR_PERMANENT one of the table, is about to come back: a little later
 * it is there. Otherwise as tr_try_spawn: TR_NAME_INVALID (also for NULL), TR_WRONG_TYPE, TR_LIMIT, TR_CANCELLED,
 * TR_INVALID_ARGUMENT, TR_TOO_LARGE, TR_NO_MEMORY. tr_spawn_wait waits for the set-up of one that this
 * client has spawned, or somebody else.
 */
#define tr_try_pool_spawn(from, ref, actor, ...)                                                   \
    TR_TRY_POOL_SPAWN_(from, ref, NULL, actor, __VA_ARGS__)
/** As tr_try_pool_spawn, with the story in *error, a `tr_error *`, when it fails. */
#define tr_try_pool_spawn_error(from, ref, error, actor, ...)                                      \
    TR_TRY_POOL_SPAWN_(from, ref, error, actor, __VA_ARGS__)

/**
 * The actor of the pool of that name, an `orders_ref`; nobody when none runs, or when it has another
 * behavior than that of `actor`.
 */
#define tr_pool_find(from, actor, name)                                                            \
    actor##_ref_of(TR_SPEAKER_(from, pool_find)(from, &tr_behavior_##actor, name))

/**
 * An element of the table in tr_system_options.pool and tr_app.pool:
 *     static const tr_child_spec pool[] = {
 *         TR_POOLED(payments, "payments"),
 *         TR_POOLED(orders, "orders-1", .restart = TR_PERMANENT, .setup = TR_WITH(open_book, .year = 1)),
 *         {0},
 *     };
 * outside of functions. Members of tr_child_spec may follow the name; is_significant means nothing here.
 * They are there before any turn runs, in this order. One that is TR_PERMANENT has its name also while it
 * waits to come back, until it ends for good.
 */
#define TR_POOLED(...) TR_POOLED_(__VA_ARGS__, )

TR_BEGIN_C
/**
 * The worker, from 0, on which an actor of this name starts in a pool of so many workers: the same in
 * every process, as each name belongs to one place of a hash ring over crc32. With one worker more, at
 * most about 1 / (workers + 1) of all names belong to another one.
 *
 * Where an actor is now, the directory says: it may have moved.
 *
 * Negative, a tr_status: TR_INVALID_ARGUMENT: no name, or less than one worker; TR_NAME_INVALID;
 * TR_LIMIT: more than TR_WORKERS_MAX workers. Any thread. Takes microseconds: it needs no pool, and
 * keeps nothing.
 */
int tr_pool_worker_of(const char *name, int workers);

/* What the macros above call. args->worker is not looked at, and args->spec must be NULL. */
tr_ref tr_self_pool_spawn(tr_self *self, const tr_spawn_args *args);
TR_MUST_CHECK tr_status tr_self_try_pool_spawn(tr_self *self, const tr_spawn_args *args,
                                               uint64_t *ref_bits);
TR_MUST_CHECK tr_status tr_client_try_pool_spawn(tr_client *client, const tr_spawn_args *args,
                                                 uint64_t *ref_bits);
/** behavior NULL: any. */
tr_ref tr_self_pool_find(tr_self *self, const tr_behavior *behavior, const char *name);
tr_ref tr_client_pool_find(tr_client *client, const tr_behavior *behavior, const char *name);
TR_END_C

#include <troupe/detail/pool.h>

#endif
