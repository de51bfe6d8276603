/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verb durable events, without a socket and in virtual time: pages, the state after each event, what is no longer kept, what the
 * code cannot apply, and no memory.
 */
#include "support/books.h"

#include "actor/cell/system.h"
#include "observe/visitor.h"
#include "store/read.h"

static struct observer observer;
static struct visitor visitor;

static const char *sent(void)
{
    static char text[VISITOR_PAGE_MAX];
    size_t length = visitor.output.length;
    ck_assert_uint_lt(length, sizeof text);
    if (length)
        memcpy(text, visitor.output.data, length);
    text[length] = '\0';
    visitor.output.length = 0;
    return text;
}

static void look_begin(void)
{
    tr_system *system = tr_kit_system(kit);
    observer = (struct observer){
        .system = system, .source = &system->source, .client = test, .app = "play"};
    tr__visitor_open(&visitor, &observer, 1000);
    (void)sent();
}

static void look_end(void)
{
    tr__visitor_close(&visitor);
    tr__store_reader_free(observer.reader);
}

/* Sends a request. Returns all of its answer, which is less than a page. */
static const char *ask(const char *line)
{
    tr__visitor_input(&visitor, line, strlen(line));
    tr__visitor_input(&visitor, "\n", 1);
    for (int i = 0; i < 100; i++)
        tr__visitor_work(&visitor);
    return sent();
}

#define EVENTS(key, more)                                                                          \
    ask("{\"id\":1,\"do\":\"durable events\",\"kind\":\"book\",\"key\":\"" key "\"" more "}")
#define HAS(answer, text) ck_assert_msg(strstr(answer, text), "%s is not in %s", text, answer)
#define LACKS(answer, text) ck_assert_msg(!strstr(answer, text), "%s is in %s", text, answer)

static tr_next book_various(tr_self *self, const struct book_state *book, int64_t n)
{
    tr_persist(self, added, .n = n);
    tr_persist(self, named, .name = "Emma");
    for (int64_t i = 0; i < 20; i++)
        tr_persist(self, listed, .n = i, .text = "tea");
    tr_persist(self, cleared);
    return tr_reply(self, acted, .value = book->sum);
}

TEST(events_are_shown_with_the_state_after_each, "I-10")
{
    books_reset();
    books_begin(1);
    books_do("a", book_various, 5);
    look_begin();
    const char *answer = EVENTS("a", "");
    HAS(answer,
        "{\"id\":1,\"part\":{\"number\":1,\"event\":\"added\",\"version\":1,\"value\":{\"n\":5},"
        "\"state\":{\"sum\":5,\"count\":1,");
    HAS(answer, "\"value\":{\"name\":\"Emma\"},\"state\":{\"sum\":5,\"count\":2,");
    HAS(answer,
        "\"name\":\"Emma\",\"items\":[{\"n\":0,\"text\":\"tea\"},{\"n\":1,\"text\":\"tea\"}]");
    HAS(answer, "{\"n\":18,\"text\":\"tea\"},{\"n\":19,\"text\":\"tea\"}]");
    HAS(answer,
        "\"event\":\"cleared\",\"version\":1,\"value\":{},\"state\":{\"sum\":5,\"count\":23,");
    HAS(answer, "{\"id\":1,\"ok\":{\"count\":23,\"last\":23,\"more\":false}}\n");
    /* A page. */
    answer = EVENTS("a", ",\"after\":1,\"limit\":2");
    LACKS(answer, "\"number\":1,");
    HAS(answer, "\"number\":2,");
    HAS(answer, "\"value\":{\"n\":0,\"text\":\"tea\"},\"state\":{\"sum\":5,\"count\":3,");
    LACKS(answer, "\"number\":4,");
    HAS(answer, "{\"id\":1,\"ok\":{\"count\":2,\"last\":23,\"more\":true}}\n");
    HAS(EVENTS("a", ",\"after\":23"),
        "{\"id\":1,\"ok\":{\"count\":0,\"last\":23,\"more\":false}}\n");
    HAS(EVENTS("a", ",\"after\":18446744073709551615"), "\"count\":0,\"last\":23,\"more\":false");
    /* The state of the actor is what it was. */
    ck_assert_int_eq(books_do("a", book_count, 0), 23);
    HAS(EVENTS("z", ""), "{\"id\":1,\"no\":\"TR_NOT_FOUND\",\"why\":\"the store has no book");
    HAS(ask("{\"id\":1,\"do\":\"durable events\",\"kind\":\"book\"}"), "TR_INVALID_ARGUMENT");
    HAS(EVENTS("a", ",\"secrets\":true"), "TR_NOT_PERMITTED");
    look_end();
    books_end();
}

