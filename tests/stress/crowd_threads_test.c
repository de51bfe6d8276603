/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Groups and topics on real threads: order per sender and member, no message for another group than it
 * was sent to, however fast groups come and go, and what is shared is freed once.
 */
#include "support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <troupe/troupe.h>

enum { WORKERS = 4, ACTORS = 4, CLIENTS = 2, SOURCES = ACTORS + CLIENTS, MEMBERS = 6, BURST = 16 };
enum { IN_FLIGHT = 5000 };

static tr_system *system_;
static tr_client *client;
static uint64_t per_source;
static atomic_uint_fast64_t sent;
static atomic_uint_fast64_t received;
static atomic_uint_fast64_t wrong;
static atomic_uint_fast64_t over; /* sources that are through */

static void quiet(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static void system_begin(void)
{
    tr_system_options options = {.workers = WORKERS, .on_log = quiet};
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
    atomic_store(&sent, 0);
    atomic_store(&received, 0);
    atomic_store(&wrong, 0);
    atomic_store(&over, 0);
}

static void system_end(void)
{
    tr_client_free(client);
    tr_system_shutdown(system_, 20 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_counters counters;
    tr_system_counters(system_, &counters);
    ck_assert_uint_eq(counters.accepted,
                      counters.handled + counters.dead_letters - counters.refused);
    ck_assert_uint_eq(counters.queued, 0);
    ck_assert_uint_eq(counters.live, 0);
    tr_system_free(system_);
    ck_assert_uint_eq(atomic_load(&wrong), 0);
}

/* The test is of order, not of memory. */
static bool is_far_ahead(void)
{
    return (int64_t)atomic_load(&sent) - (int64_t)atomic_load(&received) > IN_FLIGHT;
}

/* ---- A group under many senders. ---- */

TR_MESSAGE(number, (u64, from), (u64, n));
TR_MESSAGE(number_back, (u64, n));
TR_REQUEST(ask_number, number_back, (u64, from), (u64, n));
TR_ACTOR(member, number, ask_number);

struct member {
    uint64_t next[SOURCES];
};

static void take(struct member *member, uint64_t from, uint64_t n)
{
    if (n < member->next[from])
        atomic_fetch_add(&wrong, 1);
    member->next[from] = n + 1;
    atomic_fetch_add(&received, 1);
}
static tr_next on_number(struct member *member, const struct number *message)
{
    take(member, message->from, message->n);
    return TR_SAME;
}
static tr_next on_ask_number(tr_self *self, struct member *member, const struct ask_number *message)
{
    take(member, message->from, message->n);
    return tr_reply(self, number_back, .n = message->n);
}
TR_BEHAVIOR(member, struct member, TR_ON(number, on_number), TR_ON(ask_number, on_ask_number));

static member_ref group;

TR_MESSAGE(go_on, (u64, from));
TR_ACTOR(sender, go_on);
static tr_next on_go_on(tr_self *self, uint64_t *next, const struct go_on *message)
{
    for (int i = 0; i < BURST && *next < per_source && !is_far_ahead(); i++) {
        uint64_t n = (*next)++;
        if (n % 16 == 0) {
            const struct number_back *back =
                tr_await(self, tr_ask(self, group, ask_number, .from = message->from, .n = n));
            if (back->n != n)
                atomic_fetch_add(&wrong, 1);
        } else if (tr_tell(self, group, number, .from = message->from, .n = n) != TR_OK) {
            atomic_fetch_add(&wrong, 1);
        }
        atomic_fetch_add(&sent, 1);
    }
    if (*next == per_source)
        atomic_fetch_add(&over, 1);
    else
        tr_tell(self, tr_me(self), go_on, .from = message->from);
    return TR_SAME;
}
TR_BEHAVIOR(sender, uint64_t, TR_ON(go_on, on_go_on, .is_barrier = true));

static void *client_sends(void *argument)
{
    uint64_t from = (uint64_t)(uintptr_t)argument;
    tr_client *own;
    if (tr_client_new(system_, &own) != TR_OK)
        return NULL;
    for (uint64_t n = 0; n < per_source; n++) {
        while (is_far_ahead())
            sched_yield();
        if (tr_tell(own, group, number, .from = from, .n = n) != TR_OK)
            atomic_fetch_add(&wrong, 1);
        atomic_fetch_add(&sent, 1);
    }
    tr_client_free(own);
    atomic_fetch_add(&over, 1);
    return NULL;
}

TEST(order_per_sender_and_member_holds, "M-01")
{
    pthread_t threads[CLIENTS];
    per_source = test_scale(20000, 2000000);
    system_begin();
    /* From the first moment on: the group is not set up yet. */
    ck_assert_int_eq(tr_try_spawn_group(client, &group, member, "members", MEMBERS), TR_OK);
    for (uint64_t i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, client_sends, (void *)(uintptr_t)(ACTORS + i)), 0);
    for (uint64_t i = 0; i < ACTORS; i++) {
        sender_ref sender;
        ck_assert_int_eq(tr_try_spawn_at(client, &sender, (int)i % WORKERS, sender, NULL), TR_OK);
        tr_tell(client, sender, go_on, .from = i);
    }
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    while (atomic_load(&over) < SOURCES || atomic_load(&received) < SOURCES * per_source)
        sched_yield();
    ck_assert_uint_eq(atomic_load(&received), SOURCES * per_source);
    ck_assert_uint_eq(tr_group_count(client, group), MEMBERS);
    system_end();
}

/* ---- Groups that come and go under those who send to them. ---- */

TR_MESSAGE(be, (u64, identity));
TR_MESSAGE(hello, (u64, identity));
TR_ACTOR(guest, hello);
TR_ROUTES(guest, TR_ROUTE_BY(hello, identity));

struct guest {
    uint64_t identity;
};
static tr_next guest_set_up(struct guest *guest, const struct be *message)
{
    guest->identity = message->identity;
    return TR_SAME;
}
static tr_next on_hello(struct guest *guest, const struct hello *message)
{
    if (guest->identity != message->identity)
        atomic_fetch_add(&wrong, 1);
    atomic_fetch_add(&received, 1);
    return TR_SAME;
}
TR_BEHAVIOR(guest, struct guest, TR_SETUP_WITH(be, guest_set_up), TR_ON(hello, on_hello));

enum { HOUSES = 4 };
/* The ref of each group, by its identity. */
static atomic_uint_fast64_t refs[1 << 16];
static atomic_uint_fast64_t ref_count;

static void send_to_any(tr_self *self, tr_client *from, uint64_t chance)
{
    uint64_t count = atomic_load(&ref_count);
    tr_counters counters;
    tr_system_counters(system_, &counters);
    if (!count || counters.queued > IN_FLIGHT)
        return;
    /* Mostly of the last few, which may be alive or just gone, or another's place by now. */
    uint64_t identity = count - 1 - chance % (count < 8 ? count : 8);
    guest_ref to = guest_ref_of(tr_ref_from_bits(atomic_load(&refs[identity])));
    tr_status status = self ? tr_tell(self, to, hello, .identity = identity)
                            : tr_tell(from, to, hello, .identity = identity);
    if (status != TR_OK && status != TR_STOPPED)
        atomic_fetch_add(&wrong, 1);
    atomic_fetch_add(&sent, status == TR_OK);
}

TR_ACTOR(pest, go_on);
static tr_next on_pester(tr_self *self)
{
    for (int i = 0; i < BURST; i++)
        send_to_any(self, NULL, tr_random(self));
    if (!atomic_load(&over))
        tr_tell(self, tr_me(self), go_on);
    return TR_SAME;
}
TR_BEHAVIOR(pest, void, TR_ON(go_on, on_pester));

static void *client_pesters(void *argument)
{
    uint64_t chance = (uint64_t)(uintptr_t)argument;
    tr_client *own;
    if (tr_client_new(system_, &own) != TR_OK)
        return NULL;
    while (!atomic_load(&over)) {
        chance = chance * 6364136223846793005u + 1442695040888963407u;
        send_to_any(NULL, own, chance >> 33);
    }
    tr_client_free(own);
    return NULL;
}

TEST(a_message_never_reaches_another_group, "LC-14")
{
    pthread_t thread;
    uint64_t rounds = test_scale(1500, 40000);
    system_begin();
    atomic_store(&ref_count, 0);
    for (int i = 0; i < WORKERS; i++) {
        pest_ref pest;
        ck_assert_int_eq(tr_try_spawn_at(client, &pest, i, pest, NULL), TR_OK);
        tr_tell(client, pest, go_on);
    }
    ck_assert_int_eq(pthread_create(&thread, NULL, client_pesters, (void *)(uintptr_t)77), 0);
    guest_ref alive[HOUSES] = {{0}};
    for (uint64_t i = 0; i < rounds; i++) {
        guest_ref guest;
        int members = 1 + (int)(i % 4);
        tr_status status =
            i % 2 ? tr_try_spawn_group(client, &guest, guest, NULL, members, be, .identity = i)
                  : tr_try_spawn_router(client, &guest, guest, NULL, members, be, .identity = i);
        ck_assert_int_eq(status, TR_OK);
        atomic_store(&refs[i], guest.bits);
        atomic_store(&ref_count, i + 1);
        if (i % 3 == 0)
            ck_assert_int_eq(tr_spawn_wait(client, guest, 10 * TR_SECOND, NULL), TR_OK);
        if (!tr_is_nobody(alive[i % HOUSES]))
            (void)(i % 5 ? tr_stop(client, alive[i % HOUSES]) : tr_kill(client, alive[i % HOUSES]));
        alive[i % HOUSES] = guest;
    }
    atomic_store(&over, 1);
    pthread_join(thread, NULL);
    system_end();
    ck_assert_uint_gt(atomic_load(&received), 0);
}

/* ---- A topic under many publishers. ---- */

enum { PUBLISHERS = 3, READERS = 8 };

TR_MESSAGE(sheet, (u64, from), (u64, n), (array(u64, 64), rest), (str, text), (buffer, data));
TR_TOPIC(paper, sheet);
TR_MESSAGE(change);
TR_ACTOR(reader, sheet, change);

static paper_topic paper;
static atomic_uint_fast64_t taken;

struct reader {
    uint64_t next[PUBLISHERS];
    bool is_in;
};
static tr_next on_sheet(struct reader *reader, const struct sheet *message)
{
    const uint64_t *data = tr_buffer_data(message->data);
    bool is_right = message->n >= reader->next[message->from] && message->rest[63] == message->n &&
                    strcmp(message->text, "a text") == 0 && *data == message->n;
    if (!is_right)
        atomic_fetch_add(&wrong, 1);
    reader->next[message->from] = message->n + 1;
    atomic_fetch_add(&received, 1);
    return TR_SAME;
}
/* Half of them come and go all the time. */
static tr_next on_change(tr_self *self, struct reader *reader)
{
    tr_status status = reader->is_in ? tr_unsubscribe(self, paper) : tr_try_subscribe(self, paper);
    if (status != TR_OK)
        atomic_fetch_add(&wrong, 1);
    reader->is_in = !reader->is_in;
    if (!atomic_load(&over))
        tr_tell(self, tr_me(self), change);
    return TR_SAME;
}
static tr_next reader_set_up(tr_self *self, struct reader *reader)
{
    tr_subscribe(self, paper);
    reader->is_in = true;
    return TR_SAME;
}
TR_BEHAVIOR(reader, struct reader, TR_SETUP(reader_set_up), TR_ON(sheet, on_sheet),
            TR_ON(change, on_change));

static void publish(tr_self *self, tr_client *from, uint64_t who, uint64_t n)
{
    tr_buffer *data = tr_buffer_new(sizeof n);
    if (!data)
        return;
    memcpy(tr_buffer_data(data), &n, sizeof n);
    struct sheet message = {.from = who, .n = n, .rest[63] = n, .text = "a text", .data = data};
    tr_published published = self ? tr_publish_copy(self, paper, sheet, &message)
                                  : tr_publish_copy(from, paper, sheet, &message);
    tr_buffer_release(data);
    if (published.status != TR_OK || published.refused)
        atomic_fetch_add(&wrong, 1);
    atomic_fetch_add(&taken, published.taken);
    atomic_fetch_add(&sent, published.taken);
}

TR_ACTOR(author, go_on);
static tr_next on_write(tr_self *self, uint64_t *next, const struct go_on *message)
{
    for (int i = 0; i < BURST && *next < per_source && !is_far_ahead(); i++)
        publish(self, NULL, message->from, (*next)++);
    if (*next == per_source)
        atomic_fetch_add(&over, 1);
    else
        tr_tell(self, tr_me(self), go_on, .from = message->from);
    return TR_SAME;
}
TR_BEHAVIOR(author, uint64_t, TR_ON(go_on, on_write));

TEST(everybody_has_what_is_shared_until_it_is_done, "M-01", "B-06")
{
    reader_ref readers[READERS];
    per_source = test_scale(5000, 500000);
    system_begin();
    atomic_store(&taken, 0);
    ck_assert_int_eq(tr_try_topic_open(client, &paper, paper, "paper"), TR_OK);
    for (int i = 0; i < READERS; i++) {
        ck_assert_int_eq(tr_try_spawn_at(client, &readers[i], i % WORKERS, reader, NULL), TR_OK);
        ck_assert_int_eq(tr_spawn_wait(client, readers[i], 10 * TR_SECOND, NULL), TR_OK);
        if (i % 2)
            tr_tell(client, readers[i], change);
    }
    for (uint64_t i = 0; i < PUBLISHERS - 1; i++) {
        author_ref author;
        ck_assert_int_eq(tr_try_spawn_at(client, &author, (int)i, author, NULL), TR_OK);
        tr_tell(client, author, go_on, .from = i);
    }
    for (uint64_t n = 0; n < per_source; n++) {
        while (is_far_ahead())
            sched_yield();
        publish(NULL, client, PUBLISHERS - 1, n);
        if (n == per_source / 2) /* a subscriber that ends is one no longer */
            tr_kill(client, readers[0]);
    }
    while (atomic_load(&over) < PUBLISHERS - 1)
        sched_yield();
    /* What the killed one had is dead letters, the rest was read. */
    tr_counters counters;
    do {
        sched_yield();
        tr_system_counters(system_, &counters);
    } while (atomic_load(&received) + counters.dead_letters < atomic_load(&taken));
    ck_assert_uint_ge(atomic_load(&taken), 3 * PUBLISHERS * per_source);
    system_end();
}

SUITE("crowd threads", order_per_sender_and_member_holds, a_message_never_reaches_another_group,
      everybody_has_what_is_shared_until_it_is_done)
