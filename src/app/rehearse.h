/* SPDX-License-Identifier: Apache-2.0 */
/** Loads all stored actors of a store with the code of this program: --rehearse DIR. */
#ifndef APP_REHEARSE_H
#define APP_REHEARSE_H

#include <troupe/durable.h>

/**
 * Loads all actors of a copy of the store in a kit. Prints on standard output which actors cannot
 * be loaded, and how many actors there are. Returns whether all actors can be loaded.
 */
bool tr__rehearse(const char *program, const char *app, const struct tr_durables *durables,
                  const char *store, bool is_json);

#endif
