/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Why an actor does not do what one waits for: why it has not stopped, why its mail waits, why its
 * mailbox is full, why it was not restarted. Named holders, each with its place in the program and
 * its age.
 *
 *     tr_why_report report;
 *     char text[2048];
 *     if (tr_actor_why(client, bank, &report) == TR_OK) {
 *         tr_why_print(&report, text, sizeof text);
 *         fputs(text, stderr);
 *     }
 *
 * prints, of an actor that was told to stop,
 *
 *     /user/bank: Running, told to stop; 3 of 1048576 messages wait, the oldest is transfer
 *       stop, mail: on_transfer waits for an answer to withdraw from /user/alice, and nothing else
 *       begins meanwhile (2.5 s, bank.c:33)
 *       stop: 3 messages that came before its poison pill wait
 *
 * The answer is what the actor's own worker sees between two turns. A worker that does not answer
 * within TR_WHY_NS is itself the reason: the report then says what it runs and for how long.
 */
#ifndef TROUPE_WHY_H
#define TROUPE_WHY_H

#include <troupe/ask.h>
#include <troupe/system.h>

/** What holds an actor up. Kinds are only ever added at the end. */
typedef enum tr_why_kind {
    TR_WHY_IDLE,         /* nothing: it waits for messages */
    TR_WHY_GONE,         /* it has stopped, or was never there */
    TR_WHY_NOT_BEGUN,    /* its set-up has not run, or runs */
    TR_WHY_RUNS,         /* a handler of its own runs */
    TR_WHY_WORKER_BUSY,  /* its worker runs another's handler: `who` */
    TR_WHY_NO_ANSWER,    /* its worker has not answered, and what it does is not known */
    TR_WHY_READY,        /* it is in the queue of its worker, behind `count` others */
    TR_WHY_SUSPENDED,    /* `who` has suspended it */
    TR_WHY_TURN_WAITS,   /* a turn waits: for an answer or room of `who`, or for time to pass */
    TR_WHY_BARRIER,      /* the same, and no other request or message begins meanwhile */
    TR_WHY_BLOCKING,     /* a turn waits for its function of tr_blocking */
    TR_WHY_ANSWERS_DUE,  /* `count` answers of tr_ask_then are due */
    TR_WHY_MAIL_FIRST,   /* `count` messages came before its poison pill */
    TR_WHY_CHILDREN,     /* it stops, and `count` children have not; `who` is the first of them */
    TR_WHY_FULL,         /* its mailbox is full: `count` messages; `who` sent the oldest */
    TR_WHY_SENDERS_WAIT, /* `count` senders wait for room; `who` is the first of them */
    TR_WHY_STASHED,      /* `count` messages are stashed */
    TR_WHY_DECIDING,     /* it has failed, and its supervisor `who` has not decided yet */
    TR_WHY_BACK_OFF,     /* it is to be restarted, and waits for its time */
    TR_WHY_GROUP,        /* it waits for those who are restarted with it by `who` */
    TR_WHY_AWAKE,        /* of a durable actor: why it is not asleep, or not gone */
    TR_WHY_STORING       /* `count` of its changes are on their way to the disk */
} tr_why_kind;

/** What a reason holds up; several may be together. */
enum tr_holds {
    TR_HOLDS_STOP = 1,     /* it was told to stop and has not */
    TR_HOLDS_MAIL = 2,     /* messages wait and are not handled */
    TR_HOLDS_CAPACITY = 4, /* its mailbox is full */
    TR_HOLDS_RESTART = 8,  /* it has failed and does not run again */
    TR_HOLDS_START = 16,   /* it was spawned and has not begun */
    TR_HOLDS_SLEEP = 32    /* it is durable and does not sleep */
};

typedef struct tr_reason {
    tr_why_kind kind;
    uint32_t holds; /* enum tr_holds; 0: nothing now, it is only said */
    uint32_t count; /* as the kind says */
    tr_ref who;     /* as the kind says, or nobody */
    tr_time age_ns; /* how long already; -1: not known */
    char where[96]; /* file and line: "bank.c:33"; "": not known */
    char text[224]; /* for a person; a longer text is cut */
} tr_reason;

/** What is known of one actor. In the caller's memory; 7 KiB. */
typedef struct tr_why_report {
    tr_ref actor;
    tr_time asked_ns;     /* as tr_now, when this was so */
    const char *state;    /* "Running", "Suspended", "Stopping", ...; "?" when not known */
    bool is_told_to_stop; /* by tr_stop, tr_kill, TR_STOP or its parent */
    uint32_t waiting;     /* messages that wait and take room */
    uint32_t waiting_max; /* how many may; 0: not known */
    const char *oldest;   /* type of the one that waits longest, or NULL */
    size_t count;         /* of reasons */
    char path[TR_PATH_MAX + 1];
    tr_reason reasons[TR_REASONS_MAX]; /* the gravest first */
} tr_why_report;

TR_BEGIN_C
/**
 * Writes a report for a person, several lines, each with its newline; cut to `size` with its NUL.
 * Returns the length of the whole. Any thread.
 */
size_t tr_why_print(const tr_why_report *report, char *text, size_t size);

/** "TR_WHY_BARRIER", for logs; "?" for none. Any thread. */
const char *tr_why_name(tr_why_kind kind);
TR_END_C

/**
 * Says why an actor does not stop, or run, or take messages: tr_actor_why(self, bank, &report), from a
 * handler or, as a client, from any thread.
 *
 * TR_OK, also for one that is gone or does not answer. Otherwise *report is as it was: TR_NO_MEMORY,
 * TR_INVALID_ARGUMENT, also for a program that was compiled for another report than the library's; in a handler TR_CANCELLED, and TR_NOT_IN_A_TURN: an actor of another worker, where
 * one cannot wait. It takes no room in a mailbox, and is answered by actors that are Suspended, full,
 * stopping, or wait. For an actor of the caller's own worker it does not wait; for others it waits until
 * they answer, at most TR_WHY_NS.
 */
#define tr_actor_why(from, actor, report) TR_SPEAKER_(from, actor_why)(from, tr_any(actor), report)

#include <troupe/detail/why.h>

#endif
