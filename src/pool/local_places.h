/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The workers of a system as places: the first providers of troupe/places.h.
 */
#ifndef POOL_LOCAL_PLACES_H
#define POOL_LOCAL_PLACES_H

#include <troupe/places.h>

#include "actor/system.h"
#include "pool/hash_ring.h"

struct local_ring {
    tr_ring table;
    struct memory_source source;
    struct lock lock; /* of those who change the number */
    atom32 count;
    /*
     * By the number of members, made when first needed and kept: a pool that grows and shrinks comes
     * back to the same numbers, and who looks needs no lock and no count of readers.
     */
    atomptr rings[TR_WORKERS_MAX + 1];
};

struct claim {
    struct claim *next;
    struct claim **link; /* what points to it */
    struct name *own;    /* in `claims`; its ref is the address of this */
    struct name *shown;  /* in the names of the system */
    uint64_t ref;
};

struct local_directory {
    tr_directory table;
    struct tr_system *system;
    const struct local_ring *ring;
    struct lock lock;
    /* Under the lock. */
    struct names claims; /* by path, so that they can be released */
    struct claim *first;
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
    struct local_ring ring;
    struct local_directory directory;
    struct local_transport transport;
};

/** The ring of so many workers from now on. TR_NO_MEMORY. Any thread. */
TR_MUST_CHECK tr_status tr__local_ring_resize(struct local_ring *ring, uint32_t members);

/** A ring of workers. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__local_ring_init(struct local_ring *ring,
                                            const struct memory_source *source, uint32_t members);
void tr__local_ring_deinit(struct local_ring *ring);
void tr__local_directory_init(struct local_directory *directory, struct tr_system *system,
                              const struct local_ring *ring);
void tr__local_directory_deinit(struct local_directory *directory);
void tr__local_transport_init(struct local_transport *transport, struct tr_system *system);

#endif
