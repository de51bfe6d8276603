/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Keys as texts for people. A key may have any bytes. Its text has %xx in place of '%' and of each
 * byte that is not printable UTF-8. The path of a durable actor ends with its key, which has %xx
 * there too. So the functions below can also read a key from the end of a path.
 */
#ifndef OBSERVE_KEY_TEXT_H
#define OBSERVE_KEY_TEXT_H

#include <troupe/limits.h>
#include <troupe/message.h>

#include "observe/json_line.h"

/**
 * Reads the text of a key into `key`. Returns the size of the key. Returns 0 if there is no text,
 * if the key is too long, or if a '%' is not followed by two hexadecimal digits.
 */
size_t tr__key_read(const char *text, unsigned char key[TR_KEY_MAX]);
/** Reads the text of a key, as tr__key_read does, into `max` bytes. */
size_t tr__key_text_read(const char *text, unsigned char *key, size_t max);
/**
 * Writes the text of a key. Cuts it if it does not fit into `size` bytes. Three bytes for each byte
 * of the key, and one more, are always enough.
 */
void tr__key_write(tr_bytes key, char *text, size_t size);
/** Writes a member with the text of a key. */
void tr__json_key(struct json_line *line, const char *name, tr_bytes key);
/**
 * Writes bytes as a member. If they are printable UTF-8, writes them as a string. Otherwise writes
 * base64, and appends "64" to the name of the member. Writes at most `most` bytes. If `most` is 0,
 * there is no limit.
 */
void tr__json_bytes(struct json_line *line, const char *name, tr_bytes bytes, size_t most);

/** Appends base64, without quotes. */
void tr__json_base64(struct json_line *line, tr_bytes bytes);

#endif
