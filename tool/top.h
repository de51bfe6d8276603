/* SPDX-License-Identifier: Apache-2.0 */
/** The rows of `troupe top`, and what its keys do. */
#ifndef TOOL_TOP_H
#define TOOL_TOP_H

#include <stdint.h>

#include "command.h"

enum { TOP_ROWS = 100, TOP_PATH = 1100 };

/** An actor. */
struct top_row {
    char path[TOP_PATH];
    char behavior[64];
    char state[16];
    int64_t queued;
    int64_t age_ms; /* of its oldest message, at least */
    bool has_age;
};

/** What the next key is for. */
enum top_mode { TOP_KEYS, TOP_FILTER, TOP_SURE };

struct top {
    struct connection *connection;
    const struct options *options;
    struct top_row rows[TOP_ROWS];
    size_t row_count;
    size_t chosen;
    size_t sort; /* index in top_sorts */
    enum top_mode mode;
    char filter[64];
    char said[300]; /* about the last order; "": nothing */
    char *panel;    /* a text to be shown instead; NULL: none */
};

/** By what rows are sorted. */
extern const char *const top_sorts[];

/** Takes the rows whose oldest messages are known from an answer to `top`. */
void top_rows_begin(struct top *top, const struct json *answer);
/** Reads, filters and sorts the rows; with `is_live` also those of actors without messages. Returns false if the program is gone. */
bool top_rows_read(struct top *top, bool is_live);
/** Does what keys mean. Returns true if the user wants to leave. */
bool top_keys(struct top *top, const char *keys, size_t count);

#endif
