/* SPDX-License-Identifier: Apache-2.0 */
/** The files of the page, as bytes of the library: ui/dist (cmake/inspector.cmake). */
#ifndef INSPECT_ASSETS_H
#define INSPECT_ASSETS_H

#include <troupe/message.h>

/** A file of the page. */
struct asset {
    const char *path; /* of the request */
    const char *type;
    tr_bytes bytes;
};

/** Returns the file for a path; NULL: there is none. */
const struct asset *tr__asset_find(const char *path);

#endif
