/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Decides when the log of the store is written into the database, and by which thread; see tidy.h.
 */
#include "store/tidy.h"

#include "base/assert.h"

static bool is_tidying(const struct store *store)
{
    return atom32_load(&store->tidy_turn, ATOM_ACQUIRE) != TIDY_FREE; /* pairs with tr__tidy_give */
}

/* Takes the turn (rule 6) for this thread. Returns false if the turn is not free. */
static bool tidy_take(struct store *store, enum tidy_turn turn)
{
    uint32_t expected = TIDY_FREE;
    /* pairs with tr__tidy_give, tr__tidy_main */
    return atom32_compare_exchange(&store->tidy_turn, &expected, turn, ATOM_SEQ_CST, ATOM_RELAXED);
}

/* Gives the turn back. If a backup waits for the turn, gives it to the backup, which would
 * otherwise wait for many passes in a row. */
void tr__tidy_give(struct store *store)
{
    const tr_platform *platform = store->platform;
    TR_ASSERT(is_tidying(store));
    /* pairs with tidy_take, is_tidying, await_pass, tr__tidy_hold */
    atom32_store(&store->tidy_turn, TIDY_FREE, ATOM_SEQ_CST);
    if (atom32_load(&store->is_hold_wanted, ATOM_SEQ_CST) && tidy_take(store, TIDY_HELD))
        platform->wake(platform, store->hold_parker);
    if (atom32_load(&store->is_writer_waiting, ATOM_SEQ_CST))
        platform->wake(platform, store->writer_parker);
}

/*
 * If the turn is free, lets the tidying thread begin a pass. The log must have pages that are not in the database (rule
 * 6).
 */
static void begin_pass(struct store *store)
{
    if (tidy_take(store, TIDY_PASS))
        store->platform->wake(store->platform, store->checkpoint_parker);
}

/* Whether the log is so long that it should restart (rule 2). */
static bool is_due(const struct store_log *log)
{
    return log->pages >= log->soon * TIDY_DUE;
}

/* Whether so few pages are missing from the database that the committing thread may write them
 * (rule 2). */
static bool is_rest_small(const struct store_log *log)
{
    bool is_late = log->pages >= log->soon * TIDY_LATE;
    return log->rest_pages <= log->soon / (is_late ? TIDY_REST_PART_LATE : TIDY_REST_PART);
}

/* Waits until the turn is free or `deadline_ns` has come. May return earlier. */
static void await_pass(struct store *store, tr_time deadline_ns)
{
    const tr_platform *platform = store->platform;
    atom32_store(&store->is_writer_waiting, 1, ATOM_SEQ_CST); /* pairs with tr__tidy_give */
    if (atom32_load(&store->tidy_turn, ATOM_SEQ_CST) != TIDY_FREE &&
        !atom32_load(&store->is_shrink_wanted, ATOM_SEQ_CST))
        platform->park(platform, store->writer_parker, deadline_ns);
    atom32_store(&store->is_writer_waiting, 0, ATOM_RELAXED);
}

/* Returns how long a group waits by rule 3. The time is such that commits add half as many pages as
 * the tidying thread writes. */
static tr_time slice_ns(const struct store *store)
{
    tr_time page_ns = (tr_time)atom64_load(&store->tidy_page_ns, ATOM_RELAXED);
    tr_time pages = (tr_time)store->group_pages;
    return page_ns > TIDY_SLICE_NS / 2 / (pages + 1) ? TIDY_SLICE_NS : 2 * page_ns * pages;
}

void tr__tidy_init(struct store *store)
{
    struct store_log log;
    store->driver->look(store->session, &log);
    store->is_tidy = log.file_pages <= log.soon;
}

bool tr__tidy_is_behind(struct store *store)
{
    struct store_log log;
    if (store->is_threadless)
        return false;
    store->driver->look(store->session, &log);
    return log.pages >= log.soon * TIDY_HIGH;
}

/* Returns the time until which the next group must wait, by rules 3 and 4. */
static tr_time wait_until(const struct store *store, const struct store_log *log, bool is_full,
                          bool is_tried, tr_time now_ns)
{
    if (is_full)
        return now_ns + TIDY_WAIT_NS;
    if (log->pages >= log->soon * TIDY_HIGH)
        return now_ns + slice_ns(store);
    return is_tried ? now_ns + TIDY_READER_NS : now_ns;
}

/* If another thread waits for a compaction and has the turn, compacts the store. Returns whether it
 * did. Leaves store->writing_ns as it was. */
