/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The wall clock of a kit whose store is in a directory. The file `kit-clock` in that directory has the time that the
 * last kit there had. So the next kit continues at that time, as the next process does.
 *
 * One thread.
 */
#ifndef ACTOR_SYSTEM_KIT_CLOCK_H
#define ACTOR_SYSTEM_KIT_CLOCK_H

#include <troupe/platform.h>

#include <stddef.h>

struct kit_clock {
    struct kit_clock_file *file; /* mapped; NULL: the kit has no directory */
    size_t mapped;
};

/**
 * Reads the time that the last kit of a directory had. Returns 0 if no kit has used the directory,
 * or if the file cannot be read.
 */
tr_time tr__kit_clock_read(const tr_platform *platform, const char *directory);
/** Opens or makes the file of a directory. TR_STORE_FULL, TR_STORE_FAILED, TR_NOT_SUPPORTED. */
TR_MUST_CHECK tr_status tr__kit_clock_open(struct kit_clock *clock, const char *directory,
                                           tr_error *error);
/** Writes the time. Does nothing if the kit has no directory. */
void tr__kit_clock_write(struct kit_clock *clock, tr_time wall_ns);
/** Closes the file, if there is one. */
void tr__kit_clock_close(struct kit_clock *clock);

#endif
