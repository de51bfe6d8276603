/* SPDX-License-Identifier: Apache-2.0 */
/** The locks and the memory that the connections of one store share within a process. */
#include "store/sqlite/shm.h"

#include "base/assert.h"

#include <string.h>

/* The first of the slots that readers lock. SQLite calls it WAL_READ_LOCK(0). */
enum { READERS_AT = 3 };

/* The head of the index of the log. The index has two copies of its head; see walformat.html of
 * SQLite. */
struct index_head {
    uint32_t version;
    uint32_t unused;
    uint32_t changes; /* each transaction increments this count */
    uint8_t is_made;
    uint8_t is_big_endian;
    uint16_t page_size;
    uint32_t frames;
    uint32_t pages; /* number of pages of the database */
    uint32_t frame_sum[2];
    uint32_t salt[2];
    uint32_t sum[2]; /* sum of all members above */
};
_Static_assert(sizeof(struct index_head) == 48, "the size that SQLite's format says");
enum { INDEX_VERSION = 3007000 };

void tr__shm_init(struct shm *shm, const struct memory_source *source)
{
    *shm = (struct shm){.source = *source};
    lock_init(&shm->lock);
}

static void free_regions(struct shm *shm)
{
    for (size_t i = 0; i < shm->region_count; i++)
        source_resize(&shm->source, shm->regions[i], 0);
    source_resize(&shm->source, shm->regions, 0);
    shm->regions = NULL;
    shm->region_count = 0;
}

void tr__shm_deinit(struct shm *shm)
{
    TR_ASSERT(shm->users == 0);
    TR_ASSERT(shm->shared == 0);
    free_regions(shm);
}

/* Raises the lock of a connection on the database file to `level`. Call with the lock of `shm`. */
static int raise_level(struct shm *shm, struct shm_user *user, int level)
{
    if (user->level == SQLITE_LOCK_NONE) {
        if (shm->exclusive)
            return SQLITE_BUSY;
        shm->shared++;
        user->level = SQLITE_LOCK_SHARED;
    }
    if (level >= SQLITE_LOCK_RESERVED && user->level < SQLITE_LOCK_RESERVED) {
        if (shm->reserved && shm->reserved != user)
            return SQLITE_BUSY;
        shm->reserved = user;
        user->level = SQLITE_LOCK_RESERVED;
    }
    if (level == SQLITE_LOCK_EXCLUSIVE && user->level < SQLITE_LOCK_EXCLUSIVE) {
        /* When a connection closes, it tries this lock to find out whether it is the last
         * connection. It does not wait for the lock. So a failed attempt must not keep other
         * connections out, as SQLite's pending lock would. */
        if (shm->shared > 1)
            return SQLITE_BUSY;
        shm->exclusive = user;
        user->level = SQLITE_LOCK_EXCLUSIVE;
    }
    return SQLITE_OK;
}

int tr__shm_lock_file(struct shm *shm, struct shm_user *user, int level)
{
    if (user->level >= level)
        return SQLITE_OK;
    lock_take(&shm->lock);
    int result = raise_level(shm, user, level);
    lock_give(&shm->lock);
    return result;
}

int tr__shm_unlock_file(struct shm *shm, struct shm_user *user, int level)
{
    lock_take(&shm->lock);
    if (user->level > SQLITE_LOCK_SHARED) {
        if (shm->exclusive == user)
            shm->exclusive = NULL;
        if (shm->reserved == user)
            shm->reserved = NULL;
        user->level = SQLITE_LOCK_SHARED;
    }
    if (level == SQLITE_LOCK_NONE && user->level == SQLITE_LOCK_SHARED) {
        TR_ASSERT(shm->shared > 0);
        shm->shared--;
        user->level = SQLITE_LOCK_NONE;
    }
    lock_give(&shm->lock);
    return SQLITE_OK;
}

bool tr__shm_is_reserved(struct shm *shm)
{
    lock_take(&shm->lock);
    bool is_reserved = shm->reserved != NULL;
    lock_give(&shm->lock);
    return is_reserved;
}

/* Adds regions until there is a region with this index. Call with the lock. */
static bool shm_extend(struct shm *shm, size_t index, size_t size)
{
    void **regions = source_resize(&shm->source, shm->regions, (index + 1) * sizeof *shm->regions);
    if (!regions)
        return false;
    shm->regions = regions;
    while (shm->region_count <= index) {
        void *region = source_resize(&shm->source, NULL, size);
        if (!region)
            return false;
        memset(region, 0, size);
        shm->regions[shm->region_count++] = region;
    }
    return true;
}

