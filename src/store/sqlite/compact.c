/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Compaction, by SQLite's VACUUM: it copies the rows into a temporary file, and then copies that file over the
 * database.
 */
#include "store/sqlite/compact.h"

#include "store/sqlite/check.h"
#include "store/sqlite/make.h"
#include "store/sqlite/session.h"

#include "base/assert.h"

#include <stdio.h>
#include <string.h>

/* Compacts the database. The copy that SQLite makes is a temporary file, because it may be larger than the memory. */
static tr_status compact_all(struct store_session *session, tr_error *error)
{
    struct store_why why;
    struct link *link = &session->writer;
    tr_status status = tr__link_execute(link, "PRAGMA temp_store = FILE; VACUUM");
    if (status)
        return tr__make_refuse_by(error, session, link, status);
    int result =
        sqlite3_wal_checkpoint_v2(link->database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    status = tr__link_status(result);
    if (status)
        (void)tr__session_fail(session, link, "writing the compacted store", &why);
    return status ? tr__make_refuse(error, status, "%s", why.text) : TR_OK;
}

/* Finds out which program owns a store that is not open. */
static tr_status owner_find(const struct store_options *options, char *name, tr_error *error)
{
    uint64_t epoch;
    struct store_session *session = NULL;
    struct store_options reads = *options;
    reads.is_read_only = true;
    tr_status status = tr__session_open(&reads, &session, &epoch, error);
    if (status || !session)
        return status;
    status = tr__make_read_row(session, NULL, name, error);
    tr__session_close(session);
    return status;
}

tr_status tr__session_compact(const struct store_options *options, struct store_compact *report,
                              tr_error *error)
{
    uint64_t epoch;
    char owner[TR_NAME_MAX + 1];
    struct store_options owned = *options;
    struct store_session *session = NULL;
    *report = (struct store_compact){0};
    tr_status status = tr__check_place(options, &report->bytes_before, error);
    if (status == TR_OK && !options->program) {
        status = owner_find(options, owner, error);
        owned.program = owner;
    }
    if (status == TR_OK)
        status = tr__session_open(&owned, &session, &epoch, error);
    if (status || !session)
        return status;
    status = compact_all(session, error);
    tr__session_close(session);
    return status ? status : tr__check_place(options, &report->bytes_after, error);
}

/*
 * SQLite looks for an interruption only while it copies rows, and not while it copies the new file over the old one. It
 * writes in both cases, so it is stopped by a write that fails. As on a full disk, the store then stays as it was.
 */
tr_status tr__session_shrink(struct store_session *session, const atom32 *is_cancelled,
                             struct store_why *why)
{
    struct link *link = &session->writer;
    TR_ASSERT(sqlite3_get_autocommit(link->database));
    session->vfs.stops = is_cancelled;
    tr_status status = tr__link_execute(link, "PRAGMA temp_store = FILE; VACUUM");
    session->vfs.stops = NULL;
    if (status == TR_STORE_FULL && is_cancelled && atom32_load(is_cancelled, ATOM_RELAXED)) {
        status = TR_CANCELLED;
        (void)snprintf(why->text, sizeof why->text, "compacting was stopped; nothing has changed");
    } else if (status) {
        int size = snprintf(why->text, sizeof why->text, "compacting: ");
        tr__make_text_by(&session->vfs, link, why->text + size, sizeof why->text - (size_t)size);
    }
    tr_status after = tr__link_execute(link, "PRAGMA temp_store = MEMORY");
    if (status == TR_STORE_FAILED || after == TR_STORE_FAILED ||
        !sqlite3_get_autocommit(link->database))
        return tr__session_fail(session, link, "compacting", why);
    return status ? status : tr__session_check_files(session, why);
}
