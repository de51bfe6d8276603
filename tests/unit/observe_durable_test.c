/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the control socket shows and changes of durable actors, without a socket and in virtual time: lists, one actor,
 * changes of sleepers, exports and imports; and requests that are damaged.
 */
#include <troupe/queue.h>

#define THINGS_OPTIONS                                                                             \
    .idle_ns = 10 * TR_SECOND, .grace_ns = 5 * TR_SECOND,                                          \
    .queues = TR_QUEUES({.name = "once", .retry = {.attempts = 1}})
#include "support/things.h"

#include "actor/cell/system.h"
#include "base/rng.h"
#include "observe/store_backup.h"
#include "observe/verbs.h"
#include "observe/visitor.h"
#include "store/read.h"

enum { SEEDS = TEST_SEEDS(4) };

static struct observer observer;
static struct visitor visitor;

/* Returns what waits to be sent, as a text, and takes it. */
static const char *sent(void)
{
    static char text[1 << 20];
    size_t length = visitor.output.length;
    ck_assert_uint_lt(length, sizeof text);
    if (length)
        memcpy(text, visitor.output.data, length);
    text[length] = '\0';
    visitor.output.length = 0;
    return text;
}

static void begin(uint64_t seed)
{
    things_begin(seed);
    tr_system *system = tr_kit_system(kit);
    observer = (struct observer){
        .system = system, .source = &system->source, .client = test, .app = "play"};
    tr__visitor_open(&visitor, &observer, 1000);
    (void)sent();
}

static void end(void)
{
    tr__visitor_close(&visitor);
    tr__store_reader_free(observer.reader);
    things_end();
}

static const char *ask(const char *line)
{
    tr__visitor_input(&visitor, line, strlen(line));
    tr__visitor_input(&visitor, "\n", 1);
    tr__visitor_work(&visitor);
    tr_kit_settle(kit);
    tr__visitor_work(&visitor);
    return sent();
}

#define HAS(answer, text) ck_assert_msg(strstr(answer, text), "%s is not in %.2000s", text, answer)

TEST(stored_actors_are_listed_and_shown, "O-20")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(seed);
        things_do("a", thing_add, 3);
        things_do("b", thing_add, 4);
        tr_kit_advance(kit, TR_MINUTE);
        things_do("b", thing_add, 1);
        HAS(ask("{\"id\":1,\"do\":\"durable ls\"}"), "\"kind\":\"thing\",\"stored\":2,");
        const char *answer = ask("{\"id\":1,\"do\":\"durable ls\",\"kind\":\"thing\"}");
        HAS(answer, "\"key\":\"a\",\"awake\":false}}");
        HAS(answer, "\"key\":\"b\",\"awake\":true}}");
        HAS(ask("{\"id\":1,\"do\":\"durable get\",\"kind\":\"thing\",\"key\":\"a\"}"),
            "\"value\":3");
        HAS(ask("{\"id\":1,\"do\":\"durable get\",\"kind\":\"thing\",\"key\":\"z\"}"),
            "TR_NOT_FOUND");
        HAS(ask("{\"id\":1,\"do\":\"alarms\"}"), "\"ok\":");
        HAS(ask("{\"id\":1,\"do\":\"queues\"}"), "\"count\":0");
        HAS(ask("{\"id\":1,\"do\":\"store check\"}"), "\"actors\":2,\"damaged\":0");
        end();
    }
}

TR_MESSAGE(parcel, (u32, number));

static tr_next parcels_push(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    for (int64_t i = 1; i <= n; i++) {
        tr_queue_push(self, "out", parcel, .number = (uint32_t)i);
        tr_queue_push(self, "nudges", nudge);
    }
    tr_queue_push_after(self, "later", TR_HOUR, parcel, .number = 0);
    tr_kv_put(self, TR_BYTES("a\xff"), TR_BYTES("\x00\x01"));
    tr_kv_put(self, TR_BYTES("ab"), (tr_bytes){memset(tr_alloc(self, 3000), 'x', 3000), 3000});
    return tr_reply(self, acted, .value = n);
}

