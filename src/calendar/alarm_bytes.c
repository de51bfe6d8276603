/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The byte form of an alarm plan:
 *
 *     version, kind, flags (bit 0: at most once), id, occurrence, due, seen,
 *     span (only ALARM_AFTER and ALARM_EVERY),
 *     failures, retry_at and back_off (both only if failures > 0),
 *     length and text of the expression (only ALARM_CRON),
 *     epoch and offset (only ALARM_AFTER, in versions 2 and 3),
 *     attempts, first and longest (only version 3)
 *
 * Version 2 is for ALARM_AFTER only.
 * Version, kind and flags are single bytes. All other numbers are LEB128: seven bits in each byte,
 * the lowest bits first. The top bit is set in all bytes of a number but the last. The last byte is
 * not 0, unless the number has only this byte.
 */
#include "calendar/alarm_bytes.h"

#include <assert.h>
#include <string.h>

#include "base/assert.h"
#include "calendar/alarm_plan.h"
#include "calendar/cron.h"

enum {
    VERSION = 1,
    VERSION_CLOCK = 2,
    VERSION_RETRY = 3,
    FLAG_AT_MOST_ONCE = 1,
    NUMBER_BYTES_MAX = 10
};

/* The longest plans of both forms fit. A plan of cron has three single bytes, ten numbers, and a
 * text with its length. A plan of ALARM_AFTER has three single bytes and thirteen numbers. */
static_assert(3 + 10 * NUMBER_BYTES_MAX + 2 + CRON_TEXT_MAX <= ALARM_BYTES_MAX, "all plans fit");
static_assert(3 + 13 * NUMBER_BYTES_MAX <= ALARM_BYTES_MAX, "all plans fit");

static size_t put_number(unsigned char *bytes, uint64_t number)
{
    size_t size = 0;
    for (; number >= 0x80; number >>= 7)
        bytes[size++] = (unsigned char)(number | 0x80);
    bytes[size++] = (unsigned char)number;
    return size;
}

static bool has_span(const struct alarm_plan *plan)
{
    return plan->kind == ALARM_AFTER || plan->kind == ALARM_EVERY;
}

size_t tr__alarm_plan_write(const struct alarm_plan *plan, unsigned char bytes[ALARM_BYTES_MAX])
{
    size_t size = 0;
    bool has_retry = plan->attempts || plan->first || plan->longest;
    bytes[size++] = has_retry ? VERSION_RETRY : plan->epoch ? VERSION_CLOCK : VERSION;
    bytes[size++] = (unsigned char)plan->kind;
    bytes[size++] = plan->is_at_most_once ? FLAG_AT_MOST_ONCE : 0;
    size += put_number(bytes + size, plan->mark.id);
    size += put_number(bytes + size, plan->mark.occurrence);
    size += put_number(bytes + size, (uint64_t)plan->due);
    size += put_number(bytes + size, (uint64_t)plan->seen);
    if (has_span(plan))
        size += put_number(bytes + size, (uint64_t)plan->span);
    size += put_number(bytes + size, plan->failures);
    if (plan->failures > 0) {
        size += put_number(bytes + size, (uint64_t)plan->retry_at);
        size += put_number(bytes + size, (uint64_t)plan->back_off);
    }
    if (plan->kind == ALARM_CRON) {
        size_t length = strlen(plan->cron.text);
        size += put_number(bytes + size, length);
        memcpy(bytes + size, plan->cron.text, length);
        size += length;
    }
    if (plan->epoch || (has_retry && plan->kind == ALARM_AFTER)) {
        size += put_number(bytes + size, plan->epoch);
        size += put_number(bytes + size, (uint64_t)plan->offset);
    }
    if (has_retry) {
        size += put_number(bytes + size, plan->attempts);
        size += put_number(bytes + size, (uint64_t)plan->first);
        size += put_number(bytes + size, (uint64_t)plan->longest);
    }
    TR_ASSERT(size <= ALARM_BYTES_MAX);
    return size;
}

