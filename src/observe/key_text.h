/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Keys as texts for people. A key may have any bytes. Its text has %xx for '%' and for each byte
 * that is not printable UTF-8. So both this text and the last part of an actor's path can be read
 * as a key.
 */
#ifndef OBSERVE_KEY_TEXT_H
#define OBSERVE_KEY_TEXT_H

#include <troupe/limits.h>
#include <troupe/message.h>

#include "observe/json_line.h"

/**
 * Reads the text of a key into `key`. Returns its size, or 0 if there is no text, if it is too
 * long, or if a '%' has no two digits after it.
 */
size_t tr__key_read(const char *text, unsigned char key[TR_KEY_MAX]);
/** As tr__key_read, for keys of up to `max` bytes. */
size_t tr__key_text_read(const char *text, unsigned char *key, size_t max);
/**
 * Writes the text of a key, cut to `size`. Three bytes for each byte of the key, and one more, are
 * always enough.
 */
void tr__key_write(tr_bytes key, char *text, size_t size);
/** Writes a member with the text of a key. */
void tr__json_key(struct json_line *line, const char *name, tr_bytes key);
/**
 * Writes bytes as a member: as a string if they are printable UTF-8, else as base64 in a member
 * whose name has "64" appended. Writes at most `most` bytes; 0: all.
 */
void tr__json_bytes(struct json_line *line, const char *name, tr_bytes bytes, size_t most);

/** Appends base64, without quotes. */
void tr__json_base64(struct json_line *line, tr_bytes bytes);

#endif
