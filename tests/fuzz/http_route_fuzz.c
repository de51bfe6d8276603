/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes typed rows: a path, behind the first '?' a query, and behind the first line end a body of JSON fill the fields of a
 * message. What was filled in can be written as JSON and read again, and is the same.
 */
#include <stdlib.h>
#include <string.h>
#include <troupe/http.h>
#include <troupe/wire.h>

#include "http/fields.h"
#include "http/site.h"
#include "wire/type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum color { RED, GREEN = 7 };
TR_MESSAGE(row_answer, (u64, id));
TR_REQUEST(row_ask, row_answer, (u64, id), (i8, small), (f64, real), (bool, is_on), (str, name),
           (optional(u32), more), (enum_of(color), color), (list(str), tags));

static tr_next on_ask(tr_self *self, const struct row_ask *message)
{
    (void)self;
    (void)message;
    return TR_SAME;
}

TR_BEHAVIOR(rows, void, TR_GET("/rows/{id}", row_ask, on_ask),
            TR_POST("/rows/{id}/{small}/{real}", row_ask, on_ask),
            TR_PUT("/by/{name}/{color}", row_ask, on_ask),
            TR_DELETE("/rest/{is_on}/{name...}", row_ask, on_ask));

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void *resize(const tr_platform *platform, void *memory, size_t size)
{
    (void)platform;
    if (size)
        return realloc(memory, size);
    free(memory);
    return NULL;
}

static const struct http_site *site_of(void)
{
    static struct http_site *site;
    static tr_platform platform = {.resize = resize};
    static struct memory_source source = {.platform = &platform};
    const tr_handler *row;
    const char *why;
    if (!site)
        require(tr__http_site_new(&source, NULL, &tr_behavior_rows, &site, &row, &why) == TR_OK);
    return site;
}

/* Fills fields from a query. Texts that fields point to are added to `texts`. */
static bool fill_query(const char *query, void *message, char **texts, size_t *count, size_t max)
{
    tr_bytes name, value;
    const char *wanted;
    while ((query = tr__http_query_next(query, &name, &value))) {
        for (uint16_t i = 0; i < tr_type_row_ask.field_count; i++) {
            const tr_field *field = tr__type_field(&tr_type_row_ask, i);
            if (strlen(field->name) != name.size || memcmp(field->name, name.data, name.size) != 0)
                continue;
            char *text = malloc(value.size + 1);
            require(text && *count < max);
            texts[(*count)++] = text;
            if (*count == max || !tr__http_value_decode(value.data, value.size, text) ||
                !tr__http_field_set(field, message, text, &wanted))
                return false;
        }
    }
    return true;
}

static bool fill_path(const struct http_route *route, const struct http_path *path, void *message,
                      char **texts, size_t *count)
{
    uint32_t part = 0;
    const char *wanted;
    for (uint32_t i = 0; i < route->pattern.count; i++) {
        if (route->pattern.segments[i].kind == SEGMENT_TEXT)
            continue;
        size_t size = route->pattern.segments[i].kind == SEGMENT_REST
                          ? strlen(path->text + path->segments[i].at)
                          : path->segments[i].size;
        char *text = strndup(path->text + path->segments[i].at, size);
        require(text != NULL);
        texts[(*count)++] = text;
        if (!tr__http_field_set(route->fields[part++], message, text, &wanted))
            return false;
    }
    return true;
}

/* A message that was taken is the same when it was written and read. */
static void check_same(const struct row_ask *message)
{
    static char text[1 << 16];
    tr_wire_error error;
    void *again = NULL;
    size_t size = tr_json_write(&tr_type_row_ask, message, text, sizeof text, &error);
    if (!size || size >= sizeof text)
        return; /* a number that JSON does not have */
    require(tr_json_read(&tr_type_row_ask, (tr_bytes){text, size}, &again, &error) == TR_OK);
    require(((struct row_ask *)again)->id == message->id);
    require(((struct row_ask *)again)->small == message->small);
    require(((struct row_ask *)again)->color == message->color);
    require(((struct row_ask *)again)->is_on == message->is_on);
    tr_message_free(&tr_type_row_ask, again);
}

static void play(const char *target, size_t path_size, const char *query, tr_bytes body,
                 enum http_method method)
{
    enum { TEXTS = 64 };
    char *texts[TEXTS];
    size_t count = 0;
    char allow[HTTP_ALLOW_MAX] = "";
    const struct http_route *other;
    struct row_ask message = {0};
    void *block = NULL;
    tr_wire_error error;
    struct http_path *path = malloc(tr__http_path_bytes(target, path_size));
    char *decoded = malloc(path_size + 2);
    require(path && decoded);
    const struct http_route *route = NULL;
    if (tr__http_path_decode(target, path_size, decoded, path))
        route = tr__http_site_find(site_of(), method, path, &other, allow);
    bool is_good = route;
    if (route && body.size) {
        is_good = tr_json_read(&tr_type_row_ask, body, &block, &error) == TR_OK;
        if (is_good)
            message = *(struct row_ask *)block;
    }
    if (is_good && fill_query(query, &message, texts, &count, TEXTS - TR_HTTP_PARTS_MAX) &&
        fill_path(route, path, &message, texts, &count))
        check_same(&message);
    while (count)
        free(texts[--count]);
    if (block)
        tr_message_free(&tr_type_row_ask, block);
    free(decoded);
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum http_method methods[] = {METHOD_GET, METHOD_POST, METHOD_PUT, METHOD_DELETE};
    if (size < 2 || data[1] != '/' || memchr(data, '\0', size))
        return 0;
    char *text = malloc(size);
    require(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    char *body = strchr(text, '\n');
    if (body)
        *body++ = '\0';
    char *query = strchr(text, '?');
    size_t path_size = query ? (size_t)(query - text) : strlen(text);
    /* In memory that ends behind the bytes. */
    size_t body_size = body ? strlen(body) : 0;
    char *copy = malloc(body_size + (body_size == 0));
    require(copy != NULL);
    if (body_size)
        memcpy(copy, body, body_size);
    play(
        text, path_size, query ? query + 1 : "", (tr_bytes){copy, body_size}, methods[data[0] % 4]);
    free(copy);
    free(text);
    return 0;
}
