/* SPDX-License-Identifier: Apache-2.0 */
/** The actor of a record that is not of a durable actor. */
#ifndef APP_REPLAY_PLAIN_H
#define APP_REPLAY_PLAIN_H

#include <troupe/kit.h>

#include "app/replay.h"

struct recorder;
struct tr_record;

/**
 * Starts the actor of a record, with the state of the record, if that actor is not durable. None of its set-ups runs. If the
 * actor cannot be started, prints why and returns NULL. Otherwise returns the type of the message in the record.
 */
const tr_type *tr__replay_plain_start(const struct replay_source *source, tr_kit *kit,
                                      struct recorder *recorder, const struct tr_record *record,
                                      tr_ref *actor);

#endif
