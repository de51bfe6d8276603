/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The other side of a WebSocket, for tests. It shares no code with src/http: frames are made and read here byte by byte,
 * from a notation.
 *
 *     T"Hello"    a text         t"Hel" +"lo"    a text in two fragments; '-' is a continuation that is not the last
 *     B"\x01"     binary         b"..."          its first fragment
 *     P"x" O"x"   ping, pong     C1000"bye"      close with a code and a reason; C alone has none
 *     T*300       a payload of 300 bytes 'x'
 *     before a frame: r4 sets reserved bits, !12 is an opcode by number (with T: FIN), u the wrong masking,
 *                     w2 and w8 a length in the 16-bit or 64-bit form, even if it is shorter
 *
 * What an endpoint has sent is printed in the same notation, with \0 for NUL, \q for a quote, and E for bytes that are no frame.
 */
#ifndef TROUPE_TESTS_SUPPORT_WS_CLIENT_H
#define TROUPE_TESTS_SUPPORT_WS_CLIENT_H

#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Bytes that grow. */
struct ws_bytes {
    unsigned char *data;
    size_t size;
    size_t capacity;
};

static inline void ws_add(struct ws_bytes *bytes, const void *data, size_t size)
{
    if (bytes->size + size > bytes->capacity) {
        bytes->capacity = 2 * (bytes->size + size) + 64;
        bytes->data = realloc(bytes->data, bytes->capacity);
        ck_assert_ptr_nonnull(bytes->data);
    }
    if (size > 0)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static inline void ws_add_byte(struct ws_bytes *bytes, unsigned byte)
{
    ws_add(bytes, &(unsigned char){(unsigned char)byte}, 1);
}

/** A frame to be made. */
struct ws_made {
    unsigned first; /* the first byte */
    bool is_masked;
    unsigned form; /* bytes of the length: 0 for the shortest form, else 2 or 8 */
};

static inline void ws_add_frame(struct ws_bytes *to, struct ws_made frame,
                                const unsigned char *data, size_t size)
{
    static const unsigned char key[4] = {0x37, 0xfa, 0x21, 0x3d};
    unsigned form = frame.form != 0 ? frame.form : size < 126 ? 0 : size < 65536 ? 2 : 8;
    unsigned mask = frame.is_masked ? 0x80 : 0;
    ws_add_byte(to, frame.first);
    ws_add_byte(to, mask | (form == 0 ? (unsigned)size : form == 2 ? 126 : 127));
    for (unsigned i = form; i > 0; i--)
        ws_add_byte(to, (unsigned)((uint64_t)size >> (8 * (i - 1))) & 0xff);
    if (frame.is_masked)
        ws_add(to, key, sizeof(key));
    for (size_t i = 0; i < size; i++)
        ws_add_byte(to, frame.is_masked ? data[i] ^ key[i % 4] : data[i]);
}

/** Reads the payload of a frame in the notation, up to its end. Returns the place after it. */
static inline const char *ws_read_payload(const char *at, struct ws_bytes *payload)
{
    if (*at == '*') {
        char *end;
        unsigned long count = strtoul(at + 1, &end, 10);
        for (unsigned long i = 0; i < count; i++)
            ws_add_byte(payload, 'x');
        at = end;
    }
    if (*at == '"') {
        const char *end = strchr(at + 1, '"');
        ck_assert_ptr_nonnull(end);
        ws_add(payload, at + 1, (size_t)(end - at - 1));
        at = end + 1;
    }
    return at;
}

/** Appends the frames of a script. `is_client`: they are masked. */
static inline void ws_add_script(struct ws_bytes *to, const char *script, bool is_client)
{
    static const char letters[] = "-tb?????CPO?????+TB?????";
    for (const char *at = script; *at != '\0'; at++) {
        struct ws_made frame = {.is_masked = is_client};
        struct ws_bytes payload = {0};
        long opcode = -1;
        if (*at == ' ')
            continue;
        for (; strchr("ruw!", *at) != NULL; at++) {
            char *end = (char *)(uintptr_t)at + 1;
            if (*at == 'u')
                frame.is_masked = !is_client;
            else if (*at == 'r')
                frame.first |= (unsigned)strtoul(at + 1, &end, 10) << 4;
            else if (*at == 'w')
                frame.form = (unsigned)strtoul(at + 1, &end, 10);
            else
                opcode = strtol(at + 1, &end, 10);
            at = end - 1;
        }
        const char *letter = strchr(letters, *at);
        ck_assert_msg(letter != NULL && *letter != '?', "notation: %s", at);
        size_t index = (size_t)(letter - letters);
        /* Control frames, and those of the second row, are final. */
        frame.first |= index >= 16  ? 0x80 | (unsigned)(index - 16)
                       : index >= 8 ? 0x80 | (unsigned)index
                                    : (unsigned)index;
        if (opcode >= 0)
            frame.first = (frame.first & 0xf0) | (unsigned)opcode;
        if (*at == 'C' && at[1] >= '0' && at[1] <= '9') {
            char *end;
            unsigned long code = strtoul(at + 1, &end, 10);
            ws_add_byte(&payload, (unsigned)code >> 8);
            ws_add_byte(&payload, (unsigned)code & 0xff);
            at = end - 1;
        }
        at = ws_read_payload(at + 1, &payload) - 1;
        ws_add_frame(to, frame, payload.data, payload.size);
        free(payload.data);
    }
}

/** Prints one frame whose payload was unmasked. Long ones of the same byte are printed short. */
static inline void ws_print_frame(struct ws_bytes *text, unsigned first, const unsigned char *data,
                                  size_t size)
{
    static const char letters[] = "-tb?????cpo?????+TB?????CPO?????";
    char head[32];
    size_t skip = 0;
    if (text->size > 0)
        ws_add_byte(text, ' ');
    if (first & 0x70)
        ws_add(text, head, (size_t)snprintf(head, sizeof(head), "r%u", first >> 4 & 7));
    ws_add_byte(text, (unsigned)letters[(first & 0x80 ? 16 : 0) + (first & 15)]);
    if ((first & 15) == 8 && size >= 2) {
        ws_add(text,
               head,
               (size_t)snprintf(head, sizeof(head), "%u", (unsigned)data[0] << 8 | data[1]));
        skip = 2;
    }
    bool is_long = size > 100;
    for (size_t i = 0; i < size; i++)
        is_long = is_long && data[i] == 'x';
    if (is_long) {
        ws_add(text, head, (size_t)snprintf(head, sizeof(head), "*%zu", size));
        return;
    }
    ws_add_byte(text, '"');
    for (size_t i = skip; i < size; i++) {
        const char *special = data[i] == 0 ? "\\0" : data[i] == '"' ? "\\q" : NULL;
        ws_add(text, special != NULL ? special : (const char *)data + i, special != NULL ? 2 : 1);
    }
    ws_add_byte(text, '"');
}

/** Prints the frames of an endpoint. `is_client`: the endpoint is one, and masks. Returns NUL-terminated text, to be freed. */
static inline char *ws_print(const struct ws_bytes *sent, bool is_client)
{
    struct ws_bytes text = {0};
    size_t at = 0;
    while (at < sent->size) {
        unsigned char *data = sent->data + at;
        size_t left = sent->size - at;
        unsigned form = left < 2 ? 0 : (data[1] & 127) == 126 ? 2 : (data[1] & 127) == 127 ? 8 : 0;
        size_t head = 2 + form + (is_client ? 4 : 0);
        uint64_t size = left < 2 ? 0 : data[1] & 127;
        if (form != 0)
            size = 0;
        for (unsigned i = 0; i < form && left >= head; i++)
            size = size << 8 | data[2 + i];
        if (left < head || (data[1] >= 0x80) != is_client || left - head < size) {
            ws_add(&text, " E", 2);
            break;
        }
        for (size_t i = 0; i < size && is_client; i++)
            data[head + i] ^= data[head - 4 + i % 4];
        ws_print_frame(&text, data[0], data + head, (size_t)size);
        at += head + (size_t)size;
    }
    ws_add_byte(&text, 0);
    return (char *)text.data;
}

#endif
