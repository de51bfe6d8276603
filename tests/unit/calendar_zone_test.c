/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Time zones: the files of the system against the C library, files made by hand, and damaged ones.
 */
#include "base/rng.h"
#include "base/civil.h"
#include "calendar/zones.h"
#include "support/fake_memory.h"
#include "support/test.h"
#include "support/tzif.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ZONEINFO "/usr/share/zoneinfo"

static int64_t at(int64_t year, int month, int day, int hour, int minute)
{
    return civil_day_of(year, month, day) * CIVIL_DAY + hour * CIVIL_HOUR + minute * CIVIL_MINUTE;
}

TEST(dates_are_those_of_the_c_library, "")
{
    for (int64_t day = -800000; day < 800000; day += 7) {
        time_t seconds = day * CIVIL_DAY;
        struct tm tm;
        struct civil_date date = civil_date_of(day);
        gmtime_r(&seconds, &tm);
        MODEL_ASSERT(date.year == tm.tm_year + 1900);
        MODEL_ASSERT(date.month == tm.tm_mon + 1);
        MODEL_ASSERT(date.day == tm.tm_mday);
        MODEL_ASSERT(civil_weekday(day) == tm.tm_wday);
        MODEL_ASSERT(civil_day_of(date.year, date.month, date.day) == day);
        MODEL_ASSERT(civil_weekday(day + 3) == (tm.tm_wday + 3) % 7);
    }
}

/* ---- Against the C library. ---- */

static int32_t offset_of_library(int64_t utc)
{
    time_t seconds = utc;
    struct tm tm;
    localtime_r(&seconds, &tm);
    return (int32_t)tm.tm_gmtoff;
}

static void compare_at(const char *name, const struct zone *zone, int64_t utc)
{
    int32_t offset = tr__zone_offset(zone, utc);
    if (offset != offset_of_library(utc))
        ck_abort_msg("%s at %lld: %d, and the C library says %d",
                     name,
                     (long long)utc,
                     (int)offset,
                     (int)offset_of_library(utc));
}

/* Every span of a zone from 1900 to 2200, and some instants by chance. */
static void compare(const char *name, const struct zone *zone, struct rng *rng)
{
    int64_t utc = at(1900, 1, 1, 0, 0);
    struct zone_span span;
    setenv("TZ", name, 1);
    tzset();
    while (utc < at(2200, 1, 1, 0, 0)) {
        tr__zone_span(zone, utc, &span);
        MODEL_ASSERT(span.begin <= utc);
        MODEL_ASSERT(span.end > utc);
        compare_at(name, zone, utc);
        if (span.end < at(2200, 1, 1, 0, 0))
            compare_at(name, zone, span.end - 1);
        compare_at(name, zone, utc + (int64_t)rng_below(rng, 86400 * 100));
        utc = span.end;
    }
}

static struct zones all_zones;
static struct rng all_rng;
static uint64_t all_count;
static uint64_t all_stride; /* which part of the files is looked at */

static int compare_file(const char *path, const struct stat *about, int type, struct FTW *ftw)
{
    (void)about;
    (void)ftw;
    const char *name = path + sizeof ZONEINFO;
    FILE *file = type == FTW_F ? fopen(path, "rb") : NULL;
    char head[4] = "";
    if (!file)
        return 0;
    size_t got = fread(head, 1, 4, file);
    fclose(file);
    if (got != 4 || memcmp(head, "TZif", 4) != 0 || rng_below(&all_rng, all_stride) != 0)
        return 0;
    const struct zone *zone = NULL;
    tr_status status = tr__zones_find(&all_zones, name, &zone);
    if (strncmp(name, "right/", 6) == 0 && status == TR_NOT_SUPPORTED)
        return 0;
    if (status != TR_OK)
        ck_abort_msg("%s: %s", name, tr_status_name(status));
    /* The same as above, and all files are read; comparing takes longer. */
    if (strncmp(name, "posix/", 6) != 0)
        compare(name, zone, &all_rng);
    all_count++;
    return 0;
}

