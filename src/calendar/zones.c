/* SPDX-License-Identifier: Apache-2.0 */
#include "calendar/zones.h"

#include <stdio.h>
#include <string.h>

#include "base/civil.h"
#include "os/small_file.h"

enum { PATH_SIZE = 512 };

struct zone_entry {
    struct zone_entry *next;
    struct zone zone;
    /* the content of the zone's file, which the zone borrows; NULL: the zone needs no file */
    void *bytes;
    char name[ZONE_NAME_MAX + 1];
};

void tr__zones_init(struct zones *zones, const tr_platform *platform, const char *directory)
{
    *zones = (struct zones){.platform = platform, .directory = directory};
    lock_init(&zones->lock);
}

void tr__zones_deinit(struct zones *zones)
{
    const tr_platform *platform = zones->platform;
    while (zones->first) {
        struct zone_entry *entry = zones->first;
        zones->first = entry->next;
        if (entry->bytes)
            (void)platform->resize(platform, entry->bytes, 0);
        (void)platform->resize(platform, entry, 0);
    }
    zones->count = 0;
}

/* Whether a name is one of "GMT-14" to "GMT+12", where plus is west. If so, sets *offset. */
static bool is_counted(const char *name, int32_t *offset)
{
    if (strncmp(name, "GMT", 3) != 0 || (name[3] != '+' && name[3] != '-'))
        return false;
    const char *digits = name + 4;
    size_t length = strlen(digits);
    if (length < 1 || length > 2 || strspn(digits, "0123456789") != length ||
        (length == 2 && digits[0] == '0'))
        return false;
    int hours = length == 1 ? digits[0] - '0' : (digits[0] - '0') * 10 + digits[1] - '0';
    bool is_west = name[3] == '+';
    if (hours > (is_west ? 12 : 14))
        return false;
    *offset = (is_west ? -hours : hours) * CIVIL_HOUR;
    return true;
}

/* Whether a name is that of a zone that needs no file. If so, sets *offset. */
static bool is_built_in(const char *name, int32_t *offset)
{
    static const char *const zero[] = {
        "UTC", "GMT", "UCT", "Zulu", "Universal", "Greenwich", "GMT0"};
    bool is_etc = strncmp(name, "Etc/", 4) == 0;
    const char *last = is_etc ? name + 4 : name;
    for (size_t i = 0; i < sizeof zero / sizeof *zero; i++) {
        if (strcmp(last, zero[i]) == 0) {
            *offset = 0;
            return true;
        }
    }
    return is_etc && is_counted(last, offset);
}

/* Reads the file of a zone into its entry. */
static tr_status entry_load(const struct zones *zones, struct zone_entry *entry)
{
    const tr_platform *platform = zones->platform;
    char path[PATH_SIZE];
    size_t size = 0;
    void *bytes = NULL;
    const char *directory = zones->directory ? zones->directory : tr__environment("TZDIR");
    if (!directory)
        directory = "/usr/share/zoneinfo";
    int length = snprintf(path, sizeof path, "%s/%s", directory, entry->name);
    if (length < 0 || (size_t)length >= sizeof path)
        return TR_NOT_FOUND;
    tr_status status = tr__file_read(platform, path, ZONE_FILE_MAX, &bytes, &size);
    /* TR_NOT_SUPPORTED also comes if the path is a directory, such as "Europe" */
    if (status != TR_OK)
        return status == TR_NOT_SUPPORTED ? TR_NOT_FOUND : status;
    status = tr__zone_read(bytes, size, &entry->zone);
    if (status != TR_OK) {
        (void)platform->resize(platform, bytes, 0);
        return status;
    }
    entry->bytes = bytes;
    return TR_OK;
}

static tr_status entry_add(struct zones *zones, const char *name, size_t length,
                           const struct zone **zone)
{
    const tr_platform *platform = zones->platform;
    if (zones->count >= ZONES_MAX)
        return TR_LIMIT;
    struct zone_entry *entry = platform->resize(platform, NULL, sizeof *entry);
    if (!entry)
        return TR_NO_MEMORY;
    *entry = (struct zone_entry){.next = zones->first};
    memcpy(entry->name, name, length);
    int32_t offset = 0;
    tr_status status = TR_OK;
    if (is_built_in(entry->name, &offset))
        tr__zone_fix(&entry->zone, offset);
    else
        status = entry_load(zones, entry);
    if (status != TR_OK) {
        (void)platform->resize(platform, entry, 0);
        return status;
    }
    zones->first = entry;
    zones->count++;
    *zone = &entry->zone;
    return TR_OK;
}

tr_status tr__zones_find(struct zones *zones, const char *name, const struct zone **zone)
{
    size_t length = strnlen(name, ZONE_NAME_MAX + 1);
    if (!tr__zone_name_is_valid(name, length))
        return TR_NAME_INVALID;
    lock_take(&zones->lock);
    const struct zone_entry *entry = zones->first;
    while (entry && strcmp(entry->name, name) != 0)
        entry = entry->next;
    tr_status status = TR_OK;
    if (entry)
        *zone = &entry->zone;
    else
        status = entry_add(zones, name, length, zone);
    lock_give(&zones->lock);
    return status;
}
