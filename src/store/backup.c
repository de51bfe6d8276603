/* SPDX-License-Identifier: Apache-2.0 */
/** Backup, check and compaction of a store. This is the part that all drivers share. */
#include "store/backup.h"

#include "store/core.h"
#include "store/tidy.h"

#include "os/file.h"

#include <stdio.h>

static tr_status backup_refuse(tr_error *error, tr_status status, const char *text)
{
    if (error) {
        *error = (tr_error){.status = status};
        (void)snprintf(error->text, sizeof error->text, "%s", text);
    }
    return status;
}

/* Returns how many batches were committed so far. */
static uint64_t committed(const struct store *store)
{
    return atom64_load(&store->group_sizes.sum, ATOM_RELAXED);
}

static void step_begin(struct store *store)
{
    store->step_ns = store->platform->mono_now(store->platform);
    store->step_batches = committed(store);
}

/* If batches were committed during the step, or a commit runs now, waits as long as the step took,
 * but at most STORE_REST_NS. So a backup uses the disk and the processors for at most half of the
 * time. Commits have the other half. The backup takes at most twice as long as without commits. */
static void step_rest(struct store *store)
{
    const tr_platform *platform = store->platform;
    tr_time now_ns = platform->mono_now(platform);
    tr_time took_ns = now_ns - store->step_ns;
    if (committed(store) != store->step_batches || tr__store_writing_since(store)) {
        tr_time until_ns = now_ns + (took_ns < STORE_REST_NS ? took_ns : STORE_REST_NS);
        while (platform->mono_now(platform) < until_ns)
            platform->park(platform, store->hold_parker, until_ns);
    }
    step_begin(store);
}

tr_status tr__store_backup(struct store *store, const char *path, store_backup_step *on_step,
                           void *context, tr_error *error)
{
    uint32_t expected = 0;
    if (!path)
        return backup_refuse(error, TR_INVALID_ARGUMENT, "invalid path of a backup: none");
    if (!store->driver->backup || store->is_threadless)
        return backup_refuse(error, TR_NOT_SUPPORTED, "a store without threads has no backup");
    if (tr__store_status(store) != TR_OK)
        return backup_refuse(error, TR_STORE_FAILED, "cannot copy the store: the store has failed");
    if (!atom32_compare_exchange(&store->has_backup, &expected, 1, ATOM_ACQUIRE, ATOM_RELAXED))
        return backup_refuse(
            error, TR_STORE_BUSY, "cannot copy the store: another backup or a compaction runs");
    const struct store_backup_call call = {
        .path = path,
        .on_step = on_step,
        .context = context,
        .hold = tr__tidy_hold,
        .give = tr__tidy_give,
        .rest = step_rest,
        .store = store,
    };
    step_begin(store);
    tr_status status = store->driver->backup(store->session, &call, error);
    /* pairs with the exchange in this function */
    atom32_store(&store->has_backup, 0, ATOM_RELEASE);
    return status;
}

/* Checks whether these options can be used for a store that is not open. */
static tr_status check_options(const struct store_options *options, bool is_supported,
                               tr_error *error)
{
    if (options->program && !*options->program)
        return backup_refuse(error, TR_INVALID_ARGUMENT, "a store needs the name of its program");
    if (!is_supported)
        return backup_refuse(
            error, TR_NOT_SUPPORTED, "no store: this Troupe was built without SQLite");
    return TR_OK;
}

tr_status tr__store_check(const struct store_options *options, struct store_check *report,
                          store_check_damage *on_damage, void *context, tr_error *error)
{
    const struct store_driver *driver =
        options->driver ? options->driver : tr__store_driver_default();
    if (!options->program)
        return backup_refuse(error, TR_INVALID_ARGUMENT, "a store needs the name of its program");
    tr_status status = check_options(options, driver->check != NULL, error);
    return status ? status : driver->check(options, report, on_damage, context, error);
}

tr_status tr__store_compact(const struct store_options *options, struct store_compact *report,
                            tr_error *error)
{
    const struct store_driver *driver =
        options->driver ? options->driver : tr__store_driver_default();
    tr_status status = check_options(options, driver->compact != NULL, error);
    return status ? status : driver->compact(options, report, error);
}

/* Returns the size of the files of a store, in bytes. Returns 0 if the store is in memory. */
static uint64_t files_size(const struct store *store)
{
    static const char *const names[] = {"troupe.db", "troupe.db-log"};
    uint64_t bytes = 0;
    for (size_t i = 0; store->directory && i < sizeof names / sizeof *names; i++) {
        struct os_file_id id;
        char path[OS_PATH_SIZE];
        int length = snprintf(path, sizeof path, "%s/%s", store->directory, names[i]);
        if (length > 0 && (size_t)length < sizeof path &&
            tr__os_file_find(path, &id, NULL) == TR_OK)
            bytes += id.size;
    }
    return bytes;
}

tr_status tr__store_shrink(struct store *store, const atom32 *is_cancelled,
                           struct store_compact *report, tr_error *error)
{
    uint32_t expected = 0;
    struct store_why why = {""};
    if (!store->driver->shrink || store->is_threadless)
        return backup_refuse(error, TR_NOT_SUPPORTED, "a store without threads is not compacted");
    if (!atom32_compare_exchange(&store->has_backup, &expected, 1, ATOM_ACQUIRE, ATOM_RELAXED))
        return backup_refuse(
            error, TR_STORE_BUSY, "cannot compact the store: a backup or another compaction runs");
    report->bytes_before = files_size(store);
    tr__tidy_hold(store);
    tr_status status = tr__store_order_shrink(store, is_cancelled, &why);
    tr__tidy_give(store);
    report->bytes_after = files_size(store);
    /* pairs with the exchange in this function */
    atom32_store(&store->has_backup, 0, ATOM_RELEASE);
    return status ? backup_refuse(error, status, why.text) : TR_OK;
}
