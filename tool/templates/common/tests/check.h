/* SPDX-License-Identifier: Apache-2.0 */
/** CHECK(condition): prints where it is false, and ends the program with 1. Unlike assert it is in every build. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition);               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#endif
