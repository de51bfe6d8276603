/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The contract of a store, part one: what is put is there, in every form, and a batch is whole.
 */
#include "support/stores.h"

static struct store *store;
static struct store_reader *reader;

static void open_store(void)
{
    struct store_options options = stores_options(NULL);
    store = stores_open(&options);
    reader = stores_reader(store);
}

static void close_store(void)
{
    tr__store_reader_free(reader);
    tr__store_close(store);
}

TEST(a_state_is_there_with_version_and_generation, "K-06", "K-09")
{
    open_store();
    struct store_entry *cart = stores_enter(store, "cart", "alice");
    ck_assert_str_eq(stores_state(reader, "cart", "alice"), "TR_NOT_FOUND");
    ck_assert_int_eq(stores_put(store, cart, 7, "two apples"), TR_OK);
    struct store_state state;
    ck_assert_int_eq(tr__store_read_state(reader, "cart", stores_bytes("alice"), &state), TR_OK);
    ck_assert(stores_is(state.bytes, "two apples"));
    ck_assert(state.has_state);
    ck_assert_uint_eq(state.version, 7);
    ck_assert_uint_eq(state.sequence, 0);
    struct store_generation generation = tr__store_entry_generation(cart);
    ck_assert_int_eq(store_generation_compare(state.generation, generation), 0);
    ck_assert_uint_eq(generation.epoch, tr__store_epoch(store));

    ck_assert_int_eq(stores_put(store, cart, 8, ""), TR_OK);
    ck_assert_int_eq(tr__store_read_state(reader, "cart", stores_bytes("alice"), &state), TR_OK);
    ck_assert_uint_eq(state.version, 8);
    ck_assert_uint_eq(state.bytes.size, 0);
    ck_assert(state.has_state);
    ck_assert_str_eq(stores_state(reader, "cart", "bob"), "TR_NOT_FOUND");
    ck_assert_str_eq(stores_state(reader, "car", "talice"), "TR_NOT_FOUND");
    tr__store_leave(cart);
    close_store();
}

TEST(keys_have_any_bytes, "K-02")
{
    static const unsigned char keys[][4] = {
        {0, 0, 0, 0}, {0, 0, 0, 1}, {255, 255, 255, 255}, {0, 'a', 0, 'b'}, {'\'', ';', '%', '_'}};
    open_store();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct store_entry *entry;
        tr_bytes key = {keys[i], 4};
        ck_assert_int_eq(tr__store_enter(store, "k", key, NULL, NULL, &entry), TR_OK);
        struct store_batch *batch = stores_batch(entry);
        ck_assert_int_eq(tr__store_put_state(batch, (uint32_t)i, key), TR_OK);
        for (size_t j = 0; j < sizeof keys / sizeof *keys; j++)
            ck_assert_int_eq(tr__store_kv_put(batch, (tr_bytes){keys[j], 4}, key), TR_OK);
        ck_assert_int_eq(stores_commit(store, batch), TR_OK);
        tr__store_leave(entry);
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct store_state state;
        tr_bytes value;
        tr_bytes key = {keys[i], 4};
        ck_assert_int_eq(tr__store_read_state(reader, "k", key, &state), TR_OK);
        ck_assert_uint_eq(state.version, i);
        ck_assert_mem_eq(state.bytes.data, keys[i], 4);
        for (size_t j = 0; j < sizeof keys / sizeof *keys; j++) {
            tr_status status = tr__store_read_kv(reader, "k", key, (tr_bytes){keys[j], 4}, &value);
            ck_assert_int_eq(status, TR_OK);
            ck_assert_uint_eq(value.size, 4);
            ck_assert_mem_eq(value.data, keys[i], 4);
        }
    }
    close_store();
}

static void put_fruits(struct store_entry *entry)
{
    static const char *const names[] = {
        "apple", "apricot", "banana", "b", "cherry", "\xff\xff", "\xff"};
    struct store_batch *batch = stores_batch(entry);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *value = tr__store_batch_alloc(batch, 16);
        (void)snprintf(value, 16, "%zu", i);
        tr_status status = tr__store_kv_put(batch, stores_bytes(names[i]), stores_bytes(value));
        ck_assert_int_eq(status, TR_OK);
    }
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
}

