/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors that are stored but asleep, found by their paths. The directory of names has only actors that are
 * awake, so a client that names a sleeper would otherwise read that there is no such actor.
 */
#ifndef OBSERVE_SLEEPER_H
#define OBSERVE_SLEEPER_H

#include "observe/durables.h"

/** A durable actor that a path names. */
struct sleeper {
    const struct durable_kind *kind;
    struct request_key key;
    tr_ref actor; /* TR_NOBODY: the actor is asleep */
};

/**
 * Reads "/system/durable/KIND/KEY". The key may have any bytes as they are, and escapes with digits of either case.
 * Returns false if the path has another form, if the program does not have the kind, or if the actor is neither awake
 * nor stored. May wait for the disk.
 */
bool tr__sleeper_find(const struct visitor *visitor, const char *path, struct sleeper *sleeper);
/** Refuses a request that needs the actor awake. The sentence names the commands that work on a sleeper. */
void tr__sleeper_refuse(struct visitor *visitor, const struct control_request *request,
                        const struct sleeper *sleeper);

#endif
