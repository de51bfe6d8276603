/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A worker is handed to another thread while its own is stuck in a handler of a durable actor.
 */
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <troupe/durable.h>
#include <troupe/troupe.h>

#include "support/test.h"

#define SAVE_NS (10 * TR_MILLISECOND)

TR_MESSAGE(values, (u64, first), (u64, second));
TR_REQUEST(look, values);
TR_REQUEST(change, values);
TR_REQUEST(change_and_sit, values);
TR_REQUEST(change_sit_and_fail, values);
TR_ACTOR(lazy, look, change, change_and_sit, change_sit_and_fail);
TR_ACTOR(strict, look, change, change_and_sit, change_sit_and_fail);
TR_MESSAGE(pair, (u64, first), (u64, second));
TR_MESSAGE(passed);
TR_REQUEST(pass_time, passed);
TR_ACTOR(idler, pass_time);

static sem_t gate;

static tr_next on_look(tr_self *self, struct pair *state)
{
    return tr_reply(self, values, .first = state->first, .second = state->second);
}

static tr_next on_change(tr_self *self, struct pair *state)
{
    state->first++;
    state->second++;
    return on_look(self, state);
}

static void sit(void)
{
    while (sem_wait(&gate) != 0)
        continue;
}

static tr_next on_change_and_sit(tr_self *self, struct pair *state)
{
    state->first++;
    sit();
    state->second++;
    return on_look(self, state);
}

static tr_next on_change_sit_and_fail(tr_self *self, struct pair *state)
{
    state->first++;
    sit();
    return tr_fail(self, TR_BAD_DATA, "as told");
}

#define HANDLERS                                                                                   \
    TR_ON(look, on_look), TR_ON(change, on_change), TR_ON(change_and_sit, on_change_and_sit),      \
        TR_ON(change_sit_and_fail, on_change_sit_and_fail)
TR_BEHAVIOR(lazy, struct pair, HANDLERS);
TR_BEHAVIOR(strict, struct pair, HANDLERS);
TR_DURABLE(lazy, pair, .version = 1, .durability = TR_SAVE_INTERVAL, .interval_ns = SAVE_NS);
TR_DURABLE(strict, pair, .version = 1);

static tr_next on_pass_time(tr_self *self)
{
    tr_sleep(self, 5 * SAVE_NS);
    return tr_reply(self, passed);
}

TR_BEHAVIOR(idler, void, TR_ON(pass_time, on_pass_time));

struct house {
    tr_system *system;
    tr_client *client;
    idler_ref idler;
};

static char directory[] = "/tmp/troupe-handoff-XXXXXX";

static struct house house_open(void)
{
    struct house house;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(sem_init(&gate, 0, 0), 0);
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 1,
                                       .handoff_after_ns = 3 * TR_MILLISECOND,
                                       .durable = TR_DURABLES(lazy, strict),
                                       .store = directory};
    ck_assert_int_eq(tr_system_new(&options, &house.system), TR_OK);
    ck_assert_int_eq(tr_system_start(house.system), TR_OK);
    ck_assert_int_eq(tr_client_new(house.system, &house.client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(house.client, &house.idler, idler, "idler"), TR_OK);
    return house;
}

static void house_close(struct house *house)
{
    tr_client_free(house->client);
    tr_system_shutdown(house->system, 10 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(house->system), TR_OK);
    tr_system_free(house->system);
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

/* The worker continues, for several times as long as a change may wait to be stored. */
static void time_passes(const struct house *house)
{
    const struct passed *passed;
    pass_time_ask ask = tr_ask(house->client, house->idler, pass_time);
    ck_assert_int_eq(tr_try_await(house->client, ask, &passed), TR_OK);
}

TEST(half_of_a_commit_is_never_stored, "O-05", "Z-14")
{
    struct house house = house_open();
    tr_client *client = house.client;
    const struct values *values;
    lazy_ref lazy;
    ck_assert_int_eq(tr_try_durable(client, &lazy, lazy, "a"), TR_OK);
    change_ask changed = tr_ask(client, lazy, change);
    change_sit_and_fail_ask failed = tr_ask(client, lazy, change_sit_and_fail);
    ck_assert_int_eq(tr_try_await(client, changed, &values), TR_OK);
    time_passes(&house);
    sem_post(&gate);
    ck_assert_int_eq(tr_try_await(client, failed, &values), TR_FAILED);
    look_ask look = tr_ask(client, lazy, look);
    ck_assert_int_eq(tr_try_await(client, look, &values), TR_OK);
    ck_assert_uint_eq(values->first, values->second);
    house_close(&house);
}

TEST(what_a_stuck_handler_changed_is_stored_when_it_has_returned, "O-05", "Z-14")
{
    struct house house = house_open();
    tr_client *client = house.client;
    const struct values *values;
    strict_ref strict;
    ck_assert_int_eq(tr_try_durable(client, &strict, strict, "a"), TR_OK);
    change_and_sit_ask sat = tr_ask(client, strict, change_and_sit);
    change_ask changed = tr_ask(client, strict, change);
    time_passes(&house); /* what others send is not held meanwhile */
    sem_post(&gate);
    ck_assert_int_eq(tr_try_await(client, sat, &values), TR_OK);
    ck_assert_uint_eq(values->second, 1);
    ck_assert_int_eq(tr_try_await(client, changed, &values), TR_OK);
    ck_assert_uint_eq(values->first, 2);
    tr_counters counters;
    tr_system_counters(house.system, &counters);
    ck_assert_uint_ge(counters.handoffs, 1);
    house_close(&house);
}

SUITE("durable handoff", half_of_a_commit_is_never_stored,
      what_a_stuck_handler_changed_is_stored_when_it_has_returned)
