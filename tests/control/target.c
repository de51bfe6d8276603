/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program for the tool to look into: a till with a state, a secret and a mailbox that can be held up; an actor that
 * blocks its worker; one that fails. It runs until it is stopped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <troupe/troupe.h>

TR_MESSAGE(card, (str, holder), (str, number));
TR_SECRET(card, number);
TR_MESSAGE(balance, (u64, cents));
TR_REQUEST(get_balance, balance);
TR_REQUEST(get_card, card);
TR_REQUEST(never, tr_done);
TR_MESSAGE(deposit, (u64, cents), (str, pin));
TR_SECRET(deposit, pin);
TR_MESSAGE(till, (u64, cents), (message(card), card));
TR_MESSAGE(work, (u32, ms));
TR_MESSAGE(fail_now, (str, text));
TR_REQUEST(bear, tr_done, (u32, count));
TR_ACTOR(till, deposit, get_balance, get_card, never, bear);
TR_ACTOR(worker, work);
TR_MESSAGE(open_box);
TR_MESSAGE(open_desk);
TR_ACTOR(breaker, fail_now, open_box, open_desk);

static tr_next on_deposit(struct till *state, const struct deposit *message)
{
    state->cents += message->cents;
    return TR_SAME;
}

static tr_next on_get_balance(tr_self *self, struct till *state)
{
    return tr_reply(self, balance, .cents = state->cents);
}

static tr_next on_get_card(tr_self *self, struct till *state)
{
    return tr_reply(self, card, .holder = state->card.holder, .number = state->card.number);
}

static tr_next on_never(tr_self *self)
{
    (void)tr_reply_later(self);
    return TR_SAME;
}

static tr_next on_bear(tr_self *self, const struct bear *message);

static tr_next on_till_start(struct till *state)
{
    state->card = (struct card){"Ada", "4111-1111"};
    return TR_SAME;
}

TR_BEHAVIOR(till, struct till, TR_ON(tr_pre_start, on_till_start), TR_ON(deposit, on_deposit),
            TR_ON(get_balance, on_get_balance), TR_ON(get_card, on_get_card),
            TR_ON(never, on_never), TR_ON(bear, on_bear), TR_OPTIONS(.shows = &tr_type_till));

static tr_next on_bear(tr_self *self, const struct bear *message)
{
    for (uint32_t i = 0; i < message->count; i++)
        (void)tr_spawn(self, till, NULL);
    return tr_reply(self, tr_done);
}

/* Says to tests/control/run what has happened; the level of the log does not matter to it. */
static void say(const char *what)
{
    fprintf(stderr, "target: %s\n", what);
}

/* Blocks its worker, against the rules. */
static tr_next on_work(const struct work *message)
{
    struct timespec time = {message->ms / 1000, message->ms % 1000 * 1000000L};
    (void)nanosleep(&time, NULL);
    return TR_SAME;
}
TR_BEHAVIOR(worker, void, TR_ON(work, on_work));

static tr_next on_fail_now(tr_self *self, const struct fail_now *message)
{
    if (strcmp(message->text, "nowhere") == 0)
        *(volatile int *)(uintptr_t)tr_wall_now(NULL) = 1; /* tr_wall_now(NULL) is 0 */
    return tr_fail(self, TR_BAD_DATA, "%s", message->text);
}

static tr_next on_open_box(tr_self *self);

/* A clerk is not durable. Its state depends on all that its turns read. */
TR_MESSAGE(clerk, (str, text), (u64, sum));
TR_MESSAGE(count_up, (str, text));
TR_ACTOR(clerk, count_up);

static tr_next on_count_up(tr_self *self, struct clerk *state, const struct count_up *message)
{
    till_ref till = tr_find(self, till, "/user/target/till");
    const struct balance *balance = tr_await(self, tr_ask(self, till, get_balance));
    tr_sleep(self, TR_MILLISECOND); /* takes no time in a replay */
    tr_free(self, (void *)(uintptr_t)state->text);
    state->text = tr_strdup(self, message->text);
    state->sum +=
        balance->cents + (tr_random(self) ^ (uint64_t)tr_now(self) ^ (uint64_t)tr_wall_now(self));
    if (strcmp(message->text, "wrong") != 0)
        return TR_SAME;
    return tr_fail(self, TR_BAD_DATA, "the sum is %llu", (unsigned long long)state->sum);
}

