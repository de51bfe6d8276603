/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <troupe/limits.h>

#include "actor/cell/system.h"

struct tr_system;

void tr__log_list(struct tr_system *system, tr_level level, const char *path, const char *format,
                  va_list list)
{
    char text[TR_LOG_MAX];
    vsnprintf(text, sizeof text, format, list);
    if (system->log.write)
        system->log.write(system->log.context, level, path, text);
    else
        system->platform->log(system->platform, level, path, text);
}

void tr__log(struct tr_system *system, tr_level level, const char *path, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    tr__log_list(system, level, path, format, list);
    va_end(list);
}

void tr__error_set(tr_error *error, tr_status status, uint64_t actor, const char *format, ...)
{
    if (!error)
        return;
    *error = (tr_error){.status = status, .actor = tr_ref_from_bits(actor)};
    va_list list;
    va_start(list, format);
    vsnprintf(error->text, sizeof error->text, format, list);
    va_end(list);
}
