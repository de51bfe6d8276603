/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Faults that nobody survives: each play runs in a child process, whose end and last words are
 * looked at. And whose the handlers of the process are.
 */
#include "support/faults.h"

#include <pthread.h>

TR_MESSAGE(go, (u32, what));
TR_MESSAGE(letter, (str, text));
TR_ACTOR(fool, go, letter);

enum what {
    WILD_MESSAGE, /* a verb with a pointer to nowhere */
    PRINT,        /* stdio holds a lock */
    RESIZE,       /* and so does the allocator */
    SORT,         /* user code below the C library */
    DEFER,        /* after the handler has ended */
    SMASH,        /* its stack is overwritten */
    RAISE,        /* no fault: somebody sends the signal */
    PLAIN
};

/* Aligned as the allocator wants it, and not its own. */
static void *volatile slip_heap = (void *)0x10010;

static int compare(const void *a, const void *b)
{
    (void)a;
    (void)b;
    slip_write();
    return 0;
}

static void release(void *unused)
{
    (void)unused;
    slip_write();
}

/* Overwrites the frames above its own. */
__attribute__((__noinline__)) static void smash(void)
{
    volatile uintptr_t *at = __builtin_frame_address(0);
    for (int i = 0; i < 64 && slip_zero == 0; i++)
        at[i] = 0x4141414141414141;
    slip_write();
}

static void be_foolish(tr_self *self, enum what what)
{
    int numbers[8] = {8, 7, 6, 5, 4, 3, 2, 1};
    switch (what) {
    case WILD_MESSAGE:
        tr_tell(self, tr_me(self), letter, .text = slip_nowhere);
        break;
    case PRINT:
        fprintf(stdout, "%s%d\n", slip_nowhere, slip_zero);
        break;
    case RESIZE:
        slip_sink = realloc(slip_heap, 100) != NULL;
        break;
    case SORT:
        qsort(numbers, 8, sizeof *numbers, compare);
        slip_sink = numbers[0];
        break;
    case DEFER:
        tr_defer(self, self, release);
        break;
    case SMASH:
        smash();
        break;
    case RAISE:
        raise(SIGSEGV);
        break;
    case PLAIN:
        slip_write();
        break;
    }
    slip_sink++;
}

static tr_next fool_go(tr_self *self, const struct go *go)
{
    be_foolish(self, (enum what)go->what);
    return TR_SAME;
}

static tr_next fool_letter(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(fool, void, TR_ON(go, fool_go), TR_ON(letter, fool_letter),
            TR_OPTIONS(.restart = TR_TEMPORARY));

/* ---- Plays, in a process of their own. ---- */

static void play(enum what what)
{
    struct embedded at = embedded_open();
    fool_ref fool;
    if (tr_try_spawn(at.client, &fool, fool, NULL) != TR_OK)
        _exit(3);
    tr_tell(at.client, fool, go, .what = what);
    embedded_run(&at);
    _exit(0); /* it was survived */
}

static void play_wild_message(void)
{
    play(WILD_MESSAGE);
}

static void play_print(void)
{
    play(PRINT);
}

static void play_resize(void)
{
    play(RESIZE);
}

static void play_sort(void)
{
    play(SORT);
}

static void play_defer(void)
{
    play(DEFER);
}

static void play_smash(void)
{
    play(SMASH);
}

static void play_raise(void)
{
    play(RAISE);
}

static void play_plain(void)
{
    play(PLAIN);
}

static void *foreign(void *unused)
{
    slip_write();
    return unused;
}

static void play_foreign(void)
{
    struct embedded at = embedded_open();
    pthread_t thread;
    (void)at;
    pthread_create(&thread, NULL, foreign, NULL);
    pthread_join(thread, NULL);
    _exit(0);
}

static void play_off(void)
{
    struct theatre theatre = theatre_open(1);
    fool_ref fool;
    if (tr_try_spawn(theatre.client, &fool, fool, NULL) != TR_OK)
        _exit(3);
    tr_tell(theatre.client, fool, go, .what = PLAIN);
    _exit(tr_system_wait(theatre.system));
}

/* A program whose root faults. */
TR_ACTOR(root, go);
static tr_next root_start(void)
{
    slip_write();
    return TR_SAME;
}
TR_BEHAVIOR(root, void, TR_ON(tr_pre_start, root_start), TR_OPTIONS(.restart = TR_TEMPORARY));

static void play_app(void)
{
    char *argv[] = {(char *)"app", NULL};
    _exit(tr_app_main(1, argv, root, .workers = 1, .traps_faults = true));
}

static void check_aborts(void (*scene)(void), const char *words)
{
    int status = status_of(scene);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
        ck_abort_msg("status %x: %s", status, last_words);
    if (!strstr(last_words, words))
        ck_abort_msg("no \"%s\": %s", words, last_words);
    ck_assert_ptr_nonnull(strstr(last_words, "troupe:   at 0x"));
}

TEST(a_fault_inside_the_runtime_aborts, "S-10")
{
    check_aborts(play_wild_message, "inside the runtime");
    ck_assert_ptr_nonnull(strstr(last_words, "troupe: SIGSEGV at address 0x8, "));
}

TEST(a_fault_below_a_lock_of_the_c_library_aborts, "S-10")
{
    check_aborts(play_print, "inside the C library");
    check_aborts(play_resize, "inside the C library");
    check_aborts(play_sort, "inside the C library");
}

TEST(a_fault_where_no_handler_runs_aborts, "S-10")
{
    check_aborts(play_defer, "outside of handlers");
    check_aborts(play_foreign, "on a thread that is no worker");
}

TEST(a_damaged_stack_aborts, "S-10")
{
    int status = status_of(play_smash);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGABRT);
    ck_assert_ptr_nonnull(strstr(last_words, "cannot recover, the process ends"));
}

