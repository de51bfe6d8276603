/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The flags that every app has, in addition to its own flags.
 *
 *     bank --workers 2 ledger.txt --verbose      --workers is for the runner, the rest for the root
 *     bank --workers=2 -- --help                 everything after "--" is for the root
 *
 * Pure functions on text, so that tests can try any input.
 */
#ifndef APP_FLAGS_H
#define APP_FLAGS_H

#include <troupe/status.h>

enum { FLAGS_ERROR_SIZE = 200 };

struct flags {
    int workers;                 /* 0: not given */
    tr_time shutdown_timeout_ns; /* 0: not given */
    const char *store;           /* NULL: not given */
    const char *control;         /* NULL: not given */
    bool has_log_format;
    tr_log_format log_format;
    const char *metrics; /* NULL: not given */
    bool is_metrics_anywhere;
    const char *otlp;       /* NULL: not given */
    uint32_t otlp_every;    /* 0: not given, or given as 0 */
    bool has_otlp_every;    /* --otlp-every */
    const char *inspect;    /* NULL: not given */
    bool allows_inspector;  /* --inspect-allow */
    bool inspects_anywhere; /* --inspect-anywhere */
    const char *inspect_certificate;
    const char *inspect_key;
    const char *inspect_host;
    const char *inspect_token;
    const char *rehearse;    /* NULL: not given */
    const char *replay;      /* NULL: not given */
    bool has_no_records;     /* --records off */
    bool has_secret_records; /* --records secrets */
    bool is_help;            /* --help or -h */
    bool is_schema;          /* --schema */
    bool is_json;            /* --as-json */
    bool is_version;         /* --version */
    const char *log_level;   /* NULL: not given */
    const char *pid_file;    /* NULL: not given */
    size_t rest_count;
    /* how many arguments in `rest` were before "--" on the command line */
    size_t rest_before;
};

/** Reads a duration: "30s", "500ms", "2m", "30". Returns 0 if the text is no duration. */
tr_time tr__flags_duration(const char *text);
/** Whether the runner has a flag with this name. `name` has no dashes. */
bool tr__flags_has(const char *name, bool takes_store);

/**
 * Removes the flags of the runner from argv. Writes the other arguments, with the name of the
 * program first, to `rest`, which must have space for argc pointers. The arguments in `rest` point
 * into argv. If a flag is given twice, the last one counts. --store is a flag of the runner only if
 * `takes_store`.
 *
 * Returns TR_INVALID_ARGUMENT if a flag is wrong. Then `error` says which flag and why, and *flags
 * is unchanged.
 */
TR_MUST_CHECK tr_status tr__flags_parse(int argc, char *const *argv, bool takes_store,
                                        struct flags *flags, const char **rest,
                                        char error[FLAGS_ERROR_SIZE]);

#endif
