/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kinds of mail: what an envelope is to the actor that gets it.
 *
 * MAIL_KINDS below is the table. A new kind is one more row; there may be 64 rows. Code that
 * handles mail looks up the row and does not compare kinds by their order. A row has
 *   - the kind, ENVELOPE_<kind>;
 *   - its text, for lists of mail and traces of messages;
 *   - the mailbox in which mail of this kind waits for its turn, or TAKEN. TAKEN means that a
 *     function takes the mail when it arrives; tr__mail_takers names the function. The function
 *     owns the envelope. That function also gets mail to earlier tenants of the slot, and to actors
 *     that have stopped. For a function of a later room, add a case to one that
 *     actor/cell/upcalls.h already declares, such as tr__waiters_mail;
 *   - its properties: members of enum mail_property, joined by |.
 * Where the kind is a constant, which it is on every hot path, a lookup in the table costs nothing.
 * Elsewhere a lookup is a test of one bit.
 */
#ifndef ACTOR_MAIL_KIND_H
#define ACTOR_MAIL_KIND_H

#include "mem/envelope.h"

struct cell;
struct worker;

enum mail_property {
    /* is a message: counted in accepted = handled + dead + queued */
    MAIL_COUNTS = 1 << 0,
    /* takes capacity of the mailbox of its receiver */
    MAIL_TAKES_CAPACITY = 1 << 1,
    /* carries the number of the ask that it answers; answers come first in a cycle */
    MAIL_IS_ANSWER = 1 << 2,
    /* accepted even by a sealed actor: one that has received a PoisonPill */
    MAIL_PASSES_SEAL = 1 << 3,
    /* a turn with this mail may begin while another turn waits as a barrier */
    MAIL_PASSES_BARRIER = 1 << 4,
    /* when a durable turn sends this kind, the envelope waits in the outbox until the commit */
    MAIL_IS_HELD = 1 << 5,
    /* no pointer to the envelope is kept, so a copy may be sent in its place */
    MAIL_MAY_BE_COPIED = 1 << 6,
    /* payload.ask has the number of an ask, so there is less space for the message inside */
    MAIL_HAS_NUMBER = 1 << 7
};

/** The mailbox of an actor in which mail of a kind waits. */
enum mail_box {
    MAIL_BOX_NONE,  /* for kinds that actors never get */
    MAIL_BOX_TAKEN, /* for kinds that wait in no mailbox: a function takes them */
    MAIL_BOX_REPLIES,
    MAIL_BOX_EXCEPTIONS,
    /* for actors with TR_BY_KIND; asks of other actors wait with the notices */
    MAIL_BOX_REQUESTS,
    MAIL_BOX_NOTICES,
    MAIL_BOX_EVENTS,
    /* the last mailbox in a cycle; see actor/cell/channel.h */
    MAIL_BOX_CHANNELS
};

#define MAIL_ANSWER                                                                                \
    (MAIL_COUNTS | MAIL_IS_ANSWER | MAIL_PASSES_SEAL | MAIL_PASSES_BARRIER | MAIL_IS_HELD |        \
     MAIL_MAY_BE_COPIED | MAIL_HAS_NUMBER)
#define MAIL_ORDINARY (MAIL_COUNTS | MAIL_TAKES_CAPACITY | MAIL_IS_HELD | MAIL_MAY_BE_COPIED)

