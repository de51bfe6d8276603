/* SPDX-License-Identifier: Apache-2.0 */
/** Rows of actors that are printed as a tree, each below the actor that started it. */
#ifndef TREE_ROWS_H
#define TREE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

struct json;

/** All zero: none. */
struct tree_rows {
    char **paths; /* "path<TAB>behavior, ..." */
    size_t count;
    size_t capacity;
};

/** Keeps a row of `ls`. Returns false without memory. */
bool tree_rows_keep(struct tree_rows *rows, const struct json *row);
/** Prints all of them in order, and frees them. */
void tree_rows_print(struct tree_rows *rows, int depth_max);

#endif
