/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Many actors behind one name: a group that shares the work, a router that sends equal keys to the
 * same actor, and a topic that reaches all its subscribers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

/* ---- A group: four equal mills. The asker does not know which one answers. ---- */

TR_MESSAGE(squared, (u64, result));
TR_REQUEST(square, squared, (u64, number));
TR_ACTOR(mill, square);

static tr_next on_square(tr_self *self, const struct square *message)
{
    return tr_reply(self, squared, .result = message->number * message->number);
}

TR_BEHAVIOR(mill, void, TR_ON(square, on_square));

/* ---- A router: three ledgers. All that one customer buys is in the same one. ---- */

TR_MESSAGE(total, (u64, cents), (u64, purchases));
TR_MESSAGE(buy, (str, customer), (u64, cents));
TR_REQUEST(get_total, total, (str, customer));
TR_ACTOR(ledger, buy, get_total);
TR_ROUTES(ledger, TR_ROUTE_BY(buy, customer), TR_ROUTE_BY(get_total, customer));

enum { CUSTOMERS = 4 };

static const char *const customers[CUSTOMERS] = {"anna", "ben", "carla", "dora"};

struct ledger {
    uint64_t cents[CUSTOMERS];
    uint64_t purchases[CUSTOMERS];
};

static size_t number_of(const char *customer)
{
    return (size_t)(customer[0] - 'a');
}

static tr_next on_buy(struct ledger *ledger, const struct buy *message)
{
    ledger->cents[number_of(message->customer)] += message->cents;
    ledger->purchases[number_of(message->customer)]++;
    return TR_SAME;
}

static tr_next on_get_total(tr_self *self, struct ledger *ledger, const struct get_total *message)
{
    size_t number = number_of(message->customer);
    return tr_reply(
        self, total, .cents = ledger->cents[number], .purchases = ledger->purchases[number]);
}

TR_BEHAVIOR(ledger, struct ledger, TR_ON(buy, on_buy), TR_ON(get_total, on_get_total));

/* ---- A topic: what is published there reaches all subscribers, as one copy. ---- */

TR_MESSAGE(headline, (str, text));
TR_TOPIC(news, headline);

TR_REQUEST(listen, tr_done, (ref, counter));
TR_MESSAGE(heard, (u64, length));
TR_ACTOR(reader, listen, headline);

static tr_next on_listen(tr_self *self, tr_ref *counter, const struct listen *message)
{
    *counter = message->counter;
    tr_subscribe(self, tr_topic_open(self, news, "news"));
    return tr_reply(self, tr_done);
}

static tr_next on_headline(tr_self *self, tr_ref *counter, const struct headline *message)
{
    tr_tell(self, *counter, heard, .length = strlen(message->text));
    return TR_SAME;
}

TR_BEHAVIOR(reader, tr_ref, TR_ON(listen, on_listen), TR_ON(headline, on_headline));

/* ---- An actor that uses all three. ---- */

TR_MESSAGE(begin);
TR_ACTOR(office, begin, heard);

struct office {
    int heard;
};

static void use_the_group(tr_self *self)
{
    mill_ref mills = tr_spawn_group(self, mill, "mills", 4);
    uint64_t sum = 0;
    for (uint64_t i = 1; i <= 100; i++)
        sum += tr_await(self, tr_ask(self, mills, square, .number = i))->result;
    printf("%zu mills: the squares up to 100 are %" PRIu64 " together\n",
           tr_group_count(self, mills),
           sum);
}

static void use_the_router(tr_self *self)
{
    ledger_ref ledgers = tr_spawn_router(self, ledger, "ledgers", 3);
    for (uint64_t i = 0; i < 40; i++)
        tr_tell(self, ledgers, buy, .customer = customers[i % CUSTOMERS], .cents = i);
    for (int i = 0; i < CUSTOMERS; i++) {
        const struct total *total =
            tr_await(self, tr_ask(self, ledgers, get_total, .customer = customers[i]));
        printf("%s: %" PRIu64 " cents in %" PRIu64 " purchases\n",
               customers[i],
               total->cents,
               total->purchases);
    }
}

static void use_the_topic(tr_self *self)
{
    news_topic news = tr_topic_open(self, news, "news");
    for (int i = 0; i < 3; i++) {
        reader_ref reader = tr_spawn_at(self, i % 2, reader, NULL);
        tr_await(self, tr_ask(self, reader, listen, .counter = tr_me(self)));
    }
    tr_published published =
        tr_publish(self,
                   news,
                   headline,
                   .text = "Three readers share these words, of which there is one copy");
    printf("%zu readers have it\n", published.taken);
}

static tr_next on_begin(tr_self *self)
{
    use_the_group(self);
    use_the_router(self);
    use_the_topic(self);
    return TR_SAME;
}

static tr_next on_heard(struct office *office, const struct heard *message)
{
    printf("a reader has read %" PRIu64 " letters\n", message->length);
    return ++office->heard == 3 ? TR_STOP : TR_SAME;
}

static tr_next on_start(tr_self *self)
{
    tr_tell(self, tr_me(self), begin); /* a signal may not wait for answers, a message may */
    return TR_SAME;
}

TR_BEHAVIOR(office, struct office, TR_ON(tr_pre_start, on_start), TR_ON(begin, on_begin),
            TR_ON(heard, on_heard));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, office, .workers = 2);
}
