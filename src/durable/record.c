/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <troupe/wire.h>

#include "actor/ask/turn_asks.h"
#include "actor/cell/ask_table.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/log.h"
#include "actor/mail/address.h"
#include "actor/mail/mail.h"
#include "base/crc32.h"
#include "durable/actor.h"
#include "durable/record_plain.h"
#include "durable/turn.h"
#include "os/file.h"
#include "os/plain_file.h"
#include "os/record_file.h"
#include "wire/conceal.h"

void tr__recorder_init(struct recorder *recorder, struct tr_system *system, const char *directory,
                       bool has_secrets)
{
    *recorder = (struct recorder){.base = {.on_read = tr__record_number,
                                           .on_unsent = tr__record_answer,
                                           .on_begin = tr__record_plain_begin,
                                           .on_end = tr__record_plain_end,
                                           .has_loaded = tr__record_plain_loaded},
                                  .system = system,
                                  .directory = directory,
                                  .has_secrets = has_secrets};
    atom64_init(&recorder->base.actor, 0);
    atom64_init(&recorder->again_ns, 0);
    atom64_init(&recorder->durable_actor, 0);
    atom32_init(&recorder->durable_left, 0);
    lock_init(&recorder->lock);
    system->durable.recorder = &recorder->base;
}

/* ---- What a turn reads. ---- */

/* Whether to keep what this turn reads. For a turn of an actor that is not durable, the caller must also check
 * self->reads, which only recorded turns have. */
static bool is_recorded(const struct tr_self *self)
{
    const struct recorder *recorder = recorder_of(self);
    const struct durable_actor *actor = durable_of(self);
    return recorder && recorder->directory && (!actor || !actor->events);
}

/* Returns the record that is being run again. Returns NULL if there is none. */
static struct replay *replay_of(const struct tr_self *self)
{
    const struct recorder *recorder = recorder_of(self);
    return recorder ? recorder->replay : NULL;
}

const tr_type *tr__record_state_type(const struct tr_self *self)
{
    const struct durable_actor *actor = durable_of(self);
    return actor ? actor->kind->declared->state : self->cell->dispatch->behavior->options.shows;
}

/* Adds an item to the record. Copies its bytes. If there is no memory, marks the record as
 * incomplete. */
static void read_add(struct tr_self *self, uint32_t what, uint64_t number, tr_bytes bytes)
{
    struct worker *worker = self->worker;
    struct record_reads *reads = self->reads;
    bool fits = reads->count < RECORD_READS_MAX && reads->bytes + bytes.size <= RECORD_SIZE_MAX / 2;
    if (fits && reads->count == reads->capacity) {
        size_t capacity = reads->capacity ? 2 * reads->capacity : 8;
        struct tr_record_item *items =
            source_resize(&worker->source, reads->items, capacity * sizeof *items);
        fits = items;
        reads->items = items ? items : reads->items;
        reads->capacity = items ? capacity : reads->capacity;
    }
    void *copy = fits && bytes.size ? source_resize(&worker->source, NULL, bytes.size) : NULL;
    if (!fits || (bytes.size && !copy)) {
        reads->is_cut = true;
        return;
    }
    if (copy)
        memcpy(copy, bytes.data, bytes.size);
    reads->items[reads->count++] =
        (struct tr_record_item){(uint8_t)what, number, {copy, bytes.size}};
    reads->bytes += bytes.size;
}

/* Returns the next item of this kind in the record that is being run again. Returns NULL if there
 * is none. */
static const struct tr_record_item *replay_next(struct replay *replay, uint32_t what)
{
    const struct tr_record *record = replay->record;
    while (replay->next[what] < record->items.count) {
        const struct tr_record_item *item = &record->items.items[replay->next[what]++];
        if (item->what == what)
            return item;
    }
    replay->has_strayed = true;
    return NULL;
}

void tr__record_number(struct tr_self *self, uint32_t what, uint64_t *number)
{
    struct replay *replay = replay_of(self);
    const struct tr_record_item *item = replay ? replay_next(replay, what) : NULL;
    if (item)
        *number = item->number;
    else if (is_recorded(self))
        read_add(self, what, *number, (tr_bytes){NULL, 0});
}

void tr__record_key(struct tr_self *self, bool *is_there, tr_bytes *value)
{
    struct replay *replay = replay_of(self);
    const struct tr_record_item *item = replay ? replay_next(replay, RECORD_KEY) : NULL;
    if (item) {
        *is_there = item->number;
        *value = item->bytes;
    } else if (is_recorded(self)) {
        read_add(self, RECORD_KEY, *is_there, *is_there ? *value : (tr_bytes){NULL, 0});
    }
}