int tr__shm_map(struct shm *shm, struct shm_user *user, int index, int size, bool may_extend,
                void volatile **region)
{
    int result = SQLITE_OK;
    *region = NULL;
    lock_take(&shm->lock);
    if (!user->is_mapped) {
        user->is_mapped = true;
        shm->users++;
    }
    if ((size_t)index >= shm->region_count && may_extend &&
        !shm_extend(shm, (size_t)index, (size_t)size))
        result = SQLITE_NOMEM;
    if ((size_t)index < shm->region_count)
        *region = shm->regions[index];
    lock_give(&shm->lock);
    return result;
}

/* Locks or unlocks `count` slots of the log, as `flags` say. Call with the lock of `shm`. */
static int change_slots(struct shm *shm, struct shm_user *user, int first, int count, int flags)
{
    for (int i = first; i < first + count; i++) {
        uint32_t bit = UINT32_C(1) << i;
        int *slot = &shm->slots[i];
        if (flags & SQLITE_SHM_UNLOCK) {
            if (user->exclusive & bit)
                *slot = 0;
            else if (user->shared & bit)
                (*slot)--;
            user->exclusive &= ~bit;
            user->shared &= ~bit;
        } else if (flags & SQLITE_SHM_SHARED) {
            if (*slot < 0 || (shm->is_barred && i >= READERS_AT))
                return SQLITE_BUSY;
            if (!(user->shared & bit))
                (*slot)++;
            user->shared |= bit;
        } else if (*slot != 0 && !(user->exclusive & bit)) {
            return SQLITE_BUSY;
        }
    }
    return SQLITE_OK;
}

int tr__shm_lock(struct shm *shm, struct shm_user *user, int first, int count, int flags)
{
    lock_take(&shm->lock);
    int result = change_slots(shm, user, first, count, flags);
    if (result == SQLITE_OK && flags == (SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE)) {
        for (int i = first; i < first + count; i++) {
            shm->slots[i] = -1;
            user->exclusive |= UINT32_C(1) << i;
        }
    }
    lock_give(&shm->lock);
    return result;
}

void tr__shm_barrier(struct shm *shm)
{
    /* Taking the lock is the memory barrier. A thread that takes the lock later sees what this
     * thread wrote before. */
    lock_take(&shm->lock);
    lock_give(&shm->lock);
}

void tr__shm_unmap(struct shm *shm, struct shm_user *user)
{
    lock_take(&shm->lock);
    if (user->is_mapped) {
        (void)change_slots(shm, user, 0, SQLITE_SHM_NLOCK, SQLITE_SHM_UNLOCK);
        user->is_mapped = false;
        /* The last connection frees the index. The next connection builds the index again from the log. */
        if (--shm->users == 0)
            free_regions(shm);
    }
    lock_give(&shm->lock);
}

bool tr__shm_bar(struct shm *shm)
{
    bool is_reading = false;
    lock_take(&shm->lock);
    shm->is_barred = true;
    for (int i = READERS_AT; i < SQLITE_SHM_NLOCK; i++)
        is_reading = is_reading || shm->slots[i] != 0;
    lock_give(&shm->lock);
    return !is_reading;
}

void tr__shm_admit(struct shm *shm)
{
    lock_take(&shm->lock);
    shm->is_barred = false;
    lock_give(&shm->lock);
}

bool tr__shm_renew(struct shm *shm)
{
    struct index_head heads[2];
    lock_take(&shm->lock);
    bool is_empty = shm->is_barred && shm->region_count > 0;
    if (is_empty) {
        memcpy(heads, shm->regions[0], sizeof heads);
        is_empty = heads[0].version == INDEX_VERSION && heads[0].is_made && heads[0].frames == 0 &&
                   memcmp(&heads[0], &heads[1], sizeof heads[0]) == 0;
    }
    if (is_empty) {
        uint32_t words[sizeof(struct index_head) / 4];
        uint32_t *sum = words + sizeof words / 4 - 2;
        heads[0].changes++;
        heads[0].pages = 0; /* not known */
        memcpy(words, &heads[0], sizeof words);
        sum[0] = sum[1] = 0;
        for (const uint32_t *word = words; word < sum; word += 2) {
            sum[0] += word[0] + sum[1];
            sum[1] += word[1] + sum[0];
        }
        memcpy(&heads[0], words, sizeof words);
        heads[1] = heads[0];
        memcpy(shm->regions[0], heads, sizeof heads);
    }
    lock_give(&shm->lock);
    return is_empty;
}
