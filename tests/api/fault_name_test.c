/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Faults that end the process and are named before: whose handler it was, and of a stack that was used up, how large
 * it is. And how large stacks can be made.
 *
 * Not under a sanitizer, which has handlers of its own; the sizes of stacks are tested there too.
 */
#include "support/faults.h"

enum {
    IN_THE_GUARD = 100 * 1000,      /* a local variable like those that people write */
    DEEP_IN_THE_GUARD = 300 * 1000, /* nearly the stack and its guard, 64 + 256 KiB */
    LARGE = 1024 * 1024
};

/* ---- An actor with large local variables. ---- */

TR_MESSAGE(gorge, (u32, bytes));
TR_MESSAGE(slip);
TR_MESSAGE(recur);
TR_ACTOR(glutton, gorge, slip, recur);

static unsigned gorged;

/* Uses so many bytes of stack, the lowest first, as a function does that calls another. */
__attribute__((__noinline__)) static void swallow(size_t bytes)
{
    volatile char local[bytes];
    local[0] = 1;
    local[bytes - 1] = 1;
    slip_sink += local[0] + local[bytes - 1];
}

static tr_next on_gorge(const struct gorge *message)
{
    swallow(message->bytes);
    gorged++;
    return TR_SAME;
}

static tr_next on_slip(void)
{
    slip_write();
    return TR_SAME;
}

static tr_next on_recur(void)
{
    slip_sink = slip_overflow(1);
    return TR_SAME;
}

TR_BEHAVIOR(glutton, void, TR_ON(gorge, on_gorge), TR_ON(slip, on_slip), TR_ON(recur, on_recur),
            TR_OPTIONS(.restart = TR_TEMPORARY));

TR_BEHAVIOR(gourmet, void, TR_ON(gorge, on_gorge),
            TR_OPTIONS(.restart = TR_TEMPORARY, .stack_bytes = 4 * TR_STACK_SIZE));

static struct embedded embedded_with(const tr_system_options *options, glutton_ref *glutton)
{
    struct embedded at;
    gorged = 0;
    ck_assert_int_eq(tr_system_new(options, &at.system), TR_OK);
    ck_assert_int_eq(tr_client_new(at.system, &at.client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(at.client, glutton, glutton, "glutton"), TR_OK);
    return at;
}

/* ---- Scenes, in a process of their own. ---- */

static glutton_ref glutton_named(struct embedded *at)
{
    const tr_system_options options = {.size = sizeof options, .workers = 1, .names_faults = true};
    glutton_ref glutton;
    *at = embedded_with(&options, &glutton);
    return glutton;
}

static void play_gorge(void)
{
    struct embedded at;
    glutton_ref glutton = glutton_named(&at);
    tr_tell(at.client, glutton, gorge, .bytes = IN_THE_GUARD);
    embedded_run(&at);
}

static void play_gorge_deep(void)
{
    struct embedded at;
    glutton_ref glutton = glutton_named(&at);
    tr_tell(at.client, glutton, gorge, .bytes = DEEP_IN_THE_GUARD);
    embedded_run(&at);
}

static void play_recur(void)
{
    struct embedded at;
    glutton_ref glutton = glutton_named(&at);
    tr_tell(at.client, glutton, recur);
    embedded_run(&at);
}

static void play_slip(void)
{
    struct embedded at;
    glutton_ref glutton = glutton_named(&at);
    tr_tell(at.client, glutton, slip);
    embedded_run(&at);
}

static void play_after(void)
{
    struct embedded at;
    (void)glutton_named(&at);
    embedded_close(&at);
    slip_write();
}

static void on_earlier(int signal)
{
    (void)signal;
    _exit(42);
}

static void play_earlier(void)
{
    signal(SIGSEGV, on_earlier);
    play_slip();
}

/* A program; what it overflows is the stack of a child of its root. */
static tr_next root_start(tr_self *self)
{
    tr_tell(self, tr_spawn(self, glutton, "glutton"), gorge, .bytes = IN_THE_GUARD);
    return TR_SAME;
}
TR_BEHAVIOR(root, void, TR_ON(tr_pre_start, root_start));

static void play_app(void)
{
    char *argv[] = {(char *)"app", NULL};
    _exit(tr_app_main(1, argv, root, .workers = 1));
}

static void check_named(void (*scene)(void), const char *words)
{
    int status = status_of(scene);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
        ck_abort_msg("status %x: %s", status, last_words);
    if (!strstr(last_words, words))
        ck_abort_msg("no \"%s\": %s", words, last_words);
    ck_assert_ptr_nonnull(strstr(last_words, " of glutton, fault_name_test.c:"));
    /* One line, and nothing else. */
    ck_assert_ptr_eq(strchr(last_words, '\n'), last_words + strlen(last_words) - 1);
}

TEST(a_large_local_variable_in_an_app_is_named_with_actor_handler_and_stack, "X-03")
{
    check_named(play_app,
                "troupe: stack overflow in /user/root/glutton, handling gorge (on_gorge ");
    ck_assert_ptr_nonnull(
        strstr(last_words, ": the stack has 65536 bytes; set a larger stack_bytes "));
}

TEST(a_system_names_an_overflow_if_told_to, "X-03")
{
    check_named(play_gorge, "troupe: stack overflow in /user/glutton, handling gorge (on_gorge ");
    check_named(play_gorge_deep, "stack overflow in /user/glutton, handling gorge (on_gorge ");
    check_named(play_recur, "troupe: stack overflow in /user/glutton, handling recur (on_recur ");
    ck_assert_ptr_nonnull(
        strstr(last_words, ": the stack has 65536 bytes; set a larger stack_bytes "));
}

TEST(other_faults_are_named_without_a_stack, "X-03")
{
    check_named(play_slip,
                "troupe: SIGSEGV at address 0x8 in /user/glutton, handling slip (on_slip ");
    ck_assert_ptr_null(strstr(last_words, "stack"));
}

TEST(a_handler_that_was_there_gets_the_fault_instead, "X-03")
{
    int status = status_of(play_earlier);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 42);
    ck_assert_str_eq(last_words, "");
}

