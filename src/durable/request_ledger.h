/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which requests of an actor are stored: their numbers, how many bytes they have, and which are too
 * old.
 *
 * Each record has the sum of the bytes of all earlier records. So the difference between the newest
 * and the oldest record is the number of bytes that are kept. A replaced record still counts in it,
 * until all earlier records are removed.
 */
#ifndef DURABLE_REQUEST_LEDGER_H
#define DURABLE_REQUEST_LEDGER_H

#include "durable/request_record.h"

struct durable_actor;
struct worker;

/**
 * Makes space for one more request by removing records that are too old. Fails with TR_LIMIT if the
 * kept answers already have as many bytes as the kind allows.
 */
TR_MUST_CHECK tr_status tr__request_admit(struct worker *worker, struct durable_actor *actor);
/**
 * Puts a record into the batch of the open commit. Sets record->before. If `bytes` is not NULL, sets *bytes to a copy
 * of the record.
 */
TR_MUST_CHECK tr_status tr__request_put(struct worker *worker, struct durable_actor *actor,
                                        tr_bytes id, struct request_record *record,
                                        unsigned char **bytes, size_t *size);
/** Returns the time of the wall clock. */
tr_time tr__request_now(const struct worker *worker);

#endif
