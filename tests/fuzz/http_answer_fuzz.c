/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes heads of answers and URLs. A head that comes at once and one that comes in portions are cut at the same place; what was
 * accepted has a status, clean fields and one way to find its end. A URL that was accepted can be printed and read again, and a
 * reference that was resolved has no dots in its path. The first byte seeds the portions.
 */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "http/head.h"
#include "http/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIELDS = 20, HEAD_MAX = 4096 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Cuts in memory that ends behind the bytes. */
static size_t cut(const uint8_t *data, size_t size, size_t seen, size_t *length)
{
    uint8_t *copy = malloc(size + (size == 0));
    tr_bytes head;
    require(copy != NULL);
    memcpy(copy, data, size);
    size_t used = tr__http_answer_cut((tr_bytes){copy, size}, seen, HEAD_MAX, &head);
    require(used <= size && head.data == copy && (!used || head.size <= used));
    *length = head.size;
    free(copy);
    return used;
}

static void check_head(const uint8_t *data, size_t length)
{
    char *bytes = malloc(length + (length == 0));
    struct tr_http_field fields[FIELDS];
    struct http_answer_head answer = {.head = {.fields = fields}};
    const struct http_limits limits = {.head_max = HEAD_MAX, .headers_max = FIELDS};
    require(bytes != NULL);
    memcpy(bytes, data, length);
    tr_status status = tr__http_answer_parse(bytes, length, &limits, &answer);
    require(status == TR_OK || status == TR_BAD_DATA || status == TR_TOO_LARGE);
    if (status != TR_OK)
        require(answer.head.why != NULL);
    for (uint32_t i = 0; status == TR_OK && i < answer.head.field_count; i++) {
        require(!strpbrk(fields[i].name, " \r\n\t:") && fields[i].name[0]);
        require(!strpbrk(fields[i].value, "\r\n"));
    }
    if (status == TR_OK) {
        require(answer.status >= 100 && answer.status <= 599);
        require(!(answer.head.is_chunked && answer.head.length >= 0));
    }
    free(bytes);
}

static void check_url(const uint8_t *data, size_t size)
{
    struct http_url *url = malloc(3 * sizeof *url);
    char *text = malloc(size + 1);
    char *printed = malloc(HTTP_URL_TEXT_MAX);
    require(url && text && printed);
    memcpy(text, data, size);
    text[size] = '\0';
    if (tr__http_url_read(text, &url[0]) == TR_OK) {
        require(url[0].host[0] && url[0].target[0] == '/' && url[0].port);
        require(!strpbrk(url[0].target, " \r\n\t#"));
        tr__http_url_print(&url[0], printed);
        require(tr__http_url_read(printed, &url[1]) == TR_OK);
        require(tr__http_url_is_same_origin(&url[0], &url[1]));
        require(strcmp(url[0].target, url[1].target) == 0);
    }
    require(tr__http_url_read("https://a.example:444/b/c?d", &url[0]) == TR_OK);
    if (tr__http_url_resolve(&url[0], text, &url[1]) == TR_OK) {
        require(url[1].target[0] == '/' && url[1].host[0]);
        require(!strpbrk(url[1].target, " \r\n\t#"));
        bool is_relative = tr__http_url_read(text, &url[2]) != TR_OK;
        char *query = strchr(url[1].target, '?');
        if (query)
            *query = '\0';
        require(!is_relative || memcmp(text, "//", size < 2 ? size : 2) == 0 ||
                !strstr(url[1].target, "/../"));
    }
    free(printed);
    free(text);
    free(url);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rng rng;
    if (size < 2)
        return 0;
    rng_init(&rng, data[0]);
    data++;
    size--;
    check_url(data, size);
    size_t length, length_again;
    size_t used = cut(data, size, 0, &length);
    size_t seen = 0;
    for (size_t end = 1; end < size && used && end < used;) {
        if (cut(data, end, seen, &length_again))
            return 0; /* it is refused before the rest has come */
        seen = end;
        end += 1 + rng_below(&rng, size - end);
    }
    if (!used)
        return 0;
    require(cut(data, used, seen < used ? seen : 0, &length_again) == used);
    check_head(data, length);
    return 0;
}