TEST(zones_of_the_system_are_those_of_the_c_library, "")
{
    if (access(ZONEINFO "/Europe/Berlin", R_OK) != 0)
        test_skip("no zone files here");
    rng_init(&all_rng, test_seed());
    all_stride = TEST_HAS_SANITIZER ? 24 : 1;
    tr__zones_init(&all_zones, tr_platform_real(), ZONEINFO);
    ck_assert_int_eq(nftw(ZONEINFO, compare_file, 8, FTW_PHYS), 0);
    ck_assert_uint_gt(all_count, TEST_HAS_SANITIZER ? 0 : 300);
    tr__zones_deinit(&all_zones);
}

/* ---- Files made by hand. ---- */

/* New York, as a slim file would have it: one change and a rule. */
static void make_slim(struct tzif *file, struct zone *zone)
{
    static const struct tzif_change changes[] = {{1173596400, 1}}; /* 2007-03-11 07:00 */
    static const int32_t offsets[] = {-5 * 3600, -4 * 3600};
    tzif_make(file, '2', changes, 1, offsets, 2, "EST5EDT,M3.2.0,M11.1.0");
    ck_assert_int_eq(tr__zone_read(file->bytes, file->size, zone), TR_OK);
}

TEST(a_rule_holds_after_the_table, "")
{
    struct tzif file;
    struct zone zone;
    struct zone_span span;
    make_slim(&file, &zone);
    ck_assert_int_eq(tr__zone_offset(&zone, 0), -5 * 3600);
    ck_assert_int_eq(tr__zone_offset(&zone, 1173596399), -5 * 3600);
    ck_assert_int_eq(tr__zone_offset(&zone, 1173596400), -4 * 3600);
    tr__zone_span(&zone, at(2026, 7, 1, 0, 0), &span);
    ck_assert_int_eq(span.begin, at(2026, 3, 8, 7, 0));
    ck_assert_int_eq(span.end, at(2026, 11, 1, 6, 0));
    ck_assert_int_eq(span.offset, -4 * 3600);
    tr__zone_span(&zone, at(2526, 1, 1, 0, 0), &span);
    ck_assert_int_eq(span.offset, -5 * 3600);
    tr__zone_span(&zone, 1173596400, &span);
    ck_assert_int_eq(span.begin, 1173596400);
    tr__zone_span(&zone, 1173596399, &span);
    ck_assert(span.begin == INT64_MIN);
    ck_assert_int_eq(span.end, 1173596400);
    /* The ends of what may be asked. */
    ck_assert_int_eq(tr__zone_offset(&zone, -ZONE_TIME_MAX), -5 * 3600);
    tr__zone_span(&zone, ZONE_TIME_MAX, &span);
    ck_assert_int_ge(span.end, ZONE_TIME_MAX);
}

TEST(a_local_time_is_none_one_or_two_instants, "")
{
    struct tzif file;
    struct zone zone;
    struct zone_instants instants;
    make_slim(&file, &zone);
    tr__zone_instants(&zone, at(2026, 3, 8, 2, 30), &instants);
    ck_assert_int_eq(instants.count, 0);
    ck_assert_int_eq(instants.first, at(2026, 3, 8, 7, 0));
    tr__zone_instants(&zone, at(2026, 3, 8, 3, 0), &instants);
    ck_assert_int_eq(instants.count, 1);
    ck_assert_int_eq(instants.first, at(2026, 3, 8, 7, 0));
    tr__zone_instants(&zone, at(2026, 3, 8, 1, 59), &instants);
    ck_assert_int_eq(instants.count, 1);
    ck_assert_int_eq(instants.first, at(2026, 3, 8, 6, 59));
    tr__zone_instants(&zone, at(2026, 11, 1, 1, 30), &instants);
    ck_assert_int_eq(instants.count, 2);
    ck_assert_int_eq(instants.first, at(2026, 11, 1, 5, 30));
    ck_assert_int_eq(instants.second, at(2026, 11, 1, 6, 30));
    tr__zone_instants(&zone, at(2026, 11, 1, 2, 0), &instants);
    ck_assert_int_eq(instants.count, 1);
    ck_assert_int_eq(instants.second, at(2026, 11, 1, 7, 0));
    ck_assert_int_eq(tr__zone_latest(&zone, at(2026, 11, 1, 6, 10)), at(2026, 11, 1, 2, 0) - 1);
    ck_assert_int_eq(tr__zone_latest(&zone, at(2026, 11, 1, 5, 59)), at(2026, 11, 1, 1, 59));
    ck_assert_int_eq(tr__zone_latest(&zone, at(2026, 11, 1, 7, 30)), at(2026, 11, 1, 2, 30));
}

