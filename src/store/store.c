/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The store: submitted batches, and the thread that commits them. The thread that tidies the log is
 * in tidy.c.
 *
 * The writer takes all waiting batches and commits them as one group. Batches that arrive meanwhile
 * form the next group. So the batches of a group share the cost of one sync, and no batch waits for
 * others to arrive.
 */
#include "store/store.h"

#include "store/core.h"
#include "store/entry.h"
#include "store/tidy.h"

#include "base/assert.h"

#include <stdio.h>
#include <string.h>

tr_status tr__store_status(const struct store *store)
{
    return atom32_load(&store->is_failed, ATOM_ACQUIRE) ? TR_STORE_FAILED : TR_OK;
}

size_t tr__store_waiting(struct store *store)
{
    lock_take(&store->lock);
    size_t waiting = store->waiting;
    lock_give(&store->lock);
    return waiting;
}

tr_time tr__store_writing_since(const struct store *store)
{
    return (tr_time)atom64_load(&store->writing_ns, ATOM_RELAXED);
}

tr_time tr__store_await_ns(const struct store *store)
{
    tr_time commit_ns = (tr_time)atom64_load(&store->commit_ns, ATOM_RELAXED);
    return store->is_threadless || commit_ns > TR_SPIN_COMMIT_NS ? 0 : 2 * commit_ns;
}

const char *tr__store_directory(const struct store *store)
{
    return store->directory;
}

uint64_t tr__store_commits(const struct store *store)
{
    return spread_count(&store->commit_times);
}

uint64_t tr__store_epoch(const struct store *store)
{
    return store->epoch;
}

void tr__store_fail(struct store *store, const struct store_why *why)
{
    uint32_t expected = 0;
    atom32_store(&store->is_failed, 1, ATOM_RELEASE); /* pairs with tr__store_status */
    if (!atom32_compare_exchange(&store->is_reported, &expected, 1, ATOM_ACQ_REL, ATOM_RELAXED))
        return;
    char text[TR_LOG_MAX];
    (void)snprintf(text, sizeof text, "the store has failed: %s", why->text);
    store->platform->log(store->platform, TR_LEVEL_ERROR, NULL, text);
    if (store->on_failed)
        store->on_failed(store->context, why->text);
}

static void queue_push(struct store_queue *queue, struct store_batch *batch)
{
    batch->next = NULL;
    if (queue->first)
        queue->last->next = batch;
    else
        queue->first = batch;
    queue->last = batch;
    queue->count++;
    queue->pages += batch->pages;
}

static struct store_batch *queue_pop(struct store_queue *queue)
{
    struct store_batch *batch = queue->first;
    queue->first = batch->next;
    if (!queue->first)
        /* Clear `last` too: take_from may copy this queue into a group, and take_group reads
         * group.last. */
        queue->last = NULL;
    queue->count--;
    queue->pages -= batch->pages;
    return batch;
}

/*
 * Moves batches from the queue to the group. Stops when the group has `count_max` batches, or
 * `pages_max` pages or more. Call with the lock. If the group is empty and all batches of the queue
 * fit, moves the whole list without reading a batch. The batches are in the cache of the worker
 * that made them, so reading them would take a while, and workers that submit batches would wait
 * for the lock.
 */
static void take_from(struct store_queue *queue, struct store_queue *group, size_t count_max,
                      size_t pages_max)
{
    if (group->count == 0 && queue->count <= count_max && queue->pages <= pages_max) {
        *group = *queue;
        *queue = (struct store_queue){.count = 0};
        return;
    }
    while (queue->first && group->count < count_max && group->pages < pages_max)
        queue_push(group, queue_pop(queue));
}

/* Takes waiting batches, up to the limits of a group. Takes only a few batches that destroy, and
 * none of these if commits are slowed down and other batches wait. */
static struct store_queue take_group(struct store *store)
{
    struct store_queue group = {.count = 0};
    lock_take(&store->lock);
    bool is_empty = !store->submitted.first && !store->destroys.first;
    bool is_behind = !is_empty && tr__tidy_is_behind(store);
    size_t pages_max = is_behind ? STORE_GROUP_PAGES_BEHIND : STORE_GROUP_PAGES_MAX;
    take_from(&store->submitted, &group, STORE_GROUP_BATCHES_MAX, pages_max);
    if (!is_behind || group.count == 0) {
        struct store_batch *last = group.last;
        size_t count = last ? STORE_GROUP_DESTROYS_SHARED : STORE_GROUP_DESTROYS_MAX;
        take_from(&store->destroys, &group, group.count + count, SIZE_MAX);
        struct store_batch *destroy = last ? last->next : group.first;
        for (; destroy; destroy = destroy->next)
            destroy->entry->destroys_pending--;
    }
    if (!store->submitted.first && !store->destroys.first)
        atom32_store(&store->has_work, 0, ATOM_RELAXED);
    store->waiting -= group.count;
    lock_give(&store->lock);
    return group;
}

