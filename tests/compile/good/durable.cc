/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors in C++: kinds with versions, and all verbs.
 */
#include <troupe/troupe.h>

TR_MESSAGE(item, (str, sku), (u64, cents));
TR_MESSAGE(total, (u64, cents));
TR_REQUEST(add_item, total, (message(item), item));
TR_REQUEST(show, total);
TR_REQUEST(flush, tr_done);
TR_MESSAGE(expire, (u32, number));
TR_MESSAGE(mail, (str, to));
TR_ACTOR(cart, add_item, show, flush);

TR_MESSAGE(cart_v1, (u64, cents));
TR_MESSAGE(cart_state, (u64, cents), (list(message(item)), items));

static tr_status grow(tr_self *self, const struct cart_v1 *from, struct cart_state *to)
{
    (void)self;
    to->cents = from->cents;
    return TR_OK;
}
TR_MIGRATION(cart_1, 1, cart_v1, cart_state, grow);

static tr_next on_created(tr_self *self, struct cart_state *cart)
{
    cart->cents = tr_key(self).size;
    return TR_SAME;
}

static tr_next on_awake(tr_self *self, struct cart_state *cart, const struct tr_awake *message)
{
    uint64_t epoch;
    (void)cart;
    if (tr_generation(self, &epoch) != message->counter)
        (void)!tr_go_to_sleep(self);
    return TR_SAME;
}

static tr_next on_sleeping(tr_self *self)
{
    tr_alarm_cancel(self, "expire");
    return TR_SAME;
}

static tr_next on_add_item(tr_self *self, struct cart_state *cart, const struct add_item *message)
{
    struct item item = message->item;
    item.sku = tr_strdup(self, item.sku);
    tr_append(self, cart->items, item);
    tr_replace(self, cart->items, 0, item);
    tr_remove(self, cart->items, 0);
    cart->cents += item.cents;
    tr_alarm_at(self, "close", tr_wall_now(self) + TR_HOUR, expire, .number = 1);
    tr_alarm_after(self, "expire", TR_MINUTE, expire);
    tr_alarm_every(self, "bill", TR_HOUR, expire, .number = 2);
    tr_alarm_cron(self, "morning", "0 9 * * *", expire, .number = 3);
    tr_queue_push(self, "mails", mail, .to = "anna");
    tr_queued later = tr_queue_push_after(self, "mails", TR_HOUR, mail, .to = "bert");
    tr_queue_cancel(self, later);
    return tr_reply(self, total, .cents = cart->cents);
}

static tr_next on_show(tr_self *self, struct cart_state *cart)
{
    tr_bytes value;
    const tr_kv *pairs;
    const tr_bytes key = TR_VALUE(tr_bytes, "k", 1);
    const tr_bytes none = TR_VALUE(tr_bytes, "", 0);
    tr_kv_put(self, key, key);
    if (tr_kv_get(self, key, &value) && tr_kv_list(self, none, none, &pairs, 10) == 1)
        tr_kv_delete(self, key);
    tr_save(self);
    if (tr_try_save(self) != TR_OK)
        return TR_STOP;
    return tr_reply(self, total, .cents = cart->cents);
}

static tr_next on_flush(tr_self *self, struct cart_state *cart)
{
    (void)cart;
    TR_WAIT_UNTIL(self, "flush")
    {
        tr_sleep(self, TR_MILLISECOND);
    }
    TR_KEEP_AWAKE(self, "receipt")
    {
        tr_sleep(self, TR_MILLISECOND);
    }
    return tr_reply(self, tr_done);
}

static tr_next on_expire(tr_self *self, struct cart_state *cart, const struct expire *message)
{
    tr_alarm_mark mark = tr_alarm_fired(self);
    if (mark.name && message->number == 0 && cart->cents == 0 && tr_alarm_due(self, "bill") == 0)
        (void)!tr_destroy(self);
    return TR_SAME;
}

static tr_next on_run(tr_self *self)
{
    const struct mail *mail;
    tr_queued item;
    const tr_queue_entry *dead;
    while (tr_queue_take(self, "mails", mail, TR_HOUR, &mail, &item) == TR_OK)
        if (!tr_queue_retry(self, item, "no answer") && !tr_queue_give_up(self, item, "no address"))
            tr_queue_done(self, item);
    if (tr_queue_peek(self, "mails", mail, &mail, &item) == TR_OK ||
        tr_queue_read(self, item, mail, &mail) == TR_OK ||
        tr_abort_wait(self, TR_SECOND) == TR_TIMEOUT)
        return TR_SAME;
    if (!tr_deadline_fired(self) && tr_queue_list_dead(self, "mails", item, &dead, 1))
        tr_queue_put_back(self, dead[0].item);
    if (!tr_is_aborted(self) && tr_queue_count(self, "mails") &&
        tr_queue_receive(self, "mails", mail, TR_SECOND, &mail) == TR_OK)
        tr_log_info(self, "%s", mail->to);
    return TR_SAME;
}

TR_BEHAVIOR(cart, struct cart_state, TR_ON(tr_created, on_created), TR_ON(tr_awake, on_awake),
            TR_ON(tr_sleeping, on_sleeping), TR_ON(add_item, on_add_item),
            TR_ON(show, on_show, .interleaves = true), TR_ON(flush, on_flush),
            TR_ON(expire, on_expire), TR_ON(tr_run, on_run));
TR_DURABLE(cart, cart_state, .version = 2, .idle_ns = TR_SECOND,
           .migrations = TR_MIGRATIONS(cart_1),
           .queues = TR_QUEUES({.name = "mails", .retry = {.attempts = 5}}),
           .alarm_retry = {.attempts = 3, .first_ns = TR_SECOND});

static tr_next on_args(tr_self *self)
{
    cart_ref cart = tr_durable(self, cart, "anna");
    const tr_bytes key = TR_VALUE(tr_bytes, "anna", 4);
    if (tr_try_durable(self, &cart, cart, "anna") == TR_OK &&
        tr_try_durable_bytes(self, &cart, cart, key) == TR_OK)
        tr_await(self, tr_ask(self, cart, show));
    return TR_STOP;
}
TR_BEHAVIOR(shopper, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, shopper, .durable = TR_DURABLES(cart), .awake_max = 10);
}
