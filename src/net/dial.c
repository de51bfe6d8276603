/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dial.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "actor/turn/park.h"
#include "base/address.h"
#include "net/channel_end.h"
#include "net/deadline.h"
#include "net/event.h"
#include "net/filter.h"
#include "net/filters.h"
#include "net/input.h"
#include "net/names.h"
#include "net/net_cell.h"
#include "net/output.h"
#include "net/peer.h"
#include "net/protocol.h"
#include "net/proxy.h"
#include "net/secure.h"
#include "net/wait.h"
#include "base/assert.h"

/*
 * For how long an attempt to connect runs alone. After this time another attempt, with the next
 * address, begins beside it.
 */
#define ATTEMPT_NS (250 * TR_MILLISECOND)

/* The message of the event that tr_dial queues. Only a handler of the runtime gets it. */
TR_MESSAGE(tr_dialing_, (channel, channel));
const tr_type tr__dialing_type = {"tr_dialing_",
                                  tr_fields_tr_dialing_,
                                  NULL,
                                  __FILE__,
                                  __LINE__,
                                  sizeof(struct tr_dialing_),
                                  1,
                                  sizeof(tr_field),
                                  TR_ABI,
                                  true,
                                  sizeof(struct tr_dialing_),
                                  NULL,
                                  NULL};

static bool is_unix(const tr_endpoint *options)
{
    return options->kind == TR_ENDPOINT_UNIX || options->kind == TR_ENDPOINT_UNIX_DATAGRAM;
}

/* Finds the addresses of the endpoint of a channel. */
static tr_status resolve(struct tr_self *self, struct channel *channel,
                         struct name_addresses *addresses)
{
    const tr_endpoint *options = &channel->endpoint->options;
    char host[TR_HOST_MAX + 1];
    uint16_t port;
    addresses->count = 1;
    if (is_unix(options)) {
        addresses->list[0] = (tr_address){.family = TR_FAMILY_UNIX};
        return TR_OK;
    }
    if (tr_address_parse(options->address, &addresses->list[0]) == TR_OK)
        return TR_OK;
    tr_status status = tr__address_split(options->address, host, sizeof host, &port);
    return status == TR_OK ? tr__names_look_up(self, channel, host, port, addresses) : status;
}

/* ---- Attempts. ---- */

struct attempts {
    struct channel *open[TR_ADDRESSES_MAX];
    struct channel_wait waits[TR_ADDRESSES_MAX];
    size_t begun;
    size_t open_count;
    tr_time next_ns;  /* when the next attempt may begin */
    tr_status failed; /* why the last attempt has failed */
};

static tr_status attempt_open(struct tr_self *self, struct channel *channel, tr_address address,
                              struct channel **made)
{
    const tr_endpoint *options = &channel->endpoint->options;
    const tr_platform *platform = self->worker->loop.platform;
    tr_socket_spec spec = {.size = sizeof spec,
                           .role = TR_SOCKET_CONNECT,
                           .delays = options->delays,
                           .stall_ns = options->stall_ns,
                           .address = address,
                           .path = is_unix(options) ? options->address : NULL};
    int fd = -1;
    if (options->source && tr_address_parse(options->source, &spec.source) != TR_OK)
        return TR_ADDRESS_INVALID;
    tr_status status = platform->socket_open(platform, &spec, &fd);
    if (status != TR_OK && status != TR_WOULD_BLOCK)
        return status;
    struct channel *attempt;
    status =
        tr__channel_new(self->worker, self->cell, CHANNEL_ATTEMPT, channel->endpoint, &attempt);
    if (status == TR_OK) {
        tr__channel_change(attempt, CHANNEL_DIALING);
        status = tr__channel_watch(attempt, fd);
        if (status == TR_OK) {
            *made = attempt;
            return TR_OK;
        }
        tr__channel_free(attempt);
    }
    platform->socket_close(platform, fd, true);
    return status;
}