/* Instants and local times are two views of one thing, also where changes follow in minutes. */
TEST(instants_agree_with_offsets_in_wild_zones, "")
{
    struct rng rng;
    rng_init(&rng, test_seed());
    for (int round = 0; round < 200; round++) {
        static const int32_t offsets[] = {0, 3600, -1800, 40, 7200};
        static int64_t local_of[4000];
        struct tzif_change changes[6];
        struct tzif file;
        struct zone zone;
        int64_t time = 100000;
        for (size_t i = 0; i < 6; i++) {
            time += 10 + (int64_t)rng_below(&rng, 60) * 10;
            changes[i] = (struct tzif_change){time, (unsigned char)rng_below(&rng, 5)};
        }
        tzif_make(&file, round % 2 ? '3' : 0, changes, 6, offsets, 5, "");
        ck_assert_int_eq(tr__zone_read(file.bytes, file.size, &zone), TR_OK);
        /* Every 10 seconds of a period with all changes, by the list itself. */
        for (int i = 0; i < 4000; i++) {
            int64_t utc = 80000 + i * 10;
            int32_t offset = offsets[0];
            for (int j = 0; j < 6 && changes[j].time <= utc; j++)
                offset = offsets[changes[j].type];
            local_of[i] = utc + offset;
            MODEL_ASSERT(tr__zone_offset(&zone, utc) == offset);
        }
        for (int i = 1000; i < 3000; i += 61) {
            struct zone_instants instants;
            int64_t local = local_of[i];
            int64_t latest = INT64_MIN;
            tr__zone_instants(&zone, local, &instants);
            MODEL_ASSERT(instants.count >= 1);
            MODEL_ASSERT(instants.first + tr__zone_offset(&zone, instants.first) == local);
            MODEL_ASSERT(instants.second + tr__zone_offset(&zone, instants.second) == local);
            MODEL_ASSERT(instants.count == 1 || instants.first < instants.second);
            int64_t first = tr__zone_first(&zone, local);
            for (int j = 0; j < 4000; j++) {
                MODEL_ASSERT(local_of[j] < local || 80000 + j * 10 >= first);
                if (j <= i && local_of[j] > latest)
                    latest = local_of[j];
            }
            MODEL_ASSERT(first + tr__zone_offset(&zone, first) >= local);
            int64_t shown = tr__zone_latest(&zone, 80000 + i * 10);
            MODEL_ASSERT(shown >= latest && shown < latest + 10);
        }
    }
}

TEST(rules_of_posix_are_read, "")
{
    static const struct {
        const char *text;
        int64_t utc;
        int32_t offset;
    } cases[] = {
        {"UTC0", 0, 0},
        {"<+0330>-3:30", 0, 12600},
        {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 1782864000, -3600}, /* Nuuk, July 2026 */
        {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 1767225600, -7200},
        {"IST-1GMT0,M10.5.0,M3.5.0/1", 1782864000, 3600}, /* Dublin: summer time is in winter */
        {"IST-1GMT0,M10.5.0,M3.5.0/1", 1767225600, 0},
        {"EST5EDT,0/0,J365/25", 1767225600, -14400}, /* summer time for ever, RFC 8536 */
        {"EST5EDT,0/0,J365/25", 1767225600 + 5 * 3600, -14400},
        {"EST5EDT,0/0,J365/25", 1782864000, -14400},
        {"XXX3EDT4,0/0,J365/23", 1767236400, -14400}, /* the same, of the same section */
        {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 1767225600, 39600}, /* Lord Howe */
        {"AAA-1BBB,J60/0,J61/0", 1709164800, 3600},                  /* 2024-02-29 */
        {"AAA-1BBB,J60/0,J61/0", 1709251200, 7200},                  /* 2024-03-01 */
        {"AAA-1BBB,59/0,60/0", 1709164800, 7200},
        {"AAA-1BBB,59/0,60/0", 1709251200, 3600},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct zone_rule rule;
        struct zone_span span;
        ck_assert_int_eq(tr__zone_rule_read(cases[i].text, strlen(cases[i].text), &rule), TR_OK);
        tr__zone_rule_span(&rule, cases[i].utc, &span);
        ck_assert_msg(span.offset == cases[i].offset, "%s: %d", cases[i].text, (int)span.offset);
    }
}

