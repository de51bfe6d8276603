/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A thin layer over the Check framework: a case names the promises that it proves, as data.
 *
 *     TEST(pop_on_empty_returns_null, "WP-05", "P-04")
 *     {
 *         ck_assert_ptr_null(tr__stack_pop(&stack));
 *     }
 *     SUITE("queue stack", pop_on_empty_returns_null)
 *
 * SUITE defines main. The program runs every case in a process of its own, or only those whose name
 * contains its first argument, and exits with 0 (all passed), 1 (one failed) or 77 (all skipped).
 * A case that is written and not named in SUITE does not compile, because its constant is unused.
 * An unfiltered run leaves <results>/<program>.tsv behind, one line per case: program, case, ids
 * separated by spaces, and pass, fail or skip. <results> is $TROUPE_RESULTS_DIR, or the directory
 * "results" beside the one that holds the program. CK_FORK=no runs the cases in one process, for
 * a debugger.
 */
#ifndef TROUPE_TESTS_SUPPORT_TEST_H
#define TROUPE_TESTS_SUPPORT_TEST_H

#include <check.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One case: what Check needs, and the ids that it proves. `ids` ends with NULL. */
struct test_case {
    TTest check;
    const char *const *ids;
    int signal; /* The signal that must end the case, 0 for none. */
};

/** Runs the cases of one program; SUITE calls it from main. Returns the exit code. */
int test_main(int argc, char **argv, const char *title, const struct test_case *const *cases,
              size_t count);

/**
 * The seed of this case: $TROUPE_SEED, or a random one. It is printed, so that a failure can be
 * replayed; all calls in one process give the same value.
 */
uint64_t test_seed(void);

/** Whether $TROUPE_LONG asks for the long settings of `make check-long`. */
bool test_is_long(void);

/** `short_count`, or `long_count` when test_is_long(); a tenth of it under a sanitizer, a third of it with clang. */
uint64_t test_scale(uint64_t short_count, uint64_t long_count);

/**
 * Whether the program is on the list tests/one_thread. A case of such a program that starts a thread fails:
 * ThreadSanitizer would not see it.
 */
extern const bool test_has_one_thread;
#ifndef TEST_HAS_ONE_THREAD
#define TEST_HAS_ONE_THREAD 0
#endif

/** Ends the case here as skipped, for a reason that is printed. */
_Noreturn void test_skip(const char *reason);

/** True in programs built with AddressSanitizer or ThreadSanitizer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_HAS_SANITIZER 1
#endif
#endif
#ifndef TEST_HAS_SANITIZER
#define TEST_HAS_SANITIZER 0
#endif

/**
 * How many seeds to play on a kit. The release build of gcc plays all of them, the others some: a kit is one
 * thread, so one schedule shows ThreadSanitizer as much as many do; AddressSanitizer and another compiler look at
 * the same code in the same schedules.
 */
#if TEST_HAS_SANITIZER || defined(__clang__)
#define TEST_SEEDS(count) ((count) / 5 + 2)
#else
#define TEST_SEEDS(count) (count)
#endif

/* Where the last assertion held, for the report of a case that crashes. Check would write each one
 * to a pipe, which is a system call; tests make millions. The page is shared with the runner, and
 * the name is a literal, whose address is the same there. Any thread may assert, hence atomics. */
struct test_place {
    const char *file;
    int line;
};
extern struct test_place *test_place;

static inline void test_mark(const char *file, int line)
{
    __atomic_store_n(&test_place->file, file, __ATOMIC_RELAXED);
    __atomic_store_n(&test_place->line, line, __ATOMIC_RELAXED);
}
#define _mark_point(file, line) test_mark(file, line)

#define TEST_WITH_SIGNAL(name, end_signal, ...)                                                    \
    static void name##_body(int test_index);                                                       \
    static const char *const name##_ids[] = {__VA_ARGS__, NULL};                                   \
    static const struct test_case name[1] = {                                                      \
        {{#name, name##_body, __FILE__, __LINE__}, name##_ids, end_signal}};                       \
    static void name##_body(int test_index __attribute__((__unused__)))

/** A case that must return. After the name: the ids of promises and cases, "" for none. */
#define TEST(name, ...) TEST_WITH_SIGNAL(name, 0, __VA_ARGS__)

/** A case that must end in abort(), as a failed assertion does. */
#define TEST_ABORTS(name, ...) TEST_WITH_SIGNAL(name, SIGABRT, __VA_ARGS__)

/** The cases of this program, in the order in which they run. Defines main. */
#define SUITE(title, ...)                                                                          \
    const bool test_has_one_thread = TEST_HAS_ONE_THREAD;                                          \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const struct test_case *const cases[] = {__VA_ARGS__};                              \
        return test_main(argc, argv, title, cases, sizeof cases / sizeof cases[0]);                \
    }

#endif
