/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes heads, chunked bodies and paths of HTTP. A head that comes at once and one that comes in portions are cut at the
 * same place and parsed alike; a chunked body has the same bytes however it is split; what was accepted has no byte that
 * is forbidden. The first byte seeds the portions.
 */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "http/chunk.h"
#include "http/head.h"
#include "http/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIELDS = 20, HEAD_MAX = 4096 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Cuts in memory that ends behind the bytes. */
static size_t cut(const uint8_t *data, size_t size, size_t seen, size_t *offset, size_t *length)
{
    uint8_t *copy = malloc(size + (size == 0));
    tr_bytes head;
    require(copy != NULL);
    memcpy(copy, data, size);
    size_t used = tr__http_head_cut((tr_bytes){copy, size}, seen, HEAD_MAX, &head);
    require(used <= size);
    *offset = (size_t)((const uint8_t *)head.data - copy);
    *length = head.size;
    require(!used || (*offset <= used && *length <= used - *offset));
    free(copy);
    return used;
}

/* Whether what a program gets is clean. */
static void check_head(const struct http_head *head)
{
    require(head->method && head->target && head->path && head->host);
    require(!strpbrk(head->target, " \r\n\t"));
    require(head->path[0] == '/' || head->is_asterisk);
    require(!(head->is_chunked && head->length >= 0));
    for (uint32_t i = 0; i < head->field_count; i++) {
        require(!strpbrk(head->fields[i].name, " \r\n\t:") && head->fields[i].name[0]);
        require(!strpbrk(head->fields[i].value, "\r\n"));
    }
}

static void check_path(const struct http_head *head)
{
    char *text = malloc(head->path_size + 2);
    struct http_path *path = malloc(tr__http_path_bytes(head->path, head->path_size));
    require(text && path);
    if (head->path_size && tr__http_path_decode(head->path, head->path_size, text, path)) {
        require(path->text[0] == '/' && path->count > 0);
        for (uint32_t i = 0; i < path->count; i++) {
            require(path->segments[i].at + path->segments[i].size <= strlen(text));
            require(!(path->segments[i].size == 2 &&
                      memcmp(text + path->segments[i].at, "..", 2) == 0));
        }
    }
    free(path);
    free(text);
}

/* Decodes a body in portions. Returns the sum of its bytes, and whether it was accepted. */
static uint64_t decode(const uint8_t *data, size_t size, struct rng *rng, bool *is_over)
{
    struct http_chunk chunk = {0};
    size_t at = 0;
    size_t end = rng ? 0 : size;
    uint64_t sum = 0;
    for (;;) {
        tr_bytes piece;
        uint8_t *copy = malloc(end - at + 1);
        require(copy != NULL);
        memcpy(copy, data + at, end - at);
        size_t used = tr__http_chunk_next(&chunk, (tr_bytes){copy, end - at}, &piece);
        for (size_t i = 0; i < piece.size; i++)
            sum = sum * 31 + ((const uint8_t *)piece.data)[i] + 1;
        free(copy);
        at += used;
        require(at <= end);
        if (chunk.is_bad || chunk.is_over || (!used && end == size))
            break;
        if (!used)
            end += 1 + rng_below(rng, size - end);
    }
    *is_over = chunk.is_over;
    return chunk.is_bad ? 0 : sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct rng rng;
    rng_init(&rng, data[0]);
    data++;
    size--;
    bool is_over, is_over_again;
    uint64_t sum = decode(data, size, NULL, &is_over);
    uint64_t again = decode(data, size, &rng, &is_over_again);
    require(is_over == is_over_again && (!is_over || sum == again));

    size_t offset, length, offset_again, length_again;
    size_t used = cut(data, size, 0, &offset, &length);
    size_t seen = 0;
    for (size_t end = 1; end < size && used && end < used;) {
        if (cut(data, end, seen, &offset_again, &length_again))
            return 0; /* it is refused before the rest has come */
        seen = end;
        end += 1 + rng_below(&rng, size - end);
    }
    if (!used)
        return 0;
    require(cut(data, used, seen < used ? seen : 0, &offset_again, &length_again) == used);
    char *head_bytes = malloc(length + (length == 0));
    struct tr_http_field fields[FIELDS];
    struct http_head head = {.fields = fields};
    const struct http_limits limits = {.head_max = HEAD_MAX, .headers_max = FIELDS};
    require(head_bytes != NULL);
    memcpy(head_bytes, data + offset, length);
    if (tr__http_head_parse(head_bytes, length, &limits, &head) == 0) {
        check_head(&head);
        check_path(&head);
    }
    free(head_bytes);
    return 0;
}
