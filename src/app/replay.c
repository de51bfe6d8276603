/* SPDX-License-Identifier: Apache-2.0 */
#include "app/replay.h"

#include <string.h>
#include <troupe/ask.h>
#include <troupe/kit.h>
#include <troupe/wire.h>

#include "actor/cell/system.h"
#include "actor/system/kit.h"
#include "app/replay_plain.h"
#include "durable/host.h"
#include "durable/record.h"
#include "observe/json_line.h"
#include "observe/key_text.h"
#include "os/console.h"
#include "os/small_file.h"
#include "store/batch.h"
#include "store/entry.h"

/*
 * A replay gives up if the recorded turn has not ended after this many turns of the kit, or after
 * this many seconds of the kit's clock.
 */
enum { STEPS_MAX = 100000, SECONDS_MAX = 24 * 60 * 60 };

static const tr_durable_kind *kind_find(const struct tr_durables *durables, const char *name)
{
    for (const tr_durable_kind *const *kind = durables->kinds; *kind; kind++) {
        if (strcmp((*kind)->name, name) == 0)
            return *kind;
    }
    return NULL;
}

static const tr_type *message_find(const tr_behavior *behavior, const char *name)
{
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_type *type = behavior->handlers[i].type;
        if (type && strcmp(type->name, name) == 0)
            return type;
    }
    return NULL;
}

static void on_stored(void *context, struct store_batch *batch, tr_status status)
{
    *(tr_status *)context = status;
    tr__store_batch_free(batch);
}

/* Stores the state that the actor had when the recorded turn began. */
static tr_status state_store(struct store *store, const struct tr_record *record)
{
    struct store_entry *entry;
    struct store_batch *batch;
    tr_status stored = TR_FAILED;
    tr_status status = tr__store_enter(store, record->kind, record->key, NULL, NULL, &entry);
    if (status != TR_OK)
        return status;
    status = tr__store_batch_new(entry, &batch);
    if (status == TR_OK) {
        status = tr__store_put_state(batch, record->version, record->state);
        if (status == TR_OK)
            status = tr__store_submit(batch, on_stored, &stored);
        if (status != TR_OK)
            tr__store_batch_free(batch);
    }
    while (status == TR_OK && tr__store_work(store))
        continue;
    tr__store_leave(entry);
    return status == TR_OK ? stored : status;
}

/* Sends the message of the record to its actor. */
static tr_status message_send(tr_client *client, tr_ref actor, const tr_type *type,
                              const struct tr_record *record)
{
    void *message;
    tr_status status = tr_unpack(type, record->body, &message, NULL);
    if (status != TR_OK)
        return status;
    if (record->is_ask && type->reply)
        (void)tr_client_ask(client, actor, type, message, TR_HOUR);
    else
        status = tr_client_tell(client, actor, type, message);
    tr_message_free(type, message);
    return status;
}

/*
 * Whether two error texts of failures are the same. The address in the text of a fault may differ,
 * because stacks and memory have other addresses in another process.
 */
static bool is_same_text(const char *a, const char *b, bool is_fault)
{
    static const char before[] = " at address 0x";
    const char *at_a = is_fault ? strstr(a, before) : NULL;
    const char *at_b = is_fault ? strstr(b, before) : NULL;
    if (!at_a || !at_b)
        return strcmp(a, b) == 0;
    static const char digits[] = "0123456789abcdef";
    size_t size = (size_t)(at_a - a) + sizeof before - 1;
    const char *rest_a = at_a + sizeof before - 1;
    const char *rest_b = at_b + sizeof before - 1;
    return (size_t)(at_b - b) + sizeof before - 1 == size && memcmp(a, b, size) == 0 &&
           strcmp(rest_a + strspn(rest_a, digits), rest_b + strspn(rest_b, digits)) == 0;
}

