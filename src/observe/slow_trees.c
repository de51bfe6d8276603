/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/slow_trees.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

tr_status tr__slow_trees_begin(struct observer *observer)
{
    if (observer->trees)
        return TR_OK;
    struct slow_trees *trees = source_resize(observer->source, NULL, sizeof *trees);
    if (!trees)
        return TR_NO_MEMORY;
    trees->tree_count = trees->record_count = 0;
    observer->trees = trees;
    return TR_OK;
}

struct slow_tree *tr__slow_trees_find(struct observer *observer, uint64_t causal)
{
    struct slow_trees *trees = observer->trees;
    for (uint32_t i = 0; trees && causal && i < trees->tree_count; i++) {
        if (trees->trees[i].causal == causal)
            return &trees->trees[i];
    }
    return NULL;
}

/* ---- Dropping. ---- */

static void tree_drop(struct slow_trees *trees, struct slow_tree *tree)
{
    uint32_t kept = 0;
    TR_ASSERT(tree >= trees->trees);
    TR_ASSERT(tree < trees->trees + trees->tree_count);
    for (uint32_t i = 0; tree->count && i < trees->record_count; i++) {
        if (trees->records[i].causal == tree->causal)
            continue;
        if (kept != i)
            trees->records[kept] = trees->records[i];
        kept++;
    }
    if (tree->count)
        trees->record_count = kept;
    *tree = trees->trees[--trees->tree_count];
}

/* Whether a list has named the tree within the last SLOW_TREE_STAYS_NS. */
static bool tree_stays(const struct slow_tree *tree, tr_time now_ns)
{
    return tree->listed_ns && now_ns - tree->listed_ns <= SLOW_TREE_STAYS_NS;
}

static bool turn_is_listed(uint64_t causal, const struct slow_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (rows[i].turn.causal == causal)
            return true;
    }
    return false;
}

/* Returns the tree of the fastest turn among those that need not stay; NULL: there is none. */
static struct slow_tree *tree_fastest(struct slow_trees *trees, tr_time now_ns)
{
    struct slow_tree *found = NULL;
    for (uint32_t i = 0; i < trees->tree_count; i++) {
        struct slow_tree *tree = &trees->trees[i];
        if (!tree_stays(tree, now_ns) && (!found || tree->took_ns < found->took_ns))
            found = tree;
    }
    return found;
}

/* Drops the trees of turns that are no longer among the slowest, and makes space for the largest tree. */
static void space_make(struct slow_trees *trees, const struct slow_row *rows, size_t count,
                       tr_time now_ns)
{
    struct slow_tree *tree;
    for (uint32_t i = trees->tree_count; i-- > 0;) {
        if (!tree_stays(&trees->trees[i], now_ns) &&
            !turn_is_listed(trees->trees[i].causal, rows, count))
            tree_drop(trees, &trees->trees[i]);
    }
    while (trees->record_count + SLOW_TREE_RECORDS > SLOW_TREES_RECORDS &&
           (tree = tree_fastest(trees, now_ns)))
        tree_drop(trees, tree);
}

/* ---- Copying. ---- */

static uint8_t *place_of(struct slow_trees *trees, uint64_t causal)
{
    for (size_t at = causal ^ causal >> 32;; at++) {
        uint8_t *place = &trees->places[at % SLOW_TREES_PLACES];
        if (!*place || trees->trees[*place - 1].causal == causal)
            return place;
    }
}

/* Fills the hash table with the trees that may still grow. */
static void places_fill(struct slow_trees *trees, tr_time now_ns)
{
    memset(trees->places, 0, sizeof trees->places);
    for (uint32_t i = 0; i < trees->tree_count; i++) {
        const struct slow_tree *tree = &trees->trees[i];
        if (!tree->upto || now_ns - tree->ended_ns <= SLOW_TREE_GROWS_NS)
            *place_of(trees, tree->causal) = (uint8_t)(i + 1);
    }
}

