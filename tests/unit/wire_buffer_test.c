/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Buffers: counted blocks of bytes.
 */
#include "support/test.h"

#include <troupe/message.h>

#include <pthread.h>
#include <string.h>

enum { ROUNDS = 20000 };

TEST(a_buffer_has_its_size_and_aligned_bytes, "B-06")
{
    tr_buffer *buffer = tr_buffer_new(100);
    ck_assert_ptr_nonnull(buffer);
    ck_assert_uint_eq(tr_buffer_size(buffer), 100);
    ck_assert_uint_eq((uintptr_t)tr_buffer_data(buffer) % 16, 0);
    memset(tr_buffer_data(buffer), 1, 100);
    tr_buffer_release(buffer);

    buffer = tr_buffer_new(0);
    ck_assert_uint_eq(tr_buffer_size(buffer), 0);
    ck_assert_ptr_nonnull(tr_buffer_data(buffer));
    tr_buffer_release(buffer);
}

TEST(a_size_that_overflows_gives_null, "B-06", "U-03")
{
    ck_assert_ptr_null(tr_buffer_new(SIZE_MAX));
    ck_assert_ptr_null(tr_buffer_new(SIZE_MAX - 8));
}

TEST(null_is_a_buffer_of_nothing, "B-06")
{
    tr_buffer_retain(NULL);
    tr_buffer_release(NULL);
    ck_assert_ptr_null(tr_buffer_data(NULL));
    ck_assert_uint_eq(tr_buffer_size(NULL), 0);
}

static void *hold_and_let_go(void *context)
{
    tr_buffer *buffer = context;
    for (int i = 0; i < ROUNDS; i++) {
        tr_buffer_retain(buffer);
        ck_assert_uint_eq(*(unsigned char *)tr_buffer_data(buffer), 7);
        tr_buffer_release(buffer);
    }
    tr_buffer_release(buffer);
    return NULL;
}

/* Freed too early, a thread reads freed memory; never freed, LeakSanitizer says so. */
TEST(threads_share_a_buffer_and_the_last_one_frees_it, "B-06")
{
    tr_buffer *buffer = tr_buffer_new(1);
    *(unsigned char *)tr_buffer_data(buffer) = 7;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        tr_buffer_retain(buffer);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, hold_and_let_go, buffer), 0);
    }
    tr_buffer_release(buffer);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

SUITE("wire buffer", a_buffer_has_its_size_and_aligned_bytes, a_size_that_overflows_gives_null,
      null_is_a_buffer_of_nothing, threads_share_a_buffer_and_the_last_one_frees_it)
