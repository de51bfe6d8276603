/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verb tree: the tree of actors, one level at a time. Children are grouped by behavior, so that
 * a hundred thousand children are one row.
 */
#ifndef OBSERVE_TREE_H
#define OBSERVE_TREE_H

#include "observe/visitor.h"

enum { TREE_GROUPS = 200 };

void tr__verb_tree(struct visitor *visitor, const struct control_request *request);

#endif
