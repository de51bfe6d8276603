/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The authority of a durable actor: it decides when the actor stops. Actor and authority exchange notes, which may get
 * lost.
 *
 * An actor sends intents (sleep, destroy, ended). Its authority sends commands (stop to sleep, stop to be destroyed).
 * Each of these is a note with (actor, generation, index). A sender keeps a note and sends it again until it is
 * acknowledged. A receiver takes the notes of its generation in the order of their index, each once. So both ends reach
 * the same result, even if the connection loses, doubles or reorders notes. After a connection was cut, each end sends
 * again what was not acknowledged.
 *
 * Both ends are plain structs without memory or clocks of their own. In one process the host passes a note from one to
 * the other by a call, and takes the receipt at once; in a cluster a connection does. So tr__note_resend and
 * tr__authority_lost are for the cluster, which is not built yet. The host calls the first when a note was not
 * acknowledged in time, which only tests bring about, and nobody but a test calls the second. A generation has at most NOTES_MAX notes in each direction,
 * because each kind is sent once.
 *
 * docs/design/sleep-machine.md says why the two ends are separate even in one process.
 */
#ifndef SLEEP_AUTHORITY_H
#define SLEEP_AUTHORITY_H

#include "sleep/sleep.h"

/** One start of an actor: the epoch of its store, and the number of the start in that epoch. */
struct generation {
    uint64_t epoch;
    uint64_t counter;
};

/**
 * Returns a number below 0 if `left` is older than `right`, 0 if both are the same, and a number
 * above 0 if `left` is newer.
 */
static inline int generation_compare(struct generation left, struct generation right)
{
    if (left.epoch != right.epoch)
        return left.epoch < right.epoch ? -1 : 1;
    if (left.counter != right.counter)
        return left.counter < right.counter ? -1 : 1;
    return 0;
}

enum note_kind {
    NOTE_SLEEP, /* intent of the actor, sent in the step SEND_SLEEP; NOTE_DESTROY in SEND_DESTROY */
    NOTE_DESTROY,
    NOTE_ENDED,      /* sent in the step TERMINATED, with `outcome` */
    NOTE_STOP_SLEEP, /* command of the authority, with `grace_ns`: call tr__sleep_stop */
    NOTE_STOP_DESTROY,
};

struct note {
    uint64_t actor; /* number by which both ends know the actor */
    struct generation generation;
    uint32_t index; /* 1, 2, ...: the notes of a generation are counted apart in each direction */
    enum note_kind kind;
    enum sleep_outcome outcome;
    tr_time grace_ns;
};

/** Acknowledges all notes up to an index. */
struct note_receipt {
    uint64_t actor;
    struct generation generation;
    uint32_t index;
};

enum {
    NOTES_MAX = 3, /* notes of an actor: sleep, destroy, ended. The authority sends only two */
};

/*
 * Delay before an unacknowledged note is sent again: NOTE_RESEND_FIRST_NS at first, then twice as
 * long each time, up to NOTE_RESEND_LAST_NS.
 */
#define NOTE_RESEND_FIRST_NS (100 * TR_MILLISECOND)
#define NOTE_RESEND_LAST_NS (5 * TR_SECOND)

/** One end of the exchange about one generation: the notes that this end has sent, and how many it has taken. */
struct note_end {
    uint64_t actor;
    struct generation generation;
    uint32_t sent;         /* index of the last note that was sent */
    uint32_t acknowledged; /* index of the last note that the other end has acknowledged */
    uint32_t taken;        /* index of the last note that was taken from the other end */
    tr_time resend_at;     /* when unacknowledged notes are sent again, or SLEEP_NEVER */
    tr_time resend_after;
    struct note notes[NOTES_MAX]; /* note i is at index i - 1 */
};

/** What the receiver does with a note. */
enum note_verdict {
    NOTE_TAKE,     /* do what the note says, and send the receipt */
    NOTE_REPEATED, /* the note was taken before: send the receipt only */
    NOTE_OLD, /* the generation is over: send the receipt, so that the note is not sent again */
    /* too early, or for another actor: do nothing; the sender repeats a note that is for this end */
    NOTE_DROP,
};

void tr__note_end_init(struct note_end *end, uint64_t actor, struct generation generation);

/**
 * Makes a new note and copies it to *note for the connection. TR_LIMIT: this end has sent NOTES_MAX notes, which cannot
 * happen if each kind is sent once.
 */
TR_MUST_CHECK tr_status tr__note_send(struct note_end *end, struct note content, tr_time now,
                                      struct note *note);

/** Takes a note that has arrived. The caller must send *receipt back unless the verdict is NOTE_DROP. */
enum note_verdict tr__note_receive(struct note_end *end, const struct note *note,
                                   struct note_receipt *receipt);

/**
 * Takes a receipt that has arrived. A receipt of another actor or generation, or for a note that was never sent,
 * changes nothing.
 */
void tr__note_acknowledge(struct note_end *end, const struct note_receipt *receipt);

/** Returns how many notes are not acknowledged. tr__note_pending_at returns the i-th of them, oldest first. */
static inline uint32_t note_pending(const struct note_end *end)
{
    return end->sent - end->acknowledged;
}
const struct note *tr__note_pending_at(const struct note_end *end, uint32_t i);

/**
 * For the cluster. Returns whether all pending notes must be sent again now, and if so sets the next time. A connection
 * that was restored sends them at once, without this call.
 */
bool tr__note_resend(struct note_end *end, tr_time now);

/* ---- The authority. ---- */

enum authority_phase {
    AUTHORITY_ASLEEP, /* no generation is awake; the store may have the actor or not */
    AUTHORITY_AWAKE,
    AUTHORITY_TO_SLEEP, /* the command to stop was sent */
    AUTHORITY_TO_DESTROY,
};

/** What the authority knows about one actor. */
struct authority {
    /* the authority's end of the exchange with the present generation, or the last one */
    struct note_end end;
    enum authority_phase phase;
};

/** What the authority wants sent or done after an event. */
struct authority_answer {
    bool has_receipt;
    struct note_receipt receipt;
    bool has_command;
    struct note command;
    bool has_ended; /* the generation is over, with `outcome`: the next one may begin */
    enum sleep_outcome outcome;
};

/** Makes the record of an actor that was never awake. */
void tr__authority_init(struct authority *authority, uint64_t actor);

/**
 * Begins a generation, which must be newer than all before. TR_INVALID_TRANSITION: a generation is awake.
 * TR_INVALID_ARGUMENT: the generation is not newer.
 */
TR_MUST_CHECK tr_status tr__authority_begin(struct authority *authority,
                                            struct generation generation);

/**
 * Commands a stop that the authority itself wants: for a shutdown, an eviction, or because a destroy was requested.
 * Sends no command if one was already sent, or if no generation is awake. A destroy that must happen in any case is
 * first marked in the store (tr__store_doom), so it does not depend on this command.
 */
void tr__authority_stop(struct authority *authority, enum sleep_reason reason, tr_time grace_ns,
                        tr_time now, struct authority_answer *answer);

/** Takes a note of the actor that has arrived. */
void tr__authority_receive(struct authority *authority, const struct note *note, tr_time now,
                           struct authority_answer *answer);

/**
 * For the cluster. Ends the present generation because the node of the actor is gone. Notes that still arrive from that generation are
 * old.
 */
void tr__authority_lost(struct authority *authority, struct authority_answer *answer);

#endif
