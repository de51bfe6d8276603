/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/observer.h"

#include <string.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "actor/cell/worker.h"
#include "actor/turn/samples.h"
#include "actor/verbs/show_types.h"
#include "observe/actors.h"
#include "observe/running.h"

tr_time tr__observer_now(const struct observer *observer)
{
    const tr_platform *platform = observer->system->platform;
    return platform->mono_now(platform);
}

/* ---- Samples. ---- */

bool tr__observer_is_watched(const struct observer *observer)
{
    return observer->watched_ns &&
           tr__observer_now(observer) - observer->watched_ns < OBSERVER_WATCH_MS * TR_MILLISECOND;
}

/* Counts that a handler was found running. Returns false if the table is full. */
static bool sample_count(struct observer_sample *samples, const tr_behavior *behavior,
                         const tr_handler *handler)
{
    for (size_t i = 0; i < OBSERVER_SAMPLES; i++) {
        struct observer_sample *sample = &samples[i];
        if (!sample->behavior)
            *sample = (struct observer_sample){.behavior = behavior, .handler = handler};
        if (sample->behavior != behavior || sample->handler != handler)
            continue;
        sample->count++;
        return true;
    }
    return false;
}

void tr__observer_sample(struct observer *observer)
{
    struct tr_system *system = observer->system;
    observer->looks++;
    observer->flame.looks++;
    for (uint32_t i = 0; i < system->worker_count; i++) {
        const struct worker *worker = system->workers[i];
        const struct cell *cell = worker_running(worker);
        const struct dispatch *dispatch = cell ? ATOM_PEEK(&cell->dispatch) : NULL;
        if (!cell)
            continue;
        observer->busy++;
        observer->flame.busy++;
        if (!dispatch)
            continue;
        /*
         * The handler that was read may still be that of the previous turn, which was of another
         * actor. Then the handler of the present turn is not known.
         */
        const tr_behavior *behavior = dispatch->behavior;
        const tr_handler *handler = worker_handler(worker);
        uintptr_t first = (uintptr_t)behavior->handlers;
        uintptr_t end = first + behavior->handler_count * behavior->handler_size;
        bool is_its = (uintptr_t)handler >= first && (uintptr_t)handler < end;
        handler = is_its ? handler : NULL;
        observer->samples_left_out += !sample_count(observer->samples, behavior, handler);
        observer->flame.left_out += !sample_count(observer->flame.samples, behavior, handler);
    }
}

void tr__observer_watch(struct observer *observer)
{
    memset(observer->samples, 0, sizeof observer->samples);
    observer->looks = 0;
    observer->busy = 0;
    observer->samples_left_out = 0;
    observer->watched_ns = tr__observer_now(observer);
}

void tr__observer_watch_on(struct observer *observer)
{
    observer->watched_ns = tr__observer_now(observer);
    if (!observer->flame.since_ns)
        observer->flame.since_ns = observer->watched_ns;
}

/* ---- Ages. ---- */

/* Returns the mark of an actor for messages of a type, or for all messages if `type` is NULL. If there is none, makes a
 * mark, which replaces the mark that was not used for the longest time. */
static struct observer_mark *mark_of(struct observer *observer, tr_ref actor, const tr_type *type)
{
    struct observer_mark *marks = type ? observer->type_marks : observer->marks;
    size_t count = type ? OBSERVER_TYPE_MARKS : OBSERVER_MARKS;
    struct observer_mark *stale = &marks[0];
    for (size_t i = 0; i < count; i++) {
        struct observer_mark *entry = &marks[i];
        if (entry->ref == actor.bits && entry->type == type)
            return entry;
        if (entry->checked_ns < stale->checked_ns)
            stale = entry;
    }
    *stale = (struct observer_mark){.ref = actor.bits, .type = type};
    return stale;
}

tr_time tr__observer_age_of(struct observer *observer, tr_ref actor, const tr_type *type,
                            uint64_t mark)
{
    tr_time now_ns = tr__observer_now(observer);
    struct observer_mark *entry = mark_of(observer, actor, type);
    if (entry->mark != mark || !entry->checked_ns)
        *entry = (struct observer_mark){actor.bits, type, mark, now_ns, now_ns};
    entry->checked_ns = now_ns;
    return now_ns - entry->seen_ns;
}

tr_time tr__observer_age(struct observer *observer, tr_ref actor, uint64_t mark)
{
    return tr__observer_age_of(observer, actor, NULL, mark);
}

