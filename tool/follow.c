/* SPDX-License-Identifier: Apache-2.0 */
/** -f: commands that print new records as they come. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "command.h"

void follow_note(const struct json *answer, struct place *place)
{
    int64_t missed = json_number(answer, "missed");
    place->last = json_number(answer, "total");
    if (missed && place->is_known) {
        (void)fflush(stdout);
        fprintf(stderr,
                "troupe: at most %" PRId64
                " records came faster than they were read, and are not shown\n",
                missed);
    }
    place->is_known = true;
}

int follow_run(struct connection *connection, const struct options *options)
{
    struct options asked = *options;
    struct place place = {0};
    struct timespec pause = {0, 200 * 1000 * 1000};
    for (;;) {
        char extra[64];
        snprintf(extra, sizeof extra, ",\"after\":%" PRId64, place.last);
        if (!command_send(connection, &asked, asked.verb, NULL, extra))
            return EXIT_LOST;
        int code = answer_print(connection, &asked, &place);
        asked.limit =
            "1000000"; /* the limit of the user is for what was there before; all that comes later is shown */
        if (code != EXIT_OK)
            return code;
        if (fflush(stdout) != 0)
            return EXIT_OK;
        (void)nanosleep(&pause, NULL);
    }
}
