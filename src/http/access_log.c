/* SPDX-License-Identifier: Apache-2.0 */
#include "http/access_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actor/cell/log.h"
#include "actor/cell/names.h"
#include "actor/cell/system.h"
#include "base/assert.h"
#include "http/id.h"
#include "net/peer.h"

/* Longer methods and paths are cut, so that the other parts of the line always fit. */
enum { METHOD_MAX = 32, TARGET_MAX = 600, NOTE_MAX = METHOD_MAX + TARGET_MAX + 2 };
static_assert(NOTE_MAX + TR_ADDRESS_TEXT_MAX + HTTP_ID_MAX + 64 < TR_LOG_MAX, "a line fits");

int tr__http_logged_size(const char *target)
{
    return (int)strcspn(target, "?");
}

void tr__http_access_note(struct http_request *request)
{
    if (!request->site->options.logs)
        return;
    /* if the head could not be read, the method and the target may be missing */
    const char *method = request->head.method ? request->head.method : "-";
    const char *target = request->head.target ? request->head.target : "-";
    int size = tr__http_logged_size(target);
    char *text = tr_scratch(request->self, NOTE_MAX);
    snprintf(text,
             NOTE_MAX,
             "%.*s %.*s",
             (int)METHOD_MAX,
             method,
             size < TARGET_MAX ? size : (int)TARGET_MAX,
             target);
    request->logged = text;
}

void tr__http_access_log(const struct http_request *request, const struct channel *channel)
{
    if (!request->logged)
        return;
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const struct tr_self *self = request->self;
    struct tr_system *system = self->worker->system;
    tr_time took_ns = self->worker->loop.now_ns - request->since_ns;
    const tr_address peer = tr__channel_peer(channel);
    char peer_text[TR_ADDRESS_TEXT_MAX];
    char path[TR_PATH_MAX + 1];
    tr__cell_path(system, self->cell, path);
    tr__log_turn(system,
                 TR_LEVEL_INFO,
                 path,
                 self->causal,
                 "%s %s %d %" PRIu64 " %" PRId64 " us%s%s",
                 tr_address_print(&peer, peer_text),
                 request->logged,
                 request->phase == ANSWER_NONE ? 0 : request->status,
                 request->sent,
                 (int64_t)(took_ns / 1000),
                 request->id ? " " : "",
                 request->id ? request->id : "");
}
