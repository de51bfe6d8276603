/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The sum at the end of each page of the database. When a page is read, the sum shows whether the
 * page has flipped bits, is torn or is at a wrong place. The sums also protect inner pages of
 * trees, which have no rows and so no seals.
 */
#ifndef STORE_SQLITE_PAGE_SUM_H
#define STORE_SQLITE_PAGE_SUM_H

#include "base/hash.h"

#include <stdbool.h>

/* The size of a page, and the size of the sum at its end. SQLite does not use the bytes of the
 * sum. */
enum { PAGE_SIZE = 4096, PAGE_SUM = 8 };

/**
 * Returns the sum of a page. The words of a page are dealt to four lanes, which are computed in
 * parallel. A lane adds up its words, and also all intermediate results of this sum, as Fletcher's
 * checksum does. The number of the page is mixed in. If any single word of the page changes, the
 * sum changes.
 */
static inline uint64_t page_sum(const void *page, uint64_t number)
{
    enum { LANES = 4, WORDS = (PAGE_SIZE - PAGE_SUM) / 8 };
    const unsigned char *bytes = page;
    uint64_t plain[LANES] = {0};
    uint64_t summed[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= WORDS; i += LANES) {
        uint64_t words[LANES];
        memcpy(words, bytes + i * 8, sizeof words);
        for (size_t lane = 0; lane < LANES; lane++) {
            plain[lane] += words[lane];
            summed[lane] += plain[lane];
        }
    }
    for (size_t lane = 0; i < WORDS; i++, lane++) {
        uint64_t word;
        memcpy(&word, bytes + i * 8, sizeof word);
        plain[lane] += word;
        summed[lane] += plain[lane];
    }
    uint64_t sum = hash_mix(number + UINT64_C(0x74726f757065));
    for (size_t lane = 0; lane < LANES; lane++) {
        sum = hash_mix(sum ^ plain[lane]);
        sum = hash_mix(sum ^ hash_rotate(summed[lane], 32));
    }
    return sum;
}

/** Writes the sum into the page. */
static inline void page_seal(unsigned char *page, uint64_t number)
{
    uint64_t sum = page_sum(page, number);
    memcpy(page + PAGE_SIZE - PAGE_SUM, &sum, sizeof sum);
}

/**
 * Whether a page is as it was written. A page of zeros is sound too, because it was never written.
 * SQLite reads such a page only where it expects no contents. It refuses such a page as a part of a
 * tree.
 */
static inline bool page_is_sound(const unsigned char *page, uint64_t number)
{
    uint64_t sum;
    memcpy(&sum, page + PAGE_SIZE - PAGE_SUM, sizeof sum);
    if (sum == page_sum(page, number))
        return true;
    for (size_t i = 0; i < PAGE_SIZE; i++) {
        if (page[i] != 0)
            return false;
    }
    return true;
}

#endif
