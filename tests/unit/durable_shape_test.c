/* SPDX-License-Identifier: Apache-2.0 */
/**
 * States as an earlier library has stored them, without a shape, and stores whose shapes are damaged.
 */
#include "support/stores.h"
#include "wire/shape.h"

#include <troupe/kit.h>
#include <troupe/troupe.h>

TR_MESSAGE(answer, (u64, a), (u64, b));
TR_REQUEST(look, answer);
TR_REQUEST(fill, answer);
TR_MESSAGE(state_a, (u64, a));
TR_MESSAGE(state_ab, (u64, a), (u64, b));
TR_MESSAGE(state_ba, (u64, b), (u64, a));
TR_ACTOR(only_a, look, fill);
TR_ACTOR(with_b, look, fill);
TR_ACTOR(moved, look, fill);
static tr_next look_a(tr_self *self, struct state_a *s)
{
    return tr_reply(self, answer, .a = s->a);
}
static tr_next fill_a(tr_self *self, struct state_a *s)
{
    return tr_reply(self, answer, .a = ++s->a);
}
static tr_next look_ab(tr_self *self, struct state_ab *s)
{
    return tr_reply(self, answer, .a = s->a, .b = s->b);
}
static tr_next fill_ab(tr_self *self, struct state_ab *s)
{
    ++s->a;
    return tr_reply(self, answer, .a = s->a, .b = s->b);
}
static tr_next look_ba(tr_self *self, struct state_ba *s)
{
    return tr_reply(self, answer, .a = s->a, .b = s->b);
}
TR_BEHAVIOR(only_a, struct state_a, TR_ON(look, look_a), TR_ON(fill, fill_a));
TR_BEHAVIOR(with_b, struct state_ab, TR_ON(look, look_ab), TR_ON(fill, fill_ab));
TR_BEHAVIOR(moved, struct state_ba, TR_ON(look, look_ba), TR_ON(fill, look_ba));
TR_DURABLE(only_a, state_a);
TR_DURABLE(with_b, state_ab);
TR_DURABLE(moved, state_ba);

static char directory[64];

