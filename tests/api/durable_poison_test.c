/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Items and alarms whose handler ends the process: each such end is a failed attempt, so that they become dead letters or are
 * given up, and the program lives again. Each attempt is a process of its own, which really ends.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <troupe/alarm.h>
#include <troupe/kit_net.h>
#include <troupe/net.h>
#include <troupe/queue.h>
#include <unistd.h>

enum { ATTEMPTS = 3 };

#define THINGS_OPTIONS                                                                             \
    .idle_ns = 10 * TR_SECOND, .grace_ns = 5 * TR_SECOND, .alarm_retry = {.attempts = ATTEMPTS},   \
    .queues = TR_QUEUES({.name = "jobs", .retry = {.attempts = ATTEMPTS}})

static tr_next on_given_up(tr_self *self, const struct tr_queue_given_up *message);
static tr_next on_alarm_given_up(tr_self *self, const struct tr_alarm_given_up *message);
#define THINGS_ROWS                                                                                \
    TR_ON(nudge, things_nudge), TR_ON(tr_queue_given_up, on_given_up),                             \
        TR_ON(tr_alarm_given_up, on_alarm_given_up)
#include "support/things.h"

TR_MESSAGE(job, (i64, number));

enum { POISON = 13 };

static char directory[64];
static int done;

/* ---- What the actors do. ---- */

static tr_next on_given_up(tr_self *self, const struct tr_queue_given_up *message)
{
    (void)self;
    things_tell("[%s %u %s]", message->queue, message->attempts, message->cause);
    return TR_SAME;
}

static tr_next on_alarm_given_up(tr_self *self, const struct tr_alarm_given_up *message)
{
    (void)self;
    things_tell("[%s %u]", message->name, message->failures);
    return TR_SAME;
}

static tr_next push(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    return tr_reply(
        self, acted, .value = (int64_t)tr_queue_push(self, "jobs", job, .number = n).id);
}

static tr_next count(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    return tr_reply(self, acted, .value = (int64_t)tr_queue_count(self, "jobs"));
}

static tr_next count_dead(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    return tr_reply(self, acted, .value = (int64_t)tr_queue_count_dead(self, "jobs"));
}

/* Returns how many attempts of all items have failed. */
static tr_next attempts(tr_self *self, struct thing_state *state, int64_t n)
{
    const tr_queue_entry *entries;
    (void)state;
    (void)n;
    size_t found = tr_queue_list(self, "jobs", (tr_queued){0}, &entries, 100);
    int64_t sum = 0;
    for (size_t i = 0; i < found; i++)
        sum += entries[i].attempts;
    return tr_reply(self, acted, .value = sum);
}

static void die(void)
{
    (void)kill(getpid(), SIGKILL);
    _exit(9);
}

static tr_next die_in_the_stretch_of_the_take(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)state;
    (void)n;
    while (tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item) == TR_OK) {
        if (job->number == POISON)
            die();
        done++;
        ck_assert(tr_queue_done(self, item));
    }
    return TR_SAME;
}

static tr_next die_after_a_wait(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)state;
    (void)n;
    while (tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item) == TR_OK) {
        int64_t number = job->number;
        (void)!tr_sleep(self, TR_MILLISECOND);
        if (number == POISON)
            die();
        done++;
        ck_assert(tr_queue_done(self, item));
    }
    return TR_SAME;
}

static tr_next die_after_a_receive(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    (void)state;
    (void)n;
    while (tr_queue_receive(self, "jobs", job, TR_HOUR, &job) == TR_OK) {
        if (job->number == POISON)
            die();
        done++;
    }
    return TR_SAME;
}

static void work(void *number)
{
    if (*(int64_t *)number == POISON)
        die();
}

static tr_next die_in_a_blocking_call(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)state;
    (void)n;
    while (tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item) == TR_OK) {
        int64_t number = job->number;
        tr_blocking(self, work, &number);
        done++;
        ck_assert(tr_queue_done(self, item));
    }
    return TR_SAME;
}

/* Has the item while it waits, so that the process ends elsewhere. */
static tr_next wait_with_the_item(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)state;
    (void)n;
    while (tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item) == TR_OK)
        (void)!tr_sleep(self, 100 * TR_HOUR);
    return TR_SAME;
}

static tr_next die_now(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)self;
    (void)state;
    (void)n;
    die();
    return TR_SAME;
}

static tr_next die_soon(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)!tr_sleep(self, TR_MILLISECOND);
    return die_now(self, state, n);
}

static tr_next set_alarm(tr_self *self, struct thing_state *state, int64_t waits)
{
    (void)state;
    tr_alarm_after(self,
                   "poison",
                   TR_SECOND,
                   nudge,
                   .call = (uint64_t)(uintptr_t)(waits ? die_soon : die_now));
    return tr_reply(self, acted, .value = 0);
}

