/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Work of an actor outside of its turns: waiting mail, owed replies (tr_reply_later), stashed
 * messages, and items that the run handler will take.
 *
 * Each of these four kinds of work has a counter in the sleep machine and at most one wake lock. A
 * message that arrives does not raise the wake lock, so that sending costs the same for every
 * actor. Instead, tr__work_look reads the cell of the actor before each decision of the machine.
 *
 * When work ends with a turn, the end of that turn calls tr__work_look. When a message without a
 * handler is skipped, on_skipped does. No call follows when other work ends: a signal without a
 * handler, mail that was dropped because the mailbox was full, or an owed reply whose ask has timed
 * out. Therefore, while there is work, a timer calls tr__work_look again. In a grace this is the
 * machine's own tick, otherwise the timer for look_ns.
 */
#include "durable/work.h"

#include "actor/ask/ask.h"
#include "actor/cell/slots.h"
#include "durable/actor.h"
#include "durable/drive.h"
#include "durable/queue_alarm.h"
#include "sleep/sleep.h"
#include "actor/mail/mail.h"

static const struct envelope *ring_first(const struct envelope *last)
{
    return last ? (const struct envelope *)(const void *)last->mail.next : NULL;
}

/* Returns the name of the first work that waits for the actor's next run. This is the name of a
 * message, or a text for a turn that was woken. Returns NULL if nothing waits. */
static const char *waiting_mail(const struct cell *cell)
{
    const struct cell_extra *extra = cell->extra;
    const struct envelope *const rings[] = {cell->replies,
                                            cell->exceptions,
                                            extra->mail.held,
                                            cell->cycle,
                                            extra->mail.late,
                                            extra->mail.requests,
                                            cell->notices,
                                            cell->events};
    for (size_t i = 0; i < sizeof rings / sizeof rings[0]; i++) {
        const struct envelope *first = ring_first(rings[i]);
        if (first)
            return first->type ? first->type->name : "an order";
    }
    return cell->flags & CELL_WOKEN ? "a turn about to resume" : NULL;
}

/* Returns how long the asker still waits for this reply. Returns 0 if the asker no longer waits. */
static tr_time time_left(const struct worker *worker, const struct later *later)
{
    const struct envelope *answer = later->answer;
    uint32_t deadline_ms = answer->payload.ask.deadline_ms;
    uint32_t now_ms = (uint32_t)((uint64_t)worker->loop.now_ns / TR_MILLISECOND);
    if (!slots_find(worker->slots, answer->sender))
        return 0;
    if (!deadline_ms) /* the asker has no deadline, or one that is too far away for an envelope */
        return TR_NEVER;
    int32_t left_ms = (int32_t)(deadline_ms - now_ms);
    return left_ms > 0 ? left_ms * TR_MILLISECOND : 0;
}

/* Returns the name of the first request that has no reply yet although its handler has ended
 * (tr_reply_later). Returns NULL if there is none. Sets *left_ns to the shortest time for which an
 * asker still waits. */
static const char *owed_reply(const struct worker *worker, const struct cell *cell,
                              tr_time *left_ns)
{
    const char *name = NULL;
    const struct list *laters = &cell->extra->asks.laters;
    for (const struct list *link = laters->next; link != laters; link = link->next) {
        const struct later *later = LIST_OWNER(link, const struct later, link);
        tr_time left = time_left(worker, later);
        if (!left)
            continue;
        name = name ? name : later->type->name;
        *left_ns = left < *left_ns ? left : *left_ns;
    }
    return name;
}

static void work_tell(struct worker *worker, struct durable_actor *actor, enum work work,
                      enum sleep_counter counter, const char *what)
{
    struct wake_lock *wake_lock = &actor->work[work];
    tr_time now_ns = worker->loop.now_ns;
    wake_lock->what = what;
    if (what && !wake_lock_is_raised(wake_lock))
        (void)!tr__sleep_raise(&actor->machine, wake_lock, counter, now_ns);
    else if (!what)
        tr__sleep_drop(&actor->machine, wake_lock, now_ns);
}

void tr__work_init(struct durable_actor *actor)
{
    for (int i = 0; i < WORK_COUNT; i++)
        actor->work[i] = (struct wake_lock){.what = NULL};
    actor->look_ns = TR_NEVER;
}

void tr__work_look(struct worker *worker, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, actor->durable.cell));
    struct cell *cell = actor->durable.cell;
    const struct sleep_machine *machine = &actor->machine;
    tr_time left_ns = machine->options.idle_ns;
    bool decides = machine->state == SLEEP_STARTED || machine->state == SLEEP_GRACE ||
                   machine->state == SLEEP_DESTROY_GRACE;
    if (!decides)
        return;
    mail_look(worker, cell);
    const char *mail = waiting_mail(cell);
    const char *owed = owed_reply(worker, cell, &left_ns);
    /* A sealed actor handles no further message. So nothing can unstash its messages, and these do
     * not count. */
    bool is_sealed = cell->flags & CELL_SEALED;
    const struct envelope *stashed = is_sealed ? NULL : ring_first(cell->extra->stash.ring);
    work_tell(worker, actor, WORK_MAIL, COUNTER_MAIL, mail);
    work_tell(worker, actor, WORK_LATERS, COUNTER_LATERS, owed);
    /* In a grace, all waits on queues have ended. Items are left for the next generation, so they
     * do not count as work. */
    const char *items = machine->state == SLEEP_STARTED ? tr__queue_pending(actor) : NULL;
    work_tell(worker, actor, WORK_ITEMS, COUNTER_INTERNAL, items);
    work_tell(worker, actor, WORK_STASH, COUNTER_STASH, stashed ? stashed->type->name : NULL);
    tr_time look_ns = mail || owed ? worker->loop.now_ns + left_ns : TR_NEVER;
    bool is_sooner = look_ns < actor->look_ns;
    if (is_sooner || look_ns == TR_NEVER)
        actor->look_ns = look_ns;
    if (is_sooner)
        tr__durable_arm(worker, actor);
}
