/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Topics: who gets what is published, once, in order, and as one copy.
 */
#include "support/kits.h"

enum { READERS_MAX = 64 };

TR_MESSAGE(tick, (u64, n));
TR_MESSAGE(page, (u64, n), (array(u8, 4000), text));
TR_MESSAGE(letter, (str, text), (u64, n), (buffer, data));
TR_TOPIC(paper, tick, page, letter);
TR_ACTOR(reader, run, tick, page, letter);
TR_ACTOR(narrow, run, tick, page, letter);
TR_ACTOR(patient, run, tick, page, letter);
TR_ACTOR(forgetful, run, tick, page, letter);
TR_ACTOR(careless, run, tick, page, letter);

static paper_topic paper;
static reader_ref readers[READERS_MAX];
static uint64_t got[READERS_MAX][256];
static size_t got_count[READERS_MAX];
static const void *addresses[READERS_MAX];
static uint64_t publisher; /* bits of who sent the last one */

static int number_of(tr_self *self)
{
    for (int i = 0; i < READERS_MAX; i++) {
        if (tr_is_same(readers[i], tr_me(self)))
            return i;
    }
    ck_abort_msg("a reader that nobody knows");
    return 0;
}

static tr_next note(tr_self *self, uint64_t n, const void *address)
{
    int number = number_of(self);
    publisher = tr_sender(self).bits;
    got[number][got_count[number]++] = n;
    addresses[number] = address;
    return TR_SAME;
}

static tr_next on_tick(tr_self *self, const struct tick *message)
{
    return note(self, message->n, message);
}

static tr_next on_page(tr_self *self, const struct page *message)
{
    ck_assert_uint_eq(message->text[3999], (uint8_t)message->n);
    return note(self, message->n, message);
}

static tr_next on_letter(tr_self *self, const struct letter *message)
{
    ck_assert_str_eq(message->text, "a text that needs memory");
    ck_assert_uint_eq(tr_buffer_size(message->data), 100);
    return note(self, message->n, message);
}

#define READER(name, ...)                                                                          \
    TR_BEHAVIOR(name,                                                                              \
                void,                                                                              \
                TR_ON(run, on_run),                                                                \
                TR_ON(tick, on_tick),                                                              \
                TR_ON(page, on_page),                                                              \
                TR_ON(letter, on_letter),                                                          \
                TR_OPTIONS(__VA_ARGS__))
READER(reader, .is_pinned = true);
READER(narrow, .mailbox_max = 2);
READER(patient, .mailbox_max = 2, .overflow = TR_PARK);
READER(forgetful, .mailbox_max = 2, .overflow = TR_DROP_OLDEST);
READER(careless, .mailbox_max = 2, .overflow = TR_DROP_NEWEST);

static tr_next subscribe(tr_self *self)
{
    tr_subscribe(self, tr_topic_open(self, paper, "paper"));
    return TR_SAME;
}

static tr_next unsubscribe(tr_self *self)
{
    ck_assert_int_eq(tr_unsubscribe(self, paper), TR_OK);
    ck_assert_int_eq(tr_unsubscribe(self, paper), TR_NOT_FOUND);
    return TR_SAME;
}

/* The topic, and so many readers on all workers. */
static void open_with(int count)
{
    memset(got_count, 0, sizeof got_count);
    memset(readers, 0, sizeof readers);
    ck_assert_int_eq(tr_try_topic_open(test, &paper, paper, "paper"), TR_OK);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(tr_try_spawn_at(test, &readers[i], i % (home + 1), reader, NULL), TR_OK);
        TELL_RUN(test, readers[i], subscribe);
    }
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_topic_count(test, paper), (size_t)count);
}

static void all_got(int count, size_t many)
{
    for (int i = 0; i < count; i++) {
        ck_assert_uint_eq(got_count[i], many);
        for (size_t n = 0; n < many; n++)
            ck_assert_uint_eq(got[i][n], n);
    }
}