/* Whether the turn has ended in the same way as in the record. */
static bool is_as_recorded(const struct tr_record *record, const struct replay *replay)
{
    if (!replay->is_over)
        return false;
    if (strcmp(record->status, "TR_OK") == 0)
        return replay->status == TR_OK && !replay->is_changed;
    return strcmp(tr_status_name(replay->status), record->status) == 0 && record->text &&
           is_same_text(replay->text, record->text, replay->status == TR_FAULT);
}

static void outcome_say(const struct tr_record *record, const struct replay *replay)
{
    const char *text = record->text ? record->text : "";
    bool has_failed = strcmp(record->status, "TR_OK") != 0;
    bool is_same = is_as_recorded(record, replay);
    bool has_left_other = !has_failed && replay->is_over && replay->status == TR_OK && !is_same;
    if (is_same && has_failed)
        tr__console_say("the turn has failed again: %s: %s\n", record->status, text);
    else if (is_same)
        tr__console_say("the turn has ended as it was recorded\n");
    if (is_same)
        return;
    if (has_left_other)
        tr__console_say("the turn has ended, and has left another state than was recorded\n");
    else if (!replay->is_over)
        tr__console_say("the turn has not ended: it waits for something that the record does not "
                        "have; recorded was %s: %s\n",
                        record->status,
                        text);
    else if (replay->status != TR_OK)
        tr__console_say("the turn has failed in another way: %s: %s; recorded was %s: %s\n",
                        tr_status_name(replay->status),
                        replay->text,
                        record->status,
                        text);
    else
        tr__console_say("the turn has not failed; recorded was %s: %s\n", record->status, text);
    if (!record->has_secrets)
        tr__console_say("the record is without the values of secret fields\n");
    if (replay->has_strayed || record->is_cut)
        tr__console_say("the turn has read more than the record has\n");
    if (record->behavior)
        tr__console_say("members of the state that its descriptor leaves out were zero\n");
}

/*
 * As outcome_say, but prints one line of JSON, which also has the names of the actor and the
 * message.
 */
static void outcome_print(const struct tr_record *record, const struct replay *replay,
                          const struct memory_source *source)
{
    struct json_line line;
    tr__json_line_init(&line, source);
    tr__json_open(&line, NULL, '{');
    tr__json_string(&line, "app", record->app);
    tr__json_string(&line,
                    record->behavior ? "behavior" : "kind",
                    record->behavior ? record->behavior : record->kind);
    tr__json_key(&line, "key", record->key);
    tr__json_string(&line, "message", record->message);
    tr__json_bool(&line, "same", is_as_recorded(record, replay));
    tr__json_bool(&line, "ended", replay->is_over);
    tr__json_string(&line, "status", replay->is_over ? tr_status_name(replay->status) : NULL);
    tr__json_string(&line, "text", replay->is_over ? replay->text : NULL);
    tr__json_string(&line, "recorded_status", record->status);
    tr__json_string(&line, "recorded_text", record->text);
    tr__json_bool(&line, "left_another_state", replay->is_changed);
    tr__json_bool(&line, "with_secrets", record->has_secrets);
    tr__json_bool(&line, "read_more", replay->has_strayed || record->is_cut);
    tr__json_close(&line, '}');
    tr__json_put(&line, "", 1);
    tr__console_say("%s\n", line.has_failed ? "{\"no\":\"TR_NO_MEMORY\"}" : line.data);
    tr__json_line_free(&line);
}

/*
 * Stores the state of a durable actor. Returns the type of the message in the record. If that
 * fails, prints why and returns NULL.
 */
