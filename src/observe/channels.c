/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/channels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actor/cell/system.h"
#include "net/channel.h"
#include "net/glance.h"
#include "net/table.h"
#include "net/tls.h"
#include "os/socket_info.h"

enum {
    CHANNELS_DEFAULT = 200,
    /* How many channels an answer has at most. With this number the answer is smaller than
     * VISITOR_PAGE_MAX. */
    CHANNELS_LARGEST = 400,
    LOOKED_MAX = 65536 /* the largest number of slots that one request looks at */
};

/* A channel, and what the kernel reports about its socket. */
struct row {
    struct channel_glance glance;
    struct socket_info info;
    tr_actor_info actor;
    bool has_actor;
    bool has_info;
};

/* Fills in a row. Returns false if the channel is gone, or if the request names an actor and the
 * channel does not belong to it. */
static bool row_fill(struct visitor *visitor, uint32_t slot, tr_ref actor, struct row *row)
{
    struct tr_system *system = visitor->observer->system;
    if (!tr__channel_glance(system, slot, &row->glance) || row->glance.kind == CHANNEL_ATTEMPT ||
        (actor.bits && row->glance.owner != actor.bits))
        return false;
    /* On any other platform, `fd` is not a descriptor of this process. */
    bool is_real = system->platform == tr_platform_real();
    row->has_info = is_real && row->glance.fd >= 0 && tr__socket_info(row->glance.fd, &row->info);
    row->has_actor =
        row->glance.owner &&
        tr__observer_find(visitor->observer, tr_ref_from_bits(row->glance.owner), &row->actor);
    /* If the descriptor was closed meanwhile, the kernel may have described another socket. */
    return tr__channel_is_same(system, &row->glance);
}

/* Writes an address, or null if it is not known. */
static void address_write(struct json_line *line, const char *name, const tr_address *address,
                          const char *path)
{
    char text[TR_ADDRESS_TEXT_MAX];
    if (path && *path)
        tr__json_string(line, name, path);
    else if (address->family == TR_FAMILY_V4 || address->family == TR_FAMILY_V6)
        tr__json_string(line, name, tr_address_print(address, text));
    else
        tr__json_raw(line, name, "null");
}

static void info_write(struct json_line *line, const struct row *row)
{
    static const char *const families[] = {[SOCKET_OTHER] = "other",
                                           [SOCKET_TCP] = "tcp",
                                           [SOCKET_UDP] = "udp",
                                           [SOCKET_UNIX] = "unix"};
    static const char *const counts[] = {"received_bytes", "sent_bytes", "rtt_us", "retransmits"};
    const struct socket_info *info = &row->info;
    tr__json_string(line, "family", families[row->has_info ? info->family : SOCKET_OTHER]);
    if (!row->has_info || !info->has_counts) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            tr__json_raw(line, counts[i], "null");
    }
    if (!row->has_info) {
        tr__json_raw(line, "address", "null");
        tr__json_raw(line, "peer", "null");
        return;
    }
    address_write(line, "address", &info->here, info->here_path);
    address_write(line, "peer", &info->peer, NULL);
    tr__json_unsigned(line, "unread_bytes", info->unread);
    tr__json_unsigned(line, "unsent_bytes", info->unsent);
    if (!info->has_counts)
        return;
    tr__json_unsigned(line, "received_bytes", info->received_bytes);
    tr__json_unsigned(line, "sent_bytes", info->sent_bytes);
    tr__json_unsigned(line, "rtt_us", info->rtt_us);
    tr__json_unsigned(line, "retransmits", info->retransmits);
}

/* Returns the name of a cipher that current libraries choose. Returns NULL for any other cipher. */
static const char *cipher_name(uint16_t number)
{
    static const struct {
        uint16_t number;
        const char *name;
    } known[] = {{0x1301, "TLS_AES_128_GCM_SHA256"},
                 {0x1302, "TLS_AES_256_GCM_SHA384"},
                 {0x1303, "TLS_CHACHA20_POLY1305_SHA256"},
                 {0xc02b, "ECDHE-ECDSA-AES128-GCM-SHA256"},
                 {0xc02c, "ECDHE-ECDSA-AES256-GCM-SHA384"},
                 {0xc02f, "ECDHE-RSA-AES128-GCM-SHA256"},
                 {0xc030, "ECDHE-RSA-AES256-GCM-SHA384"},
                 {0xcca8, "ECDHE-RSA-CHACHA20-POLY1305"},
                 {0xcca9, "ECDHE-ECDSA-CHACHA20-POLY1305"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].number == number)
            return known[i].name;
    }
    return NULL;
}

