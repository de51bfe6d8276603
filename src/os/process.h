/* SPDX-License-Identifier: Apache-2.0 */
/** The functions of the real platform for child processes. See troupe/platform.h. */
#ifndef OS_PROCESS_H
#define OS_PROCESS_H

#include <troupe/platform.h>

/** The numbers of SIGTERM and SIGKILL, because only the platform includes signal.h. */
enum { PROCESS_TERMINATE = 15, PROCESS_KILL = 9 };

tr_status tr__real_process_start(const tr_platform *platform, const tr_process_spec *spec,
                                 tr_process_handle *process);
tr_status tr__real_process_signal(const tr_platform *platform, const tr_process_handle *process,
                                  int signal);
tr_status tr__real_process_reap(const tr_platform *platform, const tr_process_handle *process,
                                tr_time timeout_ns, tr_process_exit *how);

#endif
