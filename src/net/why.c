/* SPDX-License-Identifier: Apache-2.0 */
#include "net/why.h"

#include <stdio.h>
#include <string.h>

#include "actor/ask/turn_asks.h"
#include "actor/verbs/why.h"
#include "net/exchange.h"
#include "net/net_cell.h"
#include "net/peer.h"
#include "net/table.h"
#include "base/assert.h"

/*
 * OUTPUT_MAX: the most bytes that print_output writes, with the longest name and the largest
 * numbers.
 */
enum { NAME_MAX = TR_ADDRESS_TEXT_MAX + 1, OUTPUT_MAX = NAME_MAX + 100, WRITERS_TOLD_MAX = 4 };

/*
 * Writes a name for a channel: the address of the other side, or, if that is not known, the address
 * of the endpoint.
 */
static const char *name_of(const struct channel *channel, char name[NAME_MAX])
{
    tr_address peer = tr__channel_peer(channel);
    if (peer.family == TR_FAMILY_V4 || peer.family == TR_FAMILY_V6)
        return tr_address_print(&peer, name);
    snprintf(name, NAME_MAX, "%s", channel->endpoint->options.address);
    return name;
}

static bool is_in(const struct channel_waits *waits, const struct tr_self *turn)
{
    const struct channel_wait *wait = waits->first;
    while (wait && wait->self != turn) {
        wait = LIST_OWNER(wait->link.next, const struct channel_wait, link);
        if (wait == waits->first)
            return false;
    }
    return wait;
}

/* ---- Turns. ---- */

/* Returns how long the other side has taken no byte of the output, in ms. */
static long long silent_ms(const struct channel *channel)
{
    tr_time silent_ns = channel->worker->loop.now_ns - channel->work->output.since_ns;
    return (long long)((silent_ns > 0 ? silent_ns : 0) / TR_MILLISECOND);
}

static void print_output(const struct channel *channel, const char *name, char *words, size_t size)
{
    if (channel->work->output.held)
        snprintf(words,
                 size,
                 "%zu bytes for %s wait, of which %zu for the disk",
                 channel->work->output.size,
                 name,
                 channel->work->output.held);
    else
        snprintf(words,
                 size,
                 "%zu bytes for %s wait, which has taken none for %lld ms",
                 channel->work->output.size,
                 name,
                 silent_ms(channel));
}

/* Whether the turn waits for the reply of an exchange, or for tr_readable or tr_writable. */
static bool has_exchange(const struct channel *channel, const struct tr_self *turn)
{
    const struct ask *ask;
    TURN_EACH_ASK (ask, at, turn) {
        if (ask->is_wanted && !ask->is_done && tr__exchange_is_here(channel, ask->id))
            return true;
    }
    return false;
}

int tr__net_why_turn(const struct tr_self *turn, char *words, size_t size)
{
    TR_ASSERT_SLOW(turn_is_mine(turn));
    char name[NAME_MAX];
    char output[OUTPUT_MAX];
    LIST_EACH (link, &net_cell_of(turn->cell)->channels) {
        const struct channel *channel = LIST_OWNER(link, struct channel, link);
        bool is_dialing = channel->state == CHANNEL_DIALING || channel->kind == CHANNEL_ATTEMPT;
        bool reads = is_in(&channel->readers, turn);
        if (reads && is_dialing)
            snprintf(words, size, "waits until %s is open", name_of(channel, name));
        else if (reads)
            snprintf(words, size, "waits to read from %s", name_of(channel, name));
        else if (has_exchange(channel, turn))
            snprintf(words, size, "waits for an answer from %s", name_of(channel, name));
        else if (is_in(&channel->writers, turn)) {
            print_output(channel, name_of(channel, name), output, sizeof output);
            snprintf(words, size, "waits to write: %s", output);
            return TR_WHY_WRITES;
        } else
            continue;
        return TR_WHY_READS;
    }
    return -1;
}

/* ---- Long turns. ---- */

/*
 * What another thread may read of a channel, to show it to a person; see rule 3 of
 * actor/cell/view.h.
 */
struct glance {
    uint32_t flags;
    int fd;
    union channel_peer peer;
};

__attribute__((__noinline__, __no_sanitize__("thread"))) static struct glance glance(
    const struct channel *channel)
{
    return (struct glance){channel->flags, channel->fd, channel->peer};
}

uint32_t tr__net_view(struct tr_system *system, uint64_t actor, char *text)
{
    uint32_t count;
    const struct channel *channel = tr__table_find_owned(system, actor, &count);
    tr_address peer = {.family = TR_FAMILY_NONE};
    text[0] = '\0';
    if (!channel)
        return count;
    struct glance seen = glance(channel);
    if (seen.flags & CHANNEL_PEER_V4) {
        peer.family = TR_FAMILY_V4;
        peer.port = seen.peer.v4.port;
        memcpy(peer.host, seen.peer.v4.host, sizeof seen.peer.v4.host);
    } else if (seen.fd >= 0) {
        (void)system->platform->socket_address(system->platform, seen.fd, true, &peer);
    }
    if (peer.family == TR_FAMILY_V4 || peer.family == TR_FAMILY_V6)
        tr_address_print(&peer, text);
    return count;
}

/* ---- Channels. ---- */

static void add_channel(const struct channel *channel, tr_why_report *report)
{
    char name[NAME_MAX];
    char output[OUTPUT_MAX] = "the other side has not closed";
    bool is_lingering = channel->state == CHANNEL_LINGERING;
    if (channel->work->output.size)
        print_output(channel, name_of(channel, name), output, sizeof output);
    tr_time age_ns = channel->work->output.size
                         ? channel->worker->loop.now_ns - channel->work->output.since_ns
                         : -1;
    tr_reason *reason = tr__why_add(
        report,
        is_lingering ? TR_WHY_LINGERS : TR_WHY_WRITES,
        0,
        age_ns,
        "%s%s%s",
        is_lingering ? "a closed channel lingers: " : "",
        output,
        channel_has(channel, CHANNEL_CLOSES_OPENED) ? "; it was closed before it was open" : "");
    if (reason)
        reason->count =
            (uint32_t)(channel->work->output.size < UINT32_MAX ? channel->work->output.size
                                                               : UINT32_MAX);
}

void tr__net_why(struct worker *worker, struct cell *cell, struct tr_why_report *report)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    (void)worker;
    int told = 0;
    LIST_EACH (link, &net_cell_of(cell)->channels) {
        const struct channel *channel = LIST_OWNER(link, struct channel, link);
        bool is_up = channel->state != CHANNEL_ENDED && channel->kind == CHANNEL_STREAM;
        bool waits = channel->state == CHANNEL_LINGERING ||
                     (channel->work->output.size && waits_are_empty(&channel->writers));
        if (!is_up || !waits || told == WRITERS_TOLD_MAX)
            continue;
        add_channel(channel, report);
        told++;
    }
}
