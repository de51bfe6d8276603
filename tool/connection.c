/* SPDX-License-Identifier: Apache-2.0 */
#include "connection.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "observe/offline.h"

enum { LINE_MAX_BYTES = 64 * 1024 * 1024, SECONDS_MAX = 90 };

/* Connects to a socket. With SOCK_NONBLOCK it does not wait: EAGAIN. Returns -1 with errno. */
static int socket_connect(const char *path, int flags)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (fd < 0)
        return -1;
    struct timeval limit = {.tv_sec = SECONDS_MAX};
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    int error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

/* Reads "<app>.<pid>.sock". Returns false if the name is another one. */
static bool name_parse(const char *name, struct program *program)
{
    const char *suffix = strrchr(name, '.');
    if (!suffix || strcmp(suffix, ".sock") != 0)
        return false;
    const char *dot = suffix;
    while (dot > name && dot[-1] >= '0' && dot[-1] <= '9')
        dot--;
    if (dot == suffix || dot == name || dot[-1] != '.')
        return false;
    size_t length = (size_t)(dot - 1 - name);
    if (!length || length >= sizeof program->app)
        return false;
    memcpy(program->app, name, length);
    program->app[length] = '\0';
    program->pid = atoi(dot);
    return true;
}

/* Whether a process has ended. One of another user has not. */
static bool has_ended(int pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

/* Whether a program belongs to the user of the tool. For root: to the owner of the process that the socket names. */
static bool is_trusted(const struct program *program, uid_t uid)
{
    char path[32];
    struct stat process;
    if (geteuid() != 0)
        return uid == geteuid();
    (void)snprintf(path, sizeof path, "/proc/%d", program->pid);
    return stat(path, &process) == 0 && process.st_uid == uid;
}

/* Whether a process of this program listens at the socket. The file says whose it is if too many clients wait. */
static bool does_answer(const struct program *program, bool may_unlink)
{
    struct ucred peer = {.uid = program->file.st_uid};
    socklen_t size = sizeof peer;
    int fd = socket_connect(program->path, SOCK_NONBLOCK);
    if (fd >= 0) {
        bool is_known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
        (void)close(fd);
        return is_known && is_trusted(program, peer.uid);
    }
    /* Its program has ended without removing it. One that starts does not answer yet either. */
    if (errno == ECONNREFUSED && may_unlink && has_ended(program->pid))
        (void)unlink(program->path);
    return errno == EAGAIN && is_trusted(program, peer.uid);
}

/* Adds the program of a socket, if one answers there and it is not there yet. */
static void program_add(const char *path, bool may_unlink, struct program *programs, size_t *count)
{
    struct program *program = &programs[*count];
    const char *slash = strrchr(path, '/');
    if (*count == PROGRAMS_MAX || path[0] != '/' || !name_parse(slash + 1, program) ||
        snprintf(program->path, sizeof program->path, "%s", path) >= (int)sizeof program->path ||
        stat(path, &program->file) != 0)
        return;
    for (size_t i = 0; i < *count; i++) {
        if (programs[i].file.st_dev == program->file.st_dev &&
            programs[i].file.st_ino == program->file.st_ino)
            return;
    }
    *count += does_answer(program, may_unlink);
}

/* Adds the programs whose sockets are in a directory. */
static void directory_search(const char *path, struct program *programs, size_t *count)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory && *count < PROGRAMS_MAX && (entry = readdir(directory))) {
        char socket[512];
        if (snprintf(socket, sizeof socket, "%s/%s", path, entry->d_name) < (int)sizeof socket)
            program_add(socket, true, programs, count);
    }
    if (directory)
        (void)closedir(directory);
}

