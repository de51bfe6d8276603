/* SPDX-License-Identifier: Apache-2.0 */
/** The file of a UNIX socket: a listener removes it, unless it is another one by now. */
#include <sys/un.h>
#include <unistd.h>

#include "support/real_net.h"
#include "support/sockets.h"

static char path_text[120];
static bool is_datagram, is_there;

static tr_next on_received(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(echo, void, TR_ON(tr_received, on_received));

TR_ACTOR(holder, go);
TR_BEHAVIOR(holder, void, TR_ON(go, on_go));

static uint64_t open_at_path(tr_self *self, uint64_t argument)
{
    if (is_datagram)
        (void)tr_bind(self, TR_UNIX_DATAGRAM(path_text));
    else
        (void)tr_listen(self, echo, TR_UNIX(path_text));
    is_there = access(path_text, F_OK) == 0;
    return argument;
}

static void play(bool is_replaced)
{
    struct socket_path made = path_make();
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    holder_ref holder;
    strcpy(path_text, made.path);
    strcpy(at.sun_path, made.path);
    real_open(2);
    ck_assert_int_eq(tr_try_spawn(real_client, &holder, holder, NULL), TR_OK);
    (void)go_in((host_ref){holder.bits}, open_at_path, 0);
    ck_assert(is_there);
    if (is_replaced) {
        ck_assert_int_eq(unlink(made.path), 0);
        ck_assert_int_eq(bind(other, (struct sockaddr *)&at, sizeof at), 0);
    }
    real_close();
    ck_assert_int_eq(access(made.path, F_OK), is_replaced ? 0 : -1);
    close(other);
    path_remove(&made);
}

TEST(a_unix_socket_that_is_closed_leaves_no_file, "C-02", "C-13", "CH-12")
{
    for (int i = 0; i < 4; i++) {
        is_datagram = i % 2;
        play(i / 2);
    }
}

SUITE("files of UNIX sockets", a_unix_socket_that_is_closed_leaves_no_file)
