/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which requests of an actor are stored: their numbers, their sizes, and which of them have
 * expired.
 *
 * Each record has the sum of the sizes of all earlier records. So the difference between the sums
 * of the newest and the oldest record is the number of bytes that are kept. When a record is
 * replaced, the old one still counts until all records before it are removed.
 */
#ifndef DURABLE_REQUEST_LEDGER_H
#define DURABLE_REQUEST_LEDGER_H

#include "durable/request_record.h"

struct durable_actor;
struct worker;

/**
 * Makes space for one more request by removing records that have expired. Fails with TR_LIMIT if
 * the answers that remain have as many bytes as the kind allows.
 */
TR_MUST_CHECK tr_status tr__request_admit(struct worker *worker, struct durable_actor *actor);
/**
 * Puts a record into the batch of the open commit. Sets record->before. If `bytes` is not NULL, sets *bytes to a copy
 * of the packed record.
 */
TR_MUST_CHECK tr_status tr__request_put(struct worker *worker, struct durable_actor *actor,
                                        tr_bytes id, struct request_record *record,
                                        unsigned char **bytes, size_t *size);
/** Returns the time of the wall clock. */
tr_time tr__request_now(const struct worker *worker);

#endif
