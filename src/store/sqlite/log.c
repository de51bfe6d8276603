/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checks the log of SQLite (https://www.sqlite.org/walformat.html). The log has a header of 32 bytes and then frames.
 * Each frame has a header of 24 bytes and a page. The sum of a frame continues the sum of the frame before it. So if
 * the sum of a frame fits the frame before it, the two were written one after the other, even if earlier frames are
 * damaged.
 *
 * A transaction is written after the previous transaction was synced. So if a frame ends a transaction and the next
 * frame fits, that transaction and all transactions before it were durable. If such a pair of frames comes after a
 * frame that does not fit, the log was damaged. Otherwise a power cut may have torn the last transaction.
 *
 * The header of a frame may lie in two sectors of the disk. After a power cut, perhaps only the second sector has its
 * new content. Then the salts and the sum are those of the new frame, and the fields before them are older bytes,
 * perhaps of an older header. One of these fields is the size of the database, which also says that the frame ends a
 * transaction. In a header in two sectors, this field is trusted only if its value is possible and the frame fits the
 * frame before it. A header in one sector is complete if the next frame fits its sum.
 *
 * A store leaves VFS_LOG_TAIL bytes after the last frame, and makes them durable before it writes that frame (vfs.c).
 * So a log that ends in the middle of its frames was cut.
 *
 * If the header of the log is damaged, no frame can be trusted. The reason may be a power cut while the log was
 * restarting; then the whole old log is in the database. To find out whether it is, the frames are compared with the
 * database.
 */
#include "store/sqlite/log.h"

#include "store/sqlite/page_sum.h"
#include "store/sqlite/vfs_watch.h"

enum { LOG_MAGIC = 0x377f0682, LOG_VERSION = 3007000 };
enum { LOG_HEADER = VFS_LOG_HEADER, FRAME_HEADER = 24, FRAME = FRAME_HEADER + PAGE_SIZE };
_Static_assert((int)VFS_LOG_TAIL >= (int)FRAME,
               "a log that was cut is found by a tail that is no whole frame");

struct sum {
    uint32_t first;
    uint32_t second;
};

struct log {
    sqlite3_file *file;
    /* The byte order of the words that are summed. The numbers of the format are big-endian in
     * every log. */
    bool is_big_endian;
    uint64_t frame_count;
    /* How many pages the database can have at most: the pages in its file, and one for each
     * frame. */
    uint64_t pages_max;
    unsigned char salts[8];
    unsigned char frame[FRAME]; /* the last frame that was read */
};

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint32_t word_of(const struct log *log, const unsigned char *bytes)
{
    return log->is_big_endian ? big_endian(bytes) : __builtin_bswap32(big_endian(bytes));
}

static void add_sum(const struct log *log, struct sum *sum, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 8) {
        sum->first += word_of(log, bytes + i) + sum->second;
        sum->second += word_of(log, bytes + i + 4) + sum->first;
    }
}

static struct sum sum_at(const unsigned char *bytes)
{
    return (struct sum){big_endian(bytes), big_endian(bytes + 4)};
}

/* Reads frame `number`, counted from 0. */
static bool read_frame(struct log *log, uint64_t number)
{
    sqlite3_int64 offset = LOG_HEADER + (sqlite3_int64)number * FRAME;
    return number < log->frame_count &&
           log->file->pMethods->xRead(log->file, log->frame, FRAME, offset) == SQLITE_OK;
}

/* Whether the frame that was read has the salts of the log, and its sum continues `before`. Sets
 * *own to the frame's own sum. */
static bool frame_fits(const struct log *log, struct sum before, struct sum *own)
{
    struct sum sum = before;
    add_sum(log, &sum, log->frame, 8);
    add_sum(log, &sum, log->frame + FRAME_HEADER, PAGE_SIZE);
    *own = sum_at(log->frame + 16);
    return memcmp(log->frame + 8, log->salts, sizeof log->salts) == 0 && own->first == sum.first &&
           own->second == sum.second;
}

static bool frame_ends_transaction(const struct log *log)
{
    uint32_t page = big_endian(log->frame);
    uint32_t pages = big_endian(log->frame + 4);
    return page > 0 && page <= pages && pages <= log->pages_max;
}

