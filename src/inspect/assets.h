/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The files of the inspector's page (ui/dist), as bytes in the library. cmake/inspector.cmake makes
 * them.
 */
#ifndef INSPECT_ASSETS_H
#define INSPECT_ASSETS_H

#include <troupe/message.h>

/** A file of the inspector's page. */
struct asset {
    const char *path; /* path in the request */
    const char *type;
    tr_bytes bytes;
};

/** Returns the file with this path. Returns NULL if there is none. */
const struct asset *tr__asset_find(const char *path);

#endif
