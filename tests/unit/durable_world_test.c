/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors and the world around them: the log, a wall clock that jumps, a system that stops, a store that fails
 * under an app, keys and kinds that are none.
 */
#include <stdlib.h>
#include <troupe/alarm.h>
#include <troupe/app.h>
#include <unistd.h>

TR_MESSAGE(ring, (i64, n));
#define THINGS_ROWS TR_ON(nudge, things_nudge), TR_ON(ring, on_ring)
struct thing_state;
static tr_next on_ring(tr_self *self, struct thing_state *state, const struct ring *message);
#include "support/things.h"

#include "actor/turn/turn.h"
#include "durable/host.h"
#include "os/virtual.h"
#include "store/core.h"
#include "store/driver.h"

static int rings;

static tr_next on_ring(tr_self *self, struct thing_state *state, const struct ring *message)
{
    (void)self;
    (void)state;
    (void)message;
    rings++;
    return TR_SAME;
}

/* ---- The log. ---- */

static int warnings;
static char warning[4096];

static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    if (level != TR_LEVEL_WARN || !path || !strstr(path, "/system/durable/thing/a"))
        return;
    warnings++;
    snprintf(warning, sizeof warning, "%s", text);
}

static tr_next hold(tr_self *self, struct thing_state *state, int64_t n)
{
    state->value = 5;
    TR_KEEP_AWAKE(self, "the receipt")
    {
        TR_WAIT_UNTIL(self, "the flush")
        {
            (void)!tr_sleep(self, n);
        }
    }
    state->value = 6;
    return tr_reply(self, acted, .value = 0);
}

TEST(one_warning_names_all_who_held_it_up, "Z-08", "SL-05")
{
    const struct acted *acted;
    things_begin(1);
    tr_kit_system(kit)->log.write = on_log;
    thing_ref ref = things_of("a");
    act_aside_ask ask = things_ask_aside(ref, hold, TR_HOUR);
    things_do("a", thing_go_to_sleep, 0);
    tr_kit_advance(kit, 4 * TR_SECOND);
    ck_assert_int_eq(warnings, 0);
    tr_kit_advance(kit, 2 * TR_SECOND);
    ck_assert_int_eq(warnings, 1);
    ck_assert_msg(strstr(warning, "the receipt") && strstr(warning, "the flush") &&
                      strstr(warning, "durable_world_test.c"),
                  "%s",
                  warning);
    ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_STOPPED);
    ck_assert_int_eq(things_do("a", thing_add, 0), 5);
    things_end();
}

/* ---- The wall clock. ---- */

static tr_next set_in(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    tr_alarm_after(self, "a", n, ring);
    return tr_reply(self, acted, .value = 0);
}

static void jump(tr_time difference)
{
    const tr_platform *platform = tr_kit_system(kit)->platform;
    struct virtual_platform *virtual = (struct virtual_platform *)((char *)(uintptr_t)platform -
                                                                   offsetof(struct virtual_platform,
                                                                            table));
    tr__virtual_wall_jump(virtual, difference);
}

TEST(a_wall_clock_that_jumps_loses_no_alarm, "K-04")
{
    things_begin(1);
    things_do("a", set_in, TR_HOUR);
    tr_kit_advance(kit, TR_MINUTE); /* it sleeps */
    jump(2 * TR_HOUR);
    tr_kit_advance(kit, 20 * TR_SECOND);
    ck_assert_int_eq(rings, 1);
    things_do("a", set_in, TR_HOUR);
    jump(-10 * TR_HOUR);
    tr_kit_advance(kit, 12 * TR_HOUR);
    ck_assert_int_eq(rings, 2);
    things_end();
}

/* ---- Keys and kinds. ---- */

TR_ACTOR(stranger, act);
TR_BEHAVIOR(stranger, struct thing_state, TR_ON(act, things_act));
TR_DURABLE(stranger, thing_state);

static tr_next key_of(tr_self *self, struct thing_state *state, int64_t n)
{
    state->value++;
    tr_bytes key = tr_key(self);
    ck_assert_uint_eq(key.size, (size_t)n);
    ck_assert_int_eq(((const char *)key.data)[n], 0);
    return tr_reply(self, acted, .value = ((const unsigned char *)key.data)[n - 1]);
}

TEST(keys_have_any_bytes_and_bad_ones_are_refused, "")
{
    char key[TR_KEY_MAX + 1];
    thing_ref ref;
    stranger_ref stranger;
    const struct acted *acted;
    things_begin(1);
    memset(key, 0xff, sizeof key);
    ck_assert_int_eq(tr_try_durable(test, &ref, thing, ""), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_durable(test, &ref, thing, NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_durable_bytes(test, &ref, thing, ((tr_bytes){key, TR_KEY_MAX + 1})),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_durable(test, &stranger, stranger, "a"), TR_NOT_FOUND);
    for (int byte = 0; byte < 256; byte += 5) {
        key[TR_KEY_MAX - 1] = (char)byte;
        for (int round = 0; round < 2; round++) {
            ck_assert_int_eq(tr_try_durable_bytes(test, &ref, thing, ((tr_bytes){key, TR_KEY_MAX})),
                             TR_OK);
            ck_assert_int_eq(tr_try_await(test, things_ask(ref, key_of, TR_KEY_MAX), &acted),
                             TR_OK);
            ck_assert_int_eq(acted->value, byte);
        }
    }
    things_end();
}

/* ---- A store that fails under an app. ---- */

static tr_status commit_fails(struct store_session *session, struct store_batch *first,
                              struct store_why *why)
{
    (void)session;
    (void)first;
    snprintf(why->text, sizeof why->text, "as told");
    return TR_STORE_FAILED;
}

TR_ACTOR(root);
static tr_next on_args(tr_self *self)
{
    static struct store_driver driver;
    struct store *store = self->worker->system->durable.host->store;
    driver = *store->driver;
    driver.commit = commit_fails;
    store->driver = &driver;
    thing_ref ref = tr_durable(self, thing, "a");
    tr_status status = tr_try_await(
        self, tr_ask(self, ref, act, .call = (uint64_t)(uintptr_t)thing_add, .n = 1), NULL);
    ck_assert_msg(status != TR_OK, "%s", tr_status_name(status));
    return TR_SAME;
}
TR_BEHAVIOR(root, void, TR_ON(tr_args, on_args));

TEST(an_app_whose_store_fails_ends_with_72, "K-06")
{
    char directory[] = "/tmp/troupe-world-XXXXXX";
    char command[100];
    char name[] = "app";
    char *arguments[] = {name, NULL};
    ck_assert_ptr_nonnull(mkdtemp(directory));
    int status = tr_app_main(1, arguments, root, .durable = TR_DURABLES(thing), .store = directory);
    ck_assert_int_eq(status, 72);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

SUITE("durable world", one_warning_names_all_who_held_it_up, a_wall_clock_that_jumps_loses_no_alarm,
      keys_have_any_bytes_and_bad_ones_are_refused, an_app_whose_store_fails_ends_with_72)