static tr_next keys_put(tr_self *self, struct thing_state *state, int64_t n);

#define KV(more) ask("{\"id\":1,\"do\":\"durable kv\",\"kind\":\"thing\",\"key\":\"a\"" more "}")
#define QUEUE(more)                                                                                \
    ask("{\"id\":1,\"do\":\"durable queue\",\"kind\":\"thing\",\"key\":\"a\"" more "}")

/* How often a text is in another one. */
static int times(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

TEST(keys_and_items_of_an_actor_are_given_in_pages, "O-20")
{
    begin(1);
    things_do("a", keys_put, 250);
    things_do("a", parcels_push, 70);
    const char *answer = KV("");
    ck_assert_int_eq(times(answer, "\"part\""), 100);
    HAS(answer, "\"more\":true,\"next\":\"00099\"");
    answer = KV(",\"from\":\"00099\"");
    ck_assert_int_eq(times(answer, "\"part\""), 100);
    HAS(answer, "\"key\":\"00100\",\"value\":\"00100\",\"size\":5");
    ck_assert(!strstr(answer, "\"00099\""));
    answer = KV(",\"from\":\"00199\",\"limit\":52");
    HAS(answer, "\"count\":52,\"more\":false");
    answer = KV(",\"text\":\"0020\"");
    HAS(answer, "\"count\":10,\"more\":false,\"next\":\"00209\"");
    HAS(KV(",\"text\":\"a%ff\""), "\"key\":\"a%ff\",\"value64\":\"AAE=\",\"size\":2");
    HAS(KV(",\"text\":\"a\""), "\"size\":3000");
    ck_assert_uint_lt(strlen(KV(",\"text\":\"a\"")), 1500);
    ck_assert_uint_gt(strlen(KV(",\"text\":\"ab\",\"limit\":1")), 3000);
    HAS(KV(",\"text\":\"a%f\""), "TR_INVALID_ARGUMENT");
    HAS(ask("{\"id\":1,\"do\":\"durable kv\",\"kind\":\"thing\",\"key\":\"z\"}"), "TR_NOT_FOUND");
    answer = QUEUE("");
    ck_assert_int_eq(times(answer, "\"part\""), 100);
    HAS(answer, "\"queue\":\"later\",");
    HAS(answer, "\"state\":\"timed\",\"message\":\"parcel\",");
    HAS(answer, "\"due_in_ms\":3600000");
    HAS(answer, "\"more\":true,\"next\":100");
    HAS(answer, "\"value\":{\"call\":"); /* its actor handles a nudge, so its fields are known */
    answer = QUEUE(",\"after\":100");
    HAS(answer, "\"count\":41,\"more\":false,\"next\":141");
    HAS(answer, "\"value\":\"...\"");
    answer = QUEUE(",\"text\":\"out\",\"after\":60");
    HAS(answer, "\"count\":10,\"more\":false,\"next\":70");
    ck_assert_int_eq(times(answer, "\"queue\":\"out\",\"item\":"), 10);
    HAS(ask("{\"id\":1,\"do\":\"durable queue\",\"kind\":\"thing\",\"key\":\"z\"}"),
        "TR_NOT_FOUND");
    end();
}

static tr_next once_push(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    tr_queue_push(self, "once", parcel, .number = (uint32_t)n);
    return tr_reply(self, acted, .value = n);
}

static tr_next once_fail(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct parcel *taken;
    tr_queued item;
    (void)state;
    (void)n;
    if (tr_queue_take(self, "once", parcel, TR_HOUR, &taken, &item) == TR_OK)
        return tr_fail(self, TR_LIMIT, "too heavy");
    return TR_SAME;
}

TEST(an_item_that_was_given_up_is_shown_with_its_failure, "O-20")
{
    begin(1);
    things_on_run = once_fail;
    things_do("a", once_push, 7);
    tr_kit_advance(kit, TR_MINUTE);
    const char *answer = QUEUE(",\"text\":\"once\"");
    HAS(answer, "\"state\":\"dead\",\"message\":\"parcel\",");
    HAS(answer, "\"attempts\":1,\"failed_ms_ago\":");
    HAS(answer, "\"failure\":\"TR_LIMIT\",\"cause\":\"too heavy\"");
    HAS(answer, "\"count\":1,\"more\":false");
    things_on_run = NULL;
    end();
}

enum { KEYS_MANY = 3500 };

static tr_next keys_put(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    for (int64_t i = 0; i < n; i++) {
        char key[16];
        int length = snprintf(key, sizeof key, "%05d", (int)i);
        tr_kv_put(self, (tr_bytes){key, (size_t)length}, (tr_bytes){key, (size_t)length});
    }
    return tr_reply(self, acted, .value = n);
}

/* Begins a job and checks that it is not over after a few steps. An empty line is a step too, so that these leave `kept`
 * for the job. Other clients are served between two steps. */
static void steps_begin(const char *request, int kept)
{
    for (int i = 0; i < VISITOR_STEPS_MAX - 1 - kept; i++)
        tr__visitor_input(&visitor, "\n", 1);
    tr__visitor_input(&visitor, request, strlen(request));
    ck_assert(tr__visitor_work(&visitor));
    ck_assert_int_eq(visitor.job, JOB_STEPS);
    ck_assert_str_eq(sent(), "");
    while (tr__visitor_work(&visitor))
        continue;
}

TEST(an_actor_with_very_many_rows_is_checked_in_steps, "O-28")
{
    begin(1);
    things_do("a", keys_put, KEYS_MANY);
    things_do("b", thing_add, 1);
    steps_begin("{\"id\":1,\"do\":\"store check\"}\n", 3);
    HAS(sent(), "\"actors\":2,\"damaged\":0");
    end();
}

TEST(the_actors_of_a_kind_are_counted_in_steps, "O-09", "O-20")
{
    enum { ACTORS = 1100 };
    begin(1);
    for (int i = 0; i < ACTORS; i++) {
        char key[16];
        snprintf(key, sizeof key, "%04d", i);
        things_do(key, thing_add, 1);
    }
    steps_begin("{\"id\":1,\"do\":\"durable ls\"}\n", 2);
    const char *answer = sent();
    HAS(answer, "\"kind\":\"thing\",\"stored\":1100,\"stored_more\":false,");
    HAS(answer, "\"ok\":{\"count\":1,\"more\":false}");
    end();
}

/* Pushes items that are not due while the test runs. */
static tr_next items_push(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    for (int64_t i = 0; i < n; i++)
        tr_queue_push_after(self, "later", TR_HOUR, nudge, .n = i);
    return tr_reply(self, acted, .value = n);
}

/* The figures of an actor with very many items are those of the first ones, and the answer says so. */
TEST(no_more_items_of_a_queue_are_read_than_one_look_may_take, "O-09", "O-20")
{
    enum { ITEMS_MAX = 10000 };
    begin(1);
    things_do("a", items_push, ITEMS_MAX);
    HAS(ask("{\"id\":1,\"do\":\"queues\"}"), "\"items\":10000,");
    const char *answer = ask("{\"id\":1,\"do\":\"durable get\",\"kind\":\"thing\",\"key\":\"a\"}");
    HAS(answer, "\"queues_more\":false");
    things_do("a", items_push, 5);
    answer = ask("{\"id\":1,\"do\":\"queues\"}");
    HAS(answer, "\"items\":10000,");
    HAS(answer, "\"more\":true}}");
    answer = ask("{\"id\":1,\"do\":\"durable get\",\"kind\":\"thing\",\"key\":\"a\"}");
    HAS(answer, "\"queues_more\":true");
    end();
}

/* Other clients need not wait until the items before a page are skipped, nor until all are checked. */
TEST(an_actor_with_very_many_items_is_read_in_steps, "O-09", "O-20", "O-28")
{
    enum { ITEMS = 2600 };
    static const char page[] =
        "{\"id\":1,\"do\":\"durable queue\",\"kind\":\"thing\",\"key\":\"a\",\"after\":2595}\n";
    begin(1);
    things_do("a", parcels_push, 1); /* items of other queues: "later" is the first one */
    things_do("a", items_push, ITEMS);
    steps_begin(page, 3);
    const char *answer = sent();
    ck_assert_int_eq(times(answer, "\"queue\":\"later\""), ITEMS + 1 - 2595);
    ck_assert_int_eq(times(answer, "\"part\""), ITEMS + 3 - 2595);
    HAS(answer, "\"queue\":\"nudges\"");
    HAS(answer, "\"count\":8,\"more\":false,\"next\":2603");
    steps_begin("{\"id\":1,\"do\":\"store check\"}\n", 2);
    HAS(sent(), "\"actors\":1,\"damaged\":0");
    end();
}

TEST(a_check_that_runs_out_of_memory_calls_no_actor_damaged, "O-28")
{
    for (uint64_t n = 1; n <= 20; n++) {
        begin(1);
        things_do("a", keys_put, 40);
        things_do("b", thing_add, 1);
        HAS(ask("{\"id\":1,\"do\":\"store stats\"}"), "\"ok\":"); /* makes the reader */
        tr_kit_fail_allocation(kit, n, false);
        const char *answer = ask("{\"id\":1,\"do\":\"store check\"}");
        tr_kit_fail_allocation(kit, 0, false);
        ck_assert_msg(!strstr(answer, "\"key\":"), "%llu: %s", (unsigned long long)n, answer);
        end();
    }
}

TEST(a_sleeper_is_changed_and_an_awake_one_is_not, "O-21")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        static const char set[] =
            "{\"id\":1,\"do\":\"durable "
            "set\",\"kind\":\"thing\",\"key\":\"a\",\"json\":\"{\\\"value\\\":"
            "70}\",\"may\":true}";
        begin(seed);
        things_do("a", thing_add, 3);
        HAS(ask(set), "TR_STORE_BUSY");
        tr_kit_advance(kit, TR_MINUTE);
        HAS(ask(set), "\"stored\":true");
        HAS(ask("{\"id\":1,\"do\":\"durable get\",\"kind\":\"thing\",\"key\":\"a\"}"),
            "\"value\":70");
        things_do("a", thing_add, 1);
        HAS(ask("{\"id\":1,\"do\":\"durable get\",\"kind\":\"thing\",\"key\":\"a\"}"),
            "\"value\":71");
        HAS(ask("{\"id\":1,\"do\":\"durable rm\",\"kind\":\"thing\",\"key\":\"a\",\"may\":true}"),
            "tr_done");
        tr_kit_advance(kit, TR_MINUTE);
        HAS(ask("{\"id\":1,\"do\":\"durable get\",\"kind\":\"thing\",\"key\":\"a\"}"),
            "TR_NOT_FOUND");
        end();
    }
}