static void attempt_begin(struct tr_self *self, struct channel *channel, struct attempts *attempts,
                          tr_address address)
{
    size_t i = attempts->begun++;
    attempts->next_ns = timer_deadline(clock_bound(&self->worker->clock), ATTEMPT_NS);
    tr_status status = attempt_open(self, channel, address, &attempts->open[i]);
    if (status != TR_OK) {
        attempts->open[i] = NULL;
        attempts->failed = status;
        return;
    }
    attempts->open_count++;
    attempts->waits[i].self = self;
    tr__waits_add(&attempts->open[i]->readers, &attempts->waits[i], false);
}

static void attempt_end(struct attempts *attempts, size_t i)
{
    if (!attempts->open[i])
        return;
    tr__waits_remove(&attempts->open[i]->readers, &attempts->waits[i]);
    tr__channel_free(attempts->open[i]);
    attempts->open[i] = NULL;
    attempts->open_count--;
}

/*
 * Checks the attempts that are under way. Returns the descriptor of an attempt that has connected,
 * or -1.
 */
static int attempts_look(struct attempts *attempts)
{
    for (size_t i = 0; i < attempts->begun; i++) {
        struct channel *attempt = attempts->open[i];
        if (!attempt)
            continue;
        const tr_platform *platform = attempt->worker->loop.platform;
        tr_status status = platform->socket_outcome(platform, attempt->fd);
        if (status == TR_WOULD_BLOCK)
            continue;
        int fd = status == TR_OK ? tr__channel_take_fd(attempt) : -1;
        attempt_end(attempts, i);
        if (fd >= 0)
            return fd;
        attempts->failed = status;
    }
    return -1;
}

/* Connects to one of the addresses. The channel may end meanwhile, at its deadline. */
static tr_status connect_any(struct tr_self *self, struct channel *channel,
                             const struct name_addresses *addresses, int *fd)
{
    struct attempts attempts = {.failed = TR_UNREACHABLE};
    tr_status status = TR_OK;
    *fd = -1;
    while (status == TR_OK && channel->state == CHANNEL_DIALING) {
        *fd = attempts_look(&attempts);
        if (*fd >= 0)
            break;
        bool has_more = attempts.begun < addresses->count;
        bool is_time = clock_bound(&self->worker->clock) >= attempts.next_ns;
        if (has_more && (!attempts.open_count || is_time)) {
            attempt_begin(self, channel, &attempts, addresses->list[attempts.begun]);
            continue;
        }
        if (!attempts.open_count) {
            status = attempts.failed;
            break;
        }
        struct channel_wait wait = {.self = self};
        /*
         * wait in the list of the channel too, because the deadline of the channel wakes that list
         */
        tr__waits_add(&channel->readers, &wait, false);
        status = turn_park_at(self, has_more ? attempts.next_ns : TR_NEVER, NULL);
        tr__waits_remove(&channel->readers, &wait);
        if (status == TR_TIMEOUT)
            status = TR_OK; /* the time for the next address has come */
    }
    for (size_t i = 0; i < attempts.begun; i++)
        attempt_end(&attempts, i);
    if (status == TR_OK && channel->state != CHANNEL_DIALING)
        status = channel->status == TR_OK ? TR_CANCELLED : channel->status;
    return status;
}

/* ---- Handshakes. ---- */

/*
 * Whether the actor of the channel has a handler for tr_opened. If it has none, no turn is needed.
 */
static bool wants_opened(const struct channel *channel)
{
    const struct cell *cell = channel->cell;
    return !cell || !cell->dispatch || tr__channel_handles(channel, tr__event_types.opened);
}

