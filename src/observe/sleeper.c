/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/sleeper.h"

#include <stdio.h>
#include <string.h>
#include <troupe/keys.h>

#include "actor/cell/system.h"
#include "durable/kind.h"
#include "observe/key_text.h"

enum { NAMED_MAX = 160 }; /* bytes of the longest "KIND KEY" that a sentence repeats */

bool tr__sleeper_find(const struct visitor *visitor, const char *path, struct sleeper *sleeper)
{
    static const char prefix[] = "/system/durable/";
    struct tr_system *system = visitor->observer->system;
    const struct stored stored = {.host = system->durable.host};
    char kind[TR_NAME_MAX + 1];
    char awake[TR_PATH_MAX + 1];
    if (!stored.host || strncmp(path, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *kind_at = path + sizeof prefix - 1;
    size_t size = strcspn(kind_at, "/");
    /* An actor below a durable actor is not stored itself. */
    if (!kind_at[size] || size > TR_NAME_MAX || strchr(kind_at + size + 1, '/'))
        return false;
    memcpy(kind, kind_at, size);
    kind[size] = '\0';
    sleeper->kind = tr__stored_kind(&stored, kind);
    sleeper->key.size = tr__key_read(kind_at + size + 1, sleeper->key.bytes);
    if (!sleeper->kind || !sleeper->key.size)
        return false;
    tr_bytes key = request_key_bytes(&sleeper->key);
    sleeper->actor =
        tr__durable_path(sleeper->kind, key, awake) ? tr_system_find(system, awake) : TR_NOBODY;
    return sleeper->actor.bits ||
           tr_client_durable_exists(visitor->observer->client, sleeper->kind->origin, key) == TR_OK;
}

void tr__sleeper_refuse(struct visitor *visitor, const struct control_request *request,
                        const struct sleeper *sleeper)
{
    char path[TR_PATH_MAX + 1];
    char named[NAMED_MAX + 1];
    int size = -1;
    /* The key as in the path is one word for every shell. */
    if (tr__durable_path(sleeper->kind, request_key_bytes(&sleeper->key), path))
        size = snprintf(
            named, sizeof named, "%s %s", sleeper->kind->declared->name, strrchr(path, '/') + 1);
    if (size < 0 || size > NAMED_MAX)
        snprintf(named, sizeof named, "KIND KEY");
    tr__visitor_refuse(visitor,
                       request->id,
                       TR_NOT_FOUND,
                       "%.200s is asleep: troupe durable get %s shows what is stored, troupe wake "
                       "%s wakes the actor",
                       request->path,
                       named,
                       named);
}
