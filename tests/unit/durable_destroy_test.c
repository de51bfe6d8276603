/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A destroy belongs to the stretch that wants it: its answer means that it survives the end of the process, also
 * when that comes before tr_destroying is over, and a stretch that fails has destroyed nothing.
 */
#include <stdio.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "actor/cell/system.h"
#include "base/rng.h"
#include "durable/host.h"
#include "support/stores.h"

TR_MESSAGE(acted, (i64, value));
TR_REQUEST(act, acted, (u64, call), (i64, n));
TR_MESSAGE(expire, (i64, n));
TR_MESSAGE(cart_state, (i64, value), (i64, creations));
TR_ACTOR(cart, act, expire);
TR_ACTOR(lazy, act, expire);
TR_ACTOR(demand, act, expire);

typedef tr_next cart_call(tr_self *self, struct cart_state *cart, int64_t n);

static cart_call *on_expire_call;
static cart_call *on_destroying_call;
static int expirations;

static tr_next on_act(tr_self *self, struct cart_state *cart, const struct act *message)
{
    return ((cart_call *)(uintptr_t)message->call)(self, cart, message->n);
}

static tr_next on_expire(tr_self *self, struct cart_state *cart, const struct expire *message)
{
    expirations++;
    return on_expire_call ? on_expire_call(self, cart, message->n) : TR_SAME;
}

static tr_next on_created(tr_self *self, struct cart_state *cart)
{
    (void)self;
    cart->creations++;
    return TR_SAME;
}

static tr_next on_destroying(tr_self *self, struct cart_state *cart)
{
    return on_destroying_call ? on_destroying_call(self, cart, 0) : TR_SAME;
}

#define ROWS                                                                                       \
    TR_ON(tr_created, on_created), TR_ON(tr_destroying, on_destroying), TR_ON(act, on_act),        \
        TR_ON(expire, on_expire)
TR_BEHAVIOR(cart, struct cart_state, ROWS);
TR_BEHAVIOR(lazy, struct cart_state, ROWS);
TR_BEHAVIOR(demand, struct cart_state, ROWS);
TR_DURABLE(cart, cart_state, .grace_ns = 5 * TR_SECOND);
TR_DURABLE(lazy, cart_state, .grace_ns = 5 * TR_SECOND, .durability = TR_SAVE_INTERVAL,
           .interval_ns = TR_HOUR);
TR_DURABLE(demand, cart_state, .grace_ns = 5 * TR_SECOND, .durability = TR_SAVE_ON_DEMAND);

/* ---- A kit on a disk. ---- */

static struct store_disk *disk;
static tr_kit *kit;
static tr_client *test;

static void on_work(void *context)
{
    struct durable_host *host = context;
    atom32_store(&host->has_work, 1, ATOM_RELEASE);
}

/* Its store was on nothing; nobody has used it yet. */
static void begin_on(struct store_disk *with)
{
    kit = tr_kit_new(&(tr_kit_options){
        .size = sizeof(tr_kit_options), .workers = 1, .durable = TR_DURABLES(cart, lazy, demand)});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
    tr_system *system = tr_kit_system(kit);
    struct durable_host *host = system->durable.host;
    tr_kit_settle(kit);
    struct store_options options = {.source = system->source,
                                    .program = system->name,
                                    .is_threadless = true,
                                    .on_work = on_work,
                                    .context = host,
                                    .disk = with};
    struct store *store = stores_open(&options);
    tr__store_reader_free(host->contexts[0].reader);
    tr__store_close(host->store);
    host->store = store;
    ck_assert_int_eq(tr__store_reader_new(store, &host->contexts[0].reader), TR_OK);
}

static void begin(void)
{
    disk = stores_disk(true);
    begin_on(disk);
}

static void end(void)
{
    tr_kit_free(kit);
    tr__disk_free(disk);
}

static struct store_disk *crashed(struct rng *rng, enum disk_crash how)
{
    struct store_disk *copy;
    ck_assert_int_eq(tr__disk_clone(disk, &copy), TR_OK);
    tr__disk_crash(copy, how, rng);
    return copy;
}

