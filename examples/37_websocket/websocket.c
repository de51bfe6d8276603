/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A chat for browsers, by WebSocket: 37_websocket 127.0.0.1:8080
 *
 *     new WebSocket("ws://localhost:8080/chat/tea?name=anna")      in the console of a browser, on a page of that host
 *
 * A room is a topic, and each WebSocket a session.
 */
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

TR_MESSAGE(said, (str, name), (str, text));
TR_TOPIC(room, said);
TR_REQUEST(enter, tr_done, (str, room), (str, name)); /* from /chat/{room}?name=... */

struct session {
    room_topic room;
    char name[32];
};

static tr_next on_enter(tr_self *self, struct session *session, const struct enter *message)
{
    if (!message->name || strlen(message->name) >= sizeof session->name)
        return tr_refuse(self, 401, "a name of at most 31 bytes is needed");
    if (tr_try_topic_open(self, &session->room, room, message->room) != TR_OK)
        return tr_refuse(self, 404, "no such room");
    snprintf(session->name, sizeof session->name, "%s", message->name);
    tr_subscribe(self, session->room);
    tr_publish(self, session->room, said, .name = session->name, .text = "has come");
    return tr_ws_accept(self);
}

static tr_next on_message(tr_self *self, struct session *session,
                          const struct tr_ws_message *message)
{
    if (!message->is_text)
        tr_ws_close(self, message->channel, 1003, "only texts");
    else
        tr_publish(self, session->room, said, .name = session->name, .text = message->bytes.data);
    return TR_SAME;
}

static tr_next on_said(tr_self *self, const struct said *message)
{
    tr_ws_print(self, tr_peer(self), "%s: %s", message->name, message->text);
    return TR_SAME;
}

static tr_next on_closed(tr_self *self, struct session *session)
{
    if (session->room.bits) {
        tr_unsubscribe(self, session->room);
        tr_publish(self, session->room, said, .name = session->name, .text = "has gone");
    }
    return TR_STOP;
}

TR_BEHAVIOR(session, struct session, TR_WEBSOCKET("/chat/{room}", enter, on_enter),
            TR_ON(tr_ws_message, on_message), TR_ON(said, on_said), TR_ON(tr_closed, on_closed));

static tr_next on_args(tr_self *self, const struct tr_args *message)
{
    const char *address = message->argv.count > 1 ? message->argv.items[1] : ":8080";
    tr_listener_ref listener = tr_listen(self, session, TR_HTTP(address));
    printf("listening at %s\n", tr_address_text(self, tr_listener_address(self, listener)));
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app);
}
