/* SPDX-License-Identifier: Apache-2.0 */
/** How steps are answered, when their jobs have results. A failure is an answer of its own. */
#ifndef EXAMPLES_ANSWER_H
#define EXAMPLES_ANSWER_H

#include "session.h"

enum { KEYS_PAGE = 1000 }; /* keys that a shard is asked for at once */

#define NOT_AN_INTEGER "-ERR value is not an integer or out of range\r\n"

/** job.value as it is. */
answer_function answer_text;
/** job.value as a value. */
answer_function answer_bulk;
/** That job.number values follow. */
answer_function answer_count;
/** The value that a GET has found. */
answer_function answer_found;
/** OK, if it was done. */
answer_function answer_done;
/** The number of the result. */
answer_function answer_number;
/** What is left of a lifetime, in seconds. */
answer_function answer_ttl;
/** Nothing yet: the result counts for the last step of its command. */
answer_function answer_nothing;
/** OK, if all steps before it were done. */
answer_function answer_all_done;
/** The sum of the steps before it. */
answer_function answer_sum;
/** What the server says of itself; the steps before it have counted keys. */
answer_function answer_info;
/** All keys that match job.value. It asks for them itself. */
answer_function answer_keys;
/** Keys that match job.value, about job.hash of them, from the cursor job.number on. It asks for them itself. */
answer_function answer_scan;

#endif