void tr__channel_opened(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    channel->deadline_ns = TR_NEVER;
    channel_note_active(channel);
    tr__channel_change(channel, CHANNEL_OPEN);
    if (channel_has(channel, CHANNEL_CLOSES_OPENED)) {
        channel->flags &= ~(uint32_t)CHANNEL_CLOSES_OPENED;
        tr__channel_arm(channel);
        tr__channel_close(channel); /* the channel may be freed */
        return;
    }
    if (!channel_has(channel, CHANNEL_WAITS_OPEN) && wants_opened(channel))
        channel->flags |= CHANNEL_OPENS;
    tr__waits_wake(&channel->readers);
    if (!tr__output_is_empty(channel) || channel_has(channel, CHANNEL_FINISHING))
        tr__output_touch(channel);
    if (protocol_of(channel))
        protocol_of(channel)->on_open(channel);
    tr__channel_arm(channel);
    tr__channel_call(channel);
}

/*
 * Call when the PROXY header was read. Notes the address of the client, and replaces the filter of
 * the header by the other filters of the endpoint.
 */
static tr_status header_leave(struct channel *channel)
{
    struct channel_filter *filter = &channel->rare->filter;
    const struct proxy *proxy = filter->state;
    if (proxy->source.family != TR_FAMILY_NONE) {
        tr_status status = tr__peer_set(channel, &proxy->source);
        if (status != TR_OK)
            return status;
    }
    filter->table->free(filter->state);
    filter->table = NULL;
    filter->state = NULL;
    tr_status status = tr__filters_attach(channel);
    if (status == TR_OK && !filter->table)
        return TR_OK;
    if (status == TR_OK)
        status = filter->table->begin(filter->state, &filter->out);
    return status == TR_OK ? tr__input_filter_again(channel) : status;
}

/* Whether the filter has ended its handshake, or there is no filter. */
static bool is_shaken(const struct channel_filter *filter)
{
    return !filter->table ||
           (filter->table != &tr__proxy_filter && filter->table->is_open(filter->state));
}

/* Does one step of a handshake. Returns TR_WOULD_BLOCK if more bytes must come first. */
static tr_status shake_step(struct channel *channel)
{
    const struct channel_filter *filter = &channel->rare->filter;
    if (filter->table == &tr__proxy_filter && filter->table->is_open(filter->state))
        return header_leave(channel);
    if (!channel_has(channel, CHANNEL_READABLE))
        return TR_WOULD_BLOCK;
    tr_status status = tr__input_peek(channel);
    /* After the last bytes of the handshake, TR_WOULD_BLOCK and TR_CLOSED are no errors. */
    bool is_open = filter->table->is_open(filter->state);
    bool is_all = status == TR_WOULD_BLOCK || status == TR_CLOSED;
    return is_all && is_open ? TR_OK : status;
}

void tr__channel_shake(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const struct channel_filter *filter = &channel->rare->filter;
    tr_status status = TR_OK;
    while (status == TR_OK && !is_shaken(filter))
        status = shake_step(channel);
    if (status != TR_OK && status != TR_WOULD_BLOCK) {
        tr__output_flush(channel); /* the alert */
        if (channel->state != CHANNEL_DIALING)
            return; /* the channel may be freed */
        tr__channel_end(channel, status, filter->table ? filter->table->text(filter->state) : NULL);
        return;
    }
    tr__output_flush(channel);
    if (channel->state == CHANNEL_DIALING && is_shaken(filter))
        tr__channel_opened(channel);
}

/* Begins the filter of a client, and waits until the filter is open. */
static tr_status shake(struct tr_self *self, struct channel *channel)
{
    struct channel_filter *filter = &channel->rare->filter;
    tr_status status = filter->table->begin(filter->state, &filter->out);
    if (status != TR_OK)
        return status;
    channel->flags |= CHANNEL_WRITABLE;
    tr__channel_shake(channel);
    while (channel->state == CHANNEL_DIALING) {
        status = tr__channel_park(self, channel, &channel->readers, false, NULL);
        if (status != TR_OK)
            return status;
    }
    bool is_up = channel->state == CHANNEL_OPEN || channel->state == CHANNEL_LINGERING;
    return is_up ? TR_OK : channel->status;
}

/* ---- Dialing from start to end. ---- */

/* The size of a text that says why TLS has failed: that of tr_error.text. */
enum { WHY_SIZE = 240 };

