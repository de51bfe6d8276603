/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks of clients with a callback.
 *
 * An open ask is in the table and in the wheel, even if its deadline is TR_NEVER. When the ask has
 * ended, it leaves the table and the wheel and enters the queue of due asks. It stays in this queue
 * until tr_client_poll, or the end of the client, calls its callback. So an ask is either open or
 * due, and has exactly one outcome.
 */
#include "actor/verbs/client_call.h"

#include "actor/cell/client.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "actor/verbs/client.h"
#include "actor/verbs/client_ask.h"
#include "base/assert.h"

struct client_calls {
    struct wheel timeouts;
    struct client_ask *first; /* the queue of due asks */
    struct client_ask **last;
    size_t pending;   /* how many asks are in the wheel */
    uint32_t calling; /* how many callbacks run now, one inside the other */
    bool is_ending;
};

static struct client_calls *calls_of(struct tr_client *client)
{
    struct tr_system *system = client->system;
    if (client->calls)
        return client->calls;
    struct client_calls *calls = source_resize(&system->source, NULL, sizeof *calls);
    if (!calls)
        return NULL;
    calls->first = NULL;
    calls->last = &calls->first;
    calls->pending = 0;
    calls->calling = 0;
    calls->is_ending = false;
    tr__wheel_init(&calls->timeouts, system->platform->mono_now(system->platform));
    client->calls = calls;
    return calls;
}

void tr__client_call_due(struct tr_client *client, struct client_ask *ask)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    struct client_calls *calls = client->calls;
    TR_ASSERT(ask->answer || ask->status != TR_OK);
    bool is_left = tr__client_ask_leave(client, ask);
    TR_ASSERT(is_left); /* an ask that is not in the table any more has an outcome already */
    calls->pending -= tr__wheel_cancel(&calls->timeouts, &ask->timeout);
    *calls->last = ask;
    calls->last = &ask->next;
    client->asks.due++;
}

static void call(struct tr_client *client, struct client_ask *ask)
{
    static const tr_error no_error = {.status = TR_OK};
    tr_error why;
    tr__client_ask_error(ask, &why);
    bool is_reply = why.status == TR_OK;
    tr_answer answer = {.status = why.status,
                        .reply = is_reply ? envelope_data(ask->answer) : NULL,
                        .why = is_reply ? &no_error : &why,
                        .context = ask->context};
    client->asks.due--;
    client->calls->calling++;
    ask->callback->call(ask->context, &answer);
    client->calls->calling--;
    tr__client_ask_free(client, ask);
}

/* Removes the oldest due ask from the queue, which must not be empty, and returns it. */
static struct client_ask *take(struct client_calls *calls)
{
    struct client_ask *ask = calls->first;
    calls->first = ask->next;
    if (!calls->first)
        calls->last = &calls->first;
    ask->next = NULL;
    return ask;
}

/*
 * Ends all asks in the wheel whose deadline is at or before `time_ns`, with the outcome `status`.
 */
static void end_until(struct tr_client *client, tr_time time_ns, tr_status status)
{
    struct client_calls *calls = client->calls;
    struct timer_node *node;
    while ((node = tr__wheel_expire(&calls->timeouts, time_ns))) {
        struct client_ask *ask = LIST_OWNER(node, struct client_ask, timeout);
        calls->pending--;
        ask->status = status;
        tr__client_call_due(client, ask);
    }
}

tr_status tr_client_ask_callback(tr_client *client, const tr_callback *callback, void *context,
                                 tr_ref to, const void *message, tr_time timeout_ns)
{
    CLIENT_VERB(client);
    if (!client || !callback || !message)
        return TR_INVALID_ARGUMENT;
    struct client_calls *calls = calls_of(client);
    if (!calls)
        return TR_NO_MEMORY;
    if (calls->is_ending)
        return TR_STOPPING;
    struct client_ask *ask;
    tr_status status = tr__client_ask_new(client, to, callback->type, &ask);
    if (status != TR_OK)
        return status;
    ask->callback = callback;
    ask->context = context;
    struct cell *cell = slots_find(client->system->slots, to.bits);
    tr__client_ask_send(client, cell, ENVELOPE_ASK, ask, message, timeout_ns);
    if (ask->status != TR_OK) {
        tr__client_call_due(client, ask);
    } else {
        tr__wheel_arm(&calls->timeouts, &ask->timeout, ask->deadline_ns);
        calls->pending++;
    }
    tr__client_announce(client, false);
    return TR_OK;
}

