/* SPDX-License-Identifier: Apache-2.0 */
/** The actor of a record whose actor is not durable. */
#ifndef APP_REPLAY_PLAIN_H
#define APP_REPLAY_PLAIN_H

#include <troupe/kit.h>

#include "app/replay.h"

struct recorder;
struct tr_record;

/**
 * Starts the actor of a record whose actor is not durable, with the state of the record. Runs no
 * set-up of the actor. Returns the type of the message in the record. If the actor cannot be
 * started, prints why and returns NULL.
 */
const tr_type *tr__replay_plain_start(const struct replay_source *source, tr_kit *kit,
                                      struct recorder *recorder, const struct tr_record *record,
                                      tr_ref *actor);

#endif
