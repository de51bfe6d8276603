/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs the cases of one test program and writes down what they showed.
 *
 * Each case has its own Check runner, so that its result is known by itself and a crash, a leak or
 * a time-out ends that case only.
 */
#include "support/test.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TIMEOUT_SECONDS = 60,
    TIMEOUT_SANITIZER_FACTOR = 4,
    TIMEOUT_LONG_FACTOR = 60,
    EXIT_SKIP = 77,
    HEAP_KEPT = 1 << 25, /* the most that M_MMAP_THRESHOLD takes */
};

/* gcc has run the same with all counts. */
#if defined(__clang__)
#define TEST_IS_SECOND true
#else
#define TEST_IS_SECOND false
#endif

enum outcome { PASSED, FAILED, SKIPPED };

static const char *const outcome_names[] = {"pass", "fail", "skip"};

/* What a case's process tells this one besides Check's messages. On a shared page. */
struct shared {
    bool is_skipped;
    struct test_place place;
};

struct test_place *test_place;
static struct shared *shared;
static pid_t parent;

bool test_is_long(void)
{
    const char *text = getenv("TROUPE_LONG");
    return text != NULL && *text != '\0' && strcmp(text, "0") != 0;
}

uint64_t test_scale(uint64_t short_count, uint64_t long_count)
{
    uint64_t count = test_is_long() ? long_count : short_count;
    uint64_t divisor = TEST_HAS_SANITIZER ? 10 : TEST_IS_SECOND ? 3 : 1;
    return count >= 10 ? count / divisor : count;
}

/* AddressSanitizer does not reuse freed memory until this much has been freed after it. Its default, 256 MiB, makes
 * cases that start many systems touch new pages all the time. To store 30 frames for each allocation and release takes
 * a tenth of a test's time; 10 show where it was. $ASAN_OPTIONS overrides the values. */
#ifdef __SANITIZE_ADDRESS__
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=16:malloc_context_size=10";
}

/* To look for leaks stops all threads and reads all memory, which takes longer than many cases do. A case that has released as
 * many bytes as it took has no leak. */
size_t __sanitizer_get_current_allocated_bytes(void);
int __lsan_is_turned_off(void);
static size_t bytes_before; /* 0 outside of cases */

static void bytes_note(void)
{
    bytes_before = __sanitizer_get_current_allocated_bytes();
}

int __lsan_is_turned_off(void)
{
    return bytes_before != 0 && __sanitizer_get_current_allocated_bytes() <= bytes_before;
}
#else
static void bytes_note(void)
{
}
#endif

static const struct test_case *current;

/* What Check calls, in the process of the case. */
static void case_body(int index)
{
    bytes_note();
    current->check.fn(index);
}

uint64_t test_seed(void)
{
    static bool is_known;
    static uint64_t seed;

    if (is_known)
        return seed;
    const char *text = getenv("TROUPE_SEED");
    if (text != NULL && *text != '\0') {
        seed = strtoull(text, NULL, 0);
    } else if (getrandom(&seed, sizeof seed, 0) != sizeof seed) {
        seed = (uint64_t)getpid();
    }
    is_known = true;
    printf("# TROUPE_SEED=0x%" PRIx64 "\n", seed);
    (void)fflush(stdout);
    return seed;
}

void test_skip(const char *reason)
{
    printf("# skipped: %s\n", reason);
    (void)fflush(stdout);
    if (getpid() == parent) /* CK_FORK=no: there is no process to end but this one. */
        exit(EXIT_SKIP);
    shared->is_skipped = true;
    _exit(0);
}

static double case_timeout(void)
{
    double seconds = TIMEOUT_SECONDS;
    if (TEST_HAS_SANITIZER)
        seconds *= TIMEOUT_SANITIZER_FACTOR;
    if (test_is_long())
        seconds *= TIMEOUT_LONG_FACTOR;
    return seconds;
}

static void print_failures(SRunner *runner)
{
    int count = srunner_ntests_failed(runner);
    TestResult **failures = srunner_failures(runner);
    for (int i = 0; i < count; i++) {
        printf("  %s:%d: %s\n", tr_lfile(failures[i]), tr_lno(failures[i]), tr_msg(failures[i]));
    }
    free(failures);
    if (count > 0 && shared->place.file != NULL)
        printf("  the last assertion that held: %s:%d\n", shared->place.file, shared->place.line);
}

