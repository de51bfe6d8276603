/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads and writes frames of WebSocket (RFC 6455), for servers and clients. The reader is a pure function over a
 * buffer.
 *
 *     struct ws_reader reader;
 *     tr__ws_reader_init(&reader, WS_SERVER, 1 << 20, false);
 *     while (...) {
 *         struct ws_event event;
 *         size_t taken = tr__ws_read(&reader, bytes, size, &event);
 *         ...                               event.kind says what has come; the first `taken` bytes are consumed
 *     }
 *
 * The payload of a message is returned in the portions in which it comes, unmasked in place. A
 * message that has come completely is one portion with is_first and is_last. A control frame is
 * returned as a whole. Bytes that were not consumed must be passed again, with more behind them.
 *
 * Rules, by the sections of RFC 6455:
 * 1. Frames of a client are masked, frames of a server are not (5.1).
 * 2. Reserved bits are 0, except RSV1 on the first frame of a message if permessage-deflate is in
 *    use (5.2, RFC 7692 6).
 * 3. Reserved opcodes are errors (5.2). Lengths have their shortest form (5.2).
 * 4. Control frames have at most 125 bytes and are not fragmented (5.5). They may come between
 *    fragments (5.4).
 * 5. A continuation belongs to the message that has begun. No other message begins before the last fragment of that one
 *    (5.4).
 * 6. Texts are UTF-8, and so are reasons of a close (5.6, 5.5.1, 8.1). An invalid byte is an error
 *    as soon as it comes. A deflated text is checked when it is inflated, by tr__ws_text_is_valid.
 * 7. A close has no payload, or a code that may be sent (7.4) and a reason.
 * 8. After a close or an error the reader takes all bytes and ignores them (1.4, 7.1.7).
 */
#ifndef HTTP_WEBSOCKET_H
#define HTTP_WEBSOCKET_H

#include <troupe/message.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The side that reads the frames. */
enum ws_role { WS_SERVER, WS_CLIENT };

enum ws_opcode {
    WS_OP_CONTINUATION = 0,
    WS_OP_TEXT = 1,
    WS_OP_BINARY = 2,
    WS_OP_CLOSE = 8,
    WS_OP_PING = 9,
    WS_OP_PONG = 10
};

/** Close codes that this library sends or reports (RFC 6455 7.4.1). */
enum ws_code {
    WS_CODE_NORMAL = 1000,
    WS_CODE_GOING_AWAY = 1001,
    WS_CODE_PROTOCOL = 1002,
    WS_CODE_LOST = 1006, /* says that the connection has ended without a close; never sent */
    WS_CODE_NONE = 1005, /* says that a close without a code has come; never sent */
    WS_CODE_BAD_DATA = 1007,
    WS_CODE_TOO_LARGE = 1009,
    WS_CODE_FAILED = 1011,
    WS_CODE_TRY_LATER = 1013
};

#define WS_HEADER_MAX 14   /* 2 bytes, up to 8 bytes of a length, and 4 bytes of a mask */
#define WS_CONTROL_MAX 125 /* the largest payload of a control frame, in bytes */
/** The largest limit of a message's size that can be set, because lengths have 32 bits here. */
#define WS_MESSAGE_LARGEST UINT32_MAX

/** The state of a connection between two reads. Owner only. */
struct ws_reader {
    uint32_t left; /* how many bytes of the current frame's payload have not come yet */
    /*
     * the size of the current message as far as it is known: the sum of the lengths in the headers of its frames that
     * have come
     */
    uint32_t message_size;
    uint32_t message_max;
    /*
     * the mask of the current frame; mask[0] is for the next byte of the frame; zeros: the frame
     * has no mask
     */
    unsigned char mask[4];
    unsigned char utf8;   /* state of the check for UTF-8, by tr__utf8_portion */
    unsigned char opcode; /* opcode of the message that has begun and not ended; 0: none has */
    unsigned char flags;  /* READER_ flags of websocket.c */
    unsigned char role;
};
_Static_assert(sizeof(struct ws_reader) == 20, "what each connection pays");

enum ws_kind {
    /* no event: pass the bytes that were not consumed again, with more bytes behind them */
    WS_MORE,
    WS_DATA, /* a portion of a message, which may be empty */
    WS_PING, /* a ping; answer the ping by a pong with the same bytes */
    WS_PONG, /* a pong; it may come even if no ping was sent */
    /*
     * a close with `code`, and the reason in `bytes`; answer by a close, unless one was sent before
     */
    WS_CLOSE,
    WS_ERROR /* the input breaks a rule: send a close with `code` and end the connection (7.1.7) */
};

struct ws_event {
    enum ws_kind kind;
    uint16_t code;    /* for WS_CLOSE and WS_ERROR: the close code */
    bool is_text;     /* the message is a text, not binary */
    bool is_first;    /* the portion is the first one of its message */
    bool is_last;     /* the portion is the last one of its message */
    bool is_deflated; /* the message must be inflated */
    tr_bytes bytes;   /* the unmasked payload, inside the bytes that tr__ws_read got */
    const char *text; /* for WS_ERROR: text that says what is wrong */
};

/**
 * Begins a connection. `role` is the side that reads. A message with more than `message_max` bytes
 * is an error with the code 1009. `has_deflate` says that both sides have agreed on
 * permessage-deflate. Then `message_max` is the limit for the deflated size.
 */
void tr__ws_reader_init(struct ws_reader *reader, enum ws_role role, uint32_t message_max,
                        bool has_deflate);

/**
 * Reads up to one event. If the event has a masked payload, removes the mask, in `bytes`. Returns
 * how many bytes were consumed. Does not wait.
 */
size_t tr__ws_read(struct ws_reader *reader, unsigned char *bytes, size_t size,
                   struct ws_event *event);

/**
 * Applies a mask in place; mask[0] is for the first byte. Applying the same mask again restores the
 * bytes.
 */
void tr__ws_mask(unsigned char *bytes, size_t size, const unsigned char mask[4]);

/** Whether a text is UTF-8. For texts that were deflated; the reader checks all others itself. */
bool tr__ws_text_is_valid(tr_bytes text);

/**
 * Whether a code may be sent in a close: the codes of 7.4.1, the registered codes 1012 to 1014, and
 * 3000 to 4999 (7.4.2).
 */
bool tr__ws_code_is_valid(unsigned code);

/** What the header of a frame says. */
struct ws_frame {
    enum ws_opcode opcode;
    bool is_unfinished; /* the frame is a fragment of a message, and more fragments follow */
    bool is_deflated;   /* the message is deflated; only for the first frame of a message */
    size_t size;        /* size of the payload */
    /**
     * for a client: four random bytes, new for each frame (5.3); NULL: a server, which has no mask
     */
    const unsigned char *mask;
};

/**
 * Writes the header of a frame. Returns the size of the header. For a client, the caller must mask
 * the payload by tr__ws_mask.
 */
size_t tr__ws_write_header(const struct ws_frame *frame, unsigned char to[WS_HEADER_MAX]);

/**
 * Writes the payload of a close: the code, and as many whole characters of the reason as fit. A
 * reason that is not UTF-8 is left out. For WS_CODE_NONE the payload is empty. Returns the size of
 * the payload.
 */
size_t tr__ws_write_close(unsigned code, tr_bytes reason, unsigned char to[WS_CONTROL_MAX]);

#endif
