/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The hash ring against the vectors and distributions that define it.
 */
#include "pool/hash_ring.h"

#include <troupe/pool.h>

#include "base/crc32.h"
#include "support/fake_memory.h"
#include "support/test.h"

#include <stdio.h>

enum { NAMES = 10000 };

static uint32_t crc_of(const char *text)
{
    return tr__crc32(0, text, strlen(text));
}

/* Bit by bit, as the polynomial is defined. */
static uint32_t crc_slowly(const unsigned char *bytes, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}

TEST(crc32_is_that_of_zlib, "P-01")
{
    ck_assert_uint_eq(crc_of("orders"), 3845127662u);
    ck_assert_uint_eq(crc_of("123456789"), 0xcbf43926u); /* the check value of CRC-32 */
    ck_assert_uint_eq(crc_of(""), 0);
    ck_assert_uint_eq(crc_of("a"), 0xe8b7be43u);
    ck_assert_uint_eq(crc_of("The quick brown fox jumps over the lazy dog"), 0x414fa339u);
}

TEST(crc32_of_every_length_and_cut_is_the_division, "P-01")
{
    unsigned char bytes[70];
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)fake_random(&random);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        uint32_t wanted = crc_slowly(bytes, size);
        for (size_t cut = 0; cut <= size; cut++) {
            uint32_t first = tr__crc32(0, bytes, cut);
            MODEL_ASSERT(tr__crc32(first, bytes + cut, size - cut) == wanted);
        }
    }
}

struct vector {
    int members;
    const char *name;
    int member;
};

static void check_vectors(char prefix, const struct vector *vectors, size_t count)
{
    struct fake_memory memory;
    struct memory_source source = fake_memory_init(&memory);
    for (size_t i = 0; i < count; i++) {
        struct hash_ring ring;
        uint32_t members = (uint32_t)vectors[i].members;
        ck_assert_int_eq(tr__hash_ring_init(&ring, &source, prefix, members), TR_OK);
        ck_assert_int_eq((int)tr__hash_ring_find(&ring, vectors[i].name), vectors[i].member);
        ck_assert_int_eq((int)tr__hash_ring_compute(prefix, members, vectors[i].name),
                         vectors[i].member);
        tr__hash_ring_deinit(&ring);
    }
    ck_assert_uint_eq(memory.blocks, 0);
}

TEST(names_belong_to_the_workers_of_the_vectors, "P-01")
{
    static const struct vector vectors[] = {
        {2, "counter", 1},
        {4, "orders", 0},
        {4, "payments", 0},
        {4, "counter", 2},
        {4, "orders-1", 1},
        {4, "orders-2", 3},
        {4, "inventory", 2},
        {8, "orders", 6},
        {8, "cart", 6},
        {8, "user-42", 4},
    };
    size_t count = sizeof vectors / sizeof *vectors;
    check_vectors(RING_OF_WORKERS, vectors, count);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(tr_pool_worker_of(vectors[i].name, vectors[i].members), vectors[i].member);
}

TEST(names_belong_to_the_nodes_of_the_vectors, "N-01")
{
    static const struct vector vectors[] = {
        {3, "orders", 0},
        {3, "payments", 2},
        {3, "counter", 2},
        {3, "orders-1", 1},
        {3, "user-42", 1},
        {3, "cart", 0},
    };
    check_vectors(RING_OF_NODES, vectors, sizeof vectors / sizeof *vectors);
}

static const char *name_of(int number)
{
    static char name[32];
    snprintf(name, sizeof name, "actor-%d", number);
    return name;
}

