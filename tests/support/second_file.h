/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An actor in a source file of its own, for tests of messages that two files declare: `shape` alike
 * in both, and `secret`, which is private to each and differs.
 */
#ifndef TROUPE_TESTS_SUPPORT_SECOND_FILE_H
#define TROUPE_TESTS_SUPPORT_SECOND_FILE_H

#include <troupe/troupe.h>

/** Answers each shape and each secret that it knows with a `told` of a text. */
TR_ACTOR(second_receiver, shape);
TR_MESSAGE(told, (str, text));

/** The second file's descriptors. */
const tr_type *second_file_shape(void);
const tr_type *second_file_secret(void);

#endif
