/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the parser of commands of example 28: bytes that come at once and in random portions give the same commands.
 * The first byte seeds the portions.
 */
#include <stdlib.h>

#include "base/rng.h"

#include "../examples/28_resp/resp.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static struct resp_command once;
static struct resp_command later;

/* Parses in memory that ends behind the bytes; words become offsets. */
static enum resp_status parse(const uint8_t *data, size_t size, struct resp_command *command)
{
    char *copy = malloc(size + (size == 0));
    require(copy != NULL);
    memcpy(copy, data, size);
    enum resp_status status = resp_parse((tr_bytes){copy, size}, command);
    require(status != RESP_COMPLETE || (command->size > 0 && command->size <= size));
    require((status == RESP_BROKEN) == (command->error != NULL));
    for (size_t i = 0; i < command->count; i++) {
        size_t offset = (size_t)((const char *)command->words[i].data - copy);
        require(offset <= size && command->words[i].size <= size - offset);
        command->words[i].data = data + offset;
    }
    free(copy);
    return status;
}

/* Words as patterns: the search must end, and a star matches all. */
static void check_words(const struct resp_command *command)
{
    int64_t number;
    for (size_t i = 0; i < command->count; i++) {
        tr_bytes word = command->words[i];
        (void)resp_number(word, &number);
        (void)resp_matches(word, command->words[command->count - 1]);
        require(resp_matches((tr_bytes){"*", 1}, word));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct rng rng;
    rng_init(&rng, data[0]);
    data++;
    size--;
    size_t come = 0;
    for (size_t begin = 0;;) {
        enum resp_status status = parse(data + begin, size - begin, &once);
        enum resp_status status_later = parse(data + begin, come - begin, &later);
        while (status_later == RESP_INCOMPLETE && come < size) {
            come += 1 + rng_below(&rng, size - come < 7 ? size - come : 7);
            status_later = parse(data + begin, come - begin, &later);
        }
        require(status == status_later);
        if (status != RESP_COMPLETE)
            return 0;
        require(once.size == later.size && once.count == later.count);
        for (size_t i = 0; i < once.count; i++)
            require(once.words[i].data == later.words[i].data &&
                    once.words[i].size == later.words[i].size);
        check_words(&once);
        begin += once.size;
    }
}
