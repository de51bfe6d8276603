/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes forms with files: a body that comes at once and one that comes in random portions give the same parts, and no
 * content has the delimiter. The first byte seeds the portions, the second says whether the rest begins with a
 * Content-Type, up to its first NUL.
 */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "http/multipart.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PARTS_MAX 5

static void require(bool condition)
{
    if (!condition)
        abort();
}

struct result {
    uint64_t hash;
    size_t depth; /* 1 inside a part */
    size_t parts;
    bool is_over;
    bool is_ended;
};

static void note(struct result *result, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        result->hash = (result->hash ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
}

static void take_event(struct result *result, const struct multipart_event *event)
{
    unsigned char kind = (unsigned char)event->kind;
    if (event->kind == MULTIPART_MORE)
        return;
    require(!result->is_over);
    if (event->kind != MULTIPART_DATA) { /* Content may come in any portions. */
        note(result, &kind, 1);
        note(result, &event->status, sizeof(event->status));
    }
    note(result, event->bytes.data, event->bytes.size);
    note(result, event->name.data, event->name.size);
    note(result, event->filename.data, event->filename.size);
    note(result, event->type.data, event->type.size);
    if (event->kind == MULTIPART_PART) {
        require(result->depth++ == 0 && event->name.data != NULL);
        require(++result->parts <= PARTS_MAX);
    } else if (event->kind == MULTIPART_CLOSE) {
        require(result->depth-- == 1);
    } else if (event->kind == MULTIPART_DATA) {
        require(result->depth == 1 && event->bytes.size > 0);
    } else {
        result->is_over = true;
        require((event->kind == MULTIPART_ERROR) == (event->text != NULL));
    }
}

static struct result play(const struct multipart *begun, const uint8_t *data, size_t size,
                          size_t portion_max, uint8_t seed)
{
    struct result result = {0};
    struct multipart form = *begun;
    struct rng rng;
    size_t begin = 0;
    rng_init(&rng, seed);
    for (size_t end = 0; end < size;) {
        size_t left = size - end < portion_max ? size - end : portion_max;
        end += 1 + rng_below(&rng, left);
        end = end < size ? end : size;
        struct multipart_event event;
        do {
            uint8_t *copy = malloc(end - begin + (begin == end));
            require(copy != NULL);
            memcpy(copy, data + begin, end - begin);
            size_t taken = tr__multipart_read(&form, copy, end - begin, &event);
            require(taken <= end - begin);
            begin += taken;
            take_event(&result, &event);
            free(copy);
        } while (event.kind != MULTIPART_MORE && event.kind != MULTIPART_ERROR);
        require(result.is_over || end - begin < TR_HTTP_FORM_HEAD_MAX);
    }
    result.is_ended = tr__multipart_is_ended(&form);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char type[] = "multipart/form-data; boundary=XyZ";
    struct multipart form;
    if (size < 2)
        return 0;
    uint8_t seed = data[0];
    tr_bytes content_type = {type, sizeof(type) - 1};
    const uint8_t *body = data + 2;
    size_t body_size = size - 2;
    const uint8_t *nul = data[1] % 4 == 0 ? memchr(body, 0, body_size) : NULL;
    if (nul != NULL) {
        content_type = (tr_bytes){body, (size_t)(nul - body)};
        body_size -= content_type.size + 1;
        body = nul + 1;
    }
    if (tr__multipart_init(&form, content_type, PARTS_MAX) != TR_OK)
        return 0;
    struct result once = play(&form, body, body_size, SIZE_MAX / 2, seed);
    struct result often = play(&form, body, body_size, 9, seed);
    require(once.hash == often.hash && once.is_over == often.is_over &&
            once.is_ended == often.is_ended);
    return 0;
}
