/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A cart that outlives its process: a durable actor with a typed state, an alarm, and a payment.
 *
 *     20_cart              fills the cart of "anna", and pays
 *     20_cart show         says what is in it
 *
 * Each run is another process; what the last one did is there. The carts are in the directory shopper.data,
 * or where --store says.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

TR_MESSAGE(item, (str, sku), (u32, quantity), (u64, cents));
TR_MESSAGE(total, (u64, items), (u64, cents), (bool, is_paid));
TR_REQUEST(add_item, total, (message(item), item));
TR_REQUEST(checkout, total, (str, card));
TR_REQUEST(show, total);
TR_MESSAGE(expire);
TR_ACTOR(cart, add_item, checkout, show);

TR_MESSAGE(charged, (u64, receipts));
TR_REQUEST(charge, charged, (u64, order), (u64, cents));
TR_ACTOR(card, charge);
TR_DURABLE_DECLARE(cart);
TR_DURABLE_DECLARE(card);

/* ---- The card: it knows what was charged, whatever happens, and charges an order once. ---- */

TR_MESSAGE(receipt, (u64, order), (u64, cents));
TR_MESSAGE(card_state, (list(message(receipt)), receipts));

static tr_next on_charge(tr_self *self, struct card_state *card, const struct charge *message)
{
    bool is_charged = false;
    for (size_t i = 0; i < card->receipts.count; i++)
        is_charged |= card->receipts.items[i].order == message->order;
    if (!is_charged) {
        struct receipt receipt = {.order = message->order, .cents = message->cents};
        tr_append(self, card->receipts, receipt);
    }
    return tr_reply(self, charged, .receipts = card->receipts.count);
}

TR_BEHAVIOR(card, struct card_state, TR_ON(charge, on_charge));
TR_DURABLE(card, card_state);

/* ---- The cart. Its state is declared as a message is, so that it can be stored. ---- */

TR_MESSAGE(cart_state, (list(message(item)), items), (u64, cents), (bool, is_paid), (u64, order));

static tr_next tell_total(tr_self *self, const struct cart_state *cart)
{
    return tr_reply(
        self, total, .items = cart->items.count, .cents = cart->cents, .is_paid = cart->is_paid);
}

static tr_next on_add_item(tr_self *self, struct cart_state *cart, const struct add_item *message)
{
    struct item item = message->item;
    if (cart->order) /* what is charged is what is in it */
        return tr_refuse(self, 1, "the cart of %s is paid", (const char *)tr_key(self).data);
    item.sku = tr_strdup(self, item.sku); /* it is to live as long as the cart */
    tr_append(self, cart->items, item);
    cart->cents += item.quantity * item.cents;
    tr_alarm_after(self, "expire", 30 * TR_MINUTE, expire);
    return tell_total(self, cart);
}

static tr_next on_checkout(tr_self *self, struct cart_state *cart, const struct checkout *message)
{
    if (cart->is_paid)
        return tell_total(self, cart);
    /*
     * If the process ends between the charge and is_paid, the next checkout asks for the same charge. So it has a number,
     * which is on disk before the request leaves, and the card knows what it has charged.
     */
    if (!cart->order)
        cart->order = tr_random(self) | 1;
    card_ref card = tr_durable(self, card, message->card);
    TR_KEEP_AWAKE(self, "payment")
    {
        tr_await(self, tr_ask(self, card, charge, .order = cart->order, .cents = cart->cents));
    }
    cart->is_paid = true;
    tr_alarm_cancel(self, "expire");
    return tell_total(self, cart);
}

static tr_next on_show(tr_self *self, struct cart_state *cart)
{
    return tell_total(self, cart);
}

static tr_next on_expire(tr_self *self, struct cart_state *cart)
{
    if (!cart->is_paid)
        tr_destroy(self);
    return TR_SAME;
}

TR_BEHAVIOR(cart, struct cart_state, TR_ON(add_item, on_add_item), TR_ON(checkout, on_checkout),
            TR_ON(show, on_show), TR_ON(expire, on_expire));
TR_DURABLE(cart, cart_state, .idle_ns = 10 * TR_SECOND);

/* ---- The shopper. ---- */

static void say(const struct total *total)
{
    printf("%" PRIu64 " items, %" PRIu64 " cents%s\n",
           total->items,
           total->cents,
           total->is_paid ? ", paid" : "");
}

static tr_next on_args(tr_self *self, const struct tr_args *args)
{
    cart_ref cart = tr_durable(self, cart, "anna");
    if (args->argv.count > 1 && strcmp(args->argv.items[1], "show") == 0) {
        say(tr_await(self, tr_ask(self, cart, show)));
        return TR_STOP;
    }
    const struct total *total;
    add_item_ask tea =
        tr_ask(self, cart, add_item, .item = {.sku = "tea", .quantity = 2, .cents = 450});
    if (tr_try_await(self, tea, &total) == TR_OK)
        say(total);
    say(tr_await(self, tr_ask(self, cart, checkout, .card = "visa-1234")));
    return TR_STOP;
}

TR_BEHAVIOR(shopper, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, shopper, .durable = TR_DURABLES(cart, card));
}
