/* SPDX-License-Identifier: Apache-2.0 */
#include "net/datagram.h"

#include <string.h>
#include <troupe/net.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "net/event.h"
#include "net/held.h"
#include "net/rare.h"
#include "net/worker.h"
#include "base/assert.h"

enum {
    BATCH_MAX = 32,       /* the largest number of datagrams that one call receives or sends */
    ERRORS_MAX = 32,      /* the largest number of errors of sent datagrams that one call reads */
    FRAME_MAX = 64 * 1024 /* the largest datagram, unless .frame_max is less */
};

/*
 * The datagrams that one call has received, until they are handled. Each has a slot of `bytes` with
 * space for the largest datagram. A small datagram touches only the first page of its slot.
 * Afterwards the worker keeps this memory for the next channel that receives.
 */
struct datagrams {
    size_t next;
    size_t count;
    /*
     * how many datagrams the running turn has taken beside the first one; they do not count as
     * handled yet
     */
    size_t others;
    size_t size; /* bytes of space for each datagram */
    bool has_paths;
    /* messages for the datagrams that the running turn has taken */
    struct tr_datagram messages[BATCH_MAX];
    const void *taken[BATCH_MAX]; /* these messages */
    tr_packet packets[BATCH_MAX];
    unsigned char bytes[]; /* bytes of the datagrams, then the paths of their senders */
};

static size_t frame_max(const struct channel *channel)
{
    size_t max = channel->endpoint->options.frame_max;
    return max < FRAME_MAX ? max : FRAME_MAX;
}

/*
 * Call when the turn that has taken several datagrams has ended, or when its channel has ended.
 * Counts the datagrams beside the first one as handled, unless the turn has declined.
 */
static void others_count(struct channel *channel)
{
    struct datagrams *batch = channel->rare->datagrams;
    atom64_count(&channel->worker->counters.handled, batch->others);
    batch->others = 0;
}

static void batch_free(struct channel *channel)
{
    struct net_worker *net = channel->worker->channels.net;
    others_count(channel);
    if (net && !net->datagrams)
        net->datagrams = channel->rare->datagrams;
    else
        source_resize(&channel->worker->system->source, channel->rare->datagrams, 0);
    channel->rare->datagrams = NULL;
}

void tr__datagrams_free(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel->rare->datagrams)
        batch_free(channel);
}

bool tr__datagrams_has_some(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    return channel->rare->datagrams &&
           channel->rare->datagrams->next < channel->rare->datagrams->count;
}

/*
 * Returns the size of a slot: `size` and 320 bytes more. If the sizes of slots were powers of two,
 * the beginnings of all slots would share a few places in the processor's cache.
 */
static size_t slot_size(size_t size)
{
    return source_round(size) + 5 * 64;
}

static struct datagrams *batch_make(struct channel *channel, size_t size, bool has_paths)
{
    size_t path_size = has_paths ? TR_ADDRESS_PATH_MAX : 0;
    struct datagrams *batch =
        source_resize(&channel->worker->system->source,
                      NULL,
                      sizeof *batch + BATCH_MAX * (slot_size(size) + path_size));
    if (!batch)
        return NULL;
    batch->size = size;
    batch->has_paths = has_paths;
    char *paths = (char *)batch->bytes + BATCH_MAX * slot_size(size);
    for (size_t i = 0; i < BATCH_MAX; i++)
        batch->packets[i] = (tr_packet){.data = batch->bytes + i * slot_size(size),
                                        .capacity = size,
                                        .path = has_paths ? paths + i * path_size : NULL};
    return batch;
}

static struct datagrams *batch_new(struct channel *channel)
{
    struct net_worker *net = channel->worker->channels.net;
    size_t size = frame_max(channel);
    bool has_paths = channel->endpoint->options.kind == TR_ENDPOINT_UNIX_DATAGRAM;
    struct datagrams *batch = net->datagrams;
    net->datagrams = NULL;
    if (!batch || batch->size != size || batch->has_paths != has_paths) {
        source_resize(&channel->worker->system->source, batch, 0);
        batch = batch_make(channel, size, has_paths);
    }
    if (batch)
        batch->next = batch->count = batch->others = 0;
    return batch;
}

/*
 * Receives datagrams. If the other side has refused a datagram that was sent earlier, the kernel
 * reports that first. Counts such errors.
 */
static tr_status receive_many(struct channel *channel, struct datagrams *batch)
{
    const tr_platform *platform = channel->worker->loop.platform;
    struct channel_rare *rare = channel->rare;
    tr_status status = TR_OK;
    for (int i = 0; i < ERRORS_MAX; i++) {
        batch->count = 0;
        status = platform->socket_receive_many(
            platform, channel->fd, batch->packets, BATCH_MAX, &batch->count, &rare->datagrams_lost);
        if (status != TR_CONNECT_REFUSED && status != TR_UNREACHABLE)
            break;
        rare->datagrams_refused++;
    }
    return status;
}

/*
 * Receives the datagrams that have come. Returns false if there are none. Also returns false if
 * they cannot be received, for example because memory is missing; then the loop tries again soon.
 */
