/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The virtual platform.
 */
#include "os/virtual.h"

#include "base/assert.h"
#include "os/file_read.h"
#include "os/memory.h"
#include "os/socket_file.h"
#include "os/virtual_file.h"
#include "os/virtual_io.h"
#include "os/virtual_names.h"
#include "os/virtual_process.h"
#include "os/virtual_signal.h"
#include "os/virtual_socket.h"

#include <stdio.h>
#include <string.h>

#define MONO_START TR_HOUR
/* 2024-01-01T00:00:00Z. */
#define WALL_START (INT64_C(1704067200) * TR_SECOND)

/*
 * How many bytes of a new block are filled. AddressSanitizer maps new pages for each large block; there, filling whole
 * blocks took a fifth of the time of tests with a kit, so only the first page is filled. Other builds fill everything.
 */
#if defined(__SANITIZE_ADDRESS__)
#define FILLED_MAX ((size_t)4096)
#else
#define FILLED_MAX SIZE_MAX
#endif

/* The head before each allocated block. Its size keeps the alignment of 16. */
struct block {
    struct list link; /* in virtual_platform.blocks, oldest first */
    size_t size;
    uint64_t number;
};
_Static_assert(sizeof(struct block) % 16 == 0, "blocks keep the alignment of malloc");

struct virtual_parker {
    /* must be first: io_watch finds the watches by the address of the parker */
    struct virtual_watches watches;
    struct list link; /* in virtual_platform.parkers */
    bool is_woken;
};

_Static_assert(offsetof(struct virtual_parker, watches) == 0, "io_watch finds it by the parker");

/* Returns the parker of this platform behind a tr_parker. */
static struct virtual_parker *parker_of(tr_parker *parker)
{
    return (struct virtual_parker *)(void *)parker;
}

static struct virtual_platform *virtual_of(const tr_platform *platform)
{
    return (struct virtual_platform *)(uintptr_t)platform;
}

static tr_time virtual_mono_now(const tr_platform *platform)
{
    return virtual_of(platform)->mono;
}

static tr_time virtual_wall_now(const tr_platform *platform)
{
    const struct virtual_platform *virtual = virtual_of(platform);
    return virtual->mono + virtual->wall_offset;
}

static uint64_t virtual_random(const tr_platform *platform)
{
    return rng_next(&virtual_of(platform)->rng);
}

static bool allocation_is_refused(struct virtual_platform *virtual)
{
    virtual->allocations++;
    if (virtual->fail_at == 0 || virtual->allocations < virtual->fail_at)
        return false;
    if (!virtual->fail_after)
        virtual->fail_at = 0;
    virtual->refusals++;
    return true;
}

static void block_free(struct virtual_platform *virtual, struct block *block)
{
    list_remove(&block->link);
    virtual->live_blocks--;
    virtual->live_bytes -= block->size;
    tr__os_resize(block, 0);
}

static void *virtual_resize(const tr_platform *platform, void *memory, size_t size)
{
    struct virtual_platform *virtual = virtual_of(platform);
    struct block *old = memory ? (struct block *)memory - 1 : NULL;
    if (size == 0) {
        if (old)
            block_free(virtual, old);
        return NULL;
    }
    if (allocation_is_refused(virtual) || size > SIZE_MAX - sizeof(struct block))
        return NULL;
    /* A resize always moves the block, so that tests find code that uses the old address. */
    struct block *block = tr__os_resize(NULL, sizeof *block + size);
    if (!block)
        return NULL;
    block->size = size;
    block->number = virtual->allocations;
    list_push_last(&virtual->blocks, &block->link);
    virtual->live_blocks++;
    virtual->live_bytes += size;
    if (virtual->live_bytes > virtual->peak_bytes)
        virtual->peak_bytes = virtual->live_bytes;
    /* Fill the memory, so that it is never zero by chance. */
    memset(block + 1, 0xa5, size < FILLED_MAX ? size : FILLED_MAX);
    if (old) {
        memcpy(block + 1, memory, old->size < size ? old->size : size);
        block_free(virtual, old);
    }
    return block + 1;
}

static void line_echo(const struct virtual_platform *virtual, const struct virtual_line *line)
{
    static const char *const names[] = {"DEBUG", "INFO ", "WARN ", "ERROR"};
    size_t index = (size_t)line->level;
    (void)fprintf(stderr,
                  "kit %.3fs %s %s%s%s\n",
                  (double)(virtual->mono - MONO_START) / (double)TR_SECOND,
                  index < sizeof names / sizeof *names ? names[index] : "?",
                  line->path,
                  line->path[0] ? ": " : "",
                  line->text);
}

