/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "disk.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR 512

uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}
uint64_t state;
uint64_t chance(uint64_t n)
{
    state = mix(state);
    return n ? state % n : 0;
}

void die(const char *what)
{
    fprintf(stderr, "cut: %s: %s\n", what, strerror(errno));
    exit(2);
}
void *must(void *memory)
{
    if (!memory)
        die("memory");
    return memory;
}

static uint64_t length_of(const struct file *file)
{
    return file->count ? file->ops[file->count - 1].length : file->size;
}

static int find_file(struct disk *disk, uint64_t inode)
{
    for (int i = disk->file_count - 1; i >= 0; i--)
        if (disk->files[i].inode == inode)
            return i;
    return -1;
}

static int add_file(struct disk *disk, uint64_t inode)
{
    if (disk->file_count == FILES_MAX)
        die("too many files");
    disk->files[disk->file_count] = (struct file){.inode = inode};
    return disk->file_count++;
}

static void add_op(struct file *file, struct op op)
{
    uint64_t length = length_of(file);
    op.length = op.is_size ? op.at : op.at + op.bytes > length ? op.at + op.bytes : length;
    if (file->count == file->room)
        file->ops =
            must(realloc(file->ops, (file->room = file->room * 2 + 16) * sizeof *file->ops));
    file->ops[file->count++] = op;
}

static void set_size(struct file *file, size_t size)
{
    if (size > file->size) {
        file->data = must(realloc(file->data, size));
        memset(file->data + file->size, 0, size - file->size);
    }
    file->size = size;
}

static void settle_file(struct file *file, uint64_t index)
{
    size_t i = 0;
    for (; i < file->count && file->ops[i].index < index; i++) {
        struct op *op = &file->ops[i];
        set_size(file, op->length);
        if (!op->is_size)
            memcpy(file->data + op->at, op->data, op->bytes);
    }
    memmove(file->ops, file->ops + i, (file->count - i) * sizeof *file->ops);
    file->count -= i;
}

/* What is in a directory moves with it. */
static void move_below(struct name *names, int count, const char *from, const char *to)
{
    size_t size = strlen(from);
    for (int i = 0; i < count; i++) {
        char rest[PATH];
        if (strncmp(names[i].path, from, size) != 0 || names[i].path[size] != '/')
            continue;
        snprintf(rest, sizeof rest, "%s", names[i].path + size);
        snprintf(names[i].path, PATH, "%.150s%.200s", to, rest);
    }
}

static void change_names(struct name *names, int *count, const struct name_op *op)
{
    const char *gone = op->kind == CUTS_RENAME ? op->to : op->name.path;
    struct name moved = op->name;
    int kept = 0, is_there = op->kind != CUTS_RENAME;
    for (int i = 0; op->kind == CUTS_RENAME && i < *count; i++)
        if (strcmp(names[i].path, op->name.path) == 0) {
            moved = names[i];
            is_there = 1;
        }
    if (!is_there)
        return; /* what would be renamed is not on the disk */
    for (int i = 0; i < *count; i++)
        if (strcmp(names[i].path, gone) != 0 && strcmp(names[i].path, op->name.path) != 0)
            names[kept++] = names[i];
    *count = kept;
    if (op->kind == CUTS_REMOVE)
        return;
    if (*count == NAMES_MAX)
        die("too many names");
    if (op->kind == CUTS_RENAME) {
        snprintf(moved.path, PATH, "%s", op->to);
        move_below(names, *count, op->name.path, op->to);
    }
    names[(*count)++] = moved;
}

static bool is_in(const char *path, const char *directory)
{
    const char *slash = strrchr(path, '/');
    return (size_t)(slash - path) == strlen(directory) &&
           memcmp(path, directory, strlen(directory)) == 0;
}

/* A directory of this inode was synced; NULL: all were. */
static void settle_names(struct disk *disk, const char *directory, uint64_t index)
{
    int kept = 0;
    for (int i = 0; i < disk->op_count; i++)
        if (disk->ops[i].index < index && (!directory || is_in(disk->ops[i].name.path, directory)))
            change_names(disk->names, &disk->name_count, &disk->ops[i]);
        else
            disk->ops[kept++] = disk->ops[i];
    disk->op_count = kept;
}

