/* SPDX-License-Identifier: Apache-2.0 */
/** Sets fields of messages from texts in a path or a query. Pure functions. */
#ifndef HTTP_FIELDS_H
#define HTTP_FIELDS_H

#include <troupe/message.h>

/** Whether a field can be set from a text: a number, a bool, an enum or a str, optional or not. */
bool tr__http_field_takes_text(const tr_field *field);
/**
 * Sets a field of a message from a text. If the field is a str, it will point into the text. If the
 * text is no value of the field, returns false, and *wanted says what is expected, such as "a
 * number from 0 to 255".
 */
bool tr__http_field_set(const tr_field *field, void *message, const char *text,
                        const char **wanted);

#endif
