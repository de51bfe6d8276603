/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program with everything that the inspector shows, for tests/browser/inspector.test.mjs: a shop with many tellers, a
 * handler that takes much time, a mailbox that grows, actors that fail, durable actors of three kinds, an echo server, and
 * names and texts that are markup. It runs until it is stopped.
 *
 *     inspector_target [number of tellers, 300] [options of tr_app_main]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <troupe/troupe.h>
#include <unistd.h>

/* ---- Tellers: a state, a secret, a request. ---- */

TR_MESSAGE(card, (str, holder), (str, number));
TR_SECRET(card, number);
TR_MESSAGE(till, (u64, cents), (u64, ticket), (message(card), card), (list(str), notes));
TR_MESSAGE(deposit, (u64, cents), (str, note));
TR_MESSAGE(balance, (u64, cents));
TR_REQUEST(get_balance, balance);
TR_ACTOR(teller, deposit, get_balance);

static tr_next on_open(struct till *state)
{
    static const char *notes[] = {"first", "<b>bold</b><script>window.wasRun = true</script>"};
    state->ticket = UINT64_MAX - 7;
    state->card = (struct card){"<img src=x onerror=\"window.wasRun=true\">", "4111-1111"};
    state->notes.items = (void *)notes;
    state->notes.count = 2;
    return TR_SAME;
}

static tr_next on_deposit(struct till *state, const struct deposit *message)
{
    state->cents += message->cents;
    return TR_SAME;
}

static tr_next on_get_balance(tr_self *self, struct till *state)
{
    return tr_reply(self, balance, .cents = state->cents);
}

TR_BEHAVIOR(teller, struct till, TR_ON(tr_pre_start, on_open), TR_ON(deposit, on_deposit),
            TR_ON(get_balance, on_get_balance), TR_OPTIONS(.shows = &tr_type_till));

TR_MESSAGE(hall_size, (u32, count));
TR_ACTOR(hall, deposit);
struct hall {
    teller_ref *tellers;
    uint32_t count;
    uint32_t next;
};

static tr_next on_hall(tr_self *self, struct hall *state, const struct hall_size *message)
{
    state->tellers = malloc(message->count * sizeof *state->tellers);
    if (!state->tellers)
        return tr_fail(self, TR_NO_MEMORY, "no memory for the tellers");
    for (; state->count < message->count; state->count++) {
        char name[32];
        (void)snprintf(name, sizeof name, "teller-%u", state->count);
        state->tellers[state->count] = tr_spawn(self, teller, name);
    }
    printf("ready\n");
    (void)fflush(stdout);
    return TR_SAME;
}

static tr_next on_pass(tr_self *self, struct hall *state, const struct deposit *message)
{
    if (state->count)
        tr_tell(self,
                state->tellers[state->next++ % state->count],
                deposit,
                .cents = message->cents,
                .note = message->note);
    return TR_SAME;
}

static tr_next on_hall_stop(struct hall *state)
{
    free(state->tellers);
    return TR_SAME;
}
TR_BEHAVIOR(hall, struct hall, TR_SETUP_WITH(hall_size, on_hall), TR_ON(deposit, on_pass),
            TR_ON(tr_post_stop, on_hall_stop));

/* ---- A handler that takes much time, one that blocks, and a mailbox that grows. ---- */

TR_MESSAGE(grind, (u32, us));
TR_MESSAGE(block, (str, until));
TR_MESSAGE(bake, (u32, us));
TR_ACTOR(mill, grind, block, bake);

static int64_t clock_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void work(uint32_t us)
{
    int64_t until_ns = clock_ns() + us * 1000LL;
    while (clock_ns() < until_ns)
        ;
}

static tr_next on_grind(const struct grind *message)
{
    work(message->us);
    return TR_SAME;
}

/* A slow turn that leads to another one. */
static tr_next on_bake(tr_self *self, const struct bake *message)
{
    teller_ref guest = tr_find(self, teller, "/user/shop/guest");
    work(message->us);
    tr_tell(self, guest, deposit, .cents = 1, .note = "a cake");
    return TR_SAME;
}

/* Blocks its worker, against the rules, until the test opens the other end of a named pipe. */
static tr_next on_block(const struct block *message)
{
    int pipe = open(message->until, O_RDONLY | O_CLOEXEC);
    if (pipe >= 0)
        (void)close(pipe);
    return TR_SAME;
}
TR_BEHAVIOR(mill, void, TR_ON(grind, on_grind), TR_ON(block, on_block), TR_ON(bake, on_bake));