static void settle(struct disk *disk, uint64_t inode, uint64_t index)
{
    if (inode == 0) {
        for (int i = 0; i < disk->file_count; i++)
            settle_file(&disk->files[i], index);
        settle_names(disk, NULL, index);
        return;
    }
    int file = find_file(disk, inode);
    if (file >= 0)
        settle_file(&disk->files[file], index);
    if (inode == disk->root_inode)
        settle_names(disk, "", index);
    for (int i = 0; i < disk->name_count; i++)
        if (disk->names[i].file < 0 && disk->names[i].inode == inode)
            settle_names(disk, disk->names[i].path, index);
    for (int i = 0; i < disk->op_count; i++)
        if (disk->ops[i].kind == CUTS_MAKE && disk->ops[i].name.file < 0 &&
            disk->ops[i].name.inode == inode) {
            char path[PATH];
            snprintf(path, PATH, "%s", disk->ops[i].name.path);
            settle_names(disk, path, index);
            break;
        }
}

static void below(const struct disk *disk, const char *path, size_t size, char out[PATH])
{
    size_t root = strlen(disk->root);
    if (size < root || size - root >= PATH)
        die("path");
    memcpy(out, path + root, size - root);
    out[size - root] = 0;
}

void disk_apply(struct disk *disk, uint64_t index, const struct cuts_record *record,
                const uint8_t *data)
{
    int file;
    switch (record->kind) {
    case CUTS_WRITE:
    case CUTS_SIZE:
        if ((file = find_file(disk, record->file)) < 0)
            die("a write to an unknown file");
        add_op(&disk->files[file],
               (struct op){.index = index,
                           .at = record->at,
                           .data = data,
                           .bytes = record->bytes,
                           .is_size = record->kind == CUTS_SIZE});
        break;
    case CUTS_SYNC_BEGIN:
        if (disk->sync_count == 64)
            die("syncs that do not end");
        disk->syncs[disk->sync_count].number = record->at;
        disk->syncs[disk->sync_count++].index = index;
        break;
    case CUTS_SYNC_END:
        for (int i = 0; i < disk->sync_count; i++)
            if (disk->syncs[i].number == record->at) {
                settle(disk, record->file, disk->syncs[i].index);
                disk->syncs[i] = disk->syncs[--disk->sync_count];
                break;
            }
        break;
    case CUTS_MAKE:
    case CUTS_RENAME:
    case CUTS_REMOVE: {
        struct name_op op = {.index = index, .kind = (int)record->kind};
        size_t size = record->kind == CUTS_RENAME ? strlen((const char *)data) : record->bytes;
        if (disk->op_count == OPS_MAX)
            die("too many changes of names");
        below(disk, (const char *)data, size, op.name.path);
        if (record->kind == CUTS_RENAME)
            below(disk, (const char *)data + size + 1, record->bytes - size - 1, op.to);
        op.name.inode = record->file;
        op.name.file = record->kind == CUTS_MAKE && !record->at ? add_file(disk, record->file) : -1;
        disk->ops[disk->op_count++] = op;
        break;
    }
    default:
        break;
    }
}

void disk_free(struct disk *disk)
{
    for (int i = 0; i < disk->file_count; i++) {
        free(disk->files[i].data);
        free(disk->files[i].ops);
    }
    disk->file_count = 0;
}

/* ---- What a cut leaves. ---- */

enum keep { DROP, KEEP, PREFIX, TORN, RANDOM, ALL_BUT_ONE, ONLY_ONE, KEEPS };
static const char *const keep_names[] = {
    "drop", "keep", "prefix", "torn", "random", "all-but-one", "only-one"};

static bool touches(const struct op *op, uint64_t sector)
{
    return !op->is_size && op->at < (sector + 1) * SECTOR && op->at + op->bytes > sector * SECTOR;
}

