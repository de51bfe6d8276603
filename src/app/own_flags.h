/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The program's own flags, tr_app.flags. Before they are read, the runner has removed its flags
 * from the arguments.
 *
 * Pure functions on text, so that tests can try any input.
 */
#ifndef APP_OWN_FLAGS_H
#define APP_OWN_FLAGS_H

#include <troupe/app.h>

#include "app/flags.h"

/**
 * Whether the table is valid. If it is not, writes the reason to `text`. `takes_store` has the same
 * meaning as for tr__flags_parse.
 */
bool tr__own_flags_are_valid(const tr_flag *table, bool takes_store, char text[FLAGS_ERROR_SIZE]);

/**
 * Removes the flags of `table` from the arguments `rest`, and writes their values. `rest` has
 * *count arguments. Reads only the first *before of these arguments, because the others came after
 * "--" on the command line. Updates *count and *before. If `table` is NULL, there are no flags.
 *
 * Returns TR_INVALID_ARGUMENT if a value is wrong, or if an argument begins with a dash and is no
 * flag. With `takes_any`, an argument that begins with a dash and is no flag stays in `rest`.
 * `error` says which argument is wrong.
 */
TR_MUST_CHECK tr_status tr__own_flags_parse(const tr_flag *table, const char **rest, size_t *count,
                                            size_t *before, bool takes_any,
                                            char error[FLAGS_ERROR_SIZE]);

#endif
