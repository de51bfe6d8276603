/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/dead_letter.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/log.h"
#include "actor/cell/view.h"
#include "actor/mail/dead_letter_batch.h"
#include "actor/mail/group_address.h"
#include "actor/mail/mail.h"
#include "actor/mail/shutdown_stats.h"
#include "base/assert.h"
#include "base/sized.h"
#include "wire/copy.h"
#include "wire/json_write.h"
#include "actor/mail/address.h"
#include "actor/mail/kind.h"

tr_status tr__dead_letters_init(struct dead_letters *letters, const struct memory_source *source)
{
    *letters = (struct dead_letters){0};
    lock_init(&letters->lock);
    size_t size = TR_DEAD_LETTERS_MAX * sizeof *letters->ring;
    letters->ring = source_resize(source, NULL, size);
    return letters->ring ? TR_OK : TR_NO_MEMORY;
}

void tr__dead_letters_deinit(struct dead_letters *letters, const struct memory_source *source)
{
    source_resize(source, letters->ring, 0);
    letters->ring = NULL;
}

static void cut(char *to, size_t size, const char *from)
{
    size_t length = from ? strnlen(from, size - 1) : 0;
    if (length)
        memcpy(to, from, length);
    to[length] = '\0';
}

/*
 * Returns how many dead letters the log has left out before this one. Returns -1 if the log must
 * leave out this one too, because too many were logged in this second. Under the lock.
 */
static int64_t may_log(struct dead_letters *letters, tr_time now_ns)
{
    if (!letters->second_ns || now_ns - letters->second_ns >= TR_SECOND) {
        letters->second_ns = now_ns;
        letters->logged = 0;
    }
    if (letters->logged == TR_DEAD_LETTER_LOGS_MAX) {
        letters->unlogged++;
        return -1;
    }
    letters->logged++;
    int64_t unlogged = (int64_t)letters->unlogged;
    letters->unlogged = 0;
    return unlogged;
}

/* Copies a text. If it does not fit, copies "..." and the end of the text. */
static void cut_front(char *to, size_t size, const char *from)
{
    static const char gap[] = "...";
    size_t length = strlen(from);
    if (length < size) {
        memcpy(to, from, length + 1);
        return;
    }
    memcpy(to, gap, sizeof gap - 1);
    memcpy(to + sizeof gap - 1, from + length + sizeof gap - size, size - sizeof gap + 1);
}

/*
 * Writes the path of the actor with this ref, which may have ended. The system knows the names of
 * the last ENDED_NAMES_MAX actors that have ended. For an actor that ended earlier, the path has a
 * number in place of the name.
 */
static void path_write(struct tr_system *system, uint64_t ref, char *text)
{
    char path[TR_PATH_MAX + 1];
    const struct cell *cell = view_find(system->slots, ref);
    if (!ref) {
        cut(text, TR_DEAD_LETTER_PATH_MAX + 1, "nobody");
        return;
    }
    if (tr__view_ended_path(system, ref, text))
        return;
    if (cell && cell_is_group_address(cell))
        /* the group supervisor has the name of the group */
        cell = slots_parent(system->slots, cell);
    if (!cell) {
        cut(text, TR_DEAD_LETTER_PATH_MAX + 1, "an actor that has stopped");
        return;
    }
    if (cell_is_client(cell)) {
        cut(text, TR_DEAD_LETTER_PATH_MAX + 1, "a client");
        return;
    }
    tr__view_path(system, cell, path);
    cut_front(text, TR_DEAD_LETTER_PATH_MAX + 1, path);
}

/*
 * As path_write, but keeps the last path for the next call, because many dead letters in a row are
 * to the same actor.
 */
static void path_keep(struct tr_system *system, struct dead_letter_path *last, uint64_t ref,
                      char *text)
{
    if (!last->is_known || last->ref != ref) {
        path_write(system, ref, last->text);
        last->ref = ref;
        last->is_known = true;
    }
    memcpy(text, last->text, sizeof last->text);
}

static size_t size_of(const struct dead_letter *letter)
{
    return letter->size ? letter->size : letter->type->size;
}

/*
 * Returns the level of the log for a dead letter. A message without a handler is a mistake. Other
 * dead letters are usual: an actor has ended, and its senders do not know that yet. While the
 * system stops, all actors end, and the report of the shutdown has the number of these dead
 * letters.
 */
