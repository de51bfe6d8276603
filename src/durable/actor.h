/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The record of a durable actor. It exists for one generation, from its set-up to its end.
 *
 * The list says which file does what. A file calls files below it in this list. It calls a file above it only in these
 * cases: it calls drive, when a change may be the reason for the next step of the sleep machine; it calls turn, when it
 * begins a turn itself; and it calls a file that "->" names.
 *
 *     drive           performs the steps of the sleep machine (sleep/sleep.h); ends a generation
 *     host            has the store and the kinds of a system; wakes the actor of a key
 *     kind            makes the handler table of a kind
 *     setup           begins a generation, and frees what it had
 *     turn            calls the handlers of the application
 *     verbs, kv       what a handler can call
 *     why             what tr_actor_why reports
 *     pressure        limits the actors that are awake                           -> setup
 *     queue           queues, and the run handler; queue_retry: failed attempts; queue_list: looks
 *     connections     connections of gateways; connection_verbs: what a handler can do; connection_row: what is stored;
 *                     connection_gone: how a gateway says that one has ended
 *     whole           refuses waits that would divide the effect of tr_connected or tr_disconnected -> commit
 *     request         requests with an id; request_ledger: which are stored; request_record: their bytes
 *     running         notes which item or alarm a turn handles, for the start after a crash
 *     alarm           alarms of an awake actor; alarm_move: after a clock change -> queue_alarm
 *     queue_alarm     items that wait for their time                             -> queue
 *     items           queues in memory; item_row: their rows in the store
 *     retry           retry policies
 *     ttl             destroys an actor that nobody uses
 *     events          events of an awake actor
 *     event_next      what a handler can read of its journal
 *     event_load      recovers a state: journal (the rules), event_page, event_read
 *     commit          stores what a part of a turn has changed                   -> events, queue, turn
 *     sql             tables of an actor                                         -> commit
 *     changed         calls tr_state_changed
 *     record          keeps what a turn reads, and writes it when the turn fails; record_read: the file;
 *                     record_plain: the same of actors that are not durable
 *     work            tells the sleep machine about mail, owed replies and items
 *     clock           wakes actors whose alarms are due; hints: those sent so far  -> host
 *     waker           wakes actors that have items in their queues
 *     retry_backoff   delays the next generation of a key after a failure        -> host, clock
 *     overlay         keys that a commit has changed and that are not on disk
 *     state           how a state is packed, read and migrated
 *     shapes          the shapes of what is stored
 *
 * While a turn of the actor runs, worker->outbox_turn is that turn. So messages that the turn sends go into the outbox
 * of the open commit. The changes of the turn go into the batch of that commit (durable/commit.h).
 *
 * The actor reports everything that happens to its sleep machine (sleep/sleep.h), and durable/drive.c performs the
 * steps that the machine returns. A turn that runs or waits is a wake lock of the machine.
 *
 * Only the owner of the actor uses this record. The store's thread uses only a submitted commit.
 */
#ifndef DURABLE_ACTOR_H
#define DURABLE_ACTOR_H

#include "actor/cell/system.h"
#include "actor/cell/worker.h"
#include "actor/mail/outbox.h"
#include "durable/host.h"
#include "durable/items.h"
#include "durable/state.h"
#include "sleep/authority.h"
#include "store/batch.h"

struct alarm;
struct connections;
struct overlay_table;
struct requests;
struct store_sql;

/** Kinds of work that belong to no turn of the actor. The sleep machine counts them; see durable/work.c. */
enum work { WORK_MAIL, WORK_LATERS, WORK_STASH, WORK_ITEMS, WORK_COUNT };

/**
 * Where a message from a gateway came from. All members are zero if an actor has sent the message.
 */
struct durable_call {
    uint64_t connection; /* 0: none */
    /* The caller that the gateway's guard has named. The text lives as long as the turn. NULL:
     * none. */
    const char *caller;
    bool is_socket; /* the turn handles a message of a connection */
    bool is_end;    /* the turn handles tr_disconnected */
    /* An earlier process has ended while it handled tr_connected, and this turn runs that handler
     * again. */
    bool is_again;
    bool is_refused; /* with is_again: the handler refuses the connection */
};

struct durable_actor {
    struct durable durable; /* must be the first member */
    struct durable_kind *kind;
    /* The actor's entry in the store. NULL: it has no entry yet, or has left it. */
    struct store_entry *entry;
    struct sleep_machine machine;
    /* The actor's end of its exchange with the authority; see sleep/authority.h. */
    struct note_end end;
    struct authority authority; /* the other end of that exchange, for this actor */
    struct list awake;          /* link in worker_context.awake */
    struct list leaving;        /* link in durable_host.leaving */
    /* The cell of the next generation, which waits until this generation ends. Under the host's
     * lock. */
    struct cell *successor;
    bool is_leaving;    /* the actor is in durable_host.leaving; under the host's lock */
    bool is_destroying; /* with is_leaving: the actor is being destroyed; under the host's lock */

