/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A text about the state of a program that does not answer. On SIGQUIT the program writes it to
 * standard error.
 */
#ifndef OBSERVE_DUMP_H
#define OBSERVE_DUMP_H

#include <troupe/self.h>

#include "observe/json_line.h"

/** Appends the text about the system. Asks no worker, so it does not wait. Any thread. */
void tr__dump_write(struct json_line *text, tr_system *system);

#endif
