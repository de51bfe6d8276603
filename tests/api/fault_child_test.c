/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A trapped fault while the program of a child is loaded on a helper thread: no process and no memory is left.
 */
#include "support/faults.h"

#include <troupe/process.h>

#include <errno.h>
#include <malloc.h>
#include <semaphore.h>

TR_MESSAGE(launch);
TR_MESSAGE(slip);
TR_ACTOR(victim, launch, slip);

static sem_t may_load;
static sem_t has_begun;
static unsigned started; /* processes, by the helper thread */

static tr_status load_when_told(const tr_platform *platform, const tr_process_spec *spec,
                                tr_process_handle *process)
{
    sem_post(&has_begun);
    while (sem_wait(&may_load) != 0)
        ck_assert_int_eq(errno, EINTR);
    tr_status status = tr_platform_real()->process_start(platform, spec, process);
    started += status == TR_OK;
    return status;
}

static tr_next on_launch(tr_self *self)
{
    (void)tr_process_start(self, TR_PROCESS("sleep", .arguments = TR_ARGUMENTS("1000")));
    ck_abort_msg("an abandoned turn was resumed");
    return TR_SAME;
}

static tr_next on_slip(void)
{
    slip_now(SLIP_WRITE);
    return TR_SAME;
}

TR_BEHAVIOR(victim, void, TR_ON(launch, on_launch), TR_ON(slip, on_slip),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static _Atomic size_t bytes;

static void *resize_counted(void *context, void *memory, size_t size)
{
    (void)context;
    if (memory)
        bytes -= malloc_usable_size(memory);
    if (size == 0) {
        free(memory);
        return NULL;
    }
    memory = realloc(memory, size);
    bytes += malloc_usable_size(memory);
    return memory;
}

static void open_victim(struct embedded *at, const tr_platform *platform, victim_ref *victim)
{
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 1,
                                       .traps_faults = true,
                                       .on_log = log_keep,
                                       .platform = platform,
                                       .resize = resize_counted};
    ck_assert_int_eq(sem_init(&may_load, 0, 0), 0);
    ck_assert_int_eq(sem_init(&has_begun, 0, 0), 0);
    ck_assert_int_eq(tr_system_new(&options, &at->system), TR_OK);
    ck_assert_int_eq(tr_client_new(at->system, &at->client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(at->client, victim, victim, NULL), TR_OK);
    embedded_run(at);
}

static uint64_t live_of(const struct embedded *at)
{
    tr_counters counters;
    tr_system_counters(at->system, &counters);
    return counters.live;
}

TEST(a_fault_while_a_child_is_started_leaves_no_child, "C-17", "S-10")
{
    if (TEST_HAS_SANITIZER)
        test_skip("sanitizers trap faults themselves");
    tr_platform platform = *tr_platform_real();
    platform.process_start = load_when_told;
    struct embedded at;
    victim_ref victim;
    open_victim(&at, &platform, &victim);
    uint64_t live = live_of(&at);
    tr_tell(at.client, victim, launch);
    embedded_run(&at);
    ck_assert_int_eq(sem_wait(&has_begun), 0);
    tr_tell(at.client, victim, slip);
    embedded_run(&at);
    sem_post(&may_load);
    embedded_await(&at, live - 1);
    ck_assert_uint_eq(started, 1);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
    embedded_close(&at);
    ck_assert_uint_eq(bytes, 0);
}

SUITE("a fault beside a child", a_fault_while_a_child_is_started_leaves_no_child)
