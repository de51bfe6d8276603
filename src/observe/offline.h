/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The control protocol without a running program: verbs that need only a store, for the files of a
 * program that does not run. Only tr__offline_compact changes the store, which is locked meanwhile.
 * tr__offline_salvage writes a new store. For the tool.
 */
#ifndef OBSERVE_OFFLINE_H
#define OBSERVE_OFFLINE_H

#include <troupe/message.h>
#include <troupe/ref.h>

#include <stdbool.h>
#include <stddef.h>

struct offline;

/**
 * Opens the store in a directory. On failure `error` has a sentence. If another process has the
 * store open, the sentence has the number of that process, if the system knows it.
 */
TR_MUST_CHECK tr_status tr__offline_open(const char *directory, struct offline **offline,
                                         tr_error *error);
void tr__offline_close(struct offline *offline);

/**
 * Compacts the store in a directory, and sets *before and *after to the bytes of its files. Returns
 * the statuses of tr__store_compact, with a sentence in `error` as tr__offline_open.
 */
TR_MUST_CHECK tr_status tr__offline_compact(const char *directory, uint64_t *before,
                                            uint64_t *after, tr_error *error);

/** The result of saving a damaged store; see struct store_salvage. */
struct offline_salvage {
    uint64_t copied;
    uint64_t older;
    uint64_t lost;
    uint64_t gaps;
    bool is_log_whole;
};
/**
 * Copies the intact actors of the damaged store in a directory into a new store in `into`, and
 * calls `on_lost` for each actor that is lost. Returns the statuses of tr__store_salvage, or
 * TR_NAME_EXISTS if `into` has a store, with a sentence in `error`.
 */
TR_MUST_CHECK tr_status tr__offline_salvage(
    const char *directory, const char *into, struct offline_salvage *report,
    void (*on_lost)(void *context, const char *kind, tr_bytes key), void *context, tr_error *error);

/** Passes bytes of requests to the verbs. Returns how many were taken. */
size_t tr__offline_send(struct offline *offline, const char *bytes, size_t size);
/** Receives bytes of answers, at most `size`. Returns 0 if there are none. */
size_t tr__offline_receive(struct offline *offline, char *bytes, size_t size);

#endif
