/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A few actors, each with many connections: 36_desks, then nc localhost 7000
 *
 * With a session for each connection, what connections share is in messages. Here it is in the state of a desk: "WHO" counts
 * the visitors of the same desk. A desk that is full refuses, and the connection is closed.
 */
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

enum { VISITORS_MAX = 2 };

TR_ACTOR(desk, tr_connection, tr_received, tr_closed);

struct desk {
    int visitors;
};

static tr_next on_connection(tr_self *self, struct desk *desk, const struct tr_connection *request)
{
    tr_channel channel;
    if (desk->visitors == VISITORS_MAX)
        return tr_refuse(self, 1, "the desk is full");
    if (tr_accept(self, request, &channel) == TR_OK)
        desk->visitors++;
    return TR_SAME;
}

static tr_next on_line(tr_self *self, struct desk *desk, const struct tr_received *line)
{
    if (strcmp(line->bytes.data, "WHO") == 0)
        tr_print(self, line->channel, "%d here\n", desk->visitors);
    else
        tr_print(self, line->channel, "noted: %s\n", (const char *)line->bytes.data);
    return TR_SAME;
}

static tr_next on_closed(struct desk *desk)
{
    desk->visitors--;
    return TR_SAME;
}

TR_BEHAVIOR(desk, struct desk, TR_ON(tr_connection, on_connection), TR_ON(tr_received, on_line),
            TR_ON(tr_closed, on_closed));

static tr_next on_args(tr_self *self, const struct tr_args *message)
{
    const char *address = message->argv.count > 1 ? message->argv.items[1] : ":7000";
    desk_ref desks = tr_spawn_group(self, desk, "desks", 2);
    tr_listener_ref listener =
        tr_listen(self, desk, TR_TCP(address, .framing = TR_LINES, .accepted_by = tr_any(desks)));
    printf("listening at %s\n", tr_address_text(self, tr_listener_address(self, listener)));
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app);
}
