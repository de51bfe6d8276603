/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The stack of another thread: one that waits in the kernel, which is not disturbed, one that computes, one inside malloc,
 * and threads of which nothing can be known.
 */
#include "support/test.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "os/atomic.h"
#include "os/fault.h"
#include "os/stack_look.h"
#include "os/symbols.h"
#include "os/unwind.h"

enum way { WAIT, SPIN, ALLOCATE };
enum { FRAMES_MAX = 24, LOOKS = 200, NOISES = 20000, NEVER_MS = -1 };

static atom32 sitter;  /* the thread's id of the kernel */
static atom32 is_over; /* ends a thread that computes */
static int pipes[2];
static volatile uint32_t sum;

__attribute__((__noinline__)) static int wait_in_poll(void)
{
    struct pollfd poll_of = {.fd = pipes[0], .events = POLLIN};
    int count = poll(&poll_of, 1, NEVER_MS);
    return count < 0 ? -errno : count;
}

__attribute__((__noinline__)) static int spin_on(void)
{
    while (!atom32_load(&is_over, ATOM_RELAXED))
        sum += 3;
    return (int)sum;
}

__attribute__((__noinline__)) static int allocate_on(void)
{
    uint32_t size = 1;
    while (!atom32_load(&is_over, ATOM_RELAXED)) {
        void *memory = malloc(size);
        memset(memory, 1, size);
        free(memory);
        size = size * 7 % 100003;
    }
    return (int)size;
}

/* Its frame is larger than what is copied of a stack. */
__attribute__((__noinline__)) static int sit_on_much(enum way way)
{
    volatile char much[64 * 1024];
    much[0] = 1;
    much[sizeof much - 1] = 2;
    int result = way == WAIT ? wait_in_poll() : way == SPIN ? spin_on() : allocate_on();
    return result + much[0] + much[sizeof much - 1] - 3;
}

__attribute__((__noinline__)) static int on_sit(enum way way)
{
    int result = sit_on_much(way);
    sum++;
    return result;
}

static bool find_none(void *context, struct fault_span *span)
{
    (void)context;
    (void)span;
    return false;
}

static bool describe_none(void *context, struct fault_span *stack, char text[FAULT_TEXT_SIZE])
{
    (void)context;
    (void)stack;
    (void)text;
    return false;
}

struct sit {
    enum way way;
    bool is_open; /* the thread takes signals */
    int result;
};

static void *sit_main(void *context)
{
    struct sit *sit = context;
    struct fault_thread *thread = NULL;
    const struct fault_owner owner = {.find = find_none, .describe = describe_none};
    if (sit->is_open)
        ck_assert_int_eq(tr__fault_thread_open(&owner, &thread), TR_OK);
    atom32_store(&sitter, (uint32_t)gettid(), ATOM_RELEASE);
    sit->result = on_sit(sit->way);
    tr__fault_thread_close(thread);
    return NULL;
}

/* Writes the names of the functions: "poll<wait_in_poll<sit_on_much". */
static size_t look(uintptr_t last, char *text, size_t size)
{
    uintptr_t frames[FRAMES_MAX];
    size_t count = tr__stack_look(atom32_load(&sitter, ATOM_ACQUIRE), last, frames, FRAMES_MAX);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        struct symbol symbol;
        tr__symbol_find(NULL, frames[i], &symbol);
        size_t length = strlen(text);
        (void)snprintf(text + length, size - length, "%s%s", i ? "<" : "", symbol.function);
    }
    return count;
}

static pthread_t begin(struct sit *sit)
{
    pthread_t thread;
    atom32_store(&sitter, 0, ATOM_RELAXED);
    atom32_store(&is_over, 0, ATOM_RELAXED);
    ck_assert_int_eq(pipe(pipes), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, sit_main, sit), 0);
    while (!atom32_load(&sitter, ATOM_ACQUIRE))
        ;
    return thread;
}

static void end(pthread_t thread)
{
    atom32_store(&is_over, 1, ATOM_RELAXED);
    ck_assert_int_eq(write(pipes[1], "", 1), 1);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(close(pipes[0]) | close(pipes[1]), 0);
}

