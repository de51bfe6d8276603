/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The authority of a durable actor: it decides when the actor stops. Actor and authority exchange notes, which may get
 * lost.
 *
 * An actor sends intents (sleep, destroy, ended). Its authority sends commands (stop to sleep, stop to be destroyed).
 * Each intent and each command is a note with (actor, generation, index). A sender keeps a note and sends it again
 * until the receiver has acknowledged it. A receiver takes the notes of its generation in the order of their index,
 * each once. So both ends reach the same result, even if the connection loses, doubles or reorders notes. When a
 * connection was cut and is restored, each end sends again all notes that were not acknowledged.
 *
 * Both ends are plain structs without memory or clocks of their own. In one process the host passes each note to the
 * other end by a call, and takes the receipt at once. In a cluster a connection would pass the notes; the cluster is
 * not built yet. Two functions exist for the cluster only, tr__note_resend and tr__authority_lost. The host already
 * calls tr__note_resend when a note was not acknowledged in time, but this happens only in tests. Only a test calls
 * tr__authority_lost. A generation has at most NOTES_MAX notes in each direction, because each kind of note is sent
 * once.
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
    /* an intent of the actor, sent in the step SEND_SLEEP; the step SEND_DESTROY sends
     * NOTE_DESTROY */
    NOTE_SLEEP,
    NOTE_DESTROY,
    NOTE_ENDED,      /* an intent, sent in the step TERMINATED, with `outcome` */
    NOTE_STOP_SLEEP, /* a command with `grace_ns`, for which the host calls tr__sleep_stop */
    NOTE_STOP_DESTROY,
};

struct note {
    uint64_t actor; /* number by which both ends know the actor */
    struct generation generation;
    uint32_t index; /* 1, 2, ... in each generation; the two directions count separately */
    enum note_kind kind;
    enum sleep_outcome outcome;
    tr_time grace_ns;
};

/** Acknowledges all notes of a generation up to this index. */
struct note_receipt {
    uint64_t actor;
    struct generation generation;
    uint32_t index;
};

enum {
    /* the notes that an actor sends: sleep, destroy, ended; the authority sends only two */
    NOTES_MAX = 3,
};

/*
 * The delay before an unacknowledged note is sent again: NOTE_RESEND_FIRST_NS at first, then twice
 * the last delay, up to NOTE_RESEND_LAST_NS.
 */
#define NOTE_RESEND_FIRST_NS (100 * TR_MILLISECOND)
#define NOTE_RESEND_LAST_NS (5 * TR_SECOND)

/**
 * One end of the exchange about one generation. It has the notes that this end has sent, and the index of the last note
 * that this end has taken.
 */
struct note_end {
    uint64_t actor;
    struct generation generation;
    uint32_t sent;         /* index of the last note that was sent */
    uint32_t acknowledged; /* index of the last note that the other end has acknowledged */
    uint32_t taken;        /* index of the last note that was taken from the other end */
    tr_time resend_at;     /* when unacknowledged notes are sent again, or SLEEP_NEVER */
    tr_time resend_after;
    struct note notes[NOTES_MAX]; /* notes[i - 1] is the note whose `index` is i */
};

/** What the receiver of a note must do with it. */
enum note_verdict {
    NOTE_TAKE,     /* do what the note says, and send the receipt */
    NOTE_REPEATED, /* the note was taken before: send the receipt only */
    /*
     * the note is for a generation that is over: send the receipt, because without one the note is
     * sent again
     */
    NOTE_OLD,
    /* The note is too early, or is for another actor: do nothing. If the note is for this end, its
     * sender sends it again. */
    NOTE_DROP,
};

void tr__note_end_init(struct note_end *end, uint64_t actor, struct generation generation);

/**
 * Makes a new note and copies it to *note for the connection. Returns TR_LIMIT if this end has sent NOTES_MAX notes
 * before, which cannot happen if each kind is sent once.
 */
TR_MUST_CHECK tr_status tr__note_send(struct note_end *end, struct note content, tr_time now,
                                      struct note *note);

/** Takes a note that has arrived. Unless the verdict is NOTE_DROP, the caller must send *receipt back. */
enum note_verdict tr__note_receive(struct note_end *end, const struct note *note,
                                   struct note_receipt *receipt);

/**
 * Takes a receipt that has arrived. Ignores a receipt of another actor or generation, or for a note that was never
 * sent.
 */
void tr__note_acknowledge(struct note_end *end, const struct note_receipt *receipt);

/** Returns how many notes are not acknowledged. tr__note_pending_at returns the i-th of them, oldest first. */
static inline uint32_t note_pending(const struct note_end *end)
{
    return end->sent - end->acknowledged;
}
const struct note *tr__note_pending_at(const struct note_end *end, uint32_t i);

/**
 * Whether this end must send all pending notes again now. If so, also sets the time of the next
 * check. This function is for the cluster. When a connection was cut and is restored, the caller
 * sends all pending notes at once, without asking this function.
 */
bool tr__note_resend(struct note_end *end, tr_time now);

/* ---- The authority. ---- */

enum authority_phase {
    AUTHORITY_ASLEEP, /* no generation is awake; the actor may exist in the store, or not */
    AUTHORITY_AWAKE,
    AUTHORITY_TO_SLEEP, /* the command to stop was sent */
    AUTHORITY_TO_DESTROY,
};

/** What the authority knows about one actor. */
struct authority {
    /* the authority's end of the exchange with the present generation; if none is awake, with the
     * last one */
    struct note_end end;
    enum authority_phase phase;
};

/** What the caller must send or do for the authority after an event. */
struct authority_answer {
    bool has_receipt;
    struct note_receipt receipt;
    bool has_command;
    struct note command;
    bool has_ended; /* the generation is over, with `outcome`, so the next one may begin */
    enum sleep_outcome outcome;
};

/** Makes the record of an actor that was never awake. */
void tr__authority_init(struct authority *authority, uint64_t actor);

/**
 * Begins a generation, which must be newer than all generations before it. Returns TR_INVALID_TRANSITION if a
 * generation is awake, or TR_INVALID_ARGUMENT if the generation is not newer.
 */
TR_MUST_CHECK tr_status tr__authority_begin(struct authority *authority,
                                            struct generation generation);

/**
 * Commands a stop that the authority itself wants, because of a shutdown, an eviction, or the
 * request to destroy the actor. Sends no command if this command or the command to stop to be
 * destroyed was already sent, or if no generation is awake. If the destroy must happen in any case,
 * the caller first marks the actor in the store (tr__store_doom), because the command may get lost.
 */
void tr__authority_stop(struct authority *authority, enum sleep_reason reason, tr_time grace_ns,
                        tr_time now, struct authority_answer *answer);

/** Takes a note of the actor that has arrived. */
void tr__authority_receive(struct authority *authority, const struct note *note, tr_time now,
                           struct authority_answer *answer);

/**
 * Ends the present generation because the node of the actor is gone. Notes that still arrive from that generation count
 * as old. This is for the cluster.
 */
void tr__authority_lost(struct authority *authority, struct authority_answer *answer);

#endif
