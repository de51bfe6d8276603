/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Behaviors: which handler an actor calls for each message, as a constant table.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(open_account, (u64, cents));
 * TR_MESSAGE(deposit, (u64, cents));
 * TR_ACTOR(account, deposit);
 *
 * struct account {
 *     uint64_t cents;
 * };
 *
 * static tr_next set_up(struct account *account, const struct open_account *message)
 * {
 *     account->cents = message->cents;
 *     return TR_SAME;
 * }
 *
 * static tr_next on_deposit(struct account *account, const struct deposit *message)
 * {
 *     account->cents += message->cents;
 *     return account->cents > 100 ? TR_STOP : TR_SAME;
 * }
 *
 * TR_BEHAVIOR(account, struct account, TR_SETUP_WITH(open_account, set_up),
 *     TR_ON(deposit, on_deposit), TR_OPTIONS(.mailbox_max = 1000));
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     account_ref alice = tr_spawn(self, account, "alice", open_account, .cents = 98);
 *     tr_tell(self, alice, deposit, .cents = 5);
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(bank, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, bank);
 * }
 * ```
 *
 * A handler is a plain function that returns tr_next. Its parameters are any of
 *     tr_self *self,  the state *,  const struct <message> *
 * in this order; a handler leaves out the parameters that it does not need. The compiler checks
 * each handler against its message and the state. Signals (the actor has started, has stopped, ...)
 * are messages too.
 *
 * The second argument of TR_BEHAVIOR is the type of the state, `void` for none. The state of each
 * incarnation begins as zeros, and the set-up fills it in. State and message are borrowed until the
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

/**
 * The result of a handler: what the actor does next. It is a struct, so that `return 0` does not
 * compile.
 */
typedef struct tr_next {
    enum tr_next_code code;
} tr_next;

/** The actor continues with the same behavior. */
#define TR_SAME TR_VALUE(tr_next, TR_NEXT_SAME)
/**
 * The actor stops: first its children stop, then it gets tr_post_stop. If a set-up returns TR_STOP,
 * the actor never starts, which is no error.
 */
#define TR_STOP TR_VALUE(tr_next, TR_NEXT_STOP)
/** The handler declines this message: it is a dead letter with the reason TR_UNHANDLED. */
#define TR_DECLINE TR_VALUE(tr_next, TR_NEXT_UNHANDLED)

/* ---- Signals: messages of the runtime. Without a TR_ON they are ignored. ---- */

/** The actor has started. Comes once in each incarnation, before its first message. */
TR_MESSAGE(tr_pre_start);
/**
 * The actor has stopped, for whatever reason. This is its last message. It comes once, and only if
 * tr_pre_start came. An incarnation that is restarted gets tr_pre_restart instead.
 */
TR_MESSAGE(tr_post_stop);
/** To the incarnation that ends: the actor is about to be restarted, because of this cause. */
TR_MESSAGE(tr_pre_restart, (message(tr_error), cause));
/**
 * To the new incarnation: the actor was restarted, because of this cause. Comes after the
 * tr_pre_start of the new incarnation.
 */
TR_MESSAGE(tr_post_restart, (message(tr_error), cause));
/**
 * To the parent: a child has failed, and this directive applies to the child. Comes once for each
 * failure.
 */
TR_MESSAGE(tr_child_failed, (ref, child), (enum_of(tr_directive), directive),
           (message(tr_error), cause));
/** The actor `who`, which this actor watches, has stopped. See tr_watch. */
TR_MESSAGE(tr_terminated, (ref, who));
/** No message has come for `idle_ns`. See tr_set_receive_timeout. */
TR_MESSAGE(tr_receive_timeout, (i64, idle_ns));
/** The arguments of the program: the first message to each incarnation of the root of an app. */
TR_MESSAGE(tr_args, (list(str), argv));
/**
 * To subscribers of dead letters: a message was not handled. If the receiver has no handler for the message, `behavior`
 * is the name of the receiver's behavior, else NULL. `reason` is a tr_status. The paths and the size are as in
 * tr_dead_letter_record.
 */
TR_MESSAGE(tr_dead_letter, (str, type), (ref, from), (ref, to), (i32, reason), (i64, time_ns),
           (str, behavior), (str, from_path), (str, to_path), (u64, size));

/* ---- Options; zero is the default of each. ---- */

/** In which order an actor handles its messages. */
typedef enum tr_ordering {
    TR_BY_ARRIVAL, /* in the order of arrival */
    TR_BY_KIND     /* requests first, then messages of tr_tell */
} tr_ordering;

/** What happens to a message when the mailbox of its receiver is full. */
typedef enum tr_overflow {
    TR_OVERFLOW_FAIL, /* the sender gets TR_MAILBOX_FULL */
    TR_DROP_NEWEST,   /* the message is a dead letter; the sender gets TR_OK */
    TR_DROP_OLDEST,   /* the message is accepted; the oldest messages become dead letters instead */
    TR_PARK           /* the sender waits until there is capacity; see tr_tell */
} tr_overflow;

/**
 * The members of TR_OPTIONS.
 *
 * Mailbox. It has two bounds: messages and memory. A message counts 64 bytes; a message of more
 * than 24 bytes counts its own size as well. Replies, signals, timers and stashed messages do not
 * count. Two things may exceed the bounds. The first is messages that tr_unstash returns. The
 * second, with TR_DROP_OLDEST, is up to TR_OVERDRAFT_MAX messages from other workers, until the
 * receiver's worker takes them in and drops the oldest. A large mailbox may count as full although
 * up to 256 messages, or 256 times 64 bytes, would still fit. A mailbox is large if its bounds are
 * at least 4,096 messages and 256 KiB; with TR_PARK, if they are at least 512 messages and 32 KiB.
 *
 * Budgets: TR_OPTIONS(.budget_bytes = 1 << 20, .tree_budget_cpu_ns = 5 * TR_SECOND). An actor that
 * exceeds one of its budgets fails with TR_OVER_BUDGET. An actor that has no budget, and no
 * ancestor with a tree budget, pays nothing for its messages.
 *
 * Bytes that count for an actor: the actor itself (192); its state beyond 16 bytes; memory of
 * tr_alloc, which is taken in chunks and so is somewhat more than was asked for; its timers with
 * their messages; and the messages that wait for it or are stashed, 64 bytes each plus what they
 * contain. A message counts from the time the receiver's worker has it until its turn begins. Each
 * channel counts as well: its record (176), and the chunks of input that was not read and of output
 * that was not sent. These do not count: scratch memory; the message being handled; buffers,
 * because they are shared, even those that wait to be sent; other memory of TLS, HTTP and
 * datagrams; closed channels; the name.
 *
 * A tr_alloc that would exceed the budget ends the turn with TR_OVER_BUDGET, and tr_try_alloc
 * returns NULL. Messages, timers and the bytes of channels are accepted even if they exceed the
 * budget, because the sender is not at fault; the actor then fails before its next turn.
 *
 * CPU time is what the turns of an incarnation, with its set-up, have used on its worker. A budget
 * of CPU time is checked when a turn has ended: a turn is never interrupted.
 *
 * A tree is the actor and all actors below it. If they exceed a tree budget together, the actor
 * fails, and its restart or end stops all below it. The failure names the actor that exceeded the
 * budget. A tr_alloc that exceeds the tree budget ends the turn of its caller as well. Each worker
 * keeps changes of less than 64 KiB to itself until it is idle, so a tree on several workers may
 * exceed its budget of bytes by 64 KiB for each worker. CPU time is exact to a millisecond.
 *
 * An actor has the budgets of the behavior that was given to tr_spawn; tr_become does not change
 * them. The CPU time of each incarnation begins at 0.
 *
 * stack_bytes is for actors whose handlers, set-up or signals need a larger stack, for instance for
 * a large local variable or a library. The size is rounded up to a power of two. If stack_bytes of
 * the system is larger, the actor gets a stack of that size. The actor has a stack only while a
 * turn runs or waits, and only pages that were touched take memory. Such an actor does not move to
 * another worker, and each of its runs takes a little longer. Its stack has the size of the
 * behavior that was given to tr_spawn, also after tr_become. If stack_bytes is less than
 * TR_STACK_SIZE, the spawn gives TR_INVALID_ARGUMENT. If it is more than TR_STACK_LARGEST, the
 * spawn gives TR_LIMIT.
 */
typedef struct tr_options {
    tr_ordering ordering; /* 0: TR_BY_ARRIVAL */
    bool is_pinned;       /* the actor never moves to another worker */
    bool balances;        /* an actor of the pool may move, as other actors may */
    /* the bound in messages; 0: TR_MAILBOX_MAX; at most TR_MAILBOX_LARGEST */
    uint32_t mailbox_max;
    /* the bound in bytes; 0: TR_MAILBOX_BYTES_MAX; at most TR_MAILBOX_BYTES_LARGEST */
    size_t mailbox_bytes_max;
    tr_overflow overflow; /* 0: TR_OVERFLOW_FAIL */
    size_t budget_bytes;  /* the actor alone may hold at most this many bytes; 0: no budget */
    /* the actor and all actors below it may hold at most this many bytes; 0: no budget */
    size_t tree_budget_bytes;
    tr_time budget_cpu_ns; /* the actor alone may use at most this much CPU time; 0: no budget */
    /* the actor and all actors below it may use at most this much CPU time; 0: no budget */
    tr_time tree_budget_cpu_ns;
    /* when the actor starts again after its end; 0: TR_TRANSIENT */
    tr_restart restart;
    bool has_no_channels; /* the functions of net.h give TR_NOT_A_CHANNEL_ACTOR */
    size_t stack_bytes;   /* bytes of the stack of a turn; 0: as for all actors of the system */
    /*
     * The descriptor of the state, so that tools can show it: .shows = &tr_type_account, with
     * TR_DESCRIBE(account, owner, balance). Tools look between two turns, also while a turn waits.
     * TR_DESCRIBE may leave out members of the state. If the descriptor describes another struct
     * than the state, no actor of this behavior starts. NULL: the state is not shown. Durable
     * actors need not set `shows`: their kind has a descriptor of the state.
     */
    const tr_type *shows;
} tr_options;

/* ---- The behavior and its clauses. ---- */

/**
 * Defines a behavior: TR_BEHAVIOR(name, state type, clauses...); at most 63 clauses. At file scope.
 */
#define TR_BEHAVIOR(name, ...) TR_BEHAVIOR_(name, __VA_ARGS__, )

/**
 * TR_ON(message, handler): the handler for this message.
 * A clause of TR_BEHAVIOR.
 *
 * TR_ON(message, handler, .is_barrier = true): the handler is a barrier. While its turn waits, the
 * actor begins no other request or message.
 */
#define TR_ON(message, ...) (TR_CLAUSE_ON, message, __VA_ARGS__, )
/**
 * TR_ON_BARRIER_IF(message, predicate, handler): the handler for this message. It is a barrier for
 * those messages for which `bool predicate(const struct <message> *)` returns true.
 * A clause of TR_BEHAVIOR.
 *
 * The predicate depends only on the message. It is called at the first wait of the turn.
 */
#define TR_ON_BARRIER_IF(message, predicate, ...)                                                  \
    (TR_CLAUSE_BARRIER, message, predicate, __VA_ARGS__, )
/**
 * TR_ON_BATCH(message, handler): the handler gets several messages of this type in one call.
 * A clause of TR_BEHAVIOR.
 *
 * The messages wait directly one behind the other in the mailbox when the turn begins; see batch.h.
 * The handler's parameters are (tr_self *, state *, const struct <message> *const *messages, size_t
 * count); the first two may be left out. TR_ON_BATCH(message, handler, .batch_max = 100) limits the
 * number of messages.
 */
#define TR_ON_BATCH(message, ...) (TR_CLAUSE_BATCH, message, __VA_ARGS__, )
/**
 * TR_ON_BATCH_IF(message, filter, handler): as TR_ON_BATCH, but only messages for which `bool
 * filter(const struct <message> *)` returns true come in batches. The handler gets every other
 * message of this type alone, and the order of the messages stays as it is.
 * A clause of TR_BEHAVIOR.
 *
 * The filter depends only on the message.
 */
#define TR_ON_BATCH_IF(message, filter, ...) (TR_CLAUSE_BATCH_IF, message, filter, __VA_ARGS__, )
/**
 * TR_ON_ANY(handler): the handler for messages without another clause. Its parameters are
 * (tr_self *, state *, const tr_message *).
 * A clause of TR_BEHAVIOR.
 */
#define TR_ON_ANY(...) (TR_CLAUSE_ANY, __VA_ARGS__, )
/**
 * TR_SETUP(function): fills in the state of each incarnation, before tr_pre_start.
 * A clause of TR_BEHAVIOR.
 */
#define TR_SETUP(...) (TR_CLAUSE_SETUP, tr_none, __VA_ARGS__, )
/**
 * TR_SETUP_WITH(message, function): as TR_SETUP, but the function also gets the set-up message that
 * was given to tr_spawn.
 * A clause of TR_BEHAVIOR.
 */
#define TR_SETUP_WITH(message, ...) (TR_CLAUSE_SETUP, message, __VA_ARGS__, )
/** TR_OPTIONS(.is_pinned = true): members of tr_options. A clause of TR_BEHAVIOR. */
#define TR_OPTIONS(...) (TR_CLAUSE_OPTIONS, __VA_ARGS__)

/**
 * TR_SUPERVISE(strategy, .restarts_max = 5): members of tr_supervision. A clause of TR_BEHAVIOR.
 */
#define TR_SUPERVISE(...) (TR_CLAUSE_SUPERVISE, __VA_ARGS__, )
/**
 * TR_CHILD(actor, "name", .restart = TR_TEMPORARY): a child that starts with its parent; members of
 * tr_child_spec.
 * A clause of TR_BEHAVIOR.
 *
 * Children start in the order written, after the set-up of each incarnation and before its
 * tr_pre_start. If a child does not start, the parent does not start either. The children of a
 * behavior also start when the actor becomes this behavior. If a child of that name is alive then,
 * it stays, and no other is started.
 */
#define TR_CHILD(...) (TR_CLAUSE_CHILD, __VA_ARGS__, )
/** The set-up message of a TR_CHILD: .setup = TR_WITH(label, .text = "anna"). At file scope. */
#define TR_WITH(...) TR_WITH_(__VA_ARGS__, )

/** An entry of the handler table: a message type, and a function that calls the handler. */
typedef struct tr_handler {
    const tr_type *type; /* NULL: any message */
    tr_next (*call)(tr_self *self, void *state, const void *message);
    const char *name;                    /* name of the handler */
    bool (*filter)(const void *message); /* which messages may be in a batch; NULL: all */
    bool is_batch;                       /* one call may get several messages */
    bool is_barrier; /* the actor begins no other message while this handler's turn waits */
    /* one call gets at most this many messages; 0: TR_BATCH_MAX, which is the largest value */
    uint32_t batch_max;
    /* for which messages the handler is a barrier; NULL: see is_barrier */
    bool (*barrier_if)(const void *message);
    bool interleaves; /* this handler of a durable actor is no barrier */
    /* the method of HTTP that the handler is for: "GET"; NULL: the handler is not for HTTP */
    const char *method;
    const char *path;  /* the path that a handler for HTTP is for */
    const char *place; /* the directory whose files TR_FILES serves */
    /* the form of the errors of a handler for HTTP; NULL: {"error":{"code":404,"message":"..."}} */
    const struct tr_http_face_ *face;
} tr_handler;

/**
 * What TR_BEHAVIOR makes. An application may have been compiled with an older header than the
 * library. So new versions add members only at the end, and the library checks abi and the sizes
 * before it reads other members.
 */
struct tr_behavior {
    uint16_t abi;          /* TR_ABI */
    uint16_t handler_size; /* sizeof(tr_handler) */
    uint32_t size;         /* sizeof(struct tr_behavior) */
    const char *name;
    const char *file;
    uint32_t line;
    const char *state_name;     /* "struct account" */
    size_t state_size;          /* 0 of void */
    const tr_handler *handlers; /* the last one is followed by zeros */
    size_t handler_count;
    struct {
        /* the type of the set-up message; tr_none for TR_SETUP */
        const tr_type *type;
        /* the function of the set-up; NULL: none */
        tr_next (*call)(tr_self *self, void *state, const void *message);
    } setup;
    tr_options options;
    tr_supervision supervision;
    const tr_child_spec *children; /* the last one is followed by zeros */
    size_t child_count;
};

#include <troupe/detail/behavior.h>

#endif
