/* SPDX-License-Identifier: Apache-2.0 */
/** Parses the messages that a client sends on a socket, which are JSON. Pure functions. */
#ifndef GATEWAY_WORDS_H
#define GATEWAY_WORDS_H

#include <troupe/wire.h>

/**
 * A message that a client has sent. Its texts are in `block`, which the caller frees by
 * tr__words_free.
 */
struct words {
    bool has_id;
    uint64_t id;
    const char *ask; /* never NULL */
    const char *key; /* NULL: none */
    /* the object with the fields of the message, a part of the text; no bytes: there is none */
    tr_bytes with;
    void *block;
};

/**
 * Parses a text. Returns TR_OK, TR_BAD_DATA or another status of tr_json_read; *error has the error
 * text.
 */
TR_MUST_CHECK tr_status tr__words_read(tr_bytes text, struct words *words, tr_wire_error *error);
void tr__words_free(struct words *words);

#endif
