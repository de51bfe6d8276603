/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A state that points into memory of its turn: the turn fails before anything is stored or answered, and the log names
 * the field. A state whose texts are copied is stored.
 */
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "support/heard_log.h"

TR_MESSAGE(done, (u64, bookings), (bool, is_first), (bool, is_heard));
TR_MESSAGE(booking, (u64, slot), (str, by));
TR_REQUEST(book, done, (u32, how), (str, by), (bytes, data), (list(message(booking)), more));
TR_REQUEST(look, done);
TR_MESSAGE(name_is, (str, name));
TR_REQUEST(name, name_is);
TR_MESSAGE(named, (str, by));
TR_MESSAGE(room_state, (str, by), (bytes, data), (list(message(booking)), bookings),
           (array(str, 2), pair), (optional(str), note));
TR_ACTOR(namer, name);
TR_ACTOR(room, book, look);
TR_ACTOR(hall, book, look);

static namer_ref the_namer;

static tr_next on_name(tr_self *self)
{
    return tr_reply(self, name_is, .name = "bob the builder");
}
TR_BEHAVIOR(namer, void, TR_ON(name, on_name));

/* ---- What the handler of a room does. ---- */

enum {
    COPY,
    TEXT,
    DATA,
    LIST,
    ITEM,
    PAIR,
    NOTE,
    TURN,
    STACK,
    REPLY,
    AT_A_WAIT,
    AT_A_SAVE,
    SAME_TEXT,
    TAKEN_BACK,
};

/* Hides from the compiler that a pointer to the stack is kept. */
__attribute__((__noinline__)) static const char *hidden(const char *text)
{
    const char *volatile place = text;
    return place;
}

static void book_item(tr_self *self, struct room_state *room, uint64_t slot, const char *by)
{
    struct booking booking = {.slot = slot, .by = by};
    tr_append(self, room->bookings, booking);
}

static tr_next done_of(tr_self *self, const struct room_state *room)
{
    bool is_first = room->bookings.count && !strcmp(room->bookings.items[0].by, "anna");
    return tr_reply(self,
                    done,
                    .bookings = room->bookings.count,
                    .is_first = is_first,
                    .is_heard = room->by || room->data.size || room->pair[1] || room->note.has);
}

static tr_next on_book(tr_self *self, struct room_state *room, const struct book *message)
{
    char local[16] = "on the stack";
    const struct name_is *reply;
    switch (message->how) {
    case COPY:
        book_item(self, room, 7, tr_strdup(self, message->by));
        break;
    case TEXT:
        room->by = message->by;
        break;
    case DATA:
        room->data = (tr_bytes){(const char *)message->data.data + 1, 1};
        break;
    case LIST:
        room->bookings.items = message->more.items;
        room->bookings.count = message->more.count;
        break;
    case ITEM:
        book_item(self, room, 8, tr_strdup(self, message->by));
        book_item(self, room, 9, message->by);
        break;
    case PAIR:
        room->pair[1] = message->by;
        break;
    case NOTE:
        room->note.has = true;
        room->note.value = message->by;
        break;
    case TURN:
        room->by = tr_format(self, "%s of room %d", message->by, 7);
        break;
    case STACK:
        room->by = hidden(local);
        break;
    case REPLY:
        reply = tr_await(self, tr_ask(self, the_namer, name));
        room->by = reply->name;
        break;
    case AT_A_WAIT:
        room->by = message->by;
        (void)!tr_sleep(self, TR_SECOND);
        room->by = NULL;
        break;
    case AT_A_SAVE:
        room->by = message->by;
        tr_save(self);
        room->by = NULL;
        break;
    case SAME_TEXT: /* the bytes to be stored do not change */
        tr_replace(self, room->bookings, 0, ((struct booking){.slot = 7, .by = message->by}));
        break;
    case TAKEN_BACK: /* only what is there at the end counts */
        room->by = message->by;
        room->by = NULL;
        break;
    default:
        break;
    }
    return done_of(self, room);
}

