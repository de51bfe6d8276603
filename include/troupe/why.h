/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Why an actor does not do what is expected: why it has not stopped, why its messages wait, why its
 * mailbox is full, why it was not restarted. A report names what holds the actor up, with file and
 * line, and for how long.
 *
 * ```c
 * #include <stdio.h>
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(nap);
 * TR_ACTOR(sleeper, nap);
 *
 * static tr_next on_nap(tr_self *self)
 * {
 *     return tr_sleep(self, 50 * TR_MILLISECOND) == TR_OK ? TR_STOP : TR_SAME;
 * }
 *
 * TR_BEHAVIOR(sleeper, void, TR_ON(nap, on_nap, .is_barrier = true));
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     static tr_why_report report;
 *     char text[2048];
 *     sleeper_ref sleeper = tr_spawn(self, sleeper, "sleeper");
 *     tr_tell(self, sleeper, nap);
 *     tr_stop(self, sleeper);
 *     if (tr_sleep(self, TR_MILLISECOND) == TR_OK &&
 *         tr_actor_why(self, sleeper, &report) == TR_OK) {
 *         tr_why_print(&report, text, sizeof text);
 *         fputs(text, stdout); // it waits for time to pass, and so does its stop
 *     }
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(asker, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, asker);
 * }
 * ```
 *
 * For an actor that was asked to stop, the text looks like this:
 *
 *     /user/bank: Running, stop requested; 3 of 1048576 messages queued, the oldest is transfer
 *       stop, mail: on_transfer waits for an answer to withdraw from /user/alice; barrier: no other
 *       message starts (2.5 s, bank.c:33)
 *       stop: messages queued before the poison pill: 3
 *
 * The report is what the actor's own worker sees between two turns. If the worker does not answer
 * within TR_WHY_NS, the worker itself is the reason: the report says what it runs and for how long.
 */
#ifndef TROUPE_WHY_H
#define TROUPE_WHY_H

#include <troupe/ask.h>
#include <troupe/system.h>

/** What holds an actor up. Kinds are added only at the end. */
typedef enum tr_why_kind {
    TR_WHY_IDLE,        /* nothing: the actor waits for messages */
    TR_WHY_GONE,        /* the actor has stopped, or never existed */
    TR_WHY_NOT_STARTED, /* the set-up of the actor has not run, or is running */
    TR_WHY_RUNS,        /* a handler of the actor runs */
    TR_WHY_WORKER_BUSY, /* the worker of the actor runs a handler of `who` */
    /* the worker of the actor has not answered, and what it runs is not known */
    TR_WHY_NO_ANSWER,
    TR_WHY_READY,     /* the actor is in the queue of its worker, behind `count` others */
    TR_WHY_SUSPENDED, /* `who` has suspended the actor */
    /* a turn waits for a reply of `who`, for capacity of its mailbox, or for time to pass */
    TR_WHY_TURN_WAITS,
    TR_WHY_BARRIER,     /* a turn waits and is a barrier: no other request or message begins */
    TR_WHY_BLOCKING,    /* a turn waits for a function of tr_blocking */
    TR_WHY_ANSWERS_DUE, /* the functions of `count` calls of tr_ask_then were not called yet */
    TR_WHY_MAIL_FIRST,  /* `count` messages came before the poison pill of the actor */
    /* the actor stops, and `count` children have not stopped; `who` is the first */
    TR_WHY_CHILDREN,
    TR_WHY_FULL,         /* the mailbox is full: `count` messages; `who` sent the oldest */
    TR_WHY_SENDERS_WAIT, /* `count` senders wait for capacity; `who` is the first */
    TR_WHY_STASHED,      /* `count` messages are stashed */
    TR_WHY_DECIDING,     /* the actor has failed, and its supervisor `who` has not decided yet */
    TR_WHY_BACK_OFF,     /* the actor will be restarted after its back-off */
    /*
     * the actor waits for other actors that its supervisor `who` restarts together with it
     */
    TR_WHY_GROUP,
    TR_WHY_AWAKE,   /* the reason why a durable actor is not asleep, or not destroyed */
    TR_WHY_STORING, /* `count` changes of the actor are on their way to the disk */
    TR_WHY_READS,   /* a turn waits for bytes of a channel, or until it is open */
    TR_WHY_WRITES,  /* `count` bytes of a channel wait to be sent */
    TR_WHY_LINGERS  /* a channel that was closed has `count` bytes left to send */
} tr_why_kind;

