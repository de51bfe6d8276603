/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The workers of a system as places: the first providers of troupe/places.h.
 */
#ifndef POOL_LOCAL_PLACES_H
#define POOL_LOCAL_PLACES_H

#include <troupe/places.h>

#include "actor/cell/system.h"
#include "pool/pool.h"

struct name_claim {
    struct name_claim *next;
    struct name_claim **link; /* what points to it */
    struct name *own;         /* in `claims`; its ref is the address of this */
    struct name *shown;       /* in the names of the system */
    uint64_t ref;
};

struct local_directory {
    tr_directory table;
    struct tr_system *system;
    const struct place_ring *ring;
    struct lock lock;
    /* Under the lock. */
    struct names claims; /* by path, so that they can be released */
    struct name_claim *first;
    uint32_t count;
};

struct local_transport {
    tr_transport table;
    struct tr_system *system;
};

struct local_places {
    tr_places table;
    void *memory; /* what the source gave; this is aligned inside it */
    struct memory_source source;
    struct local_directory directory;
    struct local_transport transport;
};

void tr__local_directory_init(struct local_directory *directory, struct tr_system *system,
                              const struct place_ring *ring);
void tr__local_directory_deinit(struct local_directory *directory);
void tr__local_transport_init(struct local_transport *transport, struct tr_system *system);

#endif
