/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Times the store under durable actors: commits against a bare loop of SQLite (WAL, synchronous=FULL,
 * changing content) in the same run, by one writer and by a thousand at once; and how long it takes to
 * load a state of 256 bytes when a thousand to a million actors are stored.
 *
 *     build/micro/store commit DIRECTORY [seconds]      build/micro/store load DIRECTORY [actors]...
 *
 * The directory must not be there; it is removed at the end. Commits are medians of five rounds.
 */
#include "store/batch.h"
#include "store/entry.h"
#include "store/read.h"
#include "store/store.h"

#include "os/atomic.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STATE = 256, MANY = 1000, ROUNDS = 5, READS = 20000 };

static const tr_platform *platform;
static char directory[256];

static void must(bool is_true, const char *what)
{
    if (!is_true) {
        fprintf(stderr, "store: %s\n", what);
        exit(1);
    }
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare);
    return numbers[count / 2];
}

static void fill_state(char state[STATE], uint64_t number)
{
    memset(state, (int)('a' + number % 26), STATE);
    memcpy(state, &number, sizeof number);
}

/* ---- The bare loop ---- */

static sqlite3 *bare;
static sqlite3_stmt *bare_update;

static void bare_open(void)
{
    char path[300];
    snprintf(path, sizeof path, "%s/bare.db", directory);
    must(sqlite3_open(path, &bare) == SQLITE_OK, "bare open");
    must(sqlite3_exec(bare,
                      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                      "CREATE TABLE t (id INTEGER PRIMARY KEY, name BLOB UNIQUE, state BLOB);"
                      "INSERT INTO t VALUES (1, 'x', 'x')",
                      NULL,
                      NULL,
                      NULL) == SQLITE_OK,
         "bare tables");
    must(sqlite3_prepare_v2(bare, "UPDATE t SET state = ?1 WHERE id = 1", -1, &bare_update, NULL) ==
             SQLITE_OK,
         "bare statement");
}

static double bare_rate(double seconds)
{
    char state[STATE];
    uint64_t count = 0;
    double begin = now_s();
    do {
        fill_state(state, count++);
        sqlite3_bind_blob(bare_update, 1, state, STATE, SQLITE_STATIC);
        must(sqlite3_step(bare_update) == SQLITE_DONE, "bare commit");
        sqlite3_reset(bare_update);
    } while (now_s() - begin < seconds);
    return (double)count / (now_s() - begin);
}

/* ---- Commits ---- */

struct writer {
    struct store_entry *entry;
    uint64_t rounds;
};

static struct store *store;
static struct writer writers[MANY];
static atom32 is_over;
static atom32 running;
static tr_parker *parker;

static void submit(struct writer *writer);

static void on_done(void *context, struct store_batch *batch, tr_status status)
{
    struct writer *writer = context;
    must(status == TR_OK, "commit");
    writer->rounds++;
    tr__store_batch_free(batch);
    if (!atom32_load(&is_over, ATOM_RELAXED)) {
        submit(writer);
        return;
    }
    if (atom32_fetch_sub(&running, 1, ATOM_ACQ_REL) == 1)
        platform->wake(platform, parker);
}

static void submit(struct writer *writer)
{
    struct store_batch *batch;
    must(tr__store_batch_new(writer->entry, &batch) == TR_OK, "batch");
    char *state = tr__store_batch_alloc(batch, STATE);
    must(state != NULL, "memory of a batch");
    fill_state(state, writer->rounds);
    must(tr__store_put_state(batch, 1, (tr_bytes){state, STATE}) == TR_OK, "put");
    must(tr__store_submit(batch, on_done, writer) == TR_OK, "submit");
}

static atom32 one_is_done;

static void on_one_done(void *context, struct store_batch *batch, tr_status status)
{
    struct writer *writer = context;
    must(status == TR_OK, "commit");
    writer->rounds++;
    tr__store_batch_free(batch);
    atom32_store(&one_is_done, 1, ATOM_RELEASE);
    platform->wake(platform, parker);
}

