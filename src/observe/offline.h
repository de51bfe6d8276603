/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The control protocol without a program: verbs that need only a store, on the files of a program that does not run.
 * Only tr__offline_compact writes, and the store is locked meanwhile. For the tool.
 */
#ifndef OBSERVE_OFFLINE_H
#define OBSERVE_OFFLINE_H

#include <troupe/ref.h>

#include <stddef.h>

struct offline;

/**
 * Opens the store in a directory. On failure `error` has a sentence; if another process has the store open, with the
 * number of that process if the system knows it.
 */
TR_MUST_CHECK tr_status tr__offline_open(const char *directory, struct offline **offline,
                                         tr_error *error);
void tr__offline_close(struct offline *offline);

/**
 * Compacts the store in a directory, and writes the bytes of its files before and after. Statuses of tr__store_compact,
 * with a sentence in `error` as tr__offline_open has it.
 */
TR_MUST_CHECK tr_status tr__offline_compact(const char *directory, uint64_t *before,
                                            uint64_t *after, tr_error *error);

/** Sends bytes of requests. Returns how many were taken. */
size_t tr__offline_send(struct offline *offline, const char *bytes, size_t size);
/** Receives bytes of answers, at most `size`. Returns 0 if there are none. */
size_t tr__offline_receive(struct offline *offline, char *bytes, size_t size);

#endif