static tr_next alarm_due(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    return tr_reply(self, acted, .value = tr_alarm_due(self, "poison"));
}

/* ---- Processes. ---- */

static void begin(thing_call *on_run)
{
    done = 0;
    things_story[0] = 0;
    things_on_run = on_run;
    things_begin_with((tr_kit_options){.seed = 1, .store = directory});
}

/* Starts the program in a process of its own. Returns how it has ended: 0, or its signal. */
static int start(thing_call *on_run, void (*play)(void))
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        begin(on_run);
        if (play)
            play();
        tr_kit_advance(kit, TR_HOUR);
        _exit(0);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) || status == 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void directory_make(void)
{
    snprintf(directory, sizeof directory, "/tmp/troupe-poison-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void directory_drop(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

/* ---- Items. ---- */

static void push_three(void)
{
    things_do("a", push, 1);
    things_do("a", push, POISON);
    things_do("a", push, 2);
}

static void check_dead_letter(thing_call *on_run)
{
    directory_make();
    begin(NULL);
    push_three();
    things_end();
    for (int i = 0; i < ATTEMPTS; i++)
        ck_assert_int_eq(start(on_run, NULL), SIGKILL);
    begin(on_run);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_str_eq(things_story, "[jobs 3 the process ended while the item was handled]");
    ck_assert_int_eq(things_do("a", count, 0), 0);
    ck_assert_int_eq(things_do("a", count_dead, 0), 1);
    things_end();
    ck_assert_int_eq(start(on_run, NULL), 0);
    directory_drop();
}

TEST(an_item_that_ends_the_process_becomes_a_dead_letter, "K-21")
{
    check_dead_letter(die_in_the_stretch_of_the_take);
    check_dead_letter(die_after_a_wait);
    check_dead_letter(die_after_a_receive);
    check_dead_letter(die_in_a_blocking_call);
}

TEST(after_the_end_of_a_process_the_item_waits_for_its_back_off, "K-21")
{
    directory_make();
    begin(NULL);
    push_three();
    things_end();
    ck_assert_int_eq(start(die_in_the_stretch_of_the_take, NULL), SIGKILL);
    begin(die_in_the_stretch_of_the_take);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_eq(done, 2); /* the others do not wait for it */
    ck_assert_int_eq(things_do("a", count, 0), 1);
    ck_assert_int_eq(things_do("a", attempts, 0), 1);
    things_end();
    directory_drop();
}

static tr_next wake(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)self;
    (void)state;
    (void)n;
    return TR_SAME;
}

static void wait_and_die(void)
{
    (void)things_send(things_of("a"), wake, 0);
    tr_kit_settle(kit);
    (void)things_send(things_of("b"), die_now, 0);
}

TEST(an_item_whose_turn_waits_when_the_process_ends_has_no_failed_attempt, "K-21")
{
    directory_make();
    begin(NULL);
    push_three();
    things_end();
    for (int i = 0; i < ATTEMPTS + 1; i++)
        ck_assert_int_eq(start(wait_with_the_item, wait_and_die), SIGKILL);
    begin(wait_with_the_item);
    tr_kit_settle(kit);
    ck_assert_int_eq(things_do("a", count, 0), 3);
    ck_assert_int_eq(things_do("a", attempts, 0), 0);
    things_end(); /* neither is this one */
    begin(NULL);
    ck_assert_int_eq(things_do("a", attempts, 0), 0);
    things_end();
    directory_drop();
}

static bool is_looking_up;

static tr_next connect_with_the_item(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    tr_channel channel;
    (void)state;
    (void)n;
    while (tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item) == TR_OK) {
        is_looking_up = true;
        (void)!tr_try_connect(self, TR_TCP("shop.example:7000"), &channel);
    }
    return TR_SAME;
}

/* Ends the process outside of the turn, as soon as it waits for its look-up. */
static void look_up_and_die(void)
{
    ck_assert(tr_kit_delay_name(kit, "shop.example", TR_NEVER));
    (void)things_send(things_of("a"), wake, 0);
    while (!is_looking_up)
        ck_assert(tr_kit_step(kit));
    die();
}

TEST(a_turn_that_waits_for_a_name_when_the_process_ends_has_no_failed_attempt, "K-21")
{
    directory_make();
    begin(NULL);
    push_three();
    things_end();
    ck_assert_int_eq(start(connect_with_the_item, look_up_and_die), SIGKILL);
    begin(NULL);
    ck_assert_int_eq(things_do("a", count, 0), 3);
    ck_assert_int_eq(things_do("a", attempts, 0), 0);
    things_end();
    directory_drop();
}

