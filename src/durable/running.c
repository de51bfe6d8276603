/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/running.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/log.h"
#include "actor/cell/worker.h"
#include "base/assert.h"
#include "calendar/alarm_plan.h"
#include "durable/alarm.h"
#include "durable/items.h"
#include "durable/queue_retry.h"
#include "durable/turn.h"
#include "os/file.h"
#include "os/map_file.h"
#include "store/store.h"

enum {
    /* How many slots of earlier processes are kept. More are not needed, because on most machines
     * fewer handlers run at the same time. See slot_find_past. */
    SLOTS_PAST = 64,
    /* How many turns of one worker can have a slot at the same time: the current turn, and turns
     * that are stuck or in a blocking call. */
    SLOTS_WORKER = 16,
    /*
     * A slot names at most this many items of one turn. If the turn has more items, the slot names
     * the last SLOT_ITEMS of them.
     */
    SLOT_ITEMS = 16,
};

enum slot_state { SLOT_FREE, SLOT_USED };

struct running_item {
    uint64_t id;
    uint32_t attempts; /* how many attempts had failed before */
    uint32_t is_held;
};

struct running_slot {
    atom32 state;
    uint32_t kind_size; /* length of the kind's name, without its NUL */
    uint32_t key_size;
    uint32_t item_count;
    struct running_item items[SLOT_ITEMS];
    uint64_t alarm_id; /* mark of the alarm; "" in `alarm`: the turn has no alarm */
    uint64_t occurrence;
    uint32_t failures;
    char alarm[TR_ALARM_NAME_MAX + 1];
    char name[TR_NAME_MAX + TR_KEY_MAX]; /* name of the kind, then the key */
};

struct running_file {
    char magic[16]; /* has the version of the format; files of other versions are ignored */
    uint64_t slot_size;
    struct running_slot slots[];
};

static const char magic[16] = "troupe running1";

/* ---- The file. ---- */

static size_t slots_max(const struct durable_host *host)
{
    return SLOTS_PAST + (size_t)host->system->worker_count * SLOTS_WORKER;
}

static bool slot_is_used(const struct running_slot *slot)
{
    return atom32_load(&slot->state, ATOM_ACQUIRE) == SLOT_USED; /* pairs with slot_use */
}

static void slot_use(struct running_slot *slot)
{
    atom32_store(&slot->state, SLOT_USED, ATOM_RELEASE); /* pairs with slot_is_used */
}

static void slot_free(struct running_slot *slot)
{
    atom32_store(&slot->state, SLOT_FREE, ATOM_RELAXED);
}

/* Whether this program can read a slot, and has the kind that the slot names. */
static bool slot_is_known(const struct durable_host *host, const struct running_slot *slot)
{
    if (!slot_is_used(slot) || slot->kind_size > TR_NAME_MAX || slot->key_size > TR_KEY_MAX ||
        slot->item_count > SLOT_ITEMS || !memchr(slot->alarm, 0, sizeof slot->alarm))
        return false;
    for (size_t i = 0; i < host->kind_count; i++) {
        const char *name = host->kinds[i].declared->name;
        if (strlen(name) == slot->kind_size && memcmp(name, slot->name, slot->kind_size) == 0)
            return true;
    }
    return false;
}

/* Moves the used slots to the front of the file, and frees all other slots, including those of
 * kinds that this program does not have. If there are more than SLOTS_PAST used slots, keeps only
 * the last of them. */
static void past_collect(struct durable_host *host, size_t count)
{
    struct running_slot *slots = host->running.file->slots;
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (slot_is_known(host, &slots[i])) {
            struct running_slot *to = &slots[found % SLOTS_PAST];
            if (to != &slots[i]) {
                slot_free(to);
                struct running_slot copy = slots[i];
                slot_free(&copy);
                *to = copy;
                slot_use(to);
            }
            found++;
            if (to == &slots[i])
                continue;
        }
        slot_free(&slots[i]);
    }
    atom32_store(&host->running.past_count,
                 found < SLOTS_PAST ? found : SLOTS_PAST,
                 ATOM_RELAXED); /* relaxed, because no worker runs yet */
}

