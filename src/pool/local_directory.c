/* SPDX-License-Identifier: Apache-2.0 */
#include "pool/local_directory.h"

#include <string.h>
#include <troupe/name.h>

#include "actor/cell/slots.h"
#include "actor/mail/group_address.h"

#include "actor/cell/system.h"
#include "pool/place_ring.h"

/* Checks the form of a path: names of actors, with a '/' before each. */
static tr_status path_check(const char *path)
{
    char name[TR_NAME_SIZE];
    if (!path || path[0] != '/')
        return TR_NAME_INVALID;
    if (strnlen(path, TR_PATH_MAX + 1) > TR_PATH_MAX)
        return TR_LIMIT;
    while (*path == '/') {
        path++;
        size_t length = strcspn(path, "/");
        if (length >= sizeof name)
            return TR_NAME_INVALID;
        memcpy(name, path, length);
        name[length] = '\0';
        if (!tr__name_is_valid(name))
            return TR_NAME_INVALID;
        path += length;
    }
    return TR_OK;
}

/*
 * Returns the worker of an actor. If the actor is still on its way to its worker, returns the
 * worker to which its name belongs.
 */
static tr_place place_of(const struct local_directory *directory, const struct cell *cell,
                         const char *path)
{
    tr_place place = cell_owner(cell);
    if (place != CELL_FOREIGN)
        return place;
    const tr_ring *ring = &directory->ring->table;
    const char *last = strrchr(path, '/');
    return last && ring->find(ring, last + 1, &place) == TR_OK ? place : 0;
}

static tr_status directory_find(tr_directory *table, const char *path, tr_location *found)
{
    struct local_directory *directory = (struct local_directory *)(void *)table;
    struct tr_system *system = directory->system;
    if (!path)
        return TR_NOT_FOUND;
    uint64_t ref = tr__names_find(system->names, NULL, path);
    /* The place of a group is the place of its group supervisor. */
    const struct cell *cell = slots_find(system->slots, tr__group_behind(system->slots, ref));
    if (!cell || cell_is_group_address(cell))
        return TR_NOT_FOUND;
    *found = (tr_location){tr_ref_from_bits(ref), place_of(directory, cell, path)};
    return TR_OK;
}

/* Finds a claim by its path. Under the lock. */
static struct name_claim *name_claim_find(struct local_directory *directory, const char *path)
{
    return (struct name_claim *)(uintptr_t)tr__names_find(&directory->claims, NULL, path);
}

/* Frees a claim. Under the lock. */
static void name_claim_drop(struct local_directory *directory, struct name_claim *claim)
{
    tr__names_remove(directory->system->names, claim->shown);
    tr__names_remove(&directory->claims, claim->own);
    *claim->link = claim->next;
    if (claim->next)
        claim->next->link = claim->link;
    directory->count--;
    source_resize(&directory->system->source, claim, 0);
}

/*
 * Adds a claim. The claim must be complete before it appears in the names of the system. Under the
 * lock.
 */
static tr_status name_claim_add(struct local_directory *directory, const char *path, uint64_t ref)
{
    struct tr_system *system = directory->system;
    if (directory->count >= TR_CLAIMS_MAX)
        return TR_LIMIT;
    struct name_claim *claim = source_resize(&system->source, NULL, sizeof *claim);
    if (!claim)
        return TR_NO_MEMORY;
    tr_status status = tr__names_reserve(system->names, path, &claim->shown);
    if (status != TR_OK)
        goto free_claim;
    status = tr__names_add(&directory->claims, path, (uintptr_t)claim, &claim->own);
    if (status != TR_OK)
        goto remove_shown;
    claim->ref = ref;
    claim->next = directory->first;
    claim->link = &directory->first;
    if (claim->next)
        claim->next->link = &claim->next;
    directory->first = claim;
    directory->count++;
    tr__names_show(claim->shown, ref);
    return TR_OK;

remove_shown:
    tr__names_remove(system->names, claim->shown);
free_claim:
    source_resize(&system->source, claim, 0);
    return status;
}

static tr_status directory_claim(tr_directory *table, const char *path, tr_ref ref,
                                 tr_location *holder)
{
    struct local_directory *directory = (struct local_directory *)(void *)table;
    struct slots *slots = directory->system->slots;
    tr_status status = path_check(path);
    if (status != TR_OK)
        return status;
    if (!slots_find(slots, ref.bits))
        return TR_STOPPED;
    lock_take(&directory->lock);
    struct name_claim *before = name_claim_find(directory, path);
    if (before && !slots_find(slots, before->ref))
        name_claim_drop(directory, before); /* the actor of the earlier claim has ended */
    status = name_claim_add(directory, path, ref.bits);
    if (status == TR_NAME_EXISTS && holder && directory_find(table, path, holder) != TR_OK)
        *holder = (tr_location){TR_NOBODY, 0};
    lock_give(&directory->lock);
    return status;
}

static tr_status directory_release(tr_directory *table, const char *path, tr_ref ref)
{
    struct local_directory *directory = (struct local_directory *)(void *)table;
    if (!path)
        return TR_NOT_FOUND;
    lock_take(&directory->lock);
    struct name_claim *claim = name_claim_find(directory, path);
    bool is_there = claim && claim->ref == ref.bits;
    if (is_there)
        name_claim_drop(directory, claim);
    lock_give(&directory->lock);
    return is_there ? TR_OK : TR_NOT_FOUND;
}

void tr__local_directory_init(struct local_directory *directory, struct tr_system *system,
                              const struct place_ring *ring)
{
    directory->table = (tr_directory){.size = sizeof directory->table,
                                      .claim = directory_claim,
                                      .find = directory_find,
                                      .release = directory_release};
    directory->system = system;
    directory->ring = ring;
    lock_init(&directory->lock);
    tr__names_init(&directory->claims, &system->source, system->names->key);
    directory->first = NULL;
    directory->count = 0;
}

void tr__local_directory_deinit(struct local_directory *directory)
{
    lock_take(&directory->lock);
    while (directory->first)
        name_claim_drop(directory, directory->first);
    lock_give(&directory->lock);
    tr__names_deinit(&directory->claims);
}