static void virtual_log(const tr_platform *platform, tr_level level, const char *path,
                        const char *text)
{
    struct virtual_platform *virtual = virtual_of(platform);
    struct virtual_line *line = &virtual->lines[virtual->lines_count++ % VIRTUAL_LOG_LINES];
    line->level = level;
    (void)snprintf(line->path, sizeof line->path, "%s", path ? path : "");
    (void)snprintf(line->text, sizeof line->text, "%s", text);
    if (virtual->echo && level >= virtual->echo_least)
        line_echo(virtual, line);
}

static void virtual_log_line(const tr_platform *platform, tr_level level, const char *line,
                             size_t size)
{
    char text[sizeof((struct virtual_line *)0)->text];
    (void)snprintf(text, sizeof text, "%.*s", (int)(size < sizeof text ? size : sizeof text), line);
    virtual_log(platform, level, NULL, text);
}

static unsigned virtual_cpu_count(const tr_platform *platform)
{
    return virtual_of(platform)->cpu_count;
}

static tr_status virtual_thread_start(const tr_platform *platform, const char *name,
                                      void (*main)(void *context), void *context,
                                      tr_thread **thread)
{
    (void)platform;
    (void)name;
    (void)main;
    (void)context;
    (void)thread;
    return TR_NOT_SUPPORTED;
}

static tr_time virtual_thread_cpu(const tr_platform *platform, const tr_thread *thread)
{
    (void)platform;
    (void)thread;
    return -1;
}

static size_t virtual_thread_stack(const tr_platform *platform, const tr_thread *thread,
                                   uintptr_t last, uintptr_t *frames, size_t max)
{
    (void)platform;
    (void)thread;
    (void)last;
    (void)frames;
    (void)max;
    return 0;
}

static void virtual_thread_join(const tr_platform *platform, tr_thread *thread)
{
    (void)platform;
    (void)thread;
    TR_NOT_REACHED("the virtual platform has no threads");
}

static uint64_t virtual_thread_id(const tr_platform *platform)
{
    (void)platform;
    return 1;
}

static void virtual_yield(const tr_platform *platform)
{
    virtual_of(platform)->yields++;
}

static tr_status virtual_parker_new(const tr_platform *platform, tr_parker **parker)
{
    struct virtual_platform *virtual = virtual_of(platform);
    struct virtual_parker *made = virtual_resize(platform, NULL, sizeof *made);
    if (!made)
        return TR_NO_MEMORY;
    *made = (struct virtual_parker){.is_woken = false};
    tr__virtual_watches_init(&made->watches);
    list_push_last(&virtual->parkers, &made->link);
    *parker = (tr_parker *)(void *)made;
    return TR_OK;
}

static void virtual_parker_free(const tr_platform *platform, tr_parker *parker)
{
    if (!parker)
        return;
    tr__virtual_watches_deinit(&parker_of(parker)->watches);
    list_remove(&parker_of(parker)->link);
    virtual_resize(platform, parker, 0);
}

static void virtual_park(const tr_platform *platform, tr_parker *parker, tr_time deadline)
{
    struct virtual_platform *virtual = virtual_of(platform);
    virtual->parks++;
    while (!parker_of(parker)->is_woken && virtual->mono < deadline &&
           !tr__virtual_has_event(virtual, parker)) {
        if (!virtual->on_park || !virtual->on_park(virtual->on_park_context, deadline))
            break;
    }
    parker_of(parker)->is_woken = false;
}

static void virtual_wake(const tr_platform *platform, tr_parker *parker)
{
    virtual_of(platform)->wakes++;
    parker_of(parker)->is_woken = true;
}

static int virtual_parker_fd(const tr_platform *platform, tr_parker *parker)
{
    (void)platform;
    (void)parker;
    return -1;
}

static void virtual_parker_alarm(const tr_platform *platform, tr_parker *parker, tr_time deadline)
{
    (void)platform;
    (void)parker;
    /* `deadline` is for the descriptor of a parker, and virtual parkers have no descriptor */
    (void)deadline;
}

