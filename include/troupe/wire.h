/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Messages as MessagePack and as JSON, both ways, from their descriptors.
 *
 * ```c
 * #include <stdio.h>
 * #include <troupe/wire.h>
 *
 * TR_MESSAGE(deposit, (u64, cents), (str, memo));
 *
 * int main(void)
 * {
 *     struct deposit deposit = {5, "rent"};
 *     char json[100], packed[100];
 *     tr_wire_error error;
 *     void *message;
 *     tr_json_write(&tr_type_deposit, &deposit, json, sizeof json, NULL);
 *     puts(json);
 *     tr_bytes document = {packed,
 *                          tr_pack(&tr_type_deposit, &deposit, packed, sizeof packed, NULL)};
 *     if (tr_unpack(&tr_type_deposit, document, &message, &error) != TR_OK) {
 *         fprintf(stderr, "%s: %s\n", error.path, error.text);
 *         return 1;
 *     }
 *     tr_message_free(&tr_type_deposit, message);
 *     return 0;
 * }
 * ```
 *
 * How a field is written
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
 * If the value of an optional is present, but is itself written as nil, such as a str that is NULL,
 * the field is written as an array that contains only nil. Integers of 64 bits are written as exact
 * numbers in JSON; for a program in JavaScript, which would round them, use a str.
 *
 * Reading is strict. A document is one value with nothing behind it. Refused are: a value of
 * another type, an integer that does not fit, a number too large for its float, an array of another
 * length than declared, text that is not UTF-8 or contains a NUL, base64 that is not canonical, and
 * a field that a JSON object has twice. An integer is accepted for a float; in MessagePack only if
 * the float keeps its value. Decimal fractions, and f64 for a field of f32, are rounded to the
 * nearest.
 *
 * Versions. Fields may be added at the end of a message. An older reader skips fields that it does
 * not know: further items of an array, unknown names of an object. If an older writer has not
 * written a field, a newer reader finds it zero, absent or empty. In an array such fields are at
 * the end; in an object they may be anywhere. Do not remove a field, because MessagePack goes by
 * the order: leave it unused.
 *
 * Limits. A document has at most TR_PAYLOAD_MAX bytes, and so has the message without its buffers;
 * else the status is TR_TOO_LARGE. Messages contain messages at most TR_DEPTH_MAX deep, and so do
 * skipped values; else TR_TOO_DEEP. A number in JSON that becomes a float has at most
 * TR_JSON_NUMBER_MAX characters; else TR_TOO_LARGE. A length that is written in a document reserves
 * no memory before that many bytes have come. Nothing is allocated for a document that is refused,
 * except buffers that came before the error.
 */
#ifndef TROUPE_WIRE_H
#define TROUPE_WIRE_H

#include <troupe/message.h>

/** The type of MessagePack's ext for a ref: its 64 bits, the highest byte first. */
#define TR_WIRE_REF 1

/** What is wrong with a document, or with a message that was to be written, and where. */
typedef struct tr_wire_error {
    tr_status status;
    size_t offset; /* bytes of the document that were read, or written, before the error */
    char path
        /*
         * path of the field: "others[1].zip"; "": the whole message; a longer path lacks its
         * beginning
         */
        [128];
    char text[160]; /* the message text */
} tr_wire_error;

TR_BEGIN_C
/**
 * Writes a message as MessagePack into `buffer` and returns the size of the document. Returns 0 on
 * failure. Any thread. Does not wait.
 *
 * If the result is more than `size`, the document did not fit, and the contents of the buffer are
 * of no use. With a size of 0 the buffer may be NULL. tr_unpack can read what was packed. On
 * failure *error says why; `error` may be NULL. TR_BAD_DATA: text that is not UTF-8, or a list or
 * bytes with a size and the pointer NULL; TR_TOO_LARGE; TR_TOO_DEEP; TR_INVALID_ARGUMENT: NULL, or
 * a descriptor of another version.
 */
size_t tr_pack(const tr_type *type, const void *message, void *buffer, size_t size,
               tr_wire_error *error);

/**
 * Reads a message from MessagePack. *message is one block, given to the caller; free it with
 * tr_message_free. Any thread. Does not wait.
 *
 * After the call the document is not needed any more. Returns TR_OK, TR_BAD_DATA, TR_TOO_LARGE,
 * TR_TOO_DEEP, TR_NO_MEMORY or TR_INVALID_ARGUMENT. On failure *error says where; `error` may be
 * NULL.
 */
TR_MUST_CHECK tr_status tr_unpack(const tr_type *type, tr_bytes document, void **message,
                                  tr_wire_error *error);

/**
 * Reads a message from MessagePack without copying its text and bytes: they stay in `document`.
 * Any thread. Does not wait.
 *
 * The caller lends the document as long as it uses the message. The call changes the document: it
 * writes a NUL behind each str. The struct is made at the start of `room`, whose address must be a
 * multiple of 8. Items of lists are behind the struct. Release the buffers of the message with
 * tr_message_deinit. The statuses are those of tr_unpack; TR_TOO_LARGE also means that the message
 * needs more than room_size. After a failure there is nothing to free, and the document is of no
 * use.
 */
TR_MUST_CHECK tr_status tr_unpack_in_place(const tr_type *type, void *document,
                                           size_t document_size, void *room, size_t room_size,
                                           tr_wire_error *error);

/**
 * Releases the buffers of a message that is in memory of the caller. NULL does nothing.
 * Any thread. Does not wait.
 */
void tr_message_deinit(const tr_type *type, void *message);

/**
 * Writes a message as JSON, without spaces, into `buffer`, which ends with a NUL if size > 0.
 * Returns the length of the whole text, as snprintf does. Returns 0 on failure.
 * Any thread. Does not wait.
 *
 * If the result is not less than `size`, the text was cut and is of no use. tr_json_read can read
 * what was written. The errors are those of tr_pack; TR_BAD_DATA also means NaN or infinity.
 */
size_t tr_json_write(const tr_type *type, const void *message, char *buffer, size_t size,
                     tr_wire_error *error);

/**
 * Reads a message from JSON as tr_unpack does from MessagePack. The document is UTF-8, without a
 * NUL at its end.
 * Any thread. Does not wait.
 */
TR_MUST_CHECK tr_status tr_json_read(const tr_type *type, tr_bytes document, void **message,
                                     tr_wire_error *error);

/**
 * As tr_json_read, but into memory of the caller, such as scratch memory of a turn. Only buffers are allocated. Any
 * thread. Does not wait.
 *
 * The struct is made at the start of `space`, whose address must be a multiple of 8. What the
 * struct points to is behind it. Free the buffers that it holds with tr_message_deinit.
 * TR_TOO_LARGE also means that the message needs more than space_size; then *needed is the size
 * that is enough for this document. After other failures *needed is 0. `needed` may be NULL. For
 * most documents, the sizeof of the message plus twice the size of the document plus 256 bytes is
 * enough.
 */
TR_MUST_CHECK tr_status tr_json_read_in(const tr_type *type, tr_bytes document, void *space,
                                        size_t space_size, size_t *needed, tr_wire_error *error);
TR_END_C

#endif
