/* SPDX-License-Identifier: Apache-2.0 */
#include "net/listener.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/slots.h"
#include "actor/mail/address.h"
#include "actor/mail/mail.h"
#include "base/assert.h"
#include "net/connection.h"
#include "net/deadline.h"
#include "net/listener_shared.h"
#include "net/offer.h"
#include "net/table.h"

enum { ACCEPTS_MAX = 16 /* the largest number of connections that are accepted in one turn */ };
/*
 * How long a listener waits before it accepts again after a failure, for example if the process has no free descriptor.
 * ACCEPT_LOG_NS is the least time between two lines of the log about that.
 */
#define ACCEPT_AGAIN_NS (100 * TR_MILLISECOND)
/*
 * How long a full listener waits before it looks again by itself. Usually the listener gets an
 * order (ORDER_LOOK) when a session ends. An order needs memory, so it may not come.
 */
#define FULL_AGAIN_NS TR_SECOND
#define ACCEPT_LOG_NS (10 * TR_SECOND)

TR_MESSAGE(tr_acceptable_, (channel, channel));
const tr_type tr__acceptable_type = {"tr_acceptable_",
                                     tr_fields_tr_acceptable_,
                                     NULL,
                                     __FILE__,
                                     __LINE__,
                                     sizeof(struct tr_acceptable_),
                                     1,
                                     sizeof(tr_field),
                                     TR_ABI,
                                     true,
                                     sizeof(struct tr_acceptable_),
                                     NULL,
                                     NULL};

TR_MESSAGE(tr_accepted_, (u64, accepted));
TR_MESSAGE(tr_deck_open_, (u64, shared));
TR_ACTOR(tr_deck, tr_accepted_);

/* ---- Sessions. ---- */

void tr__listener_uncount(struct listener_shared *shared, struct worker *worker, uint32_t index,
                          const tr_address *peer)
{
    atom32_fetch_sub(&shared->counts[index], 1, ATOM_RELAXED);
    atom32_fetch_sub(&shared->total, 1, ATOM_SEQ_CST); /* pairs with accept_all */
    tr__listener_uncount_peer(shared, peer);
    if (!atom32_load(&shared->is_full, ATOM_SEQ_CST) ||
        !atom32_exchange(&shared->is_full, 0, ATOM_SEQ_CST))
        return;
    struct cell *listener = slots_find(worker->slots, shared->ref);
    struct tr_listener_order_ order = {.what = ORDER_LOOK};
    struct address address = {.kind = ENVELOPE_NOTICE, .to = shared->ref};
    struct envelope *envelope;
    if (!listener ||
        tr__mail_new(&worker->pool, address, &tr_type_tr_listener_order_, &order, &envelope) !=
            TR_OK)
        /*
         * no listener, or out of memory for the order; a listener looks by itself after
         * FULL_AGAIN_NS
         */
        return;
    if (tr__mail_send_now(worker, listener, envelope) != TR_OK)
        envelope_give(&worker->pool, envelope);
}

void tr__session_uncount(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct listener_shared *shared = channel->endpoint->listener;
    if (!channel_has(channel, CHANNEL_COUNTED))
        return;
    channel->flags &= ~(uint32_t)CHANNEL_COUNTED;
    tr__listener_uncount(
        shared, channel->worker, channel->listener_worker, &channel->rare->accepted_from);
    tr__listener_shared_drop(shared);
}

/* ---- Decks. ---- */

struct deck {
    struct listener_shared *shared;
};

static void deck_end(void *shared)
{
    tr__listener_shared_drop(shared);
}

static tr_next deck_set_up(tr_self *self, struct deck *deck, const struct tr_deck_open_ *message)
{
    deck->shared = (struct listener_shared *)(uintptr_t)message->shared;
    tr__listener_share(deck->shared);
    tr_at_end(self, deck->shared, deck_end);
    return TR_SAME;
}

/* Starts the actor of a channel. */
static tr_status session_spawn(tr_self *self, struct listener_shared *shared,
                               struct channel *channel, tr_error *error)
{
    struct worker *worker = self->worker;
    uint64_t bits = channel_bits(channel);
    uint64_t ref;
    tr_spawn_args args = {.size = sizeof args,
                          .behavior = shared->behavior,
                          .worker = -1,
                          .setup_type = shared->setup_type,
                          .setup = shared->setup,
                          .error = error};
    worker->channels.newborn = channel;
    tr_status status = tr_self_try_spawn(self, &args, &ref);
    bool was_born = !worker->channels.newborn;
    worker->channels.newborn = NULL;
    channel = tr__table_find(worker->system, bits);
    bool has_no_actor = channel && !channel->cell && channel->state == CHANNEL_DIALING &&
                        !channel_has(channel, CHANNEL_CLOSES_OPENED);
    if (!was_born || has_no_actor) {
        if (channel)
            tr__channel_free(channel);
        if (status == TR_OK) {
            tr_kill(self, tr_ref_from_bits(ref));
            status = TR_NO_MEMORY;
        }
    }
    return status;
}