static const char *list_kv(struct store_range range)
{
    static struct stores_text text;
    text = (struct stores_text){0};
    tr_status status =
        tr__store_list_kv(reader, "k", stores_bytes("x"), &range, stores_visit, &text);
    ck_assert_int_eq(status, TR_OK);
    return text.text;
}

TEST(kv_lists_by_prefix_range_limit_and_backwards, "K-02")
{
    open_store();
    struct store_entry *entry = stores_enter(store, "k", "x");
    struct store_entry *other = stores_enter(store, "k", "y");
    put_fruits(entry);
    put_fruits(other);
    ck_assert_str_eq(list_kv((struct store_range){0}),
                     "apple=0 apricot=1 b=3 banana=2 cherry=4 \xff=6 \xff\xff=5 ");
    ck_assert_str_eq(list_kv((struct store_range){.prefix = stores_bytes("ap")}),
                     "apple=0 apricot=1 ");
    ck_assert_str_eq(list_kv((struct store_range){.prefix = stores_bytes("\xff")}),
                     "\xff=6 \xff\xff=5 ");
    ck_assert_str_eq(
        list_kv((struct store_range){.from = stores_bytes("apr"), .to = stores_bytes("banana")}),
        "apricot=1 b=3 ");
    ck_assert_str_eq(
        list_kv((struct store_range){.prefix = stores_bytes("ap"), .from = stores_bytes("apq")}),
        "apricot=1 ");
    ck_assert_str_eq(
        list_kv((struct store_range){.prefix = stores_bytes("ap"), .to = stores_bytes("apq")}),
        "apple=0 ");
    ck_assert_str_eq(list_kv((struct store_range){.limit = 2}), "apple=0 apricot=1 ");
    ck_assert_str_eq(list_kv((struct store_range){.limit = 2, .is_reverse = true}),
                     "\xff\xff=5 \xff=6 ");
    ck_assert_str_eq(list_kv((struct store_range){.prefix = stores_bytes("no")}), "");

    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_kv_delete(batch, stores_bytes("apple")), TR_OK);
    ck_assert_int_eq(tr__store_kv_delete(batch, stores_bytes("no such key")), TR_OK);
    ck_assert_int_eq(tr__store_kv_delete_range(batch, stores_bytes("b"), stores_bytes("cherry")),
                     TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    ck_assert_str_eq(list_kv((struct store_range){0}), "apricot=1 cherry=4 \xff=6 \xff\xff=5 ");
    batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_kv_delete_range(batch, stores_bytes("b"), (tr_bytes){0}), TR_OK);
    ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("z"), stores_bytes("")), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    ck_assert_str_eq(list_kv((struct store_range){0}), "apricot=1 z= ");
    ck_assert_str_eq(stores_kv(reader, "k", "x", "apricot"), "1");
    ck_assert_str_eq(stores_kv(reader, "k", "x", "apple"), "TR_NOT_FOUND");
    ck_assert_str_eq(stores_kv(reader, "k", "y", "apple"), "0");
    ck_assert_str_eq(stores_state(reader, "k", "x"), "none");
    tr__store_leave(entry);
    tr__store_leave(other);
    close_store();
}

static const char *list_due(const struct store_alarm_place *after, tr_time until, size_t limit,
                            struct store_alarm_place *last);

struct dues {
    char text[1024];
    size_t size;
    struct store_alarm_place last;
};

static bool visit_due(void *context, const struct store_due *due)
{
    struct dues *dues = context;
    ck_assert(!due->is_corrupt);
    int written = snprintf(dues->text + dues->size,
                           sizeof dues->text - dues->size,
                           "%s/%.*s:%s@%lld=%.*s ",
                           due->kind,
                           (int)due->key.size,
                           (const char *)due->key.data,
                           due->place.name,
                           (long long)due->place.due_wall_ns,
                           (int)due->bytes.size,
                           (const char *)due->bytes.data);
    dues->size += (size_t)written;
    dues->last = due->place;
    return true;
}