static const tr_type *durable_start(const struct replay_source *source, tr_kit *kit,
                                    const struct tr_record *record, tr_ref *actor)
{
    const tr_durable_kind *kind =
        source->durables ? kind_find(source->durables, record->kind) : NULL;
    const tr_type *type = kind ? message_find(kind->behavior, record->message) : NULL;
    uint64_t bits = 0;
    if (!type) {
        tr__console_complain(
            "%s: the record is of %s of the durable kind %s, which this program does "
            "not have\n",
            source->program,
            record->message,
            record->kind);
        return NULL;
    }
    struct durable_host *host = tr_kit_system(kit)->durable.host;
    tr_status status = record->state.size ? state_store(host->store, record) : TR_OK;
    if (status == TR_OK)
        status = tr_client_try_durable(tr_kit_client(kit), kind, record->key, &bits);
    *actor = tr_ref_from_bits(bits);
    if (status != TR_OK)
        tr__console_complain(
            "%s: the record cannot be run: %s\n", source->program, tr_status_text(status));
    return status == TR_OK ? type : NULL;
}

/*
 * Runs the kit until the turn has ended. When nothing is ready to run, moves the kit's clock
 * forward.
 */
static void turn_run(tr_kit *kit, const struct replay *replay)
{
    int seconds = 0;
    for (int i = 0; i < STEPS_MAX && !replay->is_over && seconds < SECONDS_MAX; i++) {
        if (tr_kit_step(kit))
            continue;
        tr_kit_advance(kit, TR_SECOND);
        seconds++;
    }
}

static bool record_play(const struct replay_source *source, const struct tr_record *record)
{
    /* these are static, because the kit refers to them until the process ends */
    static struct recorder recorder;
    static struct replay replay;
    replay = (struct replay){.record = record};
    tr_ref actor = TR_NOBODY;
    const tr_kit_options options = {
        .size = sizeof options, .durable = source->durables, .log = TR_KIT_LOG_NONE};
    const struct kit_stacks stacks = {.traps_faults =
                                          strcmp(record->status, tr_status_name(TR_FAULT)) == 0,
                                      .stack_bytes = source->stack_bytes};
    tr_kit *kit = tr__kit_new(&options, &stacks);
    if (!kit) {
        tr__console_complain("%s: out of memory, or a durable kind is not valid%s\n",
                             source->program,
                             stacks.traps_faults ? ", or no fault can be trapped in this build"
                                                 : "");
        return false;
    }
    tr__recorder_init(&recorder, tr_kit_system(kit), NULL, false);
    recorder.replay = &replay;
    const tr_type *type = record->behavior
                              ? tr__replay_plain_start(source, kit, &recorder, record, &actor)
                              : durable_start(source, kit, record, &actor);
    if (!type)
        return false;
    if (!source->is_json)
        tr__console_say("%s of %s \"%.*s\" handles %s\n",
                        record->behavior ? record->behavior : record->kind,
                        record->app,
                        (int)(record->key.size < 128 ? record->key.size : 128),
                        (const char *)record->key.data,
                        record->message);
    tr_status status = message_send(tr_kit_client(kit), actor, type, record);
    if (status != TR_OK) {
        tr__console_complain(
            "%s: the record cannot be run: %s\n", source->program, tr_status_text(status));
        return false;
    }
    turn_run(kit, &replay);
    /* The kit is not freed: its actor is in the middle of a failure, and the process ends now. */
    if (source->is_json)
        outcome_print(record, &replay, &tr_kit_system(kit)->source);
    else
        outcome_say(record, &replay);
    return is_as_recorded(record, &replay);
}

bool tr__replay_run(const struct replay_source *source, const char *path)
{
    const char *program = source->program;
    const tr_platform *platform = tr_platform_real();
    char why[RECORD_WHY_SIZE];
    struct tr_record *record;
    void *file;
    size_t size;
    tr_status status = tr__file_read(platform, path, RECORD_SIZE_MAX, &file, &size);
    if (status != TR_OK) {
        tr__console_complain("%s: cannot read %s: %s\n", program, path, tr_status_text(status));
        return false;
    }
    status = tr__record_read((tr_bytes){file, size}, &record, why);
    platform->resize(platform, file, 0);
    if (status != TR_OK) {
        tr__console_complain("%s: %s: %s\n", program, path, why);
        return false;
    }
    bool is_same = record_play(source, record);
    tr_message_free(&tr_type_tr_record, record);
    return is_same;
}
