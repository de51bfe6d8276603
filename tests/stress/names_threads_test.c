/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The directory on real threads: some register and unregister a few names as fast as they can, while
 * others look for them without a lock.
 *
 * Each name has a number that grows with each registration, written down before it can be found and
 * again after it was taken out. So a look-up knows the oldest that it may still find.
 */
#include "support/test.h"

#include <pthread.h>
#include <stdio.h>

#include "actor/cell/names.h"

enum { NAMES = 40, WRITERS = 2, READERS = 3 };

static struct names names;
static struct grace_reader readers[READERS];
static atom64 gone[NAMES]; /* the youngest that was taken out */
static atom64 last[NAMES]; /* the youngest that was registered, or is about to be */
static atom32 is_over;
static uint64_t rounds;

static const char *path_of(char *path, size_t size, unsigned number)
{
    snprintf(path, size, "/user/actor-%u", number);
    return path;
}

static void *write_names(void *context)
{
    unsigned index = (unsigned)(uintptr_t)context;
    struct name *held[NAMES] = {0};
    char path[64];
    for (uint64_t round = 1; round <= rounds; round++) {
        unsigned number = index + WRITERS * (unsigned)(round * 7 % (NAMES / WRITERS));
        if (!held[number]) {
            uint64_t ref = atom64_load(&last[number], ATOM_RELAXED) + 1;
            atom64_store(&last[number], ref, ATOM_SEQ_CST);
            ck_assert_int_eq(
                tr__names_add(&names, path_of(path, sizeof path, number), ref, &held[number]),
                TR_OK);
            continue;
        }
        uint64_t ref = atom64_load(&held[number]->shown, ATOM_RELAXED);
        tr__names_remove(&names, held[number]);
        held[number] = NULL;
        atom64_store(&gone[number], ref, ATOM_SEQ_CST);
    }
    return NULL;
}

static void *read_names(void *context)
{
    unsigned index = (unsigned)(uintptr_t)context;
    uint64_t hits = 0;
    char path[64];
    for (unsigned i = 0; !atom32_load(&is_over, ATOM_ACQUIRE); i++) {
        unsigned number = (i * 13 + index) % NAMES;
        uint64_t oldest = atom64_load(&gone[number], ATOM_SEQ_CST);
        uint64_t ref = tr__names_find(&names, &readers[index], path_of(path, sizeof path, number));
        uint64_t youngest = atom64_load(&last[number], ATOM_SEQ_CST);
        if (!ref)
            continue;
        hits++;
        ck_assert_uint_gt(ref, oldest);
        ck_assert_uint_le(ref, youngest);
    }
    return (void *)(uintptr_t)hits;
}

TEST(a_look_up_finds_nobody_who_had_gone, "P-02", "L-07", "WP-14")
{
    struct memory_source source = {.platform = tr_platform_real()};
    pthread_t writers[WRITERS];
    pthread_t looking[READERS];
    uint64_t hits = 0;
    rounds = test_scale(200000, 5000000);
    tr__names_init(&names, &source, (struct hash_key){1, 2});
    for (unsigned i = 0; i < READERS; i++) {
        grace_join(&names.grace, &readers[i]);
        pthread_create(&looking[i], NULL, read_names, (void *)(uintptr_t)i);
    }
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_create(&writers[i], NULL, write_names, (void *)(uintptr_t)i);
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    atom32_store(&is_over, 1, ATOM_RELEASE);
    for (unsigned i = 0; i < READERS; i++) {
        void *count;
        pthread_join(looking[i], &count);
        hits += (uint64_t)(uintptr_t)count;
    }
    ck_assert_uint_gt(hits, 0);
    tr__names_deinit(&names);
}

SUITE("names on threads", a_look_up_finds_nobody_who_had_gone)
