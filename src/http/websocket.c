/* SPDX-License-Identifier: Apache-2.0 */
/** Reads and writes frames of WebSocket. The rules are numbered in websocket.h. */
#include "http/websocket.h"

#include "base/assert.h"
#include "wire/utf8.h"

#include <string.h>

enum {
    READER_HAS_DEFLATE = 1, /* the bit RSV1 is allowed, because permessage-deflate is used */
    READER_IS_DEFLATED = 2, /* the current message is deflated */
    /* the current message has begun, and no portion of it was returned yet */
    READER_IS_BEGUN = 4,
    READER_IS_LAST = 8, /* the current frame is the last one of its message */
    /* the header of a data frame was consumed, and the end of the frame's payload was not */
    READER_IN_FRAME = 16,
    READER_IS_OVER = 32, /* a close has come, or an error */
};

enum {
    BIT_FIN = 0x80,
    BIT_RSV1 = 0x40,
    BITS_RSV = 0x70,
    BITS_OPCODE = 0x0f,
    BIT_MASK = 0x80,
    BIT_CONTROL = 0x08
};

/* A frame's header, of which all bytes have come. */
struct header {
    unsigned char first;
    unsigned char mask[4];
    uint64_t size; /* size of the payload */
    size_t taken;  /* size of the header, without the payload */
};

void tr__ws_reader_init(struct ws_reader *reader, enum ws_role role, uint32_t message_max,
                        bool has_deflate)
{
    *reader = (struct ws_reader){
        .message_max = message_max,
        .role = (unsigned char)role,
        .flags = has_deflate ? READER_HAS_DEFLATE : 0,
    };
}

/*
 * Two words of 64 bits. Compilers put both into one register if the processor has registers of 128
 * bits.
 */
typedef uint64_t wide __attribute__((__vector_size__(16)));

void tr__ws_mask(unsigned char *bytes, size_t size, const unsigned char mask[4])
{
    uint32_t half;
    memcpy(&half, mask, sizeof(half));
    const uint64_t whole = (uint64_t)half << 32 | half;
    const wide both = {whole, whole};
    size_t at = 0;
    for (; size - at >= sizeof(both); at += sizeof(both)) {
        wide part;
        memcpy(&part, bytes + at, sizeof(part));
        part ^= both;
        memcpy(bytes + at, &part, sizeof(part));
    }
    for (; size - at >= sizeof(whole); at += sizeof(whole)) {
        uint64_t part;
        memcpy(&part, bytes + at, sizeof(part));
        part ^= whole;
        memcpy(bytes + at, &part, sizeof(part));
    }
    for (; at < size; at++)
        bytes[at] ^= mask[at % 4];
}

bool tr__ws_text_is_valid(tr_bytes text)
{
    unsigned char state = 0;
    return tr__utf8_portion(&state, text.data, text.size) && state == 0;
}

bool tr__ws_code_is_valid(unsigned code)
{
    if (code >= 3000)
        return code <= 4999;
    return code >= 1000 && code <= 1014 && (code < 1004 || code > 1006);
}

static size_t fail(struct ws_reader *reader, struct ws_event *event, enum ws_code code,
                   const char *text)
{
    reader->flags |= READER_IS_OVER;
    *event = (struct ws_event){.kind = WS_ERROR, .code = (uint16_t)code, .text = text};
    return 0;
}

/* Checks the first byte of a frame. Returns NULL, or an error text. */
static const char *fault_of_first(const struct ws_reader *reader, unsigned char first)
{
    unsigned opcode = first & BITS_OPCODE;
    bool is_data = opcode == WS_OP_TEXT || opcode == WS_OP_BINARY;
    if ((first & BITS_RSV) &&
        !(is_data && (first & BITS_RSV) == BIT_RSV1 && (reader->flags & READER_HAS_DEFLATE)))
        return "a reserved bit is set";
    if (opcode & BIT_CONTROL) {
        if (opcode > WS_OP_PONG)
            return "the opcode is reserved";
        return first & BIT_FIN ? NULL : "a control frame is fragmented";
    }
    if (opcode > WS_OP_BINARY)
        return "the opcode is reserved";
    if (is_data)
        return reader->opcode == 0 ? NULL : "a message begins before the last one has ended";
    return reader->opcode != 0 ? NULL : "a continuation without a message";
}

