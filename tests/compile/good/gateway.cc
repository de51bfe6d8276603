/* SPDX-License-Identifier: Apache-2.0 */
/** Gateways: what can be exposed, every clause and every verb once, in C++17. */
#include <troupe/gateway.h>
#include <troupe/troupe.h>

TR_MESSAGE(said, (str, who), (str, text));
TR_MESSAGE(member, (str, name));
TR_MESSAGE(empty);
TR_REQUEST(join, said, (str, name));
TR_REQUEST(look, said);
TR_ACTOR(room, join, look);
TR_ACTOR(hall, look);
TR_MESSAGE(room_state, (u64, count));

static tr_next on_join(tr_self *self, struct room_state *room, const struct join *message)
{
    tr_connection_id from = tr_from(self), all[3];
    const struct member *member = tr_connection_kept(self, from, member);
    room->count = tr_connections(self, all, 3);
    tr_connection_keep(self, from, member, .name = message->name);
    tr_connection_keep(self, from, empty);
    tr_broadcast(self, said, .who = message->name, .text = member ? member->name : "hi");
    tr_broadcast(self, empty);
    if (tr_send(self, from, said, .text = tr_caller(self)) != TR_OK)
        tr_disconnect(self, from, 1000, NULL);
    return tr_reply(self, said);
}

static tr_next on_look(tr_self *self)
{
    return tr_reply(self, said);
}

static tr_next on_connected(struct room_state *room, const struct tr_connected *message)
{
    room->count += message->connection.number;
    return TR_SAME;
}

static tr_next on_disconnected(const struct tr_disconnected *message)
{
    return message->code == 1006 ? TR_STOP : TR_SAME;
}

TR_BEHAVIOR(room, struct room_state, TR_ON(join, on_join), TR_ON(look, on_look),
            TR_ON(tr_connected, on_connected), TR_ON(tr_disconnected, on_disconnected));
TR_DURABLE(room, room_state, .version = 1);
TR_EXPOSE(room, join, TR_BY_GET(look));
TR_BEHAVIOR(hall, struct room_state, TR_ON(look, on_look));
TR_DURABLE(hall, room_state, .version = 1);
TR_EXPOSE(hall, TR_BY_GET(look));

static tr_next on_authorize(tr_self *self, const struct tr_authorize *message)
{
    if (!message->authorization)
        return tr_refuse(self, 401, "who are you?");
    return tr_reply(self, tr_principal, .caller = message->authorization, .per_minute = 60);
}

TR_BEHAVIOR(tr_guard, void, TR_ON(tr_authorize, on_authorize));

struct site {
    tr_guard_ref guard;
};

static tr_guard_ref find_guard(tr_self *self, struct site *site)
{
    (void)self;
    return site->guard;
}

TR_BEHAVIOR(site, struct site, TR_GATEWAY(room, find_guard), TR_GATEWAY(hall));

static tr_next on_args(tr_self *self)
{
    tr_guard_ref guard = tr_spawn(self, tr_guard, NULL);
    tr_listener_ref listener = tr_gateway(self, TR_HTTP(":8080"), room, hall);
    listener = tr_gateway_guarded(self, TR_HTTP(":8081"), guard, room);
    if (tr_try_gateway(self, &listener, TR_HTTP(":8082"), room) != TR_OK ||
        tr_try_gateway_guarded(self, &listener, TR_HTTP(":8083"), guard, room, hall) != TR_OK)
        return TR_STOP;
    return TR_SAME;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app, .durable = TR_DURABLES(room, hall));
}