    /* The next members are the commits of the actor and its data in the store; see
     * durable/commit.h. */
    struct outbox outbox;
    /* The batch of the open commit. NULL: the open commit has changed nothing yet. */
    struct store_batch *batch;
    struct list commits;
    struct list overlays; /* keys that are not on disk yet; see durable/overlay.h */
    /* Hash table of `overlays`. NULL: there are only a few overlays. */
    struct overlay_table *overlay_table;
    size_t overlay_count;
    struct requests *requests; /* requests with an id; NULL: none has come; see durable/request.h */
    /* See durable/connections.h. NULL: the actor has had no connection and no event for
     * connections. */
    struct connections *connections;
    struct store_sql *sql; /* the actor's own tables; NULL: this generation has not used them */
    struct list alarms;    /* list of struct alarm */
    struct queues queues;
    struct list takers; /* list of struct durable_frame: turns that wait on a queue */
    tr_time alarm_ns;   /* the earliest alarm that the open commit has set, or TR_NEVER */
    /* When the actor was used. durable/ttl.h destroys unused actors. All times are of the wall
     * clock. */
    struct durable_ttl {
        tr_time used_ns;   /* when this generation was used last; 0: not yet */
        tr_time stored_ns; /* the value of used_ns that the store has */
        tr_time due_ns;    /* when the stored alarm of durable/ttl.h is due; 0: there is none */
    } ttl;
    uint64_t alarm_last;  /* id of the last alarm that was set */
    uint64_t commit_last; /* number of the last commit that was submitted */
    /* if not TR_OK, a part of the actor could not be stored, so the actor must restart */
    tr_status broken;
    bool is_new;            /* the store has nothing of this actor */
    bool is_creating;       /* the first start of this key has not finished */
    bool is_half;           /* the stored state has the mark STATE_HALF */
    bool is_evicted;        /* the actor was asked to sleep because of memory pressure */
    bool has_served;        /* this generation has had a turn after its first hooks */
    bool is_destroy_wanted; /* the open commit has called tr_destroy */
    bool is_doomed;         /* a commit with the mark of tr_destroy was submitted */
    bool has_remains;       /* the store still has rows of a generation that was destroyed */
    /* The removal of all rows of the actor was submitted, or an attempt to submit it has failed. */
    bool is_erased;
    tr_status erased;       /* with is_erased: TR_OK, or why the removal was not submitted */
    bool is_drive_posted;   /* a tr_durable_driven message is on its way */
    bool is_aborted;        /* the sleep machine has performed FIRE_ABORT, the soft signal */
    bool is_deadline_over;  /* the sleep machine has performed FIRE_DEADLINE, the hard signal */
    bool is_settling;       /* close the connections as soon as no commit is on its way */
    bool is_stored_awaited; /* the sleep machine waits until the last submitted commit is stored */
    /* There are finished commits that were not submitted (TR_SAVE_INTERVAL, TR_SAVE_ON_DEMAND); see
     * `finished`. */
    bool is_dirty;
    /* How many running or waiting turns must end before a hook begins. */
    uint32_t barriers;
    struct durable_call call; /* where the message of the next turn came from */
    /* The turn of on_sleep or on_destroy, while that hook waits until `barriers` is 0. */
    struct tr_self *hook;
    struct wake_lock work[WORK_COUNT];
    tr_time start_ns; /* when the set-up of this generation began */
    tr_time save_ns;
    tr_time due_ns;  /* when the sleep machine must be called again */
    tr_time look_ns; /* when tr__work_look must be called again; see durable/work.c */
    uint64_t hold_last;
    unsigned char *stored; /* the packed state that was submitted last */
    size_t stored_size;
    size_t stored_capacity;
    /* While is_dirty: the actor as its finished commits have left it. If the open commit fails, the
     * actor is reset to this. */
    struct finished {
        unsigned char *state;
        size_t size;
        size_t capacity;
        /* The position in `batch` at which the changes of the finished commits end. */
        struct store_batch_mark batch;
        tr_time alarm_ns; /* the earliest alarm that a finished commit has set, or TR_NEVER */
        uint64_t event;   /* sequence number of the last event of a finished commit */
    } finished;
    /* The packed state at the last call of the handler of tr_state_changed. NULL: the kind has no
     * such handler. */
    unsigned char *shown;
    size_t shown_size;
    size_t shown_capacity;
    struct state_block block;
    struct event_log *events; /* NULL: the kind has no events; see durable/events.h */
    size_t weight;            /* bytes of this actor that worker_context.awake_bytes counts */
    char *warning; /* text for the log: the wake locks that were raised when the grace ended */
    size_t key_size;
    char key[]; /* the key, and a NUL that key_size does not count */
};

/** Returns the durable actor of a turn, or NULL if the turn belongs to another actor. */
static inline struct durable_actor *durable_of(const struct tr_self *self)
{
    return (struct durable_actor *)(void *)cell_durable(self->cell);
}

/** Whether the calling thread acts for the worker that owns the actor. Comments call this condition "Owner only". */
static inline bool durable_is_mine(const struct durable_actor *actor)
{
    const struct tr_system *system = actor->kind->host->system;
    uint32_t owner = cell_owner(actor->durable.cell);
    return owner < CELL_GROUP_ADDRESS && worker_is_mine(system->workers[owner]);
}

static inline tr_bytes actor_key(const struct durable_actor *actor)
{
    return (tr_bytes){actor->key, actor->key_size};
}

#endif