static void store_notify(struct store_batch *first)
{
    for (struct store_batch *batch = first, *next; batch; batch = next) {
        next = batch->next;
        struct store_entry *entry = batch->entry;
        void (*on_done)(void *, struct store_batch *, tr_status) = batch->on_done;
        batch->on_done = NULL;
        /*
         * This call comes before on_done, because after on_done another thread may enter the same name at once. The new
         * entry of that thread must be ready then.
         */
        tr__store_entry_batch_done(entry);
        on_done(batch->context, batch, batch->status);
    }
}

/* Updates the mean duration of commits. The last commit counts for an eighth of the mean. A commit
 * that took longer than 2 * TR_SPIN_COMMIT_NS counts as that long. */
static void learn_commit(struct store *store, tr_time took_ns)
{
    tr_time mean_ns = (tr_time)atom64_load(&store->commit_ns, ATOM_RELAXED);
    took_ns = took_ns < 2 * TR_SPIN_COMMIT_NS ? took_ns : 2 * TR_SPIN_COMMIT_NS;
    atom64_store(&store->commit_ns, (uint64_t)(mean_ns + (took_ns - mean_ns) / 8), ATOM_RELAXED);
}

static tr_status store_commit(struct store *store, const struct store_queue *group,
                              struct store_why *why)
{
    const tr_platform *platform = store->platform;
    tr_time begin_ns = platform->mono_now(platform);
    atom64_store(&store->writing_ns, (uint64_t)begin_ns, ATOM_RELAXED);
    tr_status status = tr__tidy_before(store, group->pages, why);
    if (status == TR_OK)
        status = store->driver->commit(store->session, group->first, why);
    atom64_store(&store->writing_ns, 0, ATOM_RELAXED);
    tr_time took_ns = platform->mono_now(platform) - begin_ns;
    learn_commit(store, took_ns);
    spread_add(&store->commit_times, SPREAD_FIRST_NS, (uint64_t)took_ns);
    spread_add(&store->group_sizes, STORE_SIZES_FIRST, group->count);
    return status;
}

/* Commits one group. Returns false if no batch was waiting. */
static bool commit_group(struct store *store)
{
    struct store_queue group = take_group(store);
    struct store_batch *first = group.first;
    if (!first)
        return false;
    tr_status status = tr__store_status(store);
    struct store_why why;
    if (status == TR_OK) {
        status = store_commit(store, &group, &why);
        if (status != TR_OK || tr__tidy_after(store, &why) != TR_OK)
            tr__store_fail(store, &why);
    }
    if (status != TR_OK) {
        for (struct store_batch *batch = first; batch; batch = batch->next)
            batch->status = TR_STORE_FAILED;
    }
    store_notify(first);
    return true;
}

/*
 * Deletes a part of the rows of destroyed actors. Returns false if no such rows are left, or if the
 * store is being closed.
 */
static bool store_bury(struct store *store)
{
    struct store_why why;
    bool has_more = false;
    lock_take(&store->lock);
    bool is_over = store->is_over;
    lock_give(&store->lock);
    if (is_over || tr__store_status(store) != TR_OK)
        return false;
    tr_status status = store->is_burying ? tr__tidy_before(store, STORE_BURY_PAGES, &why) : TR_OK;
    if (status == TR_OK)
        status = store->driver->bury(store->session, &has_more, &why);
    if (status == TR_OK && has_more)
        status = tr__tidy_after(store, &why);
    if (status != TR_OK)
        tr__store_fail(store, &why);
    store->is_burying = status == TR_OK && has_more;
    return store->is_burying;
}

/* Decides whether the writer polls before its next sleep. `was_soon` says that a batch came so soon
 * that polling has found it or would have found it. */
static void store_learn(struct store *store, bool was_soon)
{
    uint32_t next = store->spin_skips_next * 2 + 1;
    store->spin_skips_next = was_soon                      ? 0
                             : next < STORE_SPIN_SKIPS_MAX ? next
                                                           : STORE_SPIN_SKIPS_MAX;
    store->spin_skips = store->spin_skips_next;
}