TR_MESSAGE(letter, (str, to), (str, text), (bytes, seal));
TR_ACTOR(desk, letter);

static tr_next on_letter(tr_self *self)
{
    (void)tr_sleep(self, 200 * TR_MILLISECOND);
    return TR_SAME;
}
TR_BEHAVIOR(desk, void, TR_ON(letter, on_letter, .is_barrier = true));

/* ---- A state that is too large to be shown. ---- */

TR_MESSAGE(heap, (str, text));
TR_ACTOR(attic);
static tr_next on_attic(struct heap *state)
{
    static char text[20000];
    memset(text, 'x', sizeof text - 1);
    state->text = text;
    return TR_SAME;
}
TR_BEHAVIOR(attic, struct heap, TR_ON(tr_pre_start, on_attic), TR_OPTIONS(.shows = &tr_type_heap));

/* ---- An actor that waits for an answer, and watches another one. ---- */

TR_ACTOR(mute, get_balance);
static tr_next on_mute(tr_self *self)
{
    (void)tr_sleep(self, TR_HOUR);
    return tr_reply(self, balance, .cents = 0);
}
TR_BEHAVIOR(mute, void, TR_ON(get_balance, on_mute));

TR_MESSAGE(remind);
TR_ACTOR(clerk, remind);
static tr_next on_clerk(tr_self *self)
{
    teller_ref guest = tr_find(self, teller, "/user/shop/guest");
    mute_ref mute_one = tr_spawn(self, mute, "mute");
    tr_watch(self, guest);
    tr_timer_once(self, "lunch", TR_HOUR, remind);
    (void)tr_await(self, tr_ask_within(self, TR_HOUR, mute_one, get_balance));
    return TR_SAME;
}
TR_BEHAVIOR(clerk, void, TR_ON(remind, on_clerk));

/* ---- A turn that waits in the middle, for the trace. ---- */

TR_MESSAGE(tour, (str, text));
TR_ACTOR(guide, tour);
static tr_next on_guide(tr_self *self)
{
    teller_ref guest = tr_find(self, teller, "/user/shop/guest");
    const struct balance *balance = tr_await(self, tr_ask(self, guest, get_balance));
    tr_tell(self, guest, deposit, .cents = balance->cents + 1, .note = "guide");
    return TR_SAME;
}
TR_BEHAVIOR(guide, void, TR_ON(tour, on_guide));

/* ---- What fails. ---- */

TR_MESSAGE(trip, (str, text));
TR_ACTOR(breaker, trip);
static tr_next on_trip(tr_self *self, const struct trip *message)
{
    return tr_fail(self, TR_BAD_DATA, "%s", message->text);
}
TR_BEHAVIOR(breaker, void, TR_ON(trip, on_trip));
TR_ACTOR(ward);
TR_BEHAVIOR(ward, void, TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 1000, .window_ns = TR_SECOND),
            TR_CHILD(breaker, "breaker"));