TEST(other_texts_are_no_rules, "")
{
    static const char *const texts[] = {
        "",
        "UT0",
        "UTC",
        "UTC25",
        "UTC0x",
        "<UTC0",
        "<UT>0",
        "UTC0:60",
        "EST5EDT",
        "EST5EDT,M3.2.0",
        "EST5ED",
        "U1C0",
        "<U*C>0",
        "EST5EDT,M3.2.0,M11.1.0,",
        "E5,J1,J2",
        "EST5EDT,M13.2.0,M11.1.0",
        "EST5EDT,M3.0.0,M11.1.0",
        "EST5EDT,M3.6.0,M11.1.0",
        "EST5EDT,M3.2.7,M11.1.0",
        "EST5EDT,J0,J5",
        "EST5EDT,J366,J5",
        "EST5EDT,366,5",
        "EST5EDT,5/168,7",
        "EST5EDT,M3.2,M11.1.0",
        "EST5EDT,M3.2.0/,M11.1.0",
        "EST5EDT4 ,M3.2.0,M11.1.0",
    };
    struct zone_rule rule;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(
            tr__zone_rule_read(texts[i], strlen(texts[i]), &rule) == TR_BAD_DATA, "%s", texts[i]);
}

TEST(damaged_files_are_refused, "")
{
    struct tzif file;
    struct zone zone;
    struct zone untouched = {.change_count = 77};
    make_slim(&file, &zone);
    /* Cut short at every byte, in memory that ends there. */
    for (size_t size = 0; size < file.size; size++) {
        unsigned char *cut = malloc(size + 1);
        memcpy(cut, file.bytes, size);
        zone = untouched;
        ck_assert_int_eq(tr__zone_read(cut, size, &zone), TR_BAD_DATA);
        ck_assert_uint_eq(zone.change_count, 77);
        free(cut);
    }
    file.bytes[file.size] = 'x';
    ck_assert_int_eq(tr__zone_read(file.bytes, file.size + 1, &zone), TR_BAD_DATA);
    /* Every byte of the second block is looked at, but for reserved ones and the letters of names. */
    struct rng rng;
    rng_init(&rng, test_seed());
    for (size_t i = 0; i < file.size; i++) {
        for (int j = 0; j < 256; j++) {
            make_slim(&file, &zone);
            file.bytes[i] = (unsigned char)j;
            if (tr__zone_read(file.bytes, file.size, &zone) == TR_OK)
                (void)tr__zone_offset(&zone, (int64_t)(rng_next(&rng) >> 6));
        }
    }
}

TEST(single_bytes_that_cannot_be_are_refused, "")
{
    /* Of the file above: the second head is at 51, its data at 95. */
    static const struct {
        size_t at;
        unsigned char byte;
        tr_status status;
    } cases[] = {
        {0, 'U', TR_BAD_DATA},
        {4, '3', TR_BAD_DATA},
        {55, '3', TR_BAD_DATA},
        {51, 'U', TR_BAD_DATA},
        {55, 0, TR_BAD_DATA},
        {55, '9', TR_NOT_SUPPORTED},
        {74, 1, TR_BAD_DATA} /* is UT */,
        {78, 1, TR_BAD_DATA} /* is standard */,
        {82, 1, TR_NOT_SUPPORTED} /* leap seconds */,
        {86, 0, TR_BAD_DATA} /* changes */,
        {86, 2, TR_BAD_DATA},
        {83, 255, TR_BAD_DATA},
        {90, 0, TR_BAD_DATA} /* types */,
        {90, 3, TR_BAD_DATA},
        {94, 0, TR_BAD_DATA} /* characters */,
        {94, 1, TR_BAD_DATA},
        {91, 128, TR_BAD_DATA},
        {103, 2, TR_BAD_DATA} /* the type of the change */,
        {103, 0, TR_BAD_DATA},
        {104, 128, TR_BAD_DATA} /* an offset */,
        {108, 2, TR_BAD_DATA} /* is it summer */,
        {109, 2, TR_BAD_DATA} /* a name */,
        {117, 'x', TR_BAD_DATA} /* the last name's end */,
        {118, 'x', TR_BAD_DATA},
        {119, '(', TR_BAD_DATA},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tzif file;
        struct zone zone;
        make_slim(&file, &zone);
        ck_assert_uint_ne(file.bytes[cases[i].at], cases[i].byte);
        file.bytes[cases[i].at] = cases[i].byte;
        tr_status status = tr__zone_read(file.bytes, file.size, &zone);
        ck_assert_msg(status == cases[i].status, "%zu: %s", i, tr_status_name(status));
    }
}

