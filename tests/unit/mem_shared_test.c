/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Messages that several envelopes share: one copy, freed by the last, wherever that is.
 */
#include "support/test.h"

#include <pthread.h>

#include "mem/envelope.h"
#include "mem/shared.h"
#include "support/fake_memory.h"

TR_MESSAGE(sheet, (u64, n), (str, text), (buffer, data));
TR_MESSAGE(block, (array(u64, 20), words));

static struct fake_memory memory;
static struct memory_source source;
static tr_status status;
static uint32_t size;

static void *share(const tr_type *type, const void *message, uint32_t holders)
{
    return tr__shared_new(&source, type, message, holders, &size, &status);
}

TEST(the_last_holder_frees_it, "B-06")
{
    source = fake_memory_init(&memory);
    struct block message = {.words[19] = 7};
    struct block *data = share(&tr_type_block, &message, 3);
    ck_assert_int_eq(status, TR_OK);
    ck_assert_uint_eq(size, sizeof message);
    ck_assert_uint_eq((uintptr_t)data % SOURCE_ALIGNMENT, 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(memory.blocks, 1);
        ck_assert_uint_eq(data->words[19], 7);
        tr__shared_release(data, &tr_type_block, &source);
    }
    ck_assert_uint_eq(memory.blocks, 0);
}

TEST(it_has_all_that_the_message_points_to, "B-06")
{
    source = fake_memory_init(&memory);
    char text[] = "words";
    tr_buffer *buffer = tr_buffer_new(10);
    struct sheet message = {.n = 5, .text = text, .data = buffer};
    struct sheet *data = share(&tr_type_sheet, &message, 2);
    ck_assert_int_eq(status, TR_OK);
    text[0] = 'x';
    tr_buffer_release(buffer); /* the copy has a count of its own, one for all */
    ck_assert_str_eq(data->text, "words");
    ck_assert_ptr_eq(data->data, buffer);
    ck_assert_uint_eq(memory.blocks, 1);
    tr__shared_release(data, &tr_type_sheet, &source);
    ck_assert_uint_eq(tr_buffer_size(data->data), 10);
    tr__shared_release(data, &tr_type_sheet, &source);
    ck_assert_uint_eq(memory.blocks, 0);
}

TEST(what_cannot_be_shared_changes_nothing, "B-06")
{
    source = fake_memory_init(&memory);
    struct block message = {.words[0] = 1};
    memory.fail_all = true;
    ck_assert_ptr_null(share(&tr_type_block, &message, 2));
    ck_assert_int_eq(status, TR_NO_MEMORY);
    tr_type huge = tr_type_block;
    huge.size = TR_PAYLOAD_MAX + 1;
    ck_assert_ptr_null(share(&huge, &message, 2));
    ck_assert_int_eq(status, TR_TOO_LARGE);
    ck_assert_uint_eq(memory.blocks, 0);
}

/* An envelope gives it back to nobody's pool, whichever pool the envelope comes from. */
TEST(envelopes_of_any_home_release_it, "B-06")
{
    source = fake_memory_init(&memory);
    struct envelope_pool here;
    struct envelope_pool there;
    struct envelope_pool *pools[2] = {&here, &there};
    ck_assert_int_eq(tr__envelope_pool_init(&here, &source, 0, 2, pools, 0), TR_OK);
    ck_assert_int_eq(tr__envelope_pool_init(&there, &source, 1, 2, pools, 0), TR_OK);
    size_t before = 0;
    for (int round = 0; round < 3; round++) {
        struct block message = {.words[19] = 7};
        struct block *data = share(&tr_type_block, &message, 4);
        struct envelope *envelopes[4];
        for (int i = 0; i < 4; i++) {
            envelopes[i] = envelope_take(i % 2 ? &here : &there);
            envelopes[i]->type = &tr_type_block;
            envelopes[i]->block_class = ENVELOPE_SHARED;
            envelopes[i]->payload.block.data = data;
            envelopes[i]->payload.block.size = size;
        }
        for (int i = 0; i < 4; i++) {
            ck_assert_uint_eq(((struct block *)envelope_data(envelopes[i]))->words[19], 7);
            envelope_give(i < 2 ? &here : &there, envelopes[i]);
        }
        tr__envelope_flush(&here);
        tr__envelope_flush(&there);
        (void)tr__envelope_pool_trim(&here);
        (void)tr__envelope_pool_trim(&there);
        if (round)
            ck_assert_uint_eq(memory.blocks, before);
        before = memory.blocks;
    }
    tr__envelope_pool_deinit(&here);
    tr__envelope_pool_deinit(&there);
    ck_assert_uint_eq(memory.blocks, 0);
}

enum { THREADS = 4, ROUNDS = 2000 };
static pthread_barrier_t barrier;
static struct block *shared;

static void *release(void *argument)
{
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&barrier);
        if (shared->words[19] != 7)
            ck_abort_msg("it is gone");
        tr__shared_release(shared, &tr_type_block, &source);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

/* The fake counts for one thread, and the last holder is one only: it is between two barriers. */
TEST(threads_release_it_at_once, "B-06")
{
    pthread_t threads[THREADS];
    source = fake_memory_init(&memory);
    struct block message = {.words[19] = 7};
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, release, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        shared = share(&tr_type_block, &message, THREADS);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        if (memory.blocks)
            ck_abort_msg("it was not freed");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
}

SUITE("mem shared", the_last_holder_frees_it, it_has_all_that_the_message_points_to,
      what_cannot_be_shared_changes_nothing, envelopes_of_any_home_release_it,
      threads_release_it_at_once)
