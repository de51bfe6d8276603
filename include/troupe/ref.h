/* SPDX-License-Identifier: Apache-2.0 */
/**
 * References to actors, and the error that can name one.
 *
 * A ref is 64 bits, is passed by value, names one actor for ever and may be kept when that actor
 * is long gone: what is sent to it then is a dead letter and reaches nobody else. All zero is
 * nobody.
 *
 * A `tr_ref` may be told anything; what its actor does not know is a dead letter. TR_ACTOR(account,
 * deposit, get_balance) makes the type `account_ref`, which may be told what is in that list:
 * anything else does not compile.
 */
#ifndef TROUPE_REF_H
#define TROUPE_REF_H

#include <troupe/limits.h>
#include <troupe/status.h>

union tr_accepts_anything;
typedef union tr_ref {
    uint64_t bits;
    union tr_accepts_anything *accepts; /* Never read: its type says what may be sent. */
} tr_ref;

/** No actor. */
#define TR_NOBODY TR_VALUE(tr_ref, 0)

/** The ref of these bits, as `ref.bits` gave them. Any thread. */
TR_INLINE tr_ref tr_ref_from_bits(uint64_t bits)
{
    tr_ref ref;
    ref.bits = bits;
    return ref;
}

/** The plain tr_ref of a ref, typed or not. */
#define tr_any(ref) tr_ref_from_bits((ref).bits)
/** Whether two refs, typed or not, name the same actor. */
#define tr_is_same(a, b) ((a).bits == (b).bits)
/** Whether a ref names no actor at all. It does not say whether an actor lives. */
#define tr_is_nobody(ref) ((ref).bits == 0)

/**
 * Declares an actor: TR_ACTOR(account, deposit, withdraw, get_balance);
 *
 * Gives the type `account_ref`; the function `account_ref_of(tr_ref)`, for a ref whose actor is
 * known to be an account; and a declaration of the behavior that TR_BEHAVIOR(account, ...) defines
 * in some source file. It belongs in a header when other files spawn the actor or talk to it. The
 * messages, at most 63, need not be declared yet. Spawning compares the list with the behavior: a
 * message that is declared here and has no handler is a line of the log, at the level debug.
 */
#define TR_ACTOR(...) TR_ACTOR_(__VA_ARGS__, )

/** Declares a behavior that is defined further down or elsewhere, so that tr_become can name it. */
#define TR_BEHAVIOR_DECLARE(name) TR_EXTERN_C const struct tr_behavior tr_behavior_##name

/** Why a supervisor failed because a child of it had. */
typedef enum tr_error_reason {
    TR_BY_ESCALATION = 1, /* it escalates: TR_ESCALATE, or a decider that failed */
    TR_BY_EXHAUSTION      /* the restarts of that child are used up, and those of a group with it */
} tr_error_reason;

/** A supervisor that failed because a child of it had. */
typedef struct tr_error_link {
    tr_ref actor;         /* nobody: /user, and so the system shuts down */
    uint32_t incarnation; /* Of it, the first is 1; 0: not known, or /user. */
    tr_error_reason reason;
} tr_error_link;

/** What went wrong, with its story: a plain value that owns nothing. */
typedef struct tr_error {
    tr_status status;
    int code;        /* Of the application; 0 when there is none. */
    tr_ref actor;    /* Whom it happened to; nobody when it was no actor. */
    char text[240];  /* Why, in words; cut when it is longer. */
    char where[128]; /* The message in hand, the actor's path, or file and line of what is wrong. */
    /* Of the failure of an actor, for its supervisors; otherwise all of this is zero. */
    char path[128];       /* The actor's, since its ref tells nothing any more; cut at the front. */
    uint32_t incarnation; /* Of the actor, the first is 1. */
    uint32_t link_count;  /* Supervisors that have failed by it, each by the one below it. */
    /** The first of them: links[0] is the actor's parent, links[1] the parent of that, and so on. */
    tr_error_link links[TR_ERROR_LINKS_MAX];
} tr_error;

#include <troupe/detail/ref.h>

#endif
