/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Death watch: a room drops its members when they have ended, for whatever reason.
 *
 * The room does not ask whether its members live, and they need not say goodbye: it watches them. The
 * app watches the room itself, and stops when that has closed.
 */
#include <stdio.h>
#include <troupe/troupe.h>

TR_MESSAGE(join, (str, nick), (ref, member));
TR_MESSAGE(members, (list(str), nicks));
TR_REQUEST(who_is_here, members);
TR_MESSAGE(leave);
TR_MESSAGE(stumble);
TR_ACTOR(room, join, who_is_here);
TR_ACTOR(guest, leave, stumble);

/* ---- The room. ---- */

enum { ROOM_MAX = 16 };

struct room {
    struct {
        tr_ref ref;
        const char *nick;
    } members[ROOM_MAX];
    size_t count;
};

static tr_next on_join(tr_self *self, struct room *room, const struct join *message)
{
    if (room->count == ROOM_MAX)
        return tr_refuse(self, 1, "the room is full");
    room->members[room->count].ref = message->member;
    room->members[room->count++].nick = tr_strdup(self, message->nick);
    tr_watch(self, message->member); /* if it has left already, the signal comes at once */
    return TR_SAME;
}

static tr_next on_end_of_member(struct room *room, const struct tr_terminated *message)
{
    for (size_t i = 0; i < room->count; i++) {
        if (!tr_is_same(room->members[i].ref, message->who))
            continue;
        printf("%s is gone\n", room->members[i].nick);
        room->members[i] = room->members[--room->count];
    }
    return room->count ? TR_SAME : TR_STOP;
}

static tr_next on_who_is_here(tr_self *self, struct room *room)
{
    const char **nicks = tr_scratch(self, sizeof *nicks * ROOM_MAX);
    for (size_t i = 0; i < room->count; i++)
        nicks[i] = room->members[i].nick;
    return tr_reply(self, members, .nicks = {nicks, room->count});
}

TR_BEHAVIOR(room, struct room, TR_ON(join, on_join), TR_ON(tr_terminated, on_end_of_member),
            TR_ON(who_is_here, on_who_is_here));

/* ---- Guests: one leaves, one is broken. ---- */

static tr_next on_leave(void)
{
    return TR_STOP;
}

static tr_next on_stumble(tr_self *self)
{
    return tr_fail(self, TR_FAILED, "fell down the stairs");
}

/* No restart: a guest that fails is gone. */
TR_BEHAVIOR(guest, void, TR_ON(leave, on_leave), TR_ON(stumble, on_stumble),
            TR_OPTIONS(.restart = TR_TEMPORARY));

/* ---- The app. ---- */

static void show(tr_self *self, room_ref room)
{
    const struct members *members = tr_await(self, tr_ask(self, room, who_is_here));
    printf("%zu here:", members->nicks.count);
    for (size_t i = 0; i < members->nicks.count; i++)
        printf(" %s", members->nicks.items[i]);
    printf("\n");
}

static guest_ref invite(tr_self *self, room_ref room, const char *nick)
{
    guest_ref guest = tr_spawn(self, guest, nick);
    tr_tell(self, room, join, .nick = nick, .member = tr_any(guest));
    return guest;
}

static tr_next on_start(tr_self *self)
{
    room_ref room = tr_spawn(self, room, "room");
    guest_ref ada = invite(self, room, "ada");
    guest_ref bob = invite(self, room, "bob");
    guest_ref eve = invite(self, room, "eve");
    show(self, room);

    tr_watch(self, bob);
    tr_watch(self, room);
    tr_unwatch(self, bob); /* the app gets no signal about bob */
    tr_tell(self, ada, leave);
    (void)tr_sleep(self, TR_MILLISECOND);
    show(self, room);
    tr_tell(self, bob, stumble);
    (void)tr_sleep(self, TR_MILLISECOND);
    show(self, room);
    tr_kill(self, eve);
    return TR_SAME;
}

static tr_next on_end_of_room(void)
{
    printf("the room is closed\n");
    return TR_STOP;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_start), TR_ON(tr_terminated, on_end_of_room));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app);
}