/* Writes a size, the lowest byte first. */
static void size_write(unsigned char *to, size_t size)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(size >> 8 * i);
}

/* Reads the pairs of an item. Returns false if the item is damaged, or if there is no memory. */
static bool pairs_read(struct tr_self *self, const struct tr_record_item *item, const tr_kv **list)
{
    size_t count = item->number <= item->bytes.size / RECORD_PAIR_LEAST ? (size_t)item->number : 0;
    tr_kv *pairs = tr_try_scratch(self, (count + 1) * sizeof *pairs);
    if (!pairs || !tr__record_pairs(item, pairs, count))
        return false;
    *list = pairs;
    return true;
}

/* Adds pairs to the record as one item. tr_kv_list has read these pairs. */
static void pairs_add(struct tr_self *self, const tr_kv *list, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += 8 + list[i].key.size + list[i].value.size;
    unsigned char *bytes =
        size <= RECORD_SIZE_MAX ? source_resize(&self->worker->source, NULL, size + 1) : NULL;
    if (!bytes) {
        self->reads->is_cut = true;
        return;
    }
    unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++) {
        const tr_bytes pieces[] = {list[i].key, list[i].value};
        size_write(at, pieces[0].size);
        size_write(at + 4, pieces[1].size);
        at += 8;
        for (size_t piece = 0; piece < 2; piece++) {
            if (pieces[piece].size)
                memcpy(at, pieces[piece].data, pieces[piece].size);
            at += pieces[piece].size;
        }
    }
    read_add(self, RECORD_LIST, count, (tr_bytes){bytes, size});
    source_resize(&self->worker->source, bytes, 0);
}

void tr__record_list(struct tr_self *self, const tr_kv **list, size_t *count)
{
    struct replay *replay = replay_of(self);
    const struct tr_record_item *item = replay ? replay_next(replay, RECORD_LIST) : NULL;
    if (item && pairs_read(self, item, list))
        *count = (size_t)item->number;
    else if (item)
        replay->has_strayed = true;
    else if (is_recorded(self))
        pairs_add(self, *list, *count);
}

/* Returns the packed state as it was before the open commit. */
static tr_bytes state_before(const struct durable_actor *actor)
{
    return actor->is_dirty ? (tr_bytes){actor->finished.state, actor->finished.size}
                           : (tr_bytes){actor->stored, actor->stored_size};
}

void tr__record_before(struct tr_self *self, struct durable_actor *actor)
{
    struct record_reads *reads = self->reads;
    tr_bytes state = state_before(actor);
    if (reads->has_before || !is_recorded(self))
        return;
    reads->has_before = true;
    reads->before = state.size ? source_resize(&self->worker->source, NULL, state.size) : NULL;
    if (state.size && !reads->before) {
        reads->is_cut = true;
        return;
    }
    if (state.size)
        memcpy(reads->before, state.data, state.size);
    reads->before_size = state.size;
}

void tr__record_free(struct worker *worker, struct record_reads *reads)
{
    for (size_t i = 0; i < reads->count; i++)
        source_resize(&worker->source, (void *)(uintptr_t)reads->items[i].bytes.data, 0);
    source_resize(&worker->source, reads->items, 0);
    source_resize(&worker->source, reads->before, 0);
    *reads = (struct record_reads){.count = 0};
}

/* ---- Writing. ---- */

tr_bytes tr__record_pack(struct worker *worker, const tr_type *type, const void *message,
                         bool has_secrets)
{
    void *own = has_secrets ? NULL : tr_message_copy(type, message);
    if (!has_secrets && !own)
        return (tr_bytes){NULL, 0};
    if (own)
        tr__conceal(type, own);
    const void *shown = own ? own : message;
    size_t size = tr_pack(type, shown, NULL, 0, NULL);
    void *bytes = size ? source_resize(&worker->source, NULL, size) : NULL;
    if (bytes && tr_pack(type, shown, bytes, size, NULL) != size) {
        source_resize(&worker->source, bytes, 0);
        bytes = NULL;
    }
    tr_message_free(type, own);
    return (tr_bytes){bytes, bytes ? size : 0};
}

/* Does what tr__record_pack does, for a state that is already packed. */
static tr_bytes state_pack(struct worker *worker, const tr_type *type, tr_bytes packed,
                           bool has_secrets)
{
    void *state;
    tr_bytes bytes = {NULL, 0};
    if (!packed.size || tr_unpack(type, packed, &state, NULL) != TR_OK)
        return bytes;
    bytes = tr__record_pack(worker, type, state, has_secrets);
    tr_message_free(type, state);
    return bytes;
}

