/* SPDX-License-Identifier: Apache-2.0 */
/** Connections on which nothing happens: no worker wakes, and no system call is made for them. */
#include "support/real_net.h"

#include "actor/cell/system.h"
#include "os/parker.h"

enum { CONNECTIONS = 400 };

static tr_next on_echo(tr_self *self, const struct tr_received *message)
{
    tr_write(self, message->channel, message->bytes);
    return TR_SAME;
}

TR_BEHAVIOR(echo, void, TR_ON(tr_received, on_echo));

static uint64_t listen_echo(tr_self *self, uint64_t argument)
{
    (void)argument;
    tr_listener_ref listener = tr_listen(self, echo, TR_TCP("127.0.0.1:0"));
    return tr_listener_address(self, listener).port;
}

/* What workers do is counted here: how often they slept, how often the kernel was asked to, and what they ran. */
struct work {
    uint64_t parks;
    uint64_t runs;
    uint64_t waits;
};

static struct work work_so_far(void)
{
    tr_counters counters;
    tr_system_counters(real_system, &counters);
    struct work work = {.parks = counters.parks, .runs = counters.runs};
    for (uint32_t i = 0; i < real_system->worker_count; i++)
        work.waits += tr__real_parker_waits(real_system->workers[i]->loop.parker);
    return work;
}

static bool is_asleep(void)
{
    for (uint32_t i = 0; i < real_system->worker_count; i++) {
        const struct worker *worker = real_system->workers[i];
        if (atom32_load(&worker->loop.ready.sleep, ATOM_SEQ_CST) != READY_ASLEEP)
            return false;
    }
    return atom32_load(&real_system->watch.is_asleep, ATOM_SEQ_CST);
}

TEST(idle_connections_cost_no_system_calls, "CH-24", "P-04")
{
    static int fds[CONNECTIONS];
    real_open(2);
    uint64_t port = GO(listen_echo);
    for (int i = 0; i < CONNECTIONS; i++) {
        fds[i] = dial_port(port);
        char byte = 'x';
        send_all(fds[i], &byte, 1);
        ck_assert_int_eq(recv(fds[i], &byte, 1, 0), 1);
    }
    /* Memory goes back and the watch loses patience, as in idle_test. */
    for (int i = 0; i < 200 && !is_asleep(); i++)
        ck_assert_ptr_null(tr_receive(real_client, went, 100 * TR_MILLISECOND));
    ck_assert_ptr_null(tr_receive(real_client, went, 400 * TR_MILLISECOND));
    struct work before = work_so_far();
    ck_assert_ptr_null(tr_receive(real_client, went, TR_SECOND));
    struct work after = work_so_far();
    ck_assert(is_asleep());
    ck_assert_uint_eq(after.parks, before.parks);
    ck_assert_uint_eq(after.runs, before.runs);
    ck_assert_uint_eq(after.waits, before.waits);
    for (int i = 0; i < CONNECTIONS; i++) { /* each is there when it is needed */
        char byte = 'y';
        send_all(fds[i], &byte, 1);
        ck_assert_int_eq(recv(fds[i], &byte, 1, 0), 1);
        close(fds[i]);
    }
    real_close();
}

SUITE("idle channels", idle_connections_cost_no_system_calls)
