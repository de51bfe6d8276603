/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

enum { HEAD_MAX = 8192 };

/* Reads the line "name value" of the head of a record. Returns false if there is none, or it does not fit. */
static bool line_read(FILE *file, const char *name, char *value, size_t size)
{
    char line[HEAD_MAX];
    size_t length = strlen(name);
    if (!fgets(line, sizeof line, file) || strncmp(line, name, length) != 0 || line[length] != ' ')
        return false;
    line[strcspn(line, "\n")] = '\0';
    return snprintf(value, size, "%s", line + length + 1) < (int)size;
}

int replay_run(const char *path, bool uses_gdb, bool is_json)
{
    char version[16];
    char program[HEAD_MAX];
    char handler[256];
    char stop[300];
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "troupe: cannot read %s: %s\n", path, strerror(errno));
        return EXIT_USAGE;
    }
    bool is_record = line_read(file, "troupe-record", version, sizeof version) &&
                     line_read(file, "program", program, sizeof program) &&
                     line_read(file, "handler", handler, sizeof handler) && program[0] == '/';
    (void)fclose(file);
    if (!is_record) {
        fprintf(stderr, "troupe: %s is no record of a turn\n", path);
        return EXIT_USAGE;
    }
    snprintf(stop, sizeof stop, "break %s", handler);
    if (uses_gdb)
        execlp("gdb",
               "gdb",
               "-q",
               "-ex",
               stop,
               "-ex",
               "run",
               "--args",
               program,
               "--replay",
               path,
               (char *)NULL);
    else
        execl(program, program, "--replay", path, is_json ? "--as-json" : NULL, (char *)NULL);
    fprintf(stderr, "troupe: cannot start %s: %s\n", uses_gdb ? "gdb" : program, strerror(errno));
    return EXIT_NO_PROGRAM;
}