/* Polls for work for a short time, and yields the processor meanwhile. Returns whether there is
 * work. Does not poll if recent polls found nothing. */
static bool store_look(struct store *store)
{
    const tr_platform *platform = store->platform;
    if (store->spin_skips > 0) {
        store->spin_skips--;
        return false;
    }
    tr_time deadline = platform->mono_now(platform) + STORE_SPIN_NS;
    do {
        /* This load is relaxed, because the caller takes the lock before it reads the batches. */
        if (atom32_load(&store->has_work, ATOM_RELAXED)) {
            store_learn(store, true);
            return true;
        }
        platform->yield(platform);
    } while (platform->mono_now(platform) < deadline);
    store_learn(store, false);
    return false;
}

static void sleep_until_woken(struct store *store, tr_time deadline_ns)
{
    const tr_platform *platform = store->platform;
    tr_time begin = platform->mono_now(platform);
    platform->park(platform, store->writer_parker, deadline_ns);
    if (platform->mono_now(platform) - begin < STORE_SPIN_NS)
        store_learn(store, true); /* the batch came so soon that polling would have found it */
}

static void writer_main(void *context)
{
    struct store *store = context;
    for (;;) {
        if (tr__tidy_shrink(store) || commit_group(store) || store_bury(store) || store_look(store))
            continue;
        tr_time deadline_ns = tr__tidy_idle(store);
        lock_take(&store->lock);
        bool is_empty = !store->submitted.first && !store->destroys.first && !store->shrink;
        bool is_over = store->is_over;
        store->is_writer_idle = is_empty && !is_over;
        lock_give(&store->lock);
        if (is_empty && is_over)
            return;
        if (is_empty)
            sleep_until_woken(store, deadline_ns);
    }
}

bool tr__store_work(struct store *store)
{
    TR_ASSERT(store->is_threadless);
    bool has_worked = commit_group(store);
    while (has_worked && store_bury(store))
        continue;
    return has_worked;
}

tr_status tr__store_submit(struct store_batch *batch,
                           void (*on_done)(void *context, struct store_batch *batch,
                                           tr_status status),
                           void *context)
{
    struct store_entry *entry = batch->entry;
    struct store *store = entry->store;
    TR_ASSERT(on_done);
    TR_ASSERT(!batch->on_done);
    TR_ASSERT(tr__store_entry_is_ready(entry));
    if (tr__store_status(store) != TR_OK)
        return TR_STORE_FAILED;
    store->driver->prepare(store->session, batch);
    lock_take(&store->lock);
    TR_ASSERT(!entry->is_left);
    if (!atom32_load(&entry->is_current, ATOM_RELAXED) ||
        atom32_load(&entry->is_broken, ATOM_RELAXED)) {
        lock_give(&store->lock);
        return TR_STALE;
    }
    batch->on_done = on_done;
    batch->context = context;
    bool was_empty = !store->submitted.first && !store->destroys.first;
    bool was_idle = store->is_writer_idle;
    store->is_writer_idle = false;
    if (was_empty)
        atom32_store(&store->has_work, 1, ATOM_RELAXED);
    /* All waiting batches of an entry go to the same queue, so that they stay in order. */
    bool is_destroy = entry->pending == entry->destroys_pending &&
                      (batch->is_destroy || entry->destroys_pending > 0);
    entry->destroys_pending += is_destroy;
    queue_push(is_destroy ? &store->destroys : &store->submitted, batch);
    entry->pending++;
    store->waiting++;
    lock_give(&store->lock);
    if (was_idle)
        store->platform->wake(store->platform, store->writer_parker);
    if (was_empty && store->is_threadless && store->on_work)
        store->on_work(store->context);
    return TR_OK;
}

static void stop_writer(struct store *store)
{
    lock_take(&store->lock);
    store->is_over = true;
    lock_give(&store->lock);
    store->platform->wake(store->platform, store->writer_parker);
    store->platform->thread_join(store->platform, store->writer);
}

static tr_status start_threads(struct store *store)
{
    const tr_platform *platform = store->platform;
    tr_status status = platform->parker_new(platform, &store->writer_parker);
    if (status)
        return status;
    status = platform->parker_new(platform, &store->checkpoint_parker);
    if (status)
        goto free_writer_parker;
    status = platform->parker_new(platform, &store->hold_parker);
    if (status)
        goto free_checkpoint_parker;
    status = platform->thread_start(platform, "store", writer_main, store, &store->writer);
    if (status)
        goto free_hold_parker;
    status =
        platform->thread_start(platform, "store tidy", tr__tidy_main, store, &store->checkpointer);
    if (status)
        goto stop_writer;
    return TR_OK;
stop_writer:
    stop_writer(store);
free_hold_parker:
    platform->parker_free(platform, store->hold_parker);
free_checkpoint_parker:
    platform->parker_free(platform, store->checkpoint_parker);
free_writer_parker:
    platform->parker_free(platform, store->writer_parker);
    return status;
}

