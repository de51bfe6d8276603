/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/kit_clock.h"

#include <stdio.h>
#include <string.h>

#include "os/file.h"
#include "os/map_file.h"
#include "os/small_file.h"

struct kit_clock_file {
    char magic[16]; /* has the version of the format; files of other versions are replaced */
    tr_time wall_ns;
};

static const char magic[16] = "troupe kit clk1";

/* Writes the path of the file. Returns false if it is too long. */
static bool path_make(char path[OS_PATH_SIZE], const char *directory)
{
    int length = snprintf(path, OS_PATH_SIZE, "%s/kit-clock", directory);
    return length >= 0 && length < OS_PATH_SIZE;
}

tr_time tr__kit_clock_read(const tr_platform *platform, const char *directory)
{
    char path[OS_PATH_SIZE];
    struct kit_clock_file file = {.wall_ns = 0};
    void *memory;
    size_t size;
    if (!path_make(path, directory) ||
        tr__file_read(platform, path, sizeof file, &memory, &size) != TR_OK)
        return 0;
    if (size == sizeof file)
        memcpy(&file, memory, sizeof file);
    (void)platform->resize(platform, memory, 0);
    return memcmp(file.magic, magic, sizeof magic) == 0 && file.wall_ns > 0 ? file.wall_ns : 0;
}

tr_status tr__kit_clock_open(struct kit_clock *clock, const char *directory, tr_error *error)
{
    char path[OS_PATH_SIZE];
    void *memory;
    if (!path_make(path, directory))
        return TR_STORE_FAILED;
    tr_status status = tr__map_file_open(path, sizeof *clock->file, &memory, &clock->mapped, error);
    if (status != TR_OK)
        return status;
    clock->file = memory;
    memcpy(clock->file->magic, magic, sizeof magic);
    return TR_OK;
}

void tr__kit_clock_write(struct kit_clock *clock, tr_time wall_ns)
{
    if (clock->file)
        clock->file->wall_ns = wall_ns;
}

void tr__kit_clock_close(struct kit_clock *clock)
{
    tr__map_file_close(clock->file, clock->mapped);
    clock->file = NULL;
}
