/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Cuts the power of a disk in many moments of a trace, and lets `work look` say what a store makes of the rest.
 *
 *     cut ROOT TRACE SCRATCH WORK RECORDER SEED CUTS STOP_AFTER
 *
 * ROOT is the directory that was recorded; the store is ROOT/store. What the disk has after a cut:
 *
 * - What a sync covered that had ended: all of it.
 * - Else each sector of 512 bytes has what it had at some moment since the last sync, each another one.
 * - The length of a file is that of some such moment. A truncation takes away the sectors that it cut off.
 * - Names that were made, removed or renamed since the last sync of their directory: any of these changes.
 *
 * Then the store must open, and each key must have exactly what one of its steps has left: none before the
 * last that was acknowledged, and none that was not asked for. The epoch must be a later one.
 *
 * A backup that was reported must be there, open, and have all steps that were acknowledged before it began; so must one
 * that is there before it was reported.
 *
 * Every sixth cut damages some pages of the database besides. Then there may be errors, but nothing
 * that is wrong. After every fortieth the opening itself is recorded, and the power is cut in there as well.
 */
#define _GNU_SOURCE
#include "disk.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEYS 36

/* ---- What was promised. ---- */

struct key {
    char *steps; /* steps[n]: p or d */
    uint64_t sent, acked;
};
/* A backup. */
struct copy {
    uint64_t number;
    bool is_done;
    uint64_t acked[KEYS]; /* before it began */
    uint64_t epoch;
};
struct promise {
    struct key keys[KEYS];
    uint64_t epoch;
    uint64_t acks;
    struct copy copies[4];
    int copy_count;
};

/* What a key has after a step. */
static void after(const struct key *key, uint64_t step, uint64_t *first, uint64_t *last)
{
    *first = *last = 0;
    for (; step > 0 && key->steps[step] == 'p'; step--) {
        *first = step;
        *last = *last ? *last : step;
    }
}

static uint64_t match(const struct key *key, uint64_t acked, uint64_t first, uint64_t last)
{
    for (uint64_t step = acked; step <= key->sent; step++) {
        uint64_t f, l;
        after(key, step, &f, &l);
        if (f == first && l == last)
            return step;
    }
    return UINT64_MAX;
}

static void hear_copy(struct promise *promise, const char *line)
{
    uint64_t number;
    if (sscanf(line, "%*c %" SCNu64, &number) != 1)
        return;
    int i = 0;
    while (i < promise->copy_count && promise->copies[i].number != number)
        i++;
    struct copy *copy = &promise->copies[i];
    if (line[0] == 'B') {
        if (i == 4)
            die("too many backups");
        *copy = (struct copy){.number = number, .epoch = promise->epoch};
        for (int j = 0; j < KEYS; j++)
            copy->acked[j] = promise->keys[j].acked;
        promise->copy_count = i + 1;
    } else if (line[0] == 'D' && i < promise->copy_count) {
        copy->is_done = true;
    } else if (line[0] == 'X' && i < promise->copy_count) {
        *copy = promise->copies[--promise->copy_count];
    }
}

static void hear(struct promise *promise, const char *data, size_t size)
{
    char line[128], what;
    unsigned number;
    uint64_t step, last;
    snprintf(line, sizeof line, "%.*s", (int)(size < 127 ? size : 127), data);
    if (sscanf(line, "S %u %" SCNu64 " %c", &number, &step, &what) == 3) {
        struct key *key = &promise->keys[number];
        key->steps = must(realloc(key->steps, step + 2));
        key->steps[step] = what;
        key->sent = step;
    } else if (sscanf(line, "A %u %" SCNu64, &number, &step) == 2) {
        if (step > promise->keys[number].acked)
            promise->keys[number].acked = step;
        promise->acks++;
    } else if (sscanf(line, "L %u %" SCNu64 " %" SCNu64, &number, &step, &last) == 3) {
        struct key *key = &promise->keys[number];
        uint64_t found = match(key, key->acked, step, last);
        if (found != UINT64_MAX)
            promise->keys[number].acked = found;
    } else if (sscanf(line, "G %" SCNu64, &step) == 1 && step > promise->epoch)
        promise->epoch = step;
    hear_copy(promise, line);
}

/* ---- Looking. ---- */

static const char *work_path, *recorder, *scratch;
extern char **environ;

