/* SPDX-License-Identifier: Apache-2.0 */
/** Texts and paths of faults in a document. */
#include "wire/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Stands in place of the beginning of a path that was too long. */
#define CUT "..."

void tr__fault_set(tr_wire_error *error, tr_status status, size_t offset, const char *format, ...)
{
    error->status = status;
    error->offset = offset;
    error->path[0] = '\0';
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
}

/* Puts a step in front of the path. If the path becomes too long, cuts off the beginning of the
 * path, because its end is more useful. A path that was cut once gets no further steps. */
static void fault_prepend(tr_wire_error *error, const char *step)
{
    size_t length = strlen(error->path);
    if (strncmp(error->path, CUT, strlen(CUT)) == 0)
        return;
    bool is_joined = length == 0 || error->path[0] == '[';
    const char *join = is_joined ? "" : ".";
    char path[sizeof(error->path)];
    int needed = snprintf(path, sizeof(path), "%s%s%s", step, join, error->path);
    if (needed >= (int)sizeof(path)) {
        if (length > sizeof(path) - 1 - strlen(CUT))
            length = sizeof(path) - 1 - strlen(CUT);
        const char *tail = error->path + strlen(error->path) - length;
        snprintf(path, sizeof(path), CUT "%.*s", (int)length, tail);
    }
    memcpy(error->path, path, sizeof(path));
}

void tr__fault_in_field(tr_wire_error *error, const char *name)
{
    fault_prepend(error, name);
}

void tr__fault_in_item(tr_wire_error *error, size_t index)
{
    char step[32];
    snprintf(step, sizeof(step), "[%zu]", index);
    fault_prepend(error, step);
}