static bool read_header(struct log *log, struct sum *sum)
{
    unsigned char header[LOG_HEADER];
    if (log->file->pMethods->xRead(log->file, header, LOG_HEADER, 0) != SQLITE_OK)
        return false;
    uint32_t magic = big_endian(header);
    log->is_big_endian = magic & 1;
    memcpy(log->salts, header + 16, sizeof log->salts);
    *sum = (struct sum){0, 0};
    add_sum(log, sum, header, LOG_HEADER - 8);
    struct sum written = sum_at(header + 24);
    return (magic & ~UINT32_C(1)) == LOG_MAGIC && big_endian(header + 8) == PAGE_SIZE &&
           sum->first == written.first && sum->second == written.second;
}

/* Whether the header of this frame lies in two sectors. The field that ends a transaction is then
 * in the first, and the sum in the second. */
static bool header_is_split(uint64_t number)
{
    enum { SECTOR = 512 };
    uint64_t offset = LOG_HEADER + number * FRAME;
    return offset / SECTOR != (offset + FRAME_HEADER - 1) / SECTOR;
}

/* Frame `from` is the first that does not fit. Returns whether the frames from there on show that
 * one of their transactions was durable. */
static bool was_more_durable(struct log *log, uint64_t from)
{
    /* The previous frame ends a transaction. This counts only if the current frame continues the
     * sum of the previous one. */
    bool ends = false;
    struct sum before = {0, 0};
    for (uint64_t i = from; read_frame(log, i); i++) {
        struct sum own;
        bool fits = frame_fits(log, before, &own);
        if (fits && ends)
            return true;
        before = own;
        ends = header_is_split(i) ? fits && frame_ends_transaction(log)
                                  : big_endian(log->frame + 4) != 0;
    }
    return false;
}

/* Whether the database has the page of the frame that was read. Reads the page of the database in
 * two halves, because the VFS would check the sum of a whole page. */
static bool is_in_database(const struct log *log, sqlite3_file *database)
{
    enum { HALF = PAGE_SIZE / 2 };
    unsigned char page[PAGE_SIZE];
    uint32_t number = big_endian(log->frame);
    sqlite3_int64 offset = ((sqlite3_int64)number - 1) * PAGE_SIZE;
    return database->pMethods->xRead(database, page, HALF, offset) == SQLITE_OK &&
           database->pMethods->xRead(database, page + HALF, HALF, offset + HALF) == SQLITE_OK &&
           memcmp(page, log->frame + FRAME_HEADER, PAGE_SIZE - PAGE_SUM) == 0;
}

/* Finds the first frame whose sum is continued by the next frame. Sets *count to how many frames
 * follow without a gap, each of which continues the sum of the frame before it. */
static void find_chain(struct log *log, uint64_t *first, uint64_t *count)
{
    *count = 0;
    for (*first = 0; *count == 0 && *first < log->frame_count; ++*first) {
        if (!read_frame(log, *first))
            return;
        memcpy(log->salts, log->frame + 8, sizeof log->salts);
        struct sum sum = sum_at(log->frame + 16);
        while (read_frame(log, *first + *count + 1) && frame_fits(log, sum, &sum))
            ++*count;
        if (*count > 0)
            return;
    }
}

/* Checks a log whose header is damaged. Returns TR_STORE_CORRUPT if the log has a durable page that
 * the database does not have. */
static tr_status check_headless(struct vfs *vfs, struct log *log, sqlite3_file *database)
{
    uint64_t first = 0;
    uint64_t count = 0;
    /* Try both byte orders, because the byte order of the machine that wrote the log is in the
     * damaged header. */
    for (int i = 0; i < 2 && count == 0; i++) {
        log->is_big_endian = i != 0;
        find_chain(log, &first, &count);
    }
    size_t seen_size = (size_t)(log->frame_count + 1) * sizeof(uint32_t);
    uint32_t *seen = count > 0 ? source_resize(&vfs->source, NULL, seen_size) : NULL;
    if (count > 0 && !seen)
        return TR_NO_MEMORY;
    size_t seen_count = 0;
    bool is_durable = false; /* this frame and all before it are durable */
    bool is_missing = false;
    for (uint64_t i = first + count; count > 0 && !is_missing; i--) {
        if (!read_frame(log, i))
            break;
        bool is_last = i == first + count;
        is_durable = is_durable || (!is_last && frame_ends_transaction(log));
        uint32_t page = big_endian(log->frame);
        bool is_newest = true;
        for (size_t j = 0; j < seen_count && is_newest; j++)
            is_newest = seen[j] != page;
        if (is_newest)
            seen[seen_count++] = page;
        /* Compare only the newest durable version of a page. If a later transaction that was not
         * synced has the page too, the page in the database proves nothing. */
        is_missing = is_durable && is_newest && !is_in_database(log, database);
        if (i == first)
            break;
    }
    source_resize(&vfs->source, seen, 0);
    return is_missing ? TR_STORE_CORRUPT : TR_OK;
}