/* clang-format off */
#define MAIL_KINDS(KIND)                                                                           \
    /*   kind       text         mailbox      properties */                                        \
    KIND(REPLY,     "reply",     REPLIES,     MAIL_ANSWER)                                         \
    KIND(EXCEPTION, "failure",   EXCEPTIONS,  MAIL_ANSWER)                                         \
    KIND(ASK,       "ask",       REQUESTS,    MAIL_ORDINARY | MAIL_HAS_NUMBER)                     \
    KIND(NOTICE,    "tell",      NOTICES,     MAIL_ORDINARY)                                       \
    /* From a timer. A barrier of a durable actor holds it: mail_holds_events. */                  \
    KIND(EVENT,     "timer",     EVENTS,      MAIL_COUNTS | MAIL_PASSES_BARRIER)                   \
    /* A channel of the actor has something for it: see actor/cell/channel.h. */                   \
    KIND(CHANNEL,   "channel",   CHANNELS,    0)                                                   \
    /* From the runtime, handled in order of arrival: see actor/cell/signal.h. */                  \
    KIND(SIGNAL,    "signal",    NOTICES,     MAIL_COUNTS)                                         \
    /* Orders. STOP is a PoisonPill; an outbox holds it behind earlier messages of the turn. */    \
    KIND(STOP,      "stop",      TAKEN,       MAIL_PASSES_SEAL | MAIL_IS_HELD)                     \
    KIND(KILL,      "kill",      TAKEN,       MAIL_PASSES_SEAL)                                    \
    KIND(SUSPEND,   "suspend",   TAKEN,       MAIL_PASSES_SEAL)                                    \
    KIND(RESUME,    "resume",    TAKEN,       MAIL_PASSES_SEAL)                                    \
    /* Mail that was cancelled while it was queued: dropped when its turn comes. */                \
    KIND(VOID,      "void",      NOTICES,     MAIL_PASSES_BARRIER)                                 \
    /* To an actor: asks it to report when it is up. */                                            \
    KIND(PROBE,     "probe",     NOTICES,     MAIL_PASSES_SEAL | MAIL_PASSES_BARRIER)              \
    /* To a client: how a spawn or a probe ended; holds a tr_outcome or a tr_probe. */             \
    KIND(OUTCOME,   "outcome",   NONE,        0)                                                   \
    /* An ask during its turn, after it was answered. Never sent. */                               \
    KIND(ANSWERED,  "answered",  NONE,        0)                                                   \
    /* WANTED: a sender waits for capacity. See actor/ask/waiters.h. */                            \
    /* GRANT, the answer: capacity, or the reason why not. BACK returns unused capacity. */        \
    KIND(WANTED,    "wanted",    TAKEN,       MAIL_PASSES_SEAL)                                    \
    KIND(GRANT,     "grant",     TAKEN,       MAIL_PASSES_SEAL)                                    \
    KIND(BACK,      "back",      TAKEN,       MAIL_PASSES_SEAL)                                    \
    /* TRACE, to an actor that was asked: where is this request? See actor/ask/ask_trace.h. */     \
    /* TRACED, to the asker: the answer to a TRACE. */                                             \
    KIND(TRACE,     "trace",     TAKEN,       MAIL_PASSES_SEAL)                                    \
    KIND(TRACED,    "traced",    TAKEN,       MAIL_PASSES_SEAL)                                    \
    /* Searches a cycle of actors that wait for each other. See actor/ask/ask_cycle.h. */          \
    KIND(CYCLE,     "cycle",     TAKEN,       MAIL_PASSES_SEAL)                                    \
    /* The function that tr_blocking runs for a turn has returned: see actor/turn/blocking.h. */   \
    KIND(RETURNED,  "returned",  TAKEN,       MAIL_PASSES_SEAL)                                    \
    /* Asks an actor what it waits for. See actor/verbs/why.h. */                                  \
    KIND(WHY,       "why",       TAKEN,       MAIL_PASSES_SEAL | MAIL_HAS_NUMBER)                  \
    /* What a durable actor has written is on disk: see actor/mail/outbox.h. */                    \
    KIND(STORED,    "stored",    TAKEN,       MAIL_PASSES_SEAL)                                    \
    /* A channel that its actor gives to this one: see actor/cell/channel.h. */                    \
    KIND(HANDED,    "handed",    TAKEN,       MAIL_PASSES_SEAL)                                    \
    /* From an actor that wants to be notified of an end: see actor/life/watchers.h. */            \
    KIND(WATCH,     "watch",     TAKEN,       MAIL_PASSES_SEAL)                                    \
    KIND(UNWATCH,   "unwatch",   TAKEN,       MAIL_PASSES_SEAL)                                    \
    /* FAILED, to the parent: a child has failed. DECIDED, to the child: what becomes of it. */    \
    /* DOWN and UP, to a child that is restarted with others: stop, or start again. */             \
    /* DOWN and UP, back to the parent: the child has done so. See actor/life/supervise.h. */      \
    KIND(FAILED,    "failed",    TAKEN,       MAIL_PASSES_SEAL)                                    \
    KIND(DECIDED,   "decided",   TAKEN,       MAIL_PASSES_SEAL)                                    \
    KIND(DOWN,      "down",      TAKEN,       MAIL_PASSES_SEAL)                                    \
    KIND(UP,        "up",        TAKEN,       MAIL_PASSES_SEAL)
