/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/dispatch.h"

#include <string.h>

#include "actor/cell/overflow.h"
#include "actor/cell/signal.h"
#include "actor/cell/behavior_list.h"
#include "base/assert.h"
#include "wire/type.h"

static_assert((int)DISPATCH_SIGNALS == (int)SIGNAL_CALLED_COUNT, "a dispatch has a place for each");

enum {
    ENTRIES_FIRST = 8,
    /*
     * a table has at most this many entries. When a table is full, a type without an entry is compared by name
     * each time
     */
    ENTRIES_MAX = 4096,
    ENTRIES_SPARSE = 4, /* a table has at least this many places for each entry */
    ENTRIES_FEW = 64,   /* entries_spread does nothing if there are more entries */
    /* how many factors entries_spread tries */
    FACTORS_MAX = 64,
    BUCKETS_FIRST = 16
};
#define FACTOR_FIRST UINT64_C(0x9e3779b97f4a7c15)
#define FACTOR_STEP UINT64_C(0xd1342543de82ef95) /* odd like FACTOR_FIRST, so all factors are odd */

static_assert((uint64_t)2 * ENTRIES_SPARSE * ENTRIES_MAX * sizeof(struct dispatch_entry) <=
                  UINT64_C(1) << (64 - DISPATCH_SHIFT),
              "the hash reaches all of the largest table");

/*
 * entry->quick points to this descriptor if the entry has no quick call, because no message has
 * this descriptor.
 */
static const tr_type no_type;

void tr__dispatches_init(struct dispatches *dispatches, const struct memory_source *source,
                         uint32_t worker)
{
    *dispatches = (struct dispatches){.source = *source, .worker = worker};
}

static void dispatch_free(struct dispatches *dispatches, struct dispatch *dispatch)
{
    source_resize(&dispatches->source, dispatch->entries, 0);
    source_resize(&dispatches->source, dispatch, 0);
}

void tr__dispatches_deinit(struct dispatches *dispatches)
{
    for (size_t i = 0; i < dispatches->bucket_count; i++) {
        struct dispatch *dispatch = dispatches->buckets[i];
        while (dispatch) {
            struct dispatch *next = dispatch->next;
            dispatch_free(dispatches, dispatch);
            dispatch = next;
        }
    }
    source_resize(&dispatches->source, dispatches->buckets, 0);
    dispatches->buckets = NULL;
    dispatches->bucket_count = 0;
    dispatches->last = NULL;
}

bool tr__supervision_is_valid(const tr_supervision *supervision, const char **why)
{
    const tr_backoff *backoff = &supervision->backoff;
    *why = "invalid supervision: unknown strategy or significance";
    if ((unsigned)supervision->strategy > TR_REST_FOR_ONE ||
        (unsigned)supervision->significance > TR_STOP_AFTER_ALL)
        return false;
    *why = "invalid supervision: too many or too few restarts, or a negative window";
    if (supervision->restarts_max < TR_NO_RESTARTS || supervision->restarts_max > TR_RESTARTS_MAX ||
        supervision->window_ns < 0)
        return false;
    *why = "invalid back-off: a negative time, a multiplier below 1, or a jitter outside 0 to 1";
    bool is_sound = backoff->initial_ns >= 0 && backoff->max_ns >= 0 && backoff->jitter >= 0 &&
                    backoff->jitter <= 1 && (backoff->multiplier == 0 || backoff->multiplier >= 1);
    if (!is_sound)
        return false;
    *why = NULL;
    return true;
}

static bool children_are_valid(const tr_behavior *behavior, const char **why)
{
    *why = "invalid behavior: the table of children is missing";
    if (behavior->child_count && !behavior->children)
        return false;
    for (size_t i = 0; i < behavior->child_count; i++) {
        const tr_child_spec *spec = &behavior->children[i];
        *why = "invalid child: no behavior, or an unknown restart";
        if (!spec->behavior || (unsigned)spec->restart > TR_TEMPORARY)
            return false;
        if (spec->supervision && !tr__supervision_is_valid(spec->supervision, why))
            return false;
    }
    *why = NULL;
    return true;
}

static bool is_of_this_version(const tr_behavior *behavior)
{
    return behavior->abi == TR_ABI && behavior->handler_size == sizeof(tr_handler) &&
           behavior->size == sizeof(tr_behavior);
}

const char *tr__behavior_name(const tr_behavior *behavior)
{
    bool has_name = behavior && is_of_this_version(behavior) && behavior->name;
    return has_name ? behavior->name : "a behavior without a name";
}

