/* SPDX-License-Identifier: Apache-2.0 */
#include "http/head.h"

#include <llhttp.h>
#include <string.h>

#include "http/check.h"

/*
 * The largest number of empty lines that may be before a head. RFC 9112, 2.2 asks servers to accept at least
 * one.
 */
enum { EMPTY_LINES_MAX = 4 };

bool tr__http_is_built(void)
{
    return true;
}

/* ---- Looking for the end of a head. ---- */

/*
 * Whether the first line of a head can be that of a request. Called when the end of the head has
 * not come.
 */
static bool line_is_likely(const char *line, size_t size)
{
    return size > 9 && memcmp(line + size - 9, " HTTP/", 6) == 0;
}

/* Returns the place behind the empty lines that are before a head. */
static size_t skip_lines(const char *data, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < EMPTY_LINES_MAX && size - at >= 2; i++) {
        if (data[at] != '\r' || data[at + 1] != '\n')
            break;
        at += 2;
    }
    return at;
}

size_t tr__http_head_cut(tr_bytes bytes, size_t seen, size_t head_max, tr_bytes *head)
{
    const char *data = bytes.data;
    size_t start = skip_lines(data, bytes.size);
    size_t from = seen > start + 3 ? seen - 3 : start;
    *head = (tr_bytes){data + start, bytes.size - start};
    const char *end = data + bytes.size;
    for (const char *at = data + from; at < end;) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        if (!feed)
            break;
        if (feed == data + start || feed[-1] != '\r')
            return bytes.size; /* LF without CR ends a line; tr__http_head_parse will refuse this */
        if (feed - (data + start) >= 3 && feed[-2] == '\n') {
            head->size = (size_t)(feed + 1 - (data + start));
            return start + head->size;
        }
        at = feed + 1;
    }
    if (head->size > head_max)
        return bytes.size;
    const char *line = memchr(data + start, '\r', head->size);
    bool has_line = line && line + 1 < end;
    if (has_line && !line_is_likely(data + start, (size_t)(line - (data + start))))
        return bytes.size;
    return 0;
}

/* ---- Parsing. ---- */

/*
 * What llhttp has found out about the end of the body. This must agree with what check.c finds out.
 */
struct second_look {
    bool is_chunked;
    bool has_length;
    uint64_t length;
};

static int on_headers_complete(llhttp_t *parser)
{
    struct second_look *look = parser->data;
    look->is_chunked = parser->flags & F_CHUNKED;
    look->has_length = parser->flags & F_CONTENT_LENGTH;
    look->length = parser->content_length;
    return 1; /* makes llhttp not read the body */
}

/* Lets llhttp read the head, too. Returns 0, or the status with which the head is refused. */
static int read_by_llhttp(llhttp_type_t type, const char *bytes, size_t size,
                          struct second_look *look)
{
    static const llhttp_settings_t settings = {.on_headers_complete = on_headers_complete};
    llhttp_t parser;
    llhttp_init(&parser, type, &settings);
    parser.data = look;
    llhttp_errno_t code = llhttp_execute(&parser, bytes, size);
    if (code == HPE_INVALID_METHOD)
        return 501;
    return code == HPE_OK || code == HPE_PAUSED || code == HPE_PAUSED_UPGRADE ? 0 : 400;
}

static bool is_same(const struct second_look *look, const struct http_head *head)
{
    if (look->is_chunked != head->is_chunked || look->has_length != (head->length >= 0))
        return false;
    return !look->has_length || look->length == (uint64_t)head->length;
}

/* Returns the CR of the CR LF that ends the line at `at`. Returns NULL if there is no CR LF. */
static char *line_end(char *at, char *end)
{
    char *cr = memchr(at, '\r', (size_t)(end - at));
    return cr && cr + 1 < end && cr[1] == '\n' ? cr : NULL;
}

/*
 * Reads the fields behind the first line. `cr` is the CR of the first line. Returns 0, or the
 * status with which the head is refused.
 */
static int read_fields(char *cr, char *end, const struct http_limits *limits,
                       struct http_head *head)
{
    for (;;) {
        char *line = cr + 2;
        cr = line_end(line, end);
        if (!cr || (cr == line && cr + 2 != end)) {
            head->why = "a line does not end with CR LF";
            return 400;
        }
        if (cr == line)
            return 0;
        if (head->field_count == limits->headers_max) {
            head->why = "there are too many fields";
            return 431;
        }
        int status = tr__http_check_field(line, (size_t)(cr - line), head);
        if (status)
            return status;
    }
}

/*
 * Divides the head into lines and reads them. Returns 0, or the status with which the head is
 * refused.
 */
static int read_lines(char *bytes, size_t size, const struct http_limits *limits,
                      struct http_head *head)
{
    char *end = bytes + size;
    char *cr = line_end(bytes, end);
    head->why = "a line does not end with CR LF";
    if (!cr || memchr(bytes, '\0', size))
        return 400;
    int status = tr__http_check_line(bytes, (size_t)(cr - bytes), head);
    head->keeps = !head->is_http_10;
    if (!status)
        status = read_fields(cr, end, limits, head);
    if (!status)
        status = tr__http_check_whole(head);
    return status;
}

