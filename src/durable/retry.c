/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/retry.h"

bool tr__retry_is_valid(const tr_retry *retry)
{
    return retry->first_ns >= 0 && retry->first_ns <= TR_RETRY_NS_MAX && retry->longest_ns >= 0 &&
           retry->longest_ns <= TR_RETRY_NS_MAX;
}

struct alarm_retry tr__retry_of(const tr_retry *own, const tr_retry *other)
{
    static const tr_retry none = {0};
    const tr_retry *policies[] = {own ? own : &none, other ? other : &none};
    tr_retry merged = {TR_RETRY_ATTEMPTS, TR_RETRY_FIRST_NS, TR_RETRY_LONGEST_NS};
    for (int i = 1; i >= 0; i--) {
        merged.attempts = policies[i]->attempts ? policies[i]->attempts : merged.attempts;
        merged.first_ns = policies[i]->first_ns ? policies[i]->first_ns : merged.first_ns;
        merged.longest_ns = policies[i]->longest_ns ? policies[i]->longest_ns : merged.longest_ns;
    }
    return (struct alarm_retry){.first = merged.first_ns,
                                .cap = merged.longest_ns,
                                .retries = merged.attempts - 1,
                                .is_never = merged.attempts == 1};
}
