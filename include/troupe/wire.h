/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Messages as MessagePack and as JSON, both ways, from their descriptors.
 *
 *     size_t size = tr_pack(&tr_type_deposit, &deposit, buffer, sizeof buffer, NULL);
 *     void *message;
 *     if (tr_unpack(&tr_type_deposit, (tr_bytes){buffer, size}, &message, NULL) == TR_OK)
 *         tr_message_free(&tr_type_deposit, message);
 *
 * What stands for what
 *     field            MessagePack                       JSON
 *     a message        array of its fields, in order     object, fields by name
 *     bool             true, false                       true, false
 *     integers, enums  integer, of any width             number without fraction or exponent; for
 *                                                        i64 and u64 also a string of digits
 *     f32              float 32                          number, not NaN or infinite
 *     f64              float 64                          number, not NaN or infinite
 *     str              str, UTF-8; absent: nil           string; absent: null
 *     bytes            bin                               string, base64
 *     buffer           bin; absent: nil                  string, base64; absent: null
 *     ref              ext TR_WIRE_REF; nobody: nil      string, "0x100000002"; nobody: null
 *     array, list      array                             array
 *     optional         the value; absent: nil            the value; absent: null
 * An optional value that is there and is nil itself, such as a str that is NULL, is written as an
 * array that holds only nil. Integers of 64 bits are written as exact numbers in JSON; a program in
 * JavaScript, which would round them, is better served by a str.
 *
 * Strictness: one document and nothing behind it. A value of another type is refused, as are an
 * integer that does not fit, a number too large for its float, an array of another length than
 * declared, text that is not UTF-8 or has a NUL inside, base64 that is not canonical, and a field
 * that a JSON object has twice. A float may be written as an integer, in MessagePack if it keeps its
 * value; decimal fractions, and f64 for a field of f32, are rounded to the nearest.
 *
 * Versions: a message may gain fields at its end. An older reader skips fields that it does not
 * know: further items of an array, unknown names of an object. A newer reader finds zero, absent or
 * empty where an older writer wrote nothing: at the end of an array, anywhere in an object. A field
 * that goes away leaves its place behind in MessagePack; so fields are not removed but left unused.
 *
 * Limits: a document of either form has at most TR_PAYLOAD_MAX bytes, and so has the message
 * without its buffers: TR_TOO_LARGE. Messages hold messages at most TR_DEPTH_MAX deep, and so do
 * skipped values: TR_TOO_DEEP. A number in JSON that becomes a float has at most TR_JSON_NUMBER_MAX
 * characters: TR_TOO_LARGE. No length inside a document is believed before the bytes are there,
 * and nothing is allocated for what is refused but buffers that came before the fault.
 */
#ifndef TROUPE_WIRE_H
#define TROUPE_WIRE_H

#include <troupe/message.h>

/** The type of MessagePack's ext that holds a ref: its 64 bits, the highest byte first. */
#define TR_WIRE_REF 1

/** What is wrong with a document, or with a message that was to become one, and where. */
typedef struct tr_wire_error {
    tr_status status;
    size_t offset;  /* In the document; of a message, what was written before the fault. */
    char path[128]; /* Of the field, as "others[1].zip"; "" is the whole. A long one has no head. */
    char text[160]; /* Why, in words. */
} tr_wire_error;

TR_BEGIN_C
/**
 * Writes a message as MessagePack into `buffer` and returns the size of the document. When that is
 * more than `size` it did not fit, and what the buffer holds is of no use; with size 0 the buffer
 * may be NULL. What was packed can be unpacked.
 *
 * 0 when it fails, and *error (may be NULL) says why: TR_BAD_DATA for text that is not UTF-8, a
 * list or bytes of some size at NULL; TR_TOO_LARGE; TR_TOO_DEEP; TR_INVALID_ARGUMENT for NULL or a
 * descriptor of another version. Any thread.
 */
size_t tr_pack(const tr_type *type, const void *message, void *buffer, size_t size,
               tr_wire_error *error);

/**
 * Reads a message from MessagePack. *message is one block, given to the caller, who frees it with
 * tr_message_free; the document is not needed any more.
 *
 * TR_BAD_DATA, TR_TOO_LARGE, TR_TOO_DEEP, TR_NO_MEMORY, TR_INVALID_ARGUMENT; *error (may be NULL,
 * written on failure only) says where. Any thread.
 */
TR_MUST_CHECK tr_status tr_unpack(const tr_type *type, tr_bytes document, void **message,
                                  tr_wire_error *error);

/**
 * Reads a message from MessagePack without copying its text and bytes: they stay where they are in
 * `document`, which is lent as long as the message is used and is written to: the message has a NUL
 * behind each str. The struct is made at the start of `room`, a multiple of 8, and items of lists
 * behind it. Free what it holds with tr_message_deinit.
 *
 * As tr_unpack; TR_TOO_LARGE also when the message needs more than room_size. After a failure there
 * is nothing to free, and the document is of no use. Any thread.
 */
TR_MUST_CHECK tr_status tr_unpack_in_place(const tr_type *type, void *document,
                                           size_t document_size, void *room, size_t room_size,
                                           tr_wire_error *error);

/** Releases the buffers of a message in memory of yours. NULL does nothing. Any thread. */
void tr_message_deinit(const tr_type *type, void *message);

/**
 * Writes a message as JSON, without spaces, into `buffer`, which always ends with a NUL when
 * size > 0. Returns the length of the whole text, as snprintf does: when that is not less than
 * `size`, the text was cut and is of no use. What was written can be read.
 *
 * 0 when it fails, as tr_pack; TR_BAD_DATA also for NaN and infinity. Any thread.
 */
size_t tr_json_write(const tr_type *type, const void *message, char *buffer, size_t size,
                     tr_wire_error *error);

/** Reads a message from JSON, in UTF-8 and without a NUL at its end. As tr_unpack. Any thread. */
TR_MUST_CHECK tr_status tr_json_read(const tr_type *type, tr_bytes document, void **message,
                                     tr_wire_error *error);
TR_END_C

#endif
