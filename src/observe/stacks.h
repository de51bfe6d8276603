/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The stacks of long turns as texts, such as "nap (crew.c:12)". To find a function and its line, the file of the
 * program must be read. So each stack is looked up once, and its text is kept as long as the turn is kept.
 */
#ifndef OBSERVE_STACKS_H
#define OBSERVE_STACKS_H

#include "observe/visitor.h"

struct stall_entry;

/**
 * If the stack of a long turn is known, writes two members. "stack":["nap (crew.c:12)", ...] has the functions, the
 * innermost first. "stack_age_ms" says how long ago the stack was taken.
 */
void tr__stack_write(struct visitor *visitor, const struct stall_entry *entry);
void tr__stack_texts_free(struct observer *observer);

#endif
