/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/retry_backoff.h"

#include <string.h>

#include "actor/life/pooled.h"
#include "actor/life/spawn.h"
#include "durable/actor.h"
#include "durable/clock.h"
#include "durable/host.h"

struct backoff {
    struct list link; /* link in its list of host->backoffs */
    const struct durable_kind *kind;
    uint32_t failures;
    /* The delay is over, so the next generation begins at once. This struct stays until forget_ns,
     * because it counts failures. */
    bool is_over;
    tr_time until_ns;
    tr_time forget_ns;
    /* Cell of the next generation, which waits for the end of the delay. NULL: no cell waits. */
    struct cell *next;
    uint32_t vain; /* how many generations in a row have finished no item of their queues */
    /* When the next generation begins because of its queues. TR_NEVER: it does not begin because of
     * its queues. */
    tr_time wake_ns;
    size_t key_size;
    char key[];
};

/* ---- Functions that need the lock. ---- */

static struct backoff *backoff_find(struct durable_host *host, const struct durable_kind *kind,
                                    tr_bytes key)
{
    TR_ASSERT_SLOW(lock_is_held(&host->lock));
    LIST_EACH (link, &host->backoffs[tr__host_part(host, kind, key)]) {
        struct backoff *backoff = LIST_OWNER(link, struct backoff, link);
        if (backoff->kind == kind && backoff->key_size == key.size &&
            memcmp(backoff->key, key.data, key.size) == 0)
            return backoff;
    }
    return NULL;
}

static void backoff_forget(struct durable_host *host, struct backoff *backoff)
{
    TR_ASSERT_SLOW(lock_is_held(&host->lock));
    list_remove(&backoff->link);
    atom32_fetch_sub(&host->backoff_count, 1, ATOM_RELAXED);
    source_resize(&host->system->source, backoff, 0);
}

static struct backoff *backoff_make(struct durable_host *host, const struct durable_kind *kind,
                                    tr_bytes key)
{
    TR_ASSERT_SLOW(lock_is_held(&host->lock));
    if (atom32_load(&host->backoff_count, ATOM_RELAXED) >= BACKOFFS_MAX)
        return NULL;
    struct backoff *backoff =
        source_resize(&host->system->source, NULL, sizeof *backoff + key.size);
    if (!backoff)
        return NULL;
    *backoff = (struct backoff){.kind = kind, .key_size = key.size, .wake_ns = TR_NEVER};
    memcpy(backoff->key, key.data, key.size);
    list_push_last(&host->backoffs[tr__host_part(host, kind, key)], &backoff->link);
    atom32_fetch_add(&host->backoff_count, 1, ATOM_SEQ_CST);
    return backoff;
}

/* ---- Begin and end of a backoff. ---- */

static tr_time backoff_length(const struct durable_kind *kind, uint32_t failures, struct rng *rng)
{
    tr_time most = kind->retry_max_ns;
    tr_time length = kind->retry_ns;
    for (; failures > 0 && length < most; failures--)
        length *= 2;
    if (length > most)
        length = most;
    return length + (tr_time)rng_below(rng, (uint64_t)length / 4 + 1);
}

void tr__backoff_begin(struct worker *worker, const struct durable_actor *actor)
{
    const struct durable_kind *kind = actor->kind;
    struct durable_host *host = kind->host;
    tr_time now_ns = worker->loop.now_ns;
    lock_take(&host->lock);
    struct backoff *backoff =
        host->is_backoff_over ? NULL : backoff_find(host, kind, actor_key(actor));
    if (!backoff && !host->is_backoff_over)
        backoff = backoff_make(host, kind, actor_key(actor));
    if (backoff) {
        backoff->until_ns = now_ns + backoff_length(kind, backoff->failures++, &worker->rng);
        tr_time forget_ns = backoff->until_ns + kind->retry_max_ns;
        backoff->forget_ns = backoff->forget_ns > forget_ns ? backoff->forget_ns : forget_ns;
        backoff->is_over = false;
    }
    tr_time until_ns = backoff ? backoff->until_ns : TR_NEVER;
    lock_give(&host->lock);
    if (until_ns < TR_NEVER)
        tr__clock_tell_backoff(worker, host);
}

void tr__backoff_forget(const struct durable_actor *actor)
{
    struct durable_host *host = actor->kind->host;
    if (!atom32_load(&host->backoff_count, ATOM_RELAXED))
        return;
    lock_take(&host->lock);
    struct backoff *backoff = backoff_find(host, actor->kind, actor_key(actor));
    if (backoff && !backoff->next && !backoff->vain)
        backoff_forget(host, backoff);
    else if (backoff && !backoff->next)
        backoff->failures = 0;
    lock_give(&host->lock);
}

void tr__backoff_wake_later(struct worker *worker, const struct durable_actor *actor)
{
    const struct durable_kind *kind = actor->kind;
    struct durable_host *host = kind->host;
    tr_time now_ns = worker->loop.now_ns;
    lock_take(&host->lock);
    struct backoff *backoff =
        host->is_backoff_over ? NULL : backoff_find(host, kind, actor_key(actor));
    if (!backoff && !host->is_backoff_over) {
        backoff = backoff_make(host, kind, actor_key(actor));
        if (backoff)
            backoff->is_over = true; /* a request does not wait until this backoff ends */
    }
    if (backoff) {
        backoff->wake_ns = now_ns + backoff_length(kind, backoff->vain++, &worker->rng);
        backoff->forget_ns = backoff->wake_ns + kind->retry_max_ns;
    }
    lock_give(&host->lock);
    if (backoff)
        tr__clock_tell_backoff(worker, host);
}

