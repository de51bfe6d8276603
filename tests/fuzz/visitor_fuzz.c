/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the verbs of the control protocol: lines of requests, for a program with actors, a durable one among them, in a kit.
 * Each line of the answers must be JSON. When the kit ends, all memory must be free.
 *
 * If the first byte of an input is 1, the client does not wait for answers: its next line, or its end, comes while a verb works.
 * A byte of 0 ends a piece of what the client sends.
 *
 * A leak is found when the kit ends, after INPUTS_MAX inputs. `fuzz_visitor_fuzz -runs=500 FILE` says whether one input leaks.
 */
#include "fuzz/wire_fuzz.h"

#include <stdio.h>
#include <troupe/kit.h>
#include <troupe/queue.h>
#include <troupe/troupe.h>
#include <troupe/wire.h>

#include "observe/slow_trees.h"
#include "observe/stacks.h"
#include "observe/store_backup.h"
#include "observe/trials.h"
#include "observe/visitor.h"
#include "store/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    INPUTS_MAX = 500, /* then the kit is made again, because what was stored and started stays */
    ROUNDS_MAX = 60
};

TR_MESSAGE(coin, (u64, cents), (str, pin));
TR_SECRET(coin, pin);
TR_MESSAGE(sum, (u64, cents), (str, pin));
TR_SECRET(sum, pin);
TR_REQUEST(get_sum, sum);
TR_MESSAGE(anything); /* any object is one: unknown members are ignored */
TR_ACTOR(purse, coin, get_sum);
TR_ACTOR(chest, coin, get_sum);

static tr_next on_coin(tr_self *self, struct sum *state, const struct coin *message)
{
    state->cents += message->cents;
    if (message->cents == 7)
        return tr_fail(self, TR_BAD_DATA, "seven");
    return TR_SAME;
}

static tr_next on_get_sum(tr_self *self, struct sum *state)
{
    return tr_reply(self, sum, .cents = state->cents);
}

static tr_next on_chest_coin(tr_self *self, struct sum *state, const struct coin *message)
{
    tr_kv_put(self, TR_BYTES("last"), (tr_bytes){"x", 1});
    tr_queue_push(self, "coins", coin, .cents = message->cents);
    tr_alarm_after(self, "ring", TR_HOUR, coin, .cents = 1);
    return on_coin(self, state, message);
}

TR_BEHAVIOR(purse, struct sum, TR_ON(coin, on_coin), TR_ON(get_sum, on_get_sum),
            TR_OPTIONS(.shows = &tr_type_sum));
TR_BEHAVIOR(chest, struct sum, TR_ON(coin, on_chest_coin), TR_ON(get_sum, on_get_sum));
TR_DURABLE(chest, sum, .idle_ns = TR_SECOND);

static tr_kit *kit;
static tr_client *client;
static struct observer observer;
static struct visitor visitor;

static void program_begin(void)
{
    chest_ref stored;
    const tr_kit_options options = {.size = sizeof options,
                                    .workers = 2,
                                    .log = TR_KIT_LOG_NONE,
                                    .durable = TR_DURABLES(chest)};
    kit = tr_kit_new(&options);
    require(kit != NULL);
    client = tr_kit_client(kit);
    tr_system *system = tr_kit_system(kit);
    observer = (struct observer){.system = system, .client = client, .app = "fuzz"};
    require(tr_try_durable(client, &stored, chest, "a") == TR_OK);
    (void)tr_tell(client, stored, coin, .cents = 1, .pin = "1234");
    tr_kit_settle(kit);
}

/* Frees what the observer has, as the thread of the socket does when it ends (observe/control.c). */
static void program_end(void)
{
    tr__trials_end(&observer);
    tr__backups_collect(&observer, true);
    tr__store_reader_free(observer.reader);
    tr__stack_texts_free(&observer);
    tr__slow_trees_free(&observer);
    tr_kit_free(kit);
    kit = NULL;
}

/* Checks that what waits to be sent is lines of JSON, and takes it. */
static void answers_take(void)
{
    struct json_line *output = &visitor.output;
    for (size_t at = 0; at < output->length;) {
        const char *line = output->data + at;
        const char *end = memchr(line, '\n', output->length - at);
        void *any;
        tr_wire_error error;
        require(end != NULL && *line == '{');
        const tr_bytes json = {line, (size_t)(end - line)};
        require(tr_json_read(&tr_type_anything, json, &any, &error) == TR_OK);
        tr_message_free(&tr_type_anything, any);
        at += (size_t)(end - line) + 1;
    }
    output->length = 0;
}

/* Whether the line is one that writes files. */
static bool is_left_out(tr_bytes line)
{
    struct control_request *request;
    tr_wire_error error;
    if (tr__control_request_read(line, &request, &error) != TR_OK)
        return false;
    bool is_so = request->verb && (strcmp(request->verb, "store backup") == 0 ||
                                   strcmp(request->verb, "store restore") == 0);
    tr_message_free(&tr__control_request_type, request);
    return is_so;
}

/* Works as the thread of the socket does. If the client waits, works until all is answered. */
static void work(bool client_waits)
{
    for (int i = 0; i < ROUNDS_MAX; i++) {
        bool has_more = tr__visitor_work(&visitor);
        answers_take();
        (void)tr__observer_look(&observer);
        (void)tr__trials_look(&observer);
        if (!client_waits)
            return;
        tr_kit_settle(kit);
        if (!has_more && visitor.job == JOB_NONE)
            return;
        tr_kit_advance(kit, 100 * TR_MILLISECOND);
    }
}

static void piece_send(const char *piece, size_t size, bool client_waits)
{
    size_t space = tr__visitor_space(&visitor);
    tr__visitor_input(&visitor, piece, size < space ? size : space);
    work(client_waits);
}

/* Sends a line, its end included, in the pieces that bytes of 0 make of it. */
static void line_send(const char *line, size_t size, bool client_waits)
{
    char *whole = malloc(size);
    size_t length = 0;
    require(whole != NULL);
    for (size_t i = 0; i < size; i++) {
        if (line[i])
            whole[length++] = line[i];
    }
    if (!length || !is_left_out((tr_bytes){whole, length - 1})) {
        for (size_t at = 0; at < size;) {
            const char *cut = memchr(line + at, '\0', size - at);
            size_t piece = cut ? (size_t)(cut - line) - at : size - at;
            piece_send(line + at, piece, client_waits);
            at += piece + 1;
        }
    }
    free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int inputs;
    purse_ref purse_of;
    if (!kit)
        program_begin();
    (void)tr_try_spawn(client, &purse_of, purse, "purse");
    tr_kit_settle(kit);
    tr__visitor_open(&visitor, &observer, 1000);
    answers_take();
    bool client_waits = !size || *data != 1;
    const char *text = (const char *)data;
    for (size_t at = client_waits ? 0 : 1; at < size && !visitor.is_over;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t line = end ? (size_t)(end - text) + 1 - at : size - at;
        line_send(text + at, line, client_waits);
        at += line;
    }
    tr__visitor_close(&visitor);
    tr_kit_settle(kit);
    if (++inputs % INPUTS_MAX == 0)
        program_end();
    return 0;
}