static tr_status read_with(char version, const struct tzif_change *changes, size_t count,
                           int32_t offset, const char *footer)
{
    struct tzif file;
    struct zone zone;
    int32_t offsets[] = {offset, 3600};
    tzif_make(&file, version, changes, count, offsets, 2, footer);
    return tr__zone_read(file.bytes, file.size, &zone);
}

TEST(files_that_contradict_themselves_are_refused, "")
{
    static const struct tzif_change good[] = {{10, 0}, {20, 1}};
    static const struct tzif_change same[] = {{10, 0}, {10, 1}};
    static const struct tzif_change back[] = {{10, 0}, {9, 1}};
    static const struct tzif_change type[] = {{10, 0}, {20, 2}};
    static const struct tzif_change far[] = {{10, 0}, {ZONE_TIME_MAX + 1, 1}};
    ck_assert_int_eq(read_with('4', good, 2, 0, "CET-1"), TR_OK);
    ck_assert_int_eq(read_with('4', good, 2, 0, ""), TR_OK);
    ck_assert_int_eq(read_with('4', good, 2, 0, "CET-2"), TR_BAD_DATA);
    ck_assert_int_eq(read_with('4', same, 2, 0, ""), TR_BAD_DATA);
    ck_assert_int_eq(read_with('4', back, 2, 0, ""), TR_BAD_DATA);
    ck_assert_int_eq(read_with('4', type, 2, 0, ""), TR_BAD_DATA);
    ck_assert_int_eq(read_with('4', far, 2, 0, ""), TR_BAD_DATA);
    ck_assert_int_eq(read_with(0, good, 2, 0, ""), TR_OK);
    ck_assert_int_eq(read_with('1', good, 2, 0, ""), TR_BAD_DATA);
    ck_assert_int_eq(read_with('5', good, 2, 0, ""), TR_NOT_SUPPORTED);
    ck_assert_int_eq(read_with('2', good, 2, ZONE_OFFSET_MIN, ""), TR_OK);
    ck_assert_int_eq(read_with('2', good, 2, ZONE_OFFSET_MIN - 1, ""), TR_BAD_DATA);
    ck_assert_int_eq(read_with('2', good, 2, ZONE_OFFSET_MAX + 1, ""), TR_BAD_DATA);
    ck_assert_int_eq(read_with('2', good, 2, INT32_MIN, ""), TR_BAD_DATA);
}

/* ---- Names and the cache. ---- */

TEST(zones_of_etc_need_no_files, "")
{
    static const struct {
        const char *name;
        int hours;
    } cases[] = {{"UTC", 0},
                 {"Etc/UTC", 0},
                 {"GMT", 0},
                 {"Etc/GMT+5", -5},
                 {"Etc/GMT-14", 14},
                 {"Etc/GMT+12", -12},
                 {"Etc/GMT0", 0},
                 {"Etc/GMT-0", 0},
                 {"Etc/Zulu", 0}};
    static const char *const missing[] = {"Etc/GMT+13",
                                          "Etc/GMT-15",
                                          "Etc/GMT+05",
                                          "Etc/GMT+",
                                          "Etc/GMT+1x",
                                          "Etc/Berlin",
                                          "GMT+5",
                                          "Europe"};
    struct zones zones;
    const struct zone *zone = NULL;
    tr__zones_init(&zones, tr_platform_real(), "/nonexistent");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(tr__zones_find(&zones, cases[i].name, &zone), TR_OK);
        ck_assert_int_eq(tr__zone_offset(zone, 0), cases[i].hours * 3600);
    }
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        ck_assert_int_eq(tr__zones_find(&zones, missing[i], &zone), TR_NOT_FOUND);
    tr__zones_deinit(&zones);
    ck_assert_int_eq(tr__zone_offset(&(struct zone){.has_rule = false}, 5), 0);
}