static tr_next publish_some(tr_self *self)
{
    for (uint64_t i = 0; i < 10; i++) {
        tr_published published = tr_publish(self, paper, tick, .n = 3 * i);
        ck_assert_int_eq(published.status, TR_OK);
        ck_assert_uint_eq(published.taken, 7);
        ck_assert_uint_eq(published.refused, 0);
        struct page big = {.n = 3 * i + 1, .text[3999] = (uint8_t)(3 * i + 1)};
        ck_assert_uint_eq(tr_publish_copy(self, paper, page, &big).taken, 7);
        tr_buffer *data = tr_buffer_of_turn(self, 100);
        tr_publish(
            self, paper, letter, .text = "a text that needs memory", .n = 3 * i + 2, .data = data);
    }
    return TR_SAME;
}
static void everybody_play(void)
{
    open_with(7);
    reader_ref author;
    ck_assert_int_eq(tr_try_spawn_at(test, &author, home, reader, NULL), TR_OK);
    TELL_RUN(test, author, publish_some);
    tr_kit_settle(kit);
    all_got(7, 30);
    ck_assert_uint_eq(publisher, author.bits);
    tr_kit_check(kit);
    for (int i = 1; i < 7; i++)
        ck_assert_ptr_eq(addresses[i], addresses[0]); /* one copy for all */
    tr_publish(test, paper, tick, .n = 30);
    tr_kit_settle(kit);
    all_got(7, 31);
    for (int i = 1; i < 7; i++)
        ck_assert_ptr_ne(addresses[i], addresses[0]); /* it fits in the envelope */
}
TEST(everybody_gets_everything_once_and_in_order, "M-01", "B-06")
{
    kits_each(everybody_play);
}

static void client_play(void)
{
    open_with(5);
    tr_client *listener;
    ck_assert_int_eq(tr_client_new(tr_kit_system(kit), &listener), TR_OK);
    ck_assert_int_eq(tr_subscribe(listener, paper), TR_OK);
    tr_buffer *data = tr_buffer_new(100);
    for (uint64_t i = 0; i < 9; i++) {
        struct page big = {.n = i, .text[3999] = (uint8_t)i};
        tr_published published = i % 3 == 0   ? tr_publish(test, paper, tick, .n = i)
                                 : i % 3 == 1 ? tr_publish_copy(test, paper, page, &big)
                                              : tr_publish(test,
                                                           paper,
                                                           letter,
                                                           .text = "a text that needs memory",
                                                           .n = i,
                                                           .data = data);
        ck_assert_int_eq(published.status, TR_OK);
        ck_assert_uint_eq(published.taken, 6);
    }
    tr_buffer_release(data);
    tr_kit_settle(kit);
    all_got(5, 9);
    ck_assert_uint_eq(publisher, tr_client_ref(test).bits);
    ck_assert_uint_eq(tr_receive(listener, page, 0)->n, 1);
    ck_assert_uint_eq(tr_receive(listener, tick, 0)->n, 0);
    const struct letter *last = tr_receive(listener, letter, 0);
    ck_assert_str_eq(last->text, "a text that needs memory");
    tr_kit_check(kit);
    ck_assert_int_eq(tr_unsubscribe(listener, paper), TR_OK);
    ck_assert_int_eq(tr_unsubscribe(listener, paper), TR_NOT_FOUND);
    ck_assert_uint_eq(tr_publish(test, paper, tick, .n = 9).taken, 5);
    ck_assert_int_eq(tr_subscribe(listener, paper), TR_OK);
    tr_client_free(listener);
    ck_assert_uint_eq(tr_topic_count(test, paper), 5);
    ck_assert_uint_eq(tr_publish(test, paper, tick, .n = 10).taken, 5);
}
TEST(clients_publish_and_subscribe, "B-06")
{
    kits_each(client_play);
}

static void nobody_play(void)
{
    open_with(0);
    tr_published published = tr_publish(test, paper, tick, .n = 1);
    ck_assert_int_eq(published.status, TR_OK);
    ck_assert_uint_eq(published.taken + published.refused, 0);
    open_with(2);
    TELL_RUN(test, readers[0], unsubscribe);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_publish(test, paper, tick, .n = 0).taken, 1);
    ck_assert_int_eq(tr_stop(test, readers[1]), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_topic_count(test, paper), 0);
    ck_assert_uint_eq(tr_publish(test, paper, tick, .n = 0).taken, 0);
    ck_assert_uint_eq(got_count[0], 0);
    ck_assert_uint_eq(got_count[1], 1);
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL), 0);
}
TEST(what_nobody_wants_is_no_dead_letter, "M-03")
{
    kits_each(nobody_play);
}

