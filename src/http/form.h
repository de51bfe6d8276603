/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads forms with files (multipart/form-data) in the body of a request, while the body arrives.
 * Owner only.
 */
#ifndef HTTP_FORM_H
#define HTTP_FORM_H

#include "http/request.h"

/** Whether the body of the request is multipart/form-data. */
bool tr__http_form_has_parts(struct http_request *request);
/**
 * Returns the value of the part with this name, which must be no file. Returns NULL if there is no
 * such part, or if the form is malformed.
 */
const char *tr__http_form_value(struct http_request *request, const char *name);

#endif
