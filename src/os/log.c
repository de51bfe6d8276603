/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The log of the real platform: lines on standard error, each by one write.
 *
 *     2024-02-29T23:59:59.123456Z WARN  /user/bank/alice: the vault is empty
 */
#include "os/log.h"

#include "os/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A pipe takes this many bytes at once (PIPE_BUF), so lines of several threads do not mix. */
enum { LINE_SIZE_MAX = 4096 };

static const char *const level_names[] = {
    [TR_LEVEL_DEBUG] = "DEBUG",
    [TR_LEVEL_INFO] = "INFO ",
    [TR_LEVEL_WARN] = "WARN ",
    [TR_LEVEL_ERROR] = "ERROR",
};

struct date {
    int64_t year;
    int month;
    int day;
};

/*
 * Converts days since 1970-01-01 to a date, after Hinnant's "chrono-compatible low-level date
 * algorithms". gmtime_r would do, but it takes the lock of the time zone.
 */
static struct date date_of_days(int64_t days)
{
    int64_t shifted = days + 719468; /* since 0000-03-01 */
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    int month = (int)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    return (struct date){
        .year = year_of_era + era * 400 + (month <= 2),
        .month = month,
        .day = (int)(day_of_year - (153 * month_from_march + 2) / 5 + 1),
    };
}

/* Writes the line without its line feed and returns its length. A text that is too long is cut. */
static size_t line_format(char *line, size_t size, tr_time wall, const char *level,
                          const char *path, const char *text)
{
    int64_t seconds = wall / TR_SECOND;
    int64_t second_of_day = seconds % 86400;
    struct date date = date_of_days(seconds / 86400);
    int length = snprintf(line,
                          size,
                          "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ %s %s%s%s",
                          (int)date.year,
                          date.month,
                          date.day,
                          (int)(second_of_day / 3600),
                          (int)(second_of_day / 60 % 60),
                          (int)(second_of_day % 60),
                          (int)(wall % TR_SECOND / TR_MICROSECOND),
                          level,
                          path ? path : "",
                          path ? ": " : "",
                          text);
    if (length < 0)
        return 0;
    if ((size_t)length < size)
        return (size_t)length;
    memcpy(line + size - 4, "...", 4);
    return size - 1;
}

static void write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        /*
         * The log has no reader, or the reader is slow. The runtime must not wait for the reader.
         */
        if (written <= 0)
            return;
        bytes += written;
        size -= (size_t)written;
    }
}

void tr__real_log(const tr_platform *platform, tr_level level, const char *path, const char *text)
{
    int saved_errno = errno;
    char line[LINE_SIZE_MAX];
    size_t index = (size_t)level;
    const char *name = index < sizeof level_names / sizeof *level_names ? level_names[index] : "?";
    tr_time wall = tr__real_wall_now(platform);
    size_t length = line_format(line, sizeof line - 1, wall, name, path, text);
    /* Replaces control characters, so that a name or a text cannot make two lines out of one. */
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = ' ';
    }
    line[length++] = '\n';
    write_all(STDERR_FILENO, line, length);
    errno = saved_errno;
}
