/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A chat for browsers whose rooms are durable actors: 41_room 127.0.0.1:8080. Open http://localhost:8080/ in two windows.
 *
 * A room sleeps when nobody has spoken for ten seconds: it is some bytes on disk. The browsers stay connected meanwhile, at the
 * price of an idle socket each, and the next word wakes it. The name of each visitor is kept with the connection.
 * Kill the process and start it again: what was said is there, and the room learns that all visitors have gone.
 */
#include <stdio.h>
#include <troupe/troupe.h>

TR_MESSAGE(said, (str, who), (str, text));         /* an event: it goes to browsers */
TR_MESSAGE(history, (list(message(said)), lines)); /* and this is an answer */
TR_REQUEST(join, history, (str, name));
TR_REQUEST(say, tr_done, (str, text));
TR_ACTOR(room, join, say);
TR_MESSAGE(room_state, (list(message(said)), lines)); /* what is stored of a room, */
TR_MESSAGE(member, (str, name));                      /* and with each connection */

enum { LINES_MAX = 100 };
static void record(tr_self *self, struct room_state *room, const char *who, const char *text)
{
    struct said line = {.who = tr_strdup(self, who), .text = tr_strdup(self, text)};
    tr_append(self, room->lines, line);
    if (room->lines.count > LINES_MAX) {
        room->lines.items++;
        room->lines.count--;
    }
    tr_broadcast(self, said, .who = who, .text = text); /* leaves when the line is on disk */
}

static tr_next on_join(tr_self *self, struct room_state *room, const struct join *message)
{
    if (!message->name || !*message->name)
        return tr_refuse(self, 1, "who are you?");
    tr_connection_keep(self, tr_from(self), member, .name = message->name);
    tr_next next = tr_reply(self, history, .lines = {room->lines.items, room->lines.count});
    record(self, room, message->name, "has come"); /* it comes behind the reply */
    return next;
}

static tr_next on_say(tr_self *self, struct room_state *room, const struct say *message)
{
    const struct member *member = tr_connection_kept(self, tr_from(self), member);
    if (!member)
        return tr_refuse(self, 2, "join first");
    record(self, room, member->name, message->text);
    return tr_reply(self, tr_done);
}

static tr_next on_gone(tr_self *self, struct room_state *room, const struct tr_disconnected *gone)
{
    const struct member *member = tr_connection_kept(self, gone->connection, member);
    if (member)
        record(self, room, member->name, "has gone");
    return TR_SAME;
}

TR_BEHAVIOR(room, struct room_state, TR_ON(join, on_join), TR_ON(say, on_say),
            TR_ON(tr_disconnected, on_gone));
TR_DURABLE(room, room_state, .idle_ns = 10 * TR_SECOND);
TR_EXPOSE(room, join, say);

/* The page, and the rooms behind it, on one port. */
static const char page[] =
    "<!doctype html><meta charset=utf-8><title>room</title>"
    "<ul id=lines></ul><input id=text autofocus><script type=module>"
    "import {connect} from '/actors/troupe.js';"
    "const [key, name] = location.hash.slice(1).split('/'), me = name || prompt('Who are you?');"
    "const room = connect('/actors/room/' + (key || 'lobby'));"
    "const show = ({who, text}) => lines.append(Object.assign(document.createElement('li'),"
    " {textContent: who + ': ' + text})); room.on('said', show);"
    "room.onopen = async ({resumed}) => { const {lines: old} = await room.join({name: me});"
    " if (!resumed) { lines.replaceChildren(); old.forEach(show); } };"
    "text.onchange = () => { room.once('say', {text: text.value}); text.value = ''; };</script>";

static tr_next get_page(tr_self *self)
{
    return tr_http_reply(self, 200, .type = "text/html; charset=utf-8", .text = page);
}

TR_BEHAVIOR(site, void, TR_GET("/", tr_http_request, get_page), TR_GATEWAY(room));

static tr_next on_args(tr_self *self, const struct tr_args *args)
{
    const char *at = args->argv.count > 1 ? args->argv.items[1] : ":8080";
    tr_listener_ref listener = tr_listen(self, site, TR_HTTP(at));
    printf("open at %s\n", tr_address_text(self, tr_listener_address(self, listener)));
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app, .durable = TR_DURABLES(room));
}
