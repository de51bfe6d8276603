/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A thread with a loop of its own asks and never waits: poll() on standard input and on the
 * descriptor of its client. Each line becomes an ask to a shop, which has threads of its own; answers are
 * printed by callbacks, on the thread of the loop.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

/* ---- The shop. ---- */

TR_MESSAGE(price, (u64, cents));
TR_REQUEST(get_price, price, (str, what));
TR_ACTOR(shop, get_price);

enum { NOT_SOLD_HERE = 1 };

static tr_next on_get_price(tr_self *self, const struct get_price *message)
{
    if (strcmp(message->what, "apple") == 0)
        return tr_reply(self, price, .cents = 30);
    if (strcmp(message->what, "pear") == 0)
        return tr_reply(self, price, .cents = 45);
    return tr_refuse(self, NOT_SOLD_HERE, "there is no %s", message->what);
}

TR_BEHAVIOR(shop, void, TR_ON(get_price, on_get_price));

/* ---- The loop. ---- */

struct loop {
    tr_client *client;
    shop_ref shop;
    uint64_t open; /* asks that have not ended */
    uint64_t total;
};

static void on_price(struct loop *loop, const get_price_answer *answer)
{
    loop->open--;
    if (answer->status != TR_OK) {
        printf("%s: %s\n", tr_status_name(answer->status), answer->why->text);
        return;
    }
    loop->total += answer->reply->cents;
    printf("%" PRIu64 " cents\n", answer->reply->cents);
}
TR_CALLBACK(price_of, get_price, struct loop, on_price);

/* Asks for one line of the input. False at its end. */
static bool read_line(struct loop *loop)
{
    char what[80];
    if (!fgets(what, sizeof what, stdin))
        return false;
    what[strcspn(what, "\n")] = '\0';
    if (tr_ask_callback(loop->client, price_of, loop, loop->shop, get_price, .what = what) == TR_OK)
        loop->open++;
    return true;
}

static void run(struct loop *loop)
{
    struct pollfd fds[] = {{.fd = tr_client_fd(loop->client), .events = POLLIN},
                           {.fd = fileno(stdin), .events = POLLIN}};
    bool has_input = true;
    while (has_input || loop->open > 0) {
        if (poll(fds, has_input ? 2 : 1, -1) < 0)
            return;
        if (has_input && fds[1].revents != 0)
            has_input = read_line(loop);
        tr_client_poll(loop->client, 0);
    }
    printf("%" PRIu64 " cents in all\n", loop->total);
}

int main(void)
{
    tr_system *system;
    struct loop loop = {.open = 0};
    setvbuf(stdin, NULL, _IONBF, 0); /* so that poll() knows whether there is another line */
    if (tr_system_new(&(tr_system_options){.workers = 2}, &system) != TR_OK)
        return 1;
    tr_status status = tr_system_start(system);
    if (status == TR_OK)
        status = tr_client_new(system, &loop.client);
    if (status == TR_OK)
        status = tr_try_spawn(loop.client, &loop.shop, shop, "shop");
    if (status == TR_OK)
        run(&loop);
    tr_client_free(loop.client);
    tr_system_shutdown(system, TR_SECOND);
    if (tr_system_wait(system) != TR_OK)
        status = TR_FAILED;
    tr_system_free(system);
    return status == TR_OK ? 0 : 1;
}
