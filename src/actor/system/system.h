/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How a system is made, and how it ends. The record is struct tr_system of actor/cell/system.h.
 */
#ifndef ACTOR_SYSTEM_SYSTEM_H
#define ACTOR_SYSTEM_SYSTEM_H

#include <troupe/detail/base.h>
#include <troupe/status.h>
#include <troupe/system.h>
#include <troupe/self.h>
#include <stdarg.h>

struct cell;
struct counters;
struct tr_system;

/** tr_system_new, without the actors of its pool; the options are whole. */
TR_MUST_CHECK tr_status tr__system_new(const tr_system_options *options, tr_system **system);
/** Writes a line to the log. `path` may be NULL. Any thread. */
void tr__log(struct tr_system *system, tr_level level, const char *path, const char *format, ...)
    TR_PRINTF(4, 5);
void tr__log_list(struct tr_system *system, tr_level level, const char *path, const char *format,
                  va_list list);
/**
 * The path of an actor, into TR_PATH_MAX + 1 bytes; gives the length of the whole, as snprintf
 * does. Any thread that knows it alive.
 */
size_t tr__cell_path(struct tr_system *system, const struct cell *cell, char *path);
/** Posts a door that is to be posted: to its worker, or to its client. `counters` may be NULL. */
void tr__system_post(struct tr_system *system, struct counters *counters, struct cell *cell);
/** /user has stopped. */
void tr__system_over(struct tr_system *system);
/** Whether top-level actors ended by a failure so far. Any thread. */
bool tr__system_has_failed(struct tr_system *system);

#endif