static tr_status check_log(struct vfs *vfs, struct log *log, sqlite3_file *database,
                           const char **why)
{
    struct sum sum;
    uint64_t number = 0;
    *why = "is damaged: some of it cannot be read";
    if (!read_header(log, &sum))
        return check_headless(vfs, log, database);
    while (read_frame(log, number) && frame_fits(log, sum, &sum))
        number++;
    if (was_more_durable(log, number))
        return TR_STORE_CORRUPT;
    if (vfs->is_marked && number >= log->frame_count) {
        *why = "was truncated: the end is missing";
        return TR_STORE_CORRUPT;
    }
    return TR_OK;
}

/* Checks the files. The log and the database are open. */
static tr_status check_files(struct vfs *vfs, sqlite3_file *file, sqlite3_file *database,
                             const char **why)
{
    sqlite3_int64 size = 0;
    sqlite3_int64 database_size = 0;
    if (database->pMethods->xFileSize(database, &database_size) != SQLITE_OK ||
        file->pMethods->xFileSize(file, &size) != SQLITE_OK) {
        *why = "cannot be examined";
        return TR_STORE_FAILED;
    }
    if (vfs->is_marked && size < LOG_HEADER + FRAME) {
        *why = "was truncated: it is shorter than an empty log";
        return TR_STORE_CORRUPT;
    }
    if (size <= LOG_HEADER)
        return TR_OK;
    struct log *log = source_resize(&vfs->source, NULL, sizeof *log);
    if (!log)
        return TR_NO_MEMORY;
    *log = (struct log){.file = file, .frame_count = (uint64_t)(size - LOG_HEADER) / FRAME};
    log->pages_max = (uint64_t)database_size / PAGE_SIZE + log->frame_count;
    tr_status status = check_log(vfs, log, database, why);
    source_resize(&vfs->source, log, 0);
    return status;
}

static void put_number(unsigned char *bytes, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(number >> (24 - 8 * i));
}

void tr__log_make_header(const struct memory_source *source, unsigned char header[VFS_LOG_HEADER])
{
    enum { VERSION_AT = 4, SIZE_AT = 8, SALTS_AT = 16, SUM_AT = 24 };
    const struct log any = {.is_big_endian = false};
    struct sum sum = {0, 0};
    uint64_t salts = source->platform->random(source->platform);
    memset(header, 0, LOG_HEADER);
    put_number(header, LOG_MAGIC);
    put_number(header + VERSION_AT, LOG_VERSION);
    put_number(header + SIZE_AT, PAGE_SIZE);
    memcpy(header + SALTS_AT, &salts, sizeof salts);
    add_sum(&any, &sum, header, SUM_AT);
    put_number(header + SUM_AT, sum.first);
    put_number(header + SUM_AT + 4, sum.second);
}

tr_status tr__log_check(struct vfs *vfs, sqlite3_file *database, const char **why)
{
    int is_there = 0;
    sqlite3_file *file;
    *why = "cannot be searched for";
    if (vfs->base.xAccess(&vfs->base, vfs->log_path, SQLITE_ACCESS_EXISTS, &is_there) != SQLITE_OK)
        return TR_STORE_FAILED;
    if (!is_there) { /* or empty */
        *why = "is missing or empty";
        return vfs->is_marked ? TR_STORE_CORRUPT : TR_OK;
    }
    *why = "cannot be opened";
    tr_status status = tr__vfs_open_log(vfs, &file);
    if (status != TR_OK)
        return status;
    status = check_files(vfs, file, database, why);
    tr__vfs_close_log(vfs, file);
    return status;
}
