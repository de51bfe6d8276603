/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs of WebSockets that send, and the one that closes. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <troupe/http.h>

#include "actor/cell/verb.h"
#include "http/ws_session.h"
#include "net/write.h"

/* Finds a WebSocket to which this turn may write. */
static tr_status find(struct tr_self *self, tr_channel handle, struct channel **found)
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
    unsigned char head[WS_HEADER_MAX];
    tr_status status = find(self, channel, &found);
    if (status != TR_OK)
        return status;
    if (bytes.size > TR_PAYLOAD_MAX || (is_text && !tr__ws_text_is_valid(bytes)))
        return TR_INVALID_ARGUMENT;
    const struct ws_frame frame = {.opcode = is_text ? WS_OP_TEXT : WS_OP_BINARY,
                                   .size = bytes.size};
    size_t size = tr__ws_write_header(&frame, head);
    return tr__write_with(self, channel, (tr_bytes){head, size}, bytes);
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
    char few[256];
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(few, sizeof few, format, arguments);
    va_end(arguments);
    tr_status status = TR_INVALID_ARGUMENT;
    if (length >= 0 && (size_t)length < sizeof few) {
        status = tr_ws_send(self, channel, (tr_bytes){few, (size_t)length}, true);
    } else if (length >= 0) {
        char *text = tr_scratch(self, (size_t)length + 1);
        (void)vsnprintf(text, (size_t)length + 1, format, again);
        status = tr_ws_send(self, channel, (tr_bytes){text, (size_t)length}, true);
    }
    va_end(again);
    return status;
}

void tr_ws_close(tr_self *self, tr_channel channel, int code, const char *words)
{
    TURN_VERB(self);
    struct channel *found;
    if (code < 0 || !tr__ws_code_is_valid((unsigned)code))
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_ws_close: %d is no code of a close", code);
    if (find(self, channel, &found) != TR_OK)
        return;
    tr_bytes reason = words ? (tr_bytes){words, strlen(words)} : (tr_bytes){"", 0};
    (void)tr__ws_write_last(found, (unsigned)code, reason);
    tr_close(self, channel);
}
