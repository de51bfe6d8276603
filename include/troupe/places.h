/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Places: the workers of a process, or the nodes of a cluster. Three tables of functions say what
 * the runtime needs of them, in one shape for both:
 *
 *   tr_ring        where an actor of some name starts;
 *   tr_directory   which actor has a path, and where it is now;
 *   tr_transport   how a message gets there.
 *
 * This header is the specification: whoever writes a provider fulfils the sentences below, and
 * tests/support/places.h checks them. The providers for the workers of a system come with the
 * library: tr_places_new. Programs that only spawn, tell and find need none of this.
 *
 * Of every table:
 *
 *   1. It is shared and outlives all who use it. Every function gets the table itself; what it needs
 *      beyond that follows the table in memory.
 *   2. `size` is sizeof the table of whoever filled it in; members are only ever added at the end.
 *   3. Every function may be called by any thread, also by many at once, and by handlers.
 *   4. No function waits for an actor. One for nodes may wait for a network, and then says so.
 *   5. What fails has changed nothing, and out-parameters are written on TR_OK only, unless it says
 *      otherwise.
 *   6. Places are counted from 0, and a place is a hint, never an identity: actors move. A ref names
 *      one actor for ever, wherever it is.
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
 *      every time. Hence no provider may use anything random.
 *   2. Of n + 1 places, only the new one takes names from the others.
 *   3. The number of places may change at any time; one call sees one number.
 *
 * The providers of the library use a hash ring over crc32 with 150 points a place ("w2v149" for
 * worker 2, "n2v149" for node 2); it is part of what they promise. Whoever chooses names chooses
 * their places: do not let strangers do so without a limit.
 */
struct tr_ring {
    size_t size;
    /** How many places there are: at least 1. */
    uint32_t (*count)(const tr_ring *ring);
    /** TR_NAME_INVALID. */
    tr_status (*find)(const tr_ring *ring, const char *name, tr_place *place);
};

/* ---- Who is where. ---- */

typedef struct tr_location {
    tr_ref ref;
    tr_place place; /* of this moment */
} tr_location;

typedef struct tr_directory tr_directory;
/**
 * A path, "/user/orders", leads to at most one actor.
 *
 *   1. Of all who claim a path at the same time one gets TR_OK, and the others hear who that is.
 *   2. Who has claimed it is found from every place, at the latest when the next message that the
 *      claimer sends after its TR_OK arrives there.
 *   3. A path is free again when it was released, or when its actor has ended: then nobody finds it
 *      any more, and somebody else may claim it.
 *   4. Actors that were spawned with a name have their path from their spawn to their end without
 *      any claim. It cannot be claimed or released by others.
 *   5. Names from strangers make no call slower: tables are hashed with a secret key.
 */
struct tr_directory {
    size_t size;
    /**
     * Registers a living actor under a path, copied. TR_NAME_EXISTS: another has it, or it has it
     * already; *holder, which may be NULL, says who, or nobody when that one is just being spawned.
     * TR_NAME_INVALID: a path is names of actors, each after a '/'; TR_LIMIT: longer than
     * TR_PATH_MAX, or TR_CLAIMS_MAX are there; TR_STOPPED: the actor has ended; TR_NO_MEMORY.
     */
    tr_status (*claim)(tr_directory *directory, const char *path, tr_ref ref, tr_location *holder);
    /** TR_NOT_FOUND. */
    tr_status (*find)(tr_directory *directory, const char *path, tr_location *found);
    /** Gives up what was claimed for this actor. TR_NOT_FOUND: it was not, or not any more. */
    tr_status (*release)(tr_directory *directory, const char *path, tr_ref ref);
};

/* ---- How a message gets there. ---- */

/** A message on its way, with its sender. It belongs to a system. */
typedef struct tr_parcel tr_parcel;

typedef struct tr_transport tr_transport;
/**
 * Parcels go to actors at other places.
 *
 *   1. A parcel that was taken (TR_OK) reaches the mailbox of its receiver once or never, is never
 *      changed, and reaches no other actor. In one process it never gets lost: it is handled, or a
 *      dead letter with its reason.
 *   2. What one thread, or one actor, sends to the same receiver arrives in the order in which it
 *      was sent, also together with what it tells it otherwise.
 *   3. In one process the parcel itself is handed over: the receiver sees the bytes that were put
 *      in, at their address. Nothing is serialized.
 *   4. A sender is not stopped by a full mailbox: what the receiver's behavior says for that case
 *      holds, but TR_PARK gives TR_MAILBOX_FULL.
 *   5. An actor that has moved is reached, or refused with TR_NOT_FOUND; then the directory says
 *      where it is.
 *
 * At the other end a provider for nodes makes a parcel of what it read, and sends it by the transport
 * of its own process: there is one way into a mailbox.
 */
struct tr_transport {
    size_t size;
    /**
     * Sends a parcel, taken on TR_OK and still the caller's otherwise. TR_STOPPED: the actor, or the
     * system there, is known to have ended; TR_NOT_FOUND: there is no such place, or it is gone;
     * TR_MAILBOX_FULL; TR_INVALID_ARGUMENT: no parcel; TR_UNHANDLED: to a router, which has no route
     * for it.
     */
    tr_status (*send)(tr_transport *transport, tr_place place, tr_ref to, tr_parcel *parcel);
};

/** The three, of the same places. */
typedef struct tr_places {
    size_t size;
    const tr_ring *ring;
    tr_directory *directory;
    tr_transport *transport;
} tr_places;

TR_BEGIN_C
/**
 * The workers of a system as places, given to the caller and freed before the system. Its directory
 * is that of tr_find, which may still give the ref of an ended actor for a path that was claimed. Such a
 * path is free for the next who claims it, but for spawns (TR_NAME_EXISTS) only when it was released: who
 * claims a path below /user that is to be spawned one day releases it. Its transport is what tr_tell
 * between workers does. The place of a group is that of its supervisor. TR_INVALID_ARGUMENT, TR_NO_MEMORY. Any
 * thread.
 */
TR_MUST_CHECK tr_status tr_places_new(tr_system *system, const tr_places **places);
/** Releases all that was claimed in it. NULL does nothing. */
void tr_places_free(const tr_places *places);

/**
 * Makes a parcel of a message, copied; `from` is its sender, or nobody. It is given to the caller,
 * who sends it or frees it, before the system is freed. TR_INVALID_ARGUMENT, TR_TOO_LARGE,
 * TR_NO_MEMORY. Any thread.
 */
TR_MUST_CHECK tr_status tr_parcel_new(tr_system *system, tr_ref from, const tr_type *type,
                                      const void *message, tr_parcel **parcel);
/** Frees a parcel of this system that was not sent. NULL does nothing. Any thread. */
void tr_parcel_free(tr_system *system, tr_parcel *parcel);
/** What is in a parcel, borrowed from it; NULL and nobody for NULL. Any thread that has it. */
const tr_type *tr_parcel_type(const tr_parcel *parcel);
const void *tr_parcel_message(const tr_parcel *parcel);
tr_ref tr_parcel_from(const tr_parcel *parcel);
TR_END_C

#endif
