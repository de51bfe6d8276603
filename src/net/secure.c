/* SPDX-License-Identifier: Apache-2.0 */
#include "net/secure.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/system.h"
#include "net/filters.h"
#include "net/tls.h"
#include "net/tls_context.h"
#include "base/assert.h"

#include <troupe/blocking.h>

/* ---- Contexts. ---- */

tr_status tr__secure_prepare(struct tr_self *self, struct endpoint *endpoint)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    char why[TLS_WHY_SIZE] = "";
    const tr_platform *platform = self->worker->loop.platform;
    tr_status status =
        tr__tls_context_new(platform, &endpoint->options, true, &endpoint->tls, why, sizeof why);
    /* clear the pointer: the context has copied the hosts, and the caller may free them */
    endpoint->options.hosts = NULL;
    if (status == TR_TLS_FAILED)
        tr_log_error(self, "cannot listen at %s: %s", endpoint->options.address, why);
    return status;
}

tr_status tr__secure_reload(struct endpoint *endpoint, char *why, size_t size)
{
    return endpoint->tls ? tr__tls_context_reload(endpoint->tls, why, size) : TR_NOT_SUPPORTED;
}

/*
 * TLS contexts of clients. They are kept because reading the files of authorities takes long, and
 * because a context has the session tickets of its server. Connections to the same server share a
 * context. If there are more than SECURE_CONTEXTS_MAX, the least recently used one is released.
 */
struct secure_contexts {
    struct lock lock;
    struct tls_context *recent[SECURE_CONTEXTS_MAX]; /* the most recently used context is first */
};

static void contexts_free(struct tr_system *system)
{
    struct secure_contexts *contexts = atomptr_load(&system->channels.contexts, ATOM_RELAXED);
    for (size_t i = 0; i < SECURE_CONTEXTS_MAX; i++)
        tr__tls_context_release(contexts->recent[i]);
    source_resize(&system->source, contexts, 0);
}

/*
 * Returns the record of a system's contexts. If there is none yet, makes it. Returns NULL if there
 * is no memory.
 */
static struct secure_contexts *contexts_of(struct tr_system *system)
{
    struct secure_contexts *contexts =
        atomptr_load(&system->channels.contexts, ATOM_ACQUIRE); /* pairs with the store below */
    if (contexts)
        return contexts;
    lock_take(&system->channels.lock);
    contexts = atomptr_load(&system->channels.contexts, ATOM_RELAXED);
    if (!contexts)
        contexts = source_resize(&system->source, NULL, sizeof *contexts);
    if (contexts && !atomptr_load(&system->channels.contexts, ATOM_RELAXED)) {
        memset(contexts, 0, sizeof *contexts);
        lock_init(&contexts->lock);
        system->channels.free_contexts = contexts_free;
        atomptr_store(&system->channels.contexts, contexts, ATOM_RELEASE);
    }
    lock_give(&system->channels.lock);
    return contexts;
}

/*
 * Returns a context that fits an endpoint, retained, and makes it the most recently used one. Returns NULL if there is
 * no such context.
 */
static struct tls_context *contexts_find(struct secure_contexts *contexts,
                                         const tr_endpoint *options)
{
    struct tls_context *found = NULL;
    lock_take(&contexts->lock);
    for (size_t i = 0; i < SECURE_CONTEXTS_MAX && contexts->recent[i] && !found; i++) {
        if (!tr__tls_context_is_for(contexts->recent[i], options, false))
            continue;
        found = contexts->recent[i];
        memmove(contexts->recent + 1, contexts->recent, i * sizeof found);
        contexts->recent[0] = found;
        tr__tls_context_retain(found);
    }
    lock_give(&contexts->lock);
    return found;
}

static void contexts_add(struct secure_contexts *contexts, struct tls_context *context)
{
    tr__tls_context_retain(context);
    lock_take(&contexts->lock);
    struct tls_context *last = contexts->recent[SECURE_CONTEXTS_MAX - 1];
    memmove(contexts->recent + 1,
            contexts->recent,
            (SECURE_CONTEXTS_MAX - 1) * sizeof contexts->recent[0]);
    contexts->recent[0] = context;
    lock_give(&contexts->lock);
    tr__tls_context_release(last);
}

/* The data that a helper thread needs to read the files of a client's endpoint. */
struct reading {
    const tr_platform *platform;
    const tr_endpoint *options;
    struct tls_context *context;
    tr_status status;
    char why[TLS_WHY_SIZE];
};

static void read_files(void *argument)
{
    struct reading *reading = argument;
    reading->status = tr__tls_context_new(reading->platform,
                                          reading->options,
                                          false,
                                          &reading->context,
                                          reading->why,
                                          sizeof reading->why);
}

tr_status tr__secure_prepare_client(struct tr_self *self, struct endpoint *endpoint, char *why,
                                    size_t size)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct tr_system *system = self->worker->system;
    struct secure_contexts *contexts = contexts_of(system);
    if (!contexts)
        return TR_NO_MEMORY;
    endpoint->tls = contexts_find(contexts, &endpoint->options);
    if (endpoint->tls)
        return TR_OK;
    struct reading *reading = tr_try_scratch(self, sizeof *reading);
    if (!reading)
        return TR_NO_MEMORY;
    *reading =
        (struct reading){.platform = self->worker->loop.platform, .options = &endpoint->options};
    tr_status status = tr_try_blocking(self, read_files, reading);
    if (status == TR_OK)
        status = reading->status;
    if (status == TR_OK) {
        endpoint->tls = reading->context;
        contexts_add(contexts, reading->context);
    } else {
        snprintf(why, size, "%s", reading->why);
        /*
         * if the wait was cancelled, the files may have been read nevertheless, so release the
         * context
         */
        tr__tls_context_release(reading->context);
    }
    return status;
}

/* ---- Channels. ---- */

tr_status tr__secure_begin(struct channel *channel, void **state)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    return tr__tls_begin(channel->endpoint->tls, channel->worker->index, NULL, state);
}

const char *tr__secure_protocol(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const void *state = tr__filters_find(channel, &tr__tls_filter);
    return state ? tr__tls_protocol(state) : NULL;
}

const char *tr__secure_peer_name(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const void *state = tr__filters_find(channel, &tr__tls_filter);
    return state ? tr__tls_peer_name(state) : NULL;
}
