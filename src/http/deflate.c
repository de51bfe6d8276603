/* SPDX-License-Identifier: Apache-2.0 */
/** Deflates and inflates by zlib. Each message is independent of the others. */
#include "http/deflate.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

#define LEVEL 6  /* zlib's default; higher levels take twice the time for little gain */
#define MEMORY 8 /* zlib's default */
/* add this to the number of window bits, to read and write the header and trailer of gzip */
#define GZIP 16
#define WINDOW_MAX 15
/** The largest number of bytes that one call of zlib gets, because zlib counts them with 32 bits. */
#define STEP_MAX ((size_t)1 << 30)
/**
 * The smallest size of the buffer for an inflated message. The buffer grows by at least this size.
 */
#define INFLATE_STEP ((size_t)4096)

/* The end of a message as zlib writes it: an empty block. RFC 7692 leaves these bytes out. */
static const unsigned char empty_block[] = {0x00, 0x00, 0xff, 0xff};

struct deflate {
    const struct memory_source *source;
    /*
     * the number of window bits of the stream `out`, as deflateInit2 takes it; 0: this stream was
     * not made yet
     */
    int out_bits;
    bool has_in;
    z_stream out;
    z_stream in;
};

static voidpf on_alloc(voidpf context, uInt count, uInt size)
{
    return source_resize(context, NULL, (size_t)count * size);
}

static void on_free(voidpf context, voidpf memory)
{
    (void)source_resize(context, memory, 0);
}

static z_stream stream_of(const struct deflate *state)
{
    return (z_stream){.zalloc = on_alloc, .zfree = on_free, .opaque = (voidpf)state->source};
}

bool tr__deflate_is_built(void)
{
    return true;
}

struct deflate *tr__deflate_new(const struct memory_source *source)
{
    struct deflate *state = source_resize(source, NULL, sizeof(*state));
    if (state != NULL)
        *state = (struct deflate){.source = source};
    return state;
}

void tr__deflate_free(struct deflate *state)
{
    if (state == NULL)
        return;
    if (state->out_bits != 0)
        (void)deflateEnd(&state->out);
    if (state->has_in)
        (void)inflateEnd(&state->in);
    (void)source_resize(state->source, state, 0);
}