static tr_next on_look(tr_self *self, struct room_state *room)
{
    return done_of(self, room);
}

TR_BEHAVIOR(room, struct room_state, TR_ON(book, on_book), TR_ON(look, on_look));
TR_DURABLE(room, room_state);

/* A hall has events; its state is stored only now and then. */
static void apply_named(struct room_state *hall, const struct named *event, tr_memory *memory)
{
    (void)memory;
    hall->by = event->by;
}

static tr_next on_book_hall(tr_self *self, const struct room_state *hall,
                            const struct book *message)
{
    tr_persist(self, named, .by = message->by);
    return done_of(self, hall);
}

static tr_next on_look_hall(tr_self *self, const struct room_state *hall)
{
    return done_of(self, hall);
}

TR_BEHAVIOR(hall, const struct room_state, TR_ON(book, on_book_hall), TR_ON(look, on_look_hall));
TR_EVENTS(hall_events, room_state, TR_APPLY(named, apply_named));
TR_DURABLE(hall, room_state, .events = &hall_events);

/* ---- The cases. ---- */

static tr_kit *kit;
static tr_client *test;

static void begin(void)
{
    heard_begin();
    kit = tr_kit_new(&(tr_kit_options){.durable = TR_DURABLES(room, hall)});
    if (!kit)
        ck_abort_msg("no kit: %s", heard_end());
    test = tr_kit_client(kit);
    ck_assert_int_eq(tr_try_spawn(test, &the_namer, namer, NULL), TR_OK);
}

static tr_status book(uint32_t how)
{
    static const struct booking items[] = {{.slot = 1, .by = "eve"}};
    const struct done *done;
    return tr_try_await(test,
                        tr_ask_key(test,
                                   room,
                                   "blue",
                                   book,
                                   .how = how,
                                   .by = "anna",
                                   .data = {"abc", 3},
                                   .more = {items, 1}),
                        &done);
}

/* The room has the one booking that was right, and nothing else. */
static void expect_one_booking(void)
{
    const struct done *done;
    ck_assert_int_eq(tr_try_await(test, tr_ask_key(test, room, "blue", look), &done), TR_OK);
    ck_assert_uint_eq(done->bookings, 1);
    ck_assert(done->is_first);
    ck_assert(!done->is_heard);
}

/* Asks for this after one booking that is right. `text` is what the log is to say of it. */
static void is_refused_with(uint32_t how, tr_status expected, const char *text)
{
    begin();
    ck_assert_int_eq(book(COPY), TR_OK);
    tr_kit_settle(kit);
    uint64_t before = tr_durable_commits(tr_kit_system(kit));
    tr_status status = book(how);
    uint64_t after = tr_durable_commits(tr_kit_system(kit));
    expect_one_booking();
    tr_kit_free(kit);
    const char *log = heard_end();
    ck_assert_int_eq(status, expected);
    ck_assert_uint_eq(after, before);
    ck_assert_msg(strstr(log, text) != NULL, "%s is not in: %s", text, log);
    ck_assert_msg(strstr(log, "/system/durable/room/blue") != NULL, "no path in: %s", log);
}

static void is_refused(uint32_t how, const char *text)
{
    is_refused_with(how, TR_BAD_DATA, text);
}

static void is_stored(uint32_t how)
{
    begin();
    ck_assert_int_eq(book(COPY), TR_OK);
    ck_assert_int_eq(book(how), TR_OK);
    expect_one_booking();
    tr_kit_free(kit);
    ck_assert_int_eq(heard_count(heard_end(), "points into"), 0);
}

TEST(a_text_of_the_message_is_refused, "K-01")
{
    is_refused(TEXT, "the field by: points into the message; copy it: tr_strdup");
}

TEST(bytes_of_the_message_are_refused, "K-01")
{
    is_refused(DATA, "the field data: points into the message; copy it: tr_alloc");
}