static bool receive(struct channel *channel)
{
    struct datagrams *batch = tr__rare_of(channel) ? batch_new(channel) : NULL;
    tr_status status = batch ? receive_many(channel, batch) : TR_NO_MEMORY;
    bool has_some = status == TR_OK && batch->count;
    if (status == TR_WOULD_BLOCK || (status == TR_OK && batch->count < BATCH_MAX))
        /* there are no datagrams now; an event of the socket will report the next one */
        channel->flags &= ~(uint32_t)CHANNEL_READABLE;
    else if (!has_some)
        /* there may be no further event of the socket, so let the loop try again */
        tr__channel_starve(channel);
    if (batch)
        channel->rare->datagrams = batch;
    if (batch && !has_some)
        batch_free(channel);
    return has_some;
}

/* Makes a message of the next datagram. */
static struct tr_datagram *message_next(struct channel *channel, struct datagrams *batch)
{
    size_t i = batch->next++;
    const tr_packet *packet = &batch->packets[i];
    size_t size = packet->size < packet->capacity ? packet->size : packet->capacity;
    batch->messages[i] = (struct tr_datagram){.channel = {channel_bits(channel)},
                                              .from = packet->address,
                                              .bytes = {packet->data, size},
                                              .is_cut = packet->size > packet->capacity};
    batch->taken[i] = &batch->messages[i];
    return &batch->messages[i];
}

bool tr__datagram_put(struct tr_self *self, struct channel *channel, struct envelope *envelope)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct worker *worker = self->worker;
    if (channel->state != CHANNEL_OPEN)
        return false;
    if (!dispatch_find(&worker->dispatches, channel->cell->dispatch, &tr_type_tr_datagram))
        return false;
    if (!tr__datagrams_has_some(channel) &&
        !(channel_has(channel, CHANNEL_READABLE) && receive(channel)))
        return false;
    tr__event_lend(envelope, &tr_type_tr_datagram, message_next(channel, channel->rare->datagrams));
    return true;
}

const void *const *tr__datagrams_batch(struct tr_self *self, size_t max, size_t *count)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    const struct envelope *envelope = self->envelope;
    struct worker *worker = self->worker;
    if (envelope->type != &tr_type_tr_datagram || envelope->block_class != ENVELOPE_LENT || max < 2)
        return NULL;
    struct channel *channel = (struct channel *)(uintptr_t)envelope->sender;
    if (!tr__datagrams_has_some(channel))
        return NULL;
    struct datagrams *batch = channel->rare->datagrams;
    size_t first = batch->next - 1;
    while (batch->next < batch->count && batch->next - first < max)
        (void)message_next(channel, batch);
    /*
     * the first datagram of the turn is not in this number, because it is counted like any message
     */
    size_t more = batch->next - first - 1;
    self->turns += (uint32_t)more;
    atom64_count(&worker->counters.accepted, more);
    batch->others = more;
    *count = more + 1;
    return batch->taken + first;
}

const void *const *tr__datagrams_declined(struct tr_self *self, size_t *count)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    const struct envelope *envelope = self->envelope;
    if (envelope->type != &tr_type_tr_datagram || envelope->block_class != ENVELOPE_LENT)
        return NULL;
    const struct channel *channel = (const struct channel *)(uintptr_t)envelope->sender;
    if (!channel || !channel->rare->datagrams || !channel->rare->datagrams->others)
        return NULL;
    struct datagrams *batch = channel->rare->datagrams;
    *count = batch->others;
    batch->others = 0;
    return batch->taken + batch->next - *count;
}

void tr__datagram_done(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel->rare->datagrams)
        others_count(channel);
    if (channel->rare->datagrams && !tr__datagrams_has_some(channel))
        batch_free(channel);
}

/* ---- Verbs. ---- */

static tr_status bind_at(struct tr_self *self, struct endpoint *endpoint, struct channel **made)
{
    const tr_endpoint *options = &endpoint->options;
    const tr_platform *platform = self->worker->loop.platform;
    tr_socket_spec spec = {.size = sizeof spec,
                           .role = TR_SOCKET_BIND,
                           .is_datagram = true,
                           .reuses_port = options->reuses_port,
                           .only_v6 = options->only_v6};
    int fd;
    tr_status status = tr__endpoint_place(options, &spec);
    if (status == TR_OK)
        status = platform->socket_open(platform, &spec, &fd);
    if (status != TR_OK)
        return status;
    tr__endpoint_note_file(platform, endpoint);
    status = tr__channel_new(self->worker, self->cell, CHANNEL_DATAGRAM, endpoint, made);
    if (status == TR_OK) {
        tr__channel_change(*made, CHANNEL_OPEN);
        (*made)->flags |= CHANNEL_WRITABLE;
        status = tr__channel_watch(*made, fd);
        if (status == TR_OK)
            return TR_OK;
        tr__channel_free(*made);
    }
    platform->socket_close(platform, fd, true);
    return status;
}

