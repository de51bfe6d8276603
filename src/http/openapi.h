/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Describes the rows of a site by a document of OpenAPI 3.1: paths, methods, parameters, bodies and answers. Makes the
 * document from the descriptors of the messages. Pure functions.
 *
 *     {"openapi":"3.1.0","info":{"title":"shop","version":"0"},"paths":{"/users/{id}":{"get":{...}}},
 *      "components":{"schemas":{"user":{...}}}}
 */
#ifndef HTTP_OPENAPI_H
#define HTTP_OPENAPI_H

#include "http/site.h"
#include "net/buffer.h"

/**
 * Appends the document to a buffer. After TR_NO_MEMORY the buffer has only a part of the document.
 */
TR_MUST_CHECK tr_status tr__http_openapi_write(const struct http_site *site,
                                               struct net_buffer *text);

#endif
