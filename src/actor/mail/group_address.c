/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/group_address.h"

#include <string.h>

#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "wire/copy.h"

/* ---- All group addresses of a system. ---- */

void tr__group_addresses_init(struct group_addresses *group_addresses)
{
    lock_init(&group_addresses->lock);
    atomptr_init(&group_addresses->buckets, NULL);
}

static void setup_drop(const struct memory_source *source, struct group_address *group)
{
    if (group->setup && !group->setup_type->is_flat)
        tr__copy_drop(group->setup_type, group->setup);
    source_resize(source, group->setup, 0);
    group->setup = NULL;
}

void tr__group_addresses_deinit(struct tr_system *system)
{
    atomptr *buckets = atomptr_load(&system->group_addresses->buckets, ATOM_RELAXED);
    for (uint32_t i = 0; buckets && i < GROUP_BUCKETS; i++) {
        struct group_address *group = atomptr_load(&buckets[i], ATOM_RELAXED);
        while (group) {
            struct group_address *next = group->next;
            setup_drop(&system->source, group);
            source_resize(&system->source, group->memory, 0);
            group = next;
        }
    }
    source_resize(&system->source, buckets, 0);
    atomptr_store(&system->group_addresses->buckets, NULL, ATOM_RELAXED);
}

static atomptr *bucket_of(const struct group_addresses *group_addresses, uint64_t ref)
{
    atomptr *buckets =
        atomptr_load(&group_addresses->buckets, ATOM_ACQUIRE); /* pairs with buckets_make */
    return buckets ? &buckets[(uint32_t)ref % GROUP_BUCKETS] : NULL;
}

struct group_address *tr__group_find(const struct tr_system *system, uint64_t ref)
{
    const atomptr *bucket = bucket_of(system->group_addresses, ref);
    struct group_address *group =
        bucket ? atomptr_load(bucket, ATOM_ACQUIRE) : NULL; /* pairs with group_make */
    while (group && !board_is_of(&group->board, ref))
        group = group->next;
    return group;
}

/* Makes the buckets, if there are none. Returns false when out of memory. Under the lock. */
static bool buckets_make(struct tr_system *system)
{
    TR_ASSERT_SLOW(lock_is_held(&system->group_addresses->lock));
    if (atomptr_load(&system->group_addresses->buckets, ATOM_RELAXED))
        return true;
    atomptr *buckets = source_resize(&system->source, NULL, GROUP_BUCKETS * sizeof *buckets);
    if (!buckets)
        return false;
    for (uint32_t i = 0; i < GROUP_BUCKETS; i++)
        atomptr_init(&buckets[i], NULL);
    atomptr_store(
        &system->group_addresses->buckets, buckets, ATOM_RELEASE); /* pairs with bucket_of */
    return true;
}

static atom64 *words_init(atom64 **words, uint32_t count)
{
    atom64 *first = *words;
    for (uint32_t i = 0; i < count; i++)
        atom64_init(&first[i], 0);
    *words += count;
    return first;
}

/*
 * Makes a group address, and puts it into the bucket of this ref. The group address stays in this
 * bucket until the system ends. Returns NULL when out of memory. Under the lock.
 */
static struct group_address *group_make(struct tr_system *system, uint64_t ref, uint32_t capacity,
                                        uint32_t key_capacity)
{
    TR_ASSERT_SLOW(lock_is_held(&system->group_addresses->lock));
    uint32_t lines = system->worker_count + 1;
    size_t words = 2 * (size_t)capacity + key_capacity;
    void *memory = source_resize(&system->source,
                                 NULL,
                                 64 + lines * sizeof(struct group_cursor) +
                                     sizeof(struct group_address) + words * sizeof(atom64));
    if (!memory)
        return NULL;
    uintptr_t aligned = ((uintptr_t)memory + 63) & ~(uintptr_t)63;
    struct group_cursor *cursors = (struct group_cursor *)aligned;
    for (uint32_t i = 0; i < lines; i++) {
        atom32_init(&cursors[i].next, i);
        atom32_init(&cursors[i].next_near, 0);
    }
    struct group_address *group = (struct group_address *)(void *)(cursors + lines);
    atom64 *places = (atom64 *)(void *)(group + 1);
    memset(group, 0, sizeof *group);
    board_init(&group->board);
    group->system = system;
    group->memory = memory;
    group->cursors = cursors;
    group->capacity = capacity;
    group->key_capacity = key_capacity;
    group->turns = words_init(&places, capacity);
    group->members = words_init(&places, capacity);
    group->keys = words_init(&places, key_capacity);
    atomptr *bucket = bucket_of(system->group_addresses, ref);
    group->next = atomptr_load(bucket, ATOM_RELAXED);
    atomptr_store(bucket, group, ATOM_RELEASE); /* pairs with tr__group_find */
    return group;
}

static uint32_t power_of_two(uint32_t least)
{
    uint32_t power = 1;
    while (power < least)
        power *= 2;
    return power;
}

