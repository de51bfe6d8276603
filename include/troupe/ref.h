/* SPDX-License-Identifier: Apache-2.0 */
/**
 * References to actors, and the error that can name one.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(deposit, (u64, cents));
 * TR_ACTOR(account, deposit);
 *
 * static tr_next on_deposit(tr_self *self, const struct deposit *message)
 * {
 *     account_ref me = account_ref_of(tr_me(self));
 *     tr_log_info(self, "%d cents", (int)message->cents);
 *     return tr_is_same(me, tr_me(self)) && !tr_is_nobody(me) ? TR_SAME : TR_STOP;
 * }
 *
 * TR_BEHAVIOR(account, void, TR_ON(deposit, on_deposit));
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     account_ref alice = tr_spawn(self, account, "alice");
 *     tr_tell(self, alice, deposit, .cents = 5);         // any other message does not compile
 *     tr_tell(self, tr_any(alice), deposit, .cents = 5); // not checked by the compiler
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
 * A ref has 64 bits, is passed by value and names one actor forever. A program may keep the ref
 * when that actor has ended: a message to the ref is then a dead letter, and reaches no other
 * actor. All zero is nobody.
 *
 * Any message can be sent to a `tr_ref`; a message that its actor does not handle is a dead letter.
 * TR_ACTOR(account, deposit, get_balance) makes the type `account_ref`. Only the messages of this
 * list can be sent to an `account_ref`: any other does not compile.
 */
#ifndef TROUPE_REF_H
#define TROUPE_REF_H

#include <troupe/limits.h>
#include <troupe/status.h>

union tr_accepts_anything;
typedef union tr_ref {
    uint64_t bits;
    /* never read; its type says what may be sent */
    union tr_accepts_anything *accepts;
} tr_ref;

/** No actor. */
#define TR_NOBODY TR_VALUE(tr_ref, 0)

/** Returns the ref with these bits, which `ref.bits` gave. Any thread. Does not wait. */
TR_INLINE tr_ref tr_ref_from_bits(uint64_t bits)
{
    tr_ref ref;
    ref.bits = bits;
    return ref;
}

/** Returns a ref of any type as a plain tr_ref. Any thread. Does not wait. */
#define tr_any(ref) tr_ref_from_bits((ref).bits)
/** Returns whether two refs, of any types, name the same actor. Any thread. Does not wait. */
#define tr_is_same(a, b) ((a).bits == (b).bits)
/**
 * Returns whether a ref names no actor at all. If the result is false, the actor may still have
 * ended.
 * Any thread. Does not wait.
 */
#define tr_is_nobody(ref) ((ref).bits == 0)

/**
 * Declares an actor and the messages it accepts: TR_ACTOR(account, deposit, withdraw, get_balance);
 * At file scope.
 *
 * TR_ACTOR declares the type `account_ref`; the function `account_ref_of(tr_ref)`, for a ref that
 * is known to be of an account; and the behavior that TR_BEHAVIOR(account, ...) defines in one
 * source file. Put TR_ACTOR into a header if other files spawn the actor or send to it. The list
 * has at most 63 messages. A message may be declared after TR_ACTOR. The list may be empty:
 * TR_ACTOR(clock) declares an actor that accepts only messages of the runtime. A spawn compares the
 * list with the behavior. If a message of the list has no handler, the spawn writes a line to the
 * log, at the level debug.
 */
#define TR_ACTOR(...) TR_ACTOR_(__VA_ARGS__, )

/** Declares a behavior that is defined later or in another file, for tr_become. At file scope. */
#define TR_BEHAVIOR_DECLARE(name) TR_EXTERN_C const struct tr_behavior tr_behavior_##name

/** Why the failure of a child made its supervisor fail. */
typedef enum tr_error_reason {
    TR_BY_ESCALATION = 1, /* the directive was TR_ESCALATE, or the function `decide` failed */
    /* the child has used up its restarts, and the strategy is not TR_ONE_FOR_ONE */
    TR_BY_EXHAUSTION
} tr_error_reason;

/** A supervisor that failed because its child failed. */
typedef struct tr_error_link {
    tr_ref actor; /* the supervisor; TR_NOBODY: /user, whose failure shuts the system down */
    /* incarnation of the supervisor, counted from 1; 0: not known, or the supervisor is /user */
    uint32_t incarnation;
    tr_error_reason reason;
} tr_error_link;

/** What went wrong. An error is a plain value that owns nothing. */
typedef struct tr_error {
    tr_status status;
    int code;        /* the application's own code; 0: none */
    tr_ref actor;    /* the actor that failed; TR_NOBODY: no actor failed */
    char text[240];  /* the message text; a longer text is cut */
    char where[128]; /* the place of the error: a message, the actor's path, or file and line */
    /*
     * The members below are for supervisors: they describe the failure of an actor. For other
     * errors they are zero.
     */
    char path[128];       /* path of the actor; a longer path lacks its beginning */
    uint32_t incarnation; /* incarnation of the actor, counted from 1 */
    uint32_t link_count;  /* how many supervisors failed because of this failure */
    /** links[0] is the actor's parent, links[1] the parent of links[0], and so on. */
    tr_error_link links[TR_ERROR_LINKS_MAX];
} tr_error;

#include <troupe/detail/ref.h>

#endif