static tr_level level_of(const struct tr_system *system, const struct dead_letter *letter)
{
    if (letter->reason == TR_UNHANDLED)
        return TR_LEVEL_WARN;
    bool is_stopping = atom32_load(&system->ending.is_stopping, ATOM_RELAXED);
    return is_stopping && letter->reason == TR_STOPPED ? TR_LEVEL_DEBUG : TR_LEVEL_INFO;
}

static void log_letter(struct tr_system *system, const struct dead_letter *letter, int64_t unlogged)
{
    char from[TR_DEAD_LETTER_PATH_MAX + 1];
    char to[TR_DEAD_LETTER_PATH_MAX + 1];
    path_write(system, letter->from, from);
    path_write(system, letter->to, to);
    char known[96] = "";
    char more[64] = "";
    if (letter->behavior)
        snprintf(known, sizeof known, ", for which %.60s has no handler", letter->behavior);
    if (unlogged > 0)
        snprintf(more, sizeof more, " (%lld more were not logged)", (long long)unlogged);
    tr__log(system,
            level_of(system, letter),
            NULL,
            "dead letter: %.64s of %zu bytes from %s to %s%s: %s%s",
            letter->type->name,
            size_of(letter),
            from,
            to,
            known,
            tr_status_name(letter->reason),
            more);
}

/*
 * Sends a report of a dead letter to a subscriber. If the report itself is lost, it does not become
 * a dead letter.
 */
static void tell_subscriber(struct tr_system *system, struct worker *worker, uint64_t ref,
                            const struct tr_dead_letter *message)
{
    struct cell *cell = slots_find(system->slots, ref);
    if (!cell)
        return;
    struct envelope_pool *pool = worker ? &worker->pool : &system->foreign.pool;
    if (!worker)
        lock_take(&system->foreign.lock);
    struct address address = {.kind = ENVELOPE_NOTICE, .to = ref};
    struct envelope *envelope;
    tr_status status = tr__mail_new(pool, address, &tr_type_tr_dead_letter, message, &envelope);
    if (!worker)
        lock_give(&system->foreign.lock);
    if (status == TR_OK)
        tr__mail_send_any(system, worker, cell, envelope);
}

/*
 * Writes the message of a dead letter as text, if the message is small and not too many texts were
 * written in this second. Under the lock.
 */
static void text_write(struct dead_letters *letters, const struct dead_letter *letter,
                       tr_time now_ns, char *text)
{
    text[0] = '\0';
    /*
     * tr__copy_size returns SIZE_MAX for a message that is malformed or too large. No pointer in
     * such a message may be followed.
     */
    if (!letter->message || tr__copy_size(letter->type, letter->message) > TR_DEAD_LETTER_SHOWN_MAX)
        return;
    if (!letters->texts_second_ns || now_ns - letters->texts_second_ns >= TR_SECOND) {
        letters->texts_second_ns = now_ns;
        letters->texts = 0;
    }
    if (letters->texts == TR_DEAD_LETTER_TEXTS_MAX)
        return;
    letters->texts++;
    if (!tr__json_show(letter->type, letter->message, text, TR_DEAD_LETTER_TEXT_MAX + 1))
        (void)tr_type_print(letter->type, letter->message, text, TR_DEAD_LETTER_TEXT_MAX + 1);
}

/* Writes a record of a dead letter into the ring of the last ones. Under the lock. */
static void keep(struct tr_system *system, const struct dead_letter *letter, tr_time now_ns)
{
    struct dead_letters *letters = system->dead_letters;
    tr_dead_letter_record *record = &letters->ring[letters->total++ % TR_DEAD_LETTERS_MAX];
    cut(record->type, sizeof record->type, letter->type->name);
    cut(record->behavior, sizeof record->behavior, letter->behavior);
    record->from = tr_ref_from_bits(letter->from);
    record->to = tr_ref_from_bits(letter->to);
    record->reason = letter->reason;
    record->time_ns = now_ns;
    record->size = size_of(letter);
    text_write(letters, letter, now_ns, record->message);
    path_keep(system, &letters->last_from, letter->from, record->from_path);
    path_keep(system, &letters->last_to, letter->to, record->to_path);
}

