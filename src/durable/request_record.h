/* SPDX-License-Identifier: Apache-2.0 */
/** The stored bytes of the record of a request with an id. */
#ifndef DURABLE_REQUEST_RECORD_H
#define DURABLE_REQUEST_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <troupe/message.h>
#include <troupe/status.h>

/** The outcome of a request. These numbers are stored. */
enum request_outcome {
    REQUEST_BEGUN = 1, /* a part of the request's turn is stored, but no answer */
    REQUEST_REPLIED,
    /* The request has ended without a reply. The record has a status, a code and a text. */
    REQUEST_ENDED,
};

/**
 * A fingerprint of the content of a request. It consists of two hashes, so that different contents
 * have different fingerprints.
 */
struct request_print {
    uint64_t low;
    uint64_t high;
};

struct request_record {
    enum request_outcome outcome;
    struct request_print print;
    tr_time until_wall_ns; /* when the record expires; after that it counts as missing */
    /* Bytes of all earlier records of the actor, including removed ones. */
    uint64_t before;
    /* REQUEST_REPLIED: the name of the reply, and the packed reply. Borrowed. */
    const char *reply;
    tr_bytes bytes;
    /* The hash of the reply's shape; see durable/message_shape.h. 0: the reply has no shape. */
    uint64_t shape;
    /* REQUEST_ENDED: how the request has ended. The text is borrowed. */
    tr_status status;
    int code;
    const char *text;
};

/** The size of the numbers at the beginning of a record. */
enum { REQUEST_FRONT = 34 };

/** Returns the fingerprint of a packed message of this type. It is the same in every process. */
struct request_print tr__request_print(const char *type, tr_bytes packed);
static inline bool request_print_is_equal(struct request_print a, struct request_print b)
{
    return a.low == b.low && a.high == b.high;
}

/** Returns how many bytes tr__request_write writes. */
size_t tr__request_size(const struct request_record *record);
void tr__request_write(const struct request_record *record, unsigned char *bytes);
/** Reads a record. Its texts point into `bytes`. Fails with TR_STORE_CORRUPT. */
TR_MUST_CHECK tr_status tr__request_read(tr_bytes bytes, struct request_record *record);

#endif