static const char *list_due(const struct store_alarm_place *after, tr_time until, size_t limit,
                            struct store_alarm_place *last)
{
    static struct dues dues;
    dues = (struct dues){0};
    ck_assert_int_eq(tr__store_list_due(reader, after, until, limit, visit_due, &dues), TR_OK);
    if (last)
        *last = dues.last;
    return dues.text;
}

TEST(alarms_are_listed_by_actor_and_by_time, "AL-07")
{
    struct stores_text text = {0};
    open_store();
    struct store_entry *a = stores_enter(store, "k", "a");
    struct store_entry *b = stores_enter(store, "k", "b");
    struct store_batch *batch = stores_batch(a);
    ck_assert_int_eq(tr__store_alarm_set(batch, "tea", 300, stores_bytes("1")), TR_OK);
    ck_assert_int_eq(tr__store_alarm_set(batch, "egg", 100, stores_bytes("2")), TR_OK);
    ck_assert_int_eq(tr__store_alarm_set(batch, "tea", 200, stores_bytes("3")), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    batch = stores_batch(b);
    ck_assert_int_eq(tr__store_alarm_set(batch, "tea", 200, stores_bytes("4")), TR_OK);
    ck_assert_int_eq(tr__store_alarm_set(batch, "past", -5, stores_bytes("5")), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);

    ck_assert_int_eq(tr__store_list_alarms(reader, "k", stores_bytes("a"), stores_visit, &text),
                     TR_OK);
    ck_assert_str_eq(text.text, "egg@100=2 tea@200=3 ");
    struct store_alarm_place last;
    ck_assert_str_eq(list_due(NULL, TR_NEVER, 3, &last),
                     "k/b:past@-5=5 k/a:egg@100=2 k/a:tea@200=3 ");
    ck_assert_str_eq(list_due(&last, TR_NEVER, 3, NULL), "k/b:tea@200=4 ");
    ck_assert_str_eq(list_due(NULL, 100, 0, NULL), "k/b:past@-5=5 k/a:egg@100=2 ");

    batch = stores_batch(a);
    ck_assert_int_eq(tr__store_alarm_clear(batch, "egg"), TR_OK);
    ck_assert_int_eq(tr__store_alarm_clear(batch, "no such alarm"), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    batch = stores_batch(b);
    ck_assert_int_eq(tr__store_alarm_clear_all(batch), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    ck_assert_str_eq(list_due(NULL, TR_NEVER, 0, NULL), "k/a:tea@200=3 ");
    tr__store_leave(a);
    tr__store_leave(b);
    close_store();
}

static const char *list_queue(const char *queue, uint64_t from, size_t limit)
{
    static struct stores_text text;
    text = (struct stores_text){0};
    tr_status status = tr__store_list_queue(
        reader, "k", stores_bytes("x"), queue, from, limit, stores_visit, &text);
    ck_assert_int_eq(status, TR_OK);
    return text.text;
}

static const char *list_queues(const char *name, uint64_t id, size_t limit)
{
    static struct stores_text text;
    text = (struct stores_text){0};
    tr_status status =
        tr__store_list_queues(reader, "k", stores_bytes("x"), name, id, limit, stores_visit, &text);
    ck_assert_int_eq(status, TR_OK);
    return text.text;
}

TEST(queues_keep_their_order, "")
{
    open_store();
    struct store_entry *entry = stores_enter(store, "k", "x");
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_queue_push(batch, "in", 2, stores_bytes("b")), TR_OK);
    ck_assert_int_eq(tr__store_queue_push(batch, "in", 1, stores_bytes("a")), TR_OK);
    ck_assert_int_eq(tr__store_queue_push(batch, "out", 1, stores_bytes("z")), TR_OK);
    ck_assert_int_eq(tr__store_queue_push(batch, "in", 10, stores_bytes("c")), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    ck_assert_str_eq(list_queue("in", 0, 0), "in:1=a in:2=b in:10=c ");
    ck_assert_str_eq(list_queue("in", 2, 1), "in:2=b ");
    ck_assert_str_eq(list_queues(NULL, 0, 0), "in:1=a in:2=b in:10=c out:1=z ");
    /* From an item on, also if it is gone, across the end of its queue. */
    ck_assert_str_eq(list_queues("in", 2, 0), "in:2=b in:10=c out:1=z ");
    ck_assert_str_eq(list_queues("in", 3, 2), "in:10=c out:1=z ");
    ck_assert_str_eq(list_queues("in", 11, 0), "out:1=z ");
    ck_assert_str_eq(list_queues("inn", 99, 1), "out:1=z ");
    ck_assert_str_eq(list_queues("out", 2, 0), "");
    batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_queue_remove(batch, "in", 1), TR_OK);
    ck_assert_int_eq(tr__store_queue_remove(batch, "in", 99), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    ck_assert_str_eq(list_queue("in", 0, 1), "in:2=b ");
    ck_assert_str_eq(list_queue("other", 0, 0), "");
    tr__store_leave(entry);
    close_store();
}

/* "k/a+ k/b- ": a has items in a queue behind the name, b in others only. */
struct queued_text {
    char text[200];
    int64_t last;
};

static bool visit_queued(void *context, const struct store_queued *queued)
{
    struct queued_text *text = context;
    size_t length = strlen(text->text);
    snprintf(text->text + length,
             sizeof text->text - length,
             "%s/%.*s%s ",
             queued->kind,
             (int)queued->key.size,
             (const char *)queued->key.data,
             queued->has_items ? "+" : "-");
    text->last = queued->actor;
    return true;
}

static const char *list_queued(int64_t after, size_t limit, int64_t *last)
{
    static struct queued_text text;
    text = (struct queued_text){.last = after};
    ck_assert_int_eq(tr__store_list_queued(reader, after, "b", limit, visit_queued, &text), TR_OK);
    *last = text.last;
    return text.text;
}

TEST(actors_with_queues_are_listed_in_pages, "")
{
    static const char *const keys[] = {"a", "b", "none", "c", "d"};
    static const char *const queues[] = {"a", "c", NULL, "b", "z"};
    int64_t last;
    open_store();
    ck_assert_str_eq(list_queued(INT64_MIN, 10, &last), "");
    for (size_t i = 0; i < 5; i++) {
        struct store_entry *entry = stores_enter(store, "k", keys[i]);
        struct store_batch *batch = stores_batch(entry);
        ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("z"), stores_bytes("")), TR_OK);
        for (uint64_t id = 1; queues[i] && id <= 20; id++)
            ck_assert_int_eq(tr__store_queue_push(batch, queues[i], id, stores_bytes("x")), TR_OK);
        ck_assert_int_eq(stores_commit(store, batch), TR_OK);
        tr__store_leave(entry);
    }
    ck_assert_str_eq(list_queued(INT64_MIN, 0, &last), "k/a- k/b+ k/c- k/d+ ");
    ck_assert_str_eq(list_queued(INT64_MIN, 3, &last), "k/a- k/b+ k/c- ");
    ck_assert_str_eq(list_queued(last, 3, &last), "k/d+ ");
    ck_assert_str_eq(list_queued(last, 3, &last), "");
    close_store();
}

static tr_status append(struct store_entry *entry, uint64_t expected, const char *event)
{
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_event_append(batch, expected, stores_bytes(event)), TR_OK);
    return stores_commit(store, batch);
}

