/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Who decides that a durable actor stops: the authority, by notes that may get lost on the way.
 *
 * An actor sends intents (sleep, destroy, ended), its authority commands (stop to sleep, stop to be
 * destroyed). Each is a note with (actor, generation, index). A sender keeps a note until it is
 * acknowledged and sends it again; a receiver takes the notes of its generation in the order of their
 * index, each once. So both ends do the same whatever the connection loses, doubles, or puts in
 * another order, and after it was cut: each sends again what it has not seen acknowledged.
 *
 * Both ends are plain structs without memory or clocks of their own. In one process the host carries
 * a note from one to the other by a call; in a cluster a connection does. A generation has at most
 * NOTES_MAX notes in each direction, because each kind is sent once: there is nothing to bound.
 *
 * docs/design/sleep-machine.md says why this is apart even within one process.
 */
#ifndef SLEEP_AUTHORITY_H
#define SLEEP_AUTHORITY_H

#include "sleep/sleep.h"

/** One start of an actor: the epoch of its store, and a count of starts in it. */
struct generation {
    uint64_t epoch;
    uint64_t counter;
};

/** Less than, equal to, or greater than 0, as `left` is older, the same, or newer. */
static inline int generation_compare(struct generation left, struct generation right)
{
    if (left.epoch != right.epoch)
        return left.epoch < right.epoch ? -1 : 1;
    if (left.counter != right.counter)
        return left.counter < right.counter ? -1 : 1;
    return 0;
}

enum note_kind {
    NOTE_SLEEP, /* intents, from the actor: the steps SEND_SLEEP and SEND_DESTROY, */
    NOTE_DESTROY,
    NOTE_ENDED,      /* and TERMINATED, with `outcome` */
    NOTE_STOP_SLEEP, /* commands, from the authority: tr__sleep_stop with `grace_ns` */
    NOTE_STOP_DESTROY,
};

struct note {
    uint64_t actor; /* a number by which both ends know the actor */
    struct generation generation;
    uint32_t index; /* 1, 2, ... in each direction of a generation */
    enum note_kind kind;
    enum sleep_outcome outcome;
    tr_time grace_ns;
};

/** Says that all notes up to an index have been taken. */
struct note_receipt {
    uint64_t actor;
    struct generation generation;
    uint32_t index;
};

enum {
    NOTES_MAX = 3, /* sleep, destroy, ended; stop to sleep, stop to be destroyed */
};

/* A note that is not acknowledged goes again after the first, then twice as long, up to the last. */
#define NOTE_RESEND_FIRST_NS (100 * TR_MILLISECOND)
#define NOTE_RESEND_LAST_NS (5 * TR_SECOND)

/** One end of the talk about one generation: what it sent, and how much it has taken. */
struct note_end {
    uint64_t actor;
    struct generation generation;
    uint32_t sent;         /* index of the last note sent, */
    uint32_t acknowledged; /* of the last that the other end has, */
    uint32_t taken;        /* and of the last taken from it */
    tr_time resend_at;     /* when to send again what is not acknowledged, or SLEEP_NEVER */
    tr_time resend_after;
    struct note notes[NOTES_MAX]; /* by index - 1 */
};

/** What to do with a note that has arrived. */
enum note_verdict {
    NOTE_TAKE,     /* do what it says, and send the receipt */
    NOTE_REPEATED, /* it was taken before: send the receipt, nothing else */
    NOTE_OLD,      /* of a generation that is over: send the receipt, so that it comes no more */
    NOTE_DROP,     /* too early, or of somebody else: nothing; it will come again if it is meant */
};

void tr__note_end_init(struct note_end *end, uint64_t actor, struct generation generation);

/**
 * A new note, copied to *note for the connection. TR_LIMIT: this end has sent NOTES_MAX, which no
 * end does that sends each kind once.
 */
TR_MUST_CHECK tr_status tr__note_send(struct note_end *end, struct note content, tr_time now,
                                      struct note *note);

/** A note has arrived. *receipt is what to send back unless the verdict is NOTE_DROP. */
enum note_verdict tr__note_receive(struct note_end *end, const struct note *note,
                                   struct note_receipt *receipt);

/** A receipt has arrived; those of others, or for what was never sent, change nothing. */
void tr__note_acknowledge(struct note_end *end, const struct note_receipt *receipt);

/** How many notes are not acknowledged; the i-th of them, oldest first. */
static inline uint32_t note_pending(const struct note_end *end)
{
    return end->sent - end->acknowledged;
}
const struct note *tr__note_pending_at(const struct note_end *end, uint32_t i);

/**
 * Whether it is time to send all pending notes again; if so the next time is later. A connection that
 * is back sends them at once, without asking.
 */
bool tr__note_resend(struct note_end *end, tr_time now);

/* ---- the authority ---- */

enum authority_phase {
    AUTHORITY_ASLEEP, /* no generation is awake; the actor may or may not be stored */
    AUTHORITY_AWAKE,
    AUTHORITY_TO_SLEEP, /* stop is commanded */
    AUTHORITY_TO_DESTROY,
};

/** What the authority knows of one actor. */
struct authority {
    struct note_end end; /* of the present, or last, generation */
    enum authority_phase phase;
    bool owes_destroy; /* somebody wants it destroyed, and that has not happened yet */
};

/** What follows from something that the authority was told. */
struct authority_answer {
    bool has_receipt;
    struct note_receipt receipt;
    bool has_command;
    struct note command;
    bool has_ended; /* the generation is over, by `outcome`: those who wait may wake the next */
    enum sleep_outcome outcome;
    bool must_wake; /* a destroy is owed and nobody is awake to do it: begin a generation */
};

/** An actor that nobody has woken. */
void tr__authority_init(struct authority *authority, uint64_t actor);

/**
 * Begins a generation, newer than all before; if a destroy is owed the command goes at once and waits
 * for the start. TR_INVALID_TRANSITION: one is awake. TR_INVALID_ARGUMENT: it is not newer.
 */
TR_MUST_CHECK tr_status tr__authority_begin(struct authority *authority,
                                            struct generation generation, tr_time now,
                                            struct authority_answer *answer);

/**
 * The authority itself wants a stop: shutdown, eviction, somebody destroys the key. What changes
 * nothing gives no command. Nobody is awake: to sleep is nothing, to destroy is owed and must_wake.
 */
void tr__authority_stop(struct authority *authority, enum sleep_reason reason, tr_time grace_ns,
                        tr_time now, struct authority_answer *answer);

/** A note of the actor has arrived. */
void tr__authority_receive(struct authority *authority, const struct note *note, tr_time now,
                           struct authority_answer *answer);

/** The node of the actor is gone: its generation is over, and what it still says is old. */
void tr__authority_lost(struct authority *authority, struct authority_answer *answer);

#endif
