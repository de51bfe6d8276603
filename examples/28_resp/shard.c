/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A shard: a hash table. Its buckets are in the order of hashes, also when it has grown, so that a scan continues at a
 * hash. Keys whose time is over are dropped when they are looked for, and bucket by bucket meanwhile.
 */
#include "shard.h"
#include "resp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const tr_time SWEEP_NS = 100 * TR_MILLISECOND;
enum {
    BUCKETS_MIN_BITS = 4,
    SWEEP_BUCKETS = 4096,
    EMPTY_BUCKETS_MAX = 4096,
    DONE_BYTES = 1024 * 1024 /* with so much a reply is large */
};

TR_MESSAGE(sweep);

struct entry {
    struct entry *next;
    uint64_t hash;
    tr_time end; /* when its time is over; 0: never */
    uint32_t key_size;
    uint32_t value_size;
    unsigned char bytes[]; /* key and value */
};

struct shard {
    struct entry **buckets;
    int bits; /* of a hash that say which bucket: the highest ones */
    size_t count;
    size_t mortal_count; /* of entries that have an end */
    size_t swept;        /* the bucket where the next sweep begins */
};

/* Eight bytes at a time. */
uint64_t hash_of(tr_bytes key, uint64_t seed)
{
    const unsigned char *at = key.data;
    uint64_t hash = seed ^ key.size;
    for (size_t left = key.size; left > 0;) {
        uint64_t word = 0;
        size_t count = left < sizeof word ? left : sizeof word;
        memcpy(&word, at, count);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
        at += count;
        left -= count;
    }
    hash *= UINT64_C(0xd6e8feb86659fd93);
    return hash ^ hash >> 32;
}

static size_t bucket_of(const struct shard *shard, uint64_t hash)
{
    return (size_t)(hash >> (64 - shard->bits));
}

static size_t bucket_count(const struct shard *shard)
{
    return (size_t)1 << shard->bits;
}

static tr_bytes value_of(const struct entry *entry)
{
    return (tr_bytes){entry->bytes + entry->key_size, entry->value_size};
}

static void copy(unsigned char *to, tr_bytes bytes)
{
    if (bytes.size > 0)
        memcpy(to, bytes.data, bytes.size);
}

static bool has_key(const struct entry *entry, uint64_t hash, tr_bytes key)
{
    return entry->hash == hash && entry->key_size == key.size &&
           (key.size == 0 || memcmp(entry->bytes, key.data, key.size) == 0);
}

static void drop(tr_self *self, struct shard *shard, struct entry **at)
{
    struct entry *entry = *at;
    *at = entry->next;
    shard->count--;
    shard->mortal_count -= entry->end != 0;
    tr_free(self, entry);
}

/* Where the entry of the key of a job is linked, or would be. One whose time is over is dropped. */
static struct entry **find(tr_self *self, struct shard *shard, const struct job *job)
{
    struct entry **at = &shard->buckets[bucket_of(shard, job->hash)];
    while (*at && !has_key(*at, job->hash, job->key))
        at = &(*at)->next;
    if (*at && (*at)->end && (*at)->end <= tr_now(self))
        drop(self, shard, at);
    return at;
}

/* Twice as many buckets. Without memory for them the lists grow longer. */
static void grow(tr_self *self, struct shard *shard)
{
    size_t old_count = bucket_count(shard);
    struct entry **buckets = tr_try_alloc(self, 2 * old_count * sizeof(struct entry *));
    if (!buckets)
        return;
    struct entry **old = shard->buckets;
    shard->buckets = buckets;
    shard->bits++;
    shard->swept = 0;
    for (size_t i = 0; i < old_count; i++) {
        while (old[i]) {
            struct entry *entry = old[i];
            old[i] = entry->next;
            struct entry **at = &buckets[bucket_of(shard, entry->hash)];
            entry->next = *at;
            *at = entry;
        }
    }
    tr_free(self, old);
}

static void set_end(tr_self *self, struct shard *shard, struct entry *entry, tr_time lifetime_ns)
{
    shard->mortal_count -= entry->end != 0;
    entry->end = 0;
    if (lifetime_ns == 0)
        return;
    entry->end = tr_now(self) + lifetime_ns;
    if (shard->mortal_count++ == 0)
        tr_timer_fixed_delay(self, "sweep", SWEEP_NS, sweep);
}