TR_MESSAGE(count_one, (u32, number));
TR_ACTOR(narrow, count_one);
static tr_next on_count_one(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(narrow, void, TR_ON(count_one, on_count_one),
            TR_OPTIONS(.mailbox_max = 1, .overflow = TR_DROP_NEWEST));

/* ---- What is stored. ---- */

TR_MESSAGE(shelf, (u64, count), (str, label), (str, pin));
TR_SECRET(shelf, pin);
TR_MESSAGE(put_book, (str, title), (u32, pages));
TR_MESSAGE(book, (str, title), (u32, pages));
TR_MESSAGE(dust);
TR_MESSAGE(swell, (u32, kib));
TR_MESSAGE(fill, (u32, count));
TR_ACTOR(shelf, put_book, dust, swell, fill);

static tr_next on_put_book(tr_self *self, struct shelf *state, const struct put_book *message)
{
    state->count++;
    state->label = "<i>left</i>";
    state->pin = "1234";
    tr_kv_put(self, TR_BYTES("last"), (tr_bytes){message->title, strlen(message->title)});
    tr_kv_put(self, TR_BYTES("raw"), (tr_bytes){"\xff\x00", 2});
    tr_alarm_after(self, "dust", TR_HOUR, dust);
    tr_queue_push(self, "returns", book, .title = message->title, .pages = message->pages);
    (void)tr_sql(self, "CREATE TABLE IF NOT EXISTS book (title TEXT, pages INTEGER)");
    (void)tr_sql(self, "INSERT INTO book VALUES (?, ?)", message->title, message->pages);
    return TR_SAME;
}
static tr_next on_dust(struct shelf *state)
{
    state->count = 0;
    return TR_SAME;
}
static tr_next on_swell(tr_self *self, struct shelf *state, const struct swell *message)
{
    char *label = tr_alloc(self, message->kib * 1024 + 1);
    memset(label, 'x', message->kib * 1024);
    label[message->kib * 1024] = '\0';
    state->label = label;
    return TR_SAME;
}
/* More keys and items than a page has. */
static tr_next on_fill(tr_self *self, const struct fill *message)
{
    for (uint32_t i = 0; i < message->count; i++) {
        char key[32];
        int length = snprintf(key, sizeof key, "key-%04u", i);
        tr_kv_put(self, (tr_bytes){key, (size_t)length}, TR_BYTES("<b>value</b>"));
        tr_queue_push(self, "fills", fill, .count = i);
    }
    return TR_SAME;
}
TR_BEHAVIOR(shelf, struct shelf, TR_ON(put_book, on_put_book), TR_ON(dust, on_dust),
            TR_ON(swell, on_swell), TR_ON(fill, on_fill));
TR_DURABLE(shelf, shelf, .idle_ns = TR_HOUR);

TR_MESSAGE(book_in, (u64, cents));
TR_MESSAGE(booked, (u64, cents));
TR_MESSAGE(ledger_state, (u64, cents), (u64, entries));
TR_ACTOR(ledger, book_in);
static void apply_booked(struct ledger_state *state, const struct booked *event)
{
    state->cents += event->cents;
    state->entries++;
}
TR_EVENTS(ledger_events, ledger_state, TR_APPLY(booked, apply_booked), TR_SNAPSHOTS(.every = 50));
static tr_next on_book_in(tr_self *self, const struct ledger_state *state,
                          const struct book_in *message)
{
    (void)state;
    tr_persist(self, booked, .cents = message->cents);
    return TR_SAME;
}
TR_BEHAVIOR(ledger, const struct ledger_state, TR_ON(book_in, on_book_in));
TR_DURABLE(ledger, ledger_state, .events = &ledger_events, .idle_ns = TR_HOUR);

TR_MESSAGE(order, (str, item), (u32, tries));
TR_MESSAGE(place, (str, item));
TR_ACTOR(order, place);
static tr_next on_place(tr_self *self, struct order *state, const struct place *message)
{
    if (strcmp(message->item, "anvil") == 0)
        return tr_fail(self, TR_LIMIT, "an anvil is too heavy, try %u", state->tries);
    state->item = tr_strdup(self, message->item);
    state->tries++;
    return TR_SAME;
}
TR_BEHAVIOR(order, struct order, TR_ON(place, on_place));
TR_DURABLE(order, order, .idle_ns = TR_HOUR);

/* ---- An echo server. ---- */

static tr_next on_received(tr_self *self, const struct tr_received *message)
{
    tr_write(self, message->channel, message->bytes);
    return TR_SAME;
}
TR_ACTOR(echo, tr_received);
TR_BEHAVIOR(echo, void, TR_ON(tr_received, on_received));

/* ---- The shop. ---- */

TR_MESSAGE(tick);
TR_ACTOR(shop, tick, tour);
struct shop {
    hall_ref hall;
    mill_ref mill;
    desk_ref desk;
    teller_ref guest;
    narrow_ref narrow;
    ward_ref ward;
    uint64_t ticks;
};

static void stock(tr_self *self)
{
    static const char *titles[] = {"Emma", "Ulysses", "<script>window.wasRun = true</script>"};
    for (uint32_t i = 0; i < 40; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "row-%02u", i);
        tr_tell(
            self, tr_durable(self, shelf, key), put_book, .title = titles[i % 3], .pages = 100 + i);
    }
    tr_tell(self, tr_durable(self, shelf, "<b>x</b> \"'&"), put_book, .title = "Odd", .pages = 1);
    tr_tell(self, tr_durable(self, shelf, "bytes\xff"), put_book, .title = "Bytes", .pages = 1);
    for (uint32_t i = 1; i <= 12; i++)
        tr_tell(self, tr_durable(self, ledger, "cash"), book_in, .cents = i * 100);
    tr_tell(self, tr_durable(self, order, "o-1"), place, .item = "lamp");
    tr_tell(self, tr_durable(self, order, "o-2"), place, .item = "anvil");
}