TEST(a_signal_that_somebody_sends_is_no_fault, "S-10")
{
    int status = status_of(play_raise);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGSEGV);
    ck_assert_str_eq(last_words, "");
}

TEST(off_by_default_a_fault_ends_the_process_as_ever, "S-10")
{
    int status = status_of(play_off);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGSEGV);
    ck_assert_str_eq(last_words, "");
    ck_assert_int_eq(status_of(play_plain), 0); /* on, it is survived */
}

TEST(the_runner_traps_faults_if_told_to, "S-10")
{
    int status = status_of(play_app);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 1);
    ck_assert_ptr_nonnull(strstr(last_words, "TR_FAULT"));
}

/* ---- Whose the handlers are. ---- */

static void on_earlier(int signal)
{
    (void)signal;
    _exit(42);
}

static void on_earlier_info(int signal, siginfo_t *info, void *context)
{
    (void)context;
    _exit(signal == SIGSEGV && info->si_addr == (void *)slip_nowhere ? 43 : 44);
}

static void play_earlier(void)
{
    signal(SIGSEGV, on_earlier);
    play_foreign();
}

static void play_earlier_in_the_runtime(void)
{
    struct sigaction action = {.sa_sigaction = on_earlier_info, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    play(WILD_MESSAGE);
}

static void play_earlier_and_ours(void)
{
    signal(SIGSEGV, on_earlier);
    play(PLAIN);
}

TEST(a_fault_that_is_not_ours_goes_to_the_earlier_handler, "S-10")
{
    int status = status_of(play_earlier);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 42);
    ck_assert_str_eq(last_words, "");
    status = status_of(play_earlier_in_the_runtime);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 43);
    ck_assert_int_eq(status_of(play_earlier_and_ours), 0);
}

static void *handler_of(int signal)
{
    struct sigaction action;
    sigaction(signal, NULL, &action);
    return (void *)(uintptr_t)action.sa_handler;
}

static void embedded_end(struct embedded *at)
{
    tr_client_free(at->client);
    tr_system_free(at->system);
}

TEST(the_last_system_restores_the_handlers, "S-10")
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE};
    stack_t before;
    stack_t after;
    if (TEST_HAS_SANITIZER)
        test_skip("sanitizers trap faults themselves");
    signal(SIGSEGV, on_earlier);
    signal(SIGBUS, on_earlier);
    signal(SIGFPE, on_earlier);
    sigaltstack(NULL, &before);
    for (int round = 0; round < 3; round++) {
        struct embedded first = embedded_open();
        struct embedded second = embedded_open();
        for (int i = 0; i < 3; i++)
            ck_assert_ptr_ne(handler_of(signals[i]), (void *)(uintptr_t)on_earlier);
        embedded_run(&first);
        embedded_end(&first);
        for (int i = 0; i < 3; i++)
            ck_assert_ptr_ne(handler_of(signals[i]), (void *)(uintptr_t)on_earlier);
        embedded_run(&second);
        embedded_end(&second);
        for (int i = 0; i < 3; i++)
            ck_assert_ptr_eq(handler_of(signals[i]), (void *)(uintptr_t)on_earlier);
    }
    sigaltstack(NULL, &after);
    ck_assert_ptr_eq(before.ss_sp, after.ss_sp);
    ck_assert_int_eq(before.ss_flags, after.ss_flags);
}

