/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The forms of a log line, without the line feed.
 *
 *     text      the vault is empty causal=0badcafe00000001      (the platform adds time, level and path)
 *     json      {"time":"2024-02-29T23:59:59.123456Z","level":"warn","path":"/user/bank","causal":"...","text":"..."}
 *     journald  <4>/user/bank: the vault is empty causal=0badcafe00000001
 *
 * The results depend only on the arguments. A line that does not fit is cut: its text ends with
 * "...", and JSON stays valid.
 */
#ifndef ACTOR_CELL_LOG_LINE_H
#define ACTOR_CELL_LOG_LINE_H

#include <troupe/status.h>

/**
 * The longest line without its line feed. With the line feed it has PIPE_BUF bytes, which a pipe
 * takes at once.
 */
enum { LOG_LINE_MAX = 4095 };

struct log_line {
    tr_level level;
    const char *path; /* path of the actor; NULL: the line is about the system */
    uint64_t causal;  /* causal id of the turn; 0: no turn writes the line */
    const char *text;
};

/**
 * These functions write at most `size` bytes, including a NUL, and return the length. `size` is at
 * least 256.
 */
size_t tr__log_line_text(const struct log_line *line, char *to, size_t size);
size_t tr__log_line_json(const struct log_line *line, tr_time wall_ns, char *to, size_t size);
size_t tr__log_line_journald(const struct log_line *line, char *to, size_t size);

#endif
