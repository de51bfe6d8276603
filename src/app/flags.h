/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The flags that every app has, beside those of its own.
 *
 *     bank --workers 2 ledger.txt --verbose      --workers is the runner's, the rest belongs to the root
 *     bank --workers=2 -- --help                 everything after "--" belongs to the root
 *
 * Pure functions on text, so that tests can try any input.
 */
#ifndef APP_FLAGS_H
#define APP_FLAGS_H

#include <troupe/status.h>

enum { FLAGS_ERROR_SIZE = 200 };

struct flags {
    int workers;                 /* 0: not given */
    tr_time shutdown_timeout_ns; /* 0: not given */
    const char *store;           /* NULL: not given */
    const char *control;         /* NULL: not given */
    bool is_help;                /* --help or -h */
    size_t rest_count;
};

/**
 * Takes the flags of the runner out of argv. Writes the other arguments, the name of the program first, to `rest`,
 * which must have space for argc pointers. They point into argv. If a flag is given twice the last one counts. --store
 * belongs to the runner only if `takes_store`.
 *
 * TR_INVALID_ARGUMENT: a flag is wrong. `error` says which and why, and *flags is unchanged.
 */
TR_MUST_CHECK tr_status tr__flags_parse(int argc, char *const *argv, bool takes_store,
                                        struct flags *flags, const char **rest,
                                        char error[FLAGS_ERROR_SIZE]);

#endif
