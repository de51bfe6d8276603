/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The inline function tr_system_report, and the function that it calls.
 */
#ifndef TROUPE_DETAIL_SHUTDOWN_H
#define TROUPE_DETAIL_SHUTDOWN_H
#pragma GCC system_header

TR_BEGIN_C
/**
 * As tr_system_report. `size` is sizeof(tr_shutdown_report) in the header that the program was
 * compiled with.
 */
TR_MUST_CHECK tr_status tr_system_report_sized(tr_system *system, tr_shutdown_report *report,
                                               size_t size);
TR_END_C

TR_INLINE tr_status tr_system_report(tr_system *system, tr_shutdown_report *report)
{
    return tr_system_report_sized(system, report, sizeof *report);
}

#endif