/* The power is cut, and another process begins with what is on the disk. */
static void cut(void)
{
    struct rng rng;
    rng_init(&rng, 1);
    struct store_disk *copy = crashed(&rng, DISK_CRASH_DROP);
    end();
    disk = copy;
    begin_on(disk);
}

static tr_status try_as(tr_ref ref, cart_call *call, int64_t n, int64_t *value)
{
    const struct acted *acted;
    act_ask ask = tr_ask_within(
        test, TR_HOUR, cart_ref_of(ref), act, .call = (uint64_t)(uintptr_t)call, .n = n);
    tr_status status = tr_try_await(test, ask, &acted);
    if (status == TR_OK && value)
        *value = acted->value;
    return status;
}

static tr_ref cart_of(const char *key)
{
    cart_ref ref;
    ck_assert_int_eq(tr_try_durable(test, &ref, cart, key), TR_OK);
    return tr_any(ref);
}

static int64_t carts_do(const char *key, cart_call *call, int64_t n)
{
    int64_t value = -1;
    ck_assert_int_eq(try_as(cart_of(key), call, n, &value), TR_OK);
    return value;
}

/* ---- What they do. ---- */

static const tr_bytes key = {"k", 1};

static tr_next fill(tr_self *self, struct cart_state *cart, int64_t n)
{
    cart->value = n;
    tr_kv_put(self, key, (tr_bytes){&n, sizeof n});
    tr_alarm_after(self, "expire", TR_MINUTE, expire);
    return tr_reply(self, acted, .value = n);
}

/* The value; a key and an alarm go with it. */
static tr_next look(tr_self *self, struct cart_state *cart, int64_t n)
{
    tr_bytes value;
    (void)n;
    ck_assert(tr_kv_get(self, key, &value) == (cart->value != 0));
    ck_assert((tr_alarm_due(self, "expire") != 0) == (cart->value != 0));
    ck_assert_int_eq(cart->creations, 1);
    return tr_reply(self, acted, .value = cart->value);
}

static tr_next save(tr_self *self, struct cart_state *cart, int64_t n)
{
    (void)cart;
    tr_save(self);
    return tr_reply(self, acted, .value = n);
}

static tr_next forget(tr_self *self, struct cart_state *cart, int64_t n)
{
    (void)cart, (void)n;
    ck_assert_int_eq(tr_destroy(self), TR_OK);
    ck_assert_int_eq(tr_destroy(self), TR_STOPPING);
    return tr_reply(self, acted, .value = 1);
}

static int destroyings;

/* It still has all that it had, and sets an alarm that nobody is to hear of. */
static tr_next wait_long(tr_self *self, struct cart_state *cart, int64_t n)
{
    tr_bytes value;
    (void)n;
    destroyings++;
    ck_assert_int_ne(cart->value, 0);
    ck_assert(tr_kv_get(self, key, &value));
    tr_alarm_after(self, "late", TR_SECOND, expire);
    cart->value++;
    (void)!tr_sleep(self, 4 * TR_SECOND);
    return TR_SAME;
}

/* ---- Answers. ---- */

TEST(a_destroy_that_was_answered_survives_a_power_cut, "Z-15", "K-09")
{
    begin();
    on_destroying_call = wait_long;
    ck_assert_int_eq(carts_do("a", fill, 42), 42);
    ck_assert_int_eq(carts_do("b", fill, 43), 43);
    ck_assert_int_eq(carts_do("a", forget, 0), 1);
    tr_kit_settle(kit);
    ck_assert_int_eq(destroyings, 1);
    cut();
    tr_kit_advance(kit, 10 * TR_SECOND);
    ck_assert_int_eq(destroyings, 1); /* it does not come again, */
    ck_assert_int_eq(expirations, 0); /* nor does an alarm that it has set */
    ck_assert_int_eq(carts_do("a", look, 0), 0);
    ck_assert_int_eq(carts_do("b", look, 0), 43);
    end();
}