/* Checks the second byte of a frame. Returns NULL, or an error text. */
static const char *fault_of_second(const struct ws_reader *reader, unsigned char first,
                                   unsigned char second)
{
    bool is_masked = second & BIT_MASK;
    if (is_masked != (reader->role == WS_SERVER))
        return is_masked ? "a frame of a server is masked" : "a frame of a client is not masked";
    if ((first & BIT_CONTROL) && (second & ~BIT_MASK) > WS_CONTROL_MAX)
        return "a control frame has more than 125 bytes";
    return NULL;
}

static uint64_t load_big_endian(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[i];
    return value;
}

/*
 * Reads a header. Returns NULL, or an error text. If the header is incomplete, sets header->taken
 * to 0, and checks only the bytes that have come.
 */
static const char *read_header(const struct ws_reader *reader, const unsigned char *bytes,
                               size_t size, struct header *header)
{
    header->taken = 0;
    if (size == 0)
        return NULL;
    const char *fault = fault_of_first(reader, bytes[0]);
    if (fault != NULL || size < 2)
        return fault;
    fault = fault_of_second(reader, bytes[0], bytes[1]);
    if (fault != NULL)
        return fault;
    unsigned length = bytes[1] & (unsigned)~BIT_MASK;
    size_t extra = length == 126 ? 2 : length == 127 ? 8 : 0;
    size_t whole = 2 + extra + (bytes[1] & BIT_MASK ? sizeof(header->mask) : 0);
    if (size < 2 + extra)
        return NULL;
    header->size = extra == 0 ? length : load_big_endian(bytes + 2, extra);
    if ((extra == 2 && header->size < 126) || (extra == 8 && header->size <= UINT16_MAX))
        return "a length has not its shortest form";
    if (header->size > INT64_MAX)
        return "a length has its highest bit set";
    if (size < whole)
        return NULL;
    header->first = bytes[0];
    header->taken = whole;
    memset(header->mask, 0, sizeof(header->mask));
    if (bytes[1] & BIT_MASK)
        memcpy(header->mask, bytes + 2 + extra, sizeof(header->mask));
    return NULL;
}

/* Makes the event for a close frame. The payload must be unmasked. */
static size_t read_close(struct ws_reader *reader, unsigned char *payload, size_t size,
                         size_t taken, struct ws_event *event)
{
    if (size == 1)
        return fail(reader, event, WS_CODE_PROTOCOL, "a close has half a code");
    unsigned code = size == 0 ? WS_CODE_NONE : (unsigned)load_big_endian(payload, 2);
    tr_bytes reason = size == 0 ? (tr_bytes){0} : (tr_bytes){payload + 2, size - 2};
    if (size > 0 && !tr__ws_code_is_valid(code))
        return fail(reader, event, WS_CODE_PROTOCOL, "a close has a code that may not be sent");
    if (!tr__ws_text_is_valid(reason))
        return fail(reader, event, WS_CODE_BAD_DATA, "the reason of a close is not UTF-8");
    reader->flags |= READER_IS_OVER;
    *event = (struct ws_event){.kind = WS_CLOSE, .code = (uint16_t)code, .bytes = reason};
    return taken;
}

/* Makes the event for a control frame, if the whole frame has come. Otherwise returns 0. */
static size_t read_control(struct ws_reader *reader, const struct header *header,
                           unsigned char *bytes, size_t size, struct ws_event *event)
{
    size_t payload_size = (size_t)header->size;
    if (size - header->taken < payload_size)
        return 0;
    unsigned char *payload = bytes + header->taken;
    size_t taken = header->taken + payload_size;
    tr__ws_mask(payload, payload_size, header->mask);
    unsigned opcode = header->first & BITS_OPCODE;
    if (opcode == WS_OP_CLOSE)
        return read_close(reader, payload, payload_size, taken, event);
    event->kind = opcode == WS_OP_PING ? WS_PING : WS_PONG;
    event->bytes = (tr_bytes){payload, payload_size};
    return taken;
}

