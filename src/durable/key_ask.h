/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks by key for other modules of the library. It does what tr_ask_key does, and also takes the id, the connection and
 * the caller of a request.
 */
#ifndef DURABLE_KEY_ASK_H
#define DURABLE_KEY_ASK_H

#include <troupe/durable.h>

#include "durable/host.h"

/** The receiver of a request, and where the request comes from. */
struct key_call {
    const tr_durable_kind *kind;
    tr_bytes key;
    tr_bytes id;         /* id of the request, as in tr_ask_once; no bytes: none */
    uint64_t connection; /* number of the connection that sent the request; 0: none */
    const char *caller;  /* what tr_caller returns; NULL: no caller */
};

/** A request, with the data that a gateway adds to it. */
struct key_wrapped {
    const tr_type *type;
    /* The message. It points into this struct and into memory of the turn. */
    const void *message;
    union {
        struct tr_durable_once once;
        struct tr_durable_once_aside once_aside;
    };
};

/**
 * Makes the message that is sent for a call. Fails with TR_INVALID_ARGUMENT, TR_NOT_SUPPORTED,
 * TR_TOO_LARGE, TR_NO_MEMORY, or a status of tr_pack. In a turn.
 */
TR_MUST_CHECK tr_status tr__key_wrap(tr_self *self, const struct key_call *call,
                                     const tr_type *type, const void *message,
                                     struct key_wrapped *wrapped);
/** Asks as tr_self_ask_key does. In a turn. Waits. */
tr_pending tr__self_ask_call(tr_self *self, const struct key_call *call, const tr_type *type,
                             const void *message, tr_time timeout_ns);

#endif