/* ---- Subscribers without room. ---- */

#define FULL(kind, has_taken, has_refused, letters)                                                \
    do {                                                                                           \
        kind##_ref slow;                                                                           \
        open_with(2);                                                                              \
        size_t before = dead_letters(TR_MAILBOX_FULL);                                             \
        ck_assert_int_eq(tr_try_spawn_at(test, &slow, home, kind, NULL), TR_OK);                   \
        TELL_RUN(test, slow, subscribe);                                                           \
        readers[2] = reader_ref_of(tr_any(slow));                                                  \
        tr_kit_settle(kit);                                                                        \
        tr_suspend(test, slow);                                                                    \
        tr_kit_settle(kit);                                                                        \
        tr_time now = tr_kit_now(kit);                                                             \
        taken = 0;                                                                                 \
        refused = 0;                                                                               \
        TELL_RUN(test, readers[0], publish_five);                                                  \
        tr_kit_settle(kit);                                                                        \
        for (uint64_t i = 5; i < 10; i++)                                                          \
            count_it(tr_publish(test, paper, tick, .n = i));                                       \
        ck_assert_int_eq(tr_kit_now(kit), now); /* nobody has waited */                            \
        ck_assert_uint_eq(taken, has_taken);                                                       \
        ck_assert_uint_eq(refused, has_refused);                                                   \
        tr_resume(test, slow);                                                                     \
        tr_kit_settle(kit);                                                                        \
        ck_assert_uint_eq(dead_letters(TR_MAILBOX_FULL) - before, letters);                        \
        ck_assert_uint_eq(got_count[2], 2);                                                        \
        all_got(2, 10);                                                                            \
        tr_kit_check(kit);                                                                         \
        tr_topic_close(test, paper);                                                               \
    } while (0)

static size_t taken;
static size_t refused;
static void count_it(tr_published published)
{
    ck_assert_int_eq(published.status, TR_OK);
    taken += published.taken;
    refused += published.refused;
}
static tr_next publish_five(tr_self *self)
{
    for (uint64_t i = 0; i < 5; i++)
        count_it(tr_publish(self, paper, tick, .n = i));
    return TR_SAME;
}
static void full_play(void)
{
    FULL(narrow, 22, 8, 8);
    ck_assert_uint_eq(got[2][0], 0);
    FULL(patient, 22, 8, 8);
    ck_assert_uint_eq(got[2][0], 0);
    FULL(careless, 22, 8, 8);
    ck_assert_uint_eq(got[2][0], 0);
    FULL(forgetful, 30, 0, 8);
    ck_assert_uint_eq(got[2][0], 8); /* the last two */
}
TEST(who_has_no_room_loses_it_by_its_own_overflow, "M-02", "M-04")
{
    kits_each(full_play);
}

/* ---- Coming and going. ---- */

static tr_next on_break(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "broken");
}
static void restart_play(void)
{
    open_with(3);
    TELL_RUN(test, readers[1], on_break);
    tr_publish(test, paper, tick, .n = 0);
    tr_kit_settle(kit);
    tr_publish(test, paper, tick, .n = 1);
    tr_kit_settle(kit);
    all_got(3, 2);
}
TEST(a_restart_keeps_the_subscription, "S-04")
{
    kits_each(restart_play);
}

