/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/verbs/topic.h"

#include <string.h>

#include "actor/cell/slots.h"
#include "actor/cell/system.h"

/*
 * Marks a place whose subscriber has unsubscribed. This value is no ref, because it names no slot.
 */
#define SUBSCRIBER_GONE UINT64_MAX

/* ---- Tables of subscribers. ---- */

static struct subscribers *table_new(const struct memory_source *source, uint32_t places)
{
    struct subscribers *table =
        source_resize(source, NULL, sizeof *table + places * sizeof table->refs[0]);
    if (!table)
        return NULL;
    atom32_init(&table->holders, 1);
    table->mask = places - 1;
    table->used = 0;
    table->has_gone = false;
    for (uint32_t i = 0; i < places; i++)
        atom64_init(&table->refs[i], 0);
    return table;
}

/*
 * Ends one holder's use of a table. The last holder frees the table; all reads of the other holders
 * come before that. NULL does nothing.
 */
static void table_release(const struct memory_source *source, struct subscribers *table)
{
    if (table && atom32_fetch_sub(&table->holders, 1, ATOM_ACQ_REL) == 1)
        source_resize(source, table, 0);
}

/*
 * Returns the place of a ref or, if the ref is not in the table, the place where it can be put. At
 * least one place of the table must be 0, because the search ends there. Under the topic's lock.
 */
static atom64 *table_find(struct subscribers *table, uint64_t ref)
{
    uint32_t place = (uint32_t)hash_mix(ref) & table->mask;
    atom64 *gone = NULL;
    for (;; place = (place + 1) & table->mask) {
        uint64_t found = atom64_load(&table->refs[place], ATOM_RELAXED);
        if (found == ref)
            return &table->refs[place];
        if (found == SUBSCRIBER_GONE && !gone)
            gone = &table->refs[place];
        if (!found)
            return gone ? gone : &table->refs[place];
    }
}

static bool is_live(const struct tr_system *system, uint64_t ref)
{
    return ref && ref != SUBSCRIBER_GONE && slots_find(system->slots, ref);
}

/*
 * Replaces the table of a topic by a table with the live subscribers and space for one more. If
 * this returns TR_NO_MEMORY or TR_LIMIT, the old table stays. Under the topic's lock.
 */
static tr_status table_renew(struct tr_system *system, struct topic *topic)
{
    TR_ASSERT_SLOW(lock_is_held(&topic->lock));
    struct subscribers *old = topic->subscribers;
    uint32_t live = 0;
    for (uint32_t i = 0; old && i <= old->mask; i++)
        live += is_live(system, atom64_load(&old->refs[i], ATOM_RELAXED));
    if (live >= TR_SUBSCRIBERS_MAX)
        return TR_LIMIT;
    uint32_t places = SUBSCRIBERS_LEAST;
    while (places < 2 * (live + 1))
        places *= 2;
    struct subscribers *table = table_new(&system->source, places);
    if (!table)
        return TR_NO_MEMORY;
    for (uint32_t i = 0; old && i <= old->mask; i++) {
        uint64_t ref = atom64_load(&old->refs[i], ATOM_RELAXED);
        if (!is_live(system, ref) || table->used > live)
            continue;
        atom64_store(table_find(table, ref), ref, ATOM_RELAXED);
        table->used++;
    }
    topic->subscribers = table;
    table_release(&system->source, old);
    return TR_OK;
}

/* ---- All topics of a system. ---- */

void tr__topics_init(struct topics *topics, struct tr_system *system)
{
    lock_init(&topics->lock);
    for (uint32_t i = 0; i < TOPICS_CHUNKS; i++)
        atomptr_init(&topics->chunks[i], NULL);
    /*
     * The first generation differs between systems, as for refs. So an id of another system is not
     * valid here.
     */
    topics->generation_first = system->slots->generation_first;
    tr__names_init(topics->names, &system->source, system->names->key);
}

struct chunk {
    void *memory; /* the allocation from the source; the chunk is aligned inside it */
    struct topic topics[TOPICS_CHUNK];
};

void tr__topics_deinit(struct tr_system *system)
{
    struct topics *topics = system->topics;
    if (!topics->names->source.platform)
        return; /* tr__topics_init was not called */
    for (uint32_t i = 0; i < TOPICS_CHUNKS; i++) {
        struct chunk *chunk = atomptr_load(&topics->chunks[i], ATOM_RELAXED);
        for (uint32_t j = 0; chunk && j < TOPICS_CHUNK; j++) {
            struct topic *topic = &chunk->topics[j];
            table_release(&system->source, topic->subscribers);
            if (topic->name)
                tr__names_remove(topics->names, topic->name);
        }
        if (chunk)
            source_resize(&system->source, chunk->memory, 0);
    }
    tr__names_deinit(topics->names);
}

