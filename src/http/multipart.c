/* SPDX-License-Identifier: Apache-2.0 */
/** Reads multipart/form-data. */
#include "http/multipart.h"

#include "wire/utf8.h"

#include <string.h>

enum state {
    STATE_START,    /* no byte has come yet; the first delimiter need not have CR LF before it */
    STATE_PREAMBLE, /* before the first delimiter, in bytes that are dropped */
    STATE_AFTER,    /* behind a delimiter: then comes another part, or the end of the form */
    STATE_HEAD,     /* in the headers of a part */
    STATE_DATA,
    STATE_END,
    STATE_FAILED
};

/* The largest number of spaces and tabs that may follow a delimiter. */
#define PADDING_MAX 256

static const unsigned char line_end[] = {'\r', '\n'};
static const unsigned char head_end[] = {'\r', '\n', '\r', '\n'};

static size_t fail(struct multipart *form, struct multipart_event *event, tr_status status,
                   const char *text)
{
    form->state = STATE_FAILED;
    *event = (struct multipart_event){.kind = MULTIPART_ERROR, .status = status, .text = text};
    return 0;
}

static bool is_space(unsigned char byte)
{
    return byte == ' ' || byte == '\t';
}

static unsigned char lower(unsigned char byte)
{
    return byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
}

/* Whether the bytes begin with a text, ignoring upper and lower case. The text must be in lower
 * case. */
static bool begins_with(const unsigned char *bytes, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (size < length)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (lower(bytes[i]) != (unsigned char)text[i])
            return false;
    }
    return true;
}

/* The part of a header that was not read yet. */
struct cursor {
    unsigned char *at;
    unsigned char *end;
};

static void skip_space(struct cursor *in)
{
    while (in->at < in->end && is_space(*in->at))
        in->at++;
}

/*
 * Reads a value in quotes, and removes the backslashes before quotes and backslashes. Keeps other
 * backslashes, because some browsers send file names with paths. Returns false if the closing quote
 * is missing.
 */
static bool read_quoted(struct cursor *in, tr_bytes *value)
{
    unsigned char *to = ++in->at;
    value->data = to;
    while (in->at < in->end && *in->at != '"') {
        if (*in->at == '\\' && in->end - in->at > 1 && (in->at[1] == '"' || in->at[1] == '\\'))
            in->at++;
        *to++ = *in->at++;
    }
    if (in->at == in->end)
        return false;
    in->at++;
    value->size = (size_t)(to - (const unsigned char *)value->data);
    return true;
}

/* Reads a parameter: "; name=value". Returns false if it is malformed. */
static bool read_parameter(struct cursor *in, tr_bytes *name, tr_bytes *value)
{
    in->at++;
    skip_space(in);
    unsigned char *begin = in->at;
    while (in->at < in->end && *in->at != '=' && *in->at != ';' && !is_space(*in->at))
        in->at++;
    *name = (tr_bytes){begin, (size_t)(in->at - begin)};
    if (name->size == 0 || in->at == in->end || *in->at != '=')
        return false;
    in->at++;
    if (in->at < in->end && *in->at == '"') {
        if (!read_quoted(in, value))
            return false;
    } else {
        begin = in->at;
        while (in->at < in->end && *in->at != ';' && *in->at != '"' && !is_space(*in->at))
            in->at++;
        *value = (tr_bytes){begin, (size_t)(in->at - begin)};
    }
    skip_space(in);
    return in->at == in->end || *in->at == ';';
}

static bool is_called(tr_bytes name, const char *text)
{
    return name.size == strlen(text) && begins_with(name.data, name.size, text);
}

/* Whether a value is a valid boundary (RFC 2046 5.1.1): it has only allowed characters and does not
 * end with a space. */
static bool is_boundary(tr_bytes value)
{
    const unsigned char *bytes = value.data;
    if (value.size == 0 || value.size > MULTIPART_BOUNDARY_MAX || bytes[value.size - 1] == ' ')
        return false;
    for (size_t i = 0; i < value.size; i++) {
        unsigned char letter = bytes[i] | 0x20;
        bool is_plain = (letter >= 'a' && letter <= 'z') || (bytes[i] >= '0' && bytes[i] <= '9');
        if (!is_plain && (bytes[i] == '\0' || strchr("'()+_,-./:=? ", bytes[i]) == NULL))
            return false;
    }
    return true;
}

