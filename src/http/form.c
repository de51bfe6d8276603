/* SPDX-License-Identifier: Apache-2.0 */
#include "http/form.h"

#include <string.h>

#include "actor/cell/verb.h"
#include "http/answer.h"
#include "http/body.h"
#include "http/multipart.h"

enum {
    PIECE_MAX = 64 * 1024, /* the largest number of bytes that one read of a body returns */
    /* the largest number of bytes that are kept until more have come */
    KEPT_MAX = TR_HTTP_FORM_HEAD_MAX + MULTIPART_BOUNDARY_MAX + 64
};

/* A form that is being read, in scratch memory of the turn. */
struct http_form {
    struct multipart parser;
    size_t at; /* index of the first byte that was not used yet */
    size_t size;
    bool has_part; /* a part has begun, and its end has not come */
    bool is_over;
    unsigned char bytes[PIECE_MAX + KEPT_MAX];
};

static tr_bytes content_type(struct http_request *request)
{
    const char *type = tr_http_header(request->self, "content-type");
    return type ? (tr_bytes){type, strlen(type)} : (tr_bytes){"", 0};
}

bool tr__http_form_has_parts(struct http_request *request)
{
    static const char start[] = "multipart/form-data";
    tr_bytes type = content_type(request);
    return type.size >= sizeof start - 1 && strncasecmp(type.data, start, sizeof start - 1) == 0;
}

static char *copy_of(struct http_request *request, tr_bytes bytes)
{
    char *copy = tr_scratch(request->self, bytes.size + 1);
    if (bytes.size)
        memcpy(copy, bytes.data, bytes.size);
    copy[bytes.size] = '\0';
    return copy;
}

const char *tr__http_form_value(struct http_request *request, const char *name)
{
    struct multipart parser;
    struct multipart_event event;
    char *value = NULL;
    size_t at = 0, size = 0;
    if (tr__multipart_init(&parser, content_type(request), request->site->options.parts_max) !=
        TR_OK)
        return NULL;
    unsigned char *bytes =
        (unsigned char *)copy_of(request, (tr_bytes){request->form, request->form_size});
    do {
        at += tr__multipart_read(&parser, bytes + at, request->form_size - at, &event);
        bool is_it = event.kind == MULTIPART_PART && !event.filename.data &&
                     event.name.size == strlen(name) &&
                     memcmp(event.name.data, name, event.name.size) == 0;
        if (is_it && !value)
            value = tr_scratch(request->self, request->form_size - at + 1);
        else if (event.kind == MULTIPART_DATA && value) {
            memcpy(value + size, event.bytes.data, event.bytes.size);
            size += event.bytes.size;
        } else if (event.kind == MULTIPART_CLOSE && value) {
            value[size] = '\0';
            return value;
        }
    } while (event.kind != MULTIPART_MORE && event.kind != MULTIPART_END &&
             event.kind != MULTIPART_ERROR);
    return NULL;
}

/* ---- Reading a form while its bytes arrive. ---- */

/* Refuses the request, because its form cannot be read, and ends the turn. */
static _Noreturn void fail(struct http_request *request, int status, const char *text)
{
    request->keeps = false;
    if (request->phase == ANSWER_NONE)
        tr__http_answer_error(request, status, text, NULL);
    tr__http_request_leave(request);
}

static struct http_form *form_of(struct http_request *request)
{
    if (request->multipart)
        return request->multipart;
    struct http_form *form = tr_scratch(request->self, sizeof *form);
    form->at = form->size = 0;
    form->has_part = form->is_over = false;
    if (tr__multipart_init(
            &form->parser, content_type(request), request->site->options.parts_max) != TR_OK)
        fail(request, 415, "a form with files (multipart/form-data) is expected");
    request->multipart = form;
    return form;
}

/* Appends the next piece of the body to the bytes that are kept. */
static void fill(struct http_request *request, struct http_form *form)
{
    tr_bytes piece;
    memmove(form->bytes, form->bytes + form->at, form->size - form->at);
    form->size -= form->at;
    form->at = 0;
    if (!tr__http_body_read(request, &piece))
        fail(request, 400, "the form ends before its last boundary");
    if (piece.size > sizeof form->bytes - form->size)
        fail(request, 413, "the head of a part is too large");
    memcpy(form->bytes + form->size, piece.data, piece.size);
    form->size += piece.size;
}

/* Reads the next event of the form. */
static struct multipart_event next(struct http_request *request, struct http_form *form)
{
    struct multipart_event event = {.kind = MULTIPART_MORE};
    while (event.kind == MULTIPART_MORE) {
        size_t left = form->size - form->at;
        if (left)
            form->at += tr__multipart_read(&form->parser, form->bytes + form->at, left, &event);
        if (event.kind == MULTIPART_MORE)
            fill(request, form);
    }
    if (event.kind == MULTIPART_ERROR)
        fail(request, event.status == TR_TOO_LARGE ? 413 : 400, event.text);
    return event;
}

bool tr_http_next_part(tr_self *self, struct tr_http_form_part *part)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_need(self, "tr_http_next_part");
    struct http_form *form = form_of(request);
    while (!form->is_over) {
        struct multipart_event event = next(request, form);
        form->is_over = event.kind == MULTIPART_END;
        if (event.kind != MULTIPART_PART)
            continue;
        part->name = copy_of(request, event.name);
        part->filename = event.filename.data ? copy_of(request, event.filename) : NULL;
        part->type = copy_of(request, event.type);
        form->has_part = true;
        return true;
    }
    form->has_part = false;
    return false;
}

bool tr_http_read_part(tr_self *self, tr_bytes *bytes)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_need(self, "tr_http_read_part");
    struct http_form *form = request->multipart;
    *bytes = (tr_bytes){"", 0};
    if (!form || !form->has_part)
        return false;
    struct multipart_event event = next(request, form);
    form->has_part = event.kind == MULTIPART_DATA;
    form->is_over = event.kind == MULTIPART_END;
    if (event.kind == MULTIPART_DATA)
        *bytes = event.bytes;
    return event.kind == MULTIPART_DATA;
}
