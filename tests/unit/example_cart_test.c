/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The cart of example 20, killed at each moment of a checkout: the card is charged once.
 */
#include <troupe/kit.h>

#include "support/test.h"

int cart_main(int argc, char **argv);
#define main cart_main
#include "../examples/20_cart/cart.c"
#undef main

static tr_kit *kit;
static tr_client *test;

static cart_ref cart_of(const char *key)
{
    cart_ref ref;
    ck_assert_int_eq(tr_try_durable(test, &ref, cart, key), TR_OK);
    return ref;
}

static uint64_t receipts(void)
{
    card_ref card;
    const struct charged *charged;
    ck_assert_int_eq(tr_try_durable(test, &card, card, "visa"), TR_OK);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, card, charge, .order = 2), &charged), TR_OK);
    return charged->receipts - 1; /* this one too */
}

TEST(a_cart_that_is_killed_while_it_pays_pays_once, "")
{
    bool was_hit = false;
    for (int moment = 0; moment < 60; moment++) {
        kit = tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options),
                                           .seed = (uint64_t)moment % 5 + 1,
                                           .workers = 2,
                                           .durable = TR_DURABLES(cart, card)});
        test = tr_kit_client(kit);
        const struct total *total;
        add_item_ask tea = tr_ask(
            test, cart_of("anna"), add_item, .item = {.sku = "tea", .quantity = 2, .cents = 450});
        ck_assert_int_eq(tr_try_await(test, tea, &total), TR_OK);
        cart_ref cart = cart_of("anna");
        checkout_ask first = tr_ask(test, cart, checkout, .card = "visa");
        for (int i = 0; i < moment; i++)
            tr_kit_step(kit);
        (void)!tr_kill(test, cart);
        was_hit |= tr_try_await(test, first, &total) != TR_OK;
        tr_kit_settle(kit);
        checkout_ask second = tr_ask(test, cart_of("anna"), checkout, .card = "visa");
        ck_assert_int_eq(tr_try_await(test, second, &total), TR_OK);
        ck_assert(total->is_paid);
        ck_assert_uint_eq(total->cents, 900);
        ck_assert_uint_eq(receipts(), 1);
        tr_kit_free(kit);
    }
    ck_assert(was_hit);
}

SUITE("example cart", a_cart_that_is_killed_while_it_pays_pays_once)
