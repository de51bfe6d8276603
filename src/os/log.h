/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The log of the real platform: lines on standard error.
 */
#ifndef OS_LOG_H
#define OS_LOG_H

#include <troupe/platform.h>

/** The function tr_platform.log (troupe/platform.h); `platform` is ignored. Any thread. */
void tr__real_log(const tr_platform *platform, tr_level level, const char *path, const char *text);
/** The function tr_platform.log_line. Any thread. */
void tr__real_log_line(const tr_platform *platform, tr_level level, const char *line, size_t size);

#endif
