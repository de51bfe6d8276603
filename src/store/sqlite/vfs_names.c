/* SPDX-License-Identifier: Apache-2.0 */
/** Names of the files of a store. */
#include "store/sqlite/vfs_names.h"

#include <stdio.h>
#include <string.h>

bool tr__vfs_make_names(struct vfs *vfs, const char *path)
{
    static const char *const suffixes[] = {"", "-log", "-undo"};
    enum { SUFFIX_MAX = 6 };
    size_t size = strlen(path) + SUFFIX_MAX + 2;
    vfs->names = source_resize(&vfs->source, NULL, 3 * size);
    if (!vfs->names)
        return false;
    memset(vfs->names, 0, 3 * size);
    for (size_t i = 0; i < 3; i++)
        (void)snprintf(vfs->names + i * size, size, "%s%s", path, suffixes[i]);
    vfs->path = vfs->names;
    vfs->log_path = vfs->names + size;
    vfs->undo_path = vfs->names + 2 * size;
    return true;
}

const char *tr__vfs_name_of(const struct vfs *vfs, const char *path)
{
    static const char log[] = "-wal";
    static const char journal[] = "-journal";
    size_t size = strlen(path);
    if (size >= sizeof log && strcmp(path + size - sizeof log + 1, log) == 0)
        return vfs->log_path;
    if (size >= sizeof journal && strcmp(path + size - sizeof journal + 1, journal) == 0)
        return vfs->undo_path;
    return path;
}
