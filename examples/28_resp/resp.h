/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The commands of RESP, the protocol of Redis, out of bytes as they come.
 *
 *     *2\r\n$3\r\nGET\r\n$5\r\ncolor\r\n       what clients send
 *     GET color\r\n                           what people type
 */
#ifndef EXAMPLES_RESP_H
#define EXAMPLES_RESP_H

#include <troupe/message.h>

enum {
    RESP_WORDS_MAX = 1024,           /* of a command, its name included */
    RESP_WORD_MAX = 4 * 1024 * 1024, /* bytes of one */
    RESP_LINE_MAX = 64 * 1024        /* bytes of a command that was typed */
};

enum resp_status {
    RESP_COMPLETE,
    RESP_INCOMPLETE, /* nothing is wrong so far */
    RESP_BROKEN      /* no command begins like this */
};

/** A command; its words point into the bytes that were parsed. */
struct resp_command {
    size_t size;       /* how many of the bytes it has */
    size_t count;      /* of its words; 0: an empty line, which means nothing */
    const char *error; /* of RESP_BROKEN */
    tr_bytes words[RESP_WORDS_MAX];
};

/** Parses the first command of these bytes. */
enum resp_status resp_parse(tr_bytes bytes, struct resp_command *command);

/** Reads a decimal number of 64 bits. False: it is none, or has other bytes around it. */
bool resp_number(tr_bytes word, int64_t *number);

/** Whether a text matches a pattern of KEYS: * ? [a-z] [^a] and \ before what is meant as it is. */
bool resp_matches(tr_bytes pattern, tr_bytes text);

#endif
