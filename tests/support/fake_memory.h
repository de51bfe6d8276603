/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A platform that is nothing but memory: it counts what is out and refuses what it is told to.
 *
 * New memory is full of garbage and a resized block always moves, so that whoever relies on zeroes
 * or on an old address is found out.
 */
#ifndef TROUPE_TESTS_SUPPORT_FAKE_MEMORY_H
#define TROUPE_TESTS_SUPPORT_FAKE_MEMORY_H

#include "mem/source.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** For the models, which check millions of times: ck_assert makes a system call each time. */
#define MODEL_ASSERT(condition) ((condition) ? (void)0 : ck_abort_msg("not so: %s", #condition))

struct fake_memory {
    tr_platform platform;
    size_t bytes;    /* Out now. */
    size_t blocks;   /* Out now. */
    size_t requests; /* For memory, refused ones included. */
    size_t fail_at;  /* The request that is refused, counted from 1; 0 for none. */
    bool fail_all;
};

enum {
    FAKE_MEMORY_HEADER = 16,
    FAKE_MEMORY_GARBAGE = 0xa5,
    /* More than this is never there, so that huge sizes do not try the machine. */
    FAKE_MEMORY_MAX = 1 << 30,
};

static inline void *fake_memory_resize(const tr_platform *platform, void *memory, size_t size)
{
    struct fake_memory *fake = (struct fake_memory *)(uintptr_t)platform;
    char *old = memory ? (char *)memory - FAKE_MEMORY_HEADER : NULL;
    size_t old_size = 0;
    if (old)
        memcpy(&old_size, old, sizeof old_size);

    char *resized = NULL;
    if (size > 0) {
        fake->requests++;
        if (fake->fail_all || fake->requests == fake->fail_at || size > FAKE_MEMORY_MAX)
            return NULL;
        resized = malloc(FAKE_MEMORY_HEADER + size);
        if (!resized)
            return NULL;
        memcpy(resized, &size, sizeof size);
        memset(resized + FAKE_MEMORY_HEADER, FAKE_MEMORY_GARBAGE, size);
        if (old)
            memcpy(resized + FAKE_MEMORY_HEADER, memory, old_size < size ? old_size : size);
        fake->bytes += size;
        fake->blocks++;
    }
    if (old) {
        fake->bytes -= old_size;
        fake->blocks--;
        free(old);
    }
    return resized ? resized + FAKE_MEMORY_HEADER : NULL;
}

/** Makes a fake of which everything may be taken, and the source that leads to it. */
static inline struct memory_source fake_memory_init(struct fake_memory *fake)
{
    *fake = (struct fake_memory){
        .platform = {.size = sizeof(tr_platform), .resize = fake_memory_resize}};
    return (struct memory_source){.platform = &fake->platform};
}

/** The next number of a sequence that `state` determines (splitmix64). */
static inline uint64_t fake_random(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

/** Whether all bytes have the value. */
static inline bool fake_memory_is_full_of(const void *memory, size_t size, unsigned char value)
{
    const unsigned char *bytes = memory;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != value)
            return false;
    }
    return true;
}

#endif
