/* SPDX-License-Identifier: Apache-2.0 */
/** Asks by key, as tr_ask_key, for others than programs. */
#ifndef DURABLE_KEY_ASK_H
#define DURABLE_KEY_ASK_H

#include <troupe/durable.h>

#include "durable/host.h"

/** Whom a request is for, and from whom it comes. */
struct key_call {
    const tr_durable_kind *kind;
    tr_bytes key;
    tr_bytes id;         /* as of tr_ask_once; no bytes: none */
    uint64_t connection; /* from which it came; 0: none */
    const char *caller;  /* what tr_caller returns; NULL: nobody */
};

/** A request with what a gateway adds to it. */
struct key_wrapped {
    const tr_type *type;
    const void *message; /* in this struct, and in memory of the turn */
    union {
        struct tr_durable_once once;
        struct tr_durable_once_aside once_aside;
    };
};

/**
 * Makes what is sent for a call. TR_INVALID_ARGUMENT, TR_NOT_SUPPORTED, TR_TOO_LARGE, TR_NO_MEMORY, and those of tr_pack. In
 * a turn.
 */
TR_MUST_CHECK tr_status tr__key_wrap(tr_self *self, const struct key_call *call,
                                     const tr_type *type, const void *message,
                                     struct key_wrapped *wrapped);
/** Asks as tr_self_ask_key does. In a turn. Waits. */
tr_pending tr__self_ask_call(tr_self *self, const struct key_call *call, const tr_type *type,
                             const void *message, tr_time timeout_ns);

#endif
