/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kinds of mail: what an envelope is to the actor that gets it.
 *
 * MAIL_KINDS below is the table. A new kind is one more row; there may be 64 rows. Code that
 * handles mail looks up the properties of a kind in its row, and does not compare kinds by their
 * order. A row has
 *   - the kind, ENVELOPE_<kind>;
 *   - its text, for lists of mail and traces of messages;
 *   - the mailbox in which mail of this kind waits for its turn, or TAKEN. TAKEN means that a
 *     function takes the mail when it arrives, and owns the envelope from then on. tr__mail_takers
 *     has this function. The function also gets mail to earlier tenants of the slot, and to actors
 *     that have stopped. If a later room must take the mail, add a case to a function that
 *     actor/cell/upcalls.h already declares, such as tr__waiters_mail;
 *   - its properties: members of enum mail_property, joined by |.
 * On every hot path the kind is a constant, and then a lookup in the table costs nothing. In other
 * places a lookup is a test of one bit.
 */
#ifndef ACTOR_MAIL_KIND_H
#define ACTOR_MAIL_KIND_H

#include "mem/envelope.h"

struct cell;
struct worker;

enum mail_property {
    /* mail of this kind is a message; each message counts in accepted = handled + dead + queued */
    MAIL_COUNTS = 1 << 0,
    /* takes capacity of the mailbox of its receiver */
    MAIL_TAKES_CAPACITY = 1 << 1,
    /* carries the number of the ask that it answers; answers come first in a cycle */
    MAIL_IS_ANSWER = 1 << 2,
    /* an actor that has got a PoisonPill (a sealed actor) accepts this kind, too */
    MAIL_PASSES_SEAL = 1 << 3,
    /* a turn with this mail may begin while another turn waits as a barrier */
    MAIL_PASSES_BARRIER = 1 << 4,
    /* when a durable turn sends this kind, the outbox holds the envelope until the commit */
    MAIL_IS_HELD = 1 << 5,
    /*
     * the runtime may send a copy and free the envelope itself, because no code keeps a pointer to
     * the envelope
     */
    MAIL_MAY_BE_COPIED = 1 << 6,
    /* payload.ask has the number of an ask, so the envelope has less space for its message */
    MAIL_HAS_NUMBER = 1 << 7
};

/** The mailbox of an actor in which mail of a kind waits. */
enum mail_box {
    MAIL_BOX_NONE,  /* for kinds that actors never get */
    MAIL_BOX_TAKEN, /* for kinds that wait in no mailbox: a function takes them */
    MAIL_BOX_REPLIES,
    MAIL_BOX_EXCEPTIONS,
    /* only for actors with TR_BY_KIND; for other actors, asks wait with the notices */
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
    /* From a timer. A barrier of a durable actor holds this mail: mail_holds_events. */           \
    KIND(EVENT,     "timer",     EVENTS,      MAIL_COUNTS | MAIL_PASSES_BARRIER)                   \
    /* A channel of this actor has something for the actor: see actor/cell/channel.h. */           \
    KIND(CHANNEL,   "channel",   CHANNELS,    0)                                                   \
    /* From the runtime, handled in order of arrival: see actor/cell/signal.h. */                  \
    KIND(SIGNAL,    "signal",    NOTICES,     MAIL_COUNTS)                                         \
    /* Orders. STOP is a PoisonPill. An outbox holds it behind the turn's earlier messages. */     \
    KIND(STOP,      "stop",      TAKEN,       MAIL_PASSES_SEAL | MAIL_IS_HELD)                     \
    KIND(KILL,      "kill",      TAKEN,       MAIL_PASSES_SEAL)                                    \
    KIND(SUSPEND,   "suspend",   TAKEN,       MAIL_PASSES_SEAL)                                    \
    KIND(RESUME,    "resume",    TAKEN,       MAIL_PASSES_SEAL)                                    \
    /* Mail that was cancelled in its mailbox. It is dropped when its turn comes. */               \
    KIND(VOID,      "void",      NOTICES,     MAIL_PASSES_BARRIER)                                 \
    /* From a client: asks an actor to report that it is up. */                                    \
    KIND(PROBE,     "probe",     NOTICES,     MAIL_PASSES_SEAL | MAIL_PASSES_BARRIER)              \
    /* To a client: how a spawn or a probe ended. Has a tr_outcome or a tr_probe. */               \
    KIND(OUTCOME,   "outcome",   NONE,        0)                                                   \
    /* An ASK that was answered, until its turn ends. Never sent. */                               \
    KIND(ANSWERED,  "answered",  NONE,        0)                                                   \
    /* WANTED: a sender waits for capacity. See actor/ask/waiters.h. */                            \
    /* GRANT answers a WANTED: with capacity, or with an error. BACK returns capacity. */          \
    KIND(WANTED,    "wanted",    TAKEN,       MAIL_PASSES_SEAL)                                    \
    KIND(GRANT,     "grant",     TAKEN,       MAIL_PASSES_SEAL)                                    \
    KIND(BACK,      "back",      TAKEN,       MAIL_PASSES_SEAL)                                    \
    /* TRACE, to the receiver of an ask: where is the request? See actor/ask/ask_trace.h. */       \
    /* TRACED, to the asker: answers a TRACE. */                                                   \
    KIND(TRACE,     "trace",     TAKEN,       MAIL_PASSES_SEAL)                                    \
    KIND(TRACED,    "traced",    TAKEN,       MAIL_PASSES_SEAL)                                    \
    /* Searches for a cycle of waiting actors. See actor/ask/ask_cycle.h. */                       \
    KIND(CYCLE,     "cycle",     TAKEN,       MAIL_PASSES_SEAL)                                    \
    /* The function that tr_blocking runs for a turn has returned: see actor/turn/blocking.h. */   \
    KIND(RETURNED,  "returned",  TAKEN,       MAIL_PASSES_SEAL)                                    \
    /* Asks an actor what it waits for. See actor/verbs/why.h. */                                  \
    KIND(WHY,       "why",       TAKEN,       MAIL_PASSES_SEAL | MAIL_HAS_NUMBER)                  \
    /* Notifies a durable actor that its changes are on disk: see actor/mail/outbox.h. */          \
    KIND(STORED,    "stored",    TAKEN,       MAIL_PASSES_SEAL)                                    \
    /* Brings a channel that another actor gives away: see actor/cell/channel.h. */                \
    KIND(HANDED,    "handed",    TAKEN,       MAIL_PASSES_SEAL)                                    \
    /* From a watcher: begins or ends its watch on this actor. See actor/life/watchers.h. */       \
    KIND(WATCH,     "watch",     TAKEN,       MAIL_PASSES_SEAL)                                    \
    KIND(UNWATCH,   "unwatch",   TAKEN,       MAIL_PASSES_SEAL)                                    \
    /* FAILED, to the parent: a child has failed. DECIDED, to the child: the decision. */          \
    /* DOWN and UP, to a member of a group: end this incarnation, begin the next one. */           \
    /* DOWN and UP, back to the parent: that is done. See actor/life/supervise.h. */               \
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
 * For each kind of mail, the function that takes mail of this kind. The element is NULL if mail of
 * this kind waits in a mailbox.
 */
extern mail_taker *const tr__mail_takers[MAIL_KIND_COUNT];
/**
 * For each kind of mail that waits in a mailbox, the function that takes the mail when its turn
 * comes, in place of a handler. The element is NULL if a handler is called.
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
 * Whether an envelope is a reply or an exception. An envelope of these kinds without a sender
 * answers no ask: see tr__durable_tell.
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