static uint32_t key_places(const struct group_plan *plan)
{
    if (!plan->routes)
        return 0;
    uint32_t wanted = plan->members * GROUP_KEYS_EACH;
    return power_of_two(wanted < GROUP_KEYS_LEAST ? GROUP_KEYS_LEAST : wanted);
}

/* Takes a free group address for the tenant with this ref. If none is free, makes one. */
static tr_status group_take(struct tr_system *system, const struct group_plan *plan, uint64_t ref,
                            struct group_address **taken)
{
    struct group_addresses *group_addresses = system->group_addresses;
    uint32_t keys = key_places(plan);
    tr_status status = TR_NO_MEMORY;
    lock_take(&group_addresses->lock);
    if (group_addresses->count >= TR_GROUPS_MAX)
        status = TR_LIMIT;
    else if (buckets_make(system))
        status = TR_OK;
    struct group_address *group = NULL;
    if (status == TR_OK) {
        group = atomptr_load(bucket_of(group_addresses, ref), ATOM_RELAXED);
        while (group &&
               (group->tenant || group->capacity < plan->members || group->key_capacity < keys))
            group = group->next;
        if (!group)
            group = group_make(system, ref, power_of_two(plan->members), keys);
        status = group ? TR_OK : TR_NO_MEMORY;
    }
    if (group) {
        group->tenant = ref;
        group_addresses->count++;
    }
    lock_give(&group_addresses->lock);
    *taken = group;
    return status;
}

static void group_give(struct group_address *group)
{
    struct group_addresses *group_addresses = group->system->group_addresses;
    lock_take(&group_addresses->lock);
    group->tenant = 0;
    group_addresses->count--;
    lock_give(&group_addresses->lock);
}

/* ---- One group address. ---- */

static tr_status setup_copy(const struct memory_source *source, struct group_address *group,
                            const tr_spawn_args *spawn)
{
    group->setup_type = spawn->setup_type;
    group->setup = NULL;
    if (!spawn->setup_type)
        return TR_OK;
    size_t size = tr__copy_size(spawn->setup_type, spawn->setup);
    if (size > TR_PAYLOAD_MAX)
        return TR_TOO_LARGE;
    group->setup = source_resize(source, NULL, size ? size : 1);
    if (!group->setup)
        return TR_NO_MEMORY;
    tr__copy_into(spawn->setup_type, spawn->setup, group->setup, size);
    return TR_OK;
}

/* Gives a slot a ref, but leaves its door closed. */
static void slot_open(struct cell *cell)
{
    cell_clear(cell);
    /*
     * The capacity word gets another generation than the slot, so that no sender finds capacity in
     * it.
     */
    capacity_open(&cell->door.capacity, cell_generation(cell) + 1, 0, 0, 0);
    /* pairs with cell_is_group_address */
    atom32_store(&cell->door.owner, CELL_GROUP_ADDRESS, ATOM_RELEASE);
    atom64_store(&cell->door.ref, cell->identity, ATOM_RELAXED);
}

tr_status tr__group_new(struct tr_system *system, const struct group_plan *plan,
                        struct group_address **made)
{
    struct cell *cell;
    struct group_address *group;
    tr_status status = tr__slot_take(system->slots, plan->cache, &cell);
    if (status != TR_OK)
        return status;
    status = group_take(system, plan, cell->identity, &group);
    if (status != TR_OK)
        goto give_slot;
    status = setup_copy(&system->source, group, plan->spawn);
    if (status != TR_OK)
        goto give_group;
    group->cell = cell;
    group->behavior = plan->spawn->behavior;
    group->spawner = plan->spawner;
    group->supervision = *plan->supervision;
    group->supervision.significance = TR_STOP_AFTER_NONE;
    group->spec = (tr_child_spec){.behavior = group->behavior, .supervision = &group->supervision};
    board_write(&group->turn_count, 0);
    board_write(&group->member_count, plan->members);
    board_write(&group->key_count, key_places(plan));
    board_write(&group->routes, (uintptr_t)plan->routes);
    board_write(&group->base, plan->base);
    for (uint32_t i = 0; i < plan->members; i++)
        board_write(&group->members[i], 0);
    slot_open(cell);
    board_let(&group->board, cell->identity);
    *made = group;
    return TR_OK;

give_group:
    group_give(group);
give_slot:
    cell_clear(cell);
    tr__slot_give(system->slots, plan->cache, cell);
    return status;
}

void tr__group_free(struct group_address *group, uint64_t ref)
{
    struct tr_system *system = group->system;
    lock_take(&system->group_addresses->lock);
    bool is_there = group->tenant == ref;
    lock_give(&system->group_addresses->lock);
    if (!is_there)
        return;
    struct cell *cell = group->cell;
    board_clear(&group->board, ref);
    setup_drop(&system->source, group);
    atom64_store(&cell->door.ref, 0, ATOM_RELAXED);
    group_give(group);
    if (system_may_reuse(system))
        tr__slot_give(system->slots, NULL, cell);
}

