/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/balance.h"

#include "actor/cell/cell.h"
#include "actor/cell/slots.h"
#include "actor/cell/worker.h"
#include "actor/system/leave.h"
#include "actor/system/move.h"
#include "actor/mail/kind.h"

struct cell;
struct worker;

/* The longest time between two samples of the mail that a worker gets. */
#define SAMPLE_NS (100 * TR_MICROSECOND)
/* The shortest time over which the load of a worker is measured. */
#define BUSY_NS (200 * TR_MICROSECOND)
/*
 * How long several actors must have been ready before a worker gives some of them away. Without
 * this time, a worker that has just started would give actors away, because many actors are ready
 * at its start.
 */
#define CROWDED_NS TR_MILLISECOND
/*
 * If turns are shorter than this on average, an actor does not move: a message to another worker
 * costs more than its turn.
 */
#define CHEAP_TURN_NS 1000

enum {
    SAMPLE_POSTS = 16, /* one of this many posts is sampled */
    /*
     * After how many samples an actor moves to the worker of its sender. Of two actors that talk to
     * each other, the older one needs fewer samples, so that they do not swap their workers.
     */
    TALKS_OLDER = 4,
    TALKS_YOUNGER = 12,
    LOOK_MAX = 512, /* the largest number of ready actors that are examined at once */
    GIVE_MAX = 128, /* the largest number of actors that are given to one worker at once */
    /* with TR_BALANCE_RESTLESS, for tests: about one of this many rounds and posts moves an actor */
    RESTLESS_ODDS = 4
};

/*
 * Whether the worker takes no part in balance, because no other worker is open or because this one
 * leaves.
 */
static bool is_alone(const struct worker *worker)
{
    return system_open_workers(worker->system) == 1 || worker_leaves(worker);
}

static struct balance_stay *stay_of(struct worker *worker, const struct cell *cell)
{
    return &worker->balance.stays[slots_number(worker->slots, cell) % BALANCE_PLACES];
}

static bool must_stay(struct worker *worker, const struct cell *cell)
{
    const struct balance_stay *stay = stay_of(worker, cell);
    return stay->ref == cell->identity && worker->loop.now_ns < stay->until_ns;
}

void tr__balance_arrived(struct worker *worker, const struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    worker->leave.is_due = true;
    *stay_of(worker, cell) =
        (struct balance_stay){cell->identity, worker->loop.now_ns + TR_MOVED_STAYS_NS};
}

/* ---- Random moves, for tests: TR_BALANCE_RESTLESS. ---- */

/* Returns the index of another open worker, at random. */
static uint32_t elsewhere(struct worker *worker)
{
    uint32_t count = system_open_workers(worker->system);
    return (worker->index + 1 + (uint32_t)rng_below(&worker->rng, count - 1)) % count;
}

static void shake(struct worker *worker)
{
    struct runqueue *queue = &worker->loop.queue;
    if (is_alone(worker))
        return;
    enum task_class class = queue->classes[TASK_NORMAL].first ? TASK_NORMAL : TASK_HIGH;
    struct task *previous = NULL;
    struct task *task = queue->classes[class].first;
    for (uint64_t skip = rng_below(&worker->rng, 4); task && skip; skip--) {
        previous = task;
        task = task->next;
    }
    if (!task || !tr__move_is_possible(worker, cell_of_task(task)))
        return;
    struct task *next = task->next;
    if (tr__move_give(worker, cell_of_task(task), elsewhere(worker), false))
        runqueue_take_out(queue, class, previous, next);
}

/* ---- Load. ---- */

void tr__balance_rest(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct tr_system *system = worker->system;
    if (system->options.balance == TR_BALANCE_OFF || is_alone(worker))
        return;
    atom32_store(&worker->balance.load, 0, ATOM_RELAXED);
    if (!atom32_exchange(&worker->balance.is_hungry, 1, ATOM_RELAXED))
        atom32_fetch_add(&system->scale.hungry, 1, ATOM_RELAXED);
}

