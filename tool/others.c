/* SPDX-License-Identifier: Apache-2.0 */
#include "others.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

int rehearse_run(const char *program, const char *directory, bool is_json)
{
    char path[1024];
    /* A name without a slash is a file here, as in the other arguments, and not one of $PATH. */
    if (snprintf(path, sizeof path, "%s%s", strchr(program, '/') ? "" : "./", program) <
        (int)sizeof path)
        execl(path, path, "--rehearse", directory, is_json ? "--as-json" : NULL, (char *)NULL);
    else
        errno = ENAMETOOLONG;
    fprintf(stderr, "troupe: cannot start %s: %s\n", program, strerror(errno));
    return EXIT_NO_PROGRAM;
}

int bench_run(const struct options *options)
{
    static const char name[] = "troupe-bench";
    char path[1024];
    if (options->is_json && !options->argument_count) {
        fprintf(stderr, "troupe: bench --json needs a workload; without --json they are listed\n");
        return EXIT_USAGE;
    }
    const char *workload = options->argument_count > 0 ? options->arguments[0] : "--help";
    const char *threads = options->argument_count > 1   ? options->arguments[1]
                          : options->argument_count > 0 ? "1"
                                                        : NULL;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof name);
    if (length > 0) {
        path[length] = '\0';
        char *slash = strrchr(path, '/');
        memcpy(slash ? slash + 1 : path, name, sizeof name);
        execl(path, name, workload, threads, (char *)NULL);
    }
    execlp(name, name, workload, threads, (char *)NULL);
    fprintf(stderr,
            "troupe: %s is not installed: it is built with the library, beside this program (%s)\n",
            name,
            strerror(errno));
    return EXIT_NO_PROGRAM;
}
