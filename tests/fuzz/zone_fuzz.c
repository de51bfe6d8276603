/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the reader of TZif files. Of what it accepts, spans must follow one another without holes, and
 * instants and local times must be two views of one thing.
 */
#include <stdlib.h>
#include <string.h>

#include "calendar/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SPANS_MAX = 64 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_local(const struct zone *zone, int64_t local)
{
    struct zone_instants instants;
    if (local < -ZONE_TIME_MAX || local > ZONE_TIME_MAX)
        return;
    tr__zone_instants(zone, local, &instants);
    int64_t first = tr__zone_first(zone, local);
    require(instants.count >= 0 && instants.count <= 2);
    require(instants.count == 2 ? instants.first < instants.second
                                : instants.first == instants.second);
    require(first <= instants.first);
    if (instants.count > 0 && instants.second <= ZONE_TIME_MAX &&
        instants.first >= -ZONE_TIME_MAX) {
        require(instants.first + tr__zone_offset(zone, instants.first) == local);
        require(instants.second + tr__zone_offset(zone, instants.second) == local);
    }
    if (first > -ZONE_TIME_MAX && first <= ZONE_TIME_MAX) {
        require(first + tr__zone_offset(zone, first) >= local);
        require(tr__zone_latest(zone, first - 1) < local);
        require(tr__zone_latest(zone, first) >= local);
    }
}

static void walk(const struct zone *zone, int64_t utc)
{
    for (int i = 0; i < SPANS_MAX; i++) {
        struct zone_span span;
        tr__zone_span(zone, utc, &span);
        require(span.begin <= utc && span.end > utc);
        require(span.offset >= ZONE_OFFSET_MIN && span.offset <= ZONE_OFFSET_MAX);
        check_local(zone, utc + span.offset);
        check_local(zone, utc + span.offset - 1);
        check_local(zone, utc + 1800);
        if (span.end > ZONE_TIME_MAX)
            return;
        struct zone_span next;
        tr__zone_span(zone, span.end, &next);
        require(next.begin == span.end);
        utc = span.end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* In memory that ends where the file does. */
    unsigned char *copy = malloc(size + (size == 0));
    require(copy != NULL);
    memcpy(copy, data, size);
    struct zone zone;
    tr_status status = tr__zone_read(copy, size, &zone);
    require(status == TR_OK || status == TR_BAD_DATA || status == TR_NOT_SUPPORTED);
    if (status == TR_OK) {
        walk(&zone, -ZONE_TIME_MAX);
        walk(&zone, 0);
        walk(&zone, 1773000000); /* 2026 */
        walk(&zone, ZONE_TIME_MAX - 100000);
    }
    struct zone_rule rule;
    if (tr__zone_rule_read((const char *)copy, size, &rule) == TR_OK)
        walk(&(struct zone){.has_rule = true, .rule = rule}, 1773000000);
    (void)tr__zone_name_is_valid((const char *)copy, size);
    free(copy);
    return 0;
}