static void directory_make(void)
{
    snprintf(directory, sizeof directory, "/tmp/troupe-shape-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void directory_drop(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

static tr_status run(const tr_durable_kind *declared, const tr_type *type, struct answer *answer)
{
    tr_durable_kind kind = *declared;
    kind.name = "thing";
    const tr_durable_kind *const kinds[] = {&kind, NULL};
    const tr_durables durables = {sizeof durables, tr_durable_start, kinds};
    tr_kit *kit = tr_kit_new(&(tr_kit_options){
        .size = sizeof(tr_kit_options), .durable = &durables, .store = directory});
    ck_assert_ptr_nonnull(kit);
    tr_client *client = tr_kit_client(kit);
    const void *reply;
    uint64_t bits;
    ck_assert_int_eq(tr_client_try_durable(client, &kind, (tr_bytes){"k", 1}, &bits), TR_OK);
    tr_status status = tr_client_try_await(
        client, tr_client_ask(client, tr_ref_from_bits(bits), type, &(struct look){0}, 0), &reply);
    if (status == TR_OK)
        *answer = *(const struct answer *)reply;
    tr_kit_free(kit);
    return status;
}

static void expect(const tr_durable_kind *kind, const tr_type *type, uint64_t a, uint64_t b)
{
    struct answer answer;
    ck_assert_int_eq(run(kind, type, &answer), TR_OK);
    ck_assert_uint_eq(answer.a, a);
    ck_assert_uint_eq(answer.b, b);
}

static struct store *open_directly(void)
{
    struct store_options options = stores_options(NULL);
    options.path = directory;
    options.program = "kit";
    return stores_open(&options);
}

static void put(const void *bytes, size_t size)
{
    struct store *store = open_directly();
    struct store_entry *entry = stores_enter(store, "thing", "k");
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_put_state(batch, 1, (tr_bytes){bytes, size}), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    tr__store_leave(entry);
    tr__store_close(store);
}

/* The hash in front of the state, 0: none; and the number of the version. */
static uint64_t stored_hash(struct store_generation *generation)
{
    struct store_state state;
    uint64_t hash;
    struct store *store = open_directly();
    struct store_reader *reader = stores_reader(store);
    ck_assert_int_eq(tr__store_read_state(reader, "thing", stores_bytes("k"), &state), TR_OK);
    (void)tr__shape_front_read(state.bytes, &hash);
    *generation = state.generation;
    tr__store_reader_free(reader);
    tr__store_close(store);
    return hash;
}

static uint64_t hash_of(const tr_type *type)
{
    char text[256];
    size_t size = tr__shape_write(type, text, sizeof text);
    return tr__shape_hash((tr_bytes){text, size});
}

TEST(a_state_without_a_shape_is_read_as_before, "K-07")
{
    struct store_generation generation;
    directory_make();
    put("\x92\5\6", 3);
    expect(&tr_durable_with_b, &tr_type_look, 5, 6);
    expect(&tr_durable_moved, &tr_type_look, 6, 5); /* nobody knows */
    expect(&tr_durable_only_a, &tr_type_look, 5, 0);
    expect(&tr_durable_only_a, &tr_type_fill, 6, 0);
    ck_assert_uint_eq(stored_hash(&generation), 0); /* it has a field that this code cannot name */
    expect(&tr_durable_with_b, &tr_type_look, 6, 6);
    expect(&tr_durable_with_b, &tr_type_fill, 7, 6); /* from now on it is known */
    ck_assert_uint_eq(stored_hash(&generation), hash_of(&tr_type_state_ab));
    struct answer answer;
    ck_assert_int_eq(run(&tr_durable_moved, &tr_type_look, &answer), TR_START_FAILED);
    expect(&tr_durable_only_a, &tr_type_fill, 8, 0);
    ck_assert_uint_eq(stored_hash(&generation), hash_of(&tr_type_state_ab));
    expect(&tr_durable_with_b, &tr_type_look, 8, 6);
    directory_drop();
}

TEST(a_look_leaves_the_row_as_it_is, "K-01", "K-07")
{
    struct store_generation before, after;
    const tr_durable_kind *const kinds[] = {&tr_durable_only_a, &tr_durable_with_b};
    directory_make();
    put("\x92\5\6", 3);
    (void)stored_hash(&before);
    for (size_t i = 0; i < 2; i++) {
        expect(kinds[i], &tr_type_look, 5, i ? 6 : 0);
        ck_assert_uint_eq(stored_hash(&after), 0);
        ck_assert_int_eq(store_generation_compare(before, after), 0);
    }
    expect(&tr_durable_with_b, &tr_type_fill, 6, 6);
    (void)stored_hash(&before);
    for (size_t i = 0; i < 2; i++) {
        expect(kinds[i], &tr_type_look, 6, i ? 6 : 0);
        (void)stored_hash(&after);
        ck_assert_int_eq(store_generation_compare(before, after), 0);
    }
    directory_drop();
}

TEST(a_shape_that_the_store_does_not_have_keeps_the_actor_from_starting, "K-07", "PE-21")
{
    struct answer answer;
    unsigned char bytes[SHAPE_FRONT + 3];
    directory_make();
    tr__shape_front_write(bytes, 12345);
    memcpy(bytes + SHAPE_FRONT, "\x92\5\6", 3);
    put(bytes, sizeof bytes);
    ck_assert_int_eq(run(&tr_durable_with_b, &tr_type_look, &answer), TR_START_FAILED);
    tr__shape_front_write(bytes, hash_of(&tr_type_state_ab)); /* of this code: it is known */
    put(bytes, sizeof bytes);
    expect(&tr_durable_with_b, &tr_type_look, 5, 6);
    ck_assert_int_eq(run(&tr_durable_moved, &tr_type_look, &answer), TR_START_FAILED);
    directory_drop();
}

SUITE("durable shapes in the store", a_state_without_a_shape_is_read_as_before,
      a_look_leaves_the_row_as_it_is,
      a_shape_that_the_store_does_not_have_keeps_the_actor_from_starting)
