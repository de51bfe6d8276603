/* SPDX-License-Identifier: Apache-2.0 */
#include "care.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Sends one request and waits for its answer. Returns whether it was done. */
static bool request(const struct care *care, FILE *out, FILE *in, const char *verb,
                    const char *text)
{
    static char line[4096];
    fprintf(out, "{\"id\":1,\"do\":\"%s\",\"text\":\"%s\",\"may\":true}\n", verb, text);
    fflush(out);
    while (fgets(line, sizeof line, in)) {
        if (strstr(line, "\"ok\":") || strstr(line, "\"no\":")) {
            if (strstr(line, "\"no\":") && !atomic_load(&care->ends))
                fprintf(stderr, "work: %s: %s", verb, line);
            return strstr(line, "\"ok\":") != NULL;
        }
    }
    return false;
}

static void remove_copy(const struct care *care, uint64_t number)
{
    static const char *const names[] = {"/lock", "/troupe.db", "/troupe.db-log", ""};
    char path[400];
    mark("X %" PRIu64, number);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/copy%" PRIu64 "%s", care->root, number, names[i]);
        if (names[i][0] ? unlink(path) : rmdir(path))
            die(path, TR_NOT_FOUND);
    }
}

void *care_main(void *context)
{
    struct care *care = context;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", care->socket);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        die("control socket", TR_NOT_FOUND);
    FILE *in = fdopen(fd, "r"), *out = fdopen(dup(fd), "w");
    char path[400];
    uint64_t kept = 0;
    if (!fgets(path, sizeof path, in)) /* it says who it is */
        die("control socket", TR_NO_REPLY);
    for (unsigned i = 0; i < care->limit && !atomic_load(&care->ends); i++) {
        uint64_t number = ++care->copy_count;
        snprintf(path, sizeof path, "%s/copy%" PRIu64, care->root, number);
        mark("B %" PRIu64, number);
        if (!request(care, out, in, "store backup", path))
            break;
        mark("D %" PRIu64, number);
        if (kept)
            remove_copy(care, kept);
        kept = number;
        if (!request(care, out, in, "store compact", ""))
            break;
    }
    fclose(in);
    fclose(out);
    return NULL;
}
