/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The file of a record (durable/record.h):
 *
 *     troupe-record 1
 *     program /usr/bin/shop
 *     handler on_pay
 *     size 212
 *     sum 8f1c22a0
 *                          an empty line, then `size` bytes: a tr_record in MessagePack
 *
 * The sum is the CRC-32 of all lines before it and of the bytes after the empty line.
 */
#ifndef DURABLE_RECORD_READ_H
#define DURABLE_RECORD_READ_H

#include <troupe/durable.h>
#include <troupe/message.h>

/**
 * Two paths inside the directory of a store: the directory of the records, and the file of the record with a number.
 */
#define RECORD_DIRECTORY "crash"
#define RECORD_FILE_FORMAT RECORD_DIRECTORY "/turn-%d.trr"

/**
 * How often a failed turn may replace a record, when there are RECORD_FILES_MAX of them: at most
 * once in this time.
 */
#define RECORD_REPLACE_NS TR_SECOND

enum {
    RECORD_FILES_MAX = 16,             /* the directory of records has at most this many files */
    RECORD_FILES_KEPT = 8,             /* how many of these files are never replaced */
    RECORD_SIZE_MAX = 8 * 1024 * 1024, /* of a file */
    RECORD_READS_MAX = 4096,           /* at most this many reads of one turn are kept */
    RECORD_HEAD_MAX = 8192,
    RECORD_WHY_SIZE = 200,
    RECORD_PAIR_LEAST = 8 /* bytes before each pair of a list: the sizes of its key and value */
};

enum record_what {
    RECORD_NOW = 1,
    RECORD_WALL,
    RECORD_RANDOM,
    RECORD_REPLY,
    RECORD_KEY,
    RECORD_LIST, /* a list of keys and values */
    RECORD_WHATS
};

/* A value that a turn has read. `number` is the number that was read. For a reply, it is the
 * negated status; for a key, whether the key existed; for a list, how many pairs the list has.
 * `bytes` is a reply, a value, or the pairs. Before each pair are the sizes of its key and value, 4
 * bytes each, low byte first. */
TR_MESSAGE(tr_record_item, (u8, what), (u64, number), (bytes, bytes));
/*
 * A recorded turn. If the turn has not failed, `status` is TR_OK, and `after` is the state at the end of the turn,
 * without secrets. If `behavior` is set, the actor is not durable; then `kind` is "", and `key` is the path of the
 * actor.
 */
TR_MESSAGE(tr_record, (str, app), (str, kind), (bytes, key), (u32, version), (bytes, state),
           (str, message), (bytes, body), (bool, is_ask), (i64, wall_ns), (str, status),
           (str, text), (bool, has_secrets), (bool, is_cut), (list(message(tr_record_item)), items),
           (bytes, after), (str, behavior));

/**
 * Reads the file of a record. The caller owns *record and frees it by
 * tr_message_free(&tr_type_tr_record, record). Fails with TR_BAD_DATA, TR_NO_MEMORY and other
 * statuses of tr_unpack. On failure `why` has an error text.
 */
TR_MUST_CHECK tr_status tr__record_read(tr_bytes file, struct tr_record **record,
                                        char why[RECORD_WHY_SIZE]);

/**
 * Reads the pairs of a list into `pairs`. The pairs point into the item. Returns false if there are
 * more than `max` pairs, if a pair is incomplete, or if bytes are left over.
 */
bool tr__record_pairs(const struct tr_record_item *item, tr_kv *pairs, size_t max);

#endif
