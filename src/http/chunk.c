/* SPDX-License-Identifier: Apache-2.0 */
#include "http/chunk.h"

#include <string.h>

#include "http/check.h"

enum { CHUNK_SIZE, CHUNK_DATA, CHUNK_END, CHUNK_TRAILERS };
/*
 * A chunk of at most this many bytes is moved behind the data before it. To move more would take
 * longer than the read that it saves.
 */
enum { JOIN_MAX = 1024 };
/* One piece of a body has at most this many chunks, so that a client with chunks of one byte cannot make a read take
 * long. */
enum { JOINED_MAX = 256 };
enum {
    /* the largest number of digits of a size: the value of more digits could overflow */
    DIGITS_MAX = 15
};

static size_t fail(struct http_chunk *chunk)
{
    chunk->is_bad = true;
    return 0;
}

/*
 * Finds the first line of `bytes`. Sets *line to the line without its end. Returns the size of the
 * line with its end, or 0 if the end has not come. If the line is too long or has a control
 * character, the body is malformed.
 */
static size_t line_of(struct http_chunk *chunk, tr_bytes bytes, tr_bytes *line)
{
    const unsigned char *data = bytes.data;
    for (size_t i = 0; i < bytes.size; i++) {
        if (data[i] == '\r') {
            if (i + 1 == bytes.size)
                return 0;
            if (data[i + 1] != '\n')
                return fail(chunk);
            *line = (tr_bytes){data, i};
            return i + 2;
        }
        if ((data[i] < 0x20 && data[i] != '\t') || data[i] == 0x7f || i == TR_HTTP_CHUNK_LINE_MAX)
            return fail(chunk);
    }
    return 0;
}

static bool is_token(unsigned char c)
{
    return tr__http_token[c];
}

static size_t skip_token(const unsigned char *data, size_t at, size_t size)
{
    while (at < size && is_token(data[at]))
        at++;
    return at;
}

/* Skips a text in quotes. Returns the place behind it, or 0 if the closing quote is missing. */
static size_t skip_quoted(const unsigned char *data, size_t at, size_t size)
{
    for (at++; at < size; at++) {
        if (data[at] == '\\')
            at++;
        else if (data[at] == '"')
            return at + 1;
    }
    return 0;
}

/*
 * Whether the rest of the line is a list of extensions, which may be empty: *( ";" name [ "=" (
 * token / quoted ) ] ), without spaces.
 */
static bool are_extensions(const unsigned char *data, size_t at, size_t size)
{
    while (at < size) {
        if (data[at] != ';')
            return false;
        size_t name = skip_token(data, at + 1, size);
        if (name == at + 1)
            return false;
        at = name;
        if (at == size || data[at] != '=')
            continue;
        size_t value = at + 1;
        at = value < size && data[value] == '"' ? skip_quoted(data, value, size)
                                                : skip_token(data, value, size);
        if (at <= value)
            return false;
    }
    return true;
}

static int digit_of(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t take_size(struct http_chunk *chunk, tr_bytes bytes)
{
    tr_bytes line;
    size_t used = line_of(chunk, bytes, &line);
    if (!used)
        return 0;
    const unsigned char *data = line.data;
    uint64_t size = 0;
    size_t at = 0;
    while (at < line.size && digit_of(data[at]) >= 0 && at <= DIGITS_MAX)
        size = size * 16 + (uint64_t)digit_of(data[at++]);
    if (!at || at > DIGITS_MAX || !are_extensions(data, at, line.size))
        return fail(chunk);
    chunk->left = size;
    chunk->state = size ? CHUNK_DATA : CHUNK_TRAILERS;
    return used;
}

static size_t take_data(struct http_chunk *chunk, tr_bytes bytes, tr_bytes *data)
{
    size_t size = bytes.size < chunk->left ? bytes.size : (size_t)chunk->left;
    *data = (tr_bytes){bytes.data, size};
    chunk->left -= size;
    if (!chunk->left)
        chunk->state = CHUNK_END;
    return size;
}

static size_t take_end(struct http_chunk *chunk, tr_bytes bytes)
{
    const unsigned char *data = bytes.data;
    if (data[0] != '\r' || (bytes.size > 1 && data[1] != '\n'))
        return fail(chunk);
    if (bytes.size < 2)
        return 0;
    chunk->state = CHUNK_SIZE;
    return 2;
}

static size_t take_trailer(struct http_chunk *chunk, tr_bytes bytes)
{
    tr_bytes line;
    size_t used = line_of(chunk, bytes, &line);
    if (!used)
        return 0;
    chunk->trailers += (uint32_t)used;
    size_t name = skip_token(line.data, 0, line.size);
    if (!line.size)
        chunk->is_over = true;
    else if (!name || name == line.size || ((const unsigned char *)line.data)[name] != ':' ||
             chunk->trailers > TR_HTTP_TRAILERS_MAX)
        return fail(chunk);
    return used;
}

size_t tr__http_chunk_next(struct http_chunk *chunk, tr_bytes bytes, tr_bytes *data)
{
    *data = (tr_bytes){bytes.data, 0};
    if (!bytes.size || chunk->is_over || chunk->is_bad)
        return 0;
    switch (chunk->state) {
    case CHUNK_SIZE:
        return take_size(chunk, bytes);
    case CHUNK_DATA:
        return take_data(chunk, bytes, data);
    case CHUNK_END:
        return take_end(chunk, bytes);
    default:
        return take_trailer(chunk, bytes);
    }
}

size_t tr__http_chunks_take(struct http_chunk *chunk, tr_bytes bytes, size_t most, tr_bytes *data)
{
    unsigned char *from = (unsigned char *)(uintptr_t)bytes.data;
    unsigned char *to = NULL;
    size_t at = 0;
    size_t joined = 0;
    size_t used;
    *data = (tr_bytes){from, 0};
    do {
        tr_bytes rest = {from + at, bytes.size - at};
        tr_bytes piece;
        if (chunk->state == CHUNK_DATA && rest.size > most)
            rest.size = most;
        if (chunk->state == CHUNK_DATA && to &&
            (chunk->left > JOIN_MAX || data->size + chunk->left > most || joined == JOINED_MAX))
            break;
        used = tr__http_chunk_next(chunk, rest, &piece);
        at += used;
        if (!piece.size)
            continue;
        if (!to)
            data->data = to = from + at - piece.size;
        else
            memmove(to, piece.data, piece.size);
        to += piece.size;
        data->size += piece.size;
        joined++;
    } while (used);
    return at;
}
