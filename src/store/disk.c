/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The files of a disk in memory. A tracked disk also keeps what each file contained at its last sync, and all writes
 * after that sync in their order.
 */
#include "store/disk.h"

#include "base/assert.h"
#include "base/list.h"
#include "os/lock.h"

#include <string.h>

struct content {
    unsigned char *bytes;
    size_t size;
    size_t capacity;
};

/* A change that was not synced. It is a write, or a change of the file's size. For a change of
 * size, `offset` is the new size. */
struct change {
    struct list link;
    bool is_truncate;
    uint64_t offset;
    size_t size;
    unsigned char bytes[];
};

struct disk_file {
    struct list link; /* link in the list of the disk */
    struct store_disk *disk;
    struct content now;
    struct content synced;
    struct list changes;
    bool is_deleted;    /* the file was deleted, and can no longer be found by its name */
    bool is_named;      /* the name of the file was synced, so a crash does not remove the file */
    bool may_come_back; /* the file was deleted, but the deletion was not synced */
    unsigned openers;
    char name[];
};

struct store_disk {
    struct memory_source source;
    bool is_tracked;
    bool is_taken;
    struct lock lock; /* protects all members; a thread that has it takes no other lock */
    struct list files;
    uint64_t space;
    struct store_io_hook hook;
};

tr_status tr__disk_new(const struct memory_source *source, bool is_tracked,
                       struct store_disk **disk)
{
    struct store_disk *made = source_resize(source, NULL, sizeof *made);
    if (!made)
        return TR_NO_MEMORY;
    *made = (struct store_disk){.source = *source, .is_tracked = is_tracked, .space = UINT64_MAX};
    lock_init(&made->lock);
    list_init(&made->files);
    *disk = made;
    return TR_OK;
}

static void drop_changes(struct disk_file *file)
{
    for (struct list *link; (link = list_pop_first(&file->changes)) != NULL;)
        source_resize(&file->disk->source, LIST_OWNER(link, struct change, link), 0);
}

static void file_free(struct disk_file *file)
{
    struct memory_source source = file->disk->source;
    drop_changes(file);
    source_resize(&source, file->now.bytes, 0);
    source_resize(&source, file->synced.bytes, 0);
    list_remove(&file->link);
    source_resize(&source, file, 0);
}

void tr__disk_free(struct store_disk *disk)
{
    if (!disk)
        return;
    TR_ASSERT(!disk->is_taken);
    LIST_EACH (link, &disk->files)
        file_free(LIST_OWNER(link, struct disk_file, link));
    struct memory_source source = disk->source;
    source_resize(&source, disk, 0);
}

void tr__disk_hook(struct store_disk *disk, struct store_io_hook hook)
{
    disk->hook = hook;
}

void tr__disk_set_space(struct store_disk *disk, uint64_t bytes)
{
    lock_take(&disk->lock);
    disk->space = bytes;
    lock_give(&disk->lock);
}

bool tr__disk_take(struct store_disk *disk)
{
    lock_take(&disk->lock);
    bool is_free = !disk->is_taken;
    disk->is_taken = true;
    lock_give(&disk->lock);
    return is_free;
}

void tr__disk_give(struct store_disk *disk)
{
    lock_take(&disk->lock);
    TR_ASSERT(disk->is_taken);
    disk->is_taken = false;
    lock_give(&disk->lock);
}

static struct disk_file *disk_find(struct store_disk *disk, const char *name)
{
    LIST_EACH (link, &disk->files) {
        struct disk_file *file = LIST_OWNER(link, struct disk_file, link);
        if (!file->is_deleted && strcmp(file->name, name) == 0)
            return file;
    }
    return NULL;
}

bool tr__disk_has(struct store_disk *disk, const char *name)
{
    lock_take(&disk->lock);
    bool is_there = disk_find(disk, name) != NULL;
    lock_give(&disk->lock);
    return is_there;
}

