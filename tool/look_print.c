/* SPDX-License-Identifier: Apache-2.0 */
/** How answers about channels, messages and lines of the log are printed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "command.h"

/* Prints a number of bytes in a short form, or "-" if it is not known. */
static void bytes_print(const struct json *row, const char *name)
{
    char text[16] = "-";
    const struct json *value = json_get(row, name);
    if (value && value->kind == JSON_NUMBER)
        number_short((double)json_number(row, name), text, sizeof text);
    printf(" %7s", text);
}

static void channel_print(const struct json *row)
{
    static bool has_head;
    const char *peer = json_text(row, "peer", NULL);
    if (!has_head)
        printf("%-9s %-9s %-5s %7s %7s %7s %7s  %s\n",
               "kind",
               "state",
               "type",
               "in",
               "out",
               "unread",
               "unsent",
               "address - peer  actor");
    has_head = true;
    printf("%-9s %-9s %-5s",
           json_text(row, "kind", "?"),
           json_text(row, "state", "?"),
           json_is_true(row, "tls") ? "tls" : json_text(row, "family", "?"));
    bytes_print(row, "received_bytes");
    bytes_print(row, "sent_bytes");
    bytes_print(row, "unread_bytes");
    bytes_print(row, "unsent_bytes");
    printf("  ");
    text_print(json_text(row, "address", "-"));
    printf("%s", peer ? " - " : "");
    text_print(peer ? peer : "");
    printf("  ");
    text_print(json_text(row, "path", "no actor"));
    if (json_is_true(row, "waits_to_send"))
        printf("  waits for the other side");
    putchar('\n');
}

static void channels_end_print(const struct json *answer)
{
    if (!json_number(answer, "total"))
        printf("no channels\n");
    list_end_print(answer);
}

static void line_print(const struct json *row)
{
    int64_t unix_ms = json_number(row, "unix_ms");
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm parts;
    char when[32] = "?";
    if (gmtime_r(&seconds, &parts))
        (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &parts);
    printf("%s.%03dZ %-5s ", when, (int)(unix_ms % 1000), json_text(row, "level", "?"));
    if (json_text(row, "path", NULL)) {
        text_print(json_text(row, "path", ""));
        printf(": ");
    }
    text_print(json_text(row, "text", ""));
    if (json_text(row, "causal", NULL))
        printf(" causal=%s", json_text(row, "causal", ""));
    putchar('\n');
}

static void lines_end_print(const struct json *answer)
{
    (void)answer;
}

static void messages_print(const struct json *answer)
{
    const struct json *messages = json_get(answer, "messages");
    if (!messages || !messages->first)
        printf("it takes no messages of the program\n");
    for (const struct json *message = messages ? messages->first : NULL; message;
         message = message->next) {
        const struct json *fields = json_get(message, "fields");
        printf("%s(", json_text(message, "name", "?"));
        for (const struct json *field = fields ? fields->first : NULL; field; field = field->next)
            printf("%s%s %s%s",
                   field == fields->first ? "" : ", ",
                   json_text(field, "name", "?"),
                   json_text(field, "type", "?"),
                   json_is_true(field, "secret") ? " secret" : "");
        printf(")%s%s\n",
               json_text(message, "reply", NULL) ? " gives " : "",
               json_text(message, "reply", ""));
    }
}

const struct form *look_form(const char *verb)
{
    static const struct form forms[] = {
        {"channels", channel_print, channels_end_print, false, NULL},
        {"log tail", line_print, lines_end_print, false, "no lines of the log were kept"},
        {"messages", NULL, messages_print, false, NULL}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].verb, verb) == 0)
            return &forms[i];
    }
    return NULL;
}
