/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Verbs for operators of the store. They show figures, check all data, make a backup, and restore
 * one actor from a backup.
 */
#ifndef OBSERVE_STORE_CARE_H
#define OBSERVE_STORE_CARE_H

#include "observe/visitor.h"

void tr__verb_store_stats(struct visitor *visitor, const struct control_request *request);
void tr__verb_store_check(struct visitor *visitor, const struct control_request *request);
void tr__verb_store_restore(struct visitor *visitor, const struct control_request *request);

/** Returns the size of a file of a store. Returns 0 if there is no such file. */
uint64_t tr__store_file_size(const char *directory, const char *name);

#endif