/* Makes a content at least `size` bytes long. New bytes are zero. */
static bool content_grow(struct store_disk *disk, struct content *content, size_t size)
{
    if (size > content->capacity) {
        size_t capacity = content->capacity < 4096 ? 4096 : content->capacity;
        while (capacity < size)
            capacity += capacity / 2;
        unsigned char *bytes = source_resize(&disk->source, content->bytes, capacity);
        if (!bytes)
            return false;
        content->bytes = bytes;
        content->capacity = capacity;
    }
    if (size > content->size) {
        memset(content->bytes + content->size, 0, size - content->size);
        content->size = size;
    }
    return true;
}

static void content_write(struct content *content, const void *memory, size_t size, size_t offset)
{
    TR_ASSERT(offset + size <= content->size);
    if (size > 0)
        memcpy(content->bytes + offset, memory, size);
}

tr_status tr__disk_open(struct store_disk *disk, const char *name, bool may_create,
                        struct disk_file **file)
{
    tr_status status = TR_OK;
    lock_take(&disk->lock);
    struct disk_file *found = name ? disk_find(disk, name) : NULL;
    if (!found && !may_create) {
        status = TR_NOT_FOUND;
    } else if (!found) {
        size_t size = name ? strlen(name) + 1 : 1;
        found = source_resize(&disk->source, NULL, sizeof *found + size);
        if (found) {
            *found = (struct disk_file){.disk = disk, .is_deleted = !name};
            memcpy(found->name, name ? name : "", size);
            list_init(&found->changes);
            list_push_last(&disk->files, &found->link);
        } else {
            status = TR_NO_MEMORY;
        }
    }
    if (found) {
        found->openers++;
        *file = found;
    }
    lock_give(&disk->lock);
    return status;
}

void tr__disk_close(struct disk_file *file)
{
    struct store_disk *disk = file->disk;
    lock_take(&disk->lock);
    TR_ASSERT(file->openers > 0);
    file->openers--;
    if (file->openers == 0 && file->is_deleted && !file->may_come_back)
        file_free(file);
    lock_give(&disk->lock);
}

static tr_status ask_hook(const struct disk_file *file, enum store_io io, uint64_t offset,
                          size_t size)
{
    const struct store_io_hook *hook = &file->disk->hook;
    return hook->on_io ? hook->on_io(hook->context, io, file->name, offset, size) : TR_OK;
}

tr_status tr__disk_read(struct disk_file *file, void *memory, size_t size, uint64_t offset,
                        size_t *got)
{
    tr_status status = ask_hook(file, STORE_IO_READ, offset, size);
    if (status)
        return TR_STORE_FAILED;
    lock_take(&file->disk->lock);
    size_t there = offset < file->now.size ? file->now.size - (size_t)offset : 0;
    *got = there < size ? there : size;
    if (*got > 0)
        memcpy(memory, file->now.bytes + offset, *got);
    lock_give(&file->disk->lock);
    memset((char *)memory + *got, 0, size - *got);
    return TR_OK;
}

/* Keeps a change of a tracked disk until the file is synced. Call with the lock. */
static bool disk_remember(struct disk_file *file, bool is_truncate, uint64_t offset,
                          const void *memory, size_t size)
{
    if (!file->disk->is_tracked)
        return true;
    struct change *change = source_resize(&file->disk->source, NULL, sizeof *change + size);
    if (!change)
        return false;
    change->is_truncate = is_truncate;
    change->offset = offset;
    change->size = size;
    if (size > 0)
        memcpy(change->bytes, memory, size);
    list_push_last(&file->changes, &change->link);
    return true;
}

