/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The last lines of the log, for tools that look at a running program. They are kept only if
 * tr__log_keep was called. A lock protects the lines. That is fast enough, because writing a line of
 * the log is slow anyway.
 */
#ifndef ACTOR_CELL_LOG_KEPT_H
#define ACTOR_CELL_LOG_KEPT_H

#include "actor/cell/log_line.h"

struct tr_system;
struct log_kept;

enum { LOG_KEPT_MAX = 512, LOG_KEPT_PATH = 128, LOG_KEPT_TEXT = 480 };

/** A line that is kept. */
struct log_record {
    uint64_t number; /* from 1 */
    tr_time time_ns; /* the time, as tr_now returns it */
    uint64_t causal; /* 0: none */
    tr_level level;
    bool has_path;
    char path[LOG_KEPT_PATH]; /* "..." replaces the beginning of a path that is too long */
    char text[LOG_KEPT_TEXT]; /* "..." replaces the end of a text that is too long */
};

/**
 * From now on the last lines of the log are kept until the system is freed. If there is no memory,
 * no lines are kept. One thread.
 */
void tr__log_keep(struct tr_system *system);
/** Keeps a line, if lines are kept. Any thread. */
void tr__log_kept_add(struct tr_system *system, const struct log_line *line);
/** Copies a line by its number. Returns false if it is not kept. Any thread. */
bool tr__log_kept_read(struct tr_system *system, uint64_t number, struct log_record *record);
/**
 * Returns how many lines were kept so far; lines that were replaced since count too. Any thread.
 */
uint64_t tr__log_kept_total(struct tr_system *system);
/** Frees all kept lines, when the system ends. */
void tr__log_kept_free(struct tr_system *system);

#endif