/*
 * Rotates the mask, because `size` bytes were unmasked: afterwards mask[0] is for the byte behind
 * these bytes.
 */
static void turn_mask(unsigned char mask[4], size_t size)
{
    unsigned char turned[4];
    for (size_t i = 0; i < sizeof(turned); i++)
        turned[i] = mask[(size + i) % 4];
    memcpy(mask, turned, sizeof(turned));
}

/*
 * Makes the event for a data frame, with the part of its payload that has come. This part begins at
 * bytes + taken, behind the header.
 */
static size_t read_data(struct ws_reader *reader, unsigned char *bytes, size_t size, size_t taken,
                        struct ws_event *event)
{
    unsigned char flags = reader->flags;
    size_t count = size - taken < reader->left ? size - taken : reader->left;
    if (count == 0 && reader->left > 0)
        return taken;
    unsigned char *payload = bytes + taken;
    if (reader->role == WS_SERVER) {
        tr__ws_mask(payload, count, reader->mask);
        if (count < reader->left)
            turn_mask(reader->mask, count);
    }
    reader->left -= (uint32_t)count;
    bool is_frame_end = reader->left == 0;
    bool is_last = is_frame_end && (flags & READER_IS_LAST);
    bool is_text = reader->opcode == WS_OP_TEXT;
    if (is_text && !(flags & READER_IS_DEFLATED) &&
        (!tr__utf8_portion(&reader->utf8, payload, count) || (is_last && reader->utf8 != 0)))
        return fail(reader, event, WS_CODE_BAD_DATA, "a text is not UTF-8");
    *event = (struct ws_event){
        .kind = WS_DATA,
        .is_text = is_text,
        .is_first = flags & READER_IS_BEGUN,
        .is_last = is_last,
        .is_deflated = flags & READER_IS_DEFLATED,
        .bytes = {payload, count},
    };
    flags &= (unsigned char)~READER_IS_BEGUN;
    if (is_frame_end)
        flags &= (unsigned char)~READER_IN_FRAME;
    if (is_last)
        reader->opcode = 0;
    reader->flags = flags;
    return taken + count;
}

/* Begins a data frame whose header was read. Returns NULL, or an error text. */
static const char *begin_data(struct ws_reader *reader, const struct header *header)
{
    unsigned opcode = header->first & BITS_OPCODE;
    unsigned flags = reader->flags & ~(unsigned)READER_IS_LAST;
    if (opcode != WS_OP_CONTINUATION) {
        reader->opcode = (unsigned char)opcode;
        reader->message_size = 0;
        flags &= ~(unsigned)READER_IS_DEFLATED;
        flags |= READER_IS_BEGUN | (header->first & BIT_RSV1 ? READER_IS_DEFLATED : 0);
    }
    if (header->size > reader->message_max - reader->message_size)
        return "the message is larger than the limit";
    reader->message_size += (uint32_t)header->size;
    reader->left = (uint32_t)header->size;
    memcpy(reader->mask, header->mask, sizeof(header->mask));
    flags |= READER_IN_FRAME | (header->first & BIT_FIN ? READER_IS_LAST : 0);
    reader->flags = (unsigned char)flags;
    return NULL;
}

enum { WS_SMALL_HEADER = 2 + 4, WS_SMALL_MAX = 125 };

/* Whether the next frame is from a client, has come wholly, and is a whole message of less than 126 bytes that is not
 * deflated. Most frames are. */
static bool is_small_message(const struct ws_reader *reader, const unsigned char *bytes,
                             size_t size)
{
    if (size < WS_SMALL_HEADER || reader->role != WS_SERVER || reader->opcode != 0 ||
        reader->flags & (READER_IN_FRAME | READER_IS_OVER))
        return false;
    unsigned length = bytes[1] & (unsigned)~BIT_MASK;
    return (bytes[0] == (BIT_FIN | WS_OP_TEXT) || bytes[0] == (BIT_FIN | WS_OP_BINARY)) &&
           bytes[1] & BIT_MASK && length <= WS_SMALL_MAX && length <= size - WS_SMALL_HEADER &&
           length <= reader->message_max;
}

