/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/rate.h"

#include <string.h>

#include "actor/cell/names.h"
#include "actor/cell/system.h"
#include "base/hash.h"

enum { PLACES = 4096, TRIES = 8 };

/* The tokens of one name. A request takes one token. */
struct bucket {
    uint64_t name; /* hash of the name; 0: this entry is free */
    tr_time at_ns; /* when the bucket was used last */
    double tokens;
};

struct rates {
    struct lock lock;
    struct bucket buckets[PLACES];
};

static void rates_free(struct tr_system *system)
{
    struct rates *rates = atomptr_load(&system->gateway.rates, ATOM_ACQUIRE);
    source_resize(&system->source, rates, 0);
}

/*
 * Returns the table of the system. If there is none yet, makes it. Returns NULL if there is no
 * memory.
 */
static struct rates *rates_of(struct tr_system *system)
{
    struct rates *rates = atomptr_load(&system->gateway.rates, ATOM_ACQUIRE);
    if (rates)
        return rates;
    struct rates *made = source_resize(&system->source, NULL, sizeof *made);
    if (!made)
        return NULL;
    memset(made, 0, sizeof *made);
    lock_init(&made->lock);
    lock_take(&system->gateway.lock);
    rates = atomptr_load(&system->gateway.rates, ATOM_ACQUIRE);
    if (!rates) {
        rates = made;
        system->gateway.free = rates_free;
        atomptr_store(&system->gateway.rates, rates, ATOM_RELEASE);
    }
    lock_give(&system->gateway.lock);
    if (rates != made)
        source_resize(&system->source, made, 0);
    return rates;
}

/*
 * Finds the bucket of a name. If there is none, makes one, in the place of the bucket that was
 * unused for the longest time.
 */
static struct bucket *bucket_of(struct rates *rates, uint64_t name, tr_time now_ns, uint32_t full)
{
    struct bucket *oldest = NULL;
    for (uint64_t i = 0; i < TRIES; i++) {
        struct bucket *bucket = &rates->buckets[(name + i) % PLACES];
        if (bucket->name == name)
            return bucket;
        if (!oldest || !bucket->name || (oldest->name && bucket->at_ns < oldest->at_ns))
            oldest = bucket;
    }
    *oldest = (struct bucket){.name = name, .at_ns = now_ns, .tokens = full};
    return oldest;
}

uint64_t tr__rate_name(struct tr_self *self, const char *caller)
{
    return hash_bytes(self->worker->system->names->key, caller, strlen(caller)) | 1;
}

uint32_t tr__rate_count(struct tr_self *self, const char *caller, uint32_t per_minute)
{
    if (!caller || !per_minute)
        return 0;
    return tr__rate_count_name(self, tr__rate_name(self, caller), per_minute);
}

uint32_t tr__rate_count_name(struct tr_self *self, uint64_t name, uint32_t per_minute)
{
    struct rates *rates = rates_of(self->worker->system);
    if (!rates)
        return 0;
    tr_time now_ns = tr_now(self);
    double rate = (double)per_minute / (double)TR_MINUTE;
    uint32_t wait_s = 0;
    lock_take(&rates->lock);
    struct bucket *bucket = bucket_of(rates, name, now_ns, per_minute);
    bucket->tokens += (double)(now_ns - bucket->at_ns) * rate;
    bucket->at_ns = now_ns;
    if (bucket->tokens > per_minute)
        bucket->tokens = per_minute;
    if (bucket->tokens >= 1)
        bucket->tokens -= 1;
    else
        wait_s = 1 + (uint32_t)((1 - bucket->tokens) / rate / (double)TR_SECOND);
    lock_give(&rates->lock);
    return wait_s;
}