/* Adds the outcomes of the turn's asks to its record, in the order in which the turn made the
 * asks. */
static void replies_add(struct tr_self *self, bool has_secrets)
{
    for (uint32_t i = 0; i < self->asks.count; i++) {
        uintptr_t place = self->asks.places[i];
        if (!place_is_answered(place)) {
            const struct ask *ask = (const struct ask *)place;
            uint64_t status = ask->is_done ? (uint64_t) - (int64_t)ask->status : UINT64_MAX;
            read_add(self, RECORD_REPLY, status, (tr_bytes){NULL, 0});
            continue;
        }
        struct envelope *answer = place_answer(place);
        tr_bytes bytes =
            tr__record_pack(self->worker, answer->type, envelope_data(answer), has_secrets);
        read_add(self, RECORD_REPLY, 0, bytes);
        source_resize(&self->worker->source, (void *)(uintptr_t)bytes.data, 0);
    }
}

/*
 * All names of records are taken, so makes a name free by removing the oldest record that may be replaced. The first
 * RECORD_FILES_KEPT records stay, because the first failures are often the cause of later ones. Returns the number of
 * the removed record, or 0 if none was removed.
 */
static int file_free(const struct recorder *recorder, char *path, size_t size)
{
    int oldest = 0;
    tr_time oldest_ns = 0;
    for (int i = RECORD_FILES_KEPT + 1; i <= RECORD_FILES_MAX; i++) {
        uint64_t bytes;
        tr_time written_ns;
        (void)snprintf(path, size, "%s/" RECORD_FILE_FORMAT, recorder->directory, i);
        if (tr__file_look(path, &bytes, &written_ns) && (!oldest || written_ns < oldest_ns)) {
            oldest = i;
            oldest_ns = written_ns;
        }
    }
    tr_error error;
    (void)snprintf(path, size, "%s/" RECORD_FILE_FORMAT, recorder->directory, oldest);
    return oldest && tr__plain_file_remove(path, false, &error) == TR_OK ? oldest : 0;
}

/* Whether a turn that fails may be recorded now. When all names are taken and a record was replaced, this is false for
 * some time. Any worker. */
static bool may_write(const struct tr_self *self, const struct recorder *recorder)
{
    return atom64_load(&recorder->again_ns, ATOM_RELAXED) <= (uint64_t)self->worker->loop.now_ns;
}

/* All names of records are taken. Only one worker may now replace a record, and after that no worker for some time.
 * Returns whether this worker may. */
static bool replace_claim(const struct tr_self *self, struct recorder *recorder)
{
    uint64_t again_ns = atom64_load(&recorder->again_ns, ATOM_RELAXED);
    uint64_t now_ns = (uint64_t)self->worker->loop.now_ns;
    return again_ns <= now_ns && atom64_compare_exchange(&recorder->again_ns,
                                                         &again_ns,
                                                         now_ns + RECORD_REPLACE_NS,
                                                         ATOM_RELAXED,
                                                         ATOM_RELAXED);
}

/*
 * Writes the file of a record under the first name that is free. If no name is free and the turn
 * may replace a record, replaces the oldest one. Returns the number of the record, or 0.
 */
static int file_write(struct tr_self *self, bool is_ordered, tr_bytes body, char *path, size_t size)
{
    struct recorder *recorder = recorder_of(self);
    char program[4096];
    char head[RECORD_HEAD_MAX];
    if (!tr__program_path(program, sizeof program))
        (void)snprintf(program, sizeof program, "?");
    for (char *at = strchr(program, '\n'); at; at = strchr(at, '\n'))
        *at = '?';
    int length = snprintf(head,
                          sizeof head - 32,
                          "troupe-record 1\nprogram %s\nhandler %.200s\nsize %zu\n",
                          program,
                          self->handler->name,
                          body.size);
    uint32_t sum = tr__crc32(tr__crc32(0, head, (size_t)length), body.data, body.size);
    length += snprintf(head + length, 32, "sum %08" PRIx32 "\n\n", sum);
    const tr_bytes pieces[] = {{head, (size_t)length}, body};
    (void)snprintf(path, size, "%s/" RECORD_DIRECTORY, recorder->directory);
    if (tr__os_directory_make(recorder->directory, NULL) != TR_OK ||
        tr__os_directory_make(path, NULL) != TR_OK)
        return 0;
    for (int i = 1; i <= RECORD_FILES_MAX; i++) {
        (void)snprintf(path, size, "%s/" RECORD_FILE_FORMAT, recorder->directory, i);
        tr_status status = tr__file_make(path, pieces, 2);
        if (status != TR_NAME_EXISTS)
            return status == TR_OK ? i : 0;
    }
    if (!is_ordered && !replace_claim(self, recorder))
        return 0;
    int number = file_free(recorder, path, size);
    return number && tr__file_make(path, pieces, 2) == TR_OK ? number : 0;
}

