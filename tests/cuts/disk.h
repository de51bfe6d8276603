/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A disk that knows which of its content is there for sure, and what was done to it since: made of a trace,
 * or of a directory. cut.c says what may be left of it.
 */
#ifndef CUTS_DISK_H
#define CUTS_DISK_H

#include "trace.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATH 400 /* of a path in the store; others may have twice as many */

#define FILES_MAX 512
#define NAMES_MAX 256
#define OPS_MAX 1024

struct op {
    uint64_t index; /* of its record */
    uint64_t at;    /* or the new length */
    const uint8_t *data;
    size_t bytes;
    bool is_size;
    uint64_t length; /* of the file after it */
};

struct file {
    uint64_t inode;
    uint8_t *data; /* what is on disk for sure */
    size_t size;
    struct op *ops; /* since then */
    size_t count, room;
};

struct name {
    char path[PATH]; /* below the root: "/store/lock" */
    int file;        /* -1: a directory */
    uint64_t inode;
};

struct name_op {
    uint64_t index;
    int kind; /* CUTS_MAKE, ... */
    struct name name;
    char to[PATH];
};

struct disk {
    struct file files[FILES_MAX];
    int file_count;
    struct name names[NAMES_MAX]; /* for sure */
    int name_count;
    struct name_op ops[OPS_MAX];
    int op_count;
    char root[PATH];
    uint64_t root_inode;
    struct {
        uint64_t number, index;
    } syncs[64];
    int sync_count;
};

/* Chance, from a number: each cut can be repeated. */
uint64_t mix(uint64_t x);
extern uint64_t state;
/** Below n; n 0: 0. */
uint64_t chance(uint64_t n);

__attribute__((__noreturn__)) void die(const char *what);
/** Not NULL. */
void *must(void *memory);

/** A record of the trace that is no mark. */
void disk_apply(struct disk *disk, uint64_t index, const struct cuts_record *record,
                const uint8_t *data);
/** A directory as a disk on which all is synced. */
void disk_load(struct disk *disk, const char *root);
void disk_free(struct disk *disk);

/**
 * Writes what is left after a cut into a directory; is_all: everything is. It depends on the seed only, and `cut_text`
 * says what it is.
 */
void disk_build(const struct disk *disk, const char *directory, uint64_t seed, bool is_damaged,
                bool is_all);
extern char cut_text[1000];

#endif
