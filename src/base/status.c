/* SPDX-License-Identifier: Apache-2.0 */
/** The names and texts of statuses, made from TR_STATUS_LIST. */
#include <troupe/status.h>

/* The switches have no default, so that the compiler reports a status without a case. */
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
