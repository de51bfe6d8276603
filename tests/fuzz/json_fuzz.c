/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the reader of JSON, and both writers with what was read.
 */
#include "fuzz/wire_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads into memory of the caller: the status is that of tr_json_read, and what it says is enough is enough. */
static void check_read_in(const tr_type *type, tr_bytes document, tr_status expected)
{
    size_t needed;
    size_t size = type->size < 8 ? 8 : type->size;
    tr_wire_error error;
    void *space = malloc(size);
    require(space != NULL);
    tr_status status = tr_json_read_in(type, document, space, size, &needed, &error);
    if (status == TR_TOO_LARGE && needed > size) {
        size = needed;
        free(space);
        space = malloc(size);
        require(space != NULL);
        status = tr_json_read_in(type, document, space, size, &needed, &error);
    }
    require(status == expected && (status != TR_OK || needed <= size));
    if (status == TR_OK) {
        require(tr_json_write(type, space, NULL, 0, &error) > 0);
        tr_message_deinit(type, space);
    }
    free(space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const tr_type *type = fuzz_type(data[0]);
    void *document = fuzz_copy(++data, --size);
    tr_wire_error error;
    void *message, *back;
    tr_status status = tr_json_read(type, (tr_bytes){document, size}, &message, &error);
    check_read_in(type, (tr_bytes){document, size}, status);
    free(document);
    if (status != TR_OK) {
        require_place(&error, status, size);
        return 0;
    }
    size_t length = tr_json_write(type, message, NULL, 0, &error);
    require(length > 0);
    char *text = malloc(length + 1);
    char *again = malloc(length + 1);
    require(text != NULL && again != NULL);
    require(tr_json_write(type, message, text, length + 1, NULL) == length);
    require(tr_json_read(type, (tr_bytes){text, length}, &back, &error) == TR_OK);
    require(tr_json_write(type, back, again, length + 1, NULL) == length);
    require(memcmp(text, again, length + 1) == 0);
    tr_message_free(type, back);

    /* It is a message: the other form takes it too, and gives it back. */
    size_t packed_size = tr_pack(type, message, NULL, 0, &error);
    require(packed_size > 0);
    void *packed = malloc(packed_size);
    require(packed != NULL);
    require(tr_pack(type, message, packed, packed_size, NULL) == packed_size);
    require(tr_unpack(type, (tr_bytes){packed, packed_size}, &back, &error) == TR_OK);
    require(tr_json_write(type, back, again, length + 1, NULL) == length);
    require(memcmp(text, again, length + 1) == 0);
    tr_message_free(type, back);
    tr_message_free(type, message);
    free(packed);
    free(text);
    free(again);
    return 0;
}
