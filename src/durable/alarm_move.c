/* SPDX-License-Identifier: Apache-2.0 */
/** Decides which alarms must fire at another time after the wall clock was set back. */
#include "durable/alarm_move.h"

#include "calendar/alarm_bytes.h"
#include "calendar/alarm_plan.h"
#include "calendar/cron.h"
#include "calendar/zones.h"
#include "durable/alarm.h"
#include "store/store.h"

const struct zone *tr__alarm_zone(struct durable_host *host, const struct alarm_plan *plan)
{
    const struct zone *zone;
    if (plan->kind != ALARM_CRON)
        return NULL;
    return tr__zones_find(&host->zones, tr__cron_zone(&plan->cron), &zone) == TR_OK ? zone : NULL;
}

struct alarm_clock tr__alarm_clock(const struct durable_host *host)
{
    const tr_platform *platform = host->system->platform;
    return (struct alarm_clock){.epoch = tr__store_epoch(host->store),
                                .offset =
                                    platform->wall_now(platform) - platform->mono_now(platform),
                                .offset_first = host->offset_first_ns};
}

bool tr__alarm_move(struct durable_host *host, struct alarm_plan *plan, tr_time now)
{
    const struct zone *zone = tr__alarm_zone(host, plan);
    const struct alarm_clock clock = tr__alarm_clock(host);
    if (plan->kind == ALARM_CRON && !zone)
        return false;
    bool has_followed = tr__alarm_plan_follow(plan, &clock);
    return tr__alarm_plan_check(plan, zone, now) || has_followed;
}

size_t tr__alarm_plan_end(tr_bytes stored)
{
    const unsigned char *bytes = stored.data;
    if (stored.size < ALARM_PLAN_AT)
        return 0;
    size_t size = ALARM_PLAN_AT + (bytes[0] | (size_t)bytes[1] << 8);
    return size > stored.size ? 0 : size;
}

bool tr__alarm_is_moved(struct durable_host *host, tr_bytes stored, tr_time now)
{
    struct alarm_plan plan;
    size_t size = tr__alarm_plan_end(stored);
    const unsigned char *bytes = stored.data;
    return size &&
           tr__alarm_plan_read(bytes + ALARM_PLAN_AT, size - ALARM_PLAN_AT, &plan) == TR_OK &&
           tr__alarm_move(host, &plan, now);
}