static bool chunk_make(struct tr_system *system, uint32_t index)
{
    void *memory = source_resize(&system->source, NULL, sizeof(struct chunk) + 64);
    if (!memory)
        return false;
    struct chunk *chunk = (struct chunk *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
    memset(chunk, 0, sizeof *chunk);
    chunk->memory = memory;
    for (uint32_t i = 0; i < TOPICS_CHUNK; i++) {
        lock_init(&chunk->topics[i].lock);
        chunk->topics[i].generation = system->topics->generation_first;
    }
    atomptr_store(&system->topics->chunks[index], chunk, ATOM_RELEASE); /* pairs with topic_at */
    return true;
}

static struct topic *topic_at(const struct topics *topics, uint32_t place)
{
    if (place >= TR_TOPICS_MAX)
        return NULL;
    struct chunk *chunk = atomptr_load(&topics->chunks[place / TOPICS_CHUNK],
                                       ATOM_ACQUIRE); /* pairs with chunk_make */
    return chunk ? &chunk->topics[place % TOPICS_CHUNK] : NULL;
}

/*
 * Takes the lock of the topic with this id, and returns the topic. Returns NULL if there is no such
 * topic.
 */
static struct topic *topic_take(struct tr_system *system, uint64_t id)
{
    struct topic *topic = topic_at(system->topics, (uint32_t)id - 1);
    if (!topic)
        return NULL;
    lock_take(&topic->lock);
    if (topic->id == id)
        return topic;
    lock_give(&topic->lock);
    return NULL;
}

/* Takes a free place for a topic. Returns TR_OK, TR_LIMIT or TR_NO_MEMORY. Under topics.lock. */
static tr_status place_take(struct tr_system *system, uint32_t *place)
{
    TR_ASSERT_SLOW(lock_is_held(&system->topics->lock));
    struct topics *topics = system->topics;
    if (topics->free_first) {
        *place = topics->free_first - 1;
        topics->free_first = topic_at(topics, *place)->free_next;
        return TR_OK;
    }
    if (topics->used == TR_TOPICS_MAX)
        return TR_LIMIT;
    if (!topic_at(topics, topics->used) && !chunk_make(system, topics->used / TOPICS_CHUNK))
        return TR_NO_MEMORY;
    *place = topics->used++;
    return TR_OK;
}

static void place_give(struct topics *topics, uint32_t place)
{
    TR_ASSERT_SLOW(lock_is_held(&topics->lock));
    struct topic *topic = topic_at(topics, place);
    if (topic->generation == UINT32_MAX)
        return; /* all generations of this place are used up */
    topic->free_next = topics->free_first;
    topics->free_first = place + 1;
}

/* Makes a topic in a free place. Under topics.lock. */
static tr_status topic_make(struct tr_system *system, const char *name, uint64_t *id)
{
    TR_ASSERT_SLOW(lock_is_held(&system->topics->lock));
    struct topics *topics = system->topics;
    uint32_t place;
    if (atom32_load(&system->ending.is_stopping, ATOM_SEQ_CST))
        return TR_STOPPING;
    tr_status status = place_take(system, &place);
    if (status != TR_OK)
        return status;
    struct topic *topic = topic_at(topics, place);
    uint64_t made = (uint64_t)++topic->generation << 32 | (place + 1);
    if (name)
        status = tr__names_add(topics->names, name, made, &topic->name);
    if (status != TR_OK) {
        place_give(topics, place);
        return status;
    }
    lock_take(&topic->lock);
    topic->id = made;
    lock_give(&topic->lock);
    *id = made;
    return TR_OK;
}

tr_status tr__topic_open(struct tr_system *system, const char *name, uint64_t *id)
{
    struct topics *topics = system->topics;
    if (name && !tr__name_is_plain(name))
        return TR_NAME_INVALID;
    tr_status status = TR_OK;
    lock_take(&topics->lock);
    uint64_t found = name ? tr__names_find(topics->names, NULL, name) : 0;
    if (found)
        *id = found;
    else
        status = topic_make(system, name, id);
    lock_give(&topics->lock);
    return status;
}

tr_status tr__topic_close(struct tr_system *system, uint64_t id)
{
    struct topics *topics = system->topics;
    lock_take(&topics->lock);
    struct topic *topic = topic_take(system, id);
    if (topic) {
        table_release(&system->source, topic->subscribers);
        topic->subscribers = NULL;
        topic->id = 0;
        lock_give(&topic->lock);
        if (topic->name)
            tr__names_remove(topics->names, topic->name);
        topic->name = NULL;
        place_give(topics, (uint32_t)id - 1);
    }
    lock_give(&topics->lock);
    return topic ? TR_OK : TR_STOPPED;
}

/* ---- Subscribers of one topic. ---- */

/*
 * Whether the table must be replaced before one more ref can be added. Not more than three of four
 * places are used, so that a search is short. Under the topic's lock.
 */
static bool is_full(const struct subscribers *table)
{
    return 4 * (table->used + 1) > 3 * (table->mask + 1) || table->used >= TR_SUBSCRIBERS_MAX;
}

/*
 * Whether a walk that is going through the table could meet an actor twice. This can happen because
 * an actor that has unsubscribed and subscribes again may get another place, which the walk has not
 * reached yet. Under the topic's lock.
 */
static bool may_be_met_twice(const struct subscribers *table)
{
    return table->has_gone && atom32_load(&table->holders, ATOM_RELAXED) > 1;
}

tr_status tr__topic_subscribe(struct tr_system *system, uint64_t id, uint64_t ref)
{
    struct topic *topic = topic_take(system, id);
    if (!topic)
        return TR_STOPPED;
    tr_status status = TR_OK;
    struct subscribers *table = topic->subscribers;
    atom64 *place = table ? table_find(table, ref) : NULL;
    if (!place || atom64_load(place, ATOM_RELAXED) != ref) {
        if (!table || is_full(table) || may_be_met_twice(table))
            status = table_renew(system, topic);
        if (status == TR_OK) {
            table = topic->subscribers;
            place = table_find(table, ref);
            table->used += !atom64_load(place, ATOM_RELAXED);
            atom64_store(place, ref, ATOM_RELAXED);
        }
    }
    lock_give(&topic->lock);
    return status;
}

tr_status tr__topic_unsubscribe(struct tr_system *system, uint64_t id, uint64_t ref)
{
    struct topic *topic = topic_take(system, id);
    if (!topic)
        return TR_STOPPED;
    struct subscribers *table = topic->subscribers;
    atom64 *place = table ? table_find(table, ref) : NULL;
    bool is_there = place && atom64_load(place, ATOM_RELAXED) == ref;
    if (is_there)
        atom64_store(place, SUBSCRIBER_GONE, ATOM_RELAXED);
    if (is_there)
        table->has_gone = true;
    lock_give(&topic->lock);
    return is_there ? TR_OK : TR_NOT_FOUND;
}

tr_status tr__topic_begin(struct tr_system *system, uint64_t id, struct topic_walk *walk)
{
    struct topic *topic = topic_take(system, id);
    if (!topic)
        return TR_STOPPED;
    *walk = (struct topic_walk){
        .system = system, .topic = topic, .subscribers = topic->subscribers, .id = id};
    if (walk->subscribers)
        atom32_fetch_add(&walk->subscribers->holders, 1, ATOM_RELAXED);
    lock_give(&topic->lock);
    return TR_OK;
}

uint64_t tr__topic_next(struct topic_walk *walk)
{
    struct subscribers *table = walk->subscribers;
    while (table && walk->place <= table->mask) {
        uint64_t ref = atom64_load(&table->refs[walk->place++], ATOM_RELAXED);
        if (!ref || ref == SUBSCRIBER_GONE)
            continue;
        if (slots_find(walk->system->slots, ref)) {
            walk->met++;
            return ref;
        }
        walk->gone++;
    }
    return 0;
}

void tr__topic_end(struct topic_walk *walk)
{
    struct tr_system *system = walk->system;
    /*
     * The walk has met more stopped subscribers than live ones. Replace the table, so that the next
     * walk does not meet them again.
     */
    if (walk->gone > walk->met + SUBSCRIBERS_LEAST) {
        struct topic *topic = topic_take(system, walk->id);
        if (topic && topic->subscribers == walk->subscribers)
            (void)table_renew(system, topic); /* if this fails, the table stays */
        if (topic)
            lock_give(&topic->lock);
    }
    table_release(&system->source, walk->subscribers);
    walk->subscribers = NULL;
}

size_t tr__topic_count(struct tr_system *system, uint64_t id)
{
    struct topic_walk walk;
    if (tr__topic_begin(system, id, &walk) != TR_OK)
        return 0;
    while (tr__topic_next(&walk))
        ;
    tr__topic_end(&walk);
    return walk.met;
}
