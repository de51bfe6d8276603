/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Verbs for operators of the store. They show figures, check all data, make a backup, and restore
 * one actor from a backup.
 */
#ifndef OBSERVE_STORE_CARE_H
#define OBSERVE_STORE_CARE_H

#include "observe/visitor.h"

/* Bytes of the longest path of a backup, with its NUL. */
enum { BACKUP_PATH_SIZE = 512 };

void tr__verb_store_stats(struct visitor *visitor, const struct control_request *request);
void tr__verb_store_check(struct visitor *visitor, const struct control_request *request);
void tr__verb_store_restore(struct visitor *visitor, const struct control_request *request);

/**
 * Returns the directory that a request names. Refuses the request and returns NULL if it is missing, is not absolute or
 * is too long.
 */
const char *tr__request_directory(struct visitor *visitor, const struct control_request *request);
/** Returns the size of a file of a store. Returns 0 if there is no such file. */
uint64_t tr__store_file_size(const char *directory, const char *name);

#endif