/* A client that leaves while its change is on its way. */
TEST(a_client_that_leaves_leaves_nothing, "O-21")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        static const char set[] =
            "{\"id\":1,\"do\":\"durable "
            "set\",\"kind\":\"thing\",\"key\":\"a\",\"json\":\"{\\\"value\\\":"
            "70}\",\"may\":true}\n";
        begin(seed);
        things_do("a", thing_add, 3);
        tr_kit_advance(kit, TR_MINUTE);
        tr__visitor_input(&visitor, set, strlen(set));
        tr__visitor_work(&visitor);
        ck_assert_int_eq(visitor.job, JOB_WAIT);
        tr__visitor_close(&visitor);
        tr_kit_settle(kit);
        tr__visitor_open(&visitor, &observer, 1000);
        (void)sent();
        HAS(ask("{\"id\":1,\"do\":\"durable get\",\"kind\":\"thing\",\"key\":\"a\"}"),
            "\"value\":70");
        end();
    }
}

TEST(an_export_is_imported_again, "O-23")
{
    begin(1);
    things_do("a", thing_add, 3);
    tr_kit_advance(kit, TR_MINUTE);
    const char *answer = ask("{\"id\":1,\"do\":\"durable export\"}");
    HAS(answer, "\"whole\":true,\"state\":{");
    char line[8000];
    size_t length = (size_t)snprintf(
        line,
        sizeof line,
        "{\"id\":1,\"do\":\"durable import\",\"may\":true,\"writes\":true,\"json\":\"");
    const char *from = strstr(answer, "\"part\":") + 7;
    const char *stop = strstr(answer, "}\n");
    for (; from < stop; from++) {
        if (*from == '"' || *from == '\\')
            line[length++] = '\\';
        line[length++] = *from;
    }
    snprintf(line + length, sizeof line - length, "\"}");
    HAS(ask(line), "\"stored\":true");
    HAS(ask("{\"id\":1,\"do\":\"durable get\",\"kind\":\"thing\",\"key\":\"a\"}"), "\"value\":3");
    end();
}

