/* SPDX-License-Identifier: Apache-2.0 */
/** A text with all that matters when a program does not answer: what SIGQUIT writes to standard error. */
#ifndef OBSERVE_DUMP_H
#define OBSERVE_DUMP_H

#include <troupe/self.h>

#include "observe/json_line.h"

/** Appends the text. Asks no worker. Any thread. */
void tr__dump_write(struct json_line *text, tr_system *system);

#endif