tr_status tr__multipart_init(struct multipart *form, tr_bytes content_type, uint32_t parts_max)
{
    static const char type[] = "multipart/form-data";
    unsigned char copy[256];
    bool has_boundary = false;
    *form = (struct multipart){.state = STATE_START, .parts_max = parts_max};
    if (content_type.size > sizeof(copy) || content_type.size < sizeof(type) - 1)
        return TR_BAD_DATA;
    memcpy(copy, content_type.data, content_type.size);
    struct cursor in = {copy, copy + content_type.size};
    if (!begins_with(in.at, content_type.size, type))
        return TR_BAD_DATA;
    in.at += sizeof(type) - 1;
    skip_space(&in);
    while (in.at < in.end) {
        tr_bytes name, value;
        if (*in.at != ';' || !read_parameter(&in, &name, &value))
            return TR_BAD_DATA;
        if (!is_called(name, "boundary"))
            continue;
        if (has_boundary || !is_boundary(value))
            return TR_BAD_DATA;
        has_boundary = true;
        memcpy(form->delimiter, "\r\n--", 4);
        memcpy(form->delimiter + 4, value.data, value.size);
        form->delimiter_size = (unsigned char)(4 + value.size);
    }
    return has_boundary ? TR_OK : TR_BAD_DATA;
}

/* Reads the value of Content-Disposition. Returns NULL, or an error text. */
static const char *read_disposition(struct cursor in, struct multipart_event *event)
{
    static const char type[] = "form-data";
    if (event->name.data != NULL)
        return "a part has two headers Content-Disposition";
    if (!begins_with(in.at, (size_t)(in.end - in.at), type))
        return "a part is not form-data";
    in.at += sizeof(type) - 1;
    skip_space(&in);
    while (in.at < in.end) {
        tr_bytes name, value;
        if (*in.at != ';' || !read_parameter(&in, &name, &value))
            return "a header Content-Disposition is malformed";
        tr_bytes *member = is_called(name, "name")       ? &event->name
                           : is_called(name, "filename") ? &event->filename
                                                         : NULL;
        if (member == NULL)
            continue;
        if (member->data != NULL)
            return "a parameter of Content-Disposition occurs twice";
        if (utf8_span(value.data, value.size) != value.size)
            return "a name is not UTF-8";
        *member = value;
    }
    return event->name.data != NULL ? NULL : "a part has no name";
}

/* Reads one header of a part. Returns NULL, or an error text. */
static const char *read_line(unsigned char *begin, unsigned char *end,
                             struct multipart_event *event)
{
    unsigned char *colon = memchr(begin, ':', (size_t)(end - begin));
    if (colon == NULL || colon == begin || is_space(*begin) || is_space(colon[-1]))
        return "a header of a part is malformed";
    for (unsigned char *at = begin; at < end; at++) {
        if (*at == '\r' || *at == '\n' || *at == '\0')
            return "a header of a part has a control character";
    }
    struct cursor value = {colon + 1, end};
    skip_space(&value);
    while (value.end > value.at && is_space(value.end[-1]))
        value.end--;
    tr_bytes name = {begin, (size_t)(colon - begin)};
    if (is_called(name, "content-disposition"))
        return read_disposition(value, event);
    if (is_called(name, "content-type"))
        event->type = (tr_bytes){value.at, (size_t)(value.end - value.at)};
    return NULL;
}

static size_t read_head(struct multipart *form, unsigned char *bytes, size_t size,
                        struct multipart_event *event)
{
    size_t within = size < TR_HTTP_FORM_HEAD_MAX ? size : TR_HTTP_FORM_HEAD_MAX;
    unsigned char *end = memmem(bytes, within, head_end, sizeof(head_end));
    if (end == NULL && size >= TR_HTTP_FORM_HEAD_MAX)
        return fail(form, event, TR_TOO_LARGE, "the head of a part is too large");
    if (size >= 2 && memcmp(bytes, line_end, 2) == 0)
        return fail(form, event, TR_BAD_DATA, "a part has no name");
    if (end == NULL)
        return 0;
    if (form->parts >= form->parts_max)
        return fail(form, event, TR_TOO_LARGE, "the form has too many parts");
    for (unsigned char *line = bytes; line < end + 2;) {
        unsigned char *next = memmem(line, (size_t)(end + 2 - line), line_end, sizeof(line_end));
        const char *fault = read_line(line, next, event);
        if (fault != NULL)
            return fail(form, event, TR_BAD_DATA, fault);
        line = next + sizeof(line_end);
    }
    if (event->name.data == NULL)
        return fail(form, event, TR_BAD_DATA, "a part has no name");
    event->kind = MULTIPART_PART;
    form->parts++;
    form->state = STATE_DATA;
    return (size_t)(end - bytes) + sizeof(head_end);
}