/*
 * Reads a frame for which is_small_message has returned true. Does what the other functions do, in fewer steps. Changes
 * the reader only if the frame has an error.
 */
static size_t read_small_message(struct ws_reader *reader, unsigned char *bytes,
                                 struct ws_event *event)
{
    size_t size = bytes[1] & (unsigned)~BIT_MASK;
    tr_bytes payload = {bytes + WS_SMALL_HEADER, size};
    bool is_text = bytes[0] == (BIT_FIN | WS_OP_TEXT);
    tr__ws_mask(bytes + WS_SMALL_HEADER, size, bytes + 2);
    if (is_text && !tr__ws_text_is_valid(payload))
        return fail(reader, event, WS_CODE_BAD_DATA, "a text is not UTF-8");
    *event = (struct ws_event){
        .kind = WS_DATA, .is_text = is_text, .is_first = true, .is_last = true, .bytes = payload};
    return WS_SMALL_HEADER + size;
}

size_t tr__ws_read(struct ws_reader *reader, unsigned char *bytes, size_t size,
                   struct ws_event *event)
{
    if (is_small_message(reader, bytes, size))
        return read_small_message(reader, bytes, event);
    *event = (struct ws_event){.kind = WS_MORE};
    if (reader->flags & READER_IS_OVER)
        return size;
    if (reader->flags & READER_IN_FRAME)
        return read_data(reader, bytes, size, 0, event);
    struct header header;
    const char *fault = read_header(reader, bytes, size, &header);
    if (fault != NULL)
        return fail(reader, event, WS_CODE_PROTOCOL, fault);
    if (header.taken == 0)
        return 0;
    if (header.first & BIT_CONTROL)
        return read_control(reader, &header, bytes, size, event);
    fault = begin_data(reader, &header);
    if (fault != NULL)
        return fail(reader, event, WS_CODE_TOO_LARGE, fault);
    return read_data(reader, bytes, size, header.taken, event);
}

size_t tr__ws_write_header(const struct ws_frame *frame, unsigned char to[WS_HEADER_MAX])
{
    TR_ASSERT(frame->opcode < WS_OP_CLOSE || frame->size <= WS_CONTROL_MAX);
    TR_ASSERT(frame->opcode < WS_OP_CLOSE || !frame->is_unfinished);
    size_t extra = frame->size <= WS_CONTROL_MAX ? 0 : frame->size <= UINT16_MAX ? 2 : 8;
    to[0] = (unsigned char)((frame->is_unfinished ? 0 : BIT_FIN) |
                            (frame->is_deflated ? BIT_RSV1 : 0) | (int)frame->opcode);
    to[1] = (unsigned char)(extra == 0 ? frame->size : extra == 2 ? 126 : 127);
    for (size_t i = 0; i < extra; i++)
        to[2 + i] = (unsigned char)((uint64_t)frame->size >> (8 * (extra - 1 - i)));
    if (frame->mask == NULL)
        return 2 + extra;
    to[1] |= BIT_MASK;
    memcpy(to + 2 + extra, frame->mask, 4);
    return 2 + extra + 4;
}

size_t tr__ws_write_close(unsigned code, tr_bytes reason, unsigned char to[WS_CONTROL_MAX])
{
    if (code == WS_CODE_NONE)
        return 0;
    TR_ASSERT(tr__ws_code_is_valid(code));
    to[0] = (unsigned char)(code >> 8);
    to[1] = (unsigned char)code;
    if (!tr__ws_text_is_valid(reason))
        return 2;
    size_t size = reason.size;
    if (size > WS_CONTROL_MAX - 2) {
        const unsigned char *text = reason.data;
        size = WS_CONTROL_MAX - 2;
        while ((text[size] & 0xc0) == 0x80) /* do not cut inside a UTF-8 character */
            size--;
    }
    if (size > 0)
        memcpy(to + 2, reason.data, size);
    return 2 + size;
}
