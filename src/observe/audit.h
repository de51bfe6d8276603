/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Lines of the log about commands that change the running program. They say what was changed, by
 * whom, and with what result. They are written whatever the log's levels are.
 */
#ifndef OBSERVE_AUDIT_H
#define OBSERVE_AUDIT_H

#include "observe/visitor.h"

enum { AUDIT_WHAT_MAX = 320 };

/**
 * What a line of the log must know of a request. Work that may outlast its client keeps this
 * struct, so that the line can be written when the work is over.
 */
struct audit {
    char what[AUDIT_WHAT_MAX]; /* verb and arguments; a long text is cut and ends with "..." */
    char path[TR_PATH_MAX + 1];
    char via[VISITOR_VIA_MAX];
    uint32_t uid;
};

/** Fills in *audit. */
void tr__audit_of(struct audit *audit, const struct visitor *visitor,
                  const struct control_request *request);
/**
 * Writes the line to the log. If `is_left`, the client has gone, and nobody waits for the answer.
 * Any thread.
 */
void tr__audit_write(struct tr_system *system, const struct audit *audit, bool is_left,
                     const char *result);
/** Writes the line for a request that is answered now. */
void tr__audit(struct visitor *visitor, const struct control_request *request, tr_status status);

#endif