/* ---- The group supervisor behind a group address. ---- */

void tr__group_bind(struct tr_system *system, const tr_spawn_args *args, struct cell *supervisor)
{
    if (args->behavior != &tr_behavior_tr_group_supervisor)
        return;
    const struct tr_group_open *open = args->setup;
    const struct group_address *group = (const struct group_address *)(uintptr_t)open->group;
    ATOM_POKE(&group->cell->door.tenant, slots_number(system->slots, supervisor));
    ATOM_POKE(&supervisor->door.tenant, supervisor->door.tenant | CELL_GROUP_SUPERVISOR);
}

static const struct tr_group_open *group_supervisor_open_of(const struct cell_origin *origin)
{
    return origin && origin->behavior == &tr_behavior_tr_group_supervisor
               ? (const void *)origin->message
               : NULL;
}

void tr__group_unbind(const struct cell_origin *origin)
{
    const struct tr_group_open *open = group_supervisor_open_of(origin);
    if (open)
        tr__group_free((struct group_address *)(uintptr_t)open->group, open->ref);
}

uint64_t tr__group_address_of_supervisor(const struct cell *cell)
{
    const struct tr_group_open *open = group_supervisor_open_of(cell->origin);
    return open ? open->ref : 0;
}

uint64_t tr__group_of_child(const struct cell *child)
{
    /*
     * Look at the origin of a group supervisor only: this origin stays until the parent drops it.
     * The origin of any other cell may be dropped at any time.
     */
    return cell_is_group_supervisor(child) ? tr__group_address_of_supervisor(child)
                                           : child->identity;
}

uint64_t tr__group_behind(const struct slots *slots, uint64_t ref)
{
    const struct cell *cell = slots_find(slots, ref);
    if (!cell || !cell_is_group_address(cell))
        return ref;
    /*
     * If the slot has got another tenant meanwhile, door.tenant is that tenant's word. The last line
     * of this function notices this.
     */
    const struct cell *supervisor = slots_at(slots, ATOM_PEEK(&cell->door.tenant));
    if (!supervisor)
        return ref;
    uint64_t behind = ATOM_PEEK(&supervisor->identity);
    /*
     * If `ref` is still valid, `behind` is the right ref: the group address is freed before the
     * slot of its group supervisor gets another tenant.
     */
    return slots_find(slots, ref) ? behind : ref;
}

bool tr__group_is_before(const struct slots *slots, const struct cell *supervisor, uint64_t target)
{
    const struct cell *cell = slots_find(slots, target);
    return cell && cell_is_group_address(cell) &&
           ATOM_PEEK(&cell->door.tenant) == slots_number(slots, supervisor);
}

void tr__group_close(struct tr_system *system, uint64_t ref)
{
    struct group_address *group = tr__group_find(system, ref);
    if (group)
        board_clear(&group->board, ref);
}

/* ---- Members. ---- */

void tr__group_member_put(struct group_address *group, uint32_t number, uint64_t member)
{
    board_write(&group->members[number], member);
}

static uint64_t word(const atom64 *place)
{
    return atom64_load(place, ATOM_RELAXED);
}

/*
 * Returns the ref of the member that gets a place of the router's table: of the members that have
 * not ended, the one with the highest score. Returns 0 if all members have ended.
 */
static uint64_t successor_of(const struct group_address *group, uint64_t place)
{
    uint64_t successor = 0;
    uint64_t best = 0;
    for (uint32_t i = 0; i < word(&group->member_count); i++) {
        uint64_t member = word(&group->members[i]);
        uint64_t score = group_score(place, i);
        if (!member || (successor && score <= best))
            continue;
        successor = member;
        best = score;
    }
    return successor;
}

void tr__group_members_done(struct group_address *group)
{
    uint64_t count = word(&group->member_count);
    for (uint32_t i = 0; i < count; i++)
        board_write(&group->turns[i], word(&group->members[i]));
    board_write(&group->turn_count, count);
    for (uint64_t place = 0; place < word(&group->key_count); place++)
        board_write(&group->keys[place], successor_of(group, place));
}

uint32_t tr__group_leave(struct group_address *group, uint64_t member)
{
    uint64_t count = word(&group->turn_count);
    for (uint32_t i = 0; i < word(&group->member_count); i++) {
        if (word(&group->members[i]) == member)
            board_write(&group->members[i], 0);
    }
    for (uint64_t i = 0; i < count; i++) {
        if (word(&group->turns[i]) != member)
            continue;
        board_write(&group->turns[i], word(&group->turns[count - 1]));
        board_write(&group->turn_count, --count);
        break;
    }
    for (uint64_t place = 0; place < word(&group->key_count); place++) {
        if (word(&group->keys[place]) == member)
            board_write(&group->keys[place], successor_of(group, place));
    }
    return (uint32_t)count;
}