bool tr__behavior_is_valid(const tr_behavior *behavior, const char **why)
{
    *why = "the behavior is missing";
    if (!behavior)
        return false;
    *why = "invalid behavior: compiled for another version of the library";
    if (!is_of_this_version(behavior))
        return false;
    *why = "invalid behavior: no name";
    if (!behavior->name || !behavior->state_name)
        return false;
    *why = "invalid behavior: the table of handlers is missing";
    if (behavior->handler_count && !behavior->handlers)
        return false;
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_handler *handler = &behavior->handlers[i];
        if (!handler->call)
            return false;
        if (handler->type && !tr__type_is_valid(handler->type, why))
            return false;
        *why = "invalid behavior: .batch_max is too large, or set without TR_ON_BATCH";
        if (handler->batch_max > (handler->is_batch ? TR_BATCH_MAX : 0))
            return false;
        *why = "invalid behavior: the table of handlers is missing";
    }
    if (behavior->setup.call && behavior->setup.type &&
        !tr__type_is_valid(behavior->setup.type, why))
        return false;
    *why = "invalid behavior: .shows describes a struct of another size than the state";
    const tr_type *shows = behavior->options.shows;
    if (shows && (!tr__type_is_valid(shows, NULL) || shows->size != behavior->state_size))
        return false;
    *why = "invalid behavior: unknown ordering";
    if (behavior->options.ordering != TR_BY_ARRIVAL && behavior->options.ordering != TR_BY_KIND)
        return false;
    *why = "invalid behavior: unknown overflow";
    if (!overflow_is_known(behavior->options.overflow))
        return false;
    *why = "invalid behavior: negative budget";
    if (behavior->options.budget_cpu_ns < 0 || behavior->options.tree_budget_cpu_ns < 0)
        return false;
    *why = "invalid behavior: .stack_bytes is less than TR_STACK_SIZE";
    if (behavior->options.stack_bytes && behavior->options.stack_bytes < TR_STACK_SIZE)
        return false;
    *why = "invalid behavior: unknown restart";
    if ((unsigned)behavior->options.restart > TR_TEMPORARY)
        return false;
    return tr__supervision_is_valid(&behavior->supervision, why) &&
           children_are_valid(behavior, why);
}

static uint32_t entry_count(const struct dispatch *dispatch)
{
    return dispatch->entries ? dispatch->mask / sizeof(struct dispatch_entry) + 1 : 0;
}

/*
 * Returns the entry of a type, or the free entry where the type belongs. A table always has free
 * entries.
 */
static struct dispatch_entry *entry_of(const struct dispatch *dispatch, const tr_type *type)
{
    const struct dispatch_entry *end = dispatch->entries + entry_count(dispatch);
    struct dispatch_entry *entry = dispatch_place(dispatch, type);
    while (entry->type && entry->type != type) {
        if (++entry == end)
            entry = dispatch->entries;
    }
    return entry;
}

/*
 * Clears the table, and adds the entries of `from` that are not free. Returns how many of the added
 * entries are not at the first place of their type, which is where a search for the type begins.
 */
static uint32_t entries_fill(struct dispatch *dispatch, const struct dispatch_entry *from,
                             uint32_t from_count)
{
    uint32_t count = entry_count(dispatch);
    uint32_t misplaced = 0;
    for (uint32_t i = 0; i < count; i++)
        dispatch->entries[i] = (struct dispatch_entry){.quick = &no_type};
    for (uint32_t i = 0; i < from_count; i++) {
        if (!from[i].type)
            continue;
        struct dispatch_entry *entry = entry_of(dispatch, from[i].type);
        misplaced += entry != dispatch_place(dispatch, from[i].type);
        *entry = from[i];
    }
    return misplaced;
}

/*
 * If there are few entries, looks for a factor with which each entry is at the first place of its
 * type. A message of a type whose entry is at another place takes the slow path. The result depends on
 * addresses, which differ from one run of the program to the next. So this function allocates
 * nothing, because equal runs must ask for equal memory (V-02).
 */
