/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the reader of the requests of the control protocol, and the writer of its answers with the texts that were read.
 */
#include "fuzz/wire_fuzz.h"

#include "observe/json_line.h"
#include "observe/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *resize(void *context, void *memory, size_t size)
{
    (void)context;
    if (size)
        return realloc(memory, size);
    free(memory);
    return NULL;
}

/* Writes a text as an answer does, and reads it back. */
static void text_check(const char *text)
{
    struct memory_source source = {.resize = resize};
    struct json_line line;
    struct control_request *back;
    tr_wire_error error;
    if (!text)
        return;
    tr__json_line_init(&line, &source);
    tr__json_open(&line, NULL, '{');
    tr__json_string(&line, "path", text);
    tr__json_unsigned(&line, "id", 7);
    tr__json_close(&line, '}');
    require(!line.has_failed);
    tr_status status = tr__control_request_read((tr_bytes){line.data, line.length}, &back, &error);
    require(status == TR_OK && back->id == 7 && strcmp(back->path, text) == 0);
    tr_message_free(&tr__control_request_type, back);
    tr__json_line_free(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tr_wire_error error;
    struct control_request *request;
    void *document = fuzz_copy(data, size);
    tr_status status = tr__control_request_read((tr_bytes){document, size}, &request, &error);
    free(document);
    if (status != TR_OK) {
        require_place(&error, status, size);
        return 0;
    }
    text_check(request->verb);
    text_check(request->path);
    text_check(request->json);
    tr_message_free(&tr__control_request_type, request);
    return 0;
}