/* The file as it is found later; *size is its length. */
static uint8_t *remains(const struct file *file, enum keep keep, size_t *size)
{
    size_t count = file->count, t = chance(count + 1), one = chance(count), longest = file->size;
    uint64_t salt = chance(0) ^ state;
    size_t names = keep == DROP     ? 0
                   : keep == KEEP   ? count
                   : keep == PREFIX ? t
                   : keep == TORN   ? (t + chance(2) <= count ? t + (state & 1) : count)
                   : chance(3) == 0 ? 0
                   : chance(2) == 0 ? count
                                    : t;
    if (names > count)
        names = count;
    for (size_t i = 0; i < count; i++)
        if (file->ops[i].length > longest)
            longest = file->ops[i].length;
    uint8_t *data = must(calloc(1, longest + SECTOR));
    if (file->size)
        memcpy(data, file->data, file->size);
    for (size_t i = 0; i < count; i++) {
        const struct op *op = &file->ops[i];
        if (op->is_size) {
            if (i < names && op->at < longest)
                memset(data + op->at, 0, longest - op->at);
            continue;
        }
        for (uint64_t sector = op->at / SECTOR; sector * SECTOR < op->at + op->bytes; sector++) {
            /* How many of the changes this sector has seen. */
            uint64_t r = mix(salt ^ mix(sector));
            size_t seen;
            switch (keep) {
            case DROP:
                seen = 0;
                break;
            case KEEP:
                seen = count;
                break;
            case PREFIX:
                seen = t;
                break;
            case TORN:
                seen = t + (r & 1);
                break;
            case ALL_BUT_ONE:
                seen = touches(&file->ops[one], sector) ? one : count;
                break;
            case ONLY_ONE:
                seen = touches(&file->ops[one], sector) ? count : 0;
                break;
            default:
                seen = r % 3 == 0 ? 0 : r % 3 == 1 ? count : (r >> 8) % (count + 1);
                break;
            }
            /* What came after a truncation that did not last has not lasted either. */
            for (size_t j = names; j < seen; j++)
                if (file->ops[j].is_size && file->ops[j].at < (sector + 1) * SECTOR &&
                    file->ops[j].at < (j ? file->ops[j - 1].length : file->size))
                    seen = j;
            if (i >= seen)
                continue;
            uint64_t from = sector * SECTOR > op->at ? sector * SECTOR : op->at;
            uint64_t to = (sector + 1) * SECTOR < op->at + op->bytes ? (sector + 1) * SECTOR
                                                                     : op->at + op->bytes;
            memcpy(data + from, op->data + (from - op->at), to - from);
        }
    }
    *size = names ? file->ops[names - 1].length : file->size;
    return data;
}

char cut_text[1000];
static void tell(const char *format, ...)
{
    size_t size = strlen(cut_text);
    va_list list;
    va_start(list, format);
    vsnprintf(cut_text + size, sizeof cut_text - size, format, list);
    va_end(list);
}