/* Writes as many of the bytes as the disk has space for. Call with the lock. */
static tr_status write_some(struct disk_file *file, const void *memory, size_t size,
                            uint64_t offset)
{
    struct store_disk *disk = file->disk;
    uint64_t end = offset + size;
    uint64_t growth = end > file->now.size ? end - file->now.size : 0;
    bool is_full = growth > disk->space;
    if (is_full) {
        uint64_t missing = growth - disk->space;
        size = missing < size ? size - (size_t)missing : 0;
        end = offset + size;
        growth = end > file->now.size ? end - file->now.size : 0;
    }
    if (size > 0) {
        size_t old_size = file->now.size;
        if (!content_grow(disk, &file->now, (size_t)end > old_size ? (size_t)end : old_size))
            return TR_NO_MEMORY;
        if (!disk_remember(file, false, offset, memory, size)) {
            file->now.size = old_size;
            return TR_NO_MEMORY;
        }
        content_write(&file->now, memory, size, (size_t)offset);
        if (disk->space != UINT64_MAX)
            disk->space -= growth;
    }
    return is_full ? TR_STORE_FULL : TR_OK;
}

tr_status tr__disk_write(struct disk_file *file, const void *memory, size_t size, uint64_t offset)
{
    tr_status hooked = ask_hook(file, STORE_IO_WRITE, offset, size);
    if (hooked != TR_OK && hooked != TR_STORE_FULL)
        return TR_STORE_FAILED;
    lock_take(&file->disk->lock);
    tr_status status = write_some(file, memory, hooked ? size / 2 : size, offset);
    lock_give(&file->disk->lock);
    return status ? status : hooked;
}

tr_status tr__disk_truncate(struct disk_file *file, uint64_t size)
{
    if (ask_hook(file, STORE_IO_TRUNCATE, size, 0) != TR_OK)
        return TR_STORE_FAILED;
    tr_status status = TR_OK;
    struct store_disk *disk = file->disk;
    lock_take(&disk->lock);
    size_t old_size = file->now.size;
    if (!disk_remember(file, true, size, NULL, 0)) {
        status = TR_NO_MEMORY;
    } else if (size > old_size) {
        if (!content_grow(disk, &file->now, (size_t)size))
            status = TR_NO_MEMORY;
    } else {
        file->now.size = (size_t)size;
        if (disk->space != UINT64_MAX)
            disk->space += old_size - size;
    }
    lock_give(&disk->lock);
    return status;
}

/* Applies one change to the synced contents. If the change is a write, applies only its bytes from
 * index `from` on and before index `to`. */
static bool disk_arrive(struct disk_file *file, const struct change *change, size_t from, size_t to)
{
    struct content *synced = &file->synced;
    if (change->is_truncate) {
        if (change->offset <= synced->size) {
            synced->size = (size_t)change->offset;
            return true;
        }
        return content_grow(file->disk, synced, (size_t)change->offset);
    }
    size_t end = (size_t)change->offset + to;
    if (from >= to)
        return true;
    if (!content_grow(file->disk, synced, end > synced->size ? end : synced->size))
        return false;
    content_write(synced, change->bytes + from, to - from, (size_t)change->offset + from);
    return true;
}

/* Makes all names and deletions durable. Call with the lock. */
static void sync_directory(struct store_disk *disk)
{
    LIST_EACH (link, &disk->files) {
        struct disk_file *file = LIST_OWNER(link, struct disk_file, link);
        file->is_named = true;
        file->may_come_back = false;
        if (file->is_deleted && file->openers == 0)
            file_free(file);
    }
}

tr_status tr__disk_sync_directory(struct store_disk *disk)
{
    const struct store_io_hook *hook = &disk->hook;
    if (hook->on_io && hook->on_io(hook->context, STORE_IO_SYNC, "", 0, 0) != TR_OK)
        return TR_STORE_FAILED;
    lock_take(&disk->lock);
    sync_directory(disk);
    lock_give(&disk->lock);
    return TR_OK;
}

