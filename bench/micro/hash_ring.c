/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Times the look-up of a name on a hash ring, warm, by the number of workers and the length of names.
 *
 *     cmake --build build --target micro_hash_ring && build/micro/hash_ring
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <troupe/pool.h>

#include "pool/hash_ring.h"

enum { NAMES = 1024, ROUNDS = 40, LOOKS = 16 * NAMES };

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(void)
{
    static const char *const forms[] = {"actor-%d",
                                        "session-of-a-customer-%d",
                                        "a-name-that-says-at-length-what-its-actor-is-for-and-"
                                        "where-it-comes-from-number-%d"};
    static char names[NAMES][128];
    const struct memory_source source = {.platform = tr_platform_real()};
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        for (uint32_t workers = 2; workers <= TR_WORKERS_MAX; workers *= 2) {
            struct hash_ring ring;
            if (tr__hash_ring_init(&ring, &source, RING_OF_WORKERS, workers) != TR_OK)
                abort();
            for (int i = 0; i < NAMES; i++)
                snprintf(names[i], sizeof names[i], forms[form], 1000 + i * 7 % NAMES);
            double best = 1e9;
            uint64_t sum = 0;
            for (int round = 0; round < ROUNDS; round++) {
                double begin = now_ns();
                /* Each waits for the one before it, as one who spawns does. */
                for (int i = 0; i < LOOKS; i++)
                    sum += tr__hash_ring_find(&ring, names[(i + (int)(sum & 1)) % NAMES]);
                double took = (now_ns() - begin) / LOOKS;
                best = took < best ? took : best;
            }
            double begin = now_ns();
            for (int i = 0; i < 100; i++)
                sum += (uint64_t)tr_pool_worker_of(names[i], (int)workers);
            double computed = (now_ns() - begin) / 100;
            printf("%3zu characters, %3u workers: %5.1f ns; without a ring %6.1f us (%d)\n",
                   strlen(names[0]),
                   workers,
                   best,
                   computed / 1000,
                   (int)(sum & 1));
            tr__hash_ring_deinit(&ring);
        }
    }
    return 0;
}