TEST(an_answer_waits_for_the_destroy_whatever_the_durability, "Z-15", "K-01")
{
    for (int i = 0; i < 2; i++) {
        lazy_ref first;
        demand_ref second;
        begin();
        on_destroying_call = wait_long;
        for (int round = 0; round < 2; round++) {
            int64_t value = -1;
            ck_assert_int_eq(tr_try_durable(test, &first, lazy, "a"), TR_OK);
            ck_assert_int_eq(tr_try_durable(test, &second, demand, "a"), TR_OK);
            tr_ref ref = i ? tr_any(second) : tr_any(first);
            if (round == 0) {
                ck_assert_int_eq(try_as(ref, fill, 42, &value), TR_OK);
                ck_assert_int_eq(try_as(ref, save, 0, &value), TR_OK);
                ck_assert_int_eq(try_as(ref, forget, 0, &value), TR_OK);
                cut();
            } else {
                ck_assert_int_eq(try_as(ref, look, 0, &value), TR_OK);
                ck_assert_int_eq(value, 0);
            }
        }
        end();
    }
}

static tr_next forget_and_fail(tr_self *self, struct cart_state *cart, int64_t n)
{
    cart->value = 1000;
    ck_assert_int_eq(tr_destroy(self), TR_OK);
    if (n)
        tr_crash(self, TR_BAD_DATA, "as told");
    return tr_fail(self, TR_BAD_DATA, "as told");
}

TEST(a_destroy_whose_stretch_fails_is_none, "Z-15", "Z-14")
{
    begin();
    on_destroying_call = wait_long;
    ck_assert_int_eq(carts_do("a", fill, 42), 42);
    for (int n = 0; n < 2; n++) {
        ck_assert_int_eq(try_as(cart_of("a"), forget_and_fail, n, NULL), TR_FAILED);
        ck_assert_int_eq(carts_do("a", look, 0), 42);
        tr_kit_advance(kit, 10 * TR_SECOND);
        ck_assert_int_eq(destroyings, 0);
    }
    cut();
    ck_assert_int_eq(carts_do("a", look, 0), 42);
    ck_assert_int_eq(carts_do("a", forget, 0), 1);
    tr_kit_advance(kit, 10 * TR_SECOND);
    ck_assert_int_eq(carts_do("a", look, 0), 0);
    end();
}

/* ---- Ends of a grace. ---- */

static tr_next forget_and_wait(tr_self *self, struct cart_state *cart, int64_t n)
{
    cart->value++;
    ck_assert_int_eq(tr_destroy(self), TR_OK);
    tr_save(self);
    tr_self_reply(self, &tr_type_acted, &(struct acted){.value = 1});
    (void)!tr_sleep(self, TR_SECOND);
    return n ? tr_fail(self, TR_BAD_DATA, "as told") : TR_SAME;
}

TEST(a_turn_that_fails_after_its_destroy_was_stored_has_destroyed, "Z-15", "Z-14")
{
    begin();
    ck_assert_int_eq(carts_do("a", fill, 42), 42);
    (void)!try_as(cart_of("a"), forget_and_wait, 1, NULL);
    tr_kit_advance(kit, 2 * TR_SECOND);
    ck_assert_int_eq(carts_do("a", look, 0), 0);
    cut();
    ck_assert_int_eq(carts_do("a", look, 0), 0);
    end();
}

static bool count_due(void *context, const struct store_due *due)
{
    (void)due;
    ++*(int *)context;
    return true;
}

static bool is_stored(const char *name)
{
    struct store_state state;
    struct durable_host *host = tr_kit_system(kit)->durable.host;
    tr_bytes bytes = {name, strlen(name)};
    tr_status status = tr__store_read_state(host->contexts[0].reader, "cart", bytes, &state);
    ck_assert(status == TR_OK || status == TR_NOT_FOUND);
    return status == TR_OK;
}

TEST(a_kill_in_the_grace_of_a_destroy_leaves_nothing, "Z-15", "Z-02")
{
    begin();
    on_destroying_call = wait_long;
    ck_assert_int_eq(carts_do("a", fill, 42), 42);
    tr_ref ref = cart_of("a");
    ck_assert_int_eq(carts_do("a", forget, 0), 1);
    tr_kit_settle(kit);
    ck_assert(is_stored("a"));
    ck_assert_int_eq(tr_kill(test, ref), TR_OK);
    tr_kit_settle(kit);
    int alarms = 0;
    struct durable_host *host = tr_kit_system(kit)->durable.host;
    ck_assert_int_eq(
        tr__store_list_due(host->contexts[0].reader, NULL, TR_NEVER, 0, count_due, &alarms), TR_OK);
    ck_assert(!is_stored("a"));
    ck_assert_int_eq(alarms, 0);
    ck_assert_int_eq(carts_do("a", look, 0), 0);
    end();
}

