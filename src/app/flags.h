/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The flags that every app has, apart from those of its own.
 *
 *     bank --workers 2 ledger.txt --verbose      --workers is ours, the rest is the root's
 *     bank --workers=2 -- --help                 behind "--" nothing is ours
 *
 * Only text in and text out, so that anything can be tried on it.
 */
#ifndef APP_FLAGS_H
#define APP_FLAGS_H

#include <troupe/status.h>

enum { FLAGS_ERROR_SIZE = 200 };

struct flags {
    int workers;                 /* 0: not given */
    tr_time shutdown_timeout_ns; /* 0: not given */
    const char *store;           /* NULL: not given */
    bool is_help;                /* --help or -h */
    size_t rest_count;
};

/**
 * Takes our flags out of argv. What is left, the name of the program first, goes to `rest`, which
 * has room for argc pointers; they point into argv. Of a flag that is given twice the last one
 * counts. --store is one of ours only if `takes_store`.
 *
 * TR_INVALID_ARGUMENT: a flag is wrong; `error` says which and why, and *flags is as it was.
 */
TR_MUST_CHECK tr_status tr__flags_parse(int argc, char *const *argv, bool takes_store,
                                        struct flags *flags, const char **rest,
                                        char error[FLAGS_ERROR_SIZE]);

#endif
