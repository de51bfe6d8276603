/* SPDX-License-Identifier: Apache-2.0 */
#include "os/lock_holder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/*
 * A line of /proc/locks: "1: FLOCK ADVISORY WRITE 4711 08:01:131090 0 EOF". Device numbers are
 * hexadecimal. Device and file number must both match, so that no wrong process is returned. On
 * some file systems the device number in this line differs from the one that stat returns. Then no
 * process is found.
 */
int tr__os_lock_holder(const char *path)
{
    struct stat found;
    char line[256];
    int holder = 0;
    FILE *locks = stat(path, &found) == 0 ? fopen("/proc/locks", "re") : NULL;
    while (locks && !holder && fgets(line, sizeof line, locks)) {
        int pid;
        unsigned device_major;
        unsigned device_minor;
        unsigned long inode;
        char kind[16];
        int count = sscanf(line,
                           "%*d: %15s %*s %*s %d %x:%x:%lu",
                           kind,
                           &pid,
                           &device_major,
                           &device_minor,
                           &inode);
        if (count == 5 && strcmp(kind, "FLOCK") == 0 && inode == found.st_ino &&
            device_major == major(found.st_dev) && device_minor == minor(found.st_dev) && pid > 0)
            holder = pid;
    }
    if (locks)
        (void)fclose(locks);
    return holder;
}