static void entries_spread(struct dispatch *dispatch)
{
    struct dispatch_entry kept[ENTRIES_FEW];
    uint32_t kept_count = 0;
    uint32_t fewest = UINT32_MAX;
    uint64_t factor = FACTOR_FIRST;
    uint64_t best = factor;
    if (dispatch->used > ENTRIES_FEW)
        return;
    for (uint32_t i = 0; i < entry_count(dispatch); i++) {
        if (dispatch->entries[i].type)
            kept[kept_count++] = dispatch->entries[i];
    }
    TR_ASSERT(kept_count == dispatch->used);
    for (uint32_t i = 0; i < FACTORS_MAX && fewest; i++, factor *= FACTOR_STEP) {
        dispatch->factor = factor;
        uint32_t misplaced = entries_fill(dispatch, kept, kept_count);
        if (misplaced < fewest) {
            fewest = misplaced;
            best = factor;
        }
    }
    if (dispatch->factor != best) {
        dispatch->factor = best;
        entries_fill(dispatch, kept, kept_count);
    }
}

/* Moves the entries to a new table. If there is no memory, changes nothing and returns false. */
static bool entries_resize(struct dispatches *dispatches, struct dispatch *dispatch, uint32_t count)
{
    struct dispatch_entry *entries =
        source_resize(&dispatches->source, NULL, count * sizeof *entries);
    if (!entries)
        return false;
    struct dispatch_entry *old = dispatch->entries;
    uint32_t old_count = entry_count(dispatch);
    dispatch->entries = entries;
    dispatch->mask = (uint32_t)((count - 1) * sizeof *entries);
    dispatch->factor = FACTOR_FIRST;
    if (entries_fill(dispatch, old, old_count))
        entries_spread(dispatch);
    source_resize(&dispatches->source, old, 0);
    return true;
}

static struct dispatch_entry entry_for(const tr_type *type, const tr_handler *handler)
{
    bool is_quick = handler && handler->type;
    return (struct dispatch_entry){
        is_quick ? type : &no_type, is_quick ? handler->call : NULL, handler, type};
}

/* Finds the handler of a type by comparing the type's name and fields with those of each handler. */
static const tr_handler *handler_of(const tr_behavior *behavior, const tr_type *type)
{
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_handler *handler = &behavior->handlers[i];
        if (handler->type && (handler->type == type || tr_type_is_equal(handler->type, type)))
            return handler;
    }
    return NULL;
}

static struct dispatch *dispatch_new(struct dispatches *dispatches, const tr_behavior *behavior)
{
    struct dispatch *dispatch = source_resize(&dispatches->source, NULL, sizeof *dispatch);
    if (!dispatch)
        return NULL;
    *dispatch = (struct dispatch){.behavior = behavior, .worker = dispatches->worker};
    uint32_t count = ENTRIES_FIRST;
    while (count < ENTRIES_SPARSE * behavior->handler_count)
        count *= 2;
    if (!entries_resize(dispatches, dispatch, count)) {
        source_resize(&dispatches->source, dispatch, 0);
        return NULL;
    }
    bool is_crowded = false;
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_handler *handler = &behavior->handlers[i];
        if (!handler->type) {
            dispatch->any = handler;
            continue;
        }
        struct dispatch_entry *entry = entry_of(dispatch, handler->type);
        if (entry->type || tr__signal_is_forged(handler->type))
            continue; /* only the first handler of a type is used */
        *entry = entry_for(handler->type, handler);
        dispatch->used++;
        is_crowded |= entry != dispatch_place(dispatch, handler->type);
    }
    if (is_crowded)
        entries_spread(dispatch);
    for (int i = 0; i < SIGNAL_CALLED_COUNT; i++)
        dispatch->signals[i] = handler_of(behavior, &tr__signal_types[i]);
    const tr_options *options = &behavior->options;
    dispatch->is_plain = !behavior->setup.call && !behavior->child_count &&
                         !dispatch->signals[SIGNAL_PRE_START] &&
                         options->ordering == TR_BY_ARRIVAL && !options->budget_bytes &&
                         !options->tree_budget_bytes && !options->budget_cpu_ns &&
                         !options->tree_budget_cpu_ns && !options->stack_bytes;
    return dispatch;
}

static size_t bucket_number(const struct dispatches *dispatches, const tr_behavior *behavior)
{
    return ((uintptr_t)behavior >> 5) & (dispatches->bucket_count - 1);
}

