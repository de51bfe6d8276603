/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/otlp_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actor/cell/system.h"
#include "actor/mail/kind.h"
#include "observe/spans.h"

/* Numbers of the protocol: kinds of spans, and the status of a span that has failed. */
enum { KIND_INTERNAL = 1, KIND_SERVER = 2, KIND_CLIENT = 3, STATUS_ERROR = 2 };

static void text_attribute(struct json_line *line, const char *key, const char *value)
{
    if (!value)
        return;
    tr__json_open(line, NULL, '{');
    tr__json_string(line, "key", key);
    tr__json_open(line, "value", '{');
    tr__json_string(line, "stringValue", value);
    tr__json_close(line, '}');
    tr__json_close(line, '}');
}

static void number_attribute(struct json_line *line, const char *key, uint64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    tr__json_open(line, NULL, '{');
    tr__json_string(line, "key", key);
    tr__json_open(line, "value", '{');
    tr__json_string(line, "intValue", text);
    tr__json_close(line, '}');
    tr__json_close(line, '}');
}

void tr__otlp_begin(struct json_line *line, const char *app)
{
    tr__json_open(line, NULL, '{');
    tr__json_open(line, "resourceSpans", '[');
    tr__json_open(line, NULL, '{');
    tr__json_open(line, "resource", '{');
    tr__json_open(line, "attributes", '[');
    text_attribute(line, "service.name", app);
    text_attribute(line, "telemetry.sdk.name", "troupe");
    text_attribute(line, "telemetry.sdk.language", "c");
    tr__json_close(line, ']');
    tr__json_close(line, '}');
    tr__json_open(line, "scopeSpans", '[');
    tr__json_open(line, NULL, '{');
    tr__json_open(line, "scope", '{');
    tr__json_string(line, "name", "troupe");
    tr__json_close(line, '}');
    tr__json_open(line, "spans", '[');
}

void tr__otlp_end(struct json_line *line)
{
    static const char closes[] = "]}]}]}";
    for (size_t i = 0; i < sizeof closes - 1; i++)
        tr__json_close(line, closes[i]);
}

static void hexadecimal(struct json_line *line, const char *name, uint64_t high, uint64_t low,
                        bool is_wide)
{
    char text[33];
    if (is_wide)
        (void)snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, high, low);
    else
        (void)snprintf(text, sizeof text, "%016" PRIx64, low);
    tr__json_string(line, name, text);
}

static void times(struct json_line *line, const struct tr_system *system, const struct span *span)
{
    const tr_platform *platform = system->platform;
    tr_time offset_ns = platform->wall_now(platform) - platform->mono_now(platform);
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRId64, span->start_ns + offset_ns);
    tr__json_string(line, "startTimeUnixNano", text);
    (void)snprintf(text, sizeof text, "%" PRId64, span->end_ns + offset_ns);
    tr__json_string(line, "endTimeUnixNano", text);
}

static int kind_of(const struct span *span)
{
    if (span->kind == ENVELOPE_CHANNEL)
        return KIND_SERVER;
    return span->behavior && strcmp(span->behavior, "tr_http_client") == 0 ? KIND_CLIENT
                                                                           : KIND_INTERNAL;
}

/*
 * Returns the name of a span's message. The message of an HTTP request has a name of the runtime,
 * so for such a span returns a name that readers know.
 */
static const char *message_of(const struct span *span)
{
    if (!span->type)
        return NULL;
    return span->kind == ENVELOPE_CHANNEL && strncmp(span->type->name, "tr_http_", 8) == 0
               ? "HTTP request"
               : span->type->name;
}

void tr__otlp_span(struct json_line *line, const struct tr_system *system,
                   struct follow_export *export, const struct span *span)
{
    struct follow_context context = tr__follow_context(export, span->causal);
    uint64_t parent = span->parent ? tr__follow_span(export, span->parent) : context.span;
    const char *message = message_of(span);
    char name[128];
    char causal[20];
    (void)snprintf(name,
                   sizeof name,
                   "%s %s",
                   span->behavior ? span->behavior : "actor",
                   message ? message : "");
    (void)snprintf(causal, sizeof causal, "%016" PRIx64, span->causal);
    tr__json_open(line, NULL, '{');
    hexadecimal(line, "traceId", context.trace_high, context.trace_low, true);
    hexadecimal(line, "spanId", 0, tr__follow_span(export, span->turn), false);
    if (parent)
        hexadecimal(line, "parentSpanId", 0, parent, false);
    tr__json_string(line, "name", name);
    tr__json_signed(line, "kind", kind_of(span));
    times(line, system, span);
    tr__json_open(line, "attributes", '[');
    text_attribute(line, "troupe.path", span->path);
    text_attribute(line, "troupe.message", message);
    text_attribute(line, "troupe.behavior", span->behavior);
    text_attribute(line, "code.function.name", span->handler);
    text_attribute(line, "troupe.causal", causal);
    number_attribute(line, "troupe.worker", span->worker);
    tr__json_close(line, ']');
    if (span->status != TR_OK) {
        tr__json_open(line, "status", '{');
        tr__json_signed(line, "code", STATUS_ERROR);
        tr__json_string(line, "message", tr_status_name(span->status));
        tr__json_close(line, '}');
    }
    tr__json_close(line, '}');
}