/* Looks at the store, or at a copy of it. Gives what is wrong, or NULL. */
static const char *look(const char *root, const char *trace, const struct promise *promise,
                        const struct copy *copy, bool is_damaged, bool *is_refused)
{
    static char wrong[400], line[400];
    char store[PATH * 2], errors[PATH * 2], preload[PATH * 2], root_[PATH * 2], trace_[PATH * 2];
    char *arguments[] = {(char *)(uintptr_t)work_path, "look", store, NULL};
    char *variables[8] = {NULL};
    int ends[2], status, heard = 0;
    pid_t pid;
    posix_spawn_file_actions_t actions;
    if (copy)
        snprintf(store, sizeof store, "%s/copy%" PRIu64, root, copy->number);
    else
        snprintf(store, sizeof store, "%s/store", root);
    snprintf(errors, sizeof errors, "%s/errors", scratch);
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", recorder);
    snprintf(root_, sizeof root_, "CUTS_ROOT=%s", root);
    if (trace) {
        snprintf(trace_, sizeof trace_, "CUTS_TRACE=%s", trace);
        variables[0] = preload, variables[1] = root_, variables[2] = trace_;
    }
    if (pipe(ends) != 0)
        die("pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    if (posix_spawn(&pid, work_path, &actions, NULL, arguments, variables) != 0)
        die(work_path);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *input = fdopen(ends[0], "r");
    wrong[0] = 0;
    *is_refused = false;
    while (fgets(line, sizeof line, input)) {
        unsigned number;
        uint64_t first, last, epoch;
        if (sscanf(line, "%u", &number) != 1 || number >= KEYS)
            continue;
        const struct key *key = &promise->keys[number];
        heard++;
        if (sscanf(line, "%u %" SCNu64 " %" SCNu64 " %" SCNu64, &number, &first, &last, &epoch) ==
            4) {
            uint64_t acked = copy ? copy->acked[number] : key->acked;
            if (match(key, acked, first, last) == UINT64_MAX && !wrong[0])
                snprintf(wrong,
                         sizeof wrong,
                         "key %u has steps %" PRIu64 " to %" PRIu64 "; %" PRIu64
                         " was acknowledged, %" PRIu64 " asked for",
                         number,
                         first,
                         last,
                         acked,
                         key->sent);
            if (epoch <= (copy ? copy->epoch : promise->epoch) && !wrong[0])
                snprintf(
                    wrong, sizeof wrong, "epoch %" PRIu64 " after %" PRIu64, epoch, promise->epoch);
        } else if (strstr(line, " error ") && is_damaged)
            *is_refused = true;
        else if (!wrong[0])
            snprintf(wrong, sizeof wrong, "key %.300s", line);
    }
    fclose(input);
    if (waitpid(pid, &status, 0) != pid)
        die("waitpid");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3 && is_damaged && !heard)
        *is_refused = true;
    else if (status != 0 || heard != KEYS) {
        FILE *file = fopen(errors, "r");
        size_t size = file ? fread(line, 1, sizeof line - 1, file) : 0;
        line[size] = 0;
        if (file)
            fclose(file);
        snprintf(wrong,
                 sizeof wrong,
                 "it does not open (status %d, %d keys): %.300s",
                 status,
                 heard,
                 line);
    }
    return wrong[0] ? wrong : NULL;
}

/* ---- Many cuts. ---- */

struct trace {
    const uint8_t *data;
    size_t size;
    size_t *starts; /* of each record */
    size_t count;
};

static struct trace map(const char *path)
{
    struct trace trace = {0};
    struct stat stat_;
    size_t room = 0;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &stat_) != 0)
        die(path);
    trace.size = (size_t)stat_.st_size;
    trace.data = trace.size ? mmap(NULL, trace.size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    close(fd);
    for (size_t at = 0; at < trace.size;) {
        struct cuts_record record;
        if (trace.count == room)
            trace.starts =
                must(realloc(trace.starts, (room = room * 2 + 1024) * sizeof *trace.starts));
        trace.starts[trace.count++] = at;
        memcpy(&record, trace.data + at, sizeof record);
        at += sizeof record + record.bytes;
    }
    return trace;
}

static uint64_t cut_count, damaged_count, refused_count, inner_count, failures, stop_after;
static uint64_t copy_cuts; /* backups that were looked at */