/* Takes a record, if it belongs to a tree that may grow. */
static void record_take(void *context, const struct follow_event *event)
{
    struct slow_trees *trees = context;
    uint8_t place = *place_of(trees, event->causal);
    struct slow_tree *tree = place ? &trees->trees[place - 1] : NULL;
    if (!tree || event->number <= tree->upto)
        return;
    if (tree->count == SLOW_TREE_RECORDS || trees->record_count == SLOW_TREES_RECORDS) {
        tree->is_cut = true;
        return;
    }
    trees->records[trees->record_count++] = *event;
    tree->count++;
}

/* Adds trees for turns that have none, if the records of these turns were not replaced yet. */
static void trees_add(struct observer *observer, const struct slow_row *rows, size_t count,
                      tr_time now_ns)
{
    struct slow_trees *trees = observer->trees;
    for (size_t i = 0; i < count; i++) {
        const struct slow_turn *turn = &rows[i].turn;
        if (!turn->record || !turn->causal || tr__slow_trees_find(observer, turn->causal) ||
            turn->record < tr__follow_oldest(observer->system, rows[i].worker))
            continue;
        struct slow_tree *place =
            trees->tree_count < SLOW_TREES ? NULL : tree_fastest(trees, now_ns);
        if (place && place->took_ns < turn->took_ns)
            tree_drop(trees, place);
        if (trees->tree_count == SLOW_TREES)
            return; /* the rows below are of faster turns */
        trees->trees[trees->tree_count++] = (struct slow_tree){.causal = turn->causal,
                                                               .first = turn->record,
                                                               .ended_ns = turn->ended_ns,
                                                               .took_ns = turn->took_ns};
    }
}

void tr__slow_trees_keep(struct observer *observer, const struct slow_row *rows, size_t count)
{
    struct slow_trees *trees = observer->trees;
    if (!trees)
        return;
    tr_time now_ns = tr__observer_now(observer);
    space_make(trees, rows, count, now_ns);
    trees_add(observer, rows, count, now_ns);
    places_fill(trees, now_ns);
    uint64_t oldest;
    uint64_t newest = tr__follow_each(observer->system, &oldest, record_take, trees);
    for (uint32_t i = trees->tree_count; i-- > 0;) {
        struct slow_tree *tree = &trees->trees[i];
        if (tree->upto && now_ns - tree->ended_ns > SLOW_TREE_GROWS_NS)
            continue;
        /* Records may have been replaced before they were copied. */
        tree->is_cut |= (tree->upto ? tree->upto + 1 : tree->first) < oldest;
        tree->upto = newest;
        if (!tree->count)
            tree_drop(trees, tree);
    }
}

/* ---- Reading. ---- */

static int compare_numbers(const void *a, const void *b)
{
    const struct follow_event *left = *(const struct follow_event *const *)a;
    const struct follow_event *right = *(const struct follow_event *const *)b;
    return left->number < right->number ? -1 : left->number > right->number;
}

size_t tr__slow_tree_read(const struct observer *observer, const struct slow_tree *tree,
                          uint64_t after, const struct follow_event **found, size_t max)
{
    const struct follow_event *all[SLOW_TREE_RECORDS];
    const struct slow_trees *trees = observer->trees;
    size_t count = 0;
    for (uint32_t i = 0; i < trees->record_count; i++) {
        const struct follow_event *event = &trees->records[i];
        if (event->causal == tree->causal && event->number > after)
            all[count++] = event;
    }
    TR_ASSERT(count <= tree->count);
    qsort((void *)all, count, sizeof *all, compare_numbers);
    count = count < max ? count : max;
    memcpy((void *)found, (const void *)all, count * sizeof *all);
    return count;
}

void tr__slow_trees_free(struct observer *observer)
{
    source_resize(observer->source, observer->trees, 0);
    observer->trees = NULL;
}