/* Adds the programs whose sockets are elsewhere, such as in the directory of a store: the system knows all sockets. */
static void system_search(struct program *programs, size_t *count)
{
    FILE *file = fopen("/proc/net/unix", "re");
    char *line = NULL;
    size_t capacity = 0;
    while (file && getline(&line, &capacity, file) > 0) {
        int at = 0;
        line[strcspn(line, "\n")] = '\0';
        (void)sscanf(line, "%*s %*s %*s %*s %*s %*s %*s %n", &at);
        /* Anybody can have a socket of such a name anywhere: it is not removed. */
        if (at)
            program_add(line + at, false, programs, count);
    }
    free(line);
    if (file)
        (void)fclose(file);
}

/* Services have directories of their own: /run/NAME/troupe. Those that may not be read are left out. */
static void services_search(struct program *programs, size_t *count)
{
    char path[400];
    DIR *directory = opendir("/run");
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        if (entry->d_name[0] != '.' &&
            snprintf(path, sizeof path, "/run/%s/troupe", entry->d_name) < (int)sizeof path)
            directory_search(path, programs, count);
    }
    if (directory)
        (void)closedir(directory);
}

size_t programs_find(struct program *programs)
{
    char path[400];
    size_t count = 0;
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (runtime && *runtime && snprintf(path, sizeof path, "%s/troupe", runtime) < (int)sizeof path)
        directory_search(path, programs, &count);
    directory_search("/run/troupe", programs, &count);
    services_search(programs, &count);
    snprintf(path, sizeof path, "/tmp/troupe-%u", (unsigned)geteuid());
    directory_search(path, programs, &count);
    system_search(programs, &count);
    return count;
}

/* Appends to a sentence; what does not fit is cut. */
static void why_add(char why[FOUND_WHY_SIZE], const char *format, ...)
{
    size_t length = strlen(why);
    va_list list;
    va_start(list, format);
    (void)vsnprintf(why + length, FOUND_WHY_SIZE - length, format, list);
    va_end(list);
}

/* Says why no program, or more than one, is meant. */
static void why_write(const char *which, const struct program *programs, size_t count,
                      size_t matches, char why[FOUND_WHY_SIZE])
{
    why[0] = '\0';
    if (!matches && which)
        why_add(why, "no running program is called %s", which);
    else if (!matches)
        why_add(why, "no running program was found; -p PATH names the socket of one");
    else
        why_add(why, "%zu programs run; name one with -p PID:", matches);
    for (size_t i = 0; matches && i < count; i++) {
        if (!which || strcmp(which, programs[i].app) == 0)
            why_add(why, "\n  %d %s", programs[i].pid, programs[i].app);
    }
}

bool program_find(const char *which, char *path, size_t size, char why[FOUND_WHY_SIZE])
{
    static struct program programs[PROGRAMS_MAX];
    const struct program *found = NULL;
    size_t matches = 0;
    if (which && strchr(which, '/')) {
        snprintf(path, size, "%s", which);
        return true;
    }
    size_t count = programs_find(programs);
    for (size_t i = 0; i < count; i++) {
        char pid[16];
        snprintf(pid, sizeof pid, "%d", programs[i].pid);
        if (which && strcmp(which, pid) != 0 && strcmp(which, programs[i].app) != 0)
            continue;
        found = &programs[i];
        matches++;
    }
    if (matches == 1)
        snprintf(path, size, "%s", found->path);
    else
        why_write(which, programs, count, matches, why);
    return matches == 1;
}

bool connection_open(struct connection *connection, const char *which)
{
    char path[512];
    const char *text;
    size_t length;
    *connection = (struct connection){.fd = -1};
    char why[FOUND_WHY_SIZE];
    if (!program_find(which, path, sizeof path, why)) {
        fprintf(stderr, "troupe: %s\n", why);
        return false;
    }
    connection->fd = socket_connect(path, 0);
    if (connection->fd < 0) {
        fprintf(stderr, "troupe: cannot connect to %s: %s\n", path, strerror(errno));
        return false;
    }
    connection->greeting = connection_receive(connection, &text, &length);
    if (json_number(connection->greeting, "troupe") == 1)
        return true;
    fprintf(stderr,
            "troupe: %s: %s\n",
            path,
            json_text(connection->greeting, "why", "no program of Troupe answers there"));
    connection_close(connection);
    return false;
}

