/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A worker pool: actors by name, each on the worker that the hash ring says, the same in every run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <troupe/troupe.h>

TR_MESSAGE(placed, (u64, number), (u32, worker));
TR_REQUEST(place_order, placed, (str, item), (u32, quantity));
TR_ACTOR(orders, place_order);
TR_MESSAGE(paid);
TR_REQUEST(pay, paid, (u64, order), (u64, cents));
TR_ACTOR(payments, pay);

struct orders {
    uint64_t count;
};

static tr_next on_place_order(tr_self *self, struct orders *orders,
                              const struct place_order *message)
{
    orders->count++;
    payments_ref payments = tr_pool_find(self, payments, "payments");
    tr_await(self,
             tr_ask(self, payments, pay, .order = orders->count, .cents = 100 * message->quantity));
    return tr_reply(self, placed, .number = orders->count, .worker = (uint32_t)tr_worker(self));
}

TR_BEHAVIOR(orders, struct orders, TR_ON(place_order, on_place_order, .is_barrier = true));

static tr_next on_pay(tr_self *self, const struct pay *message)
{
    tr_log_info(self, "order %" PRIu64 ": %" PRIu64 " cents", message->order, message->cents);
    return tr_reply(self, paid);
}

TR_BEHAVIOR(payments, void, TR_ON(pay, on_pay));

static tr_next on_args(tr_self *self)
{
    static const char *const names[] = {"orders-1", "orders-2", "orders-1"};
    for (size_t i = 0; i < 3; i++) {
        orders_ref orders = tr_pool_spawn(self, orders, names[i]);
        const struct placed *placed =
            tr_await(self, tr_ask(self, orders, place_order, .item = "tea", .quantity = 2));
        printf("%s: order %" PRIu64 ", on worker %" PRIu32 "\n",
               names[i],
               placed->number,
               placed->worker);
    }
    return TR_STOP;
}

TR_BEHAVIOR(shop, void, TR_ON(tr_args, on_args));

/* On each worker's thread, before any actor runs. */
static tr_status on_worker_start(tr_system *system, int worker, void *context)
{
    int *up = context;
    (void)system;
    up[worker] = 1;
    return TR_OK;
}

static const tr_child_spec pool[] = {
    TR_POOLED(payments, "payments"),
    TR_POOLED(orders, "orders-1", .restart = TR_PERMANENT),
    {0},
};

int main(int argc, char **argv)
{
    int up[TR_WORKERS_MAX] = {0};
    int status = tr_app_main(argc,
                             argv,
                             shop,
                             .workers = 4,
                             .pool = pool,
                             .on_worker_start = on_worker_start,
                             .context = up);
    int count = 0;
    for (int i = 0; i < TR_WORKERS_MAX; i++)
        count += up[i];
    printf("%d workers were up\n", count);
    return status;
}