tr_time tr__observer_age_stuck(struct observer *observer, tr_ref actor, tr_time stuck_ns)
{
    tr_time now_ns = tr__observer_now(observer);
    struct observer_mark *entry = mark_of(observer, actor, NULL);
    /*
     * If the last check was before the long turn began, the actor may have handled the message of
     * that check in between. So forget that message.
     */
    if (entry->checked_ns < now_ns - stuck_ns)
        *entry = (struct observer_mark){actor.bits, NULL, 0, now_ns, now_ns};
    entry->checked_ns = now_ns;
    return now_ns - entry->seen_ns;
}

/* Returns the age of an actor's oldest message. Returns 0 if that age is not known. Notes the age of the oldest message of each type. */
static tr_time age_of(struct observer *observer, const struct actor_glance *glance)
{
    tr_worker_info running;
    struct types_report report;
    tr_ref actor = tr_ref_from_bits(glance->ref);
    bool has_worker = glance->owner < observer->system->worker_count;
    int worker = has_worker ? (int)glance->owner : -1;
    if (tr__observer_is_stuck(observer, worker, &running))
        return tr__observer_age_stuck(observer, actor, running.since_ns);
    if (tr__show_types(observer->client, actor, &report) != TR_OK)
        return 0;
    /*
     * The reply to this thread counts as a message that was accepted and handled. It must not be
     * the reason for another look. Otherwise a program that has nothing to do would wake up each
     * second as long as a message waits.
     */
    observer->moved += 2;
    if (!report.count)
        return 0;
    for (uint32_t i = 0; i < report.count; i++)
        (void)tr__observer_age_of(observer, actor, report.rows[i].type, report.rows[i].mark);
    return tr__observer_age(observer, actor, report.rows[0].mark);
}

/* Notes how full a mailbox is. A new entry replaces the entry that was not used for the longest
 * time. */
static void growth_note(struct observer *observer, const struct actor_glance *glance)
{
    tr_time now_ns = tr__observer_now(observer);
    struct observer_growth *entry = &observer->growths[0];
    for (size_t i = 0; i < OBSERVER_GROWTHS; i++) {
        struct observer_growth *other = &observer->growths[i];
        if (other->checked_ns < entry->checked_ns)
            entry = other;
        if (other->ref == glance->ref) {
            entry = other;
            break;
        }
    }
    if (entry->ref != glance->ref || glance->queued < entry->since_queued)
        *entry = (struct observer_growth){
            .ref = glance->ref, .since_ns = now_ns, .since_queued = glance->queued};
    if (glance->queued > entry->most_queued)
        entry->most_queued = glance->queued;
    entry->checked_ns = now_ns;
}

tr_time tr__observer_grows(const struct observer *observer, tr_ref actor, uint32_t *since_queued,
                           uint32_t *most_queued)
{
    for (size_t i = 0; i < OBSERVER_GROWTHS; i++) {
        const struct observer_growth *entry = &observer->growths[i];
        if (entry->ref != actor.bits || !actor.bits)
            continue;
        *since_queued = entry->since_queued;
        *most_queued = entry->most_queued;
        return entry->since_ns;
    }
    return 0;
}

/* Keeps the number of dead letters from one to two minutes ago. */
static void letters_note(struct observer *observer, uint64_t letters)
{
    tr_time now_ns = tr__observer_now(observer);
    if (observer->letters_ns[0] && now_ns - observer->letters_ns[0] < TR_MINUTE)
        return;
    observer->letters[1] = observer->letters[0];
    observer->letters_ns[1] = observer->letters_ns[0];
    observer->letters[0] = letters;
    observer->letters_ns[0] = now_ns;
}

/* Whether messages were sent or handled since the last look at the fullest mailboxes. */
static bool has_moved(struct observer *observer, const tr_counters *counters)
{
    uint64_t moved = counters->accepted + counters->handled + counters->dead_letters;
    bool is_new = !observer->look_ns || moved != observer->moved;
    observer->moved = moved;
    return is_new;
}

static void look_begin(struct observer *observer, tr_time now_ns)
{
    struct tr_system *system = observer->system;
    struct observer_look *look = &observer->look;
    tr_counters counters;
    observer->is_dozing = doorbell_want(&system->doorbell);
    tr_system_counters(system, &counters);
    letters_note(observer, counters.dead_letters);
    look->is_on = has_moved(observer, &counters);
    if (!look->is_on) {
        observer->look_ns = now_ns + TR_SECOND;
        return;
    }
    look->begin_ns = now_ns;
    look->took_ns = 0;
    look->counts = tr__population_is_due(&observer->population, now_ns);
    look->scan = (struct scan){.system = system};
    look->has_scanned = !look->counts && !counters.queued;
    look->fullest.queued_min = 1;
    look->fullest.max = counters.queued ? OBSERVER_LOOKED_AT : 0;
    look->fullest.count = 0;
    look->asked = 0;
    look->oldest_ns = -1;
    if (look->counts)
        tr__population_begin(&observer->population);
}

