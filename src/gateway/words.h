/* SPDX-License-Identifier: Apache-2.0 */
/** What a client says on a socket, as JSON. Pure functions. */
#ifndef GATEWAY_WORDS_H
#define GATEWAY_WORDS_H

#include <troupe/wire.h>

/** A message of a client. Texts are in `block`, which the caller frees by tr__words_free. */
struct words {
    bool has_id;
    uint64_t id;
    const char *ask; /* never NULL */
    const char *key; /* NULL: none */
    tr_bytes with;   /* the object of the fields, in the text; no bytes: none */
    void *block;
};

/** Reads a text. TR_BAD_DATA and others of tr_json_read; *error says what is wrong. */
TR_MUST_CHECK tr_status tr__words_read(tr_bytes text, struct words *words, tr_wire_error *error);
void tr__words_free(struct words *words);

#endif
