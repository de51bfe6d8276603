/* SPDX-License-Identifier: Apache-2.0 */
/** Verbs that show the stored data of durable actors, awake or asleep. */
#ifndef OBSERVE_DURABLES_H
#define OBSERVE_DURABLES_H

#include "observe/stored.h"
#include "observe/visitor.h"

void tr__verb_durable_ls(struct visitor *visitor, const struct control_request *request);
void tr__verb_durable_get(struct visitor *visitor, const struct control_request *request);
void tr__verb_alarms(struct visitor *visitor, const struct control_request *request);
void tr__verb_queues(struct visitor *visitor, const struct control_request *request);

/** A key of a request. */
struct request_key {
    unsigned char bytes[TR_KEY_MAX];
    size_t size;
};

/**
 * Prepares to read the store. Refuses the request and returns false if the program has no durable
 * actors, or the store cannot be read.
 */
bool tr__stored_begin(struct visitor *visitor, const struct control_request *request,
                      struct stored *stored);
/**
 * Reads kind and key of a request. If one is missing or wrong, refuses the request and returns
 * false.
 */
bool tr__request_name(struct visitor *visitor, const struct control_request *request,
                      struct request_key *key);
/**
 * Refuses a request for the values of secret fields of a program that runs. Returns true
 * if the request was refused.
 */
bool tr__secrets_refuse(struct visitor *visitor, const struct control_request *request);
/** Refuses a request, with the reason for a status of the store. */
void tr__stored_refuse(struct visitor *visitor, const struct control_request *request,
                       tr_status status);

static inline tr_bytes request_key_bytes(const struct request_key *key)
{
    return (tr_bytes){key->bytes, key->size};
}

#endif
