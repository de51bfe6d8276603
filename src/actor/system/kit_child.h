/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Child processes and signals of a kit; see troupe/kit_net.h.
 *
 * One thread.
 */
#ifndef ACTOR_SYSTEM_KIT_CHILD_H
#define ACTOR_SYSTEM_KIT_CHILD_H

#include <troupe/kit.h>

/**
 * Frees the records that the test has of child processes. Their peers must have been freed before.
 */
void tr__kit_children_free(tr_kit *kit);

#endif
