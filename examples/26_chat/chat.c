/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A chat with rooms, line by line. Try it with two terminals: nc localhost 7000
 *
 *     /join ROOM      everything else is said in the room where one is
 *
 * A room is a topic. A client that reads too slowly loses the oldest lines, and after half a minute the connection;
 * no other client notices.
 */
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

TR_MESSAGE(said, (str, name), (str, text));
TR_TOPIC(room, said);
TR_ACTOR(session, tr_opened, tr_received, tr_closed, said);

struct session {
    char name[32];
    room_topic room;
};

static void leave(tr_self *self, struct session *session, const char *text)
{
    if (!session->room.bits)
        return;
    tr_unsubscribe(self, session->room);
    tr_publish(self, session->room, said, .name = session->name, .text = text);
}

static void join(tr_self *self, struct session *session, const char *name)
{
    room_topic room;
    if (tr_try_topic_open(self, &room, room, name) != TR_OK) {
        tr_print(self, tr_peer(self), "* invalid name of a room: %s\n", name);
        return;
    }
    leave(self, session, "has left");
    session->room = room;
    tr_subscribe(self, room);
    tr_publish(self, room, said, .name = session->name, .text = "has come");
}

/* A question in the middle of a function; no other session waits for the answer. */
static tr_next on_opened(tr_self *self, struct session *session, const struct tr_opened *message)
{
    tr_bytes name;
    tr_channel_within(self, message->channel, TR_MINUTE);
    tr_write_text(self, message->channel, "What is your name?\n");
    if (!tr_read_line(self, message->channel, &name))
        return TR_STOP;
    tr_channel_within(self, message->channel, 0);
    snprintf(session->name, sizeof session->name, "%s", (const char *)name.data);
    join(self, session, "lobby");
    return TR_SAME;
}

static tr_next on_line(tr_self *self, struct session *session, const struct tr_received *line)
{
    const char *text = line->bytes.data; /* of a line: with a NUL behind it */
    if (strncmp(text, "/join ", 6) == 0)
        join(self, session, text + 6);
    else if (line->bytes.size)
        tr_publish(self, session->room, said, .name = session->name, .text = text);
    return TR_SAME;
}

static tr_next on_said(tr_self *self, const struct said *message)
{
    tr_print(self, tr_peer(self), "<%s> %s\n", message->name, message->text);
    return TR_SAME;
}

static tr_next on_closed(tr_self *self, struct session *session)
{
    leave(self, session, "has gone");
    return TR_STOP;
}

TR_BEHAVIOR(session, struct session, TR_ON(tr_opened, on_opened), TR_ON(tr_received, on_line),
            TR_ON(said, on_said), TR_ON(tr_closed, on_closed),
            TR_OPTIONS(.mailbox_max = 1000, .overflow = TR_DROP_OLDEST));

static tr_next on_args(tr_self *self, const struct tr_args *message)
{
    const char *address = message->argv.count > 1 ? message->argv.items[1] : ":7000";
    tr_listener_ref listener =
        tr_listen(self, session, TR_TCP(address, .framing = TR_LINES, .frame_max = 4096));
    printf("listening at %s\n", tr_address_text(self, tr_listener_address(self, listener)));
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(server, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, server);
}