/* Waits until a look sees a text. */
static void see(const char *wanted, char *text, size_t size)
{
    size_t length = strlen(wanted);
    do
        (void)look((uintptr_t)on_sit, text, size);
    while (strlen(text) < length || strcmp(text + strlen(text) - length, wanted) != 0);
}

TEST(a_thread_that_waits_is_seen_and_not_disturbed, "O-05")
{
    char text[2000];
    struct sit sit = {.way = WAIT};
    pthread_t thread = begin(&sit);
    see("wait_in_poll<sit_on_much<on_sit", text, sizeof text);
    for (int i = 0; i < LOOKS; i++) {
        ck_assert_uint_ge(look((uintptr_t)on_sit, text, sizeof text), 3);
        ck_assert_msg(strstr(text, "wait_in_poll<sit_on_much<on_sit"), "%s", text);
    }
    ck_assert_uint_gt(look(0, text, sizeof text), 4); /* and below it, what has called it */
    end(thread);
    ck_assert_int_eq(sit.result, 1); /* no EINTR */
}

TEST(a_thread_that_computes_is_seen_if_it_takes_signals, "O-05")
{
    char text[2000];
    if (tr__faults_open(false) != TR_OK)
        return; /* a sanitizer has the handlers */
    struct sit sit = {.way = SPIN, .is_open = true};
    pthread_t thread = begin(&sit);
    see("spin_on<sit_on_much<on_sit", text, sizeof text);
    end(thread);
    sit.way = ALLOCATE;
    thread = begin(&sit);
    see("allocate_on<sit_on_much<on_sit", text, sizeof text);
    for (int i = 0; i < LOOKS; i++) {
        (void)look((uintptr_t)on_sit, text, sizeof text);
        const char *found = strstr(text, "allocate_on");
        ck_assert_msg(
            !*text || (found && !strcmp(found, "allocate_on<sit_on_much<on_sit")), "%s", text);
    }
    end(thread);
    tr__faults_close();
}

TEST(a_thread_that_takes_no_signals_gets_none, "O-05")
{
    char text[2000];
    bool is_open = tr__faults_open(false) == TR_OK;
    struct sit sit = {.way = SPIN};
    pthread_t thread = begin(&sit);
    ck_assert_uint_eq(look(0, text, sizeof text), 0);
    end(thread);
    if (is_open)
        tr__faults_close();
    atom32_store(&sitter, 0, ATOM_RELAXED);
    ck_assert_uint_eq(look(0, text, sizeof text), 0);
}

/* Registers, code addresses and memory of a damaged stack: some callers are found or none, and nothing is read that is not there. */
TEST(noise_gives_no_fault, "O-05")
{
    static struct unwind unwind;
    static const uintptr_t codes[] = {
        (uintptr_t)on_sit, (uintptr_t)look, (uintptr_t)tr__symbol_find, (uintptr_t)poll};
    uint64_t random = 20;
    for (int i = 0; i < NOISES; i++) {
        uintptr_t stack = (uintptr_t)&random - hash_mix(++random) % 4096;
        for (size_t j = 0; j < UNWIND_REGISTERS; j++)
            unwind.registers.values[j] = stack + hash_mix(++random) % (i % 2 ? 4096 : UINT64_MAX);
        unwind.registers.known = hash_mix(++random);
        unwind.copied = stack;
        unwind.copy_size = tr__own_memory(stack, unwind.copy, sizeof unwind.copy);
        for (size_t j = 0; j < unwind.copy_size; j++)
            unwind.copy[j] ^= hash_mix(random + j) % 64 == 0;
        if (i % 8)
            tr__unwind_set_sp(&unwind, stack);
        unwind.pc = codes[hash_mix(++random) % 4];
        unwind.pc += hash_mix(++random) % 256;
        unwind.is_caller = i % 3 == 0;
        for (int j = 0; j < FRAMES_MAX && tr__unwind_step(&unwind); j++)
            ck_assert_uint_ne(unwind.pc, 0);
    }
}

SUITE("os: stack look", noise_gives_no_fault, a_thread_that_waits_is_seen_and_not_disturbed,
      a_thread_that_computes_is_seen_if_it_takes_signals, a_thread_that_takes_no_signals_gets_none)
