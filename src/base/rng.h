/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Seeded random numbers: xoshiro256** of Blackman and Vigna. splitmix64 makes the first state from
 * the seed.
 *
 * The same seed gives the same numbers on every machine. The numbers are not for secrets.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t words[4];
};

/** Returns the next number of splitmix64, whose state is one word. */
static inline uint64_t rng_splitmix(uint64_t *state)
{
    uint64_t bits = *state += UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

static inline void rng_init(struct rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        rng->words[i] = rng_splitmix(&seed);
}

static inline uint64_t rng_rotate(uint64_t bits, int count)
{
    return bits << count | bits >> (64 - count);
}

/** Returns 64 random bits. */
static inline uint64_t rng_next(struct rng *rng)
{
    uint64_t *words = rng->words;
    uint64_t result = rng_rotate(words[1] * 5, 7) * 9;
    uint64_t shifted = words[1] << 17;
    words[2] ^= words[0];
    words[3] ^= words[1];
    words[1] ^= words[2];
    words[0] ^= words[3];
    words[2] ^= shifted;
    words[3] = rng_rotate(words[3], 45);
    return result;
}

/**
 * Returns a random number from 0 to `bound` - 1, or 0 if `bound` is 0. Every number is equally
 * likely: the method is Lemire's, with rejection.
 */
static inline uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    if (bound == 0)
        return 0;
    __extension__ unsigned __int128 product = rng_next(rng);
    product *= bound;
    if ((uint64_t)product < bound) {
        uint64_t threshold = (0 - bound) % bound;
        while ((uint64_t)product < threshold) {
            product = rng_next(rng);
            product *= bound;
        }
    }
    return (uint64_t)(product >> 64);
}

#endif