/* Packs a record and writes its file. Returns whether the file was written, and sets *path to its
 * path. */
static bool record_write(struct tr_self *self, struct tr_record *record, bool is_ordered,
                         char *path, size_t size)
{
    tr_bytes body = tr__record_pack(self->worker, &tr_type_tr_record, record, true);
    bool is_written = body.size && body.size <= RECORD_SIZE_MAX - RECORD_HEAD_MAX &&
                      file_write(self, is_ordered, body, path, size);
    source_resize(&self->worker->source, (void *)(uintptr_t)body.data, 0);
    return is_written;
}

static void replay_end(struct replay *replay, const struct tr_self *self)
{
    replay->is_over = true;
    replay->status = self->error.status;
    (void)snprintf(replay->text, sizeof replay->text, "%s", self->error.text);
}

const tr_type *tr__record_handled(const struct tr_self *self, const void **message)
{
    const struct durable_frame *frame = self->frame;
    if (!self->envelope)
        return NULL;
    bool is_alarm = frame && frame->message;
    *message = is_alarm ? frame->message : envelope_data(self->envelope);
    const tr_type *type = is_alarm ? frame->message_type : self->envelope->type;
    return strncmp(type->name, "tr_", 3) == 0 ? NULL : type;
}

/*
 * Writes the record of a turn that has ended with this status. `after` is the state at the end of the turn. If the turn
 * has failed, `after` has no bytes. If `is_ordered` is true, somebody has asked for this record, and it may replace
 * another record at once.
 */
static bool turn_write(struct tr_self *self, tr_status status, tr_bytes after, bool is_ordered,
                       char *path, size_t size)
{
    struct worker *worker = self->worker;
    const struct durable_actor *actor = durable_of(self);
    const struct record_reads *reads = self->reads;
    const struct envelope *envelope = self->envelope;
    const char *own_path = tr_path(self);
    const void *message = NULL;
    const tr_type *type = tr__record_handled(self, &message);
    bool has_secrets = recorder_of(self)->has_secrets;
    tr_bytes before =
        reads->has_before ? (tr_bytes){reads->before, reads->before_size} : state_before(actor);
    replies_add(self, has_secrets);
    const tr_type *state_type = tr__record_state_type(self);
    tr_bytes state = state_pack(worker, state_type, before, has_secrets);
    tr_bytes body = tr__record_pack(worker, type, message, has_secrets);
    bool has_all =
        body.size && (state.size || !before.size) && (after.size || !state_type || status != TR_OK);
    struct tr_record record = {
        .app = worker->system->name,
        .kind = actor ? actor->kind->declared->name : "",
        .key = actor ? actor_key(actor) : (tr_bytes){own_path, strlen(own_path)},
        .version = actor ? actor->kind->version : 0,
        .behavior = actor ? NULL : self->cell->dispatch->behavior->name,
        .state = state,
        .message = type->name,
        .body = body,
        .is_ask = !(self->frame && self->frame->message) &&
                  (envelope->kind == ENVELOPE_ASK || envelope->kind == ENVELOPE_ANSWERED),
        .wall_ns = worker->system->platform->wall_now(worker->system->platform),
        .status = tr_status_name(status),
        .text = status == TR_OK ? "" : self->error.text,
        .has_secrets = has_secrets,
        .is_cut = reads->is_cut || !has_all,
        .items = {reads->items, reads->count},
        .after = after};
    bool is_written = record_write(self, &record, is_ordered, path, size);
    source_resize(&worker->source, (void *)(uintptr_t)state.data, 0);
    source_resize(&worker->source, (void *)(uintptr_t)body.data, 0);
    return is_written;
}

static void record_say(struct tr_self *self, tr_level level, const char *format, const char *path)
{
    tr__log_turn(self->worker->system, level, tr_path(self), self->causal, format, path);
}