int tr__http_head_parse(char *bytes, size_t size, const struct http_limits *limits,
                        struct http_head *head)
{
    *head = (struct http_head){.fields = head->fields, .length = -1, .why = "it is malformed"};
    if (size > limits->head_max) {
        head->why = "the head is too large";
        size_t max = limits->head_max;
        return memchr(bytes, '\n', max) ? 431 : 414;
    }
    /* RFC 9110, 2.5: a higher minor version counts as 1.1. llhttp would refuse such a version. */
    if (size >= 10) {
        char *cr = memchr(bytes, '\r', size);
        if (cr && cr - bytes > 9 && memcmp(cr - 9, " HTTP/1.", 8) == 0 && cr[-1] > '1' &&
            cr[-1] <= '9')
            cr[-1] = '1';
    }
    struct second_look look = {0};
    int second = read_by_llhttp(HTTP_REQUEST, bytes, size, &look);
    int status = read_lines(bytes, size, limits, head);
    if (status)
        return status;
    head->why = second == 501 ? "the method is not known here" : "it is malformed";
    if (!second && !is_same(&look, head))
        second = 400;
    return second;
}

/* ---- Answers. ---- */

size_t tr__http_answer_cut(tr_bytes bytes, size_t seen, size_t head_max, tr_bytes *head)
{
    static const char start[] = "HTTP/1.";
    const char *data = bytes.data;
    const char *end = data + bytes.size;
    size_t known = bytes.size < sizeof start - 1 ? bytes.size : sizeof start - 1;
    *head = bytes;
    if (memcmp(data, start, known) != 0)
        return bytes.size;
    for (const char *at = data + (seen > 3 ? seen - 3 : 0); at < end;) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        if (!feed)
            break;
        if (feed == data || feed[-1] != '\r')
            /* LF without CR ends a line; tr__http_answer_parse will refuse this */
            return bytes.size;
        if (feed - data >= 3 && feed[-2] == '\n') {
            head->size = (size_t)(feed + 1 - data);
            return head->size;
        }
        at = feed + 1;
    }
    return bytes.size > head_max ? bytes.size : 0;
}

/* Reads a status line, RFC 9112, 4: HTTP-version SP 3DIGIT SP [ reason-phrase ]. Returns 0 or 400. */
static int read_status_line(const char *line, size_t size, struct http_answer_head *answer)
{
    struct http_head *head = &answer->head;
    /*
     * If the reason phrase is missing, the space before the phrase may be missing too, although the
     * RFC requires this space. Many servers leave the space out, and the line cannot be
     * misunderstood.
     */
    bool has_form = size >= 12 && memcmp(line, "HTTP/1.", 7) == 0 && line[8] == ' ' &&
                    (size == 12 || line[12] == ' ') && line[7] >= '0' && line[7] <= '9';
    head->why = "the first line is no status line";
    if (!has_form)
        return 400;
    int status = 0;
    for (size_t i = 9; i < 12; i++) {
        if (line[i] < '0' || line[i] > '9')
            return 400;
        status = status * 10 + (line[i] - '0');
    }
    for (size_t i = 13; i < size; i++) {
        if (((unsigned char)line[i] < 0x20 && line[i] != '\t') || line[i] == 0x7f)
            return 400;
    }
    if (status < 100 || status > 599)
        return 400;
    answer->status = status;
    head->is_http_10 = line[7] == '0';
    head->keeps = !head->is_http_10;
    return 0;
}

/* Checks that the fields about the body of an answer agree: RFC 9112, 6. Returns 0 or 400. */
static int check_answer(struct http_head *head)
{
    head->why = "Transfer-Encoding is not chunked alone, or stands beside Content-Length";
    if (head->has_coding && (head->is_http_10 || head->length >= 0 || head->is_unknown))
        return 400;
    head->why = "it is malformed";
    return 0;
}

tr_status tr__http_answer_parse(char *bytes, size_t size, const struct http_limits *limits,
                                struct http_answer_head *answer)
{
    struct http_head *head = &answer->head;
    struct second_look look = {0};
    *head = (struct http_head){.fields = head->fields, .length = -1};
    head->why = "the head is too large";
    if (size > limits->head_max)
        return TR_TOO_LARGE;
    char *end = bytes + size;
    char *cr = line_end(bytes, end);
    head->why = "a line does not end with CR LF";
    if (!cr || memchr(bytes, '\0', size))
        return TR_BAD_DATA;
    int status = read_status_line(bytes, (size_t)(cr - bytes), answer);
    if (status)
        return TR_BAD_DATA;
    /* RFC 9110, 2.5: a higher minor version counts as 1.1. llhttp would refuse it. */
    if (bytes[7] > '1')
        bytes[7] = '1';
    int second = read_by_llhttp(HTTP_RESPONSE, bytes, size, &look);
    status = read_fields(cr, end, limits, head);
    if (status == 431)
        return TR_TOO_LARGE;
    if (status || check_answer(head))
        return TR_BAD_DATA;
    bool may_differ = answer->status < 200 || answer->status == 204 || answer->status == 304;
    return second || (!may_differ && !is_same(&look, head)) ? TR_BAD_DATA : TR_OK;
}