/*
 * Reads the files that TLS needs. If a file cannot be used, sets the text of the channel to the
 * reason.
 */
static tr_status prepare(struct tr_self *self, struct channel *channel)
{
    char why[WHY_SIZE] = "";
    if (channel->endpoint->options.kind != TR_ENDPOINT_TLS)
        return TR_OK;
    tr_status status = tr__secure_prepare_client(self, channel->endpoint, why, sizeof why);
    if (status != TR_TLS_FAILED)
        return status;
    tr__channel_set_text(channel, why);
    /* if a turn waits in tr_connect, do not log: that verb reports the reason */
    if (!channel_has(channel, CHANNEL_WAITS_OPEN))
        tr_log_error(self, "cannot connect to %s: %s", channel->endpoint->options.address, why);
    return status;
}

/* Opens a channel, in a turn. After an error the channel may have ended, or be left open for the
 * caller to end. */
static tr_status dial(struct tr_self *self, struct channel *channel)
{
    const tr_platform *platform = self->worker->loop.platform;
    struct name_addresses addresses;
    int fd;
    tr_status status = prepare(self, channel);
    if (status == TR_OK)
        status = resolve(self, channel, &addresses);
    if (status == TR_OK)
        status = connect_any(self, channel, &addresses, &fd);
    if (status != TR_OK)
        return status;
    status = tr__channel_watch(channel, fd);
    if (status != TR_OK) {
        platform->socket_close(platform, fd, true);
        return status;
    }
    channel->flags |= CHANNEL_WRITABLE;
    status = tr__filters_attach(channel);
    if (status != TR_OK)
        return status;
    if (channel->rare->filter.table)
        return shake(self, channel);
    tr__channel_opened(channel);
    return TR_OK;
}

static tr_next on_dialing(tr_self *self, void *state, const void *data)
{
    (void)state;
    const struct tr_dialing_ *message = data;
    struct channel *channel;
    if (tr__channel_of(self, message->channel, &channel) != TR_OK)
        return TR_SAME;
    tr_status status = dial(self, channel);
    /* Find the channel again, because it may have ended meanwhile. */
    if (status != TR_OK && tr__channel_of(self, message->channel, &channel) == TR_OK)
        tr__channel_end(channel, status, NULL);
    return TR_SAME;
}

const tr_handler tr__dial_handler = {
    .type = &tr__dialing_type, .call = on_dialing, .name = "tr_dial"};

static tr_status channel_begin(struct tr_self *self, const tr_endpoint *to, struct channel **made)
{
    struct worker *worker = self->worker;
    struct endpoint *endpoint;
    tr_status status = tr__endpoint_new(&worker->system->source, to, ENDPOINT_CONNECTS, &endpoint);
    if (status != TR_OK)
        return status;
    if (self->cell->life >= LIFE_STOPPING)
        status = TR_STOPPING;
    if (status == TR_OK)
        status = tr__channel_new(worker, self->cell, CHANNEL_STREAM, endpoint, made);
    if (status == TR_OK) {
        struct channel *channel = *made;
        tr__channel_change(channel, CHANNEL_DIALING);
        channel->deadline_ns =
            timer_deadline(clock_bound(&worker->clock), endpoint->options.connect_ns);
        status = tr__deadline_reserve(channel);
        if (status == TR_OK)
            tr__channel_arm(channel);
        else
            tr__channel_free(channel);
    }
    tr__endpoint_drop(&worker->system->source, endpoint);
    return status;
}

/*
 * Connects, and waits until the channel is open. If this returns TR_TLS_FAILED, `why` has the
 * reason, or is empty if memory was missing.
 */