void tr__backoff_done(const struct durable_actor *actor)
{
    struct durable_host *host = actor->kind->host;
    if (!atom32_load(&host->backoff_count, ATOM_RELAXED))
        return;
    lock_take(&host->lock);
    struct backoff *backoff = backoff_find(host, actor->kind, actor_key(actor));
    if (backoff) {
        backoff->vain = 0;
        backoff->wake_ns = TR_NEVER;
    }
    lock_give(&host->lock);
}

bool tr__backoff_defer(const struct durable_kind *kind, tr_bytes key, struct cell *cell)
{
    struct durable_host *host = kind->host;
    if (!atom32_load(&host->backoff_count, ATOM_SEQ_CST))
        return false;
    lock_take(&host->lock);
    struct backoff *backoff = host->is_backoff_over ? NULL : backoff_find(host, kind, key);
    bool waits = backoff && !backoff->is_over && !backoff->next;
    if (waits)
        backoff->next = cell;
    lock_give(&host->lock);
    return waits;
}

/* Finds a key whose next generation must begin now because of its queues. Copies the key, and notes
 * that the generation begins. Returns false if there is no such key. */
static bool backoffs_take_due(struct durable_host *host, tr_time now_ns,
                              const struct durable_kind **kind, char key[TR_KEY_MAX],
                              size_t *key_size)
{
    bool is_found = false;
    lock_take(&host->lock);
    for (int i = 0; i < LEAVING_PARTS && !is_found; i++) {
        LIST_EACH (link, &host->backoffs[i]) {
            struct backoff *backoff = LIST_OWNER(link, struct backoff, link);
            if (backoff->wake_ns > now_ns || is_found)
                continue;
            backoff->wake_ns = TR_NEVER;
            *kind = backoff->kind;
            *key_size = backoff->key_size;
            memcpy(key, backoff->key, backoff->key_size);
            is_found = true;
        }
    }
    lock_give(&host->lock);
    return is_found;
}

/*
 * Begins all generations that must begin now because of their queues. Call without the host's lock, because waking a
 * key takes that lock.
 */
static void backoffs_begin_due(struct worker *worker, struct durable_host *host, tr_time now_ns)
{
    const struct durable_kind *kind = NULL;
    char key[TR_KEY_MAX];
    size_t key_size = 0;
    while (backoffs_take_due(host, now_ns, &kind, key, &key_size))
        tr__host_begin(worker, kind, (tr_bytes){key, key_size});
}

static tr_time earlier_of(tr_time left, tr_time right)
{
    return left < right ? left : right;
}

tr_time tr__backoffs_end(struct worker *worker, struct durable_host *host, tr_time now_ns)
{
    tr_time first_ns = TR_NEVER;
    if (!atom32_load(&host->backoff_count, ATOM_RELAXED))
        return TR_NEVER;
    backoffs_begin_due(worker, host, now_ns);
    lock_take(&host->lock);
    for (int i = 0; i < LEAVING_PARTS; i++) {
        LIST_EACH (link, &host->backoffs[i]) {
            struct backoff *backoff = LIST_OWNER(link, struct backoff, link);
            if (!backoff->is_over && backoff->until_ns <= now_ns) {
                backoff->is_over = true;
                if (backoff->next)
                    tr__pooled_begin(worker, backoff->next);
                backoff->next = NULL;
            }
            if (backoff->is_over && backoff->forget_ns <= now_ns) {
                backoff_forget(host, backoff);
                continue;
            }
            tr_time look_ns = backoff->is_over ? backoff->forget_ns : backoff->until_ns;
            first_ns = earlier_of(first_ns, earlier_of(look_ns, backoff->wake_ns));
        }
    }
    lock_give(&host->lock);
    return first_ns;
}

/* Takes a cell that waits for the end of a backoff. Returns NULL if no cell waits. */
static struct cell *backoffs_take_next(struct durable_host *host)
{
    struct cell *next = NULL;
    lock_take(&host->lock);
    host->is_backoff_over = true;
    for (int i = 0; i < LEAVING_PARTS && !next; i++) {
        LIST_EACH (link, &host->backoffs[i]) {
            struct backoff *backoff = LIST_OWNER(link, struct backoff, link);
            if (!backoff->next)
                continue;
            next = backoff->next;
            backoff->next = NULL;
            break;
        }
    }
    lock_give(&host->lock);
    return next;
}

void tr__backoffs_close(struct worker *worker, struct durable_host *host)
{
    struct cell *next;
    while ((next = backoffs_take_next(host)))
        tr__pooled_begin(worker, next);
}

void tr__backoffs_stop(struct worker *worker, struct durable_host *host)
{
    struct cell *next;
    while ((next = backoffs_take_next(host))) {
        /* The cell ends without a set-up. Its parent is not stopping yet. When the parent stops, it
         * waits until this cell has ended. */
        atom32_fetch_or(&next->control, CONTROL_KILL, ATOM_SEQ_CST);
        tr__spawn_mount(worker, next);
    }
}

void tr__backoffs_free(struct durable_host *host)
{
    lock_take(&host->lock);
    for (int i = 0; i < LEAVING_PARTS; i++) {
        LIST_EACH (link, &host->backoffs[i])
            backoff_forget(host, LIST_OWNER(link, struct backoff, link));
    }
    lock_give(&host->lock);
}
