/* SPDX-License-Identifier: Apache-2.0 */
/** Verbs that show the stored data of durable actors, whether these are awake or asleep. */
#ifndef OBSERVE_DURABLES_H
#define OBSERVE_DURABLES_H

#include "observe/stored.h"
#include "observe/visitor.h"

void tr__verb_durable_ls(struct visitor *visitor, const struct control_request *request);
void tr__verb_durable_get(struct visitor *visitor, const struct control_request *request);
void tr__verb_alarms(struct visitor *visitor, const struct control_request *request);
void tr__verb_queues(struct visitor *visitor, const struct control_request *request);

/** The key that a request names. */
struct request_key {
    unsigned char bytes[TR_KEY_MAX];
    size_t size;
};

/**
 * Prepares to read the store. If the program has no durable actors, or if the store cannot be read,
 * refuses the request and returns false.
 */
bool tr__stored_begin(struct visitor *visitor, const struct control_request *request,
                      struct stored *stored);
/**
 * Reads the kind and the key of a request. If one of them is missing or wrong, refuses the request
 * and returns false.
 */
bool tr__request_name(struct visitor *visitor, const struct control_request *request,
                      struct request_key *key);
/**
 * If a request asks a running program for the values of secret fields, refuses it and returns true.
 */
bool tr__secrets_refuse(struct visitor *visitor, const struct control_request *request);
/** Refuses a request. The sentence is that for a status of the store. */
void tr__stored_refuse(struct visitor *visitor, const struct control_request *request,
                       tr_status status);

static inline tr_bytes request_key_bytes(const struct request_key *key)
{
    return (tr_bytes){key->bytes, key->size};
}

#endif