/** What a reason holds up. The values can be combined. */
enum tr_holds {
    TR_HOLDS_STOP = 1,     /* the actor was asked to stop and has not stopped */
    TR_HOLDS_MAIL = 2,     /* messages of the actor wait */
    TR_HOLDS_CAPACITY = 4, /* the mailbox of the actor is full */
    TR_HOLDS_RESTART = 8,  /* the actor has failed and does not run again */
    TR_HOLDS_START = 16,   /* the actor was spawned and has not started */
    TR_HOLDS_SLEEP = 32    /* the actor is durable and is not asleep */
};

typedef struct tr_reason {
    tr_why_kind kind;
    uint32_t holds; /* enum tr_holds; 0: the reason holds up nothing now */
    uint32_t count; /* a number; tr_why_kind says what it counts */
    tr_ref who;     /* an actor; tr_why_kind says which one. TR_NOBODY: the kind names no actor */
    tr_time age_ns; /* for how long the reason has held; -1: not known */
    char where[96]; /* file and line: "bank.c:33"; "": not known */
    char text[224]; /* for a person; a longer text is cut */
} tr_reason;

/** The report on one actor, in memory of the caller: 7 KiB. */
typedef struct tr_why_report {
    tr_ref actor;
    tr_time asked_ns;     /* the time of the report, as tr_now returns it */
    const char *state;    /* "Running", "Suspended", "Stopping", ...; "?": not known */
    bool is_told_to_stop; /* tr_stop, tr_kill, TR_STOP or its parent has asked it to stop */
    uint32_t waiting;     /* messages that wait and take capacity */
    uint32_t waiting_max; /* the bound of the mailbox; 0: not known */
    const char *oldest;   /* the type of the oldest message that waits, or NULL */
    size_t count;         /* of reasons */
    char path[TR_PATH_MAX + 1];
    tr_reason reasons[TR_REASONS_MAX]; /* the most important first */
} tr_why_report;

TR_BEGIN_C
/**
 * Writes a report as text of several lines, each with its newline. The text is cut to `size` bytes,
 * the NUL included. Returns the length of the whole text.
 * Any thread. Does not wait.
 */
size_t tr_why_print(const tr_why_report *report, char *text, size_t size);

/**
 * Returns the name of a kind for logs, such as "TR_WHY_BARRIER", or "?" for a number that is no
 * kind. Any thread. Does not wait.
 */
const char *tr_why_name(tr_why_kind kind);
TR_END_C

/**
 * Writes why an actor does not stop, run or take messages: tr_actor_why(self, bank, &report). In a
 * turn, or client's thread. May wait: for the actor's worker, at most TR_WHY_NS. Does not wait if
 * that is the caller's own worker.
 *
 * TR_OK, also for an actor that has ended or does not answer. On failure *report is unchanged: TR_NO_MEMORY;
 * TR_INVALID_ARGUMENT; in a turn also TR_CANCELLED, and TR_NOT_IN_A_TURN, which means that the actor belongs to another
 * worker and this turn cannot wait. The report takes no capacity of the actor's mailbox. It also comes for actors that
 * are suspended, full, stopping or waiting.
 */
#define tr_actor_why(from, actor, report) TR_SPEAKER_(from, actor_why)(from, tr_any(actor), report)

#include <troupe/detail/why.h>

#endif