static void stop_threads(struct store *store)
{
    const tr_platform *platform = store->platform;
    stop_writer(store);
    atom32_store(&store->checkpoint_over, 1, ATOM_RELEASE); /* pairs with tr__tidy_main */
    platform->wake(platform, store->checkpoint_parker);
    platform->thread_join(platform, store->checkpointer);
    platform->parker_free(platform, store->hold_parker);
    platform->parker_free(platform, store->checkpoint_parker);
    platform->parker_free(platform, store->writer_parker);
}

static tr_status store_refuse(tr_error *error, tr_status status, const char *text)
{
    if (error) {
        *error = (tr_error){.status = status};
        (void)snprintf(error->text, sizeof error->text, "%s", text);
    }
    return status;
}

static bool has_program(const struct store_options *options)
{
    const char *program = options->program;
    return program && *program && strnlen(program, TR_NAME_MAX + 1) <= TR_NAME_MAX;
}

tr_status tr__store_salvage(const struct store_options *from, const struct store_options *into,
                            struct store_salvage *report, store_salvage_lost *on_lost,
                            void *context, tr_error *error)
{
    const struct store_driver *driver = from->driver ? from->driver : tr__store_driver_default();
    if ((from->program && !has_program(from)) || !has_program(into))
        return store_refuse(error, TR_INVALID_ARGUMENT, "a store needs the name of its program");
    if (!driver->salvage)
        return store_refuse(
            error, TR_NOT_SUPPORTED, "no store: this Troupe was built without SQLite");
    return driver->salvage(from, into, report, on_lost, context, error);
}

/* Copies the name of the directory. Returns false if there is no memory. */
static bool store_name(struct store *store, const char *path)
{
    size_t size = strlen(path) + 1;
    store->directory = source_resize(&store->source, NULL, size);
    if (store->directory)
        memcpy(store->directory, path, size);
    return store->directory;
}

tr_status tr__store_open(const struct store_options *options, struct store **store, tr_error *error)
{
    bool is_any = options->is_read_only && !options->program;
    if (!is_any && !has_program(options))
        return store_refuse(error, TR_INVALID_ARGUMENT, "a store needs the name of its program");
    struct store *made = source_resize(&options->source, NULL, sizeof *made);
    if (!made)
        return store_refuse(error, TR_NO_MEMORY, "no memory for a store");
    *made = (struct store){
        .source = options->source,
        .platform = options->source.platform,
        .driver = options->driver ? options->driver : tr__store_driver_default(),
        .is_threadless = options->is_threadless || options->is_read_only,
        .is_read_only = options->is_read_only,
        .on_work = options->on_work,
        .on_failed = options->on_failed,
        .context = options->context,
    };
    lock_init(&made->lock);
    tr_status status = tr__store_entries_init(made);
    if (status == TR_OK && options->path && !options->disk && !store_name(made, options->path)) {
        tr__store_entries_deinit(made);
        status = TR_NO_MEMORY;
    }
    if (status) {
        (void)store_refuse(error, status, "no memory for a store");
        goto free_store;
    }
    status = made->driver->open(options, &made->session, &made->epoch, error);
    if (status)
        goto deinit_entries;
    tr__tidy_init(made);
    if (!made->is_threadless) {
        status = start_threads(made);
        if (status) {
            (void)store_refuse(error, status, "the threads of the store did not start");
            goto close_session;
        }
    }
    *store = made;
    return TR_OK;
close_session:
    made->driver->close(made->session);
deinit_entries:
    tr__store_entries_deinit(made);
    source_resize(&options->source, made->directory, 0);
free_store:
    source_resize(&options->source, made, 0);
    return status;
}

void tr__store_close(struct store *store)
{
    if (store->is_threadless) {
        while (commit_group(store))
            continue;
    } else {
        stop_threads(store);
    }
    store->driver->close(store->session);
    tr__store_entries_deinit(store);
    struct memory_source source = store->source;
    source_resize(&source, store->directory, 0);
    source_resize(&source, store, 0);
}
