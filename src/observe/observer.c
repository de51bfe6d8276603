/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/observer.h"

#include <string.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/system.h"
#include "actor/cell/worker.h"
#include "observe/actors.h"
#include "observe/running.h"

enum { DEEPEST_MAX = 100 };

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
        /* The handler was perhaps read from the last turn, which was of another actor. In that case
         * the handler is not known. */
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

/* Returns the mark of an actor. If there is none, makes a mark, which replaces the mark that was
 * not used for the longest time. */
static struct observer_mark *mark_of(struct observer *observer, tr_ref actor)
{
    struct observer_mark *stale = &observer->marks[0];
    for (size_t i = 0; i < OBSERVER_MARKS; i++) {
        struct observer_mark *entry = &observer->marks[i];
        if (entry->ref == actor.bits)
            return entry;
        if (entry->checked_ns < stale->checked_ns)
            stale = entry;
    }
    *stale = (struct observer_mark){.ref = actor.bits};
    return stale;
}

tr_time tr__observer_age(struct observer *observer, tr_ref actor, uint64_t mark)
{
    tr_time now_ns = tr__observer_now(observer);
    struct observer_mark *entry = mark_of(observer, actor);
    if (entry->mark != mark || !entry->checked_ns)
        *entry = (struct observer_mark){actor.bits, mark, now_ns, now_ns};
    entry->checked_ns = now_ns;
    return now_ns - entry->seen_ns;
}

tr_time tr__observer_age_stuck(struct observer *observer, tr_ref actor, tr_time stuck_ns)
{
    tr_time now_ns = tr__observer_now(observer);
    struct observer_mark *entry = mark_of(observer, actor);
    /* If the last check was before the turn began, the message of that check may have been handled
     * before the turn too. So begin again. */
    if (entry->checked_ns < now_ns - stuck_ns)
        *entry = (struct observer_mark){actor.bits, 0, now_ns, now_ns};
    entry->checked_ns = now_ns;
    return now_ns - entry->seen_ns;
}

/* Returns the age of an actor's oldest message. Returns 0 if that age is not known. */
static tr_time age_of(struct observer *observer, const tr_actor_info *info, tr_actor_report *report)
{
    tr_worker_info running;
    if (tr__observer_is_stuck(observer, info->worker, &running))
        return tr__observer_age_stuck(observer, info->actor, running.since_ns);
    if (tr_actor_show(observer->client, info->actor, report) != TR_OK || !report->oldest)
        return 0;
    return tr__observer_age(observer, info->actor, report->oldest_mark);
}

/* Notes how full a mailbox is. A new entry replaces the entry that was not used for the longest
 * time. */
