/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The server of bench/http/hibernate: examples/41_room with an allocator that counts its memory. For each line of its
 * input it prints what is allocated now: a line with site, bytes and number of blocks for each site, then "end".
 *
 * A site is where the library asks for memory: an address of this program, for addr2line. The bytes of a block are those that the
 * allocator gives, with the 8 bytes that it keeps in front of each. Cells and channels are in large blocks that are never freed, so
 * the first line has what one connection uses there: a cell, and a channel.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define main room_main
int room_main(int argc, char **argv);
#include "../../examples/41_room/room.c"
#undef main

#include "actor/cell/cell.h"
#include "net/channel.h"

enum { BLOCKS = 1 << 21, SITES = 1 << 12, BLOCK_HEAD = 8 };

struct block {
    void *memory;
    uint32_t site;
};

struct site {
    char *at; /* return address */
    long bytes;
    long count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks; /* open addressing, without a mark for removed ones: see forget */
static struct site sites[SITES];

static uint32_t home_of(const void *memory)
{
    return (uint32_t)(((uintptr_t)memory >> 4) * 0x9e3779b97f4a7c15u >> 43);
}

static uint32_t site_of(char *at)
{
    uint32_t place = (uint32_t)((uintptr_t)at % SITES);
    while (sites[place].at && sites[place].at != at)
        place = (place + 1) % SITES;
    sites[place].at = at;
    return place;
}

static void count(const struct block *block, int sign)
{
    struct site *site = &sites[block->site];
    site->bytes += sign * (long)(malloc_usable_size(block->memory) + BLOCK_HEAD);
    site->count += sign;
}

static void note(void *memory, char *at)
{
    uint32_t place = home_of(memory);
    while (blocks[place].memory)
        place = (place + 1) % BLOCKS;
    blocks[place] = (struct block){memory, site_of(at)};
    count(&blocks[place], 1);
}

static void forget(const void *memory)
{
    uint32_t hole = home_of(memory);
    while (blocks[hole].memory != memory)
        hole = (hole + 1) % BLOCKS;
    count(&blocks[hole], -1);
    /* Blocks behind the hole, which collisions put there, move into it. */
    for (uint32_t place = (hole + 1) % BLOCKS; blocks[place].memory; place = (place + 1) % BLOCKS) {
        uint32_t home = home_of(blocks[place].memory);
        if ((place - home) % BLOCKS < (place - hole) % BLOCKS)
            continue;
        blocks[hole] = blocks[place];
        hole = place;
    }
    blocks[hole].memory = NULL;
}

static void *resize(void *context, void *memory, size_t size)
{
    const tr_platform *real = tr_platform_real();
    char *at = __builtin_return_address(0);
    (void)context;
    pthread_mutex_lock(&lock);
    if (memory)
        forget(memory);
    void *resized = real->resize(real, memory, size);
    if (resized)
        note(resized, at);
    else if (memory && size)
        note(memory, at);
    pthread_mutex_unlock(&lock);
    return resized;
}

static void *print_sites(void *unused)
{
    extern char __executable_start;
    char line[16];
    while (fgets(line, sizeof line, stdin)) {
        pthread_mutex_lock(&lock);
        printf("records %zu 2\n", sizeof(struct cell) + sizeof(struct channel));
        for (uint32_t i = 0; i < SITES; i++) {
            if (sites[i].count)
                printf("%tx %ld %ld\n",
                       sites[i].at - &__executable_start,
                       sites[i].bytes,
                       sites[i].count);
        }
        pthread_mutex_unlock(&lock);
        printf("end\n");
        fflush(stdout);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t printer;
    blocks = calloc(BLOCKS, sizeof *blocks);
    if (!blocks || pthread_create(&printer, NULL, print_sites, NULL) != 0)
        return 1;
    return tr_app_main(argc, argv, app, .durable = TR_DURABLES(room), .system = {.resize = resize});
}