static const char *list_events(uint64_t from, uint64_t to, size_t limit)
{
    static struct stores_text text;
    text = (struct stores_text){0};
    tr_status status =
        tr__store_list_events(reader, "k", stores_bytes("x"), from, to, limit, stores_visit, &text);
    ck_assert_int_eq(status, TR_OK);
    return text.text;
}

TEST(events_follow_each_other, "PE-07", "PE-08", "PE-17")
{
    open_store();
    struct store_entry *entry = stores_enter(store, "k", "x");
    ck_assert_int_eq(append(entry, 0, "one"), TR_OK);
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_event_append(batch, 1, stores_bytes("two")), TR_OK);
    ck_assert_int_eq(tr__store_event_append(batch, 2, stores_bytes("three")), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    ck_assert_str_eq(list_events(0, UINT64_MAX, 0), "1=one 2=two 3=three ");
    ck_assert_str_eq(list_events(2, 2, 0), "2=two ");
    ck_assert_str_eq(list_events(1, 3, 1), "1=one ");
    ck_assert_str_eq(list_events(4, 3, 0), "");

    batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_event_trim(batch, 3), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    ck_assert_str_eq(list_events(0, UINT64_MAX, 0), "");
    struct store_state state;
    ck_assert_int_eq(tr__store_read_state(reader, "k", stores_bytes("x"), &state), TR_OK);
    ck_assert_uint_eq(state.sequence, 3);
    ck_assert(!state.has_state);
    ck_assert_int_eq(append(entry, 3, "four"), TR_OK);
    ck_assert_str_eq(list_events(0, UINT64_MAX, 0), "4=four ");

    ck_assert_int_eq(append(entry, 3, "a second fourth"), TR_STALE);
    tr__store_leave(entry);
    entry = stores_enter(store, "k", "x");
    ck_assert_int_eq(append(entry, 5, "a sixth"), TR_STALE);
    tr__store_leave(entry);
    ck_assert_str_eq(list_events(0, UINT64_MAX, 0), "4=four ");
    close_store();
}

