/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the flags of an app: NUL separates arguments.
 */
#include <stdlib.h>
#include <string.h>

#include "app/flags.h"

#include <troupe/limits.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARGUMENTS_MAX = 64 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    char **argv = malloc(ARGUMENTS_MAX * sizeof *argv);
    require(text && argv);
    memcpy(text, data, size);
    text[size] = '\0';
    int argc = 0;
    for (char *at = text; at <= text + size && argc < ARGUMENTS_MAX; at += strlen(at) + 1)
        argv[argc++] = at;

    /* Exactly as much room as is promised to be enough, for the sanitizer to watch. */
    const char **rest = malloc((size_t)argc * sizeof *rest);
    require(rest);
    struct flags flags = {.workers = -1};
    char error[FLAGS_ERROR_SIZE];
    memset(error, 'x', sizeof error);
    if (tr__flags_parse(argc, argv, true, &flags, rest, error) == TR_OK) {
        require(flags.workers >= 0 && flags.workers <= TR_WORKERS_MAX);
        require(flags.rest_count <= (size_t)argc);
        require(flags.rest_count >= 1 && rest[0] == argv[0]);
        int last = -1; /* What is left keeps its order. */
        for (size_t i = 0; i < flags.rest_count; i++) {
            int now = last + 1;
            while (now < argc && argv[now] != rest[i])
                now++;
            require(now < argc);
            last = now;
        }
    } else {
        require(flags.workers == -1);
        require(memchr(error, '\0', sizeof error) != NULL);
    }
    free(rest);
    free(argv);
    free(text);
    return 0;
}