tr_status tr_try_bind(tr_self *self, const tr_endpoint *at, tr_channel *channel)
{
    TURN_VERB(self);
    struct endpoint *endpoint;
    struct channel *made;
    if (!self || !channel)
        return TR_INVALID_ARGUMENT;
    const struct memory_source *source = &self->worker->system->source;
    tr_status status = tr__endpoint_new(source, at, ENDPOINT_BINDS, &endpoint);
    if (status != TR_OK)
        return status;
    if (self->cell->life >= LIFE_STOPPING)
        status = TR_STOPPING;
    if (status == TR_OK)
        status = bind_at(self, endpoint, &made);
    if (status == TR_OK)
        *channel = (tr_channel){channel_bits(made)};
    tr__endpoint_drop(source, endpoint);
    return status;
}

tr_channel tr_bind(tr_self *self, const tr_endpoint *at)
{
    TURN_VERB(self);
    tr_channel channel = {0};
    tr_status status = tr_try_bind(self, at, &channel);
    if (status != TR_OK)
        tr_crash(self,
                 status,
                 "cannot bind %s: %s",
                 at && at->address ? at->address : "no address",
                 tr_status_text(status));
    return channel;
}

/* Checks whether a datagram with these bytes can be sent to this address. */
static tr_status check(const tr_address *to, tr_bytes bytes)
{
    if (to->family == TR_FAMILY_NONE)
        /* an address without a family is that of a UNIX socket without a name */
        return TR_ADDRESS_INVALID;
    return bytes.size > TR_DATAGRAM_MAX ? TR_TOO_LARGE : TR_OK;
}

static tr_packet packet_of(const tr_address *to, tr_bytes bytes)
{
    return (tr_packet){.data = (void *)(uintptr_t)bytes.data, .size = bytes.size, .address = *to};
}

/*
 * If the other side has refused a datagram, counts that. Returns the status that the caller of a
 * send gets.
 */
static tr_status sent_with(struct channel *channel, tr_status status)
{
    bool is_refused = status == TR_CONNECT_REFUSED || status == TR_UNREACHABLE;
    if (is_refused && tr__rare_of(channel))
        channel->rare->datagrams_refused++;
    return status == TR_WOULD_BLOCK ? TR_LIMIT : status;
}

tr_status tr_send_to(tr_self *self, tr_channel handle, const tr_address *to, tr_bytes bytes)
{
    TURN_VERB(self);
    struct channel *channel;
    size_t sent = 0;
    tr_status status = tr__channel_of(self, handle, &channel);
    if (status != TR_OK)
        return status;
    if (channel->kind != CHANNEL_DATAGRAM || !to)
        return TR_INVALID_ARGUMENT;
    status = check(to, bytes);
    if (status != TR_OK)
        return status;
    if (tr__held_applies(channel))
        return tr__held_send(channel, to, bytes);
    const tr_platform *platform = self->worker->loop.platform;
    tr_packet packet = packet_of(to, bytes);
    status = platform->socket_send_many(platform, channel->fd, &packet, 1, &sent);
    return sent_with(channel, status);
}

/* Sends the first datagrams, at most BATCH_MAX. Stops at one that cannot be sent. */
static tr_status send_some(struct channel *channel, const tr_outgoing *datagrams, size_t count,
                           size_t *sent)
{
    const tr_platform *platform = channel->worker->loop.platform;
    tr_packet packets[BATCH_MAX];
    size_t ready = 0;
    tr_status status = TR_OK;
    while (status == TR_OK && ready < count && ready < BATCH_MAX) {
        const tr_outgoing *next = &datagrams[ready];
        status = check(&next->to, next->bytes);
        if (status == TR_OK)
            packets[ready++] = packet_of(&next->to, next->bytes);
    }
    *sent = 0;
    if (!ready)
        return status;
    status = platform->socket_send_many(platform, channel->fd, packets, ready, sent);
    return sent_with(channel, status);
}

static tr_status hold_first(struct channel *channel, const tr_outgoing *first, size_t *sent)
{
    tr_status status = check(&first->to, first->bytes);
    if (status == TR_OK)
        status = tr__held_send(channel, &first->to, first->bytes);
    *sent = status == TR_OK;
    return status;
}

tr_status tr_send_many(tr_self *self, tr_channel handle, const tr_outgoing *datagrams, size_t count,
                       size_t *sent)
{
    TURN_VERB(self);
    struct channel *channel;
    size_t done = 0;
    tr_status status = tr__channel_of(self, handle, &channel);
    if (status == TR_OK && (channel->kind != CHANNEL_DATAGRAM || (count && !datagrams)))
        status = TR_INVALID_ARGUMENT;
    while (status == TR_OK && done < count) {
        size_t some;
        status = tr__held_applies(channel)
                     ? hold_first(channel, datagrams + done, &some)
                     : send_some(channel, datagrams + done, count - done, &some);
        done += some;
    }
    if (sent)
        *sent = done;
    return status;
}

uint64_t tr_datagrams_lost(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    return tr__channel_of(self, handle, &channel) == TR_OK ? channel->rare->datagrams_lost : 0;
}

uint64_t tr_datagrams_refused(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    return tr__channel_of(self, handle, &channel) == TR_OK ? channel->rare->datagrams_refused : 0;
}