/* Reports a dead letter to all subscribers. */
static void publish(struct tr_system *system, struct worker *worker,
                    const struct dead_letter *letter, tr_time now_ns, const uint64_t *subscribers,
                    size_t count)
{
    /* A report that was lost is not reported again. */
    if (tr_type_is_equal(letter->type, &tr_type_tr_dead_letter))
        return;
    char from[TR_DEAD_LETTER_PATH_MAX + 1];
    char to[TR_DEAD_LETTER_PATH_MAX + 1];
    path_write(system, letter->from, from);
    path_write(system, letter->to, to);
    struct tr_dead_letter message = {.type = letter->type->name,
                                     .from = tr_ref_from_bits(letter->from),
                                     .to = tr_ref_from_bits(letter->to),
                                     .reason = letter->reason,
                                     .time_ns = now_ns,
                                     .behavior = letter->behavior,
                                     .from_path = from,
                                     .to_path = to,
                                     .size = size_of(letter)};
    for (size_t i = 0; i < count; i++)
        tell_subscriber(system, worker, subscribers[i], &message);
}

void tr__dead_letters(struct tr_system *system, struct worker *worker,
                      const struct dead_letter *list, size_t list_count)
{
    struct dead_letters *letters = system->dead_letters;
    tr_time now_ns = system->platform->mono_now(system->platform);
    uint64_t subscribers[TR_DEAD_LETTER_SUBSCRIBERS_MAX];
    int64_t unlogged[DEAD_LETTERS_BATCH];
    TR_ASSERT(list_count <= DEAD_LETTERS_BATCH);
    for (size_t i = 0; i < list_count; i++)
        tr__shutdown_stats_dead(system, list[i].to, 1);
    if (worker)
        /* first hand in the dead letters that this worker has only noted, because they are older */
        tr__dead_letter_batches_end(worker);

    lock_take(&letters->lock);
    for (size_t i = 0; i < list_count; i++) {
        keep(system, &list[i], now_ns);
        unlogged[i] = may_log(letters, now_ns);
    }
    size_t count = letters->subscriber_count;
    memcpy(subscribers, letters->subscribers, count * sizeof *subscribers);
    lock_give(&letters->lock);

    for (size_t i = 0; i < list_count; i++) {
        if (unlogged[i] >= 0)
            log_letter(system, &list[i], unlogged[i]);
        if (count)
            publish(system, worker, &list[i], now_ns, subscribers, count);
    }
}

void tr__dead_letter(struct tr_system *system, struct worker *worker,
                     const struct dead_letter *letter)
{
    tr__dead_letters(system, worker, letter, 1);
}

void tr__dead_letters_hand_in(struct tr_system *system,
                              struct dead_letter_batches *dead_letter_batches)
{
    struct dead_letters *letters = system->dead_letters;
    tr_time now_ns = system->platform->mono_now(system->platform);
    struct dead_letter logged[TR_DEAD_LETTER_LOGS_MAX];
    int64_t unlogged[TR_DEAD_LETTER_LOGS_MAX];
    size_t logged_count = 0;

    lock_take(&letters->lock);
    uint64_t count = atom64_load(&dead_letter_batches->pending, ATOM_RELAXED);
    uint32_t kept = count < TR_DEAD_LETTERS_MAX ? (uint32_t)count : TR_DEAD_LETTERS_MAX;
    uint32_t at = (dead_letter_batches->next + TR_DEAD_LETTERS_MAX - kept) % TR_DEAD_LETTERS_MAX;
    letters->total += count - kept;
    letters->unlogged += count - kept;
    for (uint32_t i = 0; i < kept; i++) {
        const struct dead_letter_batch_note *note = &dead_letter_batches->notes[at];
        const struct dead_letter letter = {.type = note->type,
                                           .size = note->size,
                                           .from = note->from,
                                           .to = note->to,
                                           .reason = note->reason};
        at = at + 1 < TR_DEAD_LETTERS_MAX ? at + 1 : 0;
        keep(system, &letter, now_ns);
        int64_t more = may_log(letters, now_ns);
        if (more < 0)
            continue;
        TR_ASSERT(logged_count < TR_DEAD_LETTER_LOGS_MAX);
        logged[logged_count] = letter;
        unlogged[logged_count++] = more;
    }
    dead_letter_batches->is_logged = letters->logged == TR_DEAD_LETTER_LOGS_MAX;
    dead_letter_batches->handed_in_ns = now_ns;
    atom64_store(&dead_letter_batches->pending, 0, ATOM_RELAXED);
    lock_give(&letters->lock);

