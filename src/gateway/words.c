/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/words.h"

#include <stdio.h>
#include <string.h>

TR_MESSAGE(tr_words_, (optional(u64), id), (str, ask), (str, key));

/* Returns the end of the string whose first quote is at `at`. The text must be valid JSON. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

/* Returns the end of the value at `at`. The text must be valid JSON. */
static const char *skip_value(const char *at, const char *end)
{
    size_t depth = 0;
    while (at < end) {
        bool is_close = *at == '}' || *at == ']';
        if (!depth && (is_close || *at == ','))
            return at;
        depth += *at == '{' || *at == '[';
        depth -= is_close;
        bool is_string = *at == '"';
        at = is_string ? skip_string(at, end) : at + 1;
        if (!depth && (is_close || is_string))
            return at;
    }
    return end;
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end &&
           (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r' || *at == ',' || *at == ':'))
        at++;
    return at;
}

/* Finds the value of the member "with" in an object. The text must be valid JSON. */
static tr_bytes find_with(tr_bytes text)
{
    static const char name[] = "\"with\"";
    const char *end = (const char *)text.data + text.size;
    /* the place behind the opening brace of the object */
    const char *at = skip_space(text.data, end) + 1;
    while ((at = skip_space(at, end)) < end && *at == '"') {
        const char *behind = skip_value(at, end);
        bool is_it =
            (size_t)(behind - at) == sizeof name - 1 && memcmp(at, name, sizeof name - 1) == 0;
        const char *value = skip_space(behind, end);
        at = skip_value(value, end);
        if (is_it)
            return (tr_bytes){value, (size_t)(at - value)};
    }
    return (tr_bytes){NULL, 0};
}

tr_status tr__words_read(tr_bytes text, struct words *words, tr_wire_error *error)
{
    *words = (struct words){0};
    tr_status status = tr_json_read(&tr_type_tr_words_, text, &words->block, error);
    if (status != TR_OK) {
        words->block = NULL;
        return status;
    }
    const struct tr_words_ *read = words->block;
    words->has_id = read->id.has;
    words->id = read->id.value;
    words->ask = read->ask ? read->ask : "";
    words->key = read->key;
    words->with = find_with(text);
    return TR_OK;
}

void tr__words_free(struct words *words)
{
    if (words->block)
        tr_message_free(&tr_type_tr_words_, words->block);
    words->block = NULL;
}
