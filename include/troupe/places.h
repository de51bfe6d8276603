/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Places: the workers of a process, or the nodes of a cluster. Three tables of functions say what
 * the runtime needs to know of places; they have the same form for workers and for nodes:
 *
 *   tr_ring        where an actor with some name starts;
 *   tr_directory   which actor has a path, and at which place it is now;
 *   tr_transport   how a message gets there.
 *
 * ```c
 * #include <stdio.h>
 * #include <troupe/troupe.h>
 *
 * int main(void)
 * {
 *     tr_system *system;
 *     const tr_places *places;
 *     tr_place place;
 *     tr_system_options options = {.workers = 4};
 *     if (tr_system_new(&options, &system) != TR_OK || tr_places_new(system, &places) != TR_OK)
 *         return 1;
 *     const tr_ring *ring = places->ring;
 *     tr_status status = ring->find(ring, "orders-17", &place);
 *     if (status == TR_OK)
 *         printf("orders-17 starts on worker %u of %u\n", place, ring->count(ring));
 *     tr_places_free(places);
 *     tr_system_free(system);
 *     return status == TR_OK ? 0 : 1;
 * }
 * ```
 *
 * This header is the specification: a provider must fulfil the sentences below, and
 * tests/support/places.h checks them. The library has the provider for the workers of a system:
 * tr_places_new. Programs that only spawn, tell and find do not use this header.
 *
 * For every table:
 *
 *   1. The table is shared and outlives all its users. Every function gets the table as its first
 *      argument. Data of the provider follow the table in memory.
 *   2. `size` is sizeof the table where it was filled in. Members are added only at the end.
 *   3. Any thread may call every function, several threads at once. Handlers may call them too.
 *   4. No function waits for an actor. A provider for nodes may wait for a network, and then says
 *      so.
 *   5. A function that fails has changed nothing. Out-parameters are written only on TR_OK, except
 *      where the comment of the function says otherwise.
 *   6. Places are counted from 0. A place is a hint and not an identity, because actors move. A ref
 *      names one actor forever, wherever it is.
 */
#ifndef TROUPE_PLACES_H
#define TROUPE_PLACES_H

#include <troupe/limits.h>
#include <troupe/system.h>

/** A worker or a node, counted from 0. */
typedef uint32_t tr_place;

/* ---- Where a name starts. ---- */

typedef struct tr_ring tr_ring;
/**
 * A name belongs to one place.
 *
 *   1. The same name and the same number of places give the same place, in every process and at
 *      every time. So a provider must not use anything random.
 *   2. When a place is added, only the new place takes names from the others.
 *   3. The number of places may change at any time; one call sees one number.
 *
 * The providers of the library use a hash ring over crc32 with 150 points for each place ("w2v149"
 * for worker 2, "n2v149" for node 2). They will not change that. A person who can choose names can
 * choose their places, too: limit how many names a stranger can choose.
 */
struct tr_ring {
    size_t size;
    /** Returns how many places there are, at least 1. */
    uint32_t (*count)(const tr_ring *ring);
    /** Writes the place of a name. Returns TR_OK or TR_NAME_INVALID. */
    tr_status (*find)(const tr_ring *ring, const char *name, tr_place *place);
};

/* ---- Where an actor is. ---- */

typedef struct tr_location {
    tr_ref ref;
    tr_place place; /* where the actor is at this moment */
} tr_location;

typedef struct tr_directory tr_directory;
/**
 * A path, "/user/orders", leads to at most one actor.
 *
 *   1. If several threads claim a path at the same time, one of them gets TR_OK. The others get the
 *      actor that has the path.
 *   2. A claimed actor is found from every place, though perhaps not at once. If the claimer sends
 *      a message to a place after its claim has returned TR_OK, that place finds the actor when the
 *      message arrives, or earlier.
 *   3. A path is free again when it was released, or when its actor has ended: then the path is not
 *      found any more, and can be claimed again.
 *   4. An actor that was spawned with a name has its path from its spawn to its end, without a
 *      claim. Nobody else can claim or release that path.
 *   5. No choice of names makes the calls slower: tables are hashed with a secret key.
 */