/*
 * Removes the mark of a hungry worker. Returns false if the worker had no mark. The thread that
 * gets true may give actors to the hungry worker.
 */
static bool hunger_take(struct worker *worker)
{
    if (!atom32_load(&worker->balance.is_hungry, ATOM_RELAXED) ||
        !atom32_exchange(&worker->balance.is_hungry, 0, ATOM_RELAXED))
        return false;
    atom32_fetch_add(&worker->system->scale.hungry, UINT32_MAX, ATOM_RELAXED);
    return true;
}

void tr__balance_rise(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    worker->balance.rests++;
    (void)hunger_take(worker);
}

/*
 * Looks at the first actors of a class in the run queue. Of those that may move, gives every second
 * one away, at most `max`. Returns how many it has given away.
 */
static uint32_t give_class(struct worker *worker, enum task_class class, uint32_t to, uint32_t max)
{
    struct runqueue *queue = &worker->loop.queue;
    struct task *previous = NULL;
    struct task *task = queue->classes[class].first;
    uint32_t given = 0;
    bool is_second = false;
    for (uint32_t i = 0; task && i < LOOK_MAX && given < max; i++) {
        struct task *next = task->next;
        struct cell *cell = cell_of_task(task);
        bool may_go = tr__move_is_possible(worker, cell) && !must_stay(worker, cell);
        if (may_go && is_second && tr__move_give(worker, cell, to, false)) {
            runqueue_take_out(queue, class, previous, next);
            given++;
        } else {
            previous = task;
        }
        is_second ^= may_go;
        task = next;
    }
    return given;
}

static uint32_t count_ready(const struct loop *loop)
{
    uint32_t count = 0;
    for (int class = TASK_HIGH; class <= TASK_NORMAL; class ++) {
        const struct task *task = loop->queue.classes[class].first;
        for (; task && count < LOOK_MAX; task = task->next)
            count++;
    }
    return count;
}

static void feed(struct worker *worker, uint32_t ready)
{
    struct tr_system *system = worker->system;
    uint32_t count = system_open_workers(system);
    for (uint32_t i = 1; i < count && ready > 1; i++) {
        uint32_t to = (worker->index + i) % count;
        if (!hunger_take(system->workers[to]))
            continue;
        uint32_t max = ready / 2 < GIVE_MAX ? ready / 2 : GIVE_MAX;
        uint32_t given = give_class(worker, TASK_NORMAL, to, max);
        if (given < max)
            given += give_class(worker, TASK_HIGH, to, max - given);
        ready -= given;
        if (given)
            continue;
        /* No actor could move. The other worker still sleeps, so mark it as hungry again. */
        if (!atom32_exchange(&system->workers[to]->balance.is_hungry, 1, ATOM_RELAXED))
            atom32_fetch_add(&system->scale.hungry, 1, ATOM_RELAXED);
        return;
    }
}

void tr__balance_round(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct tr_system *system = worker->system;
    struct balance *balance = &worker->balance;
    /*
     * Put the actors that timers have just made ready behind the other normal actors. Then the code
     * below finds and moves them too.
     */
    runqueue_even(&worker->loop.queue);
    if (worker_leaves(worker))
        tr__leave_round(worker);
    if (system->options.balance != TR_BALANCE_ON || is_alone(worker)) {
        if (system->options.balance == TR_BALANCE_RESTLESS && !is_alone(worker) &&
            rng_below(&worker->rng, RESTLESS_ODDS) == 0)
            shake(worker);
        return;
    }
    tr_time span_ns = worker->loop.now_ns - balance->looked_ns;
    uint64_t turns = atom64_load(&worker->counters.handled, ATOM_RELAXED);
    uint64_t done = turns - balance->turns_seen;
    bool was_busy = balance->rests == balance->rests_seen;
    if (was_busy && span_ns < BUSY_NS)
        return;
    balance->looked_ns = worker->loop.now_ns;
    balance->turns_seen = turns;
    balance->rests_seen = balance->rests;
    uint32_t ready = was_busy ? count_ready(&worker->loop) : 0;
    atom32_store(&worker->balance.load, ready, ATOM_RELAXED);
    bool pays = ready > 1 && (uint64_t)span_ns >= done * CHEAP_TURN_NS;
    if (!pays)
        balance->crowded_ns = TR_NEVER;
    else if (balance->crowded_ns == TR_NEVER)
        balance->crowded_ns = worker->loop.now_ns;
    else if (worker->loop.now_ns - balance->crowded_ns >= CROWDED_NS &&
             atom32_load(&system->scale.hungry, ATOM_RELAXED))
        feed(worker, ready);
}

