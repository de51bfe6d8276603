/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The flags of a program's own, tr_app.flags. The runner has taken its flags out of the arguments before.
 *
 * Pure functions on text, so that tests can try any input.
 */
#ifndef APP_OWN_FLAGS_H
#define APP_OWN_FLAGS_H

#include <troupe/app.h>

#include "app/flags.h"

/** Whether the table is valid. Else *why says what is wrong, in `text`. `takes_store` as for tr__flags_parse. */
bool tr__own_flags_are_valid(const tr_flag *table, bool takes_store, char text[FLAGS_ERROR_SIZE]);

/**
 * Takes the flags of `table` out of the first *before of the *count arguments `rest`, writes their values, and leaves the
 * others; *before is then how many of those are left. The later arguments stood behind "--", and are not looked at.
 * `table` NULL: there are no flags.
 *
 * TR_INVALID_ARGUMENT: a value is wrong, or an argument begins with a dash and is no flag; with `takes_any` such an
 * argument is left like others. `error` says which.
 */
TR_MUST_CHECK tr_status tr__own_flags_parse(const tr_flag *table, const char **rest, size_t *count,
                                            size_t *before, bool takes_any,
                                            char error[FLAGS_ERROR_SIZE]);

#endif
