/* SPDX-License-Identifier: Apache-2.0 */
/** The token of an inspector: a new one, or the one of a file, which is the same after a restart. */
#ifndef INSPECT_TOKEN_H
#define INSPECT_TOKEN_H

#include <troupe/platform.h>

#include "inspect/guard.h"

/**
 * Takes the token from a file that only its owner may use. If there is no such file, makes one with a new token. If `path` is
 * NULL, makes a new token and no file. On failure writes a sentence to `why`, and returns a status of os/secret_file.h, or
 * TR_BAD_DATA if the file has no token. Any thread; waits for the disk.
 */
TR_MUST_CHECK tr_status tr__token_take(const tr_platform *platform, const char *path,
                                       char token[GUARD_TOKEN_SIZE + 1], char *why,
                                       size_t why_size);

#endif
