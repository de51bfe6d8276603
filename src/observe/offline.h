/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The control protocol without a running program. Its verbs need only a store, and work on the
 * files of a program that does not run. A store is locked while it is open here. Only
 * tr__offline_compact changes the store. tr__offline_salvage writes a new store. The tool troupe
 * uses these functions.
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
 * store open and the kernel knows the number of that process, the sentence names that number.
 */
TR_MUST_CHECK tr_status tr__offline_open(const char *directory, struct offline **offline,
                                         tr_error *error);
void tr__offline_close(struct offline *offline);

/**
 * Compacts the store in a directory. Sets *before and *after to the size of its files, in bytes.
 * Returns the statuses of tr__store_compact. On failure `error` has a sentence, as for
 * tr__offline_open.
 */
TR_MUST_CHECK tr_status tr__offline_compact(const char *directory, uint64_t *before,
                                            uint64_t *after, tr_error *error);

/** What was copied from a damaged store, and what was lost; see struct store_salvage. */
struct offline_salvage {
    uint64_t copied;
    uint64_t older;
    uint64_t lost;
    uint64_t gaps;
    bool is_log_whole;
};
/**
 * Copies the intact actors of the damaged store in a directory into a new store in `into`. Calls
 * `on_lost` for each actor that is lost. Returns the statuses of tr__store_salvage, or
 * TR_NAME_EXISTS if `into` already has a store. On failure `error` has a sentence.
 */
TR_MUST_CHECK tr_status tr__offline_salvage(
    const char *directory, const char *into, struct offline_salvage *report,
    void (*on_lost)(void *context, const char *kind, tr_bytes key), void *context, tr_error *error);

/** Passes bytes of requests to the verbs. Returns how many bytes were taken. */
size_t tr__offline_send(struct offline *offline, const char *bytes, size_t size);
/** Receives bytes of answers, at most `size`. Returns the number of these bytes. */
size_t tr__offline_receive(struct offline *offline, char *bytes, size_t size);

#endif