static tr_next done_and_die(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)state;
    (void)n;
    if (tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item) == TR_OK) {
        ck_assert(tr_queue_done(self, item));
        die();
    }
    return TR_SAME;
}

static tr_next retry_and_die(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)state;
    (void)n;
    if (tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item) == TR_OK) {
        ck_assert(tr_queue_retry(self, item, "not now"));
        die();
    }
    return TR_SAME;
}

static void check_attempts(thing_call *on_run, int64_t left, int64_t failed)
{
    directory_make();
    begin(NULL);
    push_three();
    things_end();
    ck_assert_int_eq(start(on_run, NULL), SIGKILL);
    begin(NULL);
    ck_assert_int_eq(things_do("a", count, 0), left);
    ck_assert_int_eq(things_do("a", attempts, 0), failed);
    things_end();
    directory_drop();
}

TEST(an_end_of_its_attempt_that_is_not_stored_does_not_count, "K-21")
{
    check_attempts(done_and_die, 3, 1);
    check_attempts(retry_and_die, 3, 1);
}

/* Ends the process after the wait that has stored what was done. */
static tr_next done_and_die_later(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)state;
    (void)n;
    if (tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item) == TR_OK) {
        ck_assert(tr_queue_done(self, item));
        (void)!tr_sleep(self, TR_MILLISECOND);
        die();
    }
    return TR_SAME;
}

static tr_next done_and_die_in_a_blocking_call(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    int64_t number = POISON;
    (void)state;
    (void)n;
    if (tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item) == TR_OK) {
        ck_assert(tr_queue_done(self, item));
        (void)!tr_sleep(self, TR_MILLISECOND);
        tr_blocking(self, work, &number);
    }
    return TR_SAME;
}

TEST(an_item_whose_end_is_stored_has_no_failed_attempt, "K-21")
{
    check_attempts(done_and_die_later, 2, 0);
    check_attempts(done_and_die_in_a_blocking_call, 2, 0);
}

/* Takes all three, and ends the process with all of them. */
static tr_next take_all_and_die(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    int taken = 0;
    (void)state;
    (void)n;
    while (tr_queue_take(self, "jobs", job, TR_MINUTE, &job, &item) == TR_OK) {
        if (++taken == 3)
            die();
    }
    return TR_SAME;
}

TEST(each_item_that_the_turn_has_gets_a_failed_attempt_once, "K-21")
{
    directory_make();
    begin(NULL);
    push_three();
    things_end();
    ck_assert_int_eq(start(take_all_and_die, NULL), SIGKILL);
    for (int i = 0; i < 3; i++) {
        begin(NULL);
        ck_assert_int_eq(things_do("a", attempts, 0), 3);
        things_end();
    }
    directory_drop();
}

/* ---- Alarms. ---- */

TEST(an_alarm_that_ends_the_process_is_given_up, "K-04")
{
    for (int waits = 0; waits < 2; waits++) {
        directory_make();
        begin(NULL);
        things_do("a", set_alarm, waits);
        things_end();
        for (int i = 0; i < ATTEMPTS; i++)
            ck_assert_int_eq(start(NULL, NULL), SIGKILL);
        begin(NULL);
        tr_kit_advance(kit, TR_HOUR);
        ck_assert_str_eq(things_story, "[poison 3]");
        ck_assert_int_eq(things_do("a", alarm_due, 0), 0);
        things_end();
        ck_assert_int_eq(start(NULL, NULL), 0);
        directory_drop();
    }
}

/* ---- The file. ---- */

TEST(a_file_that_is_not_ours_is_replaced, "K-21")
{
    char path[100];
    directory_make();
    begin(NULL);
    push_three();
    things_end();
    snprintf(path, sizeof path, "%s/running", directory);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 200000; i++)
        fputc(i * 7 % 251, file);
    ck_assert_int_eq(fclose(file), 0);
    begin(NULL);
    ck_assert_int_eq(things_do("a", attempts, 0), 0);
    things_end();
    directory_drop();
}

SUITE("durable poison", an_item_that_ends_the_process_becomes_a_dead_letter,
      after_the_end_of_a_process_the_item_waits_for_its_back_off,
      an_item_whose_turn_waits_when_the_process_ends_has_no_failed_attempt,
      a_turn_that_waits_for_a_name_when_the_process_ends_has_no_failed_attempt,
      an_end_of_its_attempt_that_is_not_stored_does_not_count,
      an_item_whose_end_is_stored_has_no_failed_attempt,
      each_item_that_the_turn_has_gets_a_failed_attempt_once,
      an_alarm_that_ends_the_process_is_given_up, a_file_that_is_not_ours_is_replaced)