void tr__record_failed(struct tr_self *self, bool is_ordered)
{
    struct replay *replay = replay_of(self);
    char path[OS_PATH_SIZE] = "";
    const void *message;
    if (replay)
        replay_end(replay, self);
    if (!is_recorded(self) || !tr__record_handled(self, &message))
        return;
    if (!is_ordered && !may_write(self, recorder_of(self))) {
        record_say(self,
                   TR_LEVEL_WARN,
                   "the turn that failed is not recorded: another one was, less than a second "
                   "ago%s",
                   "");
        return;
    }
    bool is_written =
        turn_write(self, self->error.status, (tr_bytes){NULL, 0}, is_ordered, path, sizeof path);
    record_say(self,
               TR_LEVEL_WARN,
               is_written ? "the turn that failed is recorded; troupe replay %.900s runs it again"
                          : "the turn that failed is not recorded: no memory, too many at once, "
                            "or %.900s cannot be written",
               path);
}

/* ---- Turns whose record tr__record_order has asked for. ---- */

void tr__record_order(struct recorder *recorder, uint64_t actor, uint32_t count)
{
    atom32_store(&recorder->durable_left, 0, ATOM_RELAXED);
    atom64_store(&recorder->durable_actor, actor, ATOM_RELAXED);
    atom32_store(&recorder->durable_left, count, ATOM_RELEASE); /* pairs with tr__record_wants */
}

bool tr__record_wants(const struct tr_self *self)
{
    const struct recorder *recorder = recorder_of(self);
    const void *message;
    if (!recorder || recorder->replay)
        return recorder;
    return atom32_load(&recorder->durable_left, ATOM_ACQUIRE) && /* pairs with tr__record_order */
           atom64_load(&recorder->durable_actor, ATOM_RELAXED) == self->cell->identity &&
           is_recorded(self) && tr__record_handled(self, &message);
}

/* Writes the record of a turn that has ended without a failure. */
static void ended_write(struct tr_self *self, tr_bytes after)
{
    char path[OS_PATH_SIZE] = "";
    bool is_written = turn_write(self, TR_OK, after, true, path, sizeof path);
    record_say(self,
               is_written ? TR_LEVEL_INFO : TR_LEVEL_WARN,
               is_written ? "a turn is recorded; troupe replay %.900s runs it again"
                          : "a turn is not recorded: no memory, or %.900s cannot be written",
               path);
}

/* Returns the packed state of the actor, without secrets. A record need not have the secrets of
 * this state. */
static tr_bytes state_after(struct tr_self *self)
{
    const tr_type *type = tr__record_state_type(self);
    return type ? tr__record_pack(self->worker, type, self->cell->state, false)
                : (tr_bytes){NULL, 0};
}

void tr__record_ended(struct tr_self *self)
{
    struct replay *replay = replay_of(self);
    const void *message;
    if (replay && (replay->is_over || !tr__record_handled(self, &message) ||
                   strcmp(tr__record_handled(self, &message)->name, replay->record->message) != 0))
        return;
    tr_bytes after = state_after(self);
    if (replay) {
        const struct tr_record *record = replay->record;
        replay->is_over = true;
        replay->is_changed =
            strcmp(record->status, "TR_OK") == 0 &&
            (after.size != record->after.size ||
             (after.size && memcmp(after.data, record->after.data, after.size) != 0));
    } else {
        ended_write(self, after);
    }
    source_resize(&self->worker->source, (void *)(uintptr_t)after.data, 0);
}

void tr__record_order_taken(struct tr_self *self)
{
    struct recorder *recorder = recorder_of(self);
    if (!recorder->replay)
        (void)atom32_fetch_sub(&recorder->durable_left, 1, ATOM_RELAXED);
}

/* ---- Answers of a replay. ---- */

bool tr__record_answer(struct tr_self *self, const struct ask *ask, tr_status *status)
{
    struct worker *worker = self->worker;
    struct replay *replay = replay_of(self);
    const struct tr_record_item *item = replay ? replay_next(replay, RECORD_REPLY) : NULL;
    const tr_type *type = ask->type->reply;
    void *reply;
    if (!item)
        return false;
    if (item->number || !type) {
        *status = item->number < 1000 ? (tr_status) - (int)item->number : TR_TIMEOUT;
        return false;
    }
    if (tr_unpack(type, item->bytes, &reply, NULL) != TR_OK) {
        replay->has_strayed = true;
        return false;
    }
    struct address address = {.kind = ENVELOPE_REPLY,
                              .to = self->cell->identity,
                              .sender = ask->to ? ask->to : self->cell->identity,
                              .causal = self->causal,
                              .number = ask->id};
    struct envelope *envelope;
    bool is_sent = tr__mail_new(&worker->pool, address, type, reply, &envelope) == TR_OK;
    tr_message_free(type, reply);
    return is_sent && tr__mail_send_now(worker, self->cell, envelope) == TR_OK;
}
