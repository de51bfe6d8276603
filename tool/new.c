/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files come from tool/templates, which cmake/templates.cmake turns into templates.inc. Those of "common" are in every
 * project. Of a path that "common" and the kind both have, the part of the kind follows. "NAME" in a path, and @NAME@ in a
 * text, become the name of the project; a path that begins with "dot-" gets a dot. First lines with a license of this
 * library are left out, because the project belongs to its author.
 */
#include "new.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct template
{
    const char *kind;
    const char *path;
    const char *text;
};

#include "templates.inc"

enum { NAME_MAX_BYTES = 60, TEMPLATE_COUNT = sizeof templates / sizeof *templates };

/* A kind of project. */
struct kind {
    const char *name; /* of its directory in tool/templates */
    const char *text;
    const char *next; /* what to try after `make test` */
};

static const struct kind kinds[] = {
    {"service",
     "a durable service with HTTP",
     "make run        # then: curl -d '{\"cents\":500}' "
     "localhost:8080/actors/account/anna/deposit"},
    {"durable", "a durable actor", "make run ARGS=\"anna\""},
    {"http",
     "a JSON API over HTTP",
     "make run        # then: curl localhost:8080/notes -d '{\"text\":\"buy tea\"}'"},
    {"minimal", "one actor", "make run ARGS=\"40 2\""},
};

/* Returns why a name is refused, or NULL. It becomes the name of a directory, a program, a target of CMake and a user. */
static const char *name_error(const char *name)
{
    static const char *const reserved[] = {
        "all", "clean", "help", "install", "package", "test", "edit_cache", "rebuild_cache"};
    if (!*name || strlen(name) > NAME_MAX_BYTES)
        return "a name has 1 to 60 characters";
    if (!islower((unsigned char)*name))
        return "a name begins with a letter from a to z";
    for (const char *at = name; *at; at++) {
        if (!islower((unsigned char)*at) && !isdigit((unsigned char)*at) && *at != '-' &&
            *at != '_')
            return "a name has letters from a to z, digits, - and _ only";
    }
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        if (strcmp(name, reserved[i]) == 0)
            return "this name means something else to make and CMake; take another one";
    }
    return NULL;
}

static int complain(const char *name, const char *why, int code)
{
    fprintf(stderr, "troupe: cannot make the project \"%s\": %s\n", name, why);
    return code;
}

/* Finds the kind that the options choose. NULL: several. */
static const struct kind *kind_of(const struct options *options)
{
    size_t at = options->is_durable ? 1 : options->is_http ? 2 : options->is_minimal ? 3 : 0;
    if (options->is_durable + options->is_http + options->is_minimal > 1)
        return NULL;
    return &kinds[at];
}

/* Writes the path of a template below the directory of the project. */
static void path_write(char *path, size_t size, const char *name, const char *from)
{
    bool has_dot = strncmp(from, "dot-", 4) == 0;
    const char *rest = has_dot ? from + 4 : from;
    bool has_name = strncmp(rest, "NAME", 4) == 0;
    snprintf(path,
             size,
             "%s/%s%s%s",
             name,
             has_dot ? "." : "",
             has_name ? name : "",
             has_name ? rest + 4 : rest);
}

/* Writes a text with the name of the project in place of each @NAME@. False: errno says why not. */
static bool text_write(FILE *file, const char *text, const char *name)
{
    static const char mark[] = "@NAME@";
    size_t line = strcspn(text, "\n");
    const char *license = strstr(text, "SPDX-License-Identifier");
    if (license && (size_t)(license - text) < line)
        text += line + 1;
    for (const char *found; (found = strstr(text, mark)); text = found + strlen(mark)) {
        if (fprintf(file, "%.*s%s", (int)(found - text), text, name) < 0)
            return false;
    }
    return fputs(text, file) >= 0;
}

/* Makes the directories above a file. False: errno says why not. */
static bool parents_make(char *path)
{
    for (char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        bool is_there = mkdir(path, 0777) == 0 || errno == EEXIST;
        *at = '/';
        if (!is_there)
            return false;
    }
    return true;
}

/* Writes one file, or appends to it. False: errno says why not. */
static bool file_write(const struct template *template, const char *name)
{
    char path[PATH_MAX];
    path_write(path, sizeof path, name, template->path);
    if (!parents_make(path))
        return false;
    FILE *file = fopen(path, "a");
    if (!file)
        return false;
    bool is_written = text_write(file, template->text, name);
    return fclose(file) == 0 && is_written;
}

/* Removes what file_write has made, whether or not it was complete. */
static void project_remove(const struct kind *kind, const char *name)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < TEMPLATE_COUNT; i++) {
        if (strcmp(templates[i].kind, "common") != 0 && strcmp(templates[i].kind, kind->name) != 0)
            continue;
        path_write(path, sizeof path, name, templates[i].path);
        (void)unlink(path);
    }
    /* Directories that are empty now, the deepest ones first. */
    for (size_t i = 0; i < TEMPLATE_COUNT; i++) {
        path_write(path, sizeof path, name, templates[i].path);
        for (char *at; (at = strrchr(path, '/'));) {
            *at = '\0';
            if (rmdir(path) != 0)
                break;
        }
    }
    (void)rmdir(name);
}

/* Writes all files: first the common ones. False: errno says why not. */
static bool project_write(const struct kind *kind, const char *name)
{
    const char *order[] = {"common", kind->name};
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < TEMPLATE_COUNT; j++) {
            if (strcmp(templates[j].kind, order[i]) == 0 && !file_write(&templates[j], name))
                return false;
        }
    }
    return true;
}

int new_run(const struct options *options)
{
    const char *name = options->arguments[0];
    const struct kind *kind = kind_of(options);
    const char *error = name_error(name);
    if (error)
        return complain(name, error, EXIT_USAGE);
    if (!kind)
        return complain(name, "give one of --durable, --http and --minimal", EXIT_USAGE);
    if (options->program || options->store)
        return complain(name, "-p and --store belong to other commands", EXIT_USAGE);
    if (mkdir(name, 0777) != 0)
        return complain(
            name, errno == EEXIST ? "it exists already" : strerror(errno), EXIT_REFUSED);
    if (!project_write(kind, name)) {
        int reason = errno;
        project_remove(kind, name);
        return complain(name, strerror(reason), EXIT_REFUSED);
    }
    if (options->is_json)
        printf("{\"project\":\"%s\",\"kind\":\"%s\"}\n", name, kind->name);
    else
        printf("%s: %s\n\n    cd %s\n    make test\n    %s\n", name, kind->text, name, kind->next);
    return EXIT_OK;
}
