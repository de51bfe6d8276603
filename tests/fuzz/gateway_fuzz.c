/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes what clients say on sockets of a gateway: a text that is taken has fields that are JSON themselves, and that lie in
 * the text; whatever the spaces between are.
 */
#include <stdlib.h>
#include <string.h>

#include "gateway/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

TR_MESSAGE(anything, (u64, by), (str, note));

static void require(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct words words;
    tr_wire_error error;
    char *text = malloc(size + 1); /* a read behind the text is found */
    memcpy(text, data, size);
    tr_status status = tr__words_read((tr_bytes){text, size}, &words, &error);
    if (status == TR_OK && words.with.size) {
        const char *with = words.with.data;
        void *message = NULL;
        require(with >= text && with + words.with.size <= text + size);
        /* It may be no object, or one with wrong fields, but it is one value: spaces around it change nothing. */
        tr_status alone = tr_json_read(&tr_type_anything, words.with, &message, &error);
        if (alone == TR_OK)
            tr_message_free(&tr_type_anything, message);
        require(*with != ' ' && *with != ',' && *with != ':');
    }
    if (status == TR_OK) {
        require(words.ask != NULL);
        tr__words_free(&words);
    } else {
        require(!words.block);
    }
    free(text);
    return 0;
}
