/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A commit that is on disk before the turn that waits for it has begun to wait.
 */
#include "support/test.h"

#include "actor/cell/system.h"
#include "durable/host.h"
#include "os/atomic.h"
#include "store/core.h"

#include <troupe/troupe.h>

#include <stdlib.h>
#include <stdio.h>

static struct store *store;
static atom32 is_slow;
static tr_platform
    slow; /* a worker that has woken the store gets no further before the store has finished */

static bool is_store_idle(void)
{
    lock_take(&store->lock);
    bool is_idle = store->is_writer_idle;
    lock_give(&store->lock);
    return is_idle;
}

static void await_store(void)
{
    const tr_platform *platform = tr_platform_real();
    while (!is_store_idle())
        platform->yield(platform);
}

static void wake_and_wait(const tr_platform *platform, tr_parker *parker)
{
    (void)platform;
    tr_platform_real()->wake(tr_platform_real(), parker);
    if (atom32_load(&is_slow, ATOM_ACQUIRE) && parker == store->writer_parker)
        await_store();
}

TR_MESSAGE(saved, (u32, count));
TR_REQUEST(save, saved, (u32, count));
TR_ACTOR(saver, save);
TR_MESSAGE(saver_state, (u32, count));

static tr_next on_save(tr_self *self, struct saver_state *state, const struct save *message)
{
    for (uint32_t i = 0; i < message->count; i++) {
        await_store(); /* so that it has to be woken */
        state->count++;
        tr_save(self);
    }
    return tr_reply(self, saved, .count = state->count);
}

TR_BEHAVIOR(saver, struct saver_state, TR_ON(save, on_save));
TR_DURABLE(saver, saver_state);

TEST(a_turn_that_saves_ends_although_the_commit_was_faster, "K-01")
{
    enum { SAVES = 20 };
    char directory[] = "/tmp/troupe-early-XXXXXX";
    char command[100];
    tr_system *system_;
    tr_client *client;
    saver_ref ref;
    const struct saved *answer = NULL;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    slow = *tr_platform_real();
    slow.wake = wake_and_wait;
    const tr_system_options options = {.size = sizeof options,
                                       .platform = &slow,
                                       .workers = 1,
                                       .durable = TR_DURABLES(saver),
                                       .store = directory};
    tr_status status = tr_system_new(&options, &system_);
    if (status == TR_NOT_SUPPORTED)
        test_skip("built without SQLite");
    ck_assert_int_eq(status, TR_OK);
    store = system_->durable.host->store;
    atom32_store(&is_slow, 1, ATOM_RELEASE); /* partner: wake_and_wait */
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
    ck_assert_int_eq(tr_try_durable(client, &ref, saver, "a"), TR_OK);
    save_ask ask = tr_ask_within(client, TR_MINUTE, ref, save, .count = SAVES);
    ck_assert_int_eq(tr_try_await(client, ask, &answer), TR_OK);
    ck_assert_uint_eq(answer->count, SAVES);
    atom32_store(&is_slow, 0, ATOM_RELEASE); /* partner: wake_and_wait */
    tr_client_free(client);
    tr_system_shutdown(system_, 10 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_system_free(system_);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

SUITE("durable early", a_turn_that_saves_ends_although_the_commit_was_faster)