static bool shrink_meanwhile(struct store *store)
{
    uint64_t since_ns = atom64_load(&store->writing_ns, ATOM_RELAXED);
    if (!tr__tidy_shrink(store))
        return false;
    atom64_store(&store->writing_ns, since_ns, ATOM_RELAXED);
    return true;
}

/* Applies rules 2 to 4. If the group waits by rule 4, sets is_log_full; the caller clears it. */
static tr_status wait_for_log(struct store *store, size_t pages, struct store_why *why)
{
    const tr_platform *platform = store->platform;
    struct store_log log;
    tr_time deadline_ns = 0;
    for (;;) {
        bool is_busy = is_tidying(store);
        store->driver->look(store->session, &log);
        bool is_full = log.pages > 0 && log.pages + TIDY_ESTIMATE_OFF * pages > log.max;
        if ((!is_due(&log) && !is_full) || tr__store_status(store) != TR_OK)
            return TR_OK;
        bool wants_restart = is_full || is_rest_small(&log);
        bool is_tried = !is_busy && wants_restart && tidy_take(store, TIDY_RESTART);
        if (is_tried) {
            tr_status status = store->driver->restart(store->session, false, why);
            tr__tidy_give(store);
            if (status != TR_STORE_BUSY)
                return status == TR_STORE_FAILED ? status : TR_OK;
        } else if (!is_busy && !wants_restart) {
            begin_pass(store);
        }
        tr_time now_ns = platform->mono_now(platform);
        if (!deadline_ns)
            deadline_ns = wait_until(store, &log, is_full, is_tried, now_ns);
        if (now_ns >= deadline_ns)
            return TR_OK;
        if (is_full)
            atom32_store(&store->is_log_full, 1, ATOM_RELAXED);
        if (shrink_meanwhile(store))
            continue;
        bool is_long = is_full && deadline_ns - now_ns < TIDY_WAIT_NS - TIDY_READER_NS;
        if (is_tried && is_long) /* a reader that is held prevents the restart */
            platform->park(platform, store->writer_parker, now_ns + TIDY_READER_NS);
        else if (is_tried)
            /* a reader prevents the restart, but only for some microseconds */
            platform->yield(platform);
        else
            await_pass(store, deadline_ns);
    }
}

tr_status tr__tidy_before(struct store *store, size_t pages, struct store_why *why)
{
    if (store->is_threadless)
        return TR_OK;
    tr_status status = wait_for_log(store, pages, why);
    if (atom32_load(&store->is_log_full, ATOM_RELAXED))
        atom32_store(&store->is_log_full, 0, ATOM_RELAXED);
    return status;
}

tr_status tr__tidy_after(struct store *store, struct store_why *why)
{
    struct store_log log;
    bool is_busy = is_tidying(store);
    store->driver->look(store->session, &log);
    store->group_pages = log.pages > store->log_pages ? log.pages - store->log_pages : log.pages;
    store->log_pages = log.pages;
    store->is_tidy = false;
    store->idle_ns = 0;
    if (log.pages < log.soon || is_busy)
        return TR_OK;
    if (store->is_threadless) {
        size_t pages;
        return store->driver->checkpoint(store->session, &pages, why);
    }
    if (log.rest_pages >= log.soon || (is_due(&log) && !is_rest_small(&log)))
        begin_pass(store);
    return TR_OK;
}

tr_time tr__tidy_idle(struct store *store)
{
    const tr_platform *platform = store->platform;
    struct store_log log;
    struct store_why why;
    tr_time now_ns = platform->mono_now(platform);
    if (store->is_tidy || tr__store_status(store) != TR_OK)
        return TR_NEVER;
    if (!store->idle_ns)
        store->idle_ns = now_ns;
    if (now_ns - store->idle_ns < TIDY_IDLE_NS)
        return store->idle_ns + TIDY_IDLE_NS;
    /* If the log cannot be truncated now, the next attempt comes after TIDY_IDLE_NS. */
    store->idle_ns = now_ns;
    if (!is_tidying(store)) {
        store->driver->look(store->session, &log);
        bool is_long = log.file_pages > log.soon;
        tr_status status = TR_STORE_BUSY;
        if (is_long && !is_rest_small(&log)) {
            begin_pass(store);
        } else if (is_long && tidy_take(store, TIDY_RESTART)) {
            status = store->driver->restart(store->session, true, &why);
            tr__tidy_give(store);
        }
        if (status == TR_STORE_FAILED)
            tr__store_fail(store, &why);
        store->is_tidy = !is_long || status == TR_OK;
    }
    return store->is_tidy ? TR_NEVER : now_ns + TIDY_IDLE_NS;
}

