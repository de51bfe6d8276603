/* SPDX-License-Identifier: Apache-2.0 */
#include "inspect/token.h"

#include <stdio.h>
#include <string.h>

#include "os/secret_file.h"

/* A token and a line end. A file that has more is none of ours. */
enum { TEXT_SIZE = GUARD_TOKEN_SIZE + 3 };

/* Whether a text is a token, with a line end or without. */
static bool text_is_token(const char *text)
{
    size_t digits = strspn(text, "0123456789abcdef");
    return digits == GUARD_TOKEN_SIZE && (!text[digits] || strcmp(text + digits, "\n") == 0);
}

tr_status tr__token_take(const tr_platform *platform, const char *path,
                         char token[GUARD_TOKEN_SIZE + 1], char *why, size_t why_size)
{
    char text[TEXT_SIZE];
    tr__guard_token_write(platform->random(platform), platform->random(platform), token);
    if (!path)
        return TR_OK;
    tr_status status = tr__secret_file_read(path, text, sizeof text, why, why_size);
    if (status == TR_NOT_FOUND) {
        (void)snprintf(text, sizeof text, "%s\n", token);
        status = tr__secret_file_make(path, text, why, why_size);
        if (status == TR_OK) /* another process may have made it first */
            status = tr__secret_file_read(path, text, sizeof text, why, why_size);
    }
    if (status == TR_OK && !text_is_token(text)) {
        (void)snprintf(why,
                       why_size,
                       "the file %.150s has no token of %d hexadecimal digits; remove it, and a "
                       "new one is made",
                       path,
                       GUARD_TOKEN_SIZE);
        status = TR_BAD_DATA;
    }
    if (status == TR_OK)
        memcpy(token, text, GUARD_TOKEN_SIZE);
    return status;
}