static tr_next on_clerk_start(struct clerk *state)
{
    state->sum = 7;
    return TR_SAME;
}
TR_BEHAVIOR(clerk, struct clerk, TR_ON(tr_pre_start, on_clerk_start), TR_ON(count_up, on_count_up),
            TR_OPTIONS(.shows = &tr_type_clerk));

static tr_next on_open_desk(tr_self *self)
{
    (void)tr_spawn(self, clerk, "clerk");
    return TR_SAME;
}
TR_BEHAVIOR(breaker, void, TR_ON(fail_now, on_fail_now), TR_ON(open_box, on_open_box),
            TR_ON(open_desk, on_open_desk));

#ifdef TARGET_NEXT /* a later version of the program, which cannot read what this one has stored */
TR_MESSAGE(note, (str, text), (str, pass));
TR_SECRET(note, pass);
#define NOTE_CODE(note) (note)->pass
#else
TR_MESSAGE(note, (str, text), (str, code));
TR_SECRET(note, code);
#define NOTE_CODE(note) (note)->code
#endif
TR_MESSAGE(write_note, (str, text));
TR_ACTOR(note, write_note);

static tr_next on_write_note(tr_self *self, struct note *state, const struct write_note *message)
{
    state->text = tr_strdup(self, message->text);
    NOTE_CODE(state) = "0000";
    say("a note was written");
    return TR_SAME;
}
/* Fails if what it reads fits together, so that a record must have all of it. */
TR_MESSAGE(check_note, (str, text));

static tr_next planted(tr_self *self, const struct note *state, uint64_t number, uint64_t cents)
{
    return tr_fail(self,
                   TR_BAD_DATA,
                   "%s line %d: %s, %u, %u",
                   "target.c",
                   __LINE__,
                   state->text,
                   (unsigned)(number % 1000000),
                   (unsigned)cents);
}

static tr_next on_check_note(tr_self *self, struct note *state, const struct check_note *message)
{
    till_ref till = tr_find(self, till, "/user/target/till");
    uint64_t number = tr_random(self) ^ (uint64_t)tr_now(self) ^ (uint64_t)tr_wall_now(self);
    tr_kv_put(self, (tr_bytes){"k", 1}, (tr_bytes){"v", 1});
    state->text = tr_strdup(self, message->text);
    const struct balance *balance = tr_await(self, tr_ask(self, till, get_balance));
    tr_bytes value;
    bool is_there = tr_kv_get(self, (tr_bytes){"k", 1}, &value);
    return is_there ? planted(self, state, number, balance->cents) : TR_SAME;
}

/* Its state depends on all that it reads. */
TR_MESSAGE(list_note, (u32, count));

static tr_next on_list_note(tr_self *self, struct note *state, const struct list_note *message)
{
    const tr_kv *list;
    char key[16];
    (void)snprintf(key, sizeof key, "key-%u", (unsigned)message->count);
    tr_kv_put(self, (tr_bytes){key, strlen(key)}, (tr_bytes){"v", 1});
    size_t count = tr_kv_list(self, (tr_bytes){"key-", 4}, (tr_bytes){NULL, 0}, &list, 10);
    state->text = tr_strdup(self,
                            tr_format(self,
                                      "%zu %.*s %u",
                                      count,
                                      (int)list[0].key.size,
                                      (const char *)list[0].key.data,
                                      (unsigned)(tr_random(self) % 1000000)));
    return TR_SAME;
}

/* An alarm that fails. */
TR_MESSAGE(ring_note);
TR_MESSAGE(rung_note, (str, text));

static tr_next on_ring_note(tr_self *self)
{
    tr_alarm_after(self, "ring", TR_MILLISECOND, rung_note, .text = "ding");
    return TR_SAME;
}

static tr_next on_rung_note(tr_self *self, struct note *state, const struct rung_note *message)
{
    return tr_fail(self, TR_BAD_DATA, "%s, %s", message->text, state->text);
}

