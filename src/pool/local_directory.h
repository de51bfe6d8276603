/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The directory of troupe/places.h for the workers of one system: names of actors, over actor/cell/names.h.
 */
#ifndef POOL_LOCAL_DIRECTORY_H
#define POOL_LOCAL_DIRECTORY_H

#include <troupe/places.h>

#include "actor/cell/names.h"

struct name_claim {
    struct name_claim *next;
    struct name_claim **link; /* the pointer that points to this claim */
    /*
     * the entry of this claim in `claims`; in place of a ref it has the memory address of this
     * claim
     */
    struct name *own;
    struct name *shown; /* the entry in the names of the system */
    uint64_t ref;
};

struct local_directory {
    tr_directory table;
    struct tr_system *system;
    const struct place_ring *ring;
    struct lock lock;
    /* The lock protects the members from here on. */
    struct names claims; /* claims by their paths; tr_directory.release needs them */
    struct name_claim *first;
    uint32_t count;
};

void tr__local_directory_init(struct local_directory *directory, struct tr_system *system,
                              const struct place_ring *ring);
void tr__local_directory_deinit(struct local_directory *directory);

#endif
