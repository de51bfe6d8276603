/* SPDX-License-Identifier: Apache-2.0 */
/** Reads numbers of JSON into fields. For json_read.c. */
#ifndef WIRE_JSON_NUMBER_H
#define WIRE_JSON_NUMBER_H

#include "wire/json_input.h"

/**
 * Reads an integer into `to`. It must fit the field. If `to` is NULL, only measures. Returns the
 * place after the integer, or NULL after a fault.
 */
json_place tr__json_integer(struct json_input *in, json_place at, const tr_field *field, char *to);

/** As tr__json_integer, for f32 and f64, which are rounded to the nearest value. */
json_place tr__json_float(struct json_input *in, json_place at, const tr_field *field, char *to);

#endif
