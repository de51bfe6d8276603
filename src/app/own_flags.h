/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The program's own flags, tr_app.flags. The runner removes its own flags from the arguments
 * before.
 *
 * Pure functions on text, so that tests can try any input.
 */
#ifndef APP_OWN_FLAGS_H
#define APP_OWN_FLAGS_H

#include <troupe/app.h>

#include "app/flags.h"

/**
 * Whether the table is valid. If not, writes the reason to `text`. `takes_store` as for
 * tr__flags_parse.
 */
bool tr__own_flags_are_valid(const tr_flag *table, bool takes_store, char text[FLAGS_ERROR_SIZE]);

/**
 * Removes the flags of `table` from the arguments `rest`, and writes their values. `rest` has
 * *count arguments. Only the first *before of them are read; the others came after "--". Updates
 * *count and *before. If `table` is NULL, there are no flags.
 *
 * TR_INVALID_ARGUMENT: a value is wrong, or an argument begins with a dash and is no flag. With
 * `takes_any` such an argument is kept as others are. `error` says which.
 */
TR_MUST_CHECK tr_status tr__own_flags_parse(const tr_flag *table, const char **rest, size_t *count,
                                            size_t *before, bool takes_any,
                                            char error[FLAGS_ERROR_SIZE]);

#endif