static tr_next on_accepted(tr_self *self, struct deck *deck, const struct tr_accepted_ *message)
{
    struct listener_shared *shared = deck->shared;
    struct worker *worker = self->worker;
    struct accepted accepted =
        tr__accepted_take(shared, (struct accepted *)(uintptr_t)message->accepted);
    struct channel *channel;
    tr_error error = {.status = TR_OK};
    tr_status status = tr__connection_make(worker, shared, &accepted, &channel);
    if (status != TR_OK) {
        tr__listener_uncount(shared, worker, accepted.worker, &accepted.peer);
        tr_log_warn(self, "a connection was closed: %s", tr_status_text(status));
        return TR_SAME;
    }
    TR_ASSERT(channel->endpoint->listener == shared);
    tr__listener_share(shared);
    channel->flags |= CHANNEL_COUNTED;
    channel->listener_worker = (uint16_t)accepted.worker;
    uint64_t bits = channel_bits(channel);
    status = session_spawn(self, shared, channel, &error);
    if (status != TR_OK)
        tr_log_warn(self,
                    "a session did not start: %s: %s",
                    tr_status_name(status),
                    error.status ? error.text : tr_status_text(status));
    /* The set-up of the session may have closed the channel. */
    channel = tr__table_find(worker->system, bits);
    if (channel && channel->state == CHANNEL_DIALING)
        tr__connection_begin(channel);
    return TR_SAME;
}

static tr_directive stop_session(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    return TR_STOP_CHILD;
}

TR_BEHAVIOR(tr_deck, struct deck, TR_SETUP_WITH(tr_deck_open_, deck_set_up),
            TR_ON(tr_accepted_, on_accepted), TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = stop_session),
            TR_OPTIONS(.is_pinned = true));

/* ---- Listeners. ---- */

struct listener {
    struct listener_shared *shared;
    tr_channel channel;
    /*
     * counts the choices of a worker or of a group's member, and decides where the next choice
     * begins
     */
    uint32_t turn;
    bool is_paused;
    tr_time logged_ns;
    tr_deck_ref *decks; /* the decks by worker; a ref to no actor: the deck was not made yet */
};

static void listener_end(void *data)
{
    struct listener_shared *shared = data;
    /* the decks have ended already, so reset the connections that were on their way to one */
    tr__accepted_reset(shared);
    tr__listener_hide(shared);
    tr__listener_shared_drop(shared);
}

static tr_next listener_set_up(tr_self *self, struct listener *listener,
                               const struct tr_listener_open_ *message)
{
    const tr_platform *platform = self->worker->loop.platform;
    struct listener_shared *shared = (struct listener_shared *)(uintptr_t)message->shared;
    struct channel *channel;
    shared->has_socket = true;
    tr_status status =
        tr__channel_new(self->worker, self->cell, CHANNEL_LISTENER, shared->endpoint, &channel);
    if (status == TR_OK) {
        tr__channel_change(channel, CHANNEL_OPEN);
        /* reserve the timer now, so that a pause needs no memory later */
        status = tr__deadline_reserve(channel);
    }
    if (status == TR_OK)
        status = tr__channel_watch(channel, message->fd);
    if (status != TR_OK) {
        platform->socket_close(platform, message->fd, false);
        return tr_fail(self, status, "cannot watch a listener: %s", tr_status_text(status));
    }
    listener->shared = tr__listener_share(shared);
    shared->ref = self->cell->identity;
    tr__listener_show(shared);
    tr_at_end(self, shared, listener_end);
    listener->channel = (tr_channel){channel_bits(channel)};
    listener->decks = tr_alloc(self, shared->worker_count * sizeof *listener->decks);
    memset(listener->decks, 0, shared->worker_count * sizeof *listener->decks);
    return TR_SAME;
}

/*
 * Returns the worker with the fewest sessions among the first `open` workers. Workers with equally
 * few sessions get connections in turn.
 */
