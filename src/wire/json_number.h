/* SPDX-License-Identifier: Apache-2.0 */
/** Reads JSON numbers into fields. json_read.c uses it. */
#ifndef WIRE_JSON_NUMBER_H
#define WIRE_JSON_NUMBER_H

#include "wire/json_input.h"

/**
 * Reads an integer into `to`. An integer that does not fit the field is a fault. If `to` is NULL,
 * only checks the integer. Returns the place after the integer, or NULL after a fault.
 */
json_place tr__json_integer(struct json_input *in, json_place at, const tr_field *field, char *to);

/**
 * Reads a number into a field of kind f32 or f64, as tr__json_integer does for integers. Rounds the
 * number to the nearest double, and for f32 that double to the nearest float.
 */
json_place tr__json_float(struct json_input *in, json_place at, const tr_field *field, char *to);

#endif
