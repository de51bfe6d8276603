/* SPDX-License-Identifier: Apache-2.0 */
/** A position in the value of a header, for code that reads lists of words. */
#ifndef HTTP_CURSOR_H
#define HTTP_CURSOR_H

#include <stdbool.h>

struct cursor {
    const unsigned char *at;
    const unsigned char *end;
};

static inline void cursor_skip_space(struct cursor *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t'))
        in->at++;
}

/** Skips spaces. If `byte` comes next, skips it and the spaces behind it, and returns true. */
static inline bool cursor_pass(struct cursor *in, unsigned char byte)
{
    cursor_skip_space(in);
    if (in->at == in->end || *in->at != byte)
        return false;
    in->at++;
    cursor_skip_space(in);
    return true;
}

#endif