tr_status tr__disk_sync(struct disk_file *file, bool with_directory)
{
    if (ask_hook(file, STORE_IO_SYNC, 0, 0) != TR_OK)
        return TR_STORE_FAILED;
    tr_status status = TR_OK;
    struct store_disk *disk = file->disk;
    lock_take(&disk->lock);
    while (status == TR_OK && !list_is_empty(&file->changes)) {
        struct change *change = LIST_OWNER(list_first(&file->changes), struct change, link);
        if (disk_arrive(file, change, 0, change->size)) {
            list_remove(&change->link);
            source_resize(&disk->source, change, 0);
        } else {
            status = TR_NO_MEMORY;
        }
    }
    if (with_directory && !file->is_named)
        sync_directory(disk);
    lock_give(&disk->lock);
    return status;
}

uint64_t tr__disk_file_size(struct disk_file *file)
{
    lock_take(&file->disk->lock);
    uint64_t size = file->now.size;
    lock_give(&file->disk->lock);
    return size;
}

tr_status tr__disk_delete(struct store_disk *disk, const char *name, bool is_synced)
{
    lock_take(&disk->lock);
    struct disk_file *file = disk_find(disk, name);
    lock_give(&disk->lock);
    if (!file)
        return TR_NOT_FOUND;
    if (ask_hook(file, STORE_IO_DELETE, 0, 0) != TR_OK)
        return TR_STORE_FAILED;
    lock_take(&disk->lock);
    file->is_deleted = true;
    file->may_come_back = disk->is_tracked && !is_synced;
    if (disk->space != UINT64_MAX)
        disk->space += file->now.size;
    if (file->openers == 0 && !file->may_come_back)
        file_free(file);
    lock_give(&disk->lock);
    return TR_OK;
}

/* Decides for each sector of a write what a crash leaves. If `is_last` is true, this write is the
 * last one that arrives, and may arrive only in part. */
static void settle_write(struct disk_file *file, struct change *change, enum disk_crash how,
                         bool is_last, struct rng *rng)
{
    if (how == DISK_CRASH_KEEP || (how == DISK_CRASH_ORDER && !is_last)) {
        TR_ASSERT(disk_arrive(file, change, 0, change->size));
        return;
    }
    size_t torn_at = how == DISK_CRASH_ORDER ? rng_below(rng, change->size + 1) : 0;
    for (size_t from = 0, to; from < change->size; from = to) {
        size_t sector_end = DISK_SECTOR - ((size_t)change->offset + from) % DISK_SECTOR;
        to = from + sector_end < change->size ? from + sector_end : change->size;
        uint64_t fate = rng_below(rng, how == DISK_CRASH_WASTE ? 3 : 2);
        if (how == DISK_CRASH_ORDER)
            fate = to <= torn_at;
        if (fate == 0)
            continue;
        for (size_t i = from; fate == 2 && i < to; i++)
            change->bytes[i] = (unsigned char)rng_below(rng, 256);
        TR_ASSERT(disk_arrive(file, change, from, to));
    }
}

static void settle_file(struct disk_file *file, enum disk_crash how, struct rng *rng)
{
    size_t count = 0;
    LIST_EACH (link, &file->changes)
        count++;
    size_t kept = how == DISK_CRASH_ORDER ? rng_below(rng, count + 1) : count;
    size_t number = 0;
    LIST_EACH (link, &file->changes) {
        struct change *change = LIST_OWNER(link, struct change, link);
        number++;
        if (how == DISK_CRASH_DROP || number > kept)
            break;
        if (!change->is_truncate)
            settle_write(file, change, how, number == kept, rng);
        else if (how == DISK_CRASH_KEEP || how == DISK_CRASH_ORDER || rng_below(rng, 2) == 0)
            TR_ASSERT(disk_arrive(file, change, 0, 0));
    }
    drop_changes(file);
    file->now.size = 0;
    TR_ASSERT(content_grow(file->disk, &file->now, file->synced.size));
    content_write(&file->now, file->synced.bytes, file->synced.size, 0);
}

/* Undoes a deletion that was not synced. Does nothing if a later file has the same name and that name was synced. */
static void bring_back(struct store_disk *disk, struct disk_file *file)
{
    struct disk_file *later = disk_find(disk, file->name);
    if (later && later->is_named)
        return;
    if (later)
        later->is_deleted = true;
    file->is_deleted = false;
}

