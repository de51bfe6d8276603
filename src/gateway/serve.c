/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/serve.h"

#include <stdio.h>
#include <string.h>

#include "durable/key_ask.h"
#include "http/answer.h"
#include "http/body.h"
#include "http/fields.h"
#include "wire/type.h"

enum { WORDS_MAX = 320 };

/* ---- The message. ---- */

static bool fail_field(struct visit *visit, const char *name, const char *wanted)
{
    char words[WORDS_MAX];
    snprintf(words, sizeof words, "%s: in the query: it must be %s", name, wanted);
    tr__visit_fail(visit, &(struct problem){.id = PROBLEM_BAD_FIELD, .words = words});
    return false;
}

static const tr_field *field_named(const tr_type *type, tr_bytes name)
{
    for (uint16_t i = 0; i < type->field_count; i++) {
        const tr_field *field = tr__type_field(type, i);
        if (strlen(field->name) == name.size && memcmp(field->name, name.data, name.size) == 0)
            return field;
    }
    return NULL;
}

/*
 * Sets fields of the message from the query. Ignores names in the query that are no field. Returns
 * false if the request was refused.
 */
static bool fill_query(struct visit *visit, const tr_type *type, void *message)
{
    tr_bytes name, value;
    const char *at = visit->request->head.query;
    while ((at = tr__http_query_next(at, &name, &value))) {
        const tr_field *field = field_named(type, name);
        const char *wanted = "escaped as UTF-8";
        if (!field)
            continue;
        char *text = tr_scratch(visit->self, value.size + 1);
        if (!tr__http_value_decode(value.data, value.size, text) ||
            !tr__http_field_set(field, message, text, &wanted))
            return fail_field(visit, field->name, wanted);
    }
    return true;
}

/* Reads the body as JSON. Returns the message. Returns NULL if the request was refused. */
static const void *read_body(struct visit *visit, const tr_type *type)
{
    struct http_request *request = visit->request;
    tr_wire_error error;
    char words[WORDS_MAX];
    size_t max = request->site->options.body_max;
    if (!request->head.is_chunked && request->head.length > (int64_t)max) {
        tr__visit_fail_with(visit, PROBLEM_TOO_LARGE);
        return NULL;
    }
    tr_bytes body = tr__http_body_plain(request, max);
    if (!body.size)
        return memset(tr_scratch(visit->self, type->size), 0, type->size);
    tr_status status = tr_json_read(type, body, &request->block, &error);
    if (status == TR_OK) {
        /* tr__http_request_end frees request->block, which has this type */
        request->block_type = type;
        return request->block;
    }
    request->block = NULL;
    if (status == TR_NO_MEMORY)
        tr_crash(visit->self, status, "out of memory for the body of a request");
    snprintf(words, sizeof words, "%s%s%s", error.path, error.path[0] ? ": " : "", error.text);
    tr__visit_fail(visit, &(struct problem){.id = PROBLEM_BAD_JSON, .words = words});
    return NULL;
}

static const void *fill(struct visit *visit, const tr_exposed_message *exposed)
{
    const tr_type *type = exposed->type;
    if (visit->request->head.method_id == METHOD_POST)
        return read_body(visit, type);
    void *message = memset(tr_scratch(visit->self, type->size), 0, type->size);
    return fill_query(visit, type, message) ? message : NULL;
}

/* ---- The ask. ---- */

/*
 * Finds the id of a request, if the request has one. Puts the name of the caller before the id, so
 * that no caller gets the answer to a request of another caller with the same id. Returns false if
 * the id is too long.
 */
static bool find_id(struct visit *visit, tr_bytes *id)
{
    const char *header = tr_http_header(visit->self, "idempotency-key");
    *id = (tr_bytes){NULL, 0};
    if (!header || visit->request->head.method_id != METHOD_POST)
        return true;
    const char *text =
        visit->caller ? tr_format(visit->self, "%s\n%s", visit->caller, header) : header;
    *id = (tr_bytes){text, strlen(text)};
    if (*header && id->size <= TR_REQUEST_ID_MAX)
        return true;
    tr__visit_fail(
        visit,
        &(struct problem){.id = PROBLEM_BAD_KEY, .words = "Idempotency-Key is empty or too long"});
    return false;
}

static void answer(struct visit *visit, const tr_type *type, const void *reply)
{
    if (tr__http_answer_json(visit->request, 200, type->reply, reply) == TR_OK)
        return;
    tr_log_error(visit->self, "the reply %s cannot be written as JSON", type->reply->name);
    tr__visit_fail_with(visit, PROBLEM_FAILED);
}

void tr__serve_message(struct visit *visit)
{
    tr_self *self = visit->self;
    const tr_exposed_message *exposed =
        tr__exposed_find(visit->exposed, visit->message, strlen(visit->message));
    if (!exposed) {
        const char *words = tr_format(self, "no message %s is served here", visit->message);
        tr__visit_fail(visit, &(struct problem){.id = PROBLEM_UNKNOWN_MESSAGE, .words = words});
        return;
    }
    if (visit->request->head.method_id != METHOD_POST && !exposed->is_by_get) {
        tr_http_set(self, "Allow", "POST, OPTIONS");
        tr__visit_fail_with(visit, PROBLEM_BAD_METHOD);
        return;
    }
    struct key_call call = {.kind = visit->exposed->kind,
                            .key = {visit->key, strlen(visit->key)},
                            .caller = visit->caller};
    const void *message = find_id(visit, &call.id) ? fill(visit, exposed) : NULL;
    if (!message)
        return;
    const void *reply = NULL;
    tr_pending ask = tr__self_ask_call(self, &call, exposed->type, message, 0);
    tr_status status = tr_self_try_await(self, ask, &reply);
    if (status == TR_OK) {
        answer(visit, exposed->type, reply);
        return;
    }
    struct problem problem = tr__problem_of_ask(status, tr_self_ask_error(self, ask));
    tr__visit_fail(visit, &problem);
}