static tr_status connect_wait(struct tr_self *self, const tr_endpoint *to, tr_channel *channel,
                              char why[static WHY_SIZE])
{
    struct channel *made;
    why[0] = '\0';
    if (!self || !channel)
        return TR_INVALID_ARGUMENT;
    tr_status status = turn_may_park(self);
    if (status == TR_OK)
        status = channel_begin(self, to, &made);
    if (status != TR_OK)
        return status;
    tr_channel handle = {channel_bits(made)};
    made->flags |= CHANNEL_WAITS_OPEN;
    status = dial(self, made);
    if (tr__channel_of(self, handle, &made) != TR_OK)
        return status == TR_OK ? TR_CANCELLED : status;
    made->flags &= ~(uint32_t)CHANNEL_WAITS_OPEN;
    if (status != TR_OK) {
        if (status == TR_TLS_FAILED && made->rare->text)
            (void)snprintf(why, WHY_SIZE, "%s", made->rare->text);
        tr__channel_free(made);
        return status;
    }
    *channel = handle;
    tr__channel_call(made); /* bytes may have come already, so look for them */
    return TR_OK;
}

tr_status tr_try_connect(tr_self *self, const tr_endpoint *to, tr_channel *channel)
{
    TURN_VERB(self);
    char why[WHY_SIZE];
    tr_status status = connect_wait(self, to, channel, why);
    if (why[0])
        tr_log_warn(self, "cannot connect to %s: %s", to->address, why);
    return status;
}

tr_channel tr_connect(tr_self *self, const tr_endpoint *to)
{
    TURN_VERB(self);
    tr_channel channel = {0};
    char why[WHY_SIZE];
    tr_status status = connect_wait(self, to, &channel, why);
    if (status != TR_OK)
        tr_crash(self,
                 status,
                 "cannot connect to %s: %s",
                 to && to->address ? to->address : "nowhere",
                 why[0] ? why : tr_status_text(status));
    return channel;
}

tr_channel tr_dial(tr_self *self, const tr_endpoint *to)
{
    TURN_VERB(self);
    struct channel *channel;
    tr_status status = channel_begin(self, to, &channel);
    if (status != TR_OK)
        tr_crash(self,
                 status,
                 "cannot dial %s: %s",
                 to && to->address ? to->address : "nowhere",
                 tr_status_text(status));
    channel->flags |= CHANNEL_DIALED;
    tr__channel_call(channel);
    return (tr_channel){channel_bits(channel)};
}

/* ---- What a program can ask about a channel. ---- */

const char *tr__channel_protocol(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    return tr__secure_protocol(channel);
}

tr_address tr_channel_peer(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    bool is_mine = tr__channel_of(self, handle, &channel) == TR_OK;
    return is_mine ? tr__channel_peer(channel) : (tr_address){.family = TR_FAMILY_NONE};
}

tr_address tr_channel_address(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    tr_address address = {.family = TR_FAMILY_NONE};
    const tr_platform *platform = self->worker->loop.platform;
    if (tr__channel_of(self, handle, &channel) == TR_OK && channel->fd >= 0)
        (void)platform->socket_address(platform, channel->fd, false, &address);
    if (address.family == TR_FAMILY_UNIX && channel->kind == CHANNEL_DATAGRAM)
        /* a UNIX socket has the path to which it was bound */
        address.path = channel->endpoint->options.address;
    return address;
}

const char *tr_address_text(tr_self *self, tr_address address)
{
    TURN_VERB(self);
    return tr_address_print(&address, tr_scratch(self, TR_ADDRESS_TEXT_MAX));
}

tr_channel tr_peer(const tr_self *self)
{
    TURN_VERB(self);
    const struct net_cell *record = net_cell_of(self->cell);
    return (tr_channel){record ? record->peer : 0};
}

const char *tr_peer_name(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    if (tr__channel_of(self, handle, &channel) != TR_OK)
        return NULL;
    const char *name = tr__secure_peer_name(channel);
    return name ? tr_format(self, "%s", name) : NULL;
}

const char *tr_peer_protocol(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    if (tr__channel_of(self, handle, &channel) != TR_OK)
        return NULL;
    const char *protocol = tr__channel_protocol(channel);
    return protocol ? tr_format(self, "%s", protocol) : NULL;
}
