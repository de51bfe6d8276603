/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verb tree. It lists one level of the tree of actors. Children are grouped by behavior, so
 * that a hundred thousand children of one behavior are one row.
 */
#ifndef OBSERVE_TREE_H
#define OBSERVE_TREE_H

#include "observe/visitor.h"

enum { TREE_GROUPS = 200 };

void tr__verb_tree(struct visitor *visitor, const struct control_request *request);

#endif