TEST(damaged_requests_do_no_harm, "O-20", "U-02")
{
    static const char *const words[] = {
        "{\"id\":1,\"do\":\"durable ls\",\"kind\":\"thing\",\"key\":\"%61\",\"limit\":2}\n",
        "{\"id\":2,\"do\":\"durable get\",\"kind\":\"thing\",\"key\":\"a\"}\n",
        "{\"id\":3,\"do\":\"durable "
        "set\",\"kind\":\"thing\",\"key\":\"a\",\"json\":\"{\\\"value\\\":1}\",\"may\":true}\n",
        "{\"id\":4,\"do\":\"durable "
        "import\",\"json\":\"{\\\"kind\\\":\\\"thing\\\",\\\"key\\\":\\\"b\\\",\\\"whole\\\":true}"
        "\",\"may\":true}\n",
        "{\"id\":5,\"do\":\"sql\",\"kind\":\"thing\",\"key\":\"a\",\"text\":\"SELECT 1, 'x', "
        "x'00', 1.5, NULL\"}\n",
        "{\"id\":6,\"do\":\"alarms\",\"limit\":1}\n",
        "{\"id\":7,\"do\":\"durable export\",\"kind\":\"thing\",\"secrets\":true}\n",
        "{\"id\":8,\"do\":\"wake\",\"kind\":\"thing\",\"key\":\"a\",\"may\":true}\n"};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct rng rng;
        rng_init(&rng, seed);
        begin(seed);
        things_do("a", thing_add, 3);
        tr_kit_advance(kit, TR_MINUTE);
        for (int round = 0; round < 200; round++) {
            char line[300];
            const char *word = words[rng_below(&rng, sizeof words / sizeof *words)];
            size_t size = strlen(word);
            memcpy(line, word, size);
            for (uint64_t i = rng_below(&rng, 3); i; i--)
                line[rng_below(&rng, size)] = (char)rng_below(&rng, 256);
            tr__visitor_input(&visitor, line, size);
            tr__visitor_work(&visitor);
            tr_kit_settle(kit);
            tr__visitor_work(&visitor);
            ck_assert(!visitor.is_over);
            (void)sent();
        }
        end();
    }
}

