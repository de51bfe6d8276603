/* SPDX-License-Identifier: Apache-2.0 */
#include "compact.h"

#include <inttypes.h>
#include <stdio.h>

#include "command.h"
#include "observe/offline.h"

int compact_run(const char *directory, bool is_json)
{
    tr_error error = {.status = TR_OK};
    uint64_t before = 0;
    uint64_t after = 0;
    tr_status status = tr__offline_compact(directory, &before, &after, &error);
    if (status != TR_OK) {
        fprintf(stderr,
                "troupe: not compacted: %s (%s)\n",
                error.text[0] ? error.text : tr_status_text(status),
                tr_status_name(status));
        return status == TR_STORE_BUSY || status == TR_NOT_FOUND ? EXIT_NO_PROGRAM : EXIT_REFUSED;
    }
    if (is_json)
        printf("{\"bytes_before\":%" PRIu64 ",\"bytes_after\":%" PRIu64 "}\n", before, after);
    else
        printf("%" PRIu64 " bytes before, %" PRIu64 " bytes now\n", before, after);
    return EXIT_OK;
}