static const tr_platform virtual_table = {
    .size = sizeof(tr_platform),
    .mono_now = virtual_mono_now,
    .wall_now = virtual_wall_now,
    .random = virtual_random,
    .resize = virtual_resize,
    .log = virtual_log,
    .log_line = virtual_log_line,
    .cpu_count = virtual_cpu_count,
    .thread_start = virtual_thread_start,
    .thread_join = virtual_thread_join,
    .thread_id = virtual_thread_id,
    .yield = virtual_yield,
    .parker_new = virtual_parker_new,
    .parker_free = virtual_parker_free,
    .park = virtual_park,
    .wake = virtual_wake,
    .parker_fd = virtual_parker_fd,
    .thread_cpu = virtual_thread_cpu,
    .thread_stack = virtual_thread_stack,
    .parker_alarm = virtual_parker_alarm,
    .socket_open = tr__virtual_socket_open,
    .socket_outcome = tr__virtual_socket_outcome,
    .socket_accept = tr__virtual_socket_accept,
    .socket_receive = tr__virtual_socket_receive,
    .socket_send = tr__virtual_socket_send,
    .socket_receive_many = tr__virtual_socket_receive_many,
    .socket_send_many = tr__virtual_socket_send_many,
    .socket_finish = tr__virtual_socket_finish,
    .socket_close = tr__virtual_socket_close,
    .socket_address = tr__virtual_socket_address,
    .io_watch = tr__virtual_io_watch,
    /* virtual watches report all changes, so this function is the same as for io_watch */
    .io_watch_input = tr__virtual_io_watch,
    .io_watch_output = tr__virtual_io_watch_output,
    .io_unwatch = tr__virtual_io_unwatch,
    .io_poll = tr__virtual_io_poll,
    .resolve = tr__virtual_resolve,
    .process_start = tr__virtual_process_start,
    .process_signal = tr__virtual_process_signal,
    .process_reap = tr__virtual_process_reap,
    .signals_open = tr__virtual_signals_open,
    .signals_read = tr__virtual_signals_read,
    .signals_close = tr__virtual_signals_close,
    .file_open = tr__virtual_file_open,
    .file_size = tr__virtual_file_size,
    .file_read = tr__virtual_file_read,
    .file_close = tr__real_file_close,
    .socket_file = tr__virtual_socket_file,
    .socket_file_remove = tr__virtual_socket_file_remove,
};

struct virtual_platform *tr__virtual_new(uint64_t seed)
{
    struct virtual_platform *virtual = tr__os_resize(NULL, sizeof *virtual);
    if (!virtual)
        return NULL;
    memset(virtual, 0, sizeof *virtual);
    virtual->table = virtual_table;
    virtual->cpu_count = 1;
    virtual->mono = MONO_START;
    virtual->wall_offset = WALL_START - MONO_START;
    rng_init(&virtual->rng, seed);
    list_init(&virtual->blocks);
    list_init(&virtual->parkers);
    tr__virtual_net_init(&virtual->net, &virtual->table, seed);
    return virtual;
}

void tr__virtual_free(struct virtual_platform *virtual)
{
    tr__os_resize(virtual, 0);
}

void tr__virtual_advance(struct virtual_platform *virtual, tr_time duration)
{
    TR_ASSERT(duration >= 0);
    TR_ASSERT(duration <= INT64_MAX - virtual->mono);
    virtual->mono += duration;
}

void tr__virtual_advance_to(struct virtual_platform *virtual, tr_time mono)
{
    if (mono > virtual->mono)
        virtual->mono = mono;
}

void tr__virtual_wall_jump(struct virtual_platform *virtual, tr_time difference)
{
    virtual->wall_offset += difference;
}

void tr__virtual_fail_allocation(struct virtual_platform *virtual, uint64_t n, bool and_all_after)
{
    virtual->fail_at = n ? virtual->allocations + n : 0;
    virtual->fail_after = and_all_after;
}

size_t tr__virtual_live_blocks(const struct virtual_platform *virtual)
{
    return virtual->live_blocks;
}

size_t tr__virtual_live_bytes(const struct virtual_platform *virtual)
{
    return virtual->live_bytes;
}

uint64_t tr__virtual_oldest_block(const struct virtual_platform *virtual)
{
    struct list *link = list_first(&virtual->blocks);
    return link ? LIST_OWNER(link, struct block, link)->number : 0;
}

const struct virtual_line *tr__virtual_line(const struct virtual_platform *virtual, size_t n)
{
    if (n >= virtual->lines_count || n >= VIRTUAL_LOG_LINES)
        return NULL;
    return &virtual->lines[(virtual->lines_count - 1 - n) % VIRTUAL_LOG_LINES];
}

bool tr__virtual_has_line(const struct virtual_platform *virtual, const char *text)
{
    const struct virtual_line *line;
    for (size_t n = 0; (line = tr__virtual_line(virtual, n)) != NULL; n++) {
        if (strstr(line->text, text))
            return true;
    }
    return false;
}
