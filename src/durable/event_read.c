/* SPDX-License-Identifier: Apache-2.0 */
/** Reads one event: finds its row in the kind, and migrates it. */
#include "durable/event_read.h"

#include <stdio.h>
#include <string.h>

#include "durable/shapes.h"
#include "wire/shape.h"
#include "wire/msgpack_read.h"

/* The size of the header in front of the result of a migration. With this size the result is
 * aligned. */
enum { MADE_HEADER = 16 };

static const tr_event_row *row_named(const tr_events *events, const char *name)
{
    for (size_t i = 0; i < events->row_count; i++) {
        if (events->rows[i].apply && strcmp(events->rows[i].type->name, name) == 0)
            return &events->rows[i];
    }
    return NULL;
}

static uint32_t version_of(const tr_event_row *row)
{
    return row->version ? row->version : 1;
}

void tr__event_read_free(tr_self *self, struct event_read *read)
{
    tr_message_free(read->block_type, read->block);
    while (read->made) {
        void *made = read->made;
        memcpy(&read->made, made, sizeof read->made);
        tr_free(self, made);
    }
    *read = (struct event_read){.block = NULL};
}

/* Converts the result of a migration to the type that the next step expects. */
static tr_status event_convert(tr_self *self, const struct durable_actor *actor,
                               const tr_type *made_type, const tr_type *wanted,
                               struct event_read *read, const void **data)
{
    void *converted;
    size_t size;
    tr_wire_error error = {.status = TR_OK};
    if (tr_type_is_equal(made_type, wanted))
        return TR_OK;
    tr_status status = tr__shape_convert(
        self->worker, actor->kind->host, made_type, *data, wanted, &converted, &size, &error);
    if (status != TR_OK)
        return status;
    /* Free the old block, because `converted` has copies of everything that the old block points
     * to. */
    tr__event_read_free(self, read);
    read->block = converted;
    read->block_type = wanted;
    *data = converted;
    return TR_OK;
}

static tr_status event_migrate(tr_self *self, const struct durable_actor *actor,
                               const tr_event_row *row, uint32_t version, struct event_read *read,
                               const void **data, char *text)
{
    const tr_migration *step = tr__migration_from(row->migrations, version);
    while (step) {
        char *made = tr_alloc(self, MADE_HEADER + step->to_type->size);
        memcpy(made, &read->made, sizeof read->made);
        read->made = made;
        tr_status status = step->call(self, *data, made + MADE_HEADER);
        const tr_type *made_type = step->to_type;
        uint32_t from = step->from;
        *data = made + MADE_HEADER;
        version = tr__migration_readable(row->migrations, version + 1, version_of(row));
        step = tr__migration_from(row->migrations, version);
        if (status == TR_OK)
            status = event_convert(
                self, actor, made_type, step ? step->from_type : row->type, read, data);
        if (status != TR_OK) {
            snprintf(text,
                     EVENT_TEXT_SIZE,
                     "%s: the migration from version %u failed: %s",
                     row->type->name,
                     from,
                     tr_status_text(status));
            return status;
        }
    }
    return TR_OK;
}

/* Unpacks the document of an event. If the event has migrations, its type is the one that the first
 * migration expects, otherwise the type in the code. */
static tr_status event_unpack(tr_self *self, const struct durable_actor *actor, const char *name,
                              tr_bytes bytes, bool is_migrated, struct event_read *read, char *text)
{
    uint64_t hash;
    bool is_longer;
    struct tail tail;
    tr_wire_error error = {.status = TR_OK};
    tr_bytes document = tr__shape_front_read(bytes, &hash);
    tr_status status =
        tr__shape_check(actor->kind, read->block_type, hash, tr_path(self), &is_longer, error.text);
    if (status == TR_OK)
        status = tr__unpack_tail(read->block_type, document, &read->block, &tail, &error);
    /* Without a migration, ignore fields that are not known. Nothing is lost, because the event on
     * disk stays as it is. With a migration such fields are an error. */
    if (status == TR_OK && hash && is_migrated && (tail.count || tail.is_nested)) {
        snprintf(error.text,
                 sizeof error.text,
                 "the stored data has fields that its migration does not have");
        tr__shape_log(actor->kind, read->block_type, hash, tr_path(self));
        status = TR_WRONG_SHAPE;
    }
    if (status != TR_OK)
        snprintf(text, EVENT_TEXT_SIZE, "%.64s: %.50s %.130s", name, error.path, error.text);
    return status;
}

tr_status tr__event_read(tr_self *self, const struct durable_actor *actor, tr_bytes bytes,
                         struct event_read *read, const tr_event_row **row, const void **data,
                         char *text)
{
    const char *name = bytes.data;
    const unsigned char *at = bytes.data;
    size_t name_size = strnlen(name, bytes.size) + 1;
    if (name_size + 4 > bytes.size) {
        snprintf(text, EVENT_TEXT_SIZE, "not an event");
        return TR_BAD_DATA;
    }
    at += name_size;
    uint32_t version = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    const tr_event_row *found = row_named(actor->kind->declared->options.events, name);
    if (!found) {
        snprintf(text, EVENT_TEXT_SIZE, "%.128s: the kind has no such event", name);
        return TR_WRONG_TYPE;
    }
    if (version > version_of(found)) {
        snprintf(text,
                 EVENT_TEXT_SIZE,
                 "%.128s: version %u is newer than version %u of the code",
                 name,
                 version,
                 version_of(found));
        return TR_STALE;
    }
    version = tr__migration_readable(found->migrations, version, version_of(found));
    const tr_migration *step = tr__migration_from(found->migrations, version);
    read->block_type = step ? step->from_type : found->type;
    tr_bytes rest = {at + 4, bytes.size - name_size - 4};
    tr_status status = event_unpack(self, actor, name, rest, step != NULL, read, text);
    if (status != TR_OK)
        return status;
    *row = found;
    *data = read->block;
    return event_migrate(self, actor, found, version, read, data, text);
}