static bool buckets_grow(struct dispatches *dispatches)
{
    if (dispatches->count < dispatches->bucket_count)
        return true;
    size_t count = dispatches->bucket_count ? 2 * dispatches->bucket_count : BUCKETS_FIRST;
    size_t size = count * sizeof(struct dispatch *);
    struct dispatch **buckets = source_resize(&dispatches->source, NULL, size);
    if (!buckets)
        return dispatches->bucket_count > 0;
    memset(buckets, 0, size);
    struct dispatches old = *dispatches;
    dispatches->buckets = buckets;
    dispatches->bucket_count = count;
    for (size_t i = 0; i < old.bucket_count; i++) {
        struct dispatch *dispatch = old.buckets[i];
        while (dispatch) {
            struct dispatch *next = dispatch->next;
            size_t number = bucket_number(dispatches, dispatch->behavior);
            dispatch->next = buckets[number];
            buckets[number] = dispatch;
            dispatch = next;
        }
    }
    source_resize(&dispatches->source, old.buckets, 0);
    return true;
}

struct dispatch *tr__dispatch_search(struct dispatches *dispatches, const tr_behavior *behavior)
{
    struct dispatch *dispatch = NULL;
    if (dispatches->bucket_count)
        dispatch = dispatches->buckets[bucket_number(dispatches, behavior)];
    while (dispatch && dispatch->behavior != behavior)
        dispatch = dispatch->next;
    if (dispatch)
        dispatches->last = dispatch;
    return dispatch;
}

struct dispatch *tr__dispatch_of(struct dispatches *dispatches, const tr_behavior *behavior)
{
    struct dispatch *dispatch = dispatch_known(dispatches, behavior);
    if (dispatch)
        return dispatch;
    if (!buckets_grow(dispatches))
        return NULL;
    dispatch = dispatch_new(dispatches, behavior);
    if (!dispatch)
        return NULL;
    size_t number = bucket_number(dispatches, behavior);
    dispatch->next = dispatches->buckets[number];
    dispatches->buckets[number] = dispatch;
    dispatches->count++;
    return dispatch;
}

const tr_handler *tr__dispatch_learn(struct dispatches *dispatches, struct dispatch *dispatch,
                                     const tr_type *type)
{
    struct dispatch_entry *entry = entry_of(dispatch, type);
    if (entry->type)
        return entry->handler;
    const tr_handler *handler =
        tr__signal_is_forged(type) ? NULL : handler_of(dispatch->behavior, type);
    if (!handler && !tr__signal_is_own(type)) /* TR_ON_ANY gets no signals */
        handler = dispatch->any;
    /* If the table has its largest size, or cannot grow, return the handler without storing it. */
    if (dispatch->used >= ENTRIES_MAX)
        return handler;
    uint32_t count = entry_count(dispatch);
    if (ENTRIES_SPARSE * (dispatch->used + 1) > count) {
        if (!entries_resize(dispatches, dispatch, 2 * count))
            return handler;
        entry = entry_of(dispatch, type);
    }
    *entry = entry_for(type, handler);
    dispatch->used++;
    if (entry != dispatch_place(dispatch, type))
        entries_spread(dispatch);
    return handler;
}

static bool has_row_named(const tr_behavior *behavior, const char *name, size_t length)
{
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_type *type = behavior->handlers[i].type;
        if (type && strlen(type->name) == length && memcmp(type->name, name, length) == 0)
            return true;
    }
    return false;
}

static bool is_in_others(const struct behavior_list *others, const char *name, size_t length)
{
    for (const tr_behavior *const *other = others->first; other < others->end; other++) {
        if (has_row_named(*other, name, length))
            return true;
    }
    return false;
}

bool tr__protocol_lacks(const struct dispatch *dispatch, const struct behavior_list *others,
                        const char *list, char *name, size_t size)
{
    if (dispatch->any)
        return false;
    for (const char *word = list + strspn(list, ", "); *word; word += strspn(word, ", ")) {
        size_t length = strcspn(word, ", ");
        if (!has_row_named(dispatch->behavior, word, length) &&
            !is_in_others(others, word, length)) {
            size_t cut = length < size - 1 ? length : size - 1;
            memcpy(name, word, cut);
            name[cut] = '\0';
            return true;
        }
        word += length;
    }
    return false;
}

const tr_handler tr__setup_handler = {.name = "its set-up"};

const tr_handler *tr__dispatch_handler(const struct dispatch *dispatch,
                                       tr_next (*call)(tr_self *self, void *state,
                                                       const void *message))
{
    if (!dispatch)
        return NULL;
    if (call == dispatch->behavior->setup.call)
        return &tr__setup_handler;
    for (int i = 0; i < SIGNAL_CALLED_COUNT; i++) {
        const tr_handler *handler = dispatch->signals[i];
        if (handler && handler->call == call)
            return handler;
    }
    return NULL;
}