/*
 * Takes in mail that has arrived. If the system is over, ends all asks, otherwise the asks that
 * have timed out.
 */
static void gather(struct tr_client *client)
{
    const tr_platform *platform = client->system->platform;
    tr__client_look_last(client);
    end_until(client, platform->mono_now(platform), TR_TIMEOUT);
    if (client->is_last)
        end_until(client, TR_NEVER, TR_STOPPED);
}

/*
 * As gather, but first waits until an ask is due, until no ask is pending, or until the deadline
 * has passed.
 */
static void gather_first(struct tr_client *client, tr_time deadline_ns)
{
    struct client_calls *calls = client->calls;
    const tr_platform *platform = client->system->platform;
    gather(client);
    while (!calls->first && calls->pending) {
        tr_time until_ns = tr__wheel_next(&calls->timeouts);
        if (deadline_ns < until_ns)
            until_ns = deadline_ns;
        if (!tr__client_wait(client, until_ns) && deadline_ns <= platform->mono_now(platform))
            break;
        gather(client);
    }
}

static size_t call_all(struct tr_client *client)
{
    struct client_calls *calls = client->calls;
    /*
     * Count the due asks first. Asks that end during these calls wait for the next poll, so that
     * this poll returns.
     */
    size_t count = 0;
    for (const struct client_ask *ask = calls->first; ask; ask = ask->next)
        count++;
    size_t called = 0;
    while (called < count && calls->first) {
        called++;
        call(client, take(calls));
    }
    return called;
}

size_t tr_client_poll(tr_client *client, tr_time wait_ns)
{
    CLIENT_VERB(client);
    if (!client)
        return 0;
    size_t called = 0;
    /*
     * A message that has arrived before the last poll, and was not received since then, is not news
     * any more: between two polls a loop receives all types that it wants.
     */
    client->news_count = client->fresh_count;
    if (client->calls) {
        gather_first(client, tr__client_deadline(client, wait_ns));
        client->fresh_count = 0;
        called = call_all(client);
    } else {
        tr__client_look(client);
        client->fresh_count = 0;
    }
    tr__client_announce(client, true);
    return called;
}

int tr_client_fd(tr_client *client)
{
    CLIENT_VERB(client);
    if (!client)
        return -1;
    const tr_platform *platform = client->system->platform;
    int fd = platform->parker_fd(platform, client->parker);
    if (fd >= 0 && !client->has_fd) {
        client->has_fd = true;
        tr__client_announce(client, true);
    }
    return fd;
}

bool tr__client_calls_are_due(struct tr_client *client, tr_time *next_ns)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    struct client_calls *calls = client->calls;
    *next_ns = calls ? tr__wheel_next(&calls->timeouts) : TR_NEVER;
    return calls && (calls->first || (client->is_last && calls->pending));
}

tr_time tr_client_timeout(tr_client *client)
{
    CLIENT_VERB(client);
    if (!client || !client->calls)
        return TR_NEVER;
    const tr_platform *platform = client->system->platform;
    tr_time next_ns;
    if (tr__client_calls_are_due(client, &next_ns))
        return 0;
    if (next_ns == TR_NEVER)
        return TR_NEVER;
    tr_time now_ns = platform->mono_now(platform);
    return next_ns > now_ns ? next_ns - now_ns : 0;
}

void tr__client_calls_end(struct tr_client *client)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    struct client_calls *calls = client->calls;
    if (!calls)
        return;
    TR_ASSERT(!calls->calling); /* a callback must not free its client */
    calls->is_ending = true;
    gather(client);
    end_until(client, TR_NEVER, TR_CANCELLED);
    while (calls->first)
        call(client, take(calls));
    TR_ASSERT(!calls->pending);
    source_resize(&client->system->source, calls, 0);
    client->calls = NULL;
}
