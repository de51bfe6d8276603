/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The trace that record.c writes and cut.c reads: records one after the other, each with `bytes` of payload.
 */
#ifndef CUTS_TRACE_H
#define CUTS_TRACE_H

#include <stdint.h>

enum cuts_kind {
    CUTS_WRITE = 1,  /* file, at; payload: what was written */
    CUTS_SIZE,       /* file, at: its new length */
    CUTS_SYNC_BEGIN, /* file (or directory; 0: all), at: number of the sync */
    CUTS_SYNC_END,   /* the same: all that was there at its beginning is on disk */
    CUTS_MAKE,       /* file; payload: path; at: 1 for a directory */
    CUTS_RENAME,     /* payload: old path, NUL, new path */
    CUTS_REMOVE,     /* payload: path */
    CUTS_MARK        /* payload: a line of the workload */
};

struct cuts_record {
    uint32_t kind;
    uint32_t bytes; /* of the payload */
    uint64_t file;  /* number of the inode */
    uint64_t at;
};

#endif
