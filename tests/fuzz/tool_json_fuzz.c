/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes what the tool reads: lines of JSON, which other processes write, and two schemas, which it compares. The input is
 * one line, or two schemas with a line break between them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "schema.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The differences are not looked at. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    if (!freopen("/dev/null", "w", stdout))
        abort();
    return 0;
}

/* What was read lies within the line, and items within their list. */
static void check(const struct json *json, const char *begin, const char *end)
{
    if (json->begin < begin || json->end > end || json->begin > json->end)
        abort();
    if (json->kind == JSON_STRING && !json->text)
        abort();
    for (const struct json *item = json->first; item; item = item->next) {
        if (json->kind == JSON_OBJECT && !item->key)
            abort();
        check(item, json->begin, json->end);
    }
    (void)json_number(json, "a");
    (void)json_text(json, "a", "");
    (void)json_is_true(json, "a");
}

/* Reads from memory of exactly this size, so that a byte too far is found. */
static struct json *text_read(const uint8_t *data, size_t size, char **copy)
{
    *copy = malloc(size ? size : 1);
    if (!*copy)
        abort();
    memcpy(*copy, data, size);
    struct json *json = json_read(*copy, size);
    if (json)
        check(json, *copy, *copy + size);
    return json;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t length = end ? (size_t)(end - data) : size;
    char *texts[2];
    struct json *before = text_read(data, length, &texts[0]);
    struct json *after =
        end ? text_read(end + 1, size - length - 1, &texts[1]) : text_read(data, length, &texts[1]);
    if (before && after) {
        (void)schema_compare(before, after, false);
        (void)schema_compare(after, before, true);
    }
    json_free(before);
    json_free(after);
    free(texts[0]);
    free(texts[1]);
    return 0;
}