static const char *read_snapshot(uint64_t max)
{
    static char text[64];
    struct store_snapshot snapshot;
    tr_status status = tr__store_read_snapshot(reader, "k", stores_bytes("x"), max, &snapshot);
    if (status != TR_OK)
        return tr_status_name(status);
    (void)snprintf(text,
                   sizeof text,
                   "%llu v%u %.*s",
                   (unsigned long long)snapshot.sequence,
                   snapshot.version,
                   (int)snapshot.bytes.size,
                   (const char *)snapshot.bytes.data);
    return text;
}

TEST(the_latest_snapshot_counts, "PE-09")
{
    open_store();
    struct store_entry *entry = stores_enter(store, "k", "x");
    ck_assert_str_eq(read_snapshot(UINT64_MAX), "TR_NOT_FOUND");
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_snapshot_put(batch, 10, 1, stores_bytes("ten")), TR_OK);
    ck_assert_int_eq(tr__store_snapshot_put(batch, 20, 2, stores_bytes("twenty")), TR_OK);
    ck_assert_int_eq(tr__store_snapshot_put(batch, 10, 3, stores_bytes("ten again")), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    ck_assert_str_eq(read_snapshot(UINT64_MAX), "20 v2 twenty");
    ck_assert_str_eq(read_snapshot(19), "10 v3 ten again");
    ck_assert_str_eq(read_snapshot(9), "TR_NOT_FOUND");
    batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_snapshot_trim(batch, 10), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    ck_assert_str_eq(read_snapshot(19), "TR_NOT_FOUND");
    ck_assert_str_eq(read_snapshot(20), "20 v2 twenty");
    tr__store_leave(entry);
    close_store();
}

TEST(destroy_leaves_nothing_and_the_key_begins_anew, "")
{
    struct stores_text text = {0};
    open_store();
    struct store_entry *entry = stores_enter(store, "k", "x");
    put_fruits(entry);
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes("old")), TR_OK);
    ck_assert_int_eq(tr__store_alarm_set(batch, "tea", 1, stores_bytes("")), TR_OK);
    ck_assert_int_eq(tr__store_queue_push(batch, "in", 1, stores_bytes("")), TR_OK);
    ck_assert_int_eq(tr__store_event_append(batch, 0, stores_bytes("")), TR_OK);
    ck_assert_int_eq(tr__store_snapshot_put(batch, 1, 1, stores_bytes("")), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);

    batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("a"), stores_bytes("lost")), TR_OK);
    ck_assert_int_eq(tr__store_destroy(batch), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    ck_assert_str_eq(stores_state(reader, "k", "x"), "TR_NOT_FOUND");
    tr__store_leave(entry);

    entry = stores_enter(store, "k", "x");
    batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_destroy(batch), TR_OK); /* of nothing */
    ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("new"), stores_bytes("1")), TR_OK);
    ck_assert_int_eq(tr__store_event_append(batch, 0, stores_bytes("first")), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    ck_assert_str_eq(list_kv((struct store_range){0}), "new=1 ");
    ck_assert_str_eq(list_events(0, UINT64_MAX, 0), "1=first ");
    ck_assert_str_eq(list_queues(NULL, 0, 0), "");
    ck_assert_str_eq(list_due(NULL, TR_NEVER, 0, NULL), "");
    ck_assert_str_eq(read_snapshot(UINT64_MAX), "TR_NOT_FOUND");
    ck_assert_int_eq(tr__store_list_alarms(reader, "k", stores_bytes("x"), stores_visit, &text),
                     TR_OK);
    ck_assert_str_eq(text.text, "");
    tr__store_leave(entry);
    close_store();
}

