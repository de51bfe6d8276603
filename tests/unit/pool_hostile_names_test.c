/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Names that somebody has chosen so that they meet: all have the same crc32. They belong to one worker,
 * whatever the number of workers; that is the definition of the ring. What must not happen is that
 * they meet in the directory too, where every look-up would walk past all of them.
 */
#include "actor/cell/names.h"
#include "actor/cell/system.h"
#include "base/crc32.h"
#include "pool/hash_ring.h"
#include "support/fake_memory.h"
#include "support/test.h"

#include <stdio.h>
#include <troupe/troupe.h>

enum {
    LENGTH = 16,       /* of a name */
    BITS = 3 * LENGTH, /* a, c, e, ... o differ in three bits: these are free */
    FREE = BITS - 32,  /* crc32 is linear: as many are left when it is to stay the same */
    NAMES = 1 << FREE
};

static uint64_t kernel[FREE]; /* sets of bits that can be flipped together */

static const char *name_of(uint64_t bits)
{
    static char name[LENGTH + 1];
    for (int i = 0; i < LENGTH; i++)
        name[i] = (char)('a' + 2 * (bits >> 3 * i & 7));
    return name;
}

static uint32_t crc_of(uint64_t bits)
{
    return tr__crc32(0, name_of(bits), LENGTH);
}

/* Elimination: what is left of a bit after those before it have cancelled all of its crc32. */
static void make_kernel(void)
{
    uint32_t crcs[32]; /* with different highest bits */
    uint64_t sets[32];
    int count = 0, found = 0;
    for (int bit = 0; bit < BITS; bit++) {
        uint32_t crc = crc_of(UINT64_C(1) << bit) ^ crc_of(0);
        uint64_t set = UINT64_C(1) << bit;
        for (int i = 0; i < count; i++) {
            if ((crc ^ crcs[i]) < crc) {
                crc ^= crcs[i];
                set ^= sets[i];
            }
        }
        if (!crc) {
            ck_assert_int_lt(found, FREE);
            kernel[found++] = set;
            continue;
        }
        /* Kept sorted, highest first, so that one pass cancels all. */
        int place = count++;
        for (; place > 0 && crcs[place - 1] < crc; place--) {
            crcs[place] = crcs[place - 1];
            sets[place] = sets[place - 1];
        }
        crcs[place] = crc;
        sets[place] = set;
    }
    ck_assert_int_eq(found, FREE);
}

static const char *hostile(uint32_t number)
{
    uint64_t bits = 0;
    for (int i = 0; i < FREE; i++)
        bits ^= number >> i & 1 ? kernel[i] : 0;
    return name_of(bits);
}

TEST(names_with_one_crc32_belong_to_one_worker, "P-01", "P-02")
{
    struct fake_memory memory;
    struct memory_source source = fake_memory_init(&memory);
    make_kernel();
    for (uint32_t members = 1; members <= TR_WORKERS_MAX; members *= 2) {
        struct hash_ring ring;
        ck_assert_int_eq(tr__hash_ring_init(&ring, &source, RING_OF_WORKERS, members), TR_OK);
        uint32_t worker = tr__hash_ring_find(&ring, hostile(0));
        for (uint32_t i = 0; i < NAMES; i += 7) {
            MODEL_ASSERT(tr__name_is_valid(hostile(i)));
            MODEL_ASSERT(tr__hash_ring_find(&ring, hostile(i)) == worker);
        }
        tr__hash_ring_deinit(&ring);
    }
}

/* How many entries the longest bucket of a directory has, and how many are in all. */
static size_t longest_chain(struct names *names, size_t *count)
{
    size_t longest = 0;
    *count = 0;
    for (int part = 0; part < NAMES_PARTS; part++) {
        struct names_table *table = atomptr_load(&names->parts[part].table, ATOM_RELAXED);
        for (size_t i = 0; table && i <= table->mask; i++) {
            size_t length = 0;
            struct name *name = atomptr_load(&table->buckets[i], ATOM_RELAXED);
            for (; name; name = atomptr_load(&name->next, ATOM_RELAXED))
                length++;
            longest = length > longest ? length : longest;
            *count += length;
        }
    }
    return longest;
}

TEST(names_with_one_crc32_spread_in_the_directory, "P-02")
{
    static struct names names;
    struct memory_source source = {.platform = tr_platform_real()};
    make_kernel();
    for (uint64_t key = 1; key <= 3; key++) {
        tr__names_init(&names, &source, (struct hash_key){key, hash_mix(key)});
        for (uint32_t i = 0; i < NAMES; i++) {
            char path[64];
            struct name *name;
            snprintf(path, sizeof path, "/user/%s", hostile(i));
            MODEL_ASSERT(tr__names_add(&names, path, i + 1, &name) == TR_OK);
        }
        size_t count;
        size_t longest = longest_chain(&names, &count);
        printf("%zu names, the longest bucket has %zu\n", count, longest);
        ck_assert_uint_eq(count, NAMES); /* all different */
        /* Of 65,536 balls in as many urns the fullest has 8 or 9; 16 has one in 10^9 cases. */
        ck_assert_uint_le(longest, 16);
        tr__names_deinit(&names);
    }
}

/* Who knows the key of one system knows nothing of another's. */
TEST(every_system_has_a_key_of_its_own, "P-02")
{
    uint64_t low[8];
    for (int i = 0; i < 8; i++) {
        struct tr_system *system;
        const tr_system_options options = {.size = sizeof options, .workers = 1};
        ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
        low[i] = system->names->key.low;
        ck_assert_uint_ne(system->names->key.low, system->names->key.high);
        for (int k = 0; k < i; k++)
            ck_assert_uint_ne(low[i], low[k]);
        tr_system_free(system);
    }
}

SUITE("pool hostile names", names_with_one_crc32_belong_to_one_worker,
      names_with_one_crc32_spread_in_the_directory, every_system_has_a_key_of_its_own)
