/* SPDX-License-Identifier: Apache-2.0 */
/** Fields of messages that are given as text, in a path or a query. Pure functions. */
#ifndef HTTP_FIELDS_H
#define HTTP_FIELDS_H

#include <troupe/message.h>

/** Whether a text can be a value of this field: a number, a bool, an enum or a str, optional or not. */
bool tr__http_field_takes_text(const tr_field *field);
/**
 * Fills a field. A str points into the text. False: the text is no value of the field, and *wanted says what is
 * expected ("a number from 0 to 255").
 */
bool tr__http_field_set(const tr_field *field, void *message, const char *text,
                        const char **wanted);

#endif
