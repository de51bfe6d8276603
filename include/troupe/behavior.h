/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Behaviors: what an actor does with each message, as a constant table.
 *
 *     static tr_next on_deposit(struct account *account, const struct deposit *message);
 *
 *     TR_BEHAVIOR(account, struct account,
 *         TR_SETUP_WITH(open_account, set_up),
 *         TR_ON(deposit, on_deposit),
 *         TR_ON(tr_post_stop, on_stop),
 *         TR_OPTIONS(.is_pinned = true));
 *
 * A handler is a plain function that returns tr_next and takes any of
 *     tr_self *self,  the state *,  const struct <message> *
 * in this order; it leaves out what it does not need. The compiler checks each one against its
 * message and the state. Signals (the actor has started, has stopped, ...) are messages too.
 *
 * The second argument is the type of the state, `void` for none. Each incarnation begins with a
 * state of all zero, which the set-up fills in. The state and the message are borrowed until the
 * turn ends.
 */
#ifndef TROUPE_BEHAVIOR_H
#define TROUPE_BEHAVIOR_H

#include <troupe/supervision.h>

enum tr_next_code {
    TR_NEXT_SAME,
    TR_NEXT_STOP,
    TR_NEXT_UNHANDLED,
    TR_NEXT_BECOME,
    TR_NEXT_FAILED,
    TR_NEXT_STASHED
};

/** What a handler returns: what the actor does next. A struct, so that `return 0` is an error. */
typedef struct tr_next {
    enum tr_next_code code;
} tr_next;

/** Go on as before. */
#define TR_SAME TR_VALUE(tr_next, TR_NEXT_SAME)
/** Stop: first the children, then tr_post_stop. From a set-up: never start, without an error. */
#define TR_STOP TR_VALUE(tr_next, TR_NEXT_STOP)
/** This message is unhandled: a dead letter of the reason TR_UNHANDLED. */
#define TR_DECLINE TR_VALUE(tr_next, TR_NEXT_UNHANDLED)

/* ---- Signals: TR_ON handles them like any message; without a handler they are ignored. ---- */

/** The actor is running: before its first message, once per incarnation. */
TR_MESSAGE(tr_pre_start);
/**
 * The actor has stopped, whatever stopped it: last of all, once, if tr_pre_start came. An
 * incarnation that is followed by another gets tr_pre_restart instead.
 */
TR_MESSAGE(tr_post_stop);
/** To the old behavior: the actor is about to be restarted, for this cause. */
TR_MESSAGE(tr_pre_restart, (message(tr_error), cause));
/** To the new one: it was restarted. Comes after its tr_pre_start. */
TR_MESSAGE(tr_post_restart, (message(tr_error), cause));
/** To the parent: a child has failed, and this will become of it. Once for each failure. */
TR_MESSAGE(tr_child_failed, (ref, child), (enum_of(tr_directive), directive),
           (message(tr_error), cause));
/** An actor that this one watches has stopped; see tr_watch. */
TR_MESSAGE(tr_terminated, (ref, who));
/** No message came for this long; see tr_set_receive_timeout. */
TR_MESSAGE(tr_receive_timeout, (i64, idle_ns));
/** The first message to the root of an app, to each incarnation of it. */
TR_MESSAGE(tr_args, (list(str), argv));
/**
 * To those who subscribed: a message was not handled. `behavior` names the receiver's when it did
 * not know the message, else it is NULL; `reason` is a tr_status.
 */
TR_MESSAGE(tr_dead_letter, (str, type), (ref, from), (ref, to), (i32, reason), (i64, time_ns),
           (str, behavior));

/* ---- Options; zero is the default of each. ---- */

/** In which order an actor handles what has arrived. */
typedef enum tr_ordering {
    TR_BY_ARRIVAL, /* as it came */
    TR_BY_KIND     /* asks before notices */
} tr_ordering;

/** What happens to a message for which its receiver's mailbox has no room. */
typedef enum tr_overflow {
    TR_OVERFLOW_FAIL, /* the sender is told TR_MAILBOX_FULL */
    TR_DROP_NEWEST,   /* it is a dead letter; the sender is told TR_OK */
    TR_DROP_OLDEST,   /* the messages that wait longest are dead letters instead */
    TR_PARK           /* the sender waits for room; see tr_tell */
} tr_overflow;