/* ---- Requests of all verbs, with members that fit and members that do not. ---- */

static const char *pick(struct rng *rng, const char *const *words, size_t count)
{
    return words[rng_below(rng, count)];
}

#define PICK(rng, words) pick(rng, words, sizeof(words) / sizeof *(words))

/* Writes a request of a verb. */
static size_t request_make(struct rng *rng, const char *verb, char *line, size_t size)
{
    static const char *const members[] = {
        "path", "kind", "key", "text", "message", "json", "behavior", "state", "level", "causal"};
    static const char *const values[] = {"/user",
                                         "/",
                                         "/system/durable/thing/a",
                                         "/user/none",
                                         "thing",
                                         "a",
                                         "b",
                                         "",
                                         "%00",
                                         "%zz",
                                         "SELECT 1",
                                         "DROP TABLE x",
                                         "{}",
                                         "{\\\"a\\\":1",
                                         "Running",
                                         "debug",
                                         "thing_add",
                                         "0000000000000001",
                                         "/nowhere/at/all",
                                         "\\u0000",
                                         "\\ud800"};
    static const char *const numbers[] = {"limit", "after", "queued", "timeout_ms"};
    static const char *const bounds[] = {"0", "1", "7", "4294967295"};
    static const char *const switches[] = {
        "sorted", "writes", "more", "direct", "secrets", "progress"};
    int length = snprintf(line, size, "{\"id\":7,\"do\":\"%s\",\"may\":true", verb);
    for (uint64_t i = rng_below(rng, 5); i; i--)
        length += snprintf(line + length,
                           size - (size_t)length,
                           ",\"%s\":\"%s\"",
                           PICK(rng, members),
                           PICK(rng, values));
    for (uint64_t i = rng_below(rng, 3); i; i--)
        length += snprintf(line + length,
                           size - (size_t)length,
                           ",\"%s\":%s",
                           PICK(rng, numbers),
                           PICK(rng, bounds));
    if (rng_below(rng, 2))
        length +=
            snprintf(line + length, size - (size_t)length, ",\"%s\":true", PICK(rng, switches));
    length += snprintf(line + length, size - (size_t)length, "}\n");
    ck_assert_int_lt(length, (int)size);
    return (size_t)length;
}