/* A turn that ends by a fault. A target with TARGET_TRAPS in its environment survives that. */
TR_MESSAGE(spill_note, (str, text));

__attribute__((__noinline__)) static void spill(const char *text)
{
    static int *volatile nowhere = (int *)8;
    *(volatile int *)nowhere = text[0];
}

__attribute__((__noinline__)) static int sink(int depth)
{
    volatile char frame[512];
    frame[depth % 512] = (char)depth;
    int below = depth ? sink(depth + 1) : 0;
    return below + frame[(depth + 1) % 512];
}

static tr_next on_spill_note(tr_self *self, struct note *state, const struct spill_note *message)
{
    state->text = tr_strdup(self, message->text);
    if (strcmp(message->text, "deep") == 0)
        return sink(1) ? TR_SAME : TR_STOP;
    spill(state->text);
    return TR_SAME;
}

TR_BEHAVIOR(note, struct note, TR_ON(write_note, on_write_note), TR_ON(check_note, on_check_note),
            TR_ON(list_note, on_list_note), TR_ON(ring_note, on_ring_note),
            TR_ON(rung_note, on_rung_note), TR_ON(spill_note, on_spill_note));
TR_DURABLE(note, note, .idle_ns = TR_HOUR);

/* A box takes one message at a time; others are dead letters. */
TR_MESSAGE(box, (u32, sum));
TR_MESSAGE(add, (u32, count));
TR_ACTOR(box, add);
static tr_next on_add(struct box *state, const struct add *message)
{
    state->sum += message->count;
    return TR_SAME;
}
TR_BEHAVIOR(box, struct box, TR_ON(add, on_add),
            TR_OPTIONS(.shows = &tr_type_box, .mailbox_max = 1, .overflow = TR_DROP_NEWEST));
static tr_next on_open_box(tr_self *self)
{
    (void)tr_spawn(self, box, "box");
    return TR_SAME;
}

/* A shelf has everything that can be stored and nothing that is secret; it stays awake until it is asked to sleep. */
TR_MESSAGE(book, (str, title), (u32, pages));
TR_MESSAGE(shelf, (u64, count), (list(message(book)), books), (str, label));
TR_MESSAGE(put_book, (str, title), (u32, pages));
TR_MESSAGE(dust);
TR_MESSAGE(fill, (u32, mib));
TR_ACTOR(shelf, put_book, dust, fill);