/* Reads what follows a delimiter: "--", or a line end that may have spaces before it. */
static size_t read_after(struct multipart *form, const unsigned char *bytes, size_t size,
                         struct multipart_event *event)
{
    size_t at = 0;
    if (size > 0 && bytes[0] == '-') {
        if (size < 2)
            return 0;
        if (bytes[1] != '-')
            return fail(form, event, TR_BAD_DATA, "a delimiter has something behind it");
        form->state = STATE_END;
        event->kind = MULTIPART_END;
        return 2;
    }
    while (at < size && is_space(bytes[at]))
        at++;
    if (at > PADDING_MAX || (at < size && bytes[at] != '\r') ||
        (size - at >= 2 && bytes[at + 1] != '\n'))
        return fail(form, event, TR_BAD_DATA, "a delimiter has something behind it");
    if (size - at < 2)
        return 0;
    form->state = STATE_HEAD;
    return at + 2;
}

/*
 * Returns how many bytes at the end may be the beginning of a delimiter. They must wait until more
 * bytes have come.
 */
static size_t held_back(const struct multipart *form, const unsigned char *bytes, size_t size)
{
    size_t most = size < form->delimiter_size ? size : form->delimiter_size - 1u;
    for (size_t count = most; count > 0; count--) {
        if (memcmp(bytes + size - count, form->delimiter, count) == 0)
            return count;
    }
    return 0;
}

/* Reads content up to the next delimiter. Also reads the preamble, which is dropped. */
static size_t read_content(struct multipart *form, const unsigned char *bytes, size_t size,
                           struct multipart_event *event)
{
    const unsigned char *delimiter = memmem(bytes, size, form->delimiter, form->delimiter_size);
    size_t count =
        delimiter != NULL ? (size_t)(delimiter - bytes) : size - held_back(form, bytes, size);
    bool is_part = form->state == STATE_DATA;
    if (count > 0 && is_part) {
        event->kind = MULTIPART_DATA;
        event->bytes = (tr_bytes){bytes, count};
        return count;
    }
    if (delimiter == NULL)
        return count;
    form->state = STATE_AFTER;
    event->kind = is_part ? MULTIPART_CLOSE : MULTIPART_MORE;
    return count + form->delimiter_size;
}

/* Reads the beginning of a form: the first delimiter or a preamble. */
static size_t read_start(struct multipart *form, const unsigned char *bytes, size_t size)
{
    size_t delimiter_size = form->delimiter_size - sizeof(line_end);
    size_t within = size < delimiter_size ? size : delimiter_size;
    if (memcmp(bytes, form->delimiter + sizeof(line_end), within) != 0) {
        form->state = STATE_PREAMBLE;
        return 0;
    }
    if (size < delimiter_size)
        return 0;
    form->state = STATE_AFTER;
    return delimiter_size;
}

/* Reads what the current state expects. Returns how many bytes were consumed. */
static size_t step(struct multipart *form, unsigned char *bytes, size_t size,
                   struct multipart_event *event)
{
    switch ((enum state)form->state) {
    case STATE_START:
        return read_start(form, bytes, size);
    case STATE_PREAMBLE:
    case STATE_DATA:
        return read_content(form, bytes, size, event);
    case STATE_AFTER:
        return read_after(form, bytes, size, event);
    case STATE_HEAD:
        return read_head(form, bytes, size, event);
    case STATE_END:
    case STATE_FAILED:
        break;
    }
    return size;
}

size_t tr__multipart_read(struct multipart *form, unsigned char *bytes, size_t size,
                          struct multipart_event *event)
{
    size_t taken = 0;
    *event = (struct multipart_event){.kind = MULTIPART_MORE};
    while (event->kind == MULTIPART_MORE && taken < size) {
        unsigned char state = form->state;
        size_t count = step(form, bytes + taken, size - taken, event);
        taken += count;
        if (count == 0 && form->state == state)
            break;
    }
    return taken;
}

bool tr__multipart_is_ended(const struct multipart *form)
{
    return form->state == STATE_END;
}