struct tr_directory {
    size_t size;
    /**
     * Registers a living actor under a path, which is copied. TR_NAME_EXISTS: an actor, perhaps
     * this one, has the path already. *holder is then that actor, or TR_NOBODY if that actor is
     * just being spawned; `holder` may be NULL. TR_NAME_INVALID: a path must consist of names of
     * actors, each after a '/'. TR_LIMIT: the path is longer than TR_PATH_MAX, or there are
     * TR_CLAIMS_MAX claims. TR_STOPPED: the actor has ended. Also returns TR_NO_MEMORY.
     */
    tr_status (*claim)(tr_directory *directory, const char *path, tr_ref ref, tr_location *holder);
    /** Writes the actor that has a path, and its place. Returns TR_OK or TR_NOT_FOUND. */
    tr_status (*find)(tr_directory *directory, const char *path, tr_location *found);
    /**
     * Ends a claim of this actor. TR_OK; TR_NOT_FOUND: the actor has not claimed this path, or the
     * claim has ended.
     */
    tr_status (*release)(tr_directory *directory, const char *path, tr_ref ref);
};

/* ---- How a message gets there. ---- */

/** A message that is to be sent, with its sender. A parcel belongs to a system. */
typedef struct tr_parcel tr_parcel;

typedef struct tr_transport tr_transport;
/**
 * Sends parcels to actors at other places.
 *
 *   1. A parcel that was taken (TR_OK) reaches the mailbox of its receiver once or never,
 *      unchanged, and reaches no other actor. In one process a parcel is never lost: it is handled,
 *      or it becomes a dead letter with a reason.
 *   2. Parcels of one thread, or of one actor, to the same receiver arrive in the order in which
 *      they were sent. This order includes messages that were sent by tr_tell.
 *   3. In one process the parcel itself is passed on: the receiver sees the same bytes at the same
 *      address. Nothing is serialized.
 *   4. If the mailbox is full, the sender does not wait: the receiver's overflow rule applies. With
 *      TR_PARK the status is TR_MAILBOX_FULL.
 *   5. A parcel to an actor that has moved reaches the actor, or the status is TR_NOT_FOUND. In
 *      that case the directory says where the actor is.
 *
 * At the receiving node, the provider makes a parcel of what it has read, and sends it by the
 * transport of its own process. So there is only one way into a mailbox.
 */
struct tr_transport {
    size_t size;
    /**
     * Sends a parcel. On TR_OK the parcel is taken; with any other status it is still the caller's.
     * TR_STOPPED: the actor, or the system at that place, has ended; TR_NOT_FOUND: there is no such
     * place, or it is gone; TR_MAILBOX_FULL; TR_INVALID_ARGUMENT: no parcel; TR_UNHANDLED: the
     * receiver is a router without a route for the message.
     */
    tr_status (*send)(tr_transport *transport, tr_place place, tr_ref to, tr_parcel *parcel);
};

/** The three tables for one set of places. */
typedef struct tr_places {
    size_t size;
    const tr_ring *ring;
    tr_directory *directory;
    tr_transport *transport;
} tr_places;

TR_BEGIN_C
/**
 * Makes the places of the workers of a system, which are given to the caller. Free the places
 * before the system. Any thread. Does not wait.
 *
 * The directory is the one in which tr_find looks. For a path that was claimed, tr_find may still
 * return the ref of an actor that has ended. Such a path can be claimed again, but a spawn with
 * this path gives TR_NAME_EXISTS until the claim was released. So release the claim before an actor
 * with a claimed path below /user is spawned. The transport does what tr_tell between workers does.
 * The place of a group is the place of its supervisor. Fails with TR_INVALID_ARGUMENT or
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr_places_new(tr_system *system, const tr_places **places);
/** Frees places, and releases all their claims. NULL does nothing. One thread. Does not wait. */
void tr_places_free(const tr_places *places);

/**
 * Makes a parcel of a message, which is copied. `from` is the sender of the message, or TR_NOBODY.
 * Any thread. Does not wait.
 *
 * The parcel is given to the caller, who sends or frees it before the system is freed. Fails with
 * TR_INVALID_ARGUMENT, TR_TOO_LARGE or TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr_parcel_new(tr_system *system, tr_ref from, const tr_type *type,
                                      const void *message, tr_parcel **parcel);
/**
 * Frees a parcel of this system that was not sent. NULL does nothing. Any thread. Does not wait.
 */
void tr_parcel_free(tr_system *system, tr_parcel *parcel);
/**
 * These return the type, the message and the sender of a parcel, borrowed from the parcel. If
 * `parcel` is NULL, they return NULL, NULL and TR_NOBODY. One thread. Does not wait.
 */
const tr_type *tr_parcel_type(const tr_parcel *parcel);
const void *tr_parcel_message(const tr_parcel *parcel);
tr_ref tr_parcel_from(const tr_parcel *parcel);
TR_END_C

#endif