static tr_next on_put_book(tr_self *self, struct shelf *state, const struct put_book *message)
{
    state->count++;
    state->label = "left";
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

/* Stores much, so that a copy of the store takes a while. */
static tr_next on_fill(tr_self *self, const struct fill *message)
{
    static char bytes[64 * 1024];
    for (uint32_t i = 0; i < message->mib * 16; i++) {
        const char *key = tr_format(self, "%u", (unsigned)i);
        tr_kv_put(self, (tr_bytes){key, strlen(key)}, (tr_bytes){bytes, sizeof bytes});
    }
    return TR_SAME;
}
TR_BEHAVIOR(shelf, struct shelf, TR_ON(put_book, on_put_book), TR_ON(dust, on_dust),
            TR_ON(fill, on_fill));
TR_DURABLE(shelf, shelf, .idle_ns = TR_HOUR);

/* A page that asks the till, and another server if the request names one. */
TR_MESSAGE(serve, (str, address));
TR_ACTOR(page);

static tr_next on_page(tr_self *self)
{
    till_ref till = tr_find(self, till, "/user/target/till");
    const char *url = tr_http_query(self, "to");
    const struct balance *balance = tr_await(self, tr_ask(self, till, get_balance));
    if (url)
        (void)tr_await(self, tr_http_ask(self, url));
    return tr_http_reply(self, 200, .text = tr_format(self, "%u\n", (unsigned)balance->cents));
}
TR_BEHAVIOR(page, void, TR_GET("/page", tr_http_request, on_page));

/* Two actors that get messages in the same rounds: one of them one, the other many. */
TR_MESSAGE(step);
TR_REQUEST(rest, tr_done);
TR_MESSAGE(race, (u32, rounds), (u32, many));
TR_ACTOR(runner, step, rest);
TR_ACTOR(crowd, step, rest);
static tr_next on_step(void)
{
    return TR_SAME;
}
static tr_next on_rest(tr_self *self)
{
    return tr_reply(self, tr_done);
}
TR_BEHAVIOR(runner, void, TR_ON(step, on_step), TR_ON(rest, on_rest));
TR_BEHAVIOR(crowd, void, TR_ON(step, on_step), TR_ON(rest, on_rest));

static tr_next on_race(tr_self *self, const struct race *message)
{
    runner_ref one = tr_spawn_at(self, 0, runner, NULL);
    crowd_ref many = tr_spawn_at(self, 0, crowd, NULL);
    for (uint32_t i = 0; i < message->rounds; i++) {
        tr_tell(self, one, step);
        for (uint32_t j = 0; j < message->many; j++)
            tr_tell(self, many, step);
        (void)tr_await(self, tr_ask(self, one, rest));
        (void)tr_await(self, tr_ask(self, many, rest));
    }
    say("the race is over");
    return TR_SAME;
}

/* A message that leads to others: to an actor of another worker, to a new actor, by an ask and by a timer. */
TR_MESSAGE(tour, (str, text));
TR_MESSAGE(later);
TR_MESSAGE(hope);
TR_ACTOR(target, tour, later, serve, hope, race);

struct target {
    till_ref till;
    worker_ref worker;
};

static tr_next on_tour(tr_self *self, struct target *state, const struct tour *message)
{
    tr_log_info(self, "a tour: %s", message->text);
    const struct balance *balance = tr_await(self, tr_ask(self, state->till, get_balance));
    tr_log_debug(self, "%u cents", (unsigned)balance->cents);
    tr_tell(self, state->worker, work, .ms = 1);
    (void)tr_spawn(self, till, "lodger");
    tr_timer_once(self, NULL, TR_MILLISECOND, later);
    return TR_SAME;
}

/* Asks for what nobody answers. */
static tr_next on_hope(tr_self *self, struct target *state)
{
    (void)tr_await(self, tr_ask_within(self, TR_HOUR, state->till, never));
    return TR_SAME;
}

static tr_next on_later(tr_self *self)
{
    tr_log_info(self, "the tour is over");
    return TR_SAME;
}

static tr_next on_serve(tr_self *self, const struct serve *message)
{
    tr_listener_ref listener = tr_listen(self, page, TR_HTTP(message->address));
    tr_log_info(self,
                "pages at http://%s/page",
                tr_address_text(self, tr_listener_address(self, listener)));
    return TR_SAME;
}

static tr_next on_args(tr_self *self, struct target *state)
{
    tr_tell(self, tr_durable(self, note, "anna"), write_note, .text = "tea");
    tr_tell(self, tr_durable(self, shelf, "a"), put_book, .title = "Emma", .pages = 474);
    tr_tell(self, tr_durable(self, shelf, "b c"), put_book, .title = "Ulysses", .pages = 730);
    state->till = tr_spawn(self, till, "till");
    tr_watch(self, state->till);
    tr_watch(self, tr_spawn(self, breaker, "breaker"));
    for (int i = 0; i < 2; i++) {
        state->worker = tr_spawn_at(self, i, worker, i ? "worker-1" : "worker-0");
        tr_watch(self, state->worker);
    }
    printf("ready\n");
    (void)fflush(stdout);
    return TR_SAME;
}

static tr_next on_terminated(void)
{
    say("an actor has ended");
    return TR_SAME;
}
TR_BEHAVIOR(target, struct target, TR_ON(tr_args, on_args), TR_ON(tour, on_tour),
            TR_ON(later, on_later), TR_ON(serve, on_serve), TR_ON(hope, on_hope),
            TR_ON(race, on_race), TR_ON(tr_terminated, on_terminated));

int main(int argc, char **argv)
{
    tr_time handoff_ns = getenv("TARGET_HANDOFF") ? 20 * TR_MILLISECOND : 0;
    return tr_app_main(argc,
                       argv,
                       target,
                       .workers = 2,
                       .traps_faults = getenv("TARGET_TRAPS") != NULL,
                       .durable = TR_DURABLES(note, shelf),
                       .system = {.handoff_after_ns = handoff_ns});
}