TEST(after_the_system_a_fault_is_as_without_it, "X-03")
{
    int status = status_of(play_after);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGSEGV);
    ck_assert_str_eq(last_words, "");
}

/* ---- Survived. ---- */

static tr_status spawn_gourmet(tr_client *client, glutton_ref *gourmet)
{
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_gourmet, .worker = -1};
    uint64_t bits = 0;
    tr_status status = tr_client_try_spawn(client, &args, &bits);
    *gourmet = (glutton_ref){.bits = bits};
    return status;
}

TEST(where_faults_are_trapped_a_large_local_variable_is_a_failure, "S-10")
{
    struct embedded at = embedded_open();
    glutton_ref glutton;
    static const uint32_t sizes[] = {IN_THE_GUARD, DEEP_IN_THE_GUARD};
    for (size_t i = 0; i < 2; i++) {
        log_text[0] = '\0';
        ck_assert_int_eq(tr_try_spawn(at.client, &glutton, glutton, "glutton"), TR_OK);
        tr_tell(at.client, glutton, gorge, .bytes = sizes[i]);
        embedded_run(&at);
        const char *line =
            strstr(log_text, "/user/glutton: failed in gorge: TR_FAULT: stack overflow");
        ck_assert_ptr_nonnull(line);
        ck_assert_ptr_nonnull(strstr(line, " in swallow (fault_name_test.c:"));
        ck_assert_ptr_nonnull(
            strstr(line, "; the stack has 65536 bytes, set a larger stack_bytes "));
    }
    embedded_close(&at);
}

/* ---- Larger stacks. ---- */

TEST(stack_bytes_gives_each_turn_a_larger_stack, "S-10")
{
    /* One byte less than whole pages: it is rounded up. */
    const tr_system_options options = {
        .size = sizeof options, .workers = 1, .stack_bytes = LARGE - 1};
    glutton_ref glutton;
    struct embedded at = embedded_with(&options, &glutton);
    tr_tell(at.client, glutton, gorge, .bytes = LARGE - 16 * 1024);
    embedded_run(&at);
    ck_assert_uint_eq(gorged, 1);
    embedded_close(&at);
}

TEST(stack_bytes_out_of_its_limits_is_refused, "S-10")
{
    tr_system *system;
    tr_system_options options = {.size = sizeof options, .workers = 1};
    options.stack_bytes = TR_STACK_SIZE - 1;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_INVALID_ARGUMENT);
    options.stack_bytes = (size_t)TR_STACK_LARGEST + 1;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_LIMIT);
    options.stack_bytes = TR_STACK_LARGEST;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    tr_system_free(system);
    options.handoff_after_ns = 20 * TR_MILLISECOND;
    options.names_faults = true;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_NOT_SUPPORTED);
}

/* A larger stack, which an actor has asked for, takes what is too much for the others, and its end is found too. */
TEST(an_overflow_of_a_stack_of_an_actors_own_size_names_that_size, "S-10", "B-03")
{
    struct embedded at = embedded_open();
    glutton_ref gourmet;
    gorged = 0;
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_int_eq(spawn_gourmet(at.client, &gourmet), TR_OK);
        tr_tell(at.client, gourmet, gorge, .bytes = 3 * TR_STACK_SIZE);
        embedded_run(&at);
        ck_assert_uint_eq(gorged, i + 1);
        log_text[0] = '\0';
        tr_tell(at.client, gourmet, gorge, .bytes = 3 * TR_STACK_SIZE + IN_THE_GUARD);
        embedded_run(&at);
        ck_assert_uint_eq(gorged, i + 1);
        const char *line = strstr(log_text, ": failed in gorge: TR_FAULT: stack overflow");
        ck_assert_ptr_nonnull(line);
        ck_assert_ptr_nonnull(
            strstr(line, "; the stack has 262144 bytes, set a larger stack_bytes "));
    }
    embedded_close(&at);
}

SUITE("faults with a name", a_large_local_variable_in_an_app_is_named_with_actor_handler_and_stack,
      a_system_names_an_overflow_if_told_to, other_faults_are_named_without_a_stack,
      a_handler_that_was_there_gets_the_fault_instead, after_the_system_a_fault_is_as_without_it,
      where_faults_are_trapped_a_large_local_variable_is_a_failure,
      an_overflow_of_a_stack_of_an_actors_own_size_names_that_size,
      stack_bytes_gives_each_turn_a_larger_stack, stack_bytes_out_of_its_limits_is_refused)
