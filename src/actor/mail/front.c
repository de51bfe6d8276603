/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/front.h"

#include <string.h>

#include "actor/mail/mail.h"
#include "base/assert.h"
#include "wire/copy.h"

/* ---- All fronts of a system. ---- */

void tr__fronts_init(struct fronts *fronts)
{
    lock_init(&fronts->lock);
    atomptr_init(&fronts->buckets, NULL);
}

static void setup_drop(const struct memory_source *source, struct front *front)
{
    if (front->setup && !front->setup_type->is_flat)
        tr__copy_drop(front->setup_type, front->setup);
    source_resize(source, front->setup, 0);
    front->setup = NULL;
}

void tr__fronts_deinit(struct tr_system *system)
{
    atomptr *buckets = atomptr_load(&system->fronts.buckets, ATOM_RELAXED);
    for (uint32_t i = 0; buckets && i < FRONT_BUCKETS; i++) {
        struct front *front = atomptr_load(&buckets[i], ATOM_RELAXED);
        while (front) {
            struct front *next = front->next;
            setup_drop(&system->source, front);
            source_resize(&system->source, front->memory, 0);
            front = next;
        }
    }
    source_resize(&system->source, buckets, 0);
    atomptr_store(&system->fronts.buckets, NULL, ATOM_RELAXED);
}

static atomptr *bucket_of(const struct fronts *fronts, uint64_t ref)
{
    atomptr *buckets = atomptr_load(&fronts->buckets, ATOM_ACQUIRE); /* partner: buckets_make */
    return buckets ? &buckets[(uint32_t)ref % FRONT_BUCKETS] : NULL;
}

struct front *tr__front_find(const struct tr_system *system, uint64_t ref)
{
    const atomptr *bucket = bucket_of(&system->fronts, ref);
    struct front *front = bucket ? atomptr_load(bucket, ATOM_ACQUIRE) : NULL; /* front_make */
    while (front && !board_is_of(&front->board, ref))
        front = front->next;
    return front;
}

