/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A face: the form of the answers of a layer's rows. The errors that the HTTP layer writes for these
 * rows have this form too. For example, an error of a gateway has a code that is a text, and each of
 * its answers has a causal id, whether the gateway or the HTTP layer refused the request.
 */
#ifndef HTTP_FACE_H
#define HTTP_FACE_H

#include <stddef.h>

#include "http/request.h"

enum { HTTP_ERROR_TEXT_MAX = 1040 /* the largest body of an error, in bytes */ };

struct tr_http_face_ {
    /**
     * Called as soon as the row of a request is known, before anything of the request is checked.
     * Sets headers of the answer. If the HTTP layer answers the request, its answer has these
     * headers too. In a turn. Does not wait.
     */
    void (*begin)(struct http_request *request);
    /**
     * Writes the body of an error to `to`, which has `size` bytes. Cuts it and returns its whole
     * length, as snprintf does. If `text` is NULL, the turn has ended without an answer, by a
     * failure or because its actor stops. Any thread.
     */
    size_t (*error_write)(int status, const char *text, char *to, size_t size);
};

/** Returns the face of the row of a request. Returns NULL if the row has none. */
static inline const struct tr_http_face_ *http_face_of(const struct http_request *request)
{
    return request && request->route ? request->route->row->face : NULL;
}

#endif