/* With INSPECTOR_TLS, the beginning of the names of two files, an echo server with TLS. */
static void listen_with_tls(tr_self *self)
{
    const char *files = getenv("INSPECTOR_TLS");
    tr_listener_ref listener;
    if (!files)
        return;
    tr_status status = tr_try_listen(self,
                                     &listener,
                                     echo,
                                     TR_TLS("127.0.0.1:0",
                                            .certificate = tr_format(self, "%s.pem", files),
                                            .key = tr_format(self, "%s.key", files),
                                            .alpn = "h2,http/1.1"));
    printf("secure at %s\n",
           status == TR_OK ? tr_address_text(self, tr_listener_address(self, listener))
                           : tr_status_name(status));
}

static tr_next on_args(tr_self *self, struct shop *state, const struct tr_args *message)
{
    const char *count = message->argv.count > 1 ? message->argv.items[1] : "300";
    tr_listener_ref listener = tr_listen(self, echo, TR_TCP("127.0.0.1:0"));
    printf("echo at %s\n", tr_address_text(self, tr_listener_address(self, listener)));
    state->mill = tr_spawn(self, mill, "mill");
    state->desk = tr_spawn(self, desk, "desk");
    state->narrow = tr_spawn(self, narrow, "narrow");
    state->ward = tr_spawn(self, ward, "ward");
    state->guest = tr_spawn(self, teller, "guest");
    (void)tr_spawn(self, attic, "attic");
    (void)tr_spawn(self, guide, "guide");
    tr_tell(self, tr_spawn(self, clerk, "clerk"), remind);
    listen_with_tls(self);
    stock(self);
    state->hall = tr_spawn(self, hall, "hall", hall_size, .count = (uint32_t)atoi(count));
    tr_timer_fixed_delay(self, "tick", 20 * TR_MILLISECOND, tick);
    tr_log_warn(self, "the shop is open: <script>window.wasRun = true</script>");
    return TR_SAME;
}

static tr_next on_tick(tr_self *self, struct shop *state)
{
    for (uint32_t i = 0; i < 50; i++)
        tr_tell(self, state->hall, deposit, .cents = 1, .note = "tick");
    tr_tell(self, state->mill, grind, .us = 3000);
    tr_tell(self,
            state->desk,
            letter,
            .to = "<b>Anna</b>",
            .text = "tea at five",
            .seal = TR_BYTES("\xff\x00\xfe"));
    if (state->ticks == 0) {
        printf("page %s\n", tr_app_inspector(self) ? tr_app_inspector(self) : "none");
        (void)fflush(stdout);
    }
    if (state->ticks % 50 == 10)
        tr_log_info(self, "%u ticks", (unsigned)state->ticks);
    if (state->ticks % 100 == 20) {
        for (uint32_t i = 0; i < 3; i++)
            tr_tell(self, state->narrow, count_one, .number = i);
    }
    if (state->ticks++ % 150 == 30) {
        breaker_ref breaker = tr_find(self, breaker, "/user/shop/ward/breaker");
        tr_tell(self, breaker, trip, .text = "<img src=x onerror=\"window.wasRun=true\"> fell");
    }
    return TR_SAME;
}

static tr_next on_tour(tr_self *self, struct shop *state, const struct tour *message)
{
    tr_log_info(self, "a tour: %s", message->text);
    const struct balance *balance = tr_await(self, tr_ask(self, state->guest, get_balance));
    tr_tell(self, state->guest, deposit, .cents = balance->cents + 1, .note = message->text);
    tr_tell(self, state->mill, grind, .us = 500);
    return TR_SAME;
}

TR_BEHAVIOR(shop, struct shop, TR_ON(tr_args, on_args), TR_ON(tick, on_tick), TR_ON(tour, on_tour));

int main(int argc, char **argv)
{
    return tr_app_main(
        argc, argv, shop, .workers = 2, .durable = TR_DURABLES(shelf, ledger, order));
}