/* Writes what the two sides have agreed on in the TLS handshake. */
static void secure_write(struct json_line *line, const struct channel_glance *glance)
{
    char number[8];
    uint8_t flags = glance->secure_flags;
    const char *cipher = cipher_name(glance->secure_cipher);
    const char *protocol = flags & SECURE_ALPN_H2      ? "h2"
                           : flags & SECURE_ALPN_HTTP1 ? "http/1.1"
                           : flags & SECURE_ALPN       ? "another one"
                                                       : NULL;
    (void)snprintf(number, sizeof number, "0x%04x", glance->secure_cipher);
    tr__json_string(line, "tls_version", flags & SECURE_TLS_1_3 ? "1.3" : "1.2");
    tr__json_string(line, "tls_cipher", cipher ? cipher : number);
    tr__json_string(line, "tls_alpn", protocol);
    tr__json_bool(line, "tls_resumed", flags & SECURE_RESUMED);
    tr__json_bool(line, "tls_peer_verified", flags & SECURE_PEER);
}

static void row_write(struct json_line *line, const struct row *row)
{
    static const char *const kinds[] = {[CHANNEL_STREAM] = "stream",
                                        [CHANNEL_LISTENER] = "listener",
                                        [CHANNEL_DATAGRAM] = "datagram",
                                        [CHANNEL_ATTEMPT] = "dial",
                                        [CHANNEL_EXIT] = "process",
                                        [CHANNEL_SIGNALS] = "signals"};
    static const char *const states[] = {[CHANNEL_FREE] = "free",
                                         [CHANNEL_DIALING] = "dialing",
                                         [CHANNEL_OPEN] = "open",
                                         [CHANNEL_LINGERING] = "lingering",
                                         [CHANNEL_ENDED] = "ended"};
    const struct channel_glance *glance = &row->glance;
    char bits[24];
    (void)snprintf(bits, sizeof bits, "0x%" PRIx64, glance->bits);
    bool is_known = glance->kind <= CHANNEL_SIGNALS && glance->state < CHANNEL_STATES;
    tr__json_string(line, "channel", bits);
    tr__json_string(line, "kind", is_known ? kinds[glance->kind] : "stream");
    tr__json_string(line, "state", is_known ? states[glance->state] : "open");
    tr__json_string(line, "path", row->has_actor ? row->actor.path : NULL);
    tr__json_ref(line, "ref", tr_ref_from_bits(glance->owner));
    tr__json_string(line, "behavior", row->has_actor ? row->actor.behavior : NULL);
    tr__json_bool(line, "accepted", glance->flags & (CHANNEL_ACCEPTED | CHANNEL_TAKEN));
    tr__json_bool(line, "tls", glance->is_secure);
    if (glance->is_secure && glance->secure_flags)
        secure_write(line, glance);
    bool is_sending = glance->kind == CHANNEL_STREAM &&
                      (glance->state == CHANNEL_OPEN || glance->state == CHANNEL_LINGERING);
    tr__json_bool(line, "waits_to_send", is_sending && !(glance->flags & CHANNEL_WRITABLE));
    tr__json_bool(line, "paused", glance->flags & CHANNEL_PAUSED);
    info_write(line, row);
}

void tr__verb_channels(struct visitor *visitor, const struct control_request *request)
{
    struct tr_system *system = visitor->observer->system;
    struct json_line *line = &visitor->output;
    uint32_t limit = request->limit ? request->limit : CHANNELS_DEFAULT;
    uint32_t slots = tr__channel_slots(system);
    uint32_t slot = request->after < slots ? (uint32_t)request->after : slots;
    uint32_t count = 0;
    bool has_path = request->path && *request->path;
    tr_ref actor = has_path ? tr__visitor_actor(visitor, request) : TR_NOBODY;
    struct row *row = source_resize(visitor->observer->source, NULL, sizeof *row);
    if (!row)
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the list");
    if (!row || (has_path && !actor.bits)) {
        source_resize(visitor->observer->source, row, 0);
        return;
    }
    limit = limit < CHANNELS_LARGEST ? limit : CHANNELS_LARGEST;
    slot = slot ? slot : 1;
    uint32_t end = slots - slot > LOOKED_MAX ? slot + LOOKED_MAX : slots;
    for (; slot < end && count < limit; slot++) {
        if (!row_fill(visitor, slot, actor, row))
            continue;
        tr__visitor_begin(visitor, request->id, true);
        row_write(line, row);
        tr__visitor_end(visitor);
        count++;
    }
    source_resize(visitor->observer->source, row, 0);
    tr__visitor_begin(visitor, request->id, false);
    tr__json_unsigned(line, "count", count);
    tr__json_bool(line, "more", slot < slots);
    tr__json_unsigned(line, "next", slot < slots ? slot : 0);
    tr__json_unsigned(line, "total", tr__table_count(system));
    tr__visitor_end(visitor);
}