/* ---- Power cuts at every write. ---- */

struct world {
    struct rng rng;
    enum disk_crash how;
    unsigned points;
    unsigned whole;
    unsigned gone;
    bool is_answered;
    bool is_in;
};

/* Whole, with the alarm that is to end it, or gone. */
static void check_copy(struct world *world)
{
    tr_kit *outer_kit = kit;
    tr_client *outer_test = test;
    cart_call *outer_call = on_destroying_call;
    struct store_disk *copy = crashed(&world->rng, world->how);
    on_destroying_call = NULL;
    begin_on(copy);
    int64_t value = carts_do("a", look, 0);
    ck_assert(value == 0 || value == 42);
    ck_assert(value == 0 || !world->is_answered);
    world->whole += value == 42;
    world->gone += value == 0;
    tr_kit_advance(kit, 2 * TR_MINUTE);
    ck_assert_int_eq(carts_do("a", look, 0), 0);
    tr_kit_free(kit);
    tr__disk_free(copy);
    kit = outer_kit;
    test = outer_test;
    on_destroying_call = outer_call;
}

static tr_status on_io(void *context, enum store_io io, const char *file, uint64_t offset,
                       size_t size)
{
    struct world *world = context;
    (void)file, (void)offset, (void)size;
    if (io == STORE_IO_READ || world->is_in)
        return TR_OK;
    world->is_in = true;
    if (!TEST_HAS_SANITIZER || world->points % 3 == 0)
        check_copy(world);
    world->points++;
    world->is_in = false;
    return TR_OK;
}

static void cut_everywhere(enum disk_crash how, bool by_alarm)
{
    struct world world = {.how = how};
    rng_init(&world.rng, test_seed());
    begin();
    on_expire_call = forget_and_wait; /* it answers nobody */
    on_destroying_call = wait_long;
    ck_assert_int_eq(carts_do("a", fill, 42), 42);
    tr__disk_hook(disk, (struct store_io_hook){on_io, &world});
    if (by_alarm) {
        tr_kit_advance(kit, TR_MINUTE + TR_SECOND);
        ck_assert_int_ge(expirations, 1);
        tr_kit_settle(kit);
    } else {
        ck_assert_int_eq(carts_do("a", forget, 0), 1);
    }
    world.is_answered = true;
    tr_kit_advance(kit, 10 * TR_SECOND);
    tr__disk_hook(disk, (struct store_io_hook){NULL, NULL});
    end();
    printf("%u power cuts, %u whole, %u gone\n", world.points, world.whole, world.gone);
    ck_assert_uint_gt(world.whole, 0);
    ck_assert_uint_gt(world.gone, 0);
}

TEST(a_power_cut_leaves_a_key_whole_or_gone, "Z-15", "K-09")
{
    cut_everywhere(DISK_CRASH_DROP, false);
    cut_everywhere(DISK_CRASH_MIX, false);
}

TEST(an_alarm_that_ends_with_a_destroy_leaves_no_half_dead_key, "Z-15", "K-04", "K-09")
{
    cut_everywhere(DISK_CRASH_DROP, true);
    cut_everywhere(DISK_CRASH_KEEP, true);
}

SUITE("durable destroy", a_destroy_that_was_answered_survives_a_power_cut,
      an_answer_waits_for_the_destroy_whatever_the_durability,
      a_destroy_whose_stretch_fails_is_none,
      a_turn_that_fails_after_its_destroy_was_stored_has_destroyed,
      a_kill_in_the_grace_of_a_destroy_leaves_nothing, a_power_cut_leaves_a_key_whole_or_gone,
      an_alarm_that_ends_with_a_destroy_leaves_no_half_dead_key)
