/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the reader of MessagePack, both ways of it, and the writer with what was read.
 */
#include "fuzz/wire_fuzz.h"

#include "wire/msgpack_read.h"
#include "wire/msgpack_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 1 << 16 };

/* In place the same is read, unless the room is too small. */
static void check_in_place(const tr_type *type, const uint8_t *data, size_t size,
                           tr_status expected, const void *packed, size_t packed_size)
{
    void *document = fuzz_copy(data, size);
    void *room = malloc(ROOM);
    tr_wire_error error;
    require(room != NULL);
    tr_status status = tr_unpack_in_place(type, document, size, room, ROOM, &error);
    require(status == expected || (expected == TR_OK && status == TR_TOO_LARGE));
    if (status == TR_OK) {
        void *again = malloc(packed_size);
        require(again != NULL);
        require(tr_pack(type, room, again, packed_size, NULL) == packed_size);
        require(memcmp(again, packed, packed_size) == 0);
        free(again);
        tr_message_deinit(type, room);
    } else {
        require_place(&error, status, size);
    }
    free(room);
    free(document);
}

/* Fields that are not known are there again, whatever becomes of the others. */
static void check_tail(const tr_type *type, tr_bytes document)
{
    struct tail tail, again;
    void *message, *back;
    if (tr__unpack_tail(type, document, &message, &tail, NULL) != TR_OK)
        return;
    size_t size = tr__pack_tail(type, message, &tail, NULL, 0, NULL);
    unsigned char *packed = malloc(size > 0 ? size : 1);
    require(packed != NULL);
    if (size > 0) { /* else it is too large by now */
        require(tr__pack_tail(type, message, &tail, packed, size, NULL) == size);
        require(tr__unpack_tail(type, (tr_bytes){packed, size}, &back, &again, NULL) == TR_OK);
        require(again.count == tail.count && again.bytes.size == tail.bytes.size);
        require(tail.count == 0 || memcmp(again.bytes.data, tail.bytes.data, tail.bytes.size) == 0);
        tr_message_free(type, back);
    }
    free(packed);
    tr_message_free(type, message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const tr_type *type = fuzz_type(data[0]);
    void *document = fuzz_copy(++data, --size);
    tr_wire_error error;
    void *message, *back;
    tr_status status = tr_unpack(type, (tr_bytes){document, size}, &message, &error);
    check_tail(type, (tr_bytes){document, size});
    free(document);
    if (status != TR_OK) {
        require_place(&error, status, size);
        check_in_place(type, data, size, status, NULL, 0);
        return 0;
    }
    size_t packed_size = tr_pack(type, message, NULL, 0, &error);
    require(packed_size > 0);
    unsigned char *packed = malloc(packed_size);
    unsigned char *again = malloc(packed_size);
    require(packed != NULL && again != NULL);
    require(tr_pack(type, message, packed, packed_size, NULL) == packed_size);
    require(tr_unpack(type, (tr_bytes){packed, packed_size}, &back, &error) == TR_OK);
    require(tr_pack(type, back, again, packed_size, NULL) == packed_size);
    require(memcmp(packed, again, packed_size) == 0);
    check_in_place(type, data, size, TR_OK, packed, packed_size);
    tr_message_free(type, back);
    tr_message_free(type, message);
    free(packed);
    free(again);
    return 0;
}