static uint32_t choose(struct listener *listener, uint32_t open)
{
    const struct listener_shared *shared = listener->shared;
    uint32_t best = listener->turn++ % open;
    uint32_t fewest = atom32_load(&shared->counts[best], ATOM_RELAXED);
    for (uint32_t i = 1; i < open; i++) {
        uint32_t worker = (best + i) % open;
        uint32_t count = atom32_load(&shared->counts[worker], ATOM_RELAXED);
        if (count < fewest) {
            best = worker;
            fewest = count;
            i = 0;
            if (!fewest)
                break;
        }
    }
    return best;
}

/* Finds the deck of a worker, and makes it if there is none. */
static tr_status deck_find(tr_self *self, struct listener *listener, uint32_t worker)
{
    tr_deck_ref *deck = &listener->decks[worker];
    if (!tr_is_nobody(*deck))
        return TR_OK;
    char name[24];
    struct tr_deck_open_ open = {.shared = (uintptr_t)listener->shared};
    snprintf(name, sizeof name, "deck-%u", (unsigned)worker);
    tr_spawn_args args = {.size = sizeof args,
                          .behavior = &tr_behavior_tr_deck,
                          .name = name,
                          .worker = (int)worker,
                          .setup_type = &tr_type_tr_deck_open_,
                          .setup = &open};
    tr_status status = tr_self_try_spawn(self, &args, &deck->bits);
    if (status == TR_OK)
        status = tr_try_watch(self, *deck);
    if (status != TR_OK && deck->bits) {
        tr_kill(self, *deck);
        *deck = (tr_deck_ref){0};
    }
    return status;
}

/*
 * Called when a deck has ended because it could not start. Resets its connections. The next
 * connection for that worker makes another deck.
 */
static tr_next on_deck_end(tr_self *self, struct listener *listener,
                           const struct tr_terminated *message)
{
    struct listener_shared *shared = listener->shared;
    const tr_platform *platform = self->worker->loop.platform;
    struct accepted *lost;
    for (uint32_t worker = 0; worker < shared->worker_count; worker++) {
        if (listener->decks[worker].bits != message->who.bits)
            continue;
        listener->decks[worker] = (tr_deck_ref){0};
        while ((lost = tr__accepted_find(shared, worker))) {
            struct accepted taken = tr__accepted_take(shared, lost);
            platform->socket_close(platform, taken.fd, true);
            tr__listener_uncount(shared, self->worker, worker, &taken.peer);
        }
    }
    return TR_SAME;
}

/* Passes a connection to a deck. The connection is already counted. */
static void hand_to_deck(tr_self *self, struct listener *listener, uint32_t worker, int fd,
                         tr_address peer)
{
    struct listener_shared *shared = listener->shared;
    const tr_platform *platform = self->worker->loop.platform;
    struct accepted *accepted = tr__accepted_new(shared, fd, worker, &peer);
    tr_status status = accepted ? deck_find(self, listener, worker) : TR_NO_MEMORY;
    if (status == TR_OK)
        status =
            tr_tell(self, listener->decks[worker], tr_accepted_, .accepted = (uintptr_t)accepted);
    if (status == TR_OK)
        return;
    if (accepted)
        (void)tr__accepted_take(shared, accepted);
    platform->socket_close(platform, fd, true);
    tr__listener_uncount(shared, self->worker, worker, &peer);
    tr_log_warn(self, "a connection was closed: %s", tr_status_text(status));
}

/*
 * Handles the answer of the actor that was offered a connection. If the actor has not accepted the
 * connection, closes it.
 */
static tr_next on_offered(tr_self *self, struct listener *listener,
                          const tr_connection_answer *answer)
{
    tr__offer_end(self, listener->shared, (uintptr_t)answer->context, answer->status);
    return TR_SAME;
}

TR_THEN(offered, tr_connection, struct listener, on_offered);

/* Offers a connection to an actor. The connection is already counted. */
static void offer(tr_self *self, struct listener *listener, int fd, tr_address peer)
{
    struct listener_shared *shared = listener->shared;
    const tr_platform *platform = self->worker->loop.platform;
    struct accepted *accepted = tr__accepted_new(shared, fd, 0, &peer);
    if (!accepted) {
        platform->socket_close(platform, fd, true);
        tr__listener_uncount(shared, self->worker, 0, &peer);
        return;
    }
    uint64_t number = accepted->number;
    struct tr_connection request = {
        .peer = peer, .listener = tr_ref_from_bits(shared->ref), .number = number};
    tr_status status = tr_self_try_ask_then(self,
                                            &tr_then_offered,
                                            (void *)(uintptr_t)number,
                                            tr__offer_choose(self, shared, listener->turn++),
                                            &request,
                                            shared->endpoint->options.connect_ns);
    if (status != TR_OK)
        tr__offer_end(self, shared, number, status);
}

