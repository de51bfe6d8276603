/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How long commits take at worst while 32 threads write without a pause: the store against a bare loop that
 * writes as many bytes as a group of the store had on average, and calls fdatasync. Both take turns of two seconds
 * in the same run. With keys to destroy a turn of the store lasts until all of them are destroyed, which were put
 * before it; there are as many turns as fill the time, and that of the loop is as long.
 * Prints percentiles, the longest one, and how long the log of the store was. Fails if the p99.9 of the store is more
 * than five times that of the loop, if its longest commit took 50 ms longer than the longest of the loop, or if the
 * log was too long.
 *
 *     build/micro/commit_tail DIRECTORY [seconds] [keys to destroy meanwhile]
 *
 * The directory must not be there; it is removed at the end.
 */
#include "store/disk.h"
#include "store/driver.h"
#include "store/batch.h"
#include "store/entry.h"
#include "store/store.h"

#include "os/atomic.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 32, KEYS = 200, STATE = 64, US_MAX = 4000000, BARE_FILE = 16 << 20 };
enum { RATIO_MAX = 5, LONGER_MAX_MS = 50 };

static const tr_platform *platform;
static struct store *store;
static char directory[256];
static atom32 is_over = {1};
static atom64 log_bytes;   /* written to the log of the store while the writers run */
static atom64 log_syncs;   /* of it */
static atom64 log_end_max; /* its greatest length */
static atom32 doomed;      /* destroys that are not done */

/* Counts by microseconds. */
struct times {
    uint64_t count;
    uint32_t by_us[US_MAX];
};
static struct times bare_times;
static struct times store_times;

