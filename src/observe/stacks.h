/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The stacks of long turns as texts: "nap (crew.c:12)". To find a function and its line means to read the file of the
 * program, so each stack is read once and its text is kept, for as long as the turn is.
 */
#ifndef OBSERVE_STACKS_H
#define OBSERVE_STACKS_H

#include "observe/visitor.h"

struct stall_entry;

/**
 * If the stack of a long turn is known, writes "stack":["nap (crew.c:12)", ...], the innermost function first, and
 * "stack_age_ms", how long ago that was.
 */
void tr__stack_write(struct visitor *visitor, const struct stall_entry *entry);
void tr__stack_texts_free(struct observer *observer);

#endif
