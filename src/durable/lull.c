/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/lull.h"

#include <string.h>

#include "actor/life/pooled.h"
#include "actor/life/spawn.h"
#include "durable/actor.h"
#include "durable/clock.h"

struct lull {
    struct list link; /* of host->lulls, by key */
    const struct durable_kind *kind;
    uint32_t failures;
    bool is_over; /* the next one begins at once, and failures are remembered until forget_ns */
    tr_time until_ns;
    tr_time forget_ns;
    struct cell *next; /* who waits, NULL: nobody */
    uint32_t vain;     /* generations in a row that have got nothing done of their queues */
    tr_time wake_ns;   /* when the next one is begun for them; TR_NEVER: it is not */
    size_t key_size;
    char key[];
};

/* ---- Under the lock. ---- */

static struct lull *find(struct durable_host *host, const struct durable_kind *kind, tr_bytes key)
{
    LIST_EACH (link, &host->lulls[tr__host_part(host, kind, key)]) {
        struct lull *lull = LIST_OWNER(link, struct lull, link);
        if (lull->kind == kind && lull->key_size == key.size &&
            memcmp(lull->key, key.data, key.size) == 0)
            return lull;
    }
    return NULL;
}

static void forget(struct durable_host *host, struct lull *lull)
{
    list_remove(&lull->link);
    atom32_fetch_sub(&host->lull_count, 1, ATOM_RELAXED);
    source_resize(&host->system->source, lull, 0);
}

static struct lull *make(struct durable_host *host, const struct durable_kind *kind, tr_bytes key)
{
    if (atom32_load(&host->lull_count, ATOM_RELAXED) >= LULLS_MAX)
        return NULL;
    struct lull *lull = source_resize(&host->system->source, NULL, sizeof *lull + key.size);
    if (!lull)
        return NULL;
    *lull = (struct lull){.kind = kind, .key_size = key.size, .wake_ns = TR_NEVER};
    memcpy(lull->key, key.data, key.size);
    list_push_last(&host->lulls[tr__host_part(host, kind, key)], &lull->link);
    atom32_fetch_add(&host->lull_count, 1, ATOM_SEQ_CST);
    return lull;
}

/* ---- Beginning and end. ---- */

static tr_time length_of(const struct durable_kind *kind, uint32_t failures, struct rng *rng)
{
    tr_time most = kind->retry_max_ns;
    tr_time length = kind->retry_ns;
    for (; failures > 0 && length < most; failures--)
        length *= 2;
    if (length > most)
        length = most;
    return length + (tr_time)rng_below(rng, (uint64_t)length / 4 + 1);
}

void tr__lull_begin(struct worker *worker, const struct durable_actor *actor)
{
    const struct durable_kind *kind = actor->kind;
    struct durable_host *host = kind->host;
    tr_time now_ns = worker->loop.now_ns;
    lock_take(&host->lock);
    struct lull *lull = host->is_lull_over ? NULL : find(host, kind, actor_key(actor));
    if (!lull && !host->is_lull_over)
        lull = make(host, kind, actor_key(actor));
    if (lull) {
        lull->until_ns = now_ns + length_of(kind, lull->failures++, &worker->rng);
        tr_time forget_ns = lull->until_ns + kind->retry_max_ns;
        lull->forget_ns = lull->forget_ns > forget_ns ? lull->forget_ns : forget_ns;
        lull->is_over = false;
    }
    tr_time until_ns = lull ? lull->until_ns : TR_NEVER;
    lock_give(&host->lock);
    if (until_ns < TR_NEVER)
        tr__clock_tell_lull(worker, host);
}

void tr__lull_forget(const struct durable_actor *actor)
{
    struct durable_host *host = actor->kind->host;
    if (!atom32_load(&host->lull_count, ATOM_RELAXED))
        return;
    lock_take(&host->lock);
    struct lull *lull = find(host, actor->kind, actor_key(actor));
    if (lull && !lull->next && !lull->vain)
        forget(host, lull);
    else if (lull && !lull->next)
        lull->failures = 0;
    lock_give(&host->lock);
}

void tr__lull_wake_later(struct worker *worker, const struct durable_actor *actor)
{
    const struct durable_kind *kind = actor->kind;
    struct durable_host *host = kind->host;
    tr_time now_ns = worker->loop.now_ns;
    lock_take(&host->lock);
    struct lull *lull = host->is_lull_over ? NULL : find(host, kind, actor_key(actor));
    if (!lull && !host->is_lull_over) {
        lull = make(host, kind, actor_key(actor));
        if (lull)
            lull->is_over = true; /* a request begins the key at once */
    }
    if (lull) {
        lull->wake_ns = now_ns + length_of(kind, lull->vain++, &worker->rng);
        lull->forget_ns = lull->wake_ns + kind->retry_max_ns;
    }
    lock_give(&host->lock);
    if (lull)
        tr__clock_tell_lull(worker, host);
}

