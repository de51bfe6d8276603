/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A hundred thousand turns that wait: what each of them costs, that the mappings of a process
 * suffice, that all go on where they were, and that the memory goes back.
 */
#include "support/test.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <troupe/troupe.h>
#include <unistd.h>

#include "actor/verbs/client.h"
#include "os/atomic.h"
#include "fiber/pool.h"
#include "os/memory.h"
#include "actor/cell/worker.h"

enum { FRAME = 1900, ACTORS = 1000, RESIDENT_MAX = 8192 };

/* Sanitizers have larger stacks, with shadows; the virtual addresses are what ends first. */
static const uint64_t turns = TEST_HAS_SANITIZER ? 1000 : 100000;

TR_MESSAGE(doze, (u64, number));
TR_MESSAGE(inquire, (u64, number));
TR_MESSAGE(wallow);
TR_MESSAGE(answer_all);
TR_REQUEST(are_you_there, tr_done);
TR_MESSAGE(number_is, (u64, number));
TR_REQUEST(tell_number, number_is, (u64, number));
TR_ACTOR(oracle, tell_number, answer_all, are_you_there);
TR_ACTOR(sleeper, doze, inquire, wallow, are_you_there);

static tr_system *system_;
static tr_client *client;
static oracle_ref oracle_;
static sleeper_ref sleepers[ACTORS];
static atom64 begun;
static atom64 gone_on;
static atom64 stacks; /* of the worker, when somebody was there last */

struct oracle {
    tr_later *laters;
    uint64_t *numbers;
    uint64_t count;
};

static tr_next on_tell_number(tr_self *self, struct oracle *oracle,
                              const struct tell_number *message)
{
    if (!oracle->laters) {
        oracle->laters = tr_alloc(self, turns * sizeof *oracle->laters);
        oracle->numbers = tr_alloc(self, turns * sizeof *oracle->numbers);
    }
    oracle->numbers[oracle->count] = message->number;
    oracle->laters[oracle->count++] = tr_reply_later(self);
    return TR_SAME;
}

static tr_next on_answer_all(tr_self *self, struct oracle *oracle)
{
    for (uint64_t i = 0; i < oracle->count; i++) {
        (void)tr_reply_to(self, oracle->laters[i], number_is, .number = oracle->numbers[i] * 3);
    }
    tr_free(self, oracle->laters);
    tr_free(self, oracle->numbers);
    *oracle = (struct oracle){0};
    return TR_SAME;
}

static tr_next on_are_you_there(tr_self *self)
{
    atom64_store(&stacks, self->worker->stacks.pool.stacks_count, ATOM_RELAXED);
    return tr_reply(self, tr_done);
}

TR_BEHAVIOR(oracle, struct oracle, TR_ON(tell_number, on_tell_number),
            TR_ON(answer_all, on_answer_all), TR_ON(are_you_there, on_are_you_there));

/* A frame of nearly 2 KiB, filled before and looked at after the wait. */
static tr_next on_doze(tr_self *self, const struct doze *message)
{
    volatile unsigned char frame[FRAME];
    memset((unsigned char *)frame, (int)(message->number % 251), sizeof frame);
    atom64_fetch_add(&begun, 1, ATOM_RELAXED);
    ck_assert_int_eq(tr_sleep(self, TR_HOUR), TR_CANCELLED);
    for (size_t i = 0; i < sizeof frame; i++)
        ck_assert_uint_eq(frame[i], message->number % 251);
    atom64_fetch_add(&gone_on, 1, ATOM_RELAXED);
    return TR_SAME;
}

static tr_next on_inquire(tr_self *self, const struct inquire *message)
{
    volatile unsigned char frame[FRAME];
    /* Scratch memory comes in chunks of 4 KiB: only some turns use it. */
    uint64_t *kept = NULL;
    if (message->number % 100 == 0) {
        kept = tr_scratch(self, sizeof *kept);
        *kept = message->number;
    }
    memset((unsigned char *)frame, (int)(message->number % 251), sizeof frame);
    tell_number_ask ask =
        tr_ask_within(self, TR_HOUR, oracle_, tell_number, .number = message->number);
    atom64_fetch_add(&begun, 1, ATOM_RELAXED);
    const struct number_is *reply = tr_await(self, ask);
    ck_assert_uint_eq(reply->number, 3 * message->number);
    if (kept)
        ck_assert_uint_eq(*kept, message->number);
    for (size_t i = 0; i < sizeof frame; i++)
        ck_assert_uint_eq(frame[i], message->number % 251);
    atom64_fetch_add(&gone_on, 1, ATOM_RELAXED);
    return TR_SAME;
}

/* Uses more stack than there is, as far as the canary shows, and waits. */
static tr_next on_wallow(tr_self *self)
{
    memset((void *)(uintptr_t)self->worker->stacks.host.current->side.low, 1, 64);
    (void)tr_sleep(self, TR_HOUR);
    return TR_SAME;
}

TR_BEHAVIOR(sleeper, void, TR_ON(doze, on_doze), TR_ON(inquire, on_inquire),
            TR_ON(wallow, on_wallow), TR_ON(are_you_there, on_are_you_there));

