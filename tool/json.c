/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

struct reader {
    const char *at;
    const char *end;
};

static struct json *value_read(struct reader *reader, unsigned depth);

static void space_skip(struct reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) && *reader->at)
        reader->at++;
}

static bool byte_take(struct reader *reader, char byte)
{
    space_skip(reader);
    if (reader->at == reader->end || *reader->at != byte)
        return false;
    reader->at++;
    return true;
}

static unsigned hex_of(const char *at)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        char digit = at[i];
        value = value * 16 + (unsigned)(digit >= 'a'   ? digit - 'a' + 10
                                        : digit >= 'A' ? digit - 'A' + 10
                                                       : digit - '0');
    }
    return value;
}

/* Writes a character of \u below 0x10000 as UTF-8. Returns how many bytes. */
static size_t utf8_write(unsigned code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    to[0] = (char)(0xe0 | code >> 12);
    to[1] = (char)(0x80 | (code >> 6 & 0x3f));
    to[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

/* Reads a string behind its first quote. NULL: malformed. Given to the caller. */
static char *string_read(struct reader *reader)
{
    char *text = malloc((size_t)(reader->end - reader->at) + 1);
    size_t length = 0;
    while (text && reader->at < reader->end && *reader->at != '"') {
        char byte = *reader->at++;
        if (byte != '\\') {
            text[length++] = byte;
            continue;
        }
        char letter = reader->at < reader->end ? *reader->at++ : '\0';
        static const char escapes[] = "b\bf\fn\nr\rt\t";
        const char *escape = letter ? strchr(escapes, letter) : NULL;
        if (letter == 'u' && reader->end - reader->at >= 4) {
            length += utf8_write(hex_of(reader->at), text + length);
            reader->at += 4;
        } else {
            text[length++] = escape ? escape[1] : letter;
        }
    }
    if (!text || reader->at == reader->end) {
        free(text);
        return NULL;
    }
    reader->at++;
    text[length] = '\0';
    return text;
}

/* Reads the members of an object or the items of an array. Returns false if they are malformed. */
static bool list_read(struct reader *reader, struct json *json, char close, unsigned depth)
{
    struct json **last = &json->first;
    if (byte_take(reader, close))
        return true;
    do {
        char *key = NULL;
        if (close == '}') {
            key = byte_take(reader, '"') ? string_read(reader) : NULL;
            if (!key || !byte_take(reader, ':')) {
                free(key);
                return false;
            }
        }
        struct json *value = value_read(reader, depth + 1);
        if (!value) {
            free(key);
            return false;
        }
        value->key = key;
        *last = value;
        last = &value->next;
    } while (byte_take(reader, ','));
    return byte_take(reader, close);
}

static bool word_take(struct reader *reader, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0)
        return false;
    reader->at += length;
    return true;
}

static char *digits_read(struct reader *reader)
{
    const char *begin = reader->at;
    while (reader->at < reader->end && *reader->at && strchr("+-.0123456789eE", *reader->at))
        reader->at++;
    return reader->at == begin ? NULL : strndup(begin, (size_t)(reader->at - begin));
}

static struct json *value_read(struct reader *reader, unsigned depth)
{
    struct json *json = calloc(1, sizeof *json);
    space_skip(reader);
    bool is_good = json && depth < DEPTH_MAX && reader->at < reader->end;
    if (!is_good) {
        json_free(json);
        return NULL;
    }
    json->begin = reader->at;
    if (byte_take(reader, '{')) {
        json->kind = JSON_OBJECT;
        is_good = list_read(reader, json, '}', depth);
    } else if (byte_take(reader, '[')) {
        json->kind = JSON_ARRAY;
        is_good = list_read(reader, json, ']', depth);
    } else if (byte_take(reader, '"')) {
        json->kind = JSON_STRING;
        is_good = (json->text = string_read(reader)) != NULL;
    } else if (word_take(reader, "true")) {
        json->kind = JSON_TRUE;
    } else if (word_take(reader, "false")) {
        json->kind = JSON_FALSE;
    } else if (!word_take(reader, "null")) {
        json->kind = JSON_NUMBER;
        is_good = (json->text = digits_read(reader)) != NULL;
    }
    json->end = reader->at;
    if (is_good)
        return json;
    json_free(json);
    return NULL;
}

struct json *json_read(const char *line, size_t length)
{
    struct reader reader = {line, line + length};
    struct json *json = value_read(&reader, 0);
    space_skip(&reader);
    if (reader.at == reader.end)
        return json;
    json_free(json);
    return NULL;
}

void json_free(struct json *json)
{
    while (json) {
        struct json *next = json->next;
        json_free(json->first);
        free((void *)(uintptr_t)json->key);
        free((void *)(uintptr_t)json->text);
        free(json);
        json = next;
    }
}

const struct json *json_get(const struct json *json, const char *key)
{
    if (!json || json->kind != JSON_OBJECT)
        return NULL;
    for (const struct json *member = json->first; member; member = member->next) {
        if (strcmp(member->key, key) == 0)
            return member;
    }
    return NULL;
}

const char *json_text(const struct json *json, const char *key, const char *otherwise)
{
    const struct json *member = json_get(json, key);
    return member && member->kind == JSON_STRING ? member->text : otherwise;
}

int64_t json_number(const struct json *json, const char *key)
{
    const struct json *member = json_get(json, key);
    return member && member->kind == JSON_NUMBER ? strtoll(member->text, NULL, 10) : 0;
}

bool json_is_true(const struct json *json, const char *key)
{
    const struct json *member = json_get(json, key);
    return member && member->kind == JSON_TRUE;
}