/* Makes a listener accept nothing for `ns`. Needs no memory. */
static void pause_for(struct channel *channel, tr_time ns)
{
    channel->flags |= CHANNEL_PAUSED;
    channel->deadline_ns = timer_deadline(channel->worker->loop.now_ns, ns);
    tr__channel_arm(channel);
}

void tr__listener_again(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    channel->deadline_ns = TR_NEVER;
    channel->flags &= ~(uint32_t)CHANNEL_PAUSED;
    tr__channel_call(channel);
}

/* Logs why connections cannot be accepted, and tries again later. */
static void wait_to_accept(tr_self *self, struct listener *listener, struct channel *channel,
                           tr_status status)
{
    tr_time now = tr_now(self);
    pause_for(channel, ACCEPT_AGAIN_NS);
    if (listener->logged_ns && now - listener->logged_ns < ACCEPT_LOG_NS)
        return;
    listener->logged_ns = now;
    tr_log_warn(self,
                "no connections are accepted: %s",
                status == TR_LIMIT ? "the process has no file descriptors left"
                                   : tr_status_text(status));
}

/*
 * Accepts up to ACCEPTS_MAX connections. Counts each as a turn, so that a run of the listener does
 * not become too long.
 */
static void accept_all(tr_self *self, struct listener *listener, struct channel *channel)
{
    struct listener_shared *shared = listener->shared;
    const tr_platform *platform = self->worker->loop.platform;
    uint32_t max = shared->endpoint->options.connections_max;
    uint32_t open = system_open_workers(self->worker->system);
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        int fd;
        tr_address peer = {.family = TR_FAMILY_NONE};
        if (max && atom32_load(&shared->total, ATOM_SEQ_CST) >= max) {
            atom32_store(&shared->is_full, 1, ATOM_SEQ_CST); /* pairs with uncount */
            if (atom32_load(&shared->total, ATOM_SEQ_CST) >= max) {
                pause_for(channel, FULL_AGAIN_NS);
                return;
            }
        }
        tr_status status = platform->socket_accept(platform, channel->fd, &fd, &peer);
        self->turns++;
        if (status == TR_RESET)
            continue;
        if (status == TR_WOULD_BLOCK) {
            channel->flags &= ~(uint32_t)CHANNEL_READABLE;
            return;
        }
        if (status != TR_OK) {
            wait_to_accept(self, listener, channel, status);
            return;
        }
        if (!tr__listener_count_peer(shared, &peer)) {
            platform->socket_close(platform, fd, true);
            continue;
        }
        bool is_offered = shared->endpoint->options.accepted_by.bits;
        uint32_t worker = is_offered ? 0 : choose(listener, open);
        atom32_fetch_add(&shared->counts[worker], 1, ATOM_RELAXED);
        atom32_fetch_add(&shared->total, 1, ATOM_RELAXED);
        if (is_offered)
            offer(self, listener, fd, peer);
        else
            hand_to_deck(self, listener, worker, fd, peer);
    }
}

/*
 * Whether the system stops, so that no connection is accepted any more. The listener will be closed
 * soon.
 */
static bool is_over(const struct worker *worker)
{
    return atom32_load(&worker->system->ending.is_stopping, ATOM_RELAXED);
}

static tr_next on_acceptable(tr_self *self, struct listener *listener,
                             const struct tr_acceptable_ *message)
{
    struct channel *channel;
    if (tr__channel_of(self, message->channel, &channel) != TR_OK)
        return TR_SAME;
    if (listener->is_paused || is_over(self->worker))
        channel->flags |= CHANNEL_PAUSED;
    else
        accept_all(self, listener, channel);
    return TR_SAME;
}

static tr_next on_order(tr_self *self, struct listener *listener,
                        const struct tr_listener_order_ *message)
{
    struct channel *channel;
    if (message->what != ORDER_LOOK) {
        listener->is_paused = message->what == ORDER_PAUSE;
        atom32_store(&listener->shared->is_paused, listener->is_paused, ATOM_RELAXED);
    }
    if (tr__channel_of(self, listener->channel, &channel) == TR_OK)
        tr__listener_again(channel);
    return TR_SAME;
}

TR_BEHAVIOR(tr_listener, struct listener, TR_SETUP_WITH(tr_listener_open_, listener_set_up),
            TR_ON(tr_acceptable_, on_acceptable), TR_ON(tr_listener_order_, on_order),
            TR_ON(tr_terminated, on_deck_end), TR_SUPERVISE(TR_ONE_FOR_ONE),
            TR_OPTIONS(.is_pinned = true, .restart = TR_TEMPORARY));