static enum outcome case_run(const struct test_case *test, const char *title)
{
    Suite *suite = suite_create(title);
    TCase *group = tcase_create(test->check.name);
    tcase_set_timeout(group, case_timeout());
    current = test;
    TTest body = {test->check.name, case_body, test->check.file, test->check.line};
    tcase_add_test_raise_signal(group, &body, test->signal);
    suite_add_tcase(suite, group);

    SRunner *runner = srunner_create(suite);
    *shared = (struct shared){0};
    (void)fflush(stdout);
    srunner_run_all(runner, CK_SILENT);
    enum outcome outcome = PASSED;
    if (srunner_ntests_failed(runner) > 0) {
        outcome = FAILED;
    } else if (shared->is_skipped) {
        outcome = SKIPPED;
    }
    printf("%s %s\n", outcome_names[outcome], test->check.name);
    print_failures(runner);
    (void)fflush(stdout);
    srunner_free(runner);
    return outcome;
}

/* The file of results: $TROUPE_RESULTS_DIR/<program>.tsv, or ../results/<program>.tsv as seen from
 * the program. NULL, with a note, when it cannot be opened: the exit code still tells the truth. */
static FILE *results_open(const char **program)
{
    static char path[4096];
    static char file[sizeof path + 512];

    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    char *name = strrchr(path, '/');
    *name++ = '\0';
    static char kept[256];
    (void)snprintf(kept, sizeof kept, "%s", name);
    *program = kept;

    const char *directory = getenv("TROUPE_RESULTS_DIR");
    if (directory == NULL || *directory == '\0') {
        char *up = strrchr(path, '/');
        (void)snprintf(up != NULL ? up : path, 16, "/results");
        directory = path;
    }
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "%s: %s\n", directory, strerror(errno));
        return NULL;
    }
    (void)snprintf(file, sizeof file, "%s/%s.tsv", directory, kept);
    FILE *results = fopen(file, "we");
    if (results == NULL)
        fprintf(stderr, "%s: %s\n", file, strerror(errno));
    return results;
}

static void result_write(FILE *results, const char *program, const struct test_case *test,
                         enum outcome outcome)
{
    fprintf(results, "%s\t%s\t", program, test->check.name);
    const char *separator = "";
    for (const char *const *id = test->ids; *id != NULL; id++) {
        if (**id == '\0')
            continue;
        fprintf(results, "%s%s", separator, *id);
        separator = " ";
    }
    fprintf(results, "\t%s\n", outcome_names[outcome]);
    (void)fflush(results);
}

int test_main(int argc, char **argv, const char *title, const struct test_case *const *cases,
              size_t count)
{
    /* Most kits of these tests have actors that fail on purpose. A value of the caller stays: it may look for something. */
    (void)setenv("TROUPE_KIT_LOG", "off", 0);
    const char *filter = argc > 1 ? argv[1] : NULL;
    const char *program = argv[0];
    FILE *results = filter == NULL ? results_open(&program) : NULL;

    /* Cases start systems by the hundred. If the heap gave the memory of each one back to the kernel, the next one
     * would have to touch new pages. */
    (void)mallopt(M_TRIM_THRESHOLD, HEAP_KEPT);
    (void)mallopt(M_MMAP_THRESHOLD, HEAP_KEPT);
    parent = getpid();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    test_place = &shared->place;
    size_t counts[3] = {0};
    for (size_t i = 0; i < count; i++) {
        if (filter != NULL && strstr(cases[i]->check.name, filter) == NULL)
            continue;
        enum outcome outcome = case_run(cases[i], title);
        counts[outcome]++;
        if (results != NULL)
            result_write(results, program, cases[i], outcome);
    }
    if (results != NULL)
        (void)fclose(results);
    (void)munmap(shared, sizeof *shared);

    printf("%s: %zu passed, %zu failed, %zu skipped\n",
           title,
           counts[PASSED],
           counts[FAILED],
           counts[SKIPPED]);
    if (counts[PASSED] + counts[FAILED] + counts[SKIPPED] == 0) {
        fprintf(stderr, "no case has \"%s\" in its name\n", filter != NULL ? filter : "");
        return 1;
    }
    if (counts[FAILED] > 0)
        return 1;
    return counts[PASSED] > 0 ? 0 : EXIT_SKIP;
}