/* As a worker waits that has nothing else to do: polls for as long as recent commits took, then sleeps. */
static void await_one(void)
{
    double end = now_s() + (double)tr__store_await_ns(store) / 1e9;
    while (!atom32_load(&one_is_done, ATOM_ACQUIRE) && now_s() < end)
        platform->yield(platform);
    while (!atom32_load(&one_is_done, ATOM_ACQUIRE))
        platform->park(platform, parker, TR_NEVER);
}

/* One writer on a thread of its own, which waits for each commit. */
static double one_rate(double seconds)
{
    struct writer *writer = &writers[0];
    uint64_t before = writer->rounds;
    double begin = now_s();
    do {
        struct store_batch *batch;
        must(tr__store_batch_new(writer->entry, &batch) == TR_OK, "batch");
        char *state = tr__store_batch_alloc(batch, STATE);
        must(state != NULL, "memory of a batch");
        fill_state(state, writer->rounds);
        must(tr__store_put_state(batch, 1, (tr_bytes){state, STATE}) == TR_OK, "put");
        atom32_store(&one_is_done, 0, ATOM_RELAXED);
        must(tr__store_submit(batch, on_one_done, writer) == TR_OK, "submit");
        await_one();
    } while (now_s() - begin < seconds);
    return (double)(writer->rounds - before) / (now_s() - begin);
}

static uint64_t all_rounds(void)
{
    uint64_t rounds = 0;
    for (int i = 0; i < MANY; i++)
        rounds += writers[i].rounds;
    return rounds;
}

static double many_rate(double seconds)
{
    uint64_t before = all_rounds();
    atom32_store(&is_over, 0, ATOM_RELAXED);
    atom32_store(&running, MANY, ATOM_RELAXED);
    double begin = now_s();
    for (int i = 0; i < MANY; i++)
        submit(&writers[i]);
    usleep((useconds_t)(seconds * 1e6));
    atom32_store(&is_over, 1, ATOM_RELAXED);
    while (atom32_load(&running, ATOM_ACQUIRE) > 0)
        platform->park(platform, parker, TR_NEVER);
    return (double)(all_rounds() - before) / (now_s() - begin);
}

static void store_open(void)
{
    struct store_options options = {
        .source = {.platform = platform}, .path = directory, .program = "bench"};
    tr_error error;
    tr_status status = tr__store_open(&options, &store, &error);
    must(status == TR_OK, status == TR_OK ? "" : error.text);
}

static void commits(double seconds)
{
    double rates[3][ROUNDS];
    store_open();
    bare_open();
    for (int i = 0; i < MANY; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        tr_bytes bytes = {key, strlen(key)};
        must(tr__store_enter(store, "k", bytes, NULL, NULL, &writers[i].entry) == TR_OK, "enter");
    }
    (void)many_rate(0.2); /* makes the rows */
    for (int i = 0; i < ROUNDS; i++) {
        rates[0][i] = bare_rate(seconds);
        rates[1][i] = one_rate(seconds);
        rates[2][i] = many_rate(seconds);
    }
    double base = median(rates[0], ROUNDS);
    double one = median(rates[1], ROUNDS);
    double many = median(rates[2], ROUNDS);
    printf("bare SQLite, WAL, FULL    %8.0f commits/s\n", base);
    printf("store, one writer         %8.0f commits/s   %.2f x\n", one, one / base);
    printf("store, %d writers       %8.0f commits/s   %.1f x\n", MANY, many, many / base);
    for (int i = 0; i < MANY; i++)
        tr__store_leave(writers[i].entry);
    sqlite3_finalize(bare_update);
    sqlite3_close(bare);
    tr__store_close(store);
}

/* ---- Loading ---- */

