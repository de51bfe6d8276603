/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actor/cell/log.h"
#include "actor/cell/log_kept.h"

/* The user and the result are at the end of a line. The log keeps only the beginning of long lines,
 * so a line must not be too long. */
_Static_assert(AUDIT_WHAT_MAX + VISITOR_VIA_MAX + 75 <= LOG_KEPT_TEXT, "a whole line is kept");

/* Appends a text, with other texts before and behind it. */
static void add(struct audit *audit, const char *before, const char *text, const char *behind)
{
    size_t length = strlen(audit->what);
    size_t space = sizeof audit->what - length;
    int whole = text ? snprintf(audit->what + length, space, "%s%s%s", before, text, behind) : 0;
    if (whole >= (int)space)
        memcpy(audit->what + sizeof audit->what - 4, "...", 4);
}

void tr__audit_of(struct audit *audit, const struct visitor *visitor,
                  const struct control_request *request)
{
    char number[24];
    *audit = (struct audit){.uid = visitor->uid};
    memcpy(audit->via, visitor->via, sizeof audit->via);
    snprintf(audit->path, sizeof audit->path, "%s", request->path ? request->path : "");
    snprintf(number, sizeof number, "%" PRIu64, request->after);
    add(audit, "", request->verb, "");
    add(audit, " ", strcmp(request->verb, "replay") == 0 ? number : NULL, "");
    add(audit, " ", request->message ? request->message : request->kind, "");
    add(audit, " ", request->level, "");
    add(audit, " \"", request->key, "\"");
    add(audit, " \"", request->text, "\"");
}

void tr__audit_write(struct tr_system *system, const struct audit *audit, bool is_left,
                     const char *result)
{
    tr__log_always(system,
                   TR_LEVEL_INFO,
                   audit->path[0] ? audit->path : NULL,
                   "control: %s by user %u%s%s%s: %s",
                   audit->what,
                   (unsigned)audit->uid,
                   audit->via[0] ? ", " : "",
                   audit->via,
                   is_left ? ", who has gone" : "",
                   result);
}

void tr__audit(struct visitor *visitor, const struct control_request *request, tr_status status)
{
    struct audit audit;
    tr__audit_of(&audit, visitor, request);
    tr__audit_write(visitor->observer->system, &audit, false, tr_status_name(status));
}
