/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Keys as texts for people. A key is any bytes; its text has %xx in place of each byte that is no printable UTF-8, and of
 * '%'. So the text of a key, and the last part of an actor's path, can both be given back as a key.
 */
#ifndef OBSERVE_KEY_TEXT_H
#define OBSERVE_KEY_TEXT_H

#include <troupe/limits.h>
#include <troupe/message.h>

#include "observe/json_line.h"

/** Reads the text of a key into `key`. Returns its size; 0: no text, too long, or % without two digits. */
size_t tr__key_read(const char *text, unsigned char key[TR_KEY_MAX]);
/** Writes the text of a key; what does not fit is cut. Three bytes for each of the key and one are enough. */
void tr__key_write(tr_bytes key, char *text, size_t size);
/** Writes a member with the text of a key. */
void tr__json_key(struct json_line *line, const char *name, tr_bytes key);
/**
 * Writes bytes as a member: as a string if they are printable UTF-8, else as base64 in a member with this name and "64"
 * behind it. At most `most` bytes; 0: all.
 */
void tr__json_bytes(struct json_line *line, const char *name, tr_bytes bytes, size_t most);

/** Appends base64, without quotes. */
void tr__json_base64(struct json_line *line, tr_bytes bytes);

#endif