static const char *list_shapes(void)
{
    static struct stores_text text;
    text = (struct stores_text){0};
    ck_assert_int_eq(tr__store_list_shapes(reader, stores_visit, &text), TR_OK);
    return text.text;
}

TEST(shapes_are_the_store_s_and_not_the_actor_s, "K-07")
{
    open_store();
    struct store_entry *entry = stores_enter(store, "k", "x");
    ck_assert_str_eq(list_shapes(), "");
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_shape_put(batch, 7, stores_bytes("{b}")), TR_OK);
    ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes("s")), TR_OK);
    ck_assert_int_eq(tr__store_shape_put(batch, 5, stores_bytes("{a}")), TR_OK);
    ck_assert_int_eq(tr__store_shape_put(batch, 0, stores_bytes("{c}")), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__store_shape_put(batch, 9, stores_bytes("")), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    ck_assert_str_eq(list_shapes(), "5={a} 7={b} ");
    batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_shape_put(batch, 8, stores_bytes("{d}")), TR_OK);
    ck_assert_int_eq(tr__store_destroy(batch), TR_OK);
    ck_assert_int_eq(tr__store_shape_put(batch, 5, stores_bytes("{a}")), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    ck_assert_str_eq(list_shapes(), "5={a} 7={b} 8={d} ");
    ck_assert_str_eq(stores_state(reader, "k", "x"), "TR_NOT_FOUND"); /* they make no actor */
    tr__store_leave(entry);
    entry = stores_enter(store, "k", "x");
    batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_shape_put(batch, 9, stores_bytes("{e}")), TR_OK);
    ck_assert_int_eq(tr__store_event_append(batch, 4, stores_bytes("")), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_STALE);
    ck_assert_str_eq(list_shapes(), "5={a} 7={b} 8={d} "); /* nothing of it */
    tr__store_leave(entry);
    close_store();
}

TEST(a_shape_is_cut_from_a_batch_with_what_follows_the_mark, "K-07")
{
    open_store();
    struct store_entry *entry = stores_enter(store, "k", "x");
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes("s")), TR_OK);
    ck_assert_int_eq(tr__store_shape_put(batch, 5, stores_bytes("{a}")), TR_OK);
    struct store_batch_mark mark = tr__store_batch_mark(batch);
    ck_assert_int_eq(tr__store_shape_put(batch, 5, stores_bytes("{x}")),
                     TR_OK); /* the first counts */
    ck_assert_int_eq(tr__store_shape_put(batch, 6, stores_bytes("{y}")), TR_OK);
    tr__store_batch_cut(batch, mark);
    ck_assert_int_eq(tr__store_shape_put(batch, 7, stores_bytes("{b}")), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    ck_assert_str_eq(list_shapes(), "5={a} 7={b} ");
    tr__store_leave(entry);
    close_store();
}

SUITE("store data", shapes_are_the_store_s_and_not_the_actor_s,
      a_shape_is_cut_from_a_batch_with_what_follows_the_mark,
      a_state_is_there_with_version_and_generation, keys_have_any_bytes,
      kv_lists_by_prefix_range_limit_and_backwards, alarms_are_listed_by_actor_and_by_time,
      queues_keep_their_order, actors_with_queues_are_listed_in_pages, events_follow_each_other,
      the_latest_snapshot_counts, destroy_leaves_nothing_and_the_key_begins_anew)
