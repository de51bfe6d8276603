/* SPDX-License-Identifier: Apache-2.0 */
/** Forms with files (multipart/form-data) in the body of a request, as they come. Owner only. */
#ifndef HTTP_FORM_H
#define HTTP_FORM_H

#include "http/request.h"

/** Whether the body is a form with parts. */
bool tr__http_form_has_parts(struct http_request *request);
/** Returns the value of a part in request->form, which is not a file; NULL: it is not there, or the form is malformed. */
const char *tr__http_form_value(struct http_request *request, const char *name);

#endif