void tr__running_open(struct durable_host *host)
{
    char path[OS_PATH_SIZE];
    void *memory;
    size_t mapped;
    tr_error error;
    const char *directory = tr__store_directory(host->store);
    if (!directory)
        return;
    size_t size = sizeof *host->running.file + slots_max(host) * sizeof(struct running_slot);
    int length = snprintf(path, sizeof path, "%s/running", directory);
    if (length < 0 || (size_t)length >= sizeof path)
        return;
    if (tr__map_file_open(path, size, &memory, &mapped, &error) != TR_OK) {
        tr__log(host->system,
                TR_LEVEL_WARN,
                NULL,
                "attempts that end with the process are not counted: %s",
                error.text);
        return;
    }
    struct running_file *file = memory;
    host->running.file = file;
    host->running.mapped = mapped;
    if (memcmp(file->magic, magic, sizeof magic) != 0 ||
        file->slot_size != sizeof(struct running_slot)) {
        memset(memory, 0, mapped);
        file->slot_size = sizeof(struct running_slot);
        memcpy(file->magic, magic, sizeof magic);
    }
    past_collect(host, (mapped - sizeof *file) / sizeof(struct running_slot));
}

void tr__running_close(struct durable_host *host)
{
    tr__map_file_close(host->running.file, host->running.mapped);
    host->running.file = NULL;
}

/* ---- What runs. ---- */

/* Gives the turn a slot of its worker. The slot has no item and no alarm yet. Returns false if no slot is free. */
static bool slot_take(struct tr_self *self, const struct durable_actor *actor)
{
    struct durable_frame *frame = self->frame;
    struct running_file *file = actor->kind->host->running.file;
    const char *kind = actor->kind->declared->name;
    if (frame->slot || !file)
        return frame->slot;
    struct running_slot *slot = &file->slots[SLOTS_PAST + self->worker->index * SLOTS_WORKER];
    for (size_t i = 0; i < SLOTS_WORKER && slot_is_used(slot); i++)
        slot++;
    if (slot == &file->slots[SLOTS_PAST + (self->worker->index + 1) * SLOTS_WORKER])
        return false;
    size_t size = strlen(kind);
    TR_ASSERT(size <= TR_NAME_MAX);
    TR_ASSERT(actor->key_size <= TR_KEY_MAX);
    slot->item_count = 0;
    slot->alarm[0] = 0;
    slot->kind_size = (uint32_t)size;
    slot->key_size = (uint32_t)actor->key_size;
    memcpy(slot->name, kind, size);
    memcpy(slot->name + size, actor->key, actor->key_size);
    frame->slot = slot;
    return true;
}

static void item_remove(struct running_slot *slot, uint32_t at)
{
    TR_ASSERT(at < slot->item_count);
    slot->item_count--;
    memmove(
        &slot->items[at], &slot->items[at + 1], (slot->item_count - at) * sizeof slot->items[0]);
}

static void item_add(struct running_slot *slot, const struct queue_item *item, bool is_held)
{
    if (slot->item_count && !slot->items[slot->item_count - 1].is_held)
        slot->item_count--;
    if (slot->item_count == SLOT_ITEMS)
        item_remove(slot, 0);
    slot->items[slot->item_count++] =
        (struct running_item){.id = item->id, .attempts = item->attempts, .is_held = is_held};
}

void tr__running_add(struct tr_self *self, const struct queue_item *item, bool is_held)
{
    struct durable_frame *frame = self->frame;
    frame->has_items |= is_held;
    if (!slot_take(self, durable_of(self)))
        return;
    item_add(frame->slot, item, is_held);
    slot_use(frame->slot);
}