TEST(a_list_of_the_message_is_refused, "K-01")
{
    is_refused(LIST, "the field bookings: points into the message; copy it: tr_append");
}

TEST(a_text_in_an_item_of_a_list_is_refused, "K-01")
{
    is_refused(ITEM, "the field bookings[2].by: points into the message; copy it: tr_strdup");
}

TEST(texts_in_arrays_and_optional_texts_are_refused, "K-01")
{
    is_refused(PAIR, "the field pair[1]: points into the message; copy it: tr_strdup");
    is_refused(NOTE, "the field note: points into the message; copy it: tr_strdup");
}

TEST(memory_of_the_turn_is_refused, "K-01")
{
    is_refused(TURN, "the field by: points into memory of the turn; copy it: tr_strdup");
}

TEST(a_text_on_the_stack_is_refused, "K-01")
{
    if (TEST_HAS_SANITIZER)
        test_skip("the local variables of a program with AddressSanitizer may be elsewhere");
    is_refused(STACK, "the field by: points into the stack of the handler; copy it: tr_strdup");
}

TEST(a_text_of_a_reply_is_refused, "K-01")
{
    is_refused(REPLY, "the field by: points into a reply; copy it: tr_strdup");
}

/* The actor restarts while the turn waits, so its asker gets the status of a restart. tr_save fails as
 * tr_crash does. */
TEST(a_part_of_a_turn_that_ends_at_a_wait_is_refused, "K-01")
{
    is_refused_with(
        AT_A_WAIT, TR_RESTARTED, "the field by: points into the message; copy it: tr_strdup");
    is_refused_with(
        AT_A_SAVE, TR_FAILED, "the field by: points into the message; copy it: tr_strdup");
}

TEST(a_text_that_changes_no_stored_byte_is_refused, "K-01")
{
    is_refused(SAME_TEXT, "the field bookings[0].by: points into the message; copy it: tr_strdup");
}

TEST(what_the_state_no_longer_has_at_the_end_is_not_refused, "K-01")
{
    is_stored(TAKEN_BACK);
}

TEST(an_event_that_is_kept_is_refused, "K-08")
{
    const struct done *done;
    begin();
    tr_status status = tr_try_await(test, tr_ask_key(test, hall, "red", book, .by = "anna"), &done);
    ck_assert_int_eq(tr_try_await(test, tr_ask_key(test, hall, "red", look), &done), TR_OK);
    ck_assert(!done->is_heard);
    tr_kit_free(kit);
    const char *log = heard_end();
    ck_assert_int_eq(status, TR_BAD_DATA);
    ck_assert_msg(strstr(log, "the field by: points into the message") != NULL, "%s", log);
}

/* Copies are stored, however many turns come between. */
TEST(copies_are_stored, "K-01")
{
    const struct done *done;
    begin();
    for (uint64_t i = 1; i <= 40; i++) {
        ck_assert_int_eq(book(COPY), TR_OK);
        ck_assert_int_eq(tr_try_await(test, tr_ask_key(test, room, "blue", look), &done), TR_OK);
        ck_assert_uint_eq(done->bookings, i);
        ck_assert(done->is_first);
    }
    tr_kit_free(kit);
    ck_assert_int_eq(heard_count(heard_end(), "points into"), 0);
}

SUITE("durable borrowed", a_text_of_the_message_is_refused, bytes_of_the_message_are_refused,
      a_list_of_the_message_is_refused, a_text_in_an_item_of_a_list_is_refused,
      texts_in_arrays_and_optional_texts_are_refused, memory_of_the_turn_is_refused,
      a_text_on_the_stack_is_refused, a_text_of_a_reply_is_refused,
      a_part_of_a_turn_that_ends_at_a_wait_is_refused,
      a_text_that_changes_no_stored_byte_is_refused,
      what_the_state_no_longer_has_at_the_end_is_not_refused, an_event_that_is_kept_is_refused,
      copies_are_stored)