/* Events that were dropped behind a snapshot are not there, and the state is known nevertheless. */
TEST(the_state_begins_with_a_snapshot, "I-10")
{
    books_reset();
    books_events.snapshots = (tr_snapshots){.every = 10, .kept = 1, .drops_events = true};
    books_begin(1);
    for (int i = 0; i < 25; i++)
        books_do("a", book_add, 1);
    look_begin();
    books_applied = 0;
    const char *answer = EVENTS("a", "");
    LACKS(answer, "\"number\":1,");
    HAS(answer,
        "\"number\":21,\"event\":\"added\",\"version\":1,\"value\":{\"n\":1},\"state\":{\"sum\":"
        "21,");
    HAS(answer,
        "\"number\":25,\"event\":\"added\",\"version\":1,\"value\":{\"n\":1},\"state\":{\"sum\":"
        "25,");
    HAS(answer, "\"last\":25,\"more\":false");
    ck_assert_uint_eq(books_applied, 5);
    look_end();
    books_end();
}

/* Much is read in pages, and a page is bounded. */
TEST(many_events_are_read_in_steps, "I-10", "U-02")
{
    books_reset();
    books_events.snapshots = (tr_snapshots){.every = TR_NO_SNAPSHOTS};
    books_begin(1);
    for (int i = 0; i < 20; i++)
        books_do("a", book_add_many, 100);
    look_begin();
    const char *answer = EVENTS("a", ",\"after\":1990");
    HAS(answer, "\"number\":1991,");
    HAS(answer,
        "\"number\":2000,\"event\":\"added\",\"version\":1,\"value\":{\"n\":1},\"state\":{\"sum\":"
        "2000,");
    HAS(answer, "\"count\":10,\"last\":2000,\"more\":false");
    (void)ask(
        "{\"id\":1,\"do\":\"durable events\",\"kind\":\"book\",\"key\":\"a\",\"limit\":1000}");
    look_end();
    books_end();
}

/* An event that the code does not know is named; the states after it are not known. */
TEST(what_the_code_cannot_apply_has_no_state, "I-10")
{
    static tr_event_row rows[16];
    books_reset();
    books_begin_on_disk(1);
    books_do("a", book_add, 1);
    books_do("a", book_mark, 1);
    books_do("a", book_add, 1);
    books_nap();
    memcpy(rows, books_table.rows, books_table.row_count * sizeof *rows);
    books_events.rows = rows;
    for (size_t i = 0; i < books_table.row_count; i++) {
        if (strcmp(rows[i].type->name, "added") == 0)
            rows[i].type = &tr_type_cleared; /* so there is no "added" any more */
    }
    books_events.row_count = 1;
    books_again(2);
    look_begin();
    const char *answer = EVENTS("a", "");
    HAS(answer, "\"number\":1,\"event\":\"added\",\"version\":1,\"value\":");
    HAS(answer, "\"state\":null}}\n");
    LACKS(answer, "\"state\":{");
    HAS(answer, "\"count\":3,\"last\":3,\"more\":false");
    look_end();
    books_end();
}

static tr_next book_swell(tr_self *self, const struct book_state *book, int64_t n)
{
    tr_persist(self, swollen, .size = (uint64_t)n);
    return tr_reply(self, acted, .value = book->sum);
}

/* Whatever allocation fails, the answer is a refusal, or a state that is not known. */
TEST(no_memory_is_a_status, "I-10", "U-02")
{
    books_reset();
    books_begin(1);
    books_do("a", book_various, 5);
    books_do("a", book_swell, 100);
    look_begin();
    (void)EVENTS("a", "");
    for (uint64_t nth = 1; nth < 60; nth++) {
        tr_kit_fail_allocation(kit, nth, false);
        const char *answer = EVENTS("a", ",\"after\":20");
        bool has_failed = strstr(answer, "TR_NO_MEMORY") || strstr(answer, "\"state\":null");
        bool is_whole = strstr(answer, "\"count\":4,\"last\":24,\"more\":false");
        ck_assert_msg(has_failed || is_whole || visitor.is_over, "%s", answer);
        if (visitor.is_over) {
            look_end();
            look_begin();
        }
    }
    look_end();
    books_end();
}

SUITE("observe events", events_are_shown_with_the_state_after_each,
      the_state_begins_with_a_snapshot, many_events_are_read_in_steps,
      what_the_code_cannot_apply_has_no_state, no_memory_is_a_status)