static void on_looked_at(void *context, const struct actor_glance *glance)
{
    struct observer *observer = context;
    if (observer->look.counts)
        tr__population_take(&observer->population, glance);
    tr__fullest_take(&observer->look.fullest, glance);
}

/* Asks the next one of the fullest mailboxes for its oldest message. */
static void look_ask(struct observer *observer)
{
    struct observer_look *look = &observer->look;
    tr_time before_ns = tr__observer_now(observer);
    tr_time age_ns = age_of(observer, &look->fullest.found[look->asked++]);
    look->oldest_ns = age_ns > look->oldest_ns ? age_ns : look->oldest_ns;
    if (tr__observer_now(observer) - before_ns >= OBSERVER_STUCK_MS * TR_MILLISECOND)
        look->asked = look->fullest.count; /* clients must not wait for a worker that is slow */
}

static void look_end(struct observer *observer)
{
    /* Looks may take one part in SHARE of this thread's time. This matters only if there are very
     * many actors. Time in which a worker does not answer does not count. On a busy machine a look
     * seems to take long, because this thread gets no processor. Therefore the time between two
     * looks is at most apart_most_ns. */
    enum { SHARE = 200 };
    static const tr_time apart_most_ns = 20 * TR_SECOND;
    struct observer_look *look = &observer->look;
    struct system_samples *samples = observer->system->samples;
    tr_time age_ns = look->oldest_ns;
    uint64_t oldest_ns = age_ns < 0 ? 0 : (uint64_t)(tr__observer_now(observer) - age_ns);
    atom64_store(&samples->oldest_ns, oldest_ns, ATOM_RELAXED);
    atom64_store(&samples->is_looked_at, 1, ATOM_RELAXED);
    tr_time apart_ns = look->took_ns * SHARE;
    apart_ns = apart_ns < TR_SECOND       ? TR_SECOND
               : apart_ns > apart_most_ns ? apart_most_ns
                                          : apart_ns;
    observer->look_ns = look->begin_ns + apart_ns;
    look->is_on = false;
}

/* Does one step of a look. */
static void look_step(struct observer *observer)
{
    struct observer_look *look = &observer->look;
    if (!look->has_scanned) {
        tr_time before_ns = tr__observer_now(observer);
        look->has_scanned = tr__scan_step(&look->scan, on_looked_at, observer);
        look->took_ns += tr__observer_now(observer) - before_ns;
        if (!look->has_scanned)
            return;
        if (look->counts)
            tr__population_end(&observer->population, look->begin_ns, look->took_ns);
        for (uint32_t i = 0; i < look->fullest.count; i++)
            growth_note(observer, &look->fullest.found[i]);
    }
    if (look->asked < look->fullest.count)
        look_ask(observer);
    if (look->asked == look->fullest.count)
        look_end(observer);
}

int tr__observer_look(struct observer *observer)
{
    tr_time now_ns = tr__observer_now(observer);
    if (!observer->look.is_on && now_ns >= observer->look_ns)
        look_begin(observer, now_ns);
    if (observer->look.is_on)
        look_step(observer);
    if (observer->look.is_on)
        return 0;
    if (observer->is_dozing)
        return -1;
    return observer->look_ns > now_ns ? (int)((observer->look_ns - now_ns) / TR_MILLISECOND) + 1
                                      : 0;
}

/* ---- Workers and actors. ---- */

bool tr__observer_is_stuck(struct observer *observer, int worker, tr_worker_info *info)
{
    static const tr_time least_ns = OBSERVER_STUCK_MS * TR_MILLISECOND;
    struct tr_system *system = observer->system;
    if (worker < 0 || (uint32_t)worker >= system->worker_count)
        return false;
    const struct loop *loop = &system->workers[worker]->loop;
    tr_time since_ns = (tr_time)atom64_load(&loop->since_ns, ATOM_RELAXED);
    if (!since_ns || tr__observer_now(observer) - since_ns < least_ns)
        return false;
    tr__worker_describe(system, (uint32_t)worker, info);
    return info->is_running && info->since_ns >= least_ns;
}

bool tr__observer_find(struct observer *observer, tr_ref actor, tr_actor_info *info)
{
    struct actor_glance glance;
    struct tr_system *system = observer->system;
    return tr__actor_glance(system, (uint32_t)actor.bits & system->slots->mask, &glance) &&
           glance.ref == actor.bits && tr__actor_describe(system, &glance, info);
}