/* Gives what is wrong with the backups, or NULL. */
static const char *look_at_copies(const char *root, const struct promise *promise)
{
    static char text[500];
    for (int i = 0; i < promise->copy_count; i++) {
        const struct copy *copy = &promise->copies[i];
        struct stat stat_;
        bool is_refused;
        char path[PATH * 2];
        snprintf(path, sizeof path, "%s/copy%" PRIu64, root, copy->number);
        bool is_there = stat(path, &stat_) == 0;
        if (!is_there && !copy->is_done)
            continue;
        const char *wrong =
            is_there ? look(root, NULL, promise, copy, false, &is_refused) : "it is not there";
        copy_cuts++;
        if (!wrong)
            continue;
        snprintf(text, sizeof text, "backup %" PRIu64 ": %.400s", copy->number, wrong);
        return text;
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void sweep(struct disk *disk, struct promise *promise, const char *path, uint64_t cuts,
                  uint64_t seed, int depth)
{
    struct trace trace = map(path);
    uint64_t *places = must(malloc((cuts + 1) * sizeof *places)),
             *edges = must(malloc((trace.count + 1) * sizeof *edges));
    uint64_t *rares = must(malloc((trace.count + 1) * sizeof *rares));
    size_t rare_count = 0, edge_count = 0, opens[64], open_count = 0, next = 0;
    char image[PATH * 2], inner[PATH * 2];
    struct cuts_record record;
    snprintf(image, sizeof image, "%s/image%d", scratch, depth);
    snprintf(inner, sizeof inner, "%s/trace%d", scratch, depth);
    for (size_t i = 0; i < trace.count; i++) {
        memcpy(&record, trace.data + trace.starts[i], sizeof record);
        const uint8_t *data = trace.data + trace.starts[i] + sizeof record;
        if (record.kind == CUTS_MARK && strchr("OCBD", data[0]) && open_count < 64)
            opens[open_count++] = i;
        if (record.kind == CUTS_SYNC_END ||
            (record.kind == CUTS_MARK && (data[0] == 'A' || data[0] == 'L')))
            edges[edge_count++] = i;
        if (record.kind == CUTS_SIZE || record.kind == CUTS_MAKE || record.kind == CUTS_RENAME ||
            record.kind == CUTS_REMOVE)
            rares[rare_count++] = i;
    }
    state = seed;
    for (uint64_t i = 0; i < cuts; i++) {
        /* After how many records: anywhere; around a sync or an answer; soon after an opening or a closing; around
         * what seldom happens. */
        uint64_t how = depth ? chance(2) * 9 : chance(10), place = chance(trace.count + 1);
        if (how < 4 && edge_count)
            place = edges[chance(edge_count)] + chance(3);
        else if (how < 7 && open_count)
            place = opens[chance(open_count)] + chance(chance(400) + 1);
        else if (how < 9 && rare_count)
            place = rares[chance(rare_count)] + chance(6);
        places[i] = place > trace.count ? trace.count : place;
    }
    qsort(places, cuts, sizeof *places, compare);
    for (size_t i = 0; next < cuts; i++) {
        for (; next < cuts && places[next] == i; next++) {
            uint64_t own = mix(seed + next * 1000003);
            bool is_damaged = depth == 0 && next % 6 == 5, is_refused;
            disk_build(disk, image, own, is_damaged, false);
            char tale[sizeof cut_text];
            memcpy(tale, cut_text, sizeof cut_text);
            bool is_deep = depth == 0 && !is_damaged && next % 40 == 3;
            struct disk *deep = NULL;
            if (is_deep) {
                deep = must(malloc(sizeof *deep));
                disk_load(deep, image);
                unlink(inner);
            }
            const char *wrong =
                look(image, is_deep ? inner : NULL, promise, NULL, is_damaged, &is_refused);
            if (!wrong && depth == 0)
                wrong = look_at_copies(image, promise);
            cut_count++;
            damaged_count += is_damaged;
            refused_count += is_refused;
            inner_count += depth > 0;
            if (wrong) {
                failures++;
                printf("FAILED cut %" PRIu64 " (after record %zu of %zu, depth %d): %s\n   %s\n",
                       cut_count,
                       i,
                       trace.count,
                       depth,
                       wrong,
                       tale);
                if (failures <= 5) {
                    char kept[PATH * 2];
                    snprintf(kept, sizeof kept, "%s/failed%" PRIu64, scratch, failures);
                    disk_build(disk, kept, own, is_damaged, false);
                }
                fflush(stdout);
            } else if (is_deep) {
                struct promise copy = *promise;
                copy.copy_count = 0;
                sweep(deep, &copy, inner, 8, own, depth + 1);
            }
            if (deep)
                disk_free(deep);
            free(deep);
            if (failures >= stop_after)
                goto out;
        }
        if (i == trace.count)
            break;
        memcpy(&record, trace.data + trace.starts[i], sizeof record);
        const uint8_t *data = trace.data + trace.starts[i] + sizeof record;
        if (record.kind == CUTS_MARK)
            hear(promise, (const char *)data, record.bytes);
        else
            disk_apply(disk, i, &record, data);
    }
out:
    free(places);
    free(edges);
    free(rares);
    free(trace.starts);
    if (trace.size)
        munmap((void *)(uintptr_t)trace.data, trace.size);
}

/* Whether the recorder has seen everything: the end of the trace is what is really there. */
static void verify(const char *root, const char *path)
{
    struct disk *disk = must(calloc(1, sizeof *disk)), *real = must(calloc(1, sizeof *real)),
                *ours = must(calloc(1, sizeof *ours));
    struct trace trace = map(path);
    struct stat stat_;
    char image[PATH * 2];
    snprintf(disk->root, PATH, "%s", root);
    disk->root_inode = stat(root, &stat_) == 0 ? stat_.st_ino : 0;
    for (size_t i = 0; i < trace.count; i++) {
        struct cuts_record record;
        memcpy(&record, trace.data + trace.starts[i], sizeof record);
        disk_apply(disk, i, &record, trace.data + trace.starts[i] + sizeof record);
    }
    snprintf(image, sizeof image, "%s/image0", scratch);
    disk_build(disk, image, 0, false, true);
    disk_load(real, root);
    disk_load(ours, image);
    if (real->name_count != ours->name_count)
        die("the trace has other names than the directory");
    for (int i = 0; i < real->name_count; i++) {
        int other = -1;
        for (int j = 0; j < ours->name_count; j++)
            if (strcmp(ours->names[j].path, real->names[i].path) == 0)
                other = j;
        if (other < 0)
            die(real->names[i].path);
        /* written through a mapping, which is not recorded; it has no meaning after a power cut */
        if (strcmp(real->names[i].path, "/store/running") == 0)
            continue;
        if (real->names[i].file < 0)
            continue;
        struct file *a = &real->files[real->names[i].file],
                    *b = &ours->files[ours->names[other].file];
        if (a->size != b->size || (a->size && memcmp(a->data, b->data, a->size) != 0)) {
            fprintf(stderr, "cut: %s is not what was recorded\n", real->names[i].path);
            exit(2);
        }
    }
    disk_free(disk);
    disk_free(real);
    disk_free(ours);
    free(disk);
    free(real);
    free(ours);
    free(trace.starts);
}

int main(int argc, char **argv)
{
    if (argc != 9)
        return 2;
    scratch = argv[3];
    work_path = argv[4];
    recorder = argv[5];
    stop_after = strtoull(argv[8], NULL, 0);
    verify(argv[1], argv[2]);
    struct disk *disk = must(calloc(1, sizeof *disk));
    struct promise promise = {0};
    struct stat stat_;
    for (unsigned i = 0; i < KEYS; i++)
        promise.keys[i].steps = must(calloc(1, 2));
    snprintf(disk->root, PATH, "%s", argv[1]);
    disk->root_inode = stat(argv[1], &stat_) == 0 ? stat_.st_ino : 0;
    sweep(disk, &promise, argv[2], strtoull(argv[7], NULL, 0), mix(strtoull(argv[6], NULL, 0)), 0);
    printf("%" PRIu64 " cuts, %" PRIu64 " of them with damage (%" PRIu64
           " told of errors), %" PRIu64 " while the store was opened again, %" PRIu64
           " looks at backups: %" PRIu64 " failed\n",
           cut_count,
           damaged_count,
           refused_count,
           inner_count,
           copy_cuts,
           failures);
    return failures ? 1 : 0;
}