/* Works until the request is answered, and counts its answers. Each line is whole. */
static size_t answers_count(const char *verb)
{
    size_t answers = 0;
    for (int i = 0; i < 200; i++) {
        tr__visitor_work(&visitor);
        tr_kit_settle(kit);
        ck_assert_msg(!visitor.is_over, "%s ends the connection", verb);
        for (const char *at = sent(); *at;) {
            const char *end = strchr(at, '\n');
            ck_assert_msg(end && at[0] == '{' && end[-1] == '}', "%s: %s", verb, at);
            bool is_part = strncmp(at, "{\"id\":7,\"part\"", 14) == 0 ||
                           strncmp(at, "{\"id\":7,\"progress\"", 18) == 0;
            answers += !is_part;
            at = end + 1;
        }
        if (visitor.job == JOB_NONE)
            break;
        tr_kit_advance(kit, TR_SECOND);
    }
    ck_assert_msg(visitor.job == JOB_NONE, "%s does not end", verb);
    return answers;
}

TEST(each_verb_gives_one_answer_to_whatever_it_is_asked, "O-09", "U-02")
{
    enum { ROUNDS = 12 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct rng rng;
        rng_init(&rng, seed * 977);
        begin(seed);
        things_do("a", thing_add, 3);
        for (size_t i = 0; i < tr__verb_count * ROUNDS; i++) {
            char line[1000];
            const char *verb = tr__verbs[i % tr__verb_count].name;
            if (strcmp(verb, "session") == 0)
                continue; /* it would take away what others may */
            size_t size = request_make(&rng, verb, line, sizeof line);
            tr__visitor_input(&visitor, line, size);
            size_t answers = answers_count(verb);
            ck_assert_msg(answers == 1, "%zu answers to %s", answers, line);
        }
        end();
        tr__backups_collect(&observer, true);
    }
}

SUITE("observe durable", each_verb_gives_one_answer_to_whatever_it_is_asked,
      keys_and_items_of_an_actor_are_given_in_pages,
      an_item_that_was_given_up_is_shown_with_its_failure, stored_actors_are_listed_and_shown,
      an_actor_with_very_many_rows_is_checked_in_steps, the_actors_of_a_kind_are_counted_in_steps,
      no_more_items_of_a_queue_are_read_than_one_look_may_take,
      an_actor_with_very_many_items_is_read_in_steps,
      a_check_that_runs_out_of_memory_calls_no_actor_damaged,
      a_sleeper_is_changed_and_an_awake_one_is_not, a_client_that_leaves_leaves_nothing,
      an_export_is_imported_again, damaged_requests_do_no_harm)