void tr__tidy_main(void *context)
{
    struct store *store = context;
    const tr_platform *platform = store->platform;
    while (!atom32_load(&store->checkpoint_over, ATOM_ACQUIRE)) { /* pairs with stop_threads */
        if (atom32_load(&store->tidy_turn, ATOM_ACQUIRE) != TIDY_PASS) { /* pairs with tidy_take */
            platform->park(platform, store->checkpoint_parker, TR_NEVER);
            continue;
        }
        struct store_why why;
        tr_time begin_ns = platform->mono_now(platform);
        size_t pages = 0;
        tr_status status = tr__store_status(store);
        if (status == TR_OK) {
            status = store->driver->checkpoint(store->session, &pages, &why);
            if (status != TR_OK)
                tr__store_fail(store, &why);
        }
        tr_time took_ns = platform->mono_now(platform) - begin_ns;
        atom64_store(
            &store->tidy_page_ns, (uint64_t)(took_ns / (tr_time)(pages + 1)), ATOM_RELAXED);
        atom64_store(&store->checkpoint_ns, (uint64_t)took_ns, ATOM_RELAXED);
        (void)atom64_fetch_add(&store->checkpoints, 1, ATOM_RELAXED);
        tr__tidy_give(store);
    }
}

void tr__tidy_hold(struct store *store)
{
    const tr_platform *platform = store->platform;
    atom32_store(&store->is_hold_wanted, 1, ATOM_SEQ_CST); /* pairs with tr__tidy_give */
    while (atom32_load(&store->tidy_turn, ATOM_SEQ_CST) != TIDY_HELD) {
        if (!tidy_take(store, TIDY_HELD))
            platform->park(platform, store->hold_parker, TR_NEVER);
    }
    atom32_store(&store->is_hold_wanted, 0, ATOM_RELAXED);
}

bool tr__tidy_shrink(struct store *store)
{
    const tr_platform *platform = store->platform;
    /* pairs with tr__store_order_shrink */
    if (!atom32_load(&store->is_shrink_wanted, ATOM_ACQUIRE))
        return false;
    lock_take(&store->lock);
    struct store_shrink *shrink = store->shrink;
    store->shrink = NULL;
    atom32_store(&store->is_shrink_wanted, 0, ATOM_RELAXED);
    lock_give(&store->lock);
    TR_ASSERT(shrink);
    tr_status status = tr__store_status(store);
    if (status == TR_OK) {
        atom64_store(&store->writing_ns, (uint64_t)platform->mono_now(platform), ATOM_RELAXED);
        status = store->driver->shrink(store->session, shrink->is_cancelled, &shrink->why);
        atom64_store(&store->writing_ns, 0, ATOM_RELAXED);
        store->is_tidy = false;
        store->idle_ns = 0;
    }
    if (status == TR_STORE_FAILED)
        tr__store_fail(store, &shrink->why);
    shrink->status = status;
    tr_parker *parker = shrink->parker;
    atom32_store(&shrink->is_done, 1, ATOM_RELEASE); /* pairs with tr__store_order_shrink */
    platform->wake(platform, parker);
    return true;
}

tr_status tr__store_order_shrink(struct store *store, const atom32 *is_cancelled,
                                 struct store_why *why)
{
    const tr_platform *platform = store->platform;
    struct store_shrink shrink = {.parker = store->hold_parker, .is_cancelled = is_cancelled};
    lock_take(&store->lock);
    TR_ASSERT(!store->shrink);
    store->shrink = &shrink;
    bool was_idle = store->is_writer_idle;
    store->is_writer_idle = false;
    /* pairs with tr__tidy_shrink, await_pass */
    atom32_store(&store->is_shrink_wanted, 1, ATOM_SEQ_CST);
    lock_give(&store->lock);
    if (was_idle || atom32_load(&store->is_writer_waiting, ATOM_SEQ_CST))
        platform->wake(platform, store->writer_parker);
    while (!atom32_load(&shrink.is_done, ATOM_ACQUIRE)) /* pairs with tr__tidy_shrink */
        platform->park(platform, store->hold_parker, TR_NEVER);
    *why = shrink.why;
    return shrink.status;
}
