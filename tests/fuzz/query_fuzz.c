/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes queries, URLs, cookies and the headers of a WebSocket handshake: parts are inside the text, what is decoded is
 * UTF-8, and what was encoded is decoded to the same.
 */
#include <stdlib.h>
#include <string.h>

#include "http/cookie.h"
#include "http/encoding.h"
#include "http/query.h"
#include "http/ws_extension.h"
#include "http/ws_handshake.h"
#include "wire/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void require_inside(tr_bytes part, tr_bytes whole)
{
    const char *begin = whole.data;
    require((const char *)part.data >= begin && part.size <= whole.size);
    require((const char *)part.data + part.size <= begin + whole.size);
}

static void check_decoded(tr_bytes text)
{
    char *to = malloc(text.size + 1);
    char *encoded = malloc(3 * text.size + 1);
    char *again = malloc(3 * text.size + 1);
    size_t length;
    require(to != NULL && encoded != NULL && again != NULL);
    if (tr__query_decode(text, to, &length) == TR_OK) {
        require(length <= text.size && strlen(to) == length);
        require(utf8_span((const unsigned char *)to, length) == length);
        size_t encoded_length =
            tr__percent_encode((tr_bytes){to, length}, encoded, 3 * text.size + 1);
        require(encoded_length <= 3 * text.size);
        require(tr__path_decode((tr_bytes){encoded, encoded_length}, again, NULL) == TR_OK);
        require(strcmp(again, to) == 0);
        tr_bytes value;
        (void)tr__query_find(text, to, &value);
    }
    free(to);
    free(encoded);
    free(again);
}

static void check_pairs(tr_bytes text)
{
    struct query query = query_of(text);
    struct query_pair pair;
    while (tr__query_next(&query, &pair)) {
        require_inside(pair.name, text);
        require_inside(pair.value, text);
        check_decoded(pair.value);
    }
    struct cookies cookies = cookies_of(text);
    struct cookie_pair cookie;
    while (tr__cookie_next(&cookies, &cookie)) {
        require_inside(cookie.name, text);
        require_inside(cookie.value, text);
        require(cookie.name.size > 0);
    }
}

static void check_handshake(tr_bytes text)
{
    char answer[WS_DEFLATE_ANSWER_MAX];
    struct ws_deflate agreed = tr__ws_deflate_answer(text, answer);
    require(agreed.is_agreed == (*answer != '\0') && strlen(answer) < sizeof(answer));
    if (agreed.is_agreed) {
        struct ws_deflate accepted;
        require(agreed.bits >= 9 && agreed.bits <= 15);
        require(tr__ws_deflate_accepted((tr_bytes){answer, strlen(answer)}, &accepted) &&
                accepted.is_agreed);
    }
    (void)tr__ws_deflate_accepted(text, &agreed);
    (void)tr__ws_list_has(text, "upgrade");
    (void)tr__ws_key_is_valid(text);
    (void)tr__encoding_is_accepted(text, "gzip");
    size_t half = text.size / 2;
    tr_bytes rest = {(const char *)text.data + half, text.size - half};
    require(tr__ws_origin_is_allowed(
        (tr_bytes){text.data, half}, rest, (const char *const[]){"*", NULL}));
    (void)tr__ws_origin_is_allowed((tr_bytes){text.data, half}, rest, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + (size == 0));
    require(copy != NULL);
    memcpy(copy, data, size);
    tr_bytes text = {copy, size};
    struct url url;
    check_pairs(text);
    check_decoded(text);
    check_handshake(text);
    if (tr__url_cut(text, &url) == TR_OK) {
        require_inside(url.host, text);
        require(url.host.size > 0 && url.port > 0 && url.target.size > 0);
    }
    free(copy);
    return 0;
}
