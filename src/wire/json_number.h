/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers of JSON, from a document into fields. For json_read.c. */
#ifndef WIRE_JSON_NUMBER_H
#define WIRE_JSON_NUMBER_H

#include "wire/json_input.h"

/** Reads an integer, exactly, to memory or to NULL, which only measures. Returns the place after it, or NULL. */
json_place tr__json_integer(struct json_input *in, json_place at, const tr_field *field, char *to);

/** As tr__json_integer, for f32 and f64, rounded to the nearest. */
json_place tr__json_float(struct json_input *in, json_place at, const tr_field *field, char *to);

#endif
