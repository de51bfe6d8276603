/* SPDX-License-Identifier: Apache-2.0 */
/** Times as HTTP writes them. */
#ifndef HTTP_DATE_H
#define HTTP_DATE_H

#include <stdbool.h>
#include <stdint.h>

struct worker;

enum {
    /* bytes of the line of the Date header, with its line end and without a NUL */
    HTTP_DATE_SIZE = 37
};

/**
 * Returns the line of the Date header for now, with its line end. Reads the wall clock at most once
 * a second.
 */
const char *tr__http_date(struct worker *worker);
/** Writes a time in the form of HTTP, "Sun, 06 Nov 1994 08:49:37 GMT": 29 characters and a NUL. */
void tr__http_time(int64_t seconds, char *text);

/**
 * Reads a time in the form that tr__http_time writes. Returns false if the text has another form.
 */
bool tr__http_time_read(const char *text, int64_t *seconds);

#endif