void tr__lull_done(const struct durable_actor *actor)
{
    struct durable_host *host = actor->kind->host;
    if (!atom32_load(&host->lull_count, ATOM_RELAXED))
        return;
    lock_take(&host->lock);
    struct lull *lull = find(host, actor->kind, actor_key(actor));
    if (lull) {
        lull->vain = 0;
        lull->wake_ns = TR_NEVER;
    }
    lock_give(&host->lock);
}

bool tr__lull_defer(const struct durable_kind *kind, tr_bytes key, struct cell *cell)
{
    struct durable_host *host = kind->host;
    if (!atom32_load(&host->lull_count, ATOM_SEQ_CST))
        return false;
    lock_take(&host->lock);
    struct lull *lull = host->is_lull_over ? NULL : find(host, kind, key);
    bool waits = lull && !lull->is_over && !lull->next;
    if (waits)
        lull->next = cell;
    lock_give(&host->lock);
    return waits;
}

/* Takes a key that is to be begun for its queues; false: there is none. */
static bool take_due(struct durable_host *host, tr_time now_ns, const struct durable_kind **kind,
                     char key[TR_KEY_MAX], size_t *key_size)
{
    bool is_found = false;
    lock_take(&host->lock);
    for (int i = 0; i < LEAVING_PARTS && !is_found; i++) {
        LIST_EACH (link, &host->lulls[i]) {
            struct lull *lull = LIST_OWNER(link, struct lull, link);
            if (lull->wake_ns > now_ns || is_found)
                continue;
            lull->wake_ns = TR_NEVER;
            *kind = lull->kind;
            *key_size = lull->key_size;
            memcpy(key, lull->key, lull->key_size);
            is_found = true;
        }
    }
    lock_give(&host->lock);
    return is_found;
}

/* Those whose queues are to be looked at again. Not under the lock, which their names need. */
static void begin_due(struct worker *worker, struct durable_host *host, tr_time now_ns)
{
    const struct durable_kind *kind = NULL;
    char key[TR_KEY_MAX];
    size_t key_size = 0;
    while (take_due(host, now_ns, &kind, key, &key_size))
        tr__host_begin(worker, kind, (tr_bytes){key, key_size});
}

static tr_time earlier(tr_time left, tr_time right)
{
    return left < right ? left : right;
}

tr_time tr__lulls_end(struct worker *worker, struct durable_host *host, tr_time now_ns)
{
    tr_time first_ns = TR_NEVER;
    if (!atom32_load(&host->lull_count, ATOM_RELAXED))
        return TR_NEVER;
    begin_due(worker, host, now_ns);
    lock_take(&host->lock);
    for (int i = 0; i < LEAVING_PARTS; i++) {
        LIST_EACH (link, &host->lulls[i]) {
            struct lull *lull = LIST_OWNER(link, struct lull, link);
            if (!lull->is_over && lull->until_ns <= now_ns) {
                lull->is_over = true;
                if (lull->next)
                    tr__pooled_begin(worker, lull->next);
                lull->next = NULL;
            }
            if (lull->is_over && lull->forget_ns <= now_ns) {
                forget(host, lull);
                continue;
            }
            tr_time look_ns = lull->is_over ? lull->forget_ns : lull->until_ns;
            first_ns = earlier(first_ns, earlier(look_ns, lull->wake_ns));
        }
    }
    lock_give(&host->lock);
    return first_ns;
}

/* Gives one that waits, and takes it out; NULL: nobody waits any more. */
static struct cell *take_next(struct durable_host *host)
{
    struct cell *next = NULL;
    lock_take(&host->lock);
    host->is_lull_over = true;
    for (int i = 0; i < LEAVING_PARTS && !next; i++) {
        LIST_EACH (link, &host->lulls[i]) {
            struct lull *lull = LIST_OWNER(link, struct lull, link);
            if (!lull->next)
                continue;
            next = lull->next;
            lull->next = NULL;
            break;
        }
    }
    lock_give(&host->lock);
    return next;
}

void tr__lulls_close(struct worker *worker, struct durable_host *host)
{
    struct cell *next;
    while ((next = take_next(host)))
        tr__pooled_begin(worker, next);
}

void tr__lulls_stop(struct worker *worker, struct durable_host *host)
{
    struct cell *next;
    while ((next = take_next(host))) {
        /* It ends without a set-up, and its parent, which has not been told to stop yet, waits for that. */
        atom32_fetch_or(&next->control, CONTROL_KILL, ATOM_SEQ_CST);
        tr__spawn_mount(worker, next);
    }
}

void tr__lulls_free(struct durable_host *host)
{
    for (int i = 0; i < LEAVING_PARTS; i++) {
        LIST_EACH (link, &host->lulls[i])
            forget(host, LIST_OWNER(link, struct lull, link));
    }
}