void tr__disk_crash(struct store_disk *disk, enum disk_crash how, struct rng *rng)
{
    if (!disk->is_tracked)
        return;
    lock_take(&disk->lock);
    LIST_EACH (link, &disk->files) {
        struct disk_file *file = LIST_OWNER(link, struct disk_file, link);
        bool is_lucky =
            how == DISK_CRASH_KEEP || (how != DISK_CRASH_DROP && rng_below(rng, 2) == 0);
        settle_file(file, how, rng);
        if (!file->is_deleted && !file->is_named && !is_lucky)
            file->is_deleted = true;
        if (file->may_come_back && !is_lucky)
            bring_back(disk, file);
        file->may_come_back = false;
    }
    LIST_EACH (link, &disk->files) {
        struct disk_file *file = LIST_OWNER(link, struct disk_file, link);
        file->is_named = true;
        if (file->is_deleted && file->openers == 0)
            file_free(file);
    }
    lock_give(&disk->lock);
}

size_t tr__disk_size(struct store_disk *disk, const char *name)
{
    lock_take(&disk->lock);
    struct disk_file *file = disk_find(disk, name);
    size_t size = file ? file->now.size : 0;
    lock_give(&disk->lock);
    return size;
}

bool tr__disk_flip(struct store_disk *disk, const char *name, size_t offset, unsigned char bits)
{
    lock_take(&disk->lock);
    struct disk_file *file = disk_find(disk, name);
    bool is_there = file && offset < file->now.size;
    if (is_there) {
        file->now.bytes[offset] ^= bits;
        if (offset < file->synced.size)
            file->synced.bytes[offset] ^= bits;
    }
    lock_give(&disk->lock);
    return is_there;
}

size_t tr__disk_bytes(struct store_disk *disk)
{
    size_t bytes = 0;
    lock_take(&disk->lock);
    LIST_EACH (link, &disk->files)
        bytes += LIST_OWNER(link, struct disk_file, link)->now.size;
    lock_give(&disk->lock);
    return bytes;
}

static bool content_copy(struct store_disk *disk, struct content *to, const struct content *from)
{
    if (!content_grow(disk, to, from->size))
        return false;
    content_write(to, from->bytes, from->size, 0);
    return true;
}

/* Copies a file of another disk to `disk`. Call with the lock of that other disk, and without the
 * lock of `disk`. */
static tr_status clone_file(struct store_disk *disk, const struct disk_file *file)
{
    struct disk_file *copy;
    tr_status status = tr__disk_open(disk, file->name, true, &copy);
    if (status)
        return status;
    copy->openers = 0;
    copy->is_deleted = file->is_deleted;
    copy->is_named = file->is_named;
    copy->may_come_back = file->may_come_back;
    if (!content_copy(disk, &copy->now, &file->now) ||
        !content_copy(disk, &copy->synced, &file->synced))
        return TR_NO_MEMORY;
    LIST_EACH (link, &file->changes) {
        const struct change *change = LIST_OWNER(link, struct change, link);
        if (!disk_remember(copy, change->is_truncate, change->offset, change->bytes, change->size))
            return TR_NO_MEMORY;
    }
    return TR_OK;
}

tr_status tr__disk_clone(struct store_disk *disk, struct store_disk **clone)
{
    struct store_disk *made;
    tr_status status = tr__disk_new(&disk->source, disk->is_tracked, &made);
    if (status)
        return status;
    lock_take(&disk->lock);
    LIST_EACH (link, &disk->files) {
        const struct disk_file *file = LIST_OWNER(link, struct disk_file, link);
        bool is_gone = !file->name[0] || (file->is_deleted && !file->may_come_back);
        if (status == TR_OK && !is_gone)
            status = clone_file(made, file);
    }
    lock_give(&disk->lock);
    if (status) {
        tr__disk_free(made);
        return status;
    }
    *clone = made;
    return TR_OK;
}