/* Under the lock. */
static bool buckets_make(struct tr_system *system)
{
    if (atomptr_load(&system->fronts.buckets, ATOM_RELAXED))
        return true;
    atomptr *buckets = source_resize(&system->source, NULL, FRONT_BUCKETS * sizeof *buckets);
    if (!buckets)
        return false;
    for (uint32_t i = 0; i < FRONT_BUCKETS; i++)
        atomptr_init(&buckets[i], NULL);
    atomptr_store(&system->fronts.buckets, buckets, ATOM_RELEASE); /* partner: bucket_of */
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

/* A front in the bucket of this ref, that is there to stay. Under the lock. */
static struct front *front_make(struct tr_system *system, uint64_t ref, uint32_t capacity,
                                uint32_t key_capacity)
{
    uint32_t lines = system->worker_count + 1;
    size_t words = 2 * (size_t)capacity + key_capacity;
    void *memory = source_resize(&system->source,
                                 NULL,
                                 64 + lines * sizeof(struct front_cursor) + sizeof(struct front) +
                                     words * sizeof(atom64));
    if (!memory)
        return NULL;
    uintptr_t aligned = ((uintptr_t)memory + 63) & ~(uintptr_t)63;
    struct front_cursor *cursors = (struct front_cursor *)aligned;
    for (uint32_t i = 0; i < lines; i++) {
        atom32_init(&cursors[i].next, i);
        atom32_init(&cursors[i].next_near, 0);
    }
    struct front *front = (struct front *)(void *)(cursors + lines);
    atom64 *places = (atom64 *)(void *)(front + 1);
    memset(front, 0, sizeof *front);
    board_init(&front->board);
    front->system = system;
    front->memory = memory;
    front->cursors = cursors;
    front->capacity = capacity;
    front->key_capacity = key_capacity;
    front->turns = words_init(&places, capacity);
    front->seats = words_init(&places, capacity);
    front->keys = words_init(&places, key_capacity);
    atomptr *bucket = bucket_of(&system->fronts, ref);
    front->next = atomptr_load(bucket, ATOM_RELAXED);
    atomptr_store(bucket, front, ATOM_RELEASE); /* partner: tr__front_find */
    return front;
}

static uint32_t power_of_two(uint32_t least)
{
    uint32_t power = 1;
    while (power < least)
        power *= 2;
    return power;
}

static uint32_t key_places(const struct front_plan *plan)
{
    if (!plan->routes)
        return 0;
    uint32_t wanted = plan->members * FRONT_KEYS_EACH;
    return power_of_two(wanted < FRONT_KEYS_LEAST ? FRONT_KEYS_LEAST : wanted);
}

/* A free front for the tenant of this ref. */
static tr_status front_take(struct tr_system *system, const struct front_plan *plan, uint64_t ref,
                            struct front **taken)
{
    struct fronts *fronts = &system->fronts;
    uint32_t keys = key_places(plan);
    tr_status status = TR_NO_MEMORY;
    lock_take(&fronts->lock);
    if (fronts->count >= TR_GROUPS_MAX)
        status = TR_LIMIT;
    else if (buckets_make(system))
        status = TR_OK;
    struct front *front = NULL;
    if (status == TR_OK) {
        front = atomptr_load(bucket_of(fronts, ref), ATOM_RELAXED);
        while (front &&
               (front->tenant || front->capacity < plan->members || front->key_capacity < keys))
            front = front->next;
        if (!front)
            front = front_make(system, ref, power_of_two(plan->members), keys);
        status = front ? TR_OK : TR_NO_MEMORY;
    }
    if (front) {
        front->tenant = ref;
        fronts->count++;
    }
    lock_give(&fronts->lock);
    *taken = front;
    return status;
}

static void front_give(struct front *front)
{
    struct fronts *fronts = &front->system->fronts;
    lock_take(&fronts->lock);
    front->tenant = 0;
    fronts->count--;
    lock_give(&fronts->lock);
}

/* ---- One front. ---- */

static tr_status setup_copy(const struct memory_source *source, struct front *front,
                            const tr_spawn_args *spawn)
{
    front->setup_type = spawn->setup_type;
    front->setup = NULL;
    if (!spawn->setup_type)
        return TR_OK;
    size_t size = tr__copy_size(spawn->setup_type, spawn->setup);
    if (size > TR_PAYLOAD_MAX)
        return TR_TOO_LARGE;
    front->setup = source_resize(source, NULL, size ? size : 1);
    if (!front->setup)
        return TR_NO_MEMORY;
    tr__copy_into(spawn->setup_type, spawn->setup, front->setup, size);
    return TR_OK;
}

/* A slot that shows a ref at a closed door. */
static void slot_open(struct cell *cell)
{
    cell_clear(cell);
    /* Of another generation: no sender finds room in it. */
    room_open(&cell->door.room, cell_generation(cell) + 1, 0, 0, 0);
    atom32_store(&cell->door.owner, CELL_FRONT, ATOM_RELEASE); /* partner: who looks at all */
    atom64_store(&cell->door.ref, cell->identity, ATOM_RELAXED);
}

tr_status tr__front_new(struct tr_system *system, const struct front_plan *plan,
                        struct front **made)
{
    struct cell *cell;
    struct front *front;
    tr_status status = tr__slot_take(&system->slots, plan->cache, &cell);
    if (status != TR_OK)
        return status;
    status = front_take(system, plan, cell->identity, &front);
    if (status != TR_OK)
        goto give_slot;
    status = setup_copy(&system->source, front, plan->spawn);
    if (status != TR_OK)
        goto give_front;
    front->cell = cell;
    front->behavior = plan->spawn->behavior;
    front->spawner = plan->spawner;
    front->supervision = *plan->supervision;
    front->supervision.significance = TR_STOP_AFTER_NONE;
    front->spec = (tr_child_spec){.behavior = front->behavior, .supervision = &front->supervision};
    board_write(&front->turn_count, 0);
    board_write(&front->seat_count, plan->members);
    board_write(&front->key_count, key_places(plan));
    board_write(&front->routes, (uintptr_t)plan->routes);
    board_write(&front->base, plan->base);
    for (uint32_t i = 0; i < plan->members; i++)
        board_write(&front->seats[i], 0);
    slot_open(cell);
    board_let(&front->board, cell->identity);
    *made = front;
    return TR_OK;

give_front:
    front_give(front);
give_slot:
    cell_clear(cell);
    tr__slot_give(&system->slots, plan->cache, cell);
    return status;
}

void tr__front_free(struct front *front, uint64_t ref)
{
    struct tr_system *system = front->system;
    lock_take(&system->fronts.lock);
    bool is_there = front->tenant == ref;
    lock_give(&system->fronts.lock);
    if (!is_there)
        return;
    struct cell *cell = front->cell;
    board_clear(&front->board, ref);
    setup_drop(&system->source, front);
    atom64_store(&cell->door.ref, 0, ATOM_RELAXED);
    front_give(front);
    if (tr__shutdown_may_reuse(system))
        tr__slot_give(&system->slots, NULL, cell);
}

/* ---- The crew behind it. ---- */

void tr__front_bind(struct tr_system *system, const tr_spawn_args *args, struct cell *crew)
{
    if (args->behavior != &tr_behavior_tr_crew)
        return;
    const struct tr_crew_open *open = args->setup;
    const struct front *front = (const struct front *)(uintptr_t)open->front;
    ATOM_POKE(&front->cell->door.tenant, slots_number(&system->slots, crew));
    ATOM_POKE(&crew->door.tenant, crew->door.tenant | CELL_CREW);
    if (crew->name)
        crew->name->ref = open->ref; /* it is hidden: nobody has read it */
}

static const struct tr_crew_open *crew_open_of(const struct cell_origin *origin)
{
    return origin && origin->behavior == &tr_behavior_tr_crew ? (const void *)origin->message
                                                              : NULL;
}

void tr__front_unbind(const struct cell_origin *origin)
{
    const struct tr_crew_open *open = crew_open_of(origin);
    if (open)
        tr__front_free((struct front *)(uintptr_t)open->front, open->ref);
}

uint64_t tr__front_of_crew(const struct cell *cell)
{
    const struct tr_crew_open *open = crew_open_of(cell->origin);
    return open ? open->ref : 0;
}

uint64_t tr__front_of_child(const struct cell *child)
{
    /* The origin of others may go at any time; a crew's stays until its parent drops it. */
    return cell_is_crew(child) ? tr__front_of_crew(child) : child->identity;
}

uint64_t tr__front_behind(const struct slots *slots, uint64_t ref)
{
    const struct cell *cell = slots_find(slots, ref);
    if (!cell || !front_is(cell))
        return ref;
    const struct cell *crew = slots_at(slots, ATOM_PEEK(&cell->door.tenant));
    uint64_t behind = ATOM_PEEK(&crew->identity);
    /* The front goes before its crew's slot has another tenant. */
    return slots_find(slots, ref) ? behind : ref;
}

bool tr__front_is_before(const struct slots *slots, const struct cell *crew, uint64_t target)
{
    const struct cell *cell = slots_find(slots, target);
    return cell && front_is(cell) && ATOM_PEEK(&cell->door.tenant) == slots_number(slots, crew);
}

void tr__front_close(struct tr_system *system, uint64_t ref)
{
    struct front *front = tr__front_find(system, ref);
    if (front)
        board_clear(&front->board, ref);
}

/* ---- Members. ---- */

void tr__front_seat(struct front *front, uint32_t number, uint64_t member)
{
    board_write(&front->seats[number], member);
}

static uint64_t word(const atom64 *place)
{
    return atom64_load(place, ATOM_RELAXED);
}

/* Who has a place of the table, of those who are left; 0 for nobody. */
static uint64_t heir_of(const struct front *front, uint64_t place)
{
    uint64_t heir = 0;
    uint64_t best = 0;
    for (uint32_t i = 0; i < word(&front->seat_count); i++) {
        uint64_t member = word(&front->seats[i]);
        uint64_t score = front_score(place, i);
        if (!member || (heir && score <= best))
            continue;
        heir = member;
        best = score;
    }
    return heir;
}

void tr__front_seated(struct front *front)
{
    uint64_t count = word(&front->seat_count);
    for (uint32_t i = 0; i < count; i++)
        board_write(&front->turns[i], word(&front->seats[i]));
    board_write(&front->turn_count, count);
    for (uint64_t place = 0; place < word(&front->key_count); place++)
        board_write(&front->keys[place], heir_of(front, place));
}

uint32_t tr__front_leave(struct front *front, uint64_t member)
{
    uint64_t count = word(&front->turn_count);
    for (uint32_t i = 0; i < word(&front->seat_count); i++) {
        if (word(&front->seats[i]) == member)
            board_write(&front->seats[i], 0);
    }
    for (uint64_t i = 0; i < count; i++) {
        if (word(&front->turns[i]) != member)
            continue;
        board_write(&front->turns[i], word(&front->turns[count - 1]));
        board_write(&front->turn_count, --count);
        break;
    }
    for (uint64_t place = 0; place < word(&front->key_count); place++) {
        if (word(&front->keys[place]) == member)
            board_write(&front->keys[place], heir_of(front, place));
    }
    return (uint32_t)count;
}