static void on_filled(void *context, struct store_batch *batch, tr_status status)
{
    (void)context;
    must(status == TR_OK, "fill");
    tr__store_batch_free(batch);
    atom32_fetch_sub(&running, 1, ATOM_RELEASE);
}

static void fill(uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        char key[32];
        struct store_entry *entry;
        struct store_batch *batch;
        snprintf(key, sizeof key, "actor-%llu", (unsigned long long)i);
        tr_bytes bytes = {key, strlen(key)};
        must(tr__store_enter(store, "kind", bytes, NULL, NULL, &entry) == TR_OK, "enter");
        must(tr__store_batch_new(entry, &batch) == TR_OK, "batch");
        char *state = tr__store_batch_alloc(batch, STATE);
        must(state != NULL, "memory of a batch");
        fill_state(state, i);
        must(tr__store_put_state(batch, 1, (tr_bytes){state, STATE}) == TR_OK, "put");
        while (atom32_fetch_add(&running, 1, ATOM_ACQ_REL) > 4096) {
            atom32_fetch_sub(&running, 1, ATOM_RELAXED);
            platform->yield(platform);
        }
        must(tr__store_submit(batch, on_filled, NULL) == TR_OK, "submit");
        tr__store_leave(entry);
    }
    while (atom32_load(&running, ATOM_ACQUIRE) > 0)
        platform->yield(platform);
}

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    must(file && fscanf(file, "%*d %ld", &pages) == 1, "statm");
    fclose(file);
    return pages * 4;
}

static void load(uint64_t count)
{
    static double times[READS];
    struct store_reader *reader;
    must(tr__store_reader_new(store, &reader) == TR_OK, "reader");
    uint64_t random = 88172645463325252u;
    for (int i = -1000; i < READS; i++) {
        char key[32];
        struct store_state state;
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        snprintf(key, sizeof key, "actor-%llu", (unsigned long long)(random % count));
        tr_bytes bytes = {key, strlen(key)};
        double begin = now_s();
        must(tr__store_read_state(reader, "kind", bytes, &state) == TR_OK, "read");
        if (i >= 0)
            times[i] = now_s() - begin;
        must(state.bytes.size == STATE, "size");
    }
    double p50 = median(times, READS);
    printf("%8llu actors: load p50 %5.1f us, p99 %5.1f us; resident %ld KiB\n",
           (unsigned long long)count,
           p50 * 1e6,
           times[READS * 99 / 100] * 1e6,
           resident_kib());
    fflush(stdout);
    tr__store_reader_free(reader);
}

static void loads(int count, char **numbers)
{
    static const uint64_t defaults[] = {1000, 10000, 100000, 1000000};
    uint64_t filled = 0;
    store_open();
    for (int i = 0; i < (count ? count : 4); i++) {
        uint64_t next = count ? strtoull(numbers[i], NULL, 10) : defaults[i];
        double begin = now_s();
        fill(filled, next);
        double filled_at = now_s();
        if (next > filled)
            printf("%.0f first commits/s; ", (double)(next - filled) / (filled_at - begin));
        filled = next > filled ? next : filled;
        /* As after a restart: nothing is in the log. */
        tr__store_close(store);
        store_open();
        load(next);
    }
    tr__store_close(store);
}

int main(int argc, char **argv)
{
    must(argc >= 3, "usage: store commit|load DIRECTORY ...");
    platform = tr_platform_real();
    snprintf(directory, sizeof directory, "%s", argv[2]);
    must(mkdir(directory, 0700) == 0, "the directory is there, or cannot be made");
    must(platform->parker_new(platform, &parker) == TR_OK, "parker");
    if (strcmp(argv[1], "commit") == 0)
        commits(argc > 3 ? atof(argv[3]) : 1.0);
    else
        loads(argc - 3, argv + 3);
    platform->parker_free(platform, parker);
    static const char *const names[] = {
        "lock", "troupe.db", "troupe.db-log", "bare.db", "bare.db-wal", "bare.db-shm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(directory);
    return 0;
}
