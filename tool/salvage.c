/* SPDX-License-Identifier: Apache-2.0 */
#include "salvage.h"

#include <inttypes.h>
#include <stdio.h>

#include "command.h"
#include "observe/key_text.h"
#include "observe/offline.h"

static void on_lost(void *context, const char *kind, tr_bytes key)
{
    const bool *is_json = context;
    char text[3 * TR_KEY_MAX + 1];
    char line[6 * (sizeof text + TR_NAME_MAX) + 64];
    tr__key_write(key, text, sizeof text);
    if (*is_json) { /* each member begins with a comma */
        size_t length = member_add(line, sizeof line, 0, "lost_kind", kind);
        length = member_add(line, sizeof line, length, "lost_key", text);
        printf("{%.*s}\n", (int)length - 1, line + 1);
        return;
    }
    printf("lost: ");
    text_print(kind);
    printf(" \"");
    text_print(text);
    printf("\"\n");
}

static void print_text(const struct offline_salvage *report, const char *into)
{
    printf(
        "%" PRIu64 " actors are in %s, %" PRIu64 " are lost\n", report->copied, into, report->lost);
    if (report->older)
        printf("%" PRIu64 " of them are older: what the log had of them is missing\n",
               report->older);
    if (report->gaps)
        printf(
            "%" PRIu64
            " parts of the table of actors cannot be read; which actors were there is not known\n",
            report->gaps);
    if (!report->is_log_whole)
        printf("the log is damaged: what was stored after the damage is missing\n");
}

int salvage_run(const char *directory, const char *into, bool is_json)
{
    tr_error error = {.status = TR_OK};
    struct offline_salvage report;
    if (!directory) {
        fprintf(stderr,
                "troupe: store salvage needs --store DIR, the directory of a program that does not "
                "run: troupe --store ./bank.data store salvage ./bank.saved\n");
        return EXIT_USAGE;
    }
    tr_status status = tr__offline_salvage(directory, into, &report, on_lost, &is_json, &error);
    if (status != TR_OK) {
        fprintf(stderr,
                "troupe: not salvaged: %s (%s)\n",
                error.text[0] ? error.text : tr_status_text(status),
                tr_status_name(status));
        return status == TR_STORE_BUSY ? EXIT_NO_PROGRAM : EXIT_REFUSED;
    }
    if (is_json)
        printf("{\"copied\":%" PRIu64 ",\"older\":%" PRIu64 ",\"lost\":%" PRIu64
               ",\"gaps\":%" PRIu64 ",\"is_log_whole\":%s}\n",
               report.copied,
               report.older,
               report.lost,
               report.gaps,
               report.is_log_whole ? "true" : "false");
    else
        print_text(&report, into);
    return report.lost || report.gaps || !report.is_log_whole ? EXIT_REFUSED : EXIT_OK;
}