static void many_play(void)
{
    /* Some stop, some leave, some come, and each is told what it should be. */
    open_with(40);
    bool is_in[READERS_MAX] = {false};
    uint64_t stream = kits_seed * 7919;
    for (int i = 0; i < 40; i++)
        is_in[i] = true;
    for (uint64_t round = 0; round < 40; round++) {
        for (int i = 0; i < 6; i++) {
            stream = stream * 6364136223846793005u + 1442695040888963407u;
            unsigned who = (unsigned)(stream >> 33) % 40;
            if (stream >> 63 && is_in[who]) {
                tr_stop(test, readers[who]);
                tr_kit_settle(kit);
                ck_assert_int_eq(
                    tr_try_spawn_at(test, &readers[who], (int)who % (home + 1), reader, NULL),
                    TR_OK);
                is_in[who] = false;
            } else if (is_in[who]) {
                TELL_RUN(test, readers[who], unsubscribe);
                is_in[who] = false;
            } else {
                TELL_RUN(test, readers[who], subscribe);
                is_in[who] = true;
            }
        }
        tr_kit_settle(kit);
        size_t expected = 0;
        for (int i = 0; i < 40; i++)
            expected += is_in[i];
        memset(got_count, 0, sizeof got_count);
        struct page big = {.n = round, .text[3999] = (uint8_t)round};
        ck_assert_uint_eq(tr_publish_copy(test, paper, page, &big).taken, expected);
        ck_assert_uint_eq(tr_topic_count(test, paper), expected);
        tr_kit_settle(kit);
        for (int i = 0; i < 40; i++)
            ck_assert_uint_eq(got_count[i], is_in[i]);
    }
}
TEST(who_comes_and_goes_gets_what_is_meant_for_it, "")
{
    kits_each(many_play);
}

static void close_play(void)
{
    open_with(3);
    paper_topic old = paper;
    ck_assert_int_eq(tr_topic_close(test, paper), TR_OK);
    ck_assert_int_eq(tr_topic_close(test, paper), TR_STOPPED);
    ck_assert_int_eq(tr_publish(test, old, tick, .n = 1).status, TR_STOPPED);
    ck_assert_int_eq(tr_try_subscribe(test, old), TR_STOPPED);
    ck_assert_int_eq(tr_unsubscribe(test, old), TR_STOPPED);
    ck_assert_uint_eq(tr_topic_count(test, old), 0);
    open_with(2); /* another of the same name, in the same place */
    ck_assert_uint_ne(old.bits, paper.bits);
    ck_assert_int_eq(tr_publish(test, old, tick, .n = 1).status, TR_STOPPED);
    ck_assert_uint_eq(tr_publish(test, paper, tick, .n = 0).taken, 2);
    paper_topic own;
    paper_topic other;
    ck_assert_int_eq(tr_try_topic_open(test, &own, paper, NULL), TR_OK);
    ck_assert_int_eq(tr_try_topic_open(test, &other, paper, NULL), TR_OK);
    ck_assert_uint_ne(own.bits, other.bits);
    ck_assert_int_eq(tr_try_topic_open(test, &other, paper, "paper"), TR_OK);
    ck_assert_uint_eq(other.bits, paper.bits);
}
TEST(a_topic_that_is_closed_stays_so, "")
{
    kits_each(close_play);
}

