/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The trees of slow turns: copies of the records of followed turns that are among the slowest (observe/slow.h).
 *
 * Workers write records into rings, in which newer records replace older ones within a second if much is followed
 * (actor/cell/follow.h). The list of slow turns says which of them have a tree, and a person needs some seconds to open one.
 * So the thread of the socket copies the records of slow turns before it lets workers follow more (observe/trials.h).
 * Rules:
 *   1. A tree has all records of one causal id, from the first record of its slow turn on, or its
 *      member is_cut is true.
 *   2. For SLOW_TREE_STAYS_NS after a list has named it, a tree stays.
 *   3. All trees together have at most SLOW_TREES_RECORDS records, and one tree has at most SLOW_TREE_RECORDS.
 */
#ifndef OBSERVE_SLOW_TREES_H
#define OBSERVE_SLOW_TREES_H

#include "actor/cell/follow.h"
#include "observe/slow.h"

enum {
    SLOW_TREES = 64,           /* at most this many trees are kept */
    SLOW_TREE_RECORDS = 1024,  /* a tree has at most this many records */
    SLOW_TREES_RECORDS = 4096, /* all trees together have at most this many records */
    SLOW_TREES_PLACES = 256    /* places of the hash table from causal ids to trees */
};

/* For how long records are added to a tree after its slow turn, and for how long it stays after a list has named it. */
#define SLOW_TREE_GROWS_NS (10 * TR_SECOND)
#define SLOW_TREE_STAYS_NS (10 * TR_SECOND)

struct slow_tree {
    uint64_t causal;
    /* the number of the first record of the slow turn, or a smaller number */
    uint64_t first;
    /*
     * The records with numbers up to this one were read, and those of the causal id were copied. 0:
     * none were read yet.
     */
    uint64_t upto;
    tr_time ended_ns;  /* when the slow turn ended */
    tr_time took_ns;   /* for how long the slow turn ran */
    tr_time listed_ns; /* when a list named the tree last; 0: never */
    uint32_t count;    /* number of its records */
    bool is_cut;       /* records may be missing */
};

struct slow_trees {
    uint32_t tree_count;
    uint32_t record_count;
    struct slow_tree trees[SLOW_TREES];
    /* index of a tree + 1; 0: none. places_fill fills the table for each copying. */
    uint8_t places[SLOW_TREES_PLACES];
    /* the records of all trees; those of one tree are not together and in no order */
    struct follow_event records[SLOW_TREES_RECORDS];
};

/** Begins to keep trees. Returns TR_OK or TR_NO_MEMORY. This and the functions below: the thread of the socket only. */
TR_MUST_CHECK tr_status tr__slow_trees_begin(struct observer *observer);
/**
 * Copies the new records of the trees of these turns, and drops the trees of other turns, except
 * those that must stay (rule 2). `rows` are all turns of tr__slow_collect. Does nothing before
 * tr__slow_trees_begin.
 */
void tr__slow_trees_keep(struct observer *observer, const struct slow_row *rows, size_t count);
/** Returns the tree of a causal id; NULL: there is none. */
struct slow_tree *tr__slow_trees_find(struct observer *observer, uint64_t causal);
/**
 * Fills `found` with the records of a tree whose numbers are above `after`, the oldest first, at most `max`. Returns their
 * number. They are valid until the next call of another function of this file.
 */
size_t tr__slow_tree_read(const struct observer *observer, const struct slow_tree *tree,
                          uint64_t after, const struct follow_event **found, size_t max);
/** Drops all trees and frees their memory. */
void tr__slow_trees_free(struct observer *observer);

#endif
