/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/key_text.h"

#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "wire/utf8.h"

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

size_t tr__key_read(const char *text, unsigned char key[TR_KEY_MAX])
{
    return tr__key_text_read(text, key, TR_KEY_MAX);
}

size_t tr__key_text_read(const char *text, unsigned char *key, size_t max)
{
    size_t size = 0;
    for (; text && *text; text++) {
        if (size == max)
            return 0;
        if (*text != '%') {
            key[size++] = (unsigned char)*text;
            continue;
        }
        int high = digit_of(text[1]);
        int low = high < 0 ? -1 : digit_of(text[2]);
        if (low < 0)
            return 0;
        key[size++] = (unsigned char)(high * 16 + low);
        text += 2;
    }
    return size;
}

/* Returns the size of the first character. Returns 0 if that character is not printable. */
static size_t printable(const unsigned char *bytes, size_t size)
{
    return bytes[0] < 0x20 || bytes[0] == 0x7f ? 0 : tr__utf8_character(bytes, size);
}

void tr__key_write(tr_bytes key, char *text, size_t size)
{
    const unsigned char *bytes = key.data;
    size_t length = 0;
    for (size_t i = 0; i < key.size;) {
        size_t good = bytes[i] == '%' ? 0 : printable(bytes + i, key.size - i);
        if (length + (good ? good : 3) >= size)
            break;
        if (good) {
            memcpy(text + length, bytes + i, good);
            length += good;
        } else {
            length += (size_t)snprintf(text + length, size - length, "%%%02x", bytes[i]);
        }
        i += good ? good : 1;
    }
    text[length] = '\0';
}

void tr__json_key(struct json_line *line, const char *name, tr_bytes key)
{
    char text[3 * TR_KV_KEY_MAX + 1];
    tr__key_write(key, text, sizeof text);
    tr__json_string(line, name, text);
}

static bool is_text(tr_bytes bytes)
{
    const unsigned char *at = bytes.data;
    for (size_t i = 0; i < bytes.size;) {
        size_t good = at[i] == '\n' || at[i] == '\t' ? 1 : printable(at + i, bytes.size - i);
        if (!good)
            return false;
        i += good;
    }
    return true;
}

void tr__json_base64(struct json_line *line, tr_bytes bytes)
{
    enum { PART = 768 };
    char text[BASE64_SIZE(PART)];
    for (size_t i = 0; i < bytes.size; i += PART) {
        size_t count = bytes.size - i < PART ? bytes.size - i : PART;
        char *end = base64_write(text, (const unsigned char *)bytes.data + i, count);
        tr__json_put(line, text, (size_t)(end - text));
    }
}

void tr__json_bytes(struct json_line *line, const char *name, tr_bytes bytes, size_t most)
{
    char other[32];
    bool is_cut = most && bytes.size > most;
    bytes.size = is_cut ? most : bytes.size;
    if (is_text(bytes)) {
        struct json_line text;
        tr__json_line_init(&text, line->source);
        tr__json_put(&text, bytes.data, bytes.size);
        tr__json_put(&text, "", 1);
        tr__json_string(line, name, text.has_failed ? "" : text.data);
        line->has_failed |= text.has_failed;
        tr__json_line_free(&text);
        return;
    }
    snprintf(other, sizeof other, "%s64", name);
    tr__json_open(line, other, '"');
    tr__json_base64(line, bytes);
    tr__json_close(line, '"');
}