struct input {
    const unsigned char *at;
    const unsigned char *end;
    bool is_bad; /* the bytes are no plan; from now on each number that is read is 0 */
};

/* Reads a number, which must be from `least` to `most`. */
static uint64_t get_number(struct input *in, uint64_t least, uint64_t most)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && in->at < in->end && !in->is_bad; shift += 7) {
        uint64_t byte = *in->at++;
        uint64_t bits = (byte & 0x7f) << shift;
        if (bits >> shift != (byte & 0x7f) || (byte == 0 && shift > 0))
            break;
        number |= bits;
        if (byte & 0x80)
            continue;
        if (number < least || number > most)
            break;
        return number;
    }
    in->is_bad = true;
    return 0;
}

static tr_time get_time(struct input *in, tr_time least, tr_time most)
{
    return (tr_time)get_number(in, (uint64_t)least, (uint64_t)most);
}

static void get_cron(struct input *in, struct cron *cron)
{
    size_t length = (size_t)get_number(in, 1, CRON_TEXT_MAX);
    if (in->is_bad || length > (size_t)(in->end - in->at) ||
        tr__cron_read((const char *)in->at, length, cron, NULL) != TR_OK)
        in->is_bad = true;
    else
        in->at += length;
}

tr_status tr__alarm_plan_read(const void *bytes, size_t size, struct alarm_plan *plan)
{
    struct input in = {.at = bytes, .end = (const unsigned char *)bytes + size};
    struct alarm_plan read = {.kind = ALARM_AT};
    if (size < 3 || in.at[0] == 0)
        return TR_BAD_DATA;
    if (in.at[0] > VERSION_RETRY)
        return TR_NOT_SUPPORTED;
    bool has_retry = in.at[0] == VERSION_RETRY;
    bool has_clock = in.at[0] == VERSION_CLOCK || (has_retry && in.at[1] == ALARM_AFTER);
    if (has_clock && in.at[1] != ALARM_AFTER)
        return TR_BAD_DATA;
    if (in.at[1] < ALARM_AT || in.at[1] > ALARM_CRON || in.at[2] > FLAG_AT_MOST_ONCE)
        return TR_BAD_DATA;
    read.kind = (enum alarm_kind)in.at[1];
    read.is_at_most_once = in.at[2] == FLAG_AT_MOST_ONCE;
    in.at += 3;
    read.mark.id = get_number(&in, 0, UINT64_MAX);
    read.mark.occurrence = get_number(&in, 0, UINT64_MAX);
    read.due = get_time(&in, 0, ALARM_TIME_MAX);
    read.seen = get_time(&in, 0, ALARM_TIME_MAX);
    if (has_span(&read))
        read.span = get_time(&in, read.kind == ALARM_EVERY ? ALARM_EVERY_MIN : 0, ALARM_AHEAD_MAX);
    read.failures = (uint32_t)get_number(&in, 0, UINT32_MAX);
    if (read.failures > 0) {
        read.retry_at = get_time(&in, 0, ALARM_TIME_MAX);
        read.back_off = get_time(&in, 1, ALARM_BACK_OFF_MAX + ALARM_BACK_OFF_MAX / 4);
    }
    if (read.kind == ALARM_CRON)
        get_cron(&in, &read.cron);
    if (has_clock) {
        read.epoch = get_number(&in, has_retry ? 0 : 1, UINT64_MAX);
        read.offset = (tr_time)get_number(&in, 0, read.epoch ? UINT64_MAX : 0);
    }
    if (has_retry) {
        read.attempts = (uint32_t)get_number(&in, 0, UINT32_MAX);
        read.first = get_time(&in, 0, ALARM_BACK_OFF_MAX);
        read.longest = get_time(&in, 0, ALARM_BACK_OFF_MAX);
        in.is_bad |= !read.attempts && !read.first && !read.longest;
    }
    if (in.is_bad || in.at != in.end)
        return TR_BAD_DATA;
    *plan = read;
    return TR_OK;
}