TEST(a_handler_that_somebody_installed_later_stays, "S-10")
{
    struct embedded at = embedded_open();
    signal(SIGFPE, on_earlier);
    embedded_end(&at);
    ck_assert_ptr_eq(handler_of(SIGFPE), (void *)(uintptr_t)on_earlier);
    ck_assert_ptr_eq(handler_of(SIGSEGV), (void *)(uintptr_t)SIG_DFL);
}

/* ---- A handler upon ours that calls what it found, and stays. ---- */

static struct sigaction found;
static int hits;

static void on_chaining(int signal, siginfo_t *info, void *context)
{
    if (++hits > 3)
        _exit(45); /* it goes round in circles */
    if (info->si_addr != (void *)slip_nowhere)
        _exit(46);
    found.sa_sigaction(signal, info, context);
}

static void chain(void)
{
    struct sigaction action = {.sa_sigaction = on_chaining, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction before;
    sigaction(SIGSEGV, &action, &before);
    if (before.sa_sigaction != on_chaining)
        found = before;
}

/* What an actor does is survived: ours is first, or is called. */
static void survive(struct embedded *at)
{
    fool_ref fool;
    if (tr_try_spawn(at->client, &fool, fool, NULL) != TR_OK)
        _exit(3);
    tr_tell(at->client, fool, go, .what = PLAIN);
    embedded_run(at);
    hits = 0;
}

static void play_chained(int times, bool is_put_again)
{
    signal(SIGSEGV, on_earlier);
    struct embedded first = embedded_open();
    chain();
    survive(&first);
    embedded_end(&first);
    for (int i = 0; i < times; i++) {
        struct embedded next = embedded_open();
        survive(&next);
        if (is_put_again)
            chain();
        survive(&next);
        embedded_end(&next);
    }
    struct embedded last = embedded_open();
    survive(&last);
    slip_write(); /* no actor's: it goes to who was there first, 42 */
    _exit(0);
}

static void play_chained_once(void)
{
    play_chained(0, false);
}

static void play_chained_often(void)
{
    play_chained(20, false);
}

static void play_chained_again_and_again(void)
{
    play_chained(20, true);
}

/* The same while no system is there: ours is called, and knows whom to call. */
static void play_chained_and_closed(void)
{
    signal(SIGSEGV, on_earlier);
    struct embedded first = embedded_open();
    chain();
    embedded_end(&first);
    slip_write();
    _exit(0);
}

TEST(a_handler_upon_ours_that_calls_it_does_not_go_round_in_circles, "S-10")
{
    void (*const plays[])(void) = {play_chained_once,
                                   play_chained_often,
                                   play_chained_again_and_again,
                                   play_chained_and_closed};
    if (TEST_HAS_SANITIZER)
        test_skip("sanitizers trap faults themselves");
    for (size_t i = 0; i < sizeof plays / sizeof *plays; i++) {
        int status = status_of(plays[i]);
        ck_assert_msg(WIFEXITED(status), "play %zu: %x: %s", i, (unsigned)status, last_words);
        ck_assert_int_eq(WEXITSTATUS(status), 42);
        ck_assert_str_eq(last_words, "");
    }
}

SUITE("faults that abort", a_fault_inside_the_runtime_aborts,
      a_fault_below_a_lock_of_the_c_library_aborts, a_fault_where_no_handler_runs_aborts,
      a_damaged_stack_aborts, a_signal_that_somebody_sends_is_no_fault,
      off_by_default_a_fault_ends_the_process_as_ever, the_runner_traps_faults_if_told_to,
      a_fault_that_is_not_ours_goes_to_the_earlier_handler, the_last_system_restores_the_handlers,
      a_handler_that_somebody_installed_later_stays,
      a_handler_upon_ours_that_calls_it_does_not_go_round_in_circles)