TEST(ten_thousand_names_spread_as_promised, "P-01", "WP-13")
{
    static const int promised[][8] = {
        {6724, 3276},
        {2749, 2299, 2533, 2419},
        {1241, 1288, 1336, 1243, 1331, 1116, 1249, 1196},
    };
    struct fake_memory memory;
    struct memory_source source = fake_memory_init(&memory);
    for (int i = 0; i < 3; i++) {
        struct hash_ring ring;
        ck_assert_int_eq(tr__hash_ring_init(&ring, &source, RING_OF_WORKERS, 2u << i), TR_OK);
        int counts[8] = {0};
        for (int number = 0; number < NAMES; number++)
            counts[tr__hash_ring_find(&ring, name_of(number))]++;
        for (int worker = 0; worker < 8; worker++)
            ck_assert_int_eq(counts[worker], promised[i][worker]);
        tr__hash_ring_deinit(&ring);
    }
}

/*
 * Names move to the new member only, and to a worker no more than its share and 5 % of all. The second
 * of two nodes has 59 % by definition, so the bound is not promised for nodes.
 */
TEST(one_member_more_moves_its_share_and_no_other, "P-01", "WP-13")
{
    static uint16_t before[NAMES];
    struct fake_memory memory;
    struct memory_source source = fake_memory_init(&memory);
    static const char prefixes[] = {RING_OF_WORKERS, RING_OF_NODES};
    for (int kind = 0; kind < 2; kind++) {
        for (uint32_t members = 1; members <= 64; members++) {
            struct hash_ring ring;
            ck_assert_int_eq(tr__hash_ring_init(&ring, &source, prefixes[kind], members), TR_OK);
            int moved = 0;
            for (int number = 0; number < NAMES; number++) {
                uint32_t member = tr__hash_ring_find(&ring, name_of(number));
                if (members > 1 && member != before[number]) {
                    MODEL_ASSERT(member == members - 1);
                    moved++;
                }
                before[number] = (uint16_t)member;
            }
            if (prefixes[kind] == RING_OF_WORKERS)
                ck_assert_int_le(moved, (int)(NAMES / members + NAMES / 20));
            tr__hash_ring_deinit(&ring);
        }
    }
}

TEST(a_ring_of_one_has_all_names, "P-01", "N-01")
{
    struct fake_memory memory;
    struct memory_source source = fake_memory_init(&memory);
    struct hash_ring ring;
    ck_assert_int_eq(tr__hash_ring_init(&ring, &source, RING_OF_WORKERS, 1), TR_OK);
    for (int number = 0; number < NAMES; number++)
        MODEL_ASSERT(tr__hash_ring_find(&ring, name_of(number)) == 0);
    ck_assert_uint_eq(tr__hash_ring_find(&ring, ""), 0);
    tr__hash_ring_deinit(&ring);
    ck_assert_int_eq(tr_pool_worker_of("orders", 1), 0);
}

/* The search by the index against all points compared, and the order of the points. */
TEST(a_ring_of_any_size_finds_what_all_points_say, "P-01", "N-01")
{
    struct fake_memory memory;
    struct memory_source source = fake_memory_init(&memory);
    static const uint32_t sizes[] = {1, 2, 3, 5, 7, 27, 28, 100, 256, RING_MEMBERS_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct hash_ring ring;
        ck_assert_int_eq(tr__hash_ring_init(&ring, &source, RING_OF_NODES, sizes[i]), TR_OK);
        uint32_t count = sizes[i] * RING_POINTS;
        for (uint32_t point = 1; point <= count; point++)
            MODEL_ASSERT(ring.points[point - 1] < ring.points[point]);
        int names = sizes[i] > 1000 ? 20 : 1000;
        for (int number = 0; number < names; number++) {
            uint32_t found = tr__hash_ring_find(&ring, name_of(number));
            MODEL_ASSERT(found == tr__hash_ring_compute(RING_OF_NODES, sizes[i], name_of(number)));
        }
        tr__hash_ring_deinit(&ring);
    }
}