bool connection_open_store(struct connection *connection, const char *directory)
{
    tr_error error = {.status = TR_OK};
    const char *text;
    size_t length;
    *connection = (struct connection){.fd = -1};
    if (tr__offline_open(directory, &connection->offline, &error) != TR_OK) {
        fprintf(stderr, "troupe: %s\n", error.text);
        return false;
    }
    connection->greeting = connection_receive(connection, &text, &length);
    return connection->greeting != NULL;
}

void connection_close(struct connection *connection)
{
    if (connection->offline)
        tr__offline_close(connection->offline);
    if (connection->fd >= 0)
        (void)close(connection->fd);
    json_free(connection->greeting);
    free(connection->input);
    *connection = (struct connection){.fd = -1};
}

bool connection_send(struct connection *connection, const char *line, size_t length)
{
    if (connection->offline)
        return tr__offline_send(connection->offline, line, length) == length;
    while (length) {
        ssize_t sent = send(connection->fd, line, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        line += sent;
        length -= (size_t)sent;
    }
    return true;
}

/* Reads more. Returns false at the end. */
static bool input_fill(struct connection *connection)
{
    if (connection->input_size == connection->input_capacity) {
        size_t capacity = connection->input_capacity ? connection->input_capacity * 2 : 65536;
        char *input = capacity <= LINE_MAX_BYTES ? realloc(connection->input, capacity) : NULL;
        if (!input)
            return false;
        connection->input = input;
        connection->input_capacity = capacity;
    }
    ssize_t got = 0;
    size_t space = connection->input_capacity - connection->input_size;
    char *to = connection->input + connection->input_size;
    if (connection->offline)
        got = (ssize_t)tr__offline_receive(connection->offline, to, space);
    else
        do
            got = read(connection->fd, to, space);
        while (got < 0 && errno == EINTR);
    if (got <= 0)
        return false;
    connection->input_size += (size_t)got;
    return true;
}

/* Receives a line, whatever it says. */
static struct json *line_receive(struct connection *connection, const char **text, size_t *length)
{
    static char *line; /* the last one, which `text` and the tree point to */
    char *end;
    size_t seen = 0;
    while (!(end = connection->input_size > seen
                       ? memchr(connection->input + seen, '\n', connection->input_size - seen)
                       : NULL)) {
        seen = connection->input_size;
        if (!input_fill(connection))
            return NULL;
    }
    *length = (size_t)(end - connection->input);
    free(line);
    line = strndup(connection->input, *length);
    connection->input_size -= *length + 1;
    memmove(connection->input, end + 1, connection->input_size);
    *text = line;
    return line ? json_read(line, *length) : NULL;
}

/* Says to a person how far the program is. Others only need to know that it is alive. */
static void progress_print(const struct json *progress)
{
    int64_t total = json_number(progress, "bytes_total");
    if (!isatty(STDERR_FILENO) || json_number(progress, "for_ms") < 1000)
        return;
    fprintf(stderr, "\r%" PRId64 " s", json_number(progress, "for_ms") / 1000);
    if (total)
        fprintf(stderr,
                ", %" PRId64 " of %" PRId64 " MiB ",
                json_number(progress, "bytes") >> 20,
                total >> 20);
    if (json_get(progress, "actors"))
        fprintf(stderr, ", %" PRId64 " actors ", json_number(progress, "actors"));
    if (json_get(progress, "items"))
        fprintf(stderr, ", %" PRId64 " items ", json_number(progress, "items"));
}

struct json *connection_receive(struct connection *connection, const char **text, size_t *length)
{
    bool has_printed = false;
    for (;;) {
        struct json *line = line_receive(connection, text, length);
        const struct json *progress = json_get(line, "progress");
        if (!progress || json_get(line, "part") || json_get(line, "ok")) {
            if (has_printed && isatty(STDERR_FILENO))
                fprintf(stderr, "\r\033[K");
            return line;
        }
        progress_print(progress);
        has_printed = true;
        json_free(line);
    }
}
