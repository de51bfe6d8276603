/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Stands between pthread_create and its callers, in the test and in the library, and fails the cases of a
 * program that is listed in tests/one_thread when they start a thread.
 *
 * The linker sends every call of pthread_create here (--wrap). In builds with sanitizers this file is part
 * of the shared library: libgcc.a has a function of the same name, which the linker would take otherwise.
 */
#include "support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* The real function is weak for a test that is linked by hand, without --wrap. */
typedef void *thread_main(void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_main *main,
                          void *context);
__attribute__((__weak__)) int __real_pthread_create(pthread_t *thread,
                                                    const pthread_attr_t *attributes,
                                                    thread_main *main, void *context);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_main *main,
                          void *context)
{
    if (test_has_one_thread) {
        fprintf(stderr, "A thread is started: take this program off the list tests/one_thread.\n");
        _exit(1); /* No signal: the case may expect one. */
    }
    return __real_pthread_create(thread, attributes, main, context);
}