/* Between the last point and 2^32 nearly no name falls, so names of points themselves are looked up. */
TEST(a_name_on_a_point_belongs_to_it_and_one_past_the_last_to_the_first, "P-01")
{
    struct fake_memory memory;
    struct memory_source source = fake_memory_init(&memory);
    struct hash_ring ring;
    ck_assert_int_eq(tr__hash_ring_init(&ring, &source, RING_OF_WORKERS, 4), TR_OK);
    for (int i = 0; i < 4 * RING_POINTS; i++) {
        char point[16];
        snprintf(point, sizeof point, "w%dv%d", i % 4, i / 4);
        MODEL_ASSERT(tr__hash_ring_find(&ring, point) == (uint32_t)i % 4);
        MODEL_ASSERT(tr__hash_ring_compute(RING_OF_WORKERS, 4, point) == (uint32_t)i % 4);
    }
    uint32_t last = (uint32_t)(ring.points[4 * RING_POINTS - 1] >> 32);
    int past = 0;
    for (int number = 0; past < 3 && number < 1000000; number++) {
        if (crc_of(name_of(number)) <= last)
            continue;
        past++;
        ck_assert_uint_eq(tr__hash_ring_find(&ring, name_of(number)), (uint32_t)ring.points[0]);
        ck_assert_uint_eq(tr__hash_ring_compute(RING_OF_WORKERS, 4, name_of(number)),
                          (uint32_t)ring.points[0]);
    }
    ck_assert_int_gt(past, 0);
    tr__hash_ring_deinit(&ring);
}

/* Hence the rule for points that coincide, the lowest member, decides nothing in any ring of ours. */
TEST(no_points_coincide, "P-01", "N-01")
{
    struct fake_memory memory;
    struct memory_source source = fake_memory_init(&memory);
    static const char prefixes[] = {RING_OF_WORKERS, RING_OF_NODES};
    for (int kind = 0; kind < 2; kind++) {
        struct hash_ring ring;
        ck_assert_int_eq(tr__hash_ring_init(&ring, &source, prefixes[kind], RING_MEMBERS_MAX),
                         TR_OK);
        for (uint32_t i = 1; i < RING_MEMBERS_MAX * RING_POINTS; i++)
            MODEL_ASSERT(ring.points[i - 1] >> 32 < ring.points[i] >> 32);
        tr__hash_ring_deinit(&ring);
    }
}

TEST(without_memory_there_is_no_ring, "P-01")
{
    struct fake_memory memory;
    struct memory_source source = fake_memory_init(&memory);
    memory.fail_all = true;
    struct hash_ring ring;
    ck_assert_int_eq(tr__hash_ring_init(&ring, &source, RING_OF_WORKERS, 4), TR_NO_MEMORY);
    ck_assert_uint_eq(memory.blocks, 0);
}

TEST(bad_questions_get_a_status, "P-01")
{
    ck_assert_int_eq(tr_pool_worker_of(NULL, 4), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_pool_worker_of("orders", 0), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_pool_worker_of("orders", -1), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_pool_worker_of("orders", TR_WORKERS_MAX + 1), TR_LIMIT);
    ck_assert_int_eq(tr_pool_worker_of("", 4), TR_NAME_INVALID);
    ck_assert_int_eq(tr_pool_worker_of("a/b", 4), TR_NAME_INVALID);
    char name[TR_NAME_MAX + 2];
    memset(name, 'a', sizeof name);
    name[TR_NAME_MAX + 1] = '\0';
    ck_assert_int_eq(tr_pool_worker_of(name, 4), TR_NAME_INVALID);
    name[TR_NAME_MAX] = '\0';
    ck_assert_int_ge(tr_pool_worker_of(name, TR_WORKERS_MAX), 0);
}

SUITE("pool hash ring", crc32_is_that_of_zlib, crc32_of_every_length_and_cut_is_the_division,
      names_belong_to_the_workers_of_the_vectors, names_belong_to_the_nodes_of_the_vectors,
      ten_thousand_names_spread_as_promised, one_member_more_moves_its_share_and_no_other,
      a_ring_of_one_has_all_names, a_ring_of_any_size_finds_what_all_points_say,
      a_name_on_a_point_belongs_to_it_and_one_past_the_last_to_the_first, no_points_coincide,
      without_memory_there_is_no_ring, bad_questions_get_a_status)