    for (size_t i = 0; i < logged_count; i++)
        log_letter(system, &logged[i], unlogged[i]);
}

/*
 * Returns the number of all dead letters, including those that workers have only noted. Under the
 * lock.
 */
static uint64_t total_of(struct tr_system *system)
{
    uint64_t total = system->dead_letters->total;
    for (uint32_t i = 0; i < system->worker_count; i++)
        total += atom64_load(&system->workers[i]->mail.dead_letters.pending, ATOM_RELAXED);
    return total;
}

/* Copies the newest records. Returns the number of copied records. Under the lock. */
static size_t records_copy(const struct dead_letters *letters, tr_dead_letter_record *last,
                           size_t size, size_t max)
{
    uint64_t total = letters->total;
    uint64_t kept = total < TR_DEAD_LETTERS_MAX ? total : TR_DEAD_LETTERS_MAX;
    size_t wanted = last && max < kept ? max : last ? (size_t)kept : 0;
    for (size_t i = 0; i < wanted; i++)
        sized_write((char *)last + i * size,
                    size,
                    &letters->ring[(total - 1 - i) % TR_DEAD_LETTERS_MAX],
                    sizeof letters->ring[0]);
    return wanted;
}

uint64_t tr_system_dead_letters_sized(tr_system *system, tr_dead_letter_record *last, size_t size,
                                      size_t max, size_t *count)
{
    if (count)
        *count = 0;
    if (!system)
        return 0;
    struct dead_letters *letters = system->dead_letters;
    lock_take(&letters->lock);
    uint64_t all = total_of(system);
    size_t copied = records_copy(letters, last, size, max);
    lock_give(&letters->lock);
    if (count)
        *count = copied;
    return all;
}

uint64_t tr__dead_letters_copy(struct tr_system *system, tr_dead_letter_record *last, size_t max,
                               size_t *count)
{
    struct dead_letters *letters = system->dead_letters;
    lock_take(&letters->lock);
    uint64_t total = letters->total;
    size_t copied = records_copy(letters, last, sizeof *last, max);
    lock_give(&letters->lock);
    if (count)
        *count = copied;
    return total;
}

tr_status tr_system_subscribe_dead_letters(tr_system *system, tr_ref who)
{
    if (!system)
        return TR_INVALID_ARGUMENT;
    struct dead_letters *letters = system->dead_letters;
    const struct cell *cell = slots_find(system->slots, who.bits);
    if (!cell)
        return TR_STOPPED;
    if (cell_is_group_address(cell))
        return TR_NOT_SUPPORTED;
    tr_status status = TR_OK;
    lock_take(&letters->lock);
    size_t kept = 0;
    bool is_known = false;
    for (size_t i = 0; i < letters->subscriber_count; i++) {
        /* Remove a subscriber that has stopped. */
        if (!slots_find(system->slots, letters->subscribers[i]))
            continue;
        is_known |= letters->subscribers[i] == who.bits;
        letters->subscribers[kept++] = letters->subscribers[i];
    }
    if (!is_known && kept == TR_DEAD_LETTER_SUBSCRIBERS_MAX)
        status = TR_LIMIT;
    else if (!is_known)
        letters->subscribers[kept++] = who.bits;
    ATOM_POKE(&letters->subscriber_count, kept);
    lock_give(&letters->lock);
    return status;
}

tr_status tr_system_unsubscribe_dead_letters(tr_system *system, tr_ref who)
{
    if (!system)
        return TR_INVALID_ARGUMENT;
    struct dead_letters *letters = system->dead_letters;
    tr_status status = TR_NOT_FOUND;
    lock_take(&letters->lock);
    for (size_t i = 0; i < letters->subscriber_count; i++) {
        if (letters->subscribers[i] != who.bits)
            continue;
        size_t kept = letters->subscriber_count - 1;
        letters->subscribers[i] = letters->subscribers[kept];
        ATOM_POKE(&letters->subscriber_count, kept);
        status = TR_OK;
        break;
    }
    lock_give(&letters->lock);
    return status;
}