static void must(bool is_true, const char *what)
{
    if (!is_true) {
        fprintf(stderr, "commit_tail: %s\n", what);
        exit(1);
    }
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void times_add(struct times *times, double seconds)
{
    size_t us = (size_t)(seconds * 1e6);
    times->by_us[us < US_MAX ? us : US_MAX - 1]++;
    times->count++;
}

static double times_ms(const struct times *times, double part)
{
    uint64_t rank = (uint64_t)((double)times->count * part);
    uint64_t seen = 0;
    for (size_t us = 0; us < US_MAX; us++) {
        seen += times->by_us[us];
        if (seen > rank || (seen == times->count && times->by_us[us]))
            return (double)us / 1000;
    }
    return 0;
}

/* ---- The bare loop ---- */

static void bare(double seconds)
{
    static char bytes[1 << 20];
    char path[300];
    uint64_t syncs = atom64_load(&log_syncs, ATOM_RELAXED);
    size_t size = (size_t)(atom64_load(&log_bytes, ATOM_RELAXED) / (syncs ? syncs : 1));
    size = size < sizeof bytes ? size : sizeof bytes;
    snprintf(path, sizeof path, "%s/bare", directory);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    must(fd >= 0, "bare open");
    for (off_t at = 0; at < BARE_FILE; at += (off_t)sizeof bytes)
        must(pwrite(fd, bytes, sizeof bytes, at) == sizeof bytes, "bare fill");
    must(fsync(fd) == 0, "bare sync");
    double begin = now_s();
    off_t at = 0;
    for (double now = begin, last = begin; now - begin < seconds; last = now) {
        memset(bytes, (int)bare_times.count, size);
        must(pwrite(fd, bytes, size, at) == (ssize_t)size, "bare write");
        must(fdatasync(fd) == 0, "bare sync");
        at = at + (off_t)(2 * size) < BARE_FILE ? at + (off_t)size : 0;
        now = now_s();
        times_add(&bare_times, now - last);
    }
    close(fd);
}

/* ---- The store ---- */

static tr_status on_io(void *context, enum store_io io, const char *file, uint64_t offset,
                       size_t size)
{
    (void)context;
    if (!strstr(file, "-log") || atom32_load(&is_over, ATOM_RELAXED))
        return TR_OK;
    if (io == STORE_IO_SYNC)
        atom64_fetch_add(&log_syncs, 1, ATOM_RELAXED);
    if (io != STORE_IO_WRITE)
        return TR_OK;
    atom64_fetch_add(&log_bytes, size, ATOM_RELAXED);
    uint64_t seen = atom64_load(&log_end_max, ATOM_RELAXED);
    while (offset + size > seen &&
           !atom64_compare_exchange(&log_end_max, &seen, offset + size, ATOM_RELAXED, ATOM_RELAXED))
        continue;
    return TR_OK;
}

/* What SQLite and the log take on the thread that commits, and passes on the one beside it. The rest is waiting. */
static const struct store_driver *real_driver;
static struct times commit_times;
static struct times restart_times;
static struct times pass_times;
static uint64_t pass_pages;

static tr_status timed_commit(struct store_session *session, struct store_batch *first,
                              struct store_why *why)
{
    double begin = now_s();
    tr_status status = real_driver->commit(session, first, why);
    if (!atom32_load(&is_over, ATOM_RELAXED))
        times_add(&commit_times, now_s() - begin);
    return status;
}

static tr_status timed_restart(struct store_session *session, bool is_cut, struct store_why *why)
{
    double begin = now_s();
    tr_status status = real_driver->restart(session, is_cut, why);
    if (!atom32_load(&is_over, ATOM_RELAXED))
        times_add(&restart_times, now_s() - begin);
    return status;
}

static tr_status timed_pass(struct store_session *session, size_t *pages, struct store_why *why)
{
    double begin = now_s();
    tr_status status = real_driver->checkpoint(session, pages, why);
    if (!atom32_load(&is_over, ATOM_RELAXED)) {
        times_add(&pass_times, now_s() - begin);
        pass_pages += *pages;
    }
    return status;
}

struct writer {
    struct store_entry *entries[KEYS];
    tr_thread *thread;
    tr_parker *parker;
    atom32 is_done;
    uint32_t *us; /* how long each commit took */
    size_t count;
    size_t room;
    uint64_t rounds;
};
static struct writer writers[THREADS];

static void on_done(void *context, struct store_batch *batch, tr_status status)
{
    struct writer *writer = context;
    must(status == TR_OK, "commit");
    tr__store_batch_free(batch);
    atom32_store(&writer->is_done, 1, ATOM_RELEASE);
    platform->wake(platform, writer->parker);
}

static void write_on(void *context)
{
    struct writer *writer = context;
    while (!atom32_load(&is_over, ATOM_RELAXED)) {
        double begin = now_s();
        struct store_batch *batch;
        must(tr__store_batch_new(writer->entries[writer->rounds % KEYS], &batch) == TR_OK, "batch");
        char *state = tr__store_batch_alloc(batch, STATE);
        memset(state, (int)writer->rounds, STATE);
        memcpy(state, &writer->rounds, sizeof writer->rounds);
        must(tr__store_put_state(batch, 1, (tr_bytes){state, STATE}) == TR_OK, "put");
        atom32_store(&writer->is_done, 0, ATOM_RELAXED);
        must(tr__store_submit(batch, on_done, writer) == TR_OK, "submit");
        while (!atom32_load(&writer->is_done, ATOM_ACQUIRE))
            platform->park(platform, writer->parker, TR_NEVER);
        writer->rounds++;
        if (writer->count == writer->room) {
            writer->room = writer->room ? 2 * writer->room : 4096;
            writer->us = realloc(writer->us, writer->room * sizeof *writer->us);
            must(writer->us, "memory");
        }
        writer->us[writer->count++] = (uint32_t)((now_s() - begin) * 1e6);
    }
}

/* Runs the writers for so long; 0: until all keys are destroyed. */
static void stored(double seconds)
{
    atom32_store(&is_over, 0, ATOM_RELAXED);
    for (int i = 0; i < THREADS; i++)
        must(platform->thread_start(platform, "w", write_on, &writers[i], &writers[i].thread) ==
                 TR_OK,
             "thread");
    double begin = now_s();
    while (now_s() - begin < seconds || atom32_load(&doomed, ATOM_ACQUIRE) > 0)
        usleep(1000);
    atom32_store(&is_over, 1, ATOM_RELAXED);
    for (int i = 0; i < THREADS; i++) {
        platform->thread_join(platform, writers[i].thread);
        for (size_t j = 0; j < writers[i].count; j++)
            times_add(&store_times, (double)writers[i].us[j] / 1e6);
        writers[i].count = 0;
    }
}

static struct store_entry *enter(const char *kind, unsigned number)
{
    char key[32];
    struct store_entry *entry;
    snprintf(key, sizeof key, "key-%u", number * 2654435761u); /* anywhere in the tables */
    must(tr__store_enter(store, kind, (tr_bytes){key, strlen(key)}, NULL, NULL, &entry) == TR_OK,
         "enter");
    return entry;
}

static void on_gone(void *context, struct store_batch *batch, tr_status status)
{
    (void)context;
    must(status == TR_OK, "destroy");
    tr__store_batch_free(batch);
    atom32_fetch_sub(&doomed, 1, ATOM_RELEASE);
}

/* Puts a state of each key, or destroys it. */
static void change_keys(unsigned count, bool is_destroy)
{
    static char state[256];
    for (unsigned i = 0; i < count; i++) {
        struct store_entry *entry = enter("doomed", i);
        struct store_batch *batch;
        must(tr__store_batch_new(entry, &batch) == TR_OK, "batch");
        tr_status status = is_destroy
                               ? tr__store_destroy(batch)
                               : tr__store_put_state(batch, 1, (tr_bytes){state, sizeof state});
        must(status == TR_OK, "put");
        atom32_fetch_add(&doomed, 1, ATOM_RELAXED);
        while (!is_destroy && atom32_load(&doomed, ATOM_ACQUIRE) > 4096)
            platform->yield(platform);
        must(tr__store_submit(batch, on_gone, NULL) == TR_OK, "submit");
        tr__store_leave(entry);
    }
}

/* One turn of the store. Returns how long it took. */
static double turn_of_writers(void)
{
    double begin = now_s();
    stored(2);
    return now_s() - begin;
}

static double turn_of_destroys(unsigned keys)
{
    change_keys(keys, false);
    while (atom32_load(&doomed, ATOM_ACQUIRE) > 0)
        usleep(1000);
    change_keys(keys, true);
    double begin = now_s();
    stored(0);
    double took = now_s() - begin;
    sleep(2); /* so that the log is cut and nothing is left to write when the loop begins */
    return took;
}

static void print_times(const char *name, const struct times *times, double seconds)
{
    printf("%-12s %9llu times,  %7.0f /s   p50 %7.2f  p99 %7.2f  p99.9 %7.2f  longest %8.2f ms\n",
           name,
           (unsigned long long)times->count,
           (double)times->count / seconds,
           times_ms(times, 0.5),
           times_ms(times, 0.99),
           times_ms(times, 0.999),
           times_ms(times, 1));
}

static void clean(void)
{
    static const char *const names[] = {"lock", "troupe.db", "troupe.db-log", "bare"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(directory);
}

int main(int argc, char **argv)
{
    must(argc >= 2, "usage: commit_tail DIRECTORY [seconds] [keys to destroy]");
    platform = tr_platform_real();
    double seconds = argc > 2 ? atof(argv[2]) : 20;
    unsigned keys = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
    snprintf(directory, sizeof directory, "%s", argv[1]);
    must(mkdir(directory, 0700) == 0, "the directory is there, or cannot be made");
    const struct store_io_hook hook = {on_io, NULL};
    struct store_driver driver = *tr__store_driver_default();
    real_driver = tr__store_driver_default();
    driver.commit = timed_commit;
    driver.restart = timed_restart;
    driver.checkpoint = timed_pass;
    struct store_options options = {.source = {.platform = platform},
                                    .path = directory,
                                    .program = "bench",
                                    .hook = &hook,
                                    .driver = &driver};
    tr_error error;
    must(tr__store_open(&options, &store, &error) == TR_OK, "store");
    for (int i = 0; i < THREADS; i++) {
        must(platform->parker_new(platform, &writers[i].parker) == TR_OK, "parker");
        for (unsigned j = 0; j < KEYS; j++)
            writers[i].entries[j] = enter("kind", (unsigned)i * KEYS + j);
    }
    stored(1); /* makes the rows, and says how large a group is */
    memset(&store_times, 0, sizeof store_times);
    memset(&commit_times, 0, sizeof commit_times);
    memset(&restart_times, 0, sizeof restart_times);
    memset(&pass_times, 0, sizeof pass_times);
    pass_pages = 0;
    double store_s = 0;
    double bare_s = 0;
    while (store_s < seconds) {
        double took = keys ? turn_of_destroys(keys) : turn_of_writers();
        store_s += took;
        bare(took);
        bare_s += took;
    }
    print_times("bare", &bare_times, bare_s);
    print_times("store", &store_times, store_s);
    double ratio = times_ms(&store_times, 0.999) / times_ms(&bare_times, 0.999);
    double longer_ms = times_ms(&store_times, 1) - times_ms(&bare_times, 1);
    uint64_t log_max = atom64_load(&log_end_max, ATOM_RELAXED);
    bool is_met = ratio <= RATIO_MAX && longer_ms <= LONGER_MAX_MS && log_max <= TR_STORE_LOG_MAX;
    printf("p99.9 %.2f x, longest %.1f ms more; %.1f KiB a group; the log was at most %.1f MiB; "
           "wanted: %d x, %d ms, %d MiB   %s\n",
           ratio,
           longer_ms,
           (double)atom64_load(&log_bytes, ATOM_RELAXED) / 1024 /
               (double)atom64_load(&log_syncs, ATOM_RELAXED),
           (double)log_max / (1 << 20),
           RATIO_MAX,
           LONGER_MAX_MS,
           TR_STORE_LOG_MAX >> 20,
           is_met ? "yes" : "NO");
    print_times("SQLite", &commit_times, store_s);
    print_times("log again", &restart_times, store_s);
    print_times("passes", &pass_times, store_s);
    printf("%.0f pages a pass\n",
           (double)pass_pages / (double)(pass_times.count + !pass_times.count));
    for (int i = 0; i < THREADS; i++) {
        for (unsigned j = 0; j < KEYS; j++)
            tr__store_leave(writers[i].entries[j]);
        platform->parker_free(platform, writers[i].parker);
        free(writers[i].us);
    }
    tr__store_close(store);
    clean();
    return is_met ? 0 : 1;
}
