/* SPDX-License-Identifier: Apache-2.0 */
/** Fuzzes the reader of the header traceparent: what it takes is written the same way again, but for later versions. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/wire_fuzz.h"
#include "http/trace_parent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_parent parent;
    struct trace_parent again;
    char written[TRACE_PARENT_SIZE];
    char *text = malloc(size + 1);
    if (!text)
        abort();
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (tr__trace_parent_read(text, &parent)) {
        tr__trace_parent_write(&parent, written);
        require(strlen(written) == TRACE_PARENT_SIZE - 1);
        require(tr__trace_parent_read(written, &again));
        require(again.trace_high == parent.trace_high && again.trace_low == parent.trace_low);
        require(again.span == parent.span && again.is_sampled == parent.is_sampled);
        require(memcmp(written + 3, text + 3, 50) == 0);
    }
    free(text);
    return 0;
}
