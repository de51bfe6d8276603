/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Mistakes of every kind, and a system with one worker, on the thread of the test, that survives them.
 */
#ifndef TROUPE_TESTS_SUPPORT_FAULTS_H
#define TROUPE_TESTS_SUPPORT_FAULTS_H

#include "support/stage.h"

#include <sys/mman.h>
#include <sys/wait.h>

enum slip_kind {
    SLIP_WRITE,
    SLIP_READ,
    SLIP_BUS,
    SLIP_OVERFLOW,
    SLIP_CALL,
    SLIP_COPY,
    SLIP_LENGTH,
#if defined(__x86_64__)
    SLIP_DIVIDE, /* arm64 gives 0 */
    SLIP_FAR,    /* an address that no page table can have */
#endif
    SLIP_COUNT
};

#define SLIP __attribute__((__noinline__, __unused__)) static

/* What no compiler knows. */
static char *volatile slip_nowhere = (char *)8;
static volatile int slip_zero;
static volatile int slip_sink;
static void (*volatile slip_function_nowhere)(void);

SLIP void slip_write(void)
{
    *(volatile int *)(void *)slip_nowhere = 1;
    slip_sink++;
}

SLIP void slip_read(void)
{
    slip_sink = *(volatile int *)(void *)(slip_nowhere + 4096);
    slip_sink++;
}

SLIP void slip_divide(void)
{
    slip_sink = 10 / slip_zero;
    slip_sink++;
}

/* A page beyond the end of its file. */
SLIP void slip_bus(void)
{
    static volatile char *page;
    if (!page) {
        int fd = memfd_create("empty", MFD_CLOEXEC);
        page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    }
    slip_sink = page[0];
    slip_sink++;
}

SLIP int slip_overflow(int depth)
{
    volatile char frame[512];
    frame[depth % 512] = (char)depth;
    int below = slip_zero ? 0 : slip_overflow(depth + 1);
    return below + frame[(depth + 1) % 512];
}

SLIP void slip_call(void)
{
    slip_function_nowhere();
    slip_sink++;
}

SLIP void slip_copy(void)
{
    char local[300];
    memcpy(local, slip_nowhere, sizeof local + (size_t)slip_zero);
    slip_sink += local[17];
}

SLIP void slip_length(void)
{
    slip_sink = (int)strlen(slip_nowhere);
    slip_sink++;
}

SLIP void slip_far(void)
{
    slip_sink = *(volatile int *)(void *)(slip_nowhere + (UINT64_C(1) << 60));
    slip_sink++;
}

/* The mistake itself. */
SLIP void slip_now(uint32_t kind)
{
    switch ((enum slip_kind)kind) {
    case SLIP_WRITE:
        slip_write();
        break;
    case SLIP_READ:
        slip_read();
        break;
    case SLIP_BUS:
        slip_bus();
        break;
    case SLIP_OVERFLOW:
        slip_sink = slip_overflow(1);
        break;
    case SLIP_CALL:
        slip_call();
        break;
    case SLIP_COPY:
        slip_copy();
        break;
    case SLIP_LENGTH:
        slip_length();
        break;
#if defined(__x86_64__)
    case SLIP_DIVIDE:
        slip_divide();
        break;
    case SLIP_FAR:
        slip_far();
        break;
#endif
    case SLIP_COUNT:
        break;
    }
    slip_sink++;
}

/* What the report says of it: the function of ours that is next to the fault, and the signal. */
SLIP const char *slip_function(enum slip_kind kind)
{
    static const char *const names[] = {"slip_write",
                                        "slip_read",
                                        "slip_bus",
                                        "slip_overflow",
                                        "slip_call",
                                        "slip_copy",
                                        "slip_length",
                                        "slip_divide",
                                        "slip_far"};
    return names[kind];
}

SLIP const char *slip_signal(enum slip_kind kind)
{
    if (kind == SLIP_OVERFLOW)
        return "stack overflow, SIGSEGV at address 0x";
    if (kind == SLIP_BUS)
        return "SIGBUS at address 0x";
    return strcmp(slip_function(kind), "slip_divide") == 0 ? "SIGFPE at address 0x"
                                                           : "SIGSEGV at address 0x";
}

/* ---- A system in the loop of the test. ---- */

struct embedded {
    tr_system *system;
    tr_client *client;
};

static char log_text[1 << 16];

SLIP void log_keep(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    size_t length = strlen(log_text);
    snprintf(log_text + length, sizeof log_text - length, "%s: %s\n", path ? path : "", text);
}

SLIP struct embedded embedded_open(void)
{
    struct embedded at;
    if (TEST_HAS_SANITIZER)
        test_skip("sanitizers trap faults themselves");
    const tr_system_options options = {
        .size = sizeof options, .workers = 1, .traps_faults = true, .on_log = log_keep};
    ck_assert_int_eq(tr_system_new(&options, &at.system), TR_OK);
    ck_assert_int_eq(tr_client_new(at.system, &at.client), TR_OK);
    return at;
}

/** Runs until nothing is left that does not wait. */
SLIP void embedded_run(struct embedded *at)
{
    tr_counters counters;
    uint64_t turns;
    tr_system_counters(at->system, &counters);
    do {
        turns = counters.turns + counters.stopped;
        for (int i = 0; i < 4; i++)
            ck_assert_int_eq(tr_system_run_once(at->system, 0), TR_OK);
        tr_system_counters(at->system, &counters);
    } while (turns != counters.turns + counters.stopped);
}

/** Runs until only so many actors live. */
SLIP void embedded_await(struct embedded *at, uint64_t live)
{
    tr_counters counters;
    do {
        ck_assert_int_eq(tr_system_run_once(at->system, TR_MILLISECOND), TR_OK);
        tr_system_counters(at->system, &counters);
    } while (counters.live > live);
    embedded_run(at);
}

/** Ends it, and looks whether every message is accounted for. */
SLIP void embedded_close(struct embedded *at)
{
    tr_counters counters;
    tr_client_free(at->client);
    tr_system_shutdown(at->system, TR_SECOND);
    while (tr_system_run_once(at->system, TR_MILLISECOND) == TR_OK)
        ;
    tr_system_counters(at->system, &counters);
    ck_assert_uint_eq(counters.live, 0);
    ck_assert_uint_eq(counters.accepted,
                      counters.handled + counters.dead_letters - counters.refused);
    tr_system_free(at->system);
}

/* ---- Scenes that end their process. ---- */

static char last_words[1 << 14];

/** Runs a scene in a child process. Gives its wait status; what it wrote to stderr is in last_words. */
SLIP int status_of(void (*scene)(void))
{
    int ends[2];
    if (TEST_HAS_SANITIZER)
        test_skip("sanitizers trap faults themselves");
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        scene();
        _exit(4);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t size;
    while ((size = read(ends[0], last_words + length, sizeof last_words - 1 - length)) > 0)
        length += (size_t)size;
    last_words[length] = '\0';
    close(ends[0]);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

#endif
