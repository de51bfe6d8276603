/* SPDX-License-Identifier: Apache-2.0 */
/** The names of the files of a store: see vfs_names.h. */
#include "store/sqlite/vfs_names.h"

#include <stdio.h>
#include <string.h>

bool tr__vfs_make_names(struct vfs *vfs, const char *path)
{
    static const char *const suffixes[] = {"", "-log", "-undo", "-new"};
    enum { SUFFIX_MAX = 6 };
    size_t size = strlen(path) + SUFFIX_MAX + 2;
    vfs->names = source_resize(&vfs->source, NULL, 4 * size);
    if (!vfs->names)
        return false;
    memset(vfs->names, 0, 4 * size);
    for (size_t i = 0; i < 4; i++)
        (void)snprintf(vfs->names + i * size, size, "%s%s", path, suffixes[i]);
    vfs->path = vfs->names;
    vfs->log_path = vfs->names + size;
    vfs->undo_path = vfs->names + 2 * size;
    vfs->new_path = vfs->names + 3 * size;
    return true;
}

const char *tr__vfs_name_of(const struct vfs *vfs, const char *path)
{
    size_t size = strlen(vfs->path);
    if (strncmp(path, vfs->path, size) != 0)
        return path;
    const char *suffix = path + size;
    return strcmp(suffix, "-wal") == 0       ? vfs->log_path
           : strcmp(suffix, "-journal") == 0 ? vfs->undo_path
           : strcmp(suffix, "-new") == 0     ? vfs->new_path
                                             : path;
}