/**
 * Members of TR_OPTIONS.
 *
 * A mailbox has two bounds, one of messages and one of memory, in which a message counts 64 bytes
 * and, when it is larger than 24, its own size as well. Replies, signals and timers take no room, nor does what is
 * stashed. The bounds are never exceeded, whoever sends from wherever, with two exceptions: what
 * tr_unstash brings back, and with TR_DROP_OLDEST up to TR_OVERDRAFT_MAX messages from other workers,
 * which wait to be taken in; the oldest are dropped then. From 4,096 messages and 256 KiB on (with TR_PARK, 512 messages and 32 KiB) a
 * mailbox may be called full up to 256 messages, or as many times 64 bytes, early.
 *
 * Budgets: TR_OPTIONS(.budget_bytes = 1 << 20, .tree_budget_cpu_ns = 5 * TR_SECOND). An actor that
 * is over one of its budgets fails with TR_OVER_BUDGET. One that no budget applies to, neither its
 * own nor an ancestor's for its tree, pays nothing for its messages.
 *
 * Bytes of an actor are: the actor itself (192), its state beyond 16 bytes, what tr_alloc and its
 * kin have taken from the system for it (in chunks, so somewhat more than was asked for), its timers
 * with their messages, and the messages that wait for it or are stashed, 64 bytes each and what
 * they carry. A message counts for its receiver as soon as the receiver's worker has it, and until
 * its turn begins. Not counted are scratch memory, the message in hand, buffers (tr_buffer, which
 * are shared), and the name.
 *
 * tr_alloc that would go over ends the turn with TR_OVER_BUDGET, tr_try_alloc gives NULL. Mail and
 * timers are taken, and the actor fails before its next turn: who sends is not to blame.
 *
 * CPU time is what the turns of an incarnation, its set-up included, have taken on its worker. It is
 * looked at when a turn has ended: a turn is never cut short.
 *
 * A tree is the actor and all below it. The actor fails when they go over together, and a restart
 * or an end of it stops all below it; its failure names who went over. A tr_alloc that goes over
 * ends the turn of its caller as well.
 * Each worker keeps less than 64 KiB of what changed to itself until it has nothing to do, so a tree
 * on several workers may go over by that much for each; CPU time is exact to a millisecond.
 *
 * An actor has the budgets of the behavior that was given to tr_spawn; tr_become does not change
 * them. The next incarnation begins with a CPU time of 0.
 */
typedef struct tr_options {
    tr_ordering ordering;       /* TR_BY_ARRIVAL */
    bool is_pinned;             /* never moves to another worker */
    bool balances;              /* of the pool: it may move, as all others may */
    uint32_t mailbox_max;       /* messages; 0: TR_MAILBOX_MAX; at most TR_MAILBOX_LARGEST */
    size_t mailbox_bytes_max;   /* 0: TR_MAILBOX_BYTES_MAX; at most TR_MAILBOX_BYTES_LARGEST */
    tr_overflow overflow;       /* TR_OVERFLOW_FAIL */
    size_t budget_bytes;        /* what the actor alone may hold; 0: no budget */
    size_t tree_budget_bytes;   /* what it and all below it may hold together; 0: no budget */
    tr_time budget_cpu_ns;      /* how long the actor alone may run in all; 0: no budget */
    tr_time tree_budget_cpu_ns; /* how long it and all below it may run together; 0: no budget */
    tr_restart restart;         /* which ends are followed by a new start; 0: TR_TRANSIENT */
} tr_options;

/* ---- The behavior and its clauses. ---- */

/** Defines a behavior: TR_BEHAVIOR(name, state type, clauses...); at most 63 clauses. */
#define TR_BEHAVIOR(name, ...) TR_BEHAVIOR_(name, __VA_ARGS__, )

/**
 * TR_ON(message, handler): this message goes to this handler. TR_ON(message, handler, .is_barrier =
 * true): and while its turn waits, no other request or message of this actor begins.
 */
#define TR_ON(message, ...) (TR_CLAUSE_ON, message, __VA_ARGS__, )
/**
 * TR_ON_BARRIER_IF(message, predicate, handler): as TR_ON, and a barrier for those messages of which
 * `bool predicate(const struct <message> *)` says so. It looks at nothing but the message, and is asked
 * when the turn first waits.
 */
