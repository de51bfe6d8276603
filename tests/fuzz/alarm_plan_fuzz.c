/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the reader of alarm plans: what it accepts is what write makes of it, byte by byte, and no clock
 * and no failure brings such a plan beyond its bounds. The first 8 bytes are the clock.
 */
#include <stdlib.h>
#include <string.h>

#include "calendar/alarm_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_bytes(const struct alarm_plan *plan, const void *expected, size_t size)
{
    unsigned char bytes[ALARM_BYTES_MAX];
    struct alarm_plan back;
    size_t written = tr__alarm_plan_write(plan, bytes);
    require(tr__alarm_plan_read(bytes, written, &back) == TR_OK);
    require(!expected || (written == size && memcmp(bytes, expected, size) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct zone utc = {.has_rule = false};
    static const struct alarm_retry defaults = {.first = 0};
    struct alarm_plan plan;
    struct rng rng;
    tr_time now = 0;
    if (size < sizeof now)
        return 0;
    memcpy(&now, data, sizeof now);
    size -= sizeof now;
    unsigned char *copy = malloc(size + (size == 0));
    require(copy != NULL);
    memcpy(copy, data + sizeof now, size);
    rng_init(&rng, 1);
    tr_status status = tr__alarm_plan_read(copy, size, &plan);
    require(status == TR_OK || status == TR_BAD_DATA || status == TR_NOT_SUPPORTED);
    if (status == TR_OK) {
        check_bytes(&plan, copy, size);
        for (int i = 0; i < 6; i++) {
            (void)tr__alarm_plan_check(&plan, &utc, now);
            require(!tr__alarm_plan_check(&plan, &utc, now));
            check_bytes(&plan, NULL, 0);
            if (!tr__alarm_plan_is_due(&plan, now)) {
                now = tr__alarm_plan_wake(&plan);
                continue;
            }
            struct alarm_mark mark = tr__alarm_plan_begin(&plan, now);
            enum alarm_outcome outcome =
                i % 3 == 0 ? tr__alarm_plan_done(&plan, mark, &utc)
                           : tr__alarm_plan_failed(&plan, mark, &defaults, &rng, &utc, now);
            require(outcome != ALARM_STALE);
            check_bytes(&plan, NULL, 0);
            if (outcome == ALARM_ENDS || outcome == ALARM_GAVE_UP_ENDS)
                break;
        }
    }
    free(copy);
    return 0;
}