/* Prepares state->out for the next message, with a window of `bits` bits. */
static tr_status deflate_ready(struct deflate *state, int bits)
{
    if (state->out_bits == bits)
        return deflateReset(&state->out) == Z_OK ? TR_OK : TR_NO_MEMORY;
    if (state->out_bits != 0)
        (void)deflateEnd(&state->out);
    state->out_bits = 0;
    state->out = stream_of(state);
    if (deflateInit2(&state->out, LEVEL, Z_DEFLATED, bits, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return TR_NO_MEMORY;
    state->out_bits = bits;
    return TR_OK;
}

/* Lets the stream read the next portion of the input. */
static void feed(z_stream *stream, tr_bytes *input)
{
    size_t size = input->size < STEP_MAX ? input->size : STEP_MAX;
    stream->next_in = (z_const Bytef *)input->data;
    stream->avail_in = (uInt)size;
    *input = (tr_bytes){(const char *)input->data + size, input->size - size};
}

/* Gives the stream space for at least one byte of output. */
static bool make_space(z_stream *stream, struct net_buffer *out, size_t size)
{
    void *space = net_buffer_reserve(out, size);
    if (space == NULL)
        return false;
    stream->next_out = space;
    stream->avail_out = (uInt)(size < STEP_MAX ? size : STEP_MAX);
    return true;
}

/*
 * Shortens the buffer to `size` bytes, because the bytes behind them are of no use after an error.
 * Returns `status`.
 */
static tr_status give_up(struct net_buffer *out, size_t size, tr_status status)
{
    out->end = out->begin + size;
    return status;
}

/* Deflates all of the input. `flush` says how zlib ends the output. */
static tr_status deflate_all(struct deflate *state, int bits, tr_bytes input, int flush,
                             struct net_buffer *out)
{
    size_t before = net_buffer_size(out);
    tr_status status = deflate_ready(state, bits);
    if (status != TR_OK)
        return status;
    z_stream *stream = &state->out;
    if (input.size == 0)
        input.data = "";
    do {
        feed(stream, &input);
        int mode = input.size == 0 ? flush : Z_NO_FLUSH;
        do {
            /*
             * space for all output that zlib can make of this input, and 16 bytes for the block at
             * the end of the output
             */
            size_t space = deflateBound(stream, stream->avail_in) + 16;
            if (!make_space(stream, out, space))
                return give_up(out, before, TR_NO_MEMORY);
            size_t given = stream->avail_out;
            (void)deflate(stream, mode);
            net_buffer_commit(out, given - stream->avail_out);
        } while (stream->avail_out == 0);
    } while (input.size > 0);
    return TR_OK;
}

tr_status tr__deflate_message(struct deflate *state, unsigned bits, tr_bytes message,
                              struct net_buffer *out)
{
    /* zlib makes no output for an empty message; RFC 7692 7.2.3.6 requires one byte. */
    if (message.size == 0)
        return tr__net_buffer_append(out, empty_block, 1);
    tr_status status = deflate_all(state, -(int)bits, message, Z_SYNC_FLUSH, out);
    if (status == TR_OK)
        out->end -= sizeof(empty_block);
    return status;
}

tr_status tr__gzip(struct deflate *state, tr_bytes body, struct net_buffer *out)
{
    return deflate_all(state, WINDOW_MAX + GZIP, body, Z_FINISH, out);
}

static tr_status inflate_ready(struct deflate *state)
{
    if (state->has_in)
        return inflateReset(&state->in) == Z_OK ? TR_OK : TR_NO_MEMORY;
    state->in = stream_of(state);
    if (inflateInit2(&state->in, -WINDOW_MAX) != Z_OK)
        return TR_NO_MEMORY;
    state->has_in = true;
    return TR_OK;
}

/*
 * Inflates the input that the stream has. The buffer may have at most `limit` bytes afterwards.
 * Sets *is_whole if the input ends at the end of a block.
 */
static tr_status inflate_fed(z_stream *stream, size_t limit, struct net_buffer *out, bool *is_whole)
{
    for (;;) {
        size_t size = net_buffer_size(out);
        /* Allow one byte more than the limit, to detect that the limit is exceeded. */
        size_t space = limit - size + 1;
        size_t step = size < INFLATE_STEP ? INFLATE_STEP : size;
        if (space > step)
            space = step;
        if (!make_space(stream, out, space))
            return TR_NO_MEMORY;
        size_t given = stream->avail_out;
        bool has_input = stream->avail_in > 0;
        int result = inflate(stream, Z_SYNC_FLUSH);
        net_buffer_commit(out, given - stream->avail_out);
        if (net_buffer_size(out) > limit)
            return TR_TOO_LARGE;
        if (result == Z_MEM_ERROR)
            return TR_NO_MEMORY;
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            return TR_BAD_DATA;
        if (has_input) /* bit 128 in data_type says that zlib has stopped at the end of a block */
            *is_whole = result == Z_STREAM_END || (stream->data_type & 128) != 0;
        /*
         * The last block of a stream may come before the end of the message (7.2.3.4). A new stream
         * follows it.
         */
        if (result == Z_STREAM_END && inflateReset(stream) != Z_OK)
            return TR_BAD_DATA;
        if (stream->avail_in == 0 && stream->avail_out > 0)
            return TR_OK;
    }
}

tr_status tr__inflate_message(struct deflate *state, tr_bytes message, size_t size_max,
                              struct net_buffer *out)
{
    size_t before = net_buffer_size(out);
    size_t limit = size_max < SIZE_MAX - 1 - before ? before + size_max : SIZE_MAX - 1;
    bool is_whole = false;
    tr_status status = inflate_ready(state);
    z_stream *stream = &state->in;
    while (status == TR_OK && message.size > 0) {
        feed(stream, &message);
        status = inflate_fed(stream, limit, out, &is_whole);
    }
    if (status == TR_OK) {
        tr_bytes tail = {empty_block, sizeof(empty_block)};
        feed(stream, &tail);
        status = inflate_fed(stream, limit, out, &is_whole);
    }
    if (status == TR_OK && !is_whole)
        status = TR_BAD_DATA;
    return status == TR_OK ? TR_OK : give_up(out, before, status);
}

/* Inflates all of the input. */
static tr_status gunzip_all(z_stream *stream, tr_bytes body, size_t limit, struct net_buffer *out)
{
    int result = Z_OK;
    while (result != Z_STREAM_END) {
        if (!stream->avail_in && body.size)
            feed(stream, &body);
        size_t size = net_buffer_size(out);
        size_t step = size < INFLATE_STEP ? INFLATE_STEP : size;
        /* Allow one byte more than the limit, to detect that the limit is exceeded. */
        size_t space = limit - size + 1;
        if (!make_space(stream, out, space < step ? space : step))
            return TR_NO_MEMORY;
        size_t given = stream->avail_out;
        result = inflate(stream, Z_NO_FLUSH);
        net_buffer_commit(out, given - stream->avail_out);
        if (net_buffer_size(out) > limit)
            return TR_TOO_LARGE;
        if (result == Z_MEM_ERROR)
            return TR_NO_MEMORY;
        if (result != Z_OK && result != Z_STREAM_END)
            return TR_BAD_DATA; /* Z_BUF_ERROR says that the input has ended too early */
    }
    return stream->avail_in || body.size ? TR_BAD_DATA : TR_OK;
}

tr_status tr__gunzip(struct deflate *state, tr_bytes body, size_t size_max, struct net_buffer *out)
{
    size_t before = net_buffer_size(out);
    size_t limit = size_max < SIZE_MAX - 1 - before ? before + size_max : SIZE_MAX - 1;
    z_stream stream = stream_of(state);
    if (inflateInit2(&stream, WINDOW_MAX + GZIP) != Z_OK)
        return TR_NO_MEMORY;
    tr_status status = gunzip_all(&stream, body, limit, out);
    (void)inflateEnd(&stream);
    return status == TR_OK ? TR_OK : give_up(out, before, status);
}