static size_t resident(void)
{
    unsigned long size;
    unsigned long pages;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%lu %lu", &size, &pages), 2);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t mappings(void)
{
    size_t count = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(file);
    for (int c; (c = getc(file)) != EOF;)
        count += c == '\n';
    fclose(file);
    return count;
}

static void wait_for(const atom64 *count, uint64_t wanted)
{
    for (int i = 0; i < 12000 && atom64_load(count, ATOM_RELAXED) < wanted; i++)
        (void)tr_receive(client, tr_done, 10 * TR_MILLISECOND);
    ck_assert_uint_eq(atom64_load(count, ATOM_RELAXED), wanted);
}

static void ask_all_there(void)
{
    for (size_t i = 0; i < ACTORS; i++) {
        tr_tell(client, sleepers[i], are_you_there);
        ck_assert_ptr_nonnull(tr_receive(client, tr_done, 30 * TR_SECOND));
    }
    tr_tell(client, oracle_, are_you_there);
    ck_assert_ptr_nonnull(tr_receive(client, tr_done, 30 * TR_SECOND));
}

static void begin(void)
{
    tr_system_options options = {.workers = 1};
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &oracle_, oracle, NULL), TR_OK);
    for (size_t i = 0; i < ACTORS; i++)
        ck_assert_int_eq(tr_try_spawn(client, &sleepers[i], sleeper, NULL), TR_OK);
    ask_all_there();
}

static void end(tr_time patience_ns)
{
    tr_client_free(client);
    tr_system_shutdown(system_, patience_ns);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_system_free(system_);
}

/* Until the worker, which can do so when it is idle only, has no more stacks than it needs. */
static void wait_for_stacks(void)
{
    const uint64_t wanted = FIBER_RESERVE + 2 * FIBER_SLAB_STACKS;
    for (int i = 0; i < 300; i++) {
        tr_tell(client, sleepers[0], are_you_there);
        ck_assert_ptr_nonnull(tr_receive(client, tr_done, 30 * TR_SECOND));
        if (atom64_load(&stacks, ATOM_RELAXED) <= wanted)
            break;
        (void)tr_receive(client, tr_done, 100 * TR_MILLISECOND);
    }
    ck_assert_uint_le(atom64_load(&stacks, ATOM_RELAXED), wanted);
}

static void check_cost(const char *what, size_t before, uint64_t count)
{
    size_t each = (resident() - before) / count;
    size_t maps = mappings();
    printf("# %llu turns that %s: %zu bytes each, %zu mappings\n",
           (unsigned long long)count,
           what,
           each,
           maps);
    ck_assert_uint_lt(maps, 65530);
    if (!TEST_HAS_SANITIZER)
        ck_assert_uint_le(each, RESIDENT_MAX);
}

/* The actors are killed while their turns wait: each is told so. */
static void park_sleepers(void)
{
    begin();
    size_t before = resident();
    for (uint64_t i = 0; i < turns; i++)
        tr_tell(client, sleepers[i % ACTORS], doze, .number = i);
    wait_for(&begun, turns);
    check_cost("sleep", before, turns);
    ask_all_there();
    end(TR_MILLISECOND);
    ck_assert_uint_eq(atom64_load(&gone_on, ATOM_RELAXED), turns);
}

TEST(a_hundred_thousand_turns_sleep_in_8_KiB_each, "D-05", "P-04")
{
    park_sleepers();
}

TEST(so_they_do_without_guard_marks, "D-05")
{
    tr__os_guards_limit(OS_GUARD_PAGE);
    park_sleepers();
}

TEST(all_go_on_where_they_were_and_the_memory_goes_back, "D-05", "B-05")
{
    begin();
    size_t first = resident();
    for (int round = 1; round <= 2; round++) {
        size_t before = resident();
        for (uint64_t i = 0; i < turns; i++)
            tr_tell(client, sleepers[round == 1 ? 0 : i % ACTORS], inquire, .number = i);
        wait_for(&begun, (uint64_t)round * turns);
        ask_all_there();
        check_cost(round == 1 ? "await, of one actor" : "await", before, turns);
        tr_tell(client, oracle_, answer_all);
        wait_for(&gone_on, (uint64_t)round * turns);
        wait_for_stacks();
        malloc_trim(0); /* what the heap keeps for itself is not ours to judge */
    }
    size_t last = resident();
    printf("# resident before %zu KiB, after %zu KiB\n", first / 1024, last / 1024);
    if (!TEST_HAS_SANITIZER)
        ck_assert_uint_le(last, first + turns * RESIDENT_MAX / 20);
    end(60 * TR_SECOND);
}

TEST(an_overflow_names_the_actor_and_its_message, "")
{
    int ends[2];
    char report[1024];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        tr__os_guards_limit(OS_GUARD_NONE);
        begin();
        sleeper_ref glutton;
        ck_assert_int_eq(tr_try_spawn(client, &glutton, sleeper, "glutton"), TR_OK);
        tr_tell(client, glutton, wallow);
        (void)tr_receive(client, tr_done, TR_MINUTE);
        _exit(0);
    }
    close(ends[1]);
    size_t size = 0;
    ssize_t count;
    while (size < sizeof report - 1 &&
           (count = read(ends[0], report + size, sizeof report - 1 - size)) > 0)
        size += (size_t)count;
    report[size] = 0;
    close(ends[0]);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    ck_assert_ptr_nonnull(strstr(report, "stack overflow"));
    ck_assert_ptr_nonnull(strstr(report, "wallow in /"));
    ck_assert_ptr_nonnull(strstr(report, "glutton"));
}

SUITE("parked turns", a_hundred_thousand_turns_sleep_in_8_KiB_each, so_they_do_without_guard_marks,
      all_go_on_where_they_were_and_the_memory_goes_back,
      an_overflow_names_the_actor_and_its_message)
