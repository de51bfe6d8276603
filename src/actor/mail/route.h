/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Routes: how a router picks the member of its group that gets a message, by the content of the
 * message.
 */
#ifndef ACTOR_MAIL_ROUTE_H
#define ACTOR_MAIL_ROUTE_H

#include <troupe/group.h>
#include <troupe/message.h>

struct hash_key;

/** Whether a table of routes is valid. If it is not, writes to *why what is wrong. */
bool tr__routes_are_valid(const tr_route *routes, const char **why);
/**
 * Writes the hash of the key of a message to *hash. Returns false if the message has no key. Any
 * thread.
 */
bool tr__route_hash(const tr_route *routes, struct hash_key key, const tr_type *type,
                    const void *data, uint64_t *hash);

#endif