/* ---- Talk. ---- */

/*
 * Finds the sender of the newest message in the inbox of a cell. Sets *ref to the ref of this
 * sender, and returns the worker that owns the sender. Returns CELL_FOREIGN if there is no such
 * message, or if its sender has no owner.
 */
static uint32_t talker(struct worker *worker, struct cell *cell, uint64_t *ref)
{
    const void *head = atomptr_load(&cell->door.inbox, ATOM_ACQUIRE); /* pairs with door_push */
    if (!door_holds_mail(head))
        return CELL_FOREIGN;
    const struct envelope *envelope = head;
    if (!mail_takes_capacity(envelope) || !envelope->sender)
        return CELL_FOREIGN;
    *ref = envelope->sender;
    const struct cell *sender = slots_find(worker->slots, envelope->sender);
    return sender ? cell_owner(sender) : CELL_FOREIGN;
}

/*
 * Counts one more message to this actor from an actor of the worker `from`. Returns true if the
 * actor has now got enough messages from there to be moved to that worker.
 */
static bool talk_note(struct worker *worker, const struct cell *cell, uint32_t from,
                      uint64_t sender)
{
    tr_time now_ns = worker->loop.now_ns;
    struct balance_talk *talk =
        &worker->balance.talks[slots_number(worker->slots, cell) % BALANCE_PLACES];
    bool is_known = talk->ref == cell->identity && now_ns - talk->since_ns < TR_MOVED_STAYS_NS;
    if (!is_known || (talk->worker != from && !--talk->count))
        *talk = (struct balance_talk){cell->identity, now_ns, from, 0};
    if (talk->worker != from)
        return false;
    talk->count++;
    /*
     * The actor with the smaller ref counts as the older one. That may be wrong, but does no harm:
     * the two actors only need different limits.
     */
    return talk->count >= (cell->identity < sender ? TALKS_OLDER : TALKS_YOUNGER);
}

static bool restless_post(struct worker *worker, struct cell *cell)
{
    worker->balance.sample_in = 1 + (int32_t)rng_below(&worker->rng, RESTLESS_ODDS);
    return cell->sched_state == SCHED_WAITING && tr__move_is_possible(worker, cell) &&
           tr__move_give(worker, cell, elsewhere(worker), true);
}

bool tr__balance_sample(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct tr_system *system = worker->system;
    struct balance *balance = &worker->balance;
    balance->sample_in = SAMPLE_POSTS;
    balance->sample_ns = worker->loop.now_ns + SAMPLE_NS;
    if (system->options.balance == TR_BALANCE_OFF || is_alone(worker))
        return false;
    if (system->options.balance == TR_BALANCE_RESTLESS)
        return restless_post(worker, cell);
    uint64_t sender = 0;
    uint32_t from = talker(worker, cell, &sender);
    if (from >= system_open_workers(system) || from == worker->index ||
        cell->sched_state != SCHED_WAITING)
        return false;
    if (!talk_note(worker, cell, from, sender) || must_stay(worker, cell) ||
        !tr__move_is_possible(worker, cell))
        return false;
    uint32_t load = atom32_load(&worker->balance.load, ATOM_RELAXED);
    return atom32_load(&system->workers[from]->balance.load, ATOM_RELAXED) <= load &&
           tr__move_give(worker, cell, from, true);
}