#define TR_ON_BARRIER_IF(message, predicate, ...)                                                  \
    (TR_CLAUSE_BARRIER, message, predicate, __VA_ARGS__, )
/**
 * TR_ON_BATCH(message, handler): messages of this type that wait one behind the other come in one call,
 * as (tr_self *, state *, const struct <message> *const *messages, size_t count); the first two may be
 * left out. See troupe/batch.h. TR_ON_BATCH(message, handler, .batch_max = 100): at most so many.
 */
#define TR_ON_BATCH(message, ...) (TR_CLAUSE_BATCH, message, __VA_ARGS__, )
/**
 * TR_ON_BATCH_IF(message, filter, handler): of those messages of which `bool filter(const struct
 * <message> *)` says so, which looks at nothing but the message. Any other comes alone, in its place.
 */
#define TR_ON_BATCH_IF(message, filter, ...) (TR_CLAUSE_BATCH_IF, message, filter, __VA_ARGS__, )
/** TR_ON_ANY(handler): what no other clause handles; (tr_self *, state *, const tr_message *). */
#define TR_ON_ANY(...) (TR_CLAUSE_ANY, __VA_ARGS__, )
/** TR_SETUP(function): fills in the state of an incarnation, before tr_pre_start. */
#define TR_SETUP(...) (TR_CLAUSE_SETUP, tr_none, __VA_ARGS__, )
/** TR_SETUP_WITH(message, function): the same, from the message that was given to tr_spawn. */
#define TR_SETUP_WITH(message, ...) (TR_CLAUSE_SETUP, message, __VA_ARGS__, )
/** TR_OPTIONS(.is_pinned = true): members of tr_options. */
#define TR_OPTIONS(...) (TR_CLAUSE_OPTIONS, __VA_ARGS__)

/** TR_SUPERVISE(strategy, .restarts_max = 5): members of tr_supervision. */
#define TR_SUPERVISE(...) (TR_CLAUSE_SUPERVISE, __VA_ARGS__, )
/**
 * TR_CHILD(actor, "name", .restart = TR_TEMPORARY): a child that is started after the set-up of each
 * incarnation and before its tr_pre_start, in the order written; members of tr_child_spec. When one
 * does not start, the parent does not either. A child of that name that lives is left alone.
 */
#define TR_CHILD(...) (TR_CLAUSE_CHILD, __VA_ARGS__, )
/** The set-up message of a TR_CHILD: .setup = TR_WITH(label, .text = "anna"). */
#define TR_WITH(...) TR_WITH_(__VA_ARGS__)

/** A handler of a behavior: which messages, and a function that calls the handler with them. */
typedef struct tr_handler {
    const tr_type *type; /* NULL: any */
    tr_next (*call)(tr_self *self, void *state, const void *message);
    const char *name;                    /* of the handler */
    bool (*filter)(const void *message); /* which ones go together; NULL: all */
    bool is_batch;                       /* several may come in one call */
    bool is_barrier;                     /* no other ask or notice begins while its turn waits */
    uint32_t batch_max;                  /* messages of one call; 0: TR_BATCH_MAX, the most */
    bool (*barrier_if)(const void *message); /* which ones are barriers; NULL: as is_barrier says */
    bool interleaves; /* of a durable actor: no barrier, as all others of its rows are */
} tr_handler;

/**
 * What TR_BEHAVIOR makes. These tables are compiled into applications: members are only ever added
 * at the end, and the library looks at abi and the sizes before it reads further.
 */
struct tr_behavior {
    uint16_t abi;          /* TR_ABI */
    uint16_t handler_size; /* of a handler */
    uint32_t size;         /* of this struct */
    const char *name;
    const char *file;
    uint32_t line;
    const char *state_name;     /* "struct account" */
    size_t state_size;          /* 0 of void */
    const tr_handler *handlers; /* behind the last one is one of zeros */
    size_t handler_count;
    struct {
        const tr_type *type;                                              /* tr_none for TR_SETUP */
        tr_next (*call)(tr_self *self, void *state, const void *message); /* NULL: no set-up */
    } setup;
    tr_options options;
    tr_supervision supervision;
    const tr_child_spec *children; /* behind the last one is one of zeros */
    size_t child_count;
};

#include <troupe/detail/behavior.h>

#endif
