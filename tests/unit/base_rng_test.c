/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random numbers against published values, and their bounds.
 */
#include "base/rng.h"

#include "support/test.h"

TEST(splitmix_gives_the_reference_values, "")
{
    uint64_t state = 1234567;
    ck_assert_uint_eq(rng_splitmix(&state), UINT64_C(6457827717110365317));
    ck_assert_uint_eq(rng_splitmix(&state), UINT64_C(3203168211198807973));
    ck_assert_uint_eq(rng_splitmix(&state), UINT64_C(9817491932198370423));
}

TEST(xoshiro_gives_the_reference_values, "")
{
    struct rng rng = {{1, 2, 3, 4}};
    ck_assert_uint_eq(rng_next(&rng), UINT64_C(11520));
    ck_assert_uint_eq(rng_next(&rng), 0);
    ck_assert_uint_eq(rng_next(&rng), UINT64_C(1509978240));
    ck_assert_uint_eq(rng_next(&rng), UINT64_C(1215971899390074240));
}

TEST(below_stays_below_and_reaches_every_number, "")
{
    struct rng rng;
    rng_init(&rng, test_seed());
    ck_assert_uint_eq(rng_below(&rng, 0), 0);
    ck_assert_uint_eq(rng_below(&rng, 1), 0);
    uint64_t counts[10] = {0};
    for (int i = 0; i < 10000; i++) {
        uint64_t number = rng_below(&rng, 10);
        ck_assert_uint_lt(number, 10);
        counts[number]++;
    }
    for (int i = 0; i < 10; i++) { /* Expected 1,000 with a deviation of 30: ten of these. */
        ck_assert_uint_gt(counts[i], 700);
        ck_assert_uint_lt(counts[i], 1300);
    }
    uint64_t large = UINT64_C(3) << 62;
    for (int i = 0; i < 1000; i++)
        ck_assert_uint_lt(rng_below(&rng, large), large);
}

SUITE("base rng", splitmix_gives_the_reference_values, xoshiro_gives_the_reference_values,
      below_stays_below_and_reaches_every_number)