static struct entry *new_entry(tr_self *self, const struct entry *old, const struct job *job,
                               size_t value_size)
{
    struct entry *entry = tr_try_alloc(self, sizeof *entry + job->key.size + value_size);
    if (!entry)
        return NULL;
    *entry = (struct entry){.next = old ? old->next : NULL,
                            .hash = job->hash,
                            .end = old ? old->end : 0,
                            .key_size = (uint32_t)job->key.size,
                            .value_size = (uint32_t)value_size};
    copy(entry->bytes, job->key);
    return entry;
}

/* Puts a value in the place of what is at `at`, and keeps its end. Returns the entry; NULL: out of memory. */
static struct entry *put(tr_self *self, struct shard *shard, struct entry **at,
                         const struct job *job, tr_bytes value)
{
    struct entry *old = *at;
    struct entry *entry = old;
    if (!old || old->value_size != value.size) {
        entry = new_entry(self, old, job, value.size);
        if (!entry)
            return NULL;
        *at = entry;
        tr_free(self, old);
    }
    copy(entry->bytes + job->key.size, value);
    if (!old && ++shard->count > bucket_count(shard) && shard->bits < 32)
        grow(self, shard);
    return entry;
}

/* ---- Jobs: what is done with one key. ---- */

static struct result number_result(int64_t number)
{
    return (struct result){.number = number};
}

static struct result outcome_result(enum outcome outcome)
{
    return (struct result){.outcome = outcome};
}

/* A copy, because a later job may change the value. */
static struct result do_get(tr_self *self, struct shard *shard, const struct job *job)
{
    const struct entry *entry = *find(self, shard, job);
    if (!entry)
        return outcome_result(NOT_DONE);
    tr_bytes value = value_of(entry);
    unsigned char *text = tr_scratch(self, value.size);
    copy(text, value);
    return (struct result){.value = {text, value.size}};
}

static struct result do_set(tr_self *self, struct shard *shard, const struct job *job)
{
    struct entry **at = find(self, shard, job);
    if (job->verb != SET && (job->verb == SET_THERE) != (*at != NULL))
        return outcome_result(NOT_DONE);
    struct entry *entry = put(self, shard, at, job, job->value);
    if (!entry)
        return outcome_result(NO_SPACE);
    set_end(self, shard, entry, job->number);
    return outcome_result(DONE);
}

static struct result do_del(tr_self *self, struct shard *shard, const struct job *job)
{
    struct entry **at = find(self, shard, job);
    bool was_there = *at != NULL;
    if (was_there)
        drop(self, shard, at);
    return number_result(was_there);
}

static struct result do_exists(tr_self *self, struct shard *shard, const struct job *job)
{
    return number_result(*find(self, shard, job) != NULL);
}

static struct result do_add(tr_self *self, struct shard *shard, const struct job *job)
{
    struct entry **at = find(self, shard, job);
    int64_t number = 0;
    char text[24];
    if (*at && !resp_number(value_of(*at), &number))
        return outcome_result(NOT_A_NUMBER);
    if (__builtin_add_overflow(number, job->number, &number))
        return outcome_result(OVERFLOWS);
    size_t size = (size_t)snprintf(text, sizeof text, "%" PRId64, number);
    if (!put(self, shard, at, job, (tr_bytes){text, size}))
        return outcome_result(NO_SPACE);
    return number_result(number);
}

static struct result do_expire(tr_self *self, struct shard *shard, const struct job *job)
{
    struct entry **at = find(self, shard, job);
    bool was_there = *at != NULL;
    if (was_there && job->number > 0)
        set_end(self, shard, *at, job->number);
    else if (was_there)
        drop(self, shard, at);
    return number_result(was_there);
}

static struct result do_ttl(tr_self *self, struct shard *shard, const struct job *job)
{
    const struct entry *entry = *find(self, shard, job);
    if (!entry)
        return number_result(TTL_NO_KEY);
    return number_result(entry->end ? entry->end - tr_now(self) : TTL_NONE);
}

static struct result do_count(tr_self *self, struct shard *shard, const struct job *job)
{
    (void)self;
    (void)job;
    return number_result((int64_t)shard->count);
}