/* clang-format on */

#define MAIL_KIND_NAME(kind, text, box, properties) ENVELOPE_##kind,
enum envelope_kind { MAIL_KINDS(MAIL_KIND_NAME) MAIL_KIND_COUNT };
#undef MAIL_KIND_NAME

/** A function that takes an envelope which has arrived. Owner only. */
typedef void mail_taker(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * By kind: the function that takes mail of this kind; NULL: mail of this kind waits in a mailbox.
 */
extern mail_taker *const tr__mail_takers[MAIL_KIND_COUNT];
/**
 * By kind, for mail that waits in a mailbox: the function that takes it when its turn comes, in
 * place of a handler; NULL: a handler is called.
 */
extern mail_taker *const tr__mail_turns[MAIL_KIND_COUNT];

static_assert(MAIL_KIND_COUNT <= 64, "a set of kinds is a word");

/** Returns the text of a kind, such as "tell". Any thread. */
const char *tr__kind_text(enum envelope_kind kind);

#define MAIL_KIND_BIT(kind, text, box, properties)                                                 \
    | ((properties)&property ? UINT64_C(1) << ENVELOPE_##kind : 0)
/** Whether mail of a kind has a property. */
ATOM_INLINE bool kind_has(uint32_t kind, enum mail_property property)
{
    const uint64_t kinds = 0 MAIL_KINDS(MAIL_KIND_BIT);
    if (MAIL_KIND_COUNT <= 32) /* shorter code */
        return (uint32_t)kinds >> kind & 1;
    return kinds >> kind & 1;
}
#undef MAIL_KIND_BIT

#define MAIL_KIND_BOX(kind, text, box, properties) MAIL_BOX_##box,
/** Returns the mailbox in which mail of a kind waits. */
ATOM_INLINE enum mail_box kind_box(uint32_t kind)
{
    static const unsigned char boxes[] = {MAIL_KINDS(MAIL_KIND_BOX)};
    return (enum mail_box)boxes[kind];
}
#undef MAIL_KIND_BOX

/** Whether an envelope counts as a message. */
ATOM_INLINE bool mail_counts(const struct envelope *envelope)
{
    return kind_has(envelope->kind, MAIL_COUNTS);
}

/** Whether an envelope takes capacity of its receiver's mailbox. */
ATOM_INLINE bool mail_takes_capacity(const struct envelope *envelope)
{
    return kind_has(envelope->kind, MAIL_TAKES_CAPACITY);
}

/**
 * Whether an envelope is a reply or an exception. One without a sender answers no ask: see
 * tr__durable_tell.
 */
ATOM_INLINE bool mail_is_answer(const struct envelope *envelope)
{
    return kind_has(envelope->kind, MAIL_IS_ANSWER);
}

static_assert(offsetof(struct envelope, block_class) == offsetof(struct envelope, kind) + 1,
              "mail_is_notice looks at both");

/** Whether an envelope is the most common message: a notice that is inside its envelope. */
ATOM_INLINE bool mail_is_notice(const struct envelope *envelope)
{
    static const unsigned char notice[2] = {ENVELOPE_NOTICE, ENVELOPE_NO_BLOCK};
    return memcmp((const char *)envelope + offsetof(struct envelope, kind), notice, 2) == 0;
}

/** Whether an envelope is a request whose message is inside the envelope. */
ATOM_INLINE bool mail_is_request(const struct envelope *envelope)
{
    static const unsigned char request[2] = {ENVELOPE_ASK, ENVELOPE_NO_BLOCK};
    return memcmp((const char *)envelope + offsetof(struct envelope, kind), request, 2) == 0;
}

#endif
