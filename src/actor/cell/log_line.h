/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The forms of a log line, without the line feed.
 *
 *     text      the vault is empty causal=0badcafe00000001      (the platform adds time, level and path)
 *     json      {"time":"2024-02-29T23:59:59.123456Z","level":"warn","path":"/user/bank","causal":"...","text":"..."}
 *     journald  <4>/user/bank: the vault is empty causal=0badcafe00000001
 *
 * Pure functions. A line that does not fit is cut: its text ends with "...", and JSON stays valid.
 */
#ifndef ACTOR_CELL_LOG_LINE_H
#define ACTOR_CELL_LOG_LINE_H

#include <troupe/status.h>

/** A pipe takes so many bytes at once (PIPE_BUF), with the line feed. */
enum { LOG_LINE_MAX = 4095 };

struct log_line {
    tr_level level;
    const char *path; /* NULL: of the system */
    uint64_t causal;  /* 0: not of a turn */
    const char *text;
};

/** Each writes at most `size` bytes, at least 256, with a NUL, and returns the length. */
size_t tr__log_line_text(const struct log_line *line, char *to, size_t size);
size_t tr__log_line_json(const struct log_line *line, tr_time wall_ns, char *to, size_t size);
size_t tr__log_line_journald(const struct log_line *line, char *to, size_t size);

#endif