void tr__running_drop(struct durable_frame *frame, uint64_t id)
{
    struct running_slot *slot = frame->slot;
    for (uint32_t i = 0; slot && i < slot->item_count; i++) {
        if (slot->items[i].id != id)
            continue;
        if (i + 1 == slot->item_count)
            slot->items[i].is_held = false;
        else
            item_remove(slot, i);
        return;
    }
}

void tr__running_enter(struct tr_self *self)
{
    struct durable_frame *frame = self->frame;
    struct durable_actor *actor = durable_of(self);
    bool has_alarm = frame->has_alarm && !frame->is_alarm_gone && !frame->plan.is_at_most_once;
    if (frame->slot || (!has_alarm && !frame->has_items) || !slot_take(self, actor))
        return;
    struct running_slot *slot = frame->slot;
    LIST_EACH (link, &actor->queues.taken) {
        const struct queue_item *item = LIST_OWNER(link, struct queue_item, taken);
        if (item->taker == self)
            item_add(slot, item, true);
    }
    if (has_alarm) {
        slot->alarm_id = frame->mark.id;
        slot->occurrence = frame->mark.occurrence;
        slot->failures = frame->plan.failures;
        memcpy(slot->alarm, frame->alarm, strlen(frame->alarm) + 1);
    }
    if (slot->item_count || has_alarm)
        slot_use(slot);
    else
        tr__running_leave(frame);
}

void tr__running_leave(struct durable_frame *frame)
{
    if (frame->slot)
        slot_free(frame->slot);
    frame->slot = NULL;
}

/* ---- Slots of an earlier process. ---- */

static bool slot_is_of(const struct running_slot *slot, const struct durable_actor *actor)
{
    const char *kind = actor->kind->declared->name;
    return slot_is_used(slot) && strlen(kind) == slot->kind_size &&
           actor->key_size == slot->key_size && memcmp(slot->name, kind, slot->kind_size) == 0 &&
           memcmp(slot->name + slot->kind_size, actor->key, slot->key_size) == 0;
}

/* Returns the first slot of this actor at index `at` or after it. Returns NULL if there is none. */
static struct running_slot *slot_find_past(const struct durable_actor *actor, size_t at)
{
    const struct durable_host *host = actor->kind->host;
    if (!atom32_load(&host->running.past_count, ATOM_RELAXED))
        return NULL;
    for (; at < SLOTS_PAST; at++) {
        if (slot_is_of(&host->running.file->slots[at], actor))
            return &host->running.file->slots[at];
    }
    return NULL;
}

bool tr__running_has_past(const struct durable_actor *actor)
{
    return slot_find_past(actor, 0);
}

static tr_status slot_fail(struct tr_self *self, struct durable_actor *actor,
                           const struct running_slot *slot)
{
    tr_status status = TR_OK;
    for (uint32_t i = 0; i < slot->item_count && status == TR_OK; i++)
        status = tr__queue_item_crashed(self, actor, slot->items[i].id, slot->items[i].attempts);
    if (status == TR_OK && slot->alarm[0])
        status = tr__alarm_crashed(self,
                                   actor,
                                   slot->alarm,
                                   (struct alarm_mark){slot->alarm_id, slot->occurrence},
                                   slot->failures);
    return status;
}

tr_status tr__running_fail(struct tr_self *self, struct durable_actor *actor)
{
    struct durable_host *host = actor->kind->host;
    struct running_slot *slot;
    tr_status status = TR_OK;
    if (!tr__running_has_past(actor))
        return TR_OK;
    for (size_t at = 0; status == TR_OK && (slot = slot_find_past(actor, at));) {
        status = slot_fail(self, actor, slot);
        at = (size_t)(slot - host->running.file->slots) + 1;
    }
    if (status == TR_OK)
        status = tr_try_save(self);
    while (status == TR_OK && (slot = slot_find_past(actor, 0))) {
        slot_free(slot);
        atom32_fetch_sub(&host->running.past_count, 1, ATOM_RELAXED);
    }
    return status;
}
