/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files come from tool/templates, which cmake/templates.cmake turns into templates.inc. Those of "common" are in every
 * project. Of a path that "common" and the kind both have, the part of the kind follows. "NAME" in a path, and @NAME@ in a
 * text, become the name of the project; a path that begins with "dot-" gets a dot. @IMAGE@ and @SLIM@ become the images of
 * this machine's distribution, because packages that were made here can be installed there. First lines with a license of
 * this library are left out, because the project belongs to its author.
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

enum { NAME_MAX_BYTES = 60, TEMPLATE_COUNT = sizeof templates / sizeof *templates, MARK_COUNT = 3 };

/* What stands in a template, and what becomes of it. */
struct mark {
    const char *name;
    char text[NAME_MAX_BYTES + 1];
};

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

/* Copies the value of a line KEY=value or KEY="value" of /etc/os-release. False: this is another line, or the value is none for an image. */
static bool release_value(const char *line, const char *key, char value[static 32])
{
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0 || line[length] != '=')
        return false;
    const char *from = line + length + 1;
    from += *from == '"';
    size_t size = strspn(from, "abcdefghijklmnopqrstuvwxyz0123456789.");
    if (size == 0 || size >= 32)
        return false;
    memcpy(value, from, size);
    value[size] = '\0';
    return true;
}

/* Writes the names of the images, in full and slim: those of the Debian or Ubuntu that this machine runs, else of Debian 12. */
static void images_write(struct mark *image, struct mark *slim)
{
    char line[256];
    char id[32] = "";
    char version[32] = "";
    char codename[32] = "";
    FILE *file = fopen("/etc/os-release", "r");
    while (file && fgets(line, sizeof line, file)) {
        (void)(release_value(line, "ID", id) || release_value(line, "VERSION_ID", version) ||
               release_value(line, "VERSION_CODENAME", codename));
    }
    if (file)
        fclose(file);
    /* A Debian that is not released yet has only a codename. */
    const char *tag = *version ? version : codename;
    bool is_ubuntu = strcmp(id, "ubuntu") == 0 && *tag;
    if (!is_ubuntu && (strcmp(id, "debian") != 0 || !*tag))
        tag = "12";
    const char *name = is_ubuntu ? "ubuntu" : "debian";
    snprintf(image->text, sizeof image->text, "%s:%s", name, tag);
    /* Ubuntu has no images that are called slim. */
    snprintf(slim->text, sizeof slim->text, "%s:%s%s", name, tag, is_ubuntu ? "" : "-slim");
}

/* Writes a text with the texts of the marks in their place. False: errno says why not. */
static bool text_write(FILE *file, const char *text, const struct mark marks[MARK_COUNT])
{
    size_t line = strcspn(text, "\n");
    const char *license = strstr(text, "SPDX-License-Identifier");
    if (license && (size_t)(license - text) < line)
        text += line + 1;
    while (*text) {
        const struct mark *mark = NULL;
        for (size_t i = 0; i < MARK_COUNT; i++) {
            if (strncmp(text, marks[i].name, strlen(marks[i].name)) == 0)
                mark = &marks[i];
        }
        /* Up to the next character that may begin a mark. */
        size_t size = mark ? strlen(mark->name) : 1 + strcspn(text + 1, "@");
        const char *from = mark ? mark->text : text;
        size_t count = mark ? strlen(mark->text) : size;
        if (fwrite(from, 1, count, file) != count)
            return false;
        text += size;
    }
    return true;
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
static bool file_write(const struct template *template, const struct mark marks[MARK_COUNT])
{
    char path[PATH_MAX];
    path_write(path, sizeof path, marks[0].text, template->path);
    if (!parents_make(path))
        return false;
    FILE *file = fopen(path, "a");
    if (!file)
        return false;
    bool is_written = text_write(file, template->text, marks);
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
    struct mark marks[MARK_COUNT] = {{.name = "@NAME@"}, {.name = "@IMAGE@"}, {.name = "@SLIM@"}};
    snprintf(marks[0].text, sizeof marks[0].text, "%s", name);
    images_write(&marks[1], &marks[2]);
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < TEMPLATE_COUNT; j++) {
            if (strcmp(templates[j].kind, order[i]) == 0 && !file_write(&templates[j], marks))
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
