/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the reader of cron expressions and the search for the next match. What is refused is refused
 * at a place in the text; what matches matches by the sets, and nothing between does.
 */
#include <stdlib.h>
#include <string.h>

#include "base/civil.h"
#include "calendar/cron.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static bool matches(const struct cron *cron, int64_t local)
{
    int64_t days = civil_floor(local, CIVIL_DAY);
    int64_t seconds = local - days * CIVIL_DAY;
    struct civil_date date = civil_date_of(days);
    bool is_day = cron->days >> date.day & 1;
    bool is_weekday = cron->weekdays >> civil_weekday(days) & 1;
    return seconds % 60 == 0 && cron->minutes >> (seconds / 60 % 60) & 1 &&
           cron->hours >> (seconds / 3600) & 1 && cron->months >> date.month & 1 &&
           (cron->is_either ? is_day || is_weekday : is_day && is_weekday);
}

static void check_next(const struct cron *cron, const struct zone *zone, int64_t after)
{
    int64_t next = 0;
    tr_status status = tr__cron_next(cron, zone, after, &next);
    require(status == TR_OK || status == TR_NOT_FOUND);
    if (status != TR_OK)
        return;
    require(next > after);
    int64_t local = next + tr__zone_offset(zone, next);
    require(!cron->is_walk || matches(cron, local));
    /* Strictly between there is nothing: a later start gives the same. */
    int64_t again = 0;
    require(tr__cron_next(cron, zone, next - 1, &again) == TR_OK && again == next);
    require(tr__cron_next(cron, zone, after + (next - after) / 2, &again) == TR_OK);
    require(after + (next - after) / 2 >= next || again == next);
    for (int64_t utc = after - after % 60 + 60; utc < next && utc < after + 7200; utc += 60)
        require(!cron->is_walk || !matches(cron, utc + tr__zone_offset(zone, utc)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char rule[] = "CET-1CEST,M3.5.0,M10.5.0/3";
    struct zone berlin = {.has_rule = true};
    struct zone utc = {.has_rule = false};
    require(tr__zone_rule_read(rule, sizeof rule - 1, &berlin.rule) == TR_OK);
    char *copy = malloc(size + (size == 0));
    require(copy != NULL);
    memcpy(copy, data, size);
    struct cron cron;
    struct cron_error error = {.status = TR_OK};
    tr_status status = tr__cron_read(copy, size, &cron, &error);
    if (status == TR_OK) {
        require(strlen(cron.text) == size && memcmp(cron.text, copy, size) == 0);
        require(tr__zone_name_is_valid(tr__cron_zone(&cron), strlen(tr__cron_zone(&cron))));
        require(cron.minutes && cron.hours && cron.days && cron.months && cron.weekdays);
        require(!(cron.days & 1) && !(cron.months & 1) && !(cron.weekdays & 0x80));
        check_next(&cron, &utc, 1773000000);
        check_next(&cron, &berlin, 1774742400); /* 2026-03-29, an hour before the gap */
        check_next(&cron, &berlin, 1792886400); /* 2026-10-25, an hour before the overlap */
    } else {
        require(status == TR_BAD_DATA || status == TR_TOO_LARGE);
        require(error.status == status && error.offset <= size);
        require(error.field != NULL && strlen(error.text) > strlen(error.field));
    }
    free(copy);
    return 0;
}