static void clear(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    char child[PATH * 2];
    while (directory && (entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
        if (unlink(child) != 0) {
            clear(child);
            rmdir(child);
        }
    }
    if (directory)
        closedir(directory);
}

/* One page, as a disk may spoil it or a write that went astray. */
static void damage(uint8_t *data, size_t size)
{
    uint64_t pages = size / 4096, page = chance(pages), other = chance(pages), at;
    if (size < 3 * 4096)
        return;
    uint8_t *one = data + page * 4096;
    switch (chance(6)) {
    case 0:
    case 1: /* anywhere, or in its header and the pointers behind that */
        at = chance(3) == 0 ? chance(4096) : (page == 0 ? 100 : 0) + chance(chance(2) ? 12 : 120);
        one[at] ^= (uint8_t)(1 << chance(8));
        tell(" flip of page %" PRIu64 " at %" PRIu64 ";", page + 1, at);
        break;
    case 2:
        memset(one + (at = chance(8)) * SECTOR, 0, SECTOR);
        tell(" zeros in page %" PRIu64 ", sector %" PRIu64 ";", page + 1, at);
        break;
    case 3:
        at = chance(8) * SECTOR;
        memcpy(one + at, data + other * 4096 + at, SECTOR);
        tell(" sector %" PRIu64 " of page %" PRIu64 " in page %" PRIu64 ";",
             at / SECTOR,
             other + 1,
             page + 1);
        break;
    default: /* the most likely one to be believed: a page of the same kind */
        for (int i = 0; i < 50 && (other == page || data[other * 4096] != one[0]); i++)
            other = chance(pages);
        memcpy(one, data + other * 4096, 4096);
        tell(" page %" PRIu64 " in place of %" PRIu64 ";", other + 1, page + 1);
        break;
    }
}

/* Writes what is left into a directory. Depends on the seed only. */
void disk_build(const struct disk *disk, const char *directory, uint64_t seed, bool is_damaged,
                bool is_all)
{
    struct name names[NAMES_MAX];
    int count = disk->name_count;
    char path[PATH * 2];
    state = seed;
    cut_text[0] = 0;
    memcpy(names, disk->names, sizeof names);
    clear(directory);
    mkdir(directory, 0755);
    uint64_t common = is_all ? 1 : chance(10);
    int how = is_all ? 1 : (int)chance(4), prefix = (int)chance((uint64_t)disk->op_count + 1);
    for (int i = 0; i < disk->op_count; i++)
        if (how == 1 || (how == 2 && i < prefix) || (how == 3 && chance(2)))
            change_names(names, &count, &disk->ops[i]);
        else
            tell(" without %s of %s;",
                 disk->ops[i].kind == CUTS_MAKE ? "making" : "change",
                 disk->ops[i].name.path);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < count; i++) {
            snprintf(path, sizeof path, "%s%s", directory, names[i].path);
            if (names[i].file < 0) {
                if (pass == 0)
                    mkdir(path, 0755);
                continue;
            }
            if (pass == 0)
                continue;
            const struct file *file = &disk->files[names[i].file];
            size_t size;
            enum keep keep = common == 0 ? DROP : common == 1 ? KEEP : (enum keep)chance(KEEPS);
            if (is_damaged)
                keep = KEEP;
            uint8_t *data = remains(file, keep, &size);
            if (file->count)
                tell(" %s: %zu of %zu bytes, %s of %zu;",
                     names[i].path,
                     size,
                     file->size,
                     keep_names[keep],
                     file->count);
            if (is_damaged && strcmp(names[i].path, "/store/troupe.db") == 0)
                for (uint64_t left = 1 + chance(4); left > 0; left--)
                    damage(data, size);
            int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
            if (fd >= 0) { /* else its directory has not lasted */
                if (write(fd, data, size) != (ssize_t)size)
                    die(path);
                close(fd);
            }
            free(data);
        }
}

static void load_directory(struct disk *disk, const char *name)
{
    char path[PATH * 2];
    struct stat stat_;
    struct dirent *entry;
    snprintf(path, sizeof path, "%s/%s", disk->root, name);
    DIR *directory = stat(path, &stat_) == 0 ? opendir(path) : NULL;
    if (!directory)
        return;
    struct name *own = &disk->names[disk->name_count++];
    *own = (struct name){.file = -1, .inode = stat_.st_ino};
    snprintf(own->path, PATH, "/%.100s", name);
    while ((entry = readdir(directory))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s/%.200s", disk->root, name, entry->d_name);
        int fd = open(path, O_RDONLY);
        if (fd < 0 || fstat(fd, &stat_) != 0)
            die(path);
        int file = add_file(disk, stat_.st_ino);
        set_size(&disk->files[file], (size_t)stat_.st_size);
        if (read(fd, disk->files[file].data, disk->files[file].size) != stat_.st_size)
            die(path);
        close(fd);
        if (disk->name_count == NAMES_MAX)
            die("too many names");
        struct name *found = &disk->names[disk->name_count++];
        snprintf(found->path, PATH, "/%.100s/%.200s", name, entry->d_name);
        found->file = file;
        found->inode = stat_.st_ino;
    }
    closedir(directory);
}

/* A directory, and those in it, as a disk on which all is synced. */
void disk_load(struct disk *disk, const char *root)
{
    struct stat stat_;
    struct dirent *entry;
    memset(disk, 0, sizeof *disk);
    snprintf(disk->root, PATH, "%s", root);
    if (stat(root, &stat_) != 0)
        die(root);
    disk->root_inode = stat_.st_ino;
    DIR *directory = opendir(root);
    if (!directory)
        die(root);
    while ((entry = readdir(directory)))
        if (entry->d_name[0] != '.')
            load_directory(disk, entry->d_name);
    closedir(directory);
}