static struct result do_clear(tr_self *self, struct shard *shard, const struct job *job)
{
    (void)job;
    for (size_t i = 0; i < bucket_count(shard); i++) {
        while (shard->buckets[i])
            drop(self, shard, &shard->buckets[i]);
    }
    return outcome_result(DONE);
}

static struct result (*const verbs[VERBS])(tr_self *self, struct shard *shard,
                                           const struct job *job) = {
    [GET] = do_get,
    [SET] = do_set,
    [SET_MISSING] = do_set,
    [SET_THERE] = do_set,
    [DEL] = do_del,
    [EXISTS] = do_exists,
    [ADD] = do_add,
    [EXPIRE] = do_expire,
    [TTL] = do_ttl,
    [COUNT] = do_count,
    [CLEAR] = do_clear,
};

static tr_next on_work(tr_self *self, struct shard *shard, const struct work *message)
{
    size_t count = message->jobs.count;
    struct result *results = tr_scratch(self, count * sizeof *results);
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        const struct job *job = &message->jobs.items[i];
        if (size < DONE_BYTES)
            results[i] = verbs[job->verb](self, shard, job);
        else
            results[i] = outcome_result(LATER);
        size += results[i].value.size;
    }
    return tr_reply(self, done, .results = {results, count});
}

/* ---- Lists of keys. ---- */

static size_t bucket_size(const struct entry *entry)
{
    size_t size = 0;
    for (; entry; entry = entry->next)
        size++;
    return size;
}

/* The keys of a bucket that match, borrowed from the table. */
static size_t list_bucket(const struct entry *entry, tr_bytes pattern, tr_time now, tr_bytes *keys)
{
    size_t count = 0;
    for (; entry; entry = entry->next) {
        tr_bytes key = {entry->bytes, entry->key_size};
        bool is_over = entry->end && entry->end <= now;
        if (!is_over && resp_matches(pattern, key))
            keys[count++] = key;
    }
    return count;
}

/* Buckets are listed whole: where to continue is a hash, which means the same when the table has grown meanwhile. */
static tr_next on_scan(tr_self *self, struct shard *shard, const struct scan *message)
{
    size_t bucket = bucket_of(shard, (uint64_t)message->from << 32);
    size_t end = bucket;
    size_t end_max = bucket + EMPTY_BUCKETS_MAX + message->count;
    size_t size = 0;
    if (end_max > bucket_count(shard))
        end_max = bucket_count(shard);
    while (end < end_max && size < message->count)
        size += bucket_size(shard->buckets[end++]);
    tr_bytes *keys = tr_scratch(self, size * sizeof *keys);
    size_t count = 0;
    for (; bucket < end; bucket++)
        count += list_bucket(shard->buckets[bucket], message->pattern, tr_now(self), keys + count);
    bool is_last = end == bucket_count(shard);
    uint64_t next = is_last ? 0 : (uint64_t)end << (64 - shard->bits) >> 32;
    return tr_reply(self, page, .keys = {keys, count}, .next = (uint32_t)next, .is_last = is_last);
}

/* ---- Time. ---- */

static tr_next on_sweep(tr_self *self, struct shard *shard)
{
    tr_time now = tr_now(self);
    for (int i = 0; i < SWEEP_BUCKETS && shard->mortal_count > 0; i++) {
        shard->swept = (shard->swept + 1) % bucket_count(shard);
        struct entry **at = &shard->buckets[shard->swept];
        while (*at) {
            if ((*at)->end && (*at)->end <= now)
                drop(self, shard, at);
            else
                at = &(*at)->next;
        }
    }
    if (shard->mortal_count == 0)
        tr_timer_cancel(self, "sweep");
    return TR_SAME;
}

static tr_next set_up(tr_self *self, struct shard *shard)
{
    shard->bits = BUCKETS_MIN_BITS;
    shard->buckets = tr_alloc(self, bucket_count(shard) * sizeof(struct entry *));
    return TR_SAME;
}

TR_BEHAVIOR(shard, struct shard, TR_SETUP(set_up), TR_ON(work, on_work), TR_ON(scan, on_scan),
            TR_ON(sweep, on_sweep));
