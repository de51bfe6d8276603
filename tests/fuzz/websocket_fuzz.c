/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the frames of WebSocket: a stream that comes at once and one that comes in random portions give the same events.
 * The first byte seeds the portions and says which side reads, and whether messages may be deflated.
 */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "http/deflate.h"
#include "http/websocket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MESSAGE_MAX 1000u

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void *resize(const tr_platform *self, void *memory, size_t size)
{
    (void)self;
    if (size > 0)
        return realloc(memory, size);
    free(memory);
    return NULL;
}

static const tr_platform platform = {.resize = resize};
static const struct memory_source memory_only = {.platform = &platform};

/* What came: a hash of all events, with the payloads of messages joined. */
struct result {
    uint64_t hash;
    struct net_buffer message;
    bool is_over;
};

static void note(struct result *result, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        result->hash = (result->hash ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
}

static void take_message(struct result *result, const struct ws_event *event,
                         struct deflate *deflate)
{
    tr_bytes whole = {0};
    if (net_buffer_size(&result->message) > 0)
        whole = net_buffer_bytes(&result->message);
    require(whole.size <= MESSAGE_MAX);
    note(result, whole.data, whole.size);
    note(result, &event->is_text, 1);
    if (!event->is_deflated) {
        require(!event->is_text || tr__ws_text_is_valid(whole));
    } else if (deflate != NULL) {
        struct net_buffer out = NET_BUFFER(&memory_only);
        tr_status status = tr__inflate_message(deflate, whole, 5000, &out);
        require(status == TR_OK || status == TR_BAD_DATA || status == TR_TOO_LARGE);
        require(net_buffer_size(&out) <= (status == TR_OK ? 5000 : 0));
        tr__net_buffer_free(&out);
    }
    net_buffer_consume(&result->message, whole.size);
}

static void take_event(struct result *result, const struct ws_event *event, struct deflate *deflate)
{
    unsigned char kind = (unsigned char)event->kind;
    require(!result->is_over || event->kind == WS_MORE);
    require((event->kind == WS_ERROR) == (event->text != NULL));
    if (event->kind == WS_MORE)
        return;
    if (event->kind == WS_DATA) {
        require(tr__net_buffer_append(&result->message, event->bytes.data, event->bytes.size) ==
                TR_OK);
        if (event->is_last)
            take_message(result, event, deflate);
        return;
    }
    require(event->bytes.size <= WS_CONTROL_MAX);
    result->is_over = event->kind == WS_CLOSE || event->kind == WS_ERROR;
    note(result, &kind, 1);
    note(result, &event->code, sizeof(event->code));
    note(result, event->bytes.data, event->bytes.size);
}

static struct result play(const uint8_t *data, size_t size, size_t portion_max, uint8_t choice,
                          struct deflate *deflate)
{
    struct result result = {.message = NET_BUFFER(&memory_only)};
    struct ws_reader reader;
    struct rng rng;
    size_t begin = 0;
    rng_init(&rng, choice);
    tr__ws_reader_init(&reader, choice & 1 ? WS_CLIENT : WS_SERVER, MESSAGE_MAX, choice & 2);
    for (size_t end = 0; end < size;) {
        size_t left = size - end < portion_max ? size - end : portion_max;
        end += 1 + rng_below(&rng, left);
        end = end < size ? end : size;
        for (;;) {
            struct ws_event event;
            uint8_t *copy = malloc(end - begin + (begin == end));
            require(copy != NULL);
            memcpy(copy, data + begin, end - begin);
            size_t taken = tr__ws_read(&reader, copy, end - begin, &event);
            require(taken <= end - begin);
            begin += taken;
            take_event(&result, &event, deflate);
            free(copy);
            if (event.kind == WS_MORE || event.kind == WS_ERROR)
                break;
        }
        require(end - begin < WS_HEADER_MAX + WS_CONTROL_MAX || result.is_over);
    }
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    static struct deflate
        *deflate; /* made once, because zlib's memory takes longer than all the rest */
    if (deflate == NULL)
        deflate = tr__deflate_new(&memory_only);
    struct result once = play(data + 1, size - 1, SIZE_MAX / 2, data[0], deflate);
    struct result often = play(data + 1, size - 1, 9, data[0], deflate);
    require(once.hash == often.hash && once.is_over == often.is_over);
    /* A message that fails is given as far as it came before, which depends on the portions. */
    if (!once.is_over)
        require(net_buffer_size(&once.message) == net_buffer_size(&often.message));
    tr__net_buffer_free(&once.message);
    tr__net_buffer_free(&often.message);
    return 0;
}
