/* SPDX-License-Identifier: Apache-2.0 */
/** What RFC 9112 and RFC 9110 forbid in a head, and llhttp lets through. Pure functions. */
#ifndef HTTP_CHECK_H
#define HTTP_CHECK_H

#include "http/head.h"

/** For each byte: its lower case, if it may be in a token; 0: it may not. */
extern const unsigned char tr__http_token[256];

/** Checks the first line, without its end, and cuts it. Returns 0 or a status. `line` is changed. */
int tr__http_check_line(char *line, size_t size, struct http_head *head);
/** Checks a field, without the end of its line, and adds it to the head. Returns 0 or a status. `line` is changed. */
int tr__http_check_field(char *line, size_t size, struct http_head *head);
/** Checks what the fields mean together. Returns 0 or a status. */
int tr__http_check_whole(struct http_head *head);

#endif
