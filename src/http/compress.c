/* SPDX-License-Identifier: Apache-2.0 */
#include "http/compress.h"

#include <string.h>

#include "actor/cell/verb.h"
#include "actor/cell/system.h"
#include "http/deflate.h"
#include "http/encoding.h"
#include "http/worker.h"

/*
 * Types of bodies that are worth compressing. Bodies of types that begin with "text/", or end with
 * "+json" or "+xml", are worth it, too.
 */
static const char *const types[] = {"application/json",
                                    "application/javascript",
                                    "application/xml",
                                    "application/x-ndjson",
                                    "application/manifest+json",
                                    "image/svg+xml",
                                    "application/wasm"};

static bool ends_with(const char *text, size_t size, const char *end)
{
    size_t length = strlen(end);
    return size >= length && strncasecmp(text + size - length, end, length) == 0;
}

static bool is_worth_it(const char *type)
{
    if (!type)
        return false;
    size_t size = strcspn(type, "; ");
    if (strncasecmp(type, "text/", 5) == 0)
        return !(size == 17 && strncasecmp(type, "text/event-stream", size) == 0);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strlen(types[i]) == size && strncasecmp(type, types[i], size) == 0)
            return true;
    }
    return ends_with(type, size, "+json") || ends_with(type, size, "+xml");
}

/*
 * Finds a header that tr_http_set has added to this answer. Returns NULL if there is none with this
 * name.
 */
static struct tr_http_field *set_of(const struct http_request *request, const char *name)
{
    for (uint32_t i = 0; i < request->set_count; i++) {
        if (strcasecmp(request->set[i].name, name) == 0)
            return &request->set[i];
    }
    return NULL;
}

static const struct tr_http_field *given_of(const tr_http_response *response, const char *name)
{
    for (const struct tr_http_field *field = response ? response->headers : NULL;
         field && field->name;
         field++) {
        if (strcasecmp(field->name, name) == 0)
            return field;
    }
    return NULL;
}

static bool has(const struct http_request *request, const tr_http_response *response,
                const char *name)
{
    return set_of(request, name) || given_of(response, name);
}

/* Whether the program has forbidden to compress this answer. */
static bool is_kept(const struct http_request *request, const tr_http_response *response)
{
    const struct tr_http_field *set = set_of(request, "cache-control");
    const struct tr_http_field *given = given_of(response, "cache-control");
    const char *cache = set                           ? set->value
                        : given                       ? given->value
                        : response && response->cache ? response->cache
                                                      : "";
    return request->is_plain || has(request, response, "content-encoding") ||
           has(request, response, "content-range") || strcasestr(cache, "no-transform");
}

static const char *weak(struct http_request *request, const char *tag)
{
    return strncmp(tag, "W/", 2) == 0 ? tag : tr_format(request->self, "W/%s", tag);
}

/*
 * Replaces a strong ETag by a weak one: the gzip form and the plain form must not share a strong
 * tag (RFC 9110, 8.8.3).
 */
static const tr_http_response *weaken(struct http_request *request,
                                      const tr_http_response *response)
{
    struct tr_http_field *set = set_of(request, "etag");
    const struct tr_http_field *given = given_of(response, "etag");
    if (set)
        set->value = weak(request, set->value);
    if (!given)
        return response;
    size_t count = 0;
    while (response->headers[count].name)
        count++;
    struct tr_http_field *copy = tr_scratch(request->self, (count + 1) * sizeof *copy);
    memcpy(copy, response->headers, (count + 1) * sizeof *copy);
    copy[given - response->headers].value = weak(request, given->value);
    tr_http_response *changed = tr_scratch(request->self, sizeof *changed);
    *changed = *response;
    changed->headers = copy;
    return changed;
}

/* Adds Accept-Encoding to the header Vary, so that caches know that the answer depends on it. */
static void vary(struct http_request *request, const tr_http_response *response)
{
    struct tr_http_field *set = set_of(request, "vary");
    const struct tr_http_field *given = given_of(response, "vary");
    const char *value = set ? set->value : given ? given->value : "";
    if (strcasestr(value, "accept-encoding") || strchr(value, '*'))
        return;
    if (set)
        set->value = tr_format(request->self, "%s, accept-encoding", set->value);
    else if (request->set_count < TR_HTTP_SET_MAX)
        tr_http_set(request->self, "vary", "accept-encoding");
}

/*
 * Replaces a body by its gzip form. The gzip form is in memory that is freed at the end of the
 * turn, even if the turn ends during a verb. Returns false if the gzip form is not smaller.
 */
static bool pack(struct http_request *request, tr_bytes *body)
{
    struct worker *worker = request->self->worker;
    struct deflate *deflate = tr__http_worker_deflate(worker);
    struct net_buffer packed = NET_BUFFER(&worker->system->source);
    char *to = deflate ? tr_scratch(request->self, body->size) : NULL;
    bool is_smaller =
        to && tr__gzip(deflate, *body, &packed) == TR_OK && net_buffer_size(&packed) < body->size;
    if (is_smaller) {
        tr_bytes bytes = net_buffer_bytes(&packed);
        *body = (tr_bytes){memcpy(to, bytes.data, bytes.size), bytes.size};
    }
    tr__net_buffer_free(&packed);
    return is_smaller;
}

const tr_http_response *tr__http_compress(struct http_request *request, const char *type,
                                          const tr_http_response *response, tr_bytes *body)
{
    bool is_small = body->size < request->site->options.compress_min;
    if (is_small || !is_worth_it(type) || is_kept(request, response) || !tr__deflate_is_built())
        return response;
    vary(request, response);
    const char *accepted = tr_http_header(request->self, "accept-encoding");
    if (!accepted || request->set_count >= TR_HTTP_SET_MAX ||
        !tr__encoding_is_accepted((tr_bytes){accepted, strlen(accepted)}, "gzip"))
        return response;
    if (!pack(request, body))
        return response;
    tr_http_set(request->self, "content-encoding", "gzip");
    return weaken(request, response);
}

void tr_http_keep_plain(tr_self *self)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_of(self);
    if (request)
        request->is_plain = true;
}
