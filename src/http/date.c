/* SPDX-License-Identifier: Apache-2.0 */
#include "http/date.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/worker.h"
#include "base/civil.h"
#include "net/worker.h"

static const char days[] = "SunMonTueWedThuFriSat";
static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
enum { DAY_S = 86400 };

static char *put_digits(char *to, int64_t number, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        to[i] = (char)('0' + number % 10);
        number /= 10;
    }
    return to + count;
}

static char *put_name(char *to, const char *names, int number)
{
    for (int i = 0; i < 3; i++)
        *to++ = names[3 * number + i];
    return to;
}

void tr__http_time(int64_t seconds, char *text)
{
    int64_t day = civil_floor(seconds, DAY_S);
    int64_t second = seconds - day * DAY_S;
    struct civil_date date = civil_date_of(day);
    char *to = text;
    to = put_name(to, days, civil_weekday(day));
    *to++ = ',';
    *to++ = ' ';
    to = put_digits(to, date.day, 2);
    *to++ = ' ';
    to = put_name(to, months, date.month - 1);
    *to++ = ' ';
    to = put_digits(to, date.year, 4);
    *to++ = ' ';
    to = put_digits(to, second / 3600, 2);
    *to++ = ':';
    to = put_digits(to, second / 60 % 60, 2);
    *to++ = ':';
    to = put_digits(to, second % 60, 2);
    memcpy(to, " GMT", 5);
}

bool tr__http_time_read(const char *text, int64_t *seconds)
{
    char month[4];
    int day, year, hour, minute, second, end = 0;
    if (strlen(text) != 29 ||
        sscanf(text + 5,
               "%2d %3s %4d %2d:%2d:%2d GMT%n",
               &day,
               month,
               &year,
               &hour,
               &minute,
               &second,
               &end) != 6 ||
        end != 24)
        return false;
    const char *at = strstr(months, month);
    if (!at || (at - months) % 3 || day < 1 || day > 31 || hour < 0 || minute < 0 || second < 0)
        return false;
    int64_t days_since = civil_day_of(year, (int)(at - months) / 3 + 1, day);
    *seconds = days_since * DAY_S + hour * 3600 + minute * 60 + second;
    return true;
}

const char *tr__http_date(struct worker *worker)
{
    struct net_worker *net = worker->channels.net;
    const tr_platform *platform = worker->loop.platform;
    if (worker->loop.now_ns >= net->date_until_ns) {
        tr_time wall = platform->wall_now(platform);
        int64_t second = civil_floor(wall, TR_SECOND);
        memcpy(net->date, "Date: ", 6);
        tr__http_time(second, net->date + 6);
        memcpy(net->date + 35, "\r\n", 3);
        net->date_until_ns = worker->loop.now_ns + (second + 1) * TR_SECOND - wall;
    }
    return net->date;
}
