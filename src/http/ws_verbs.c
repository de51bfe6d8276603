/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs that send on WebSockets, and the verb that closes one. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <troupe/http.h>

#include "actor/cell/verb.h"
#include "http/ws_session.h"
#include "net/write.h"

/* Finds the WebSocket to which this turn wants to write. */
static tr_status websocket_find(struct tr_self *self, tr_channel handle, struct channel **found)
{
    tr_status status = tr__writable(self, handle, found);
    if (status != TR_OK)
        return status;
    return ws_session_of(*found) ? TR_OK : TR_INVALID_TRANSITION;
}

tr_status tr_ws_send(tr_self *self, tr_channel channel, tr_bytes bytes, bool is_text)
{
    TURN_VERB(self);
    struct channel *found;
    tr_status status = websocket_find(self, channel, &found);
    if (status != TR_OK)
        return status;
    if (bytes.size > TR_PAYLOAD_MAX || (is_text && !tr__ws_text_is_valid(bytes)))
        return TR_INVALID_ARGUMENT;
    return tr__ws_write(self, found, is_text ? WS_OP_TEXT : WS_OP_BINARY, bytes);
}

tr_status tr_ws_binary(tr_self *self, tr_channel channel, tr_bytes bytes)
{
    TURN_VERB(self);
    return tr_ws_send(self, channel, bytes, false);
}

tr_status tr_ws_text(tr_self *self, tr_channel channel, const char *text)
{
    TURN_VERB(self);
    return tr_ws_send(self, channel, (tr_bytes){text, strlen(text)}, true);
}

tr_status tr_ws_print(tr_self *self, tr_channel channel, const char *format, ...)
{
    TURN_VERB(self);
    char few[TEXT_FEW];
    tr_bytes text;
    va_list arguments;
    va_start(arguments, format);
    tr_status status = tr__text_format(self, few, format, arguments, &text);
    va_end(arguments);
    return status == TR_OK ? tr_ws_send(self, channel, text, true) : status;
}

void tr_ws_close(tr_self *self, tr_channel channel, int code, const char *words)
{
    TURN_VERB(self);
    struct channel *found;
    if (code < 0 || !tr__ws_code_is_valid((unsigned)code))
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_ws_close: %d is no code of a close", code);
    if (websocket_find(self, channel, &found) != TR_OK)
        return;
    tr_bytes reason = words ? (tr_bytes){words, strlen(words)} : (tr_bytes){"", 0};
    (void)tr__ws_write_last(found, (unsigned)code, reason);
    tr_close(self, channel);
}