static tr_next bad_input(tr_self *self)
{
    paper_topic topic = {.bits = 77};
    char longest[TR_NAME_MAX + 2];
    memset(longest, 'n', sizeof longest - 1);
    longest[TR_NAME_MAX + 1] = '\0';
    ck_assert_int_eq(tr_try_topic_open(self, &topic, paper, ""), TR_NAME_INVALID);
    ck_assert_int_eq(tr_try_topic_open(self, &topic, paper, "a b"), TR_NAME_INVALID);
    ck_assert_int_eq(tr_try_topic_open(self, &topic, paper, longest), TR_NAME_INVALID);
    ck_assert_uint_eq(topic.bits, 77);
    ck_assert_int_eq(tr_self_try_topic_open(NULL, "x", &topic.bits), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_try_topic_open(self, "x", NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_subscribe(self, TR_NO_TOPIC), TR_STOPPED);
    ck_assert_int_eq(tr_try_subscribe(self, topic), TR_STOPPED);
    ck_assert_int_eq(tr_unsubscribe(self, TR_NO_TOPIC), TR_STOPPED);
    ck_assert_int_eq(tr_publish(self, TR_NO_TOPIC, tick, .n = 1).status, TR_STOPPED);
    ck_assert_int_eq(tr_self_publish(NULL, TR_NO_TOPIC, &tr_type_tick, &topic).status,
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_publish(self, TR_NO_TOPIC, NULL, &topic).status, TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_publish(self, TR_NO_TOPIC, &tr_type_tick, NULL).status,
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_unsubscribe(NULL, TR_NO_TOPIC), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_topic_close(NULL, TR_NO_TOPIC), TR_INVALID_ARGUMENT);
    ck_assert_uint_eq(tr_self_topic_count(NULL, TR_NO_TOPIC), 0);
    tr_topic forged[] = {{.bits = UINT64_MAX}, {.bits = 1}, {.bits = (uint64_t)1 << 32 | 70000}};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(tr_try_subscribe(self, forged[i]), TR_STOPPED);
    say("done");
    tr_subscribe(self, TR_NO_TOPIC); /* ends the turn */
    ck_abort_msg("it has returned");
    return TR_SAME;
}
static void bad_input_play(void)
{
    open_with(2);
    TELL_RUN(test, readers[1], bad_input);
    tr_kit_settle(kit);
    SAID("done");
    uint64_t bits;
    ck_assert_int_eq(tr_client_try_topic_open(NULL, "x", &bits), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_client_try_topic_open(test, "x", NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_client_try_subscribe(NULL, TR_NO_TOPIC), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_client_unsubscribe(NULL, TR_NO_TOPIC), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_client_topic_close(NULL, TR_NO_TOPIC), TR_INVALID_ARGUMENT);
    ck_assert_uint_eq(tr_client_topic_count(NULL, TR_NO_TOPIC), 0);
    ck_assert_int_eq(tr_client_publish(NULL, TR_NO_TOPIC, &tr_type_tick, &bits).status,
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_unsubscribe(test, paper), TR_NOT_FOUND);
    /* A malformed message reaches nobody. */
    struct tr_args malformed = {.argv = {NULL, 3}};
    tr_published published =
        tr_client_publish(test, tr_topic_from_bits(paper.bits), &tr_type_tr_args, &malformed);
    ck_assert_int_eq(published.status, TR_TOO_LARGE);
    ck_assert_uint_eq(published.taken, 0);
    uint64_t allocations = tr_kit_allocations(kit);
    for (int i = 0; i < 500; i++) /* nor does it cost envelopes */
        tr_client_publish(test, tr_topic_from_bits(paper.bits), &tr_type_tr_args, &malformed);
    ck_assert_uint_eq(tr_kit_allocations(kit), allocations);
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.failures, 1);
}
TEST(bad_arguments_are_refused_and_change_nothing, "")
{
    kits_each(bad_input_play);
}

TEST(there_is_a_limit_of_topics, "")
{
    kit_open(1, 1);
    paper_topic topic;
    for (int i = 0; i < TR_TOPICS_MAX; i++)
        ck_assert_int_eq(tr_try_topic_open(test, &topic, paper, NULL), TR_OK);
    paper_topic one_more;
    ck_assert_int_eq(tr_try_topic_open(test, &one_more, paper, NULL), TR_LIMIT);
    ck_assert_int_eq(tr_topic_close(test, topic), TR_OK);
    ck_assert_int_eq(tr_try_topic_open(test, &one_more, paper, NULL), TR_OK);
    kit_close();
}

static void shutdown_play(void)
{
    open_with(4);
    tr_system_shutdown(tr_kit_system(kit), TR_SECOND);
    for (uint64_t i = 0; i < kits_seed % 8; i++)
        (void)tr_kit_step(kit);
    tr_published published = tr_publish(test, paper, tick, .n = 0);
    ck_assert_int_eq(published.status, TR_OK);
    ck_assert_uint_le(published.taken, 4);
    paper_topic topic;
    ck_assert_int_eq(tr_try_topic_open(test, &topic, paper, "another"), TR_STOPPING);
    ck_assert_int_eq(tr_try_topic_open(test, &topic, paper, "paper"), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_publish(test, paper, tick, .n = 1).taken, 0);
}
TEST(a_shutdown_leaves_a_topic_without_subscribers, "X-01")
{
    kits_each(shutdown_play);
}

SUITE("topic", everybody_gets_everything_once_and_in_order, clients_publish_and_subscribe,
      what_nobody_wants_is_no_dead_letter, who_has_no_room_loses_it_by_its_own_overflow,
      a_restart_keeps_the_subscription, who_comes_and_goes_gets_what_is_meant_for_it,
      a_topic_that_is_closed_stays_so, bad_arguments_are_refused_and_change_nothing,
      there_is_a_limit_of_topics, a_shutdown_leaves_a_topic_without_subscribers)