static void growth_note(struct observer *observer, const tr_actor_info *info)
{
    tr_time now_ns = tr__observer_now(observer);
    struct observer_growth *entry = &observer->growths[0];
    for (size_t i = 0; i < OBSERVER_GROWTHS; i++) {
        struct observer_growth *other = &observer->growths[i];
        if (other->checked_ns < entry->checked_ns)
            entry = other;
        if (other->ref == info->actor.bits) {
            entry = other;
            break;
        }
    }
    if (entry->ref != info->actor.bits || info->queued < entry->since_queued)
        *entry = (struct observer_growth){
            .ref = info->actor.bits, .since_ns = now_ns, .since_queued = info->queued};
    if (info->queued > entry->most_queued)
        entry->most_queued = info->queued;
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

/* Looks at the fullest mailboxes. Returns the age of the oldest message in them, or -1 if they are
 * empty. Sets *found_ns to the time at which it had found these mailboxes. */
static tr_time fullest_age(struct observer *observer, tr_time *found_ns)
{
    struct {
        tr_actor_info infos[OBSERVER_LOOKED_AT];
        tr_actor_report report;
    } *found = source_resize(observer->source, NULL, sizeof *found);
    size_t count = found ? tr__observer_deepest(observer, 1, found->infos, OBSERVER_LOOKED_AT) : 0;
    tr_time oldest_ns = -1;
    *found_ns = tr__observer_now(observer);
    for (size_t i = 0; i < count; i++)
        growth_note(observer, &found->infos[i]);
    for (size_t i = 0; i < count; i++) {
        tr_time before_ns = tr__observer_now(observer);
        tr_time age_ns = age_of(observer, &found->infos[i], &found->report);
        oldest_ns = age_ns > oldest_ns ? age_ns : oldest_ns;
        if (tr__observer_now(observer) - before_ns >= OBSERVER_STUCK_MS * TR_MILLISECOND)
            break; /* the worker does not answer, so stop, because clients must not wait for it */
    }
    source_resize(observer->source, found, 0);
    return oldest_ns;
}

/* Whether messages were sent or handled since the last look at the fullest mailboxes. */
static bool has_moved(struct observer *observer, const tr_counters *counters)
{
    uint64_t moved = counters->accepted + counters->handled + counters->dead_letters;
    bool is_new = !observer->look_ns || moved != observer->moved;
    observer->moved = moved;
    return is_new;
}

int tr__observer_look(struct observer *observer)
{
    /* Looks may take one part in SHARE of this thread's time. This matters only if there are very
     * many actors. Time in which a worker does not answer does not count. On a busy machine a look
     * seems to take long, because this thread gets no processor. Therefore the time between two
     * looks is at most apart_most_ns. */
    enum { SHARE = 200 };
    static const tr_time apart_most_ns = 20 * TR_SECOND;
    struct tr_system *system = observer->system;
    tr_time now_ns = tr__observer_now(observer);
    if (now_ns >= observer->look_ns) {
        tr_counters counters;
        observer->is_dozing = doorbell_want(&system->doorbell);
        tr_system_counters(system, &counters);
        tr_time found_ns = now_ns;
        letters_note(observer, counters.dead_letters);
        if (has_moved(observer, &counters)) {
            tr__population_look(&observer->population, system, now_ns);
            tr_time age_ns = counters.queued ? fullest_age(observer, &found_ns) : -1;
            uint64_t oldest_ns = age_ns < 0 ? 0 : (uint64_t)(tr__observer_now(observer) - age_ns);
            atom64_store(&system->samples.oldest_ns, oldest_ns, ATOM_RELAXED);
            atom64_store(&system->samples.is_looked_at, 1, ATOM_RELAXED);
        }
        tr_time apart_ns = (found_ns - now_ns) * SHARE;
        apart_ns = apart_ns < TR_SECOND       ? TR_SECOND
                   : apart_ns > apart_most_ns ? apart_most_ns
                                              : apart_ns;
        observer->look_ns = now_ns + apart_ns;
    }
    if (observer->is_dozing)
        return -1;
    return (int)((observer->look_ns - now_ns) / TR_MILLISECOND) + 1;
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
    return tr__actor_glance(system, (uint32_t)actor.bits & system->slots.mask, &glance) &&
           glance.ref == actor.bits && tr__actor_describe(system, &glance, info);
}

size_t tr__observer_deepest(struct observer *observer, uint32_t queued_min, tr_actor_info *infos,
                            size_t max)
{
    struct actor_glance found[DEEPEST_MAX];
    struct tr_system *system = observer->system;
    uint32_t made = atom32_load(&system->slots.made, ATOM_ACQUIRE); /* pairs with fresh_range */
    size_t count = 0;
    max = max < DEEPEST_MAX ? max : DEEPEST_MAX;
    for (uint32_t slot = 1; max && slot < made; slot++) {
        struct actor_glance glance;
        if (!tr__actor_glance(system, slot, &glance) || glance.queued < queued_min)
            continue;
        if (count == max && glance.queued <= found[count - 1].queued)
            continue;
        size_t at = count < max ? count++ : count - 1;
        for (; at && found[at - 1].queued < glance.queued; at--)
            found[at] = found[at - 1];
        found[at] = glance;
    }
    size_t written = 0;
    for (size_t i = 0; i < count; i++)
        written += tr__actor_describe(system, &found[i], &infos[written]);
    return written;
}