TEST(names_lead_nowhere_else, "")
{
    static const char *const bad[] = {
        "",
        "/",
        "/etc/passwd",
        "..",
        "../x",
        "Europe/../x",
        "Europe//Berlin",
        "Europe/",
        "./x",
        "-x",
        "a/-x",
        "a b",
        "a\nb",
        "Europe/Berlin\x01",
        "caf\xc3\xa9",
        "_x",
        "a.b",
        "a123456789012345678901234567890123456789012345678901234567890123",
    };
    struct zones zones;
    const struct zone *zone = NULL;
    tr__zones_init(&zones, tr_platform_real(), NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(tr__zones_find(&zones, bad[i], &zone), TR_NAME_INVALID);
    tr__zones_deinit(&zones);
}

static void save(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

TEST(files_are_read_once_from_tzdir, "")
{
    char directory[] = "/tmp/troupe_zone_XXXXXX";
    char path[PATH_MAX];
    static char large[ZONE_FILE_MAX + 1];
    struct tzif file;
    struct zone unused;
    struct zones zones;
    const struct zone *zone = NULL;
    const struct zone *again = NULL;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    make_slim(&file, &unused);
    snprintf(path, sizeof path, "%s/Mine", directory);
    save(path, file.bytes, file.size);
    setenv("TZDIR", directory, 1);
    tr__zones_init(&zones, tr_platform_real(), NULL);
    ck_assert_int_eq(tr__zones_find(&zones, "Mine", &zone), TR_OK);
    ck_assert_int_eq(tr__zone_offset(zone, 0), -5 * 3600);
    save(path, "TZif", 4);
    ck_assert_int_eq(tr__zones_find(&zones, "Mine", &again), TR_OK);
    ck_assert_ptr_eq(again, zone);
    tr__zones_deinit(&zones);
    ck_assert_int_eq(tr__zones_find(&zones, "Mine", &again), TR_BAD_DATA);
    save(path, large, sizeof large);
    ck_assert_int_eq(tr__zones_find(&zones, "Mine", &again), TR_TOO_LARGE);
    save(path, "", 0);
    ck_assert_int_eq(tr__zones_find(&zones, "Mine", &again), TR_BAD_DATA);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(tr__zones_find(&zones, "Mine", &again), TR_NOT_FOUND);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(tr__zones_find(&zones, "Mine", &again), TR_NOT_FOUND);
    ck_assert_int_eq(rmdir(directory), 0);
    tr__zones_deinit(&zones);
}

TEST(memory_may_run_out, "")
{
    struct fake_memory memory;
    struct zones zones;
    const struct zone *zone = NULL;
    if (access(ZONEINFO "/Europe/Berlin", R_OK) != 0)
        test_skip("no zone files here");
    fake_memory_init(&memory);
    tr__zones_init(&zones, &memory.platform, ZONEINFO);
    for (size_t i = 1; i <= 2; i++) {
        memory.requests = 0;
        memory.fail_at = i;
        ck_assert_int_eq(tr__zones_find(&zones, "Europe/Berlin", &zone), TR_NO_MEMORY);
        ck_assert_uint_eq(memory.blocks, 0);
    }
    memory.requests = 0;
    memory.fail_at = 3;
    ck_assert_int_eq(tr__zones_find(&zones, "Europe/Berlin", &zone), TR_OK);
    tr__zones_deinit(&zones);
    ck_assert_uint_eq(memory.blocks, 0);
}

SUITE("durable zone", dates_are_those_of_the_c_library,
      zones_of_the_system_are_those_of_the_c_library, a_rule_holds_after_the_table,
      a_local_time_is_none_one_or_two_instants, instants_agree_with_offsets_in_wild_zones,
      rules_of_posix_are_read, other_texts_are_no_rules, damaged_files_are_refused,
      single_bytes_that_cannot_be_are_refused, files_that_contradict_themselves_are_refused,
      zones_of_etc_need_no_files, names_lead_nowhere_else, files_are_read_once_from_tzdir,
      memory_may_run_out)
