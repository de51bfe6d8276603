/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/flame.h"

void tr__samples_write(struct json_line *line, const struct observer_sample *samples)
{
    tr__json_open(line, "samples", '[');
    for (size_t i = 0; i < OBSERVER_SAMPLES && samples[i].behavior; i++) {
        const tr_handler *handler = samples[i].handler;
        tr__json_open(line, NULL, '{');
        tr__json_string(line, "behavior", samples[i].behavior->name);
        tr__json_string(line, "handler", handler ? handler->name : NULL);
        tr__json_string(line, "message", handler && handler->type ? handler->type->name : NULL);
        tr__json_unsigned(line, "count", samples[i].count);
        tr__json_close(line, '}');
    }
    tr__json_close(line, ']');
}

void tr__verb_samples(struct visitor *visitor, const struct control_request *request)
{
    struct observer *observer = visitor->observer;
    const struct observer_flame *flame = &observer->flame;
    struct json_line *line = &visitor->output;
    tr__observer_watch_on(observer);
    tr__visitor_begin(visitor, request->id, false);
    tr__json_unsigned(line, "every_ms", OBSERVER_SAMPLE_MS);
    tr__json_signed(
        line, "since_ms", (tr__observer_now(observer) - flame->since_ns) / TR_MILLISECOND);
    tr__json_unsigned(line, "looks", flame->looks);
    tr__json_unsigned(line, "busy", flame->busy);
    tr__json_unsigned(line, "left_out", flame->left_out);
    tr__samples_write(line, flame->samples);
    tr__visitor_end(visitor);
}
