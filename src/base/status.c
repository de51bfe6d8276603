/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The names and texts of statuses, made from the one list of them.
 */
#include <troupe/status.h>

/* No default: the compiler says when a status has no row. */
const char *tr_status_name(tr_status status)
{
    switch (status) {
#define STATUS_NAME(name, value, text)                                                             \
    case TR_##name:                                                                                \
        return "TR_" #name;
        TR_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
    }
    return "TR_?";
}

const char *tr_status_text(tr_status status)
{
    switch (status) {
#define STATUS_TEXT(name, value, text)                                                             \
    case TR_##name:                                                                                \
        return text;
        TR_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "unknown status";
}
