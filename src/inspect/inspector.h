/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The inspector shows what a program does, on a page in a browser.
 *
 * It is a system of its own with one worker. So it answers even while every worker of the program
 * is stuck. Each page is a session with a WebSocket; it opens a connection to the control socket of
 * the program and passes lines both ways. So the same code is used inside the program (--inspect)
 * and outside of it (troupe inspect). A page gets what a client of the control socket would get,
 * with two restrictions (observe/page.h): no page gets secret fields, and without the option
 * `allows` no page can change anything.
 *
 * No line is left out. A page that reads slowly slows down its own connection. If it has not read
 * for INSPECTOR_SLOW_NS, the whole page is dropped, and the next page learns how many were dropped.
 */
#ifndef INSPECT_INSPECTOR_H
#define INSPECT_INSPECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <troupe/status.h>

enum {
    INSPECTOR_PAGES =
        32, /* connections: each page has one, and another one for a trace or for long requests */
    INSPECTOR_WHY_SIZE = 300,
    INSPECTOR_REQUEST_MAX = 60000, /* bytes of a message of a page at most */
    INSPECTOR_LINE_MAX = 4 * 1024 * 1024
};
#define INSPECTOR_SLOW_NS (5 * TR_SECOND)

struct inspector;

/**
 * Options of an inspector. The memory that the members point to is borrowed until
 * tr__inspector_stop.
 */
struct inspector_options {
    const char
        /* "127.0.0.1:0", "[::1]:8080": only this machine may reach the address, unless `anywhere`
         * is set */
        *address;
    bool anywhere; /* other machines may reach the address too; this needs a certificate */
    /* PEM files: pages are served by HTTPS. NULL: by HTTP. If only `key` is NULL, the key is in the
     * file of the certificate. */
    const char *certificate;
    const char *key;
    const char *host; /* another name of this machine that browsers may use; NULL: none */
    bool allows;      /* pages may change the program */
    bool is_tool;     /* the inspector does not run in the process of the program that it shows */
    /**
     * Finds the control socket of the program. Called for each new page, because the program may
     * have been restarted. If there is none, returns false with a sentence in `why`. Called on the
     * thread of the inspector.
     */
    bool (*find)(void *context, char *path, size_t path_size, char *why, size_t why_size);
    void *context; /* of find */
    /**
     * Called with each line of the log, on the thread of the inspector. NULL: lines go to the
     * platform's log.
     */
    void (*on_log)(void *context, tr_level level, const char *path, const char *text);
    void *log_context;
};

/**
 * Starts an inspector. On failure `why` gets a sentence. Fails with TR_ADDRESS_INVALID (the address
 * is invalid, or other machines can reach it), TR_INVALID_ARGUMENT (options that do not fit
 * together), TR_ADDRESS_IN_USE, TR_NOT_PERMITTED, TR_NOT_SUPPORTED (built without HTTP or TLS),
 * TR_NO_MEMORY and other statuses of systems, sockets and certificates. One thread.
 */
TR_MUST_CHECK tr_status tr__inspector_start(const struct inspector_options *options,
                                            struct inspector **inspector,
                                            char why[INSPECTOR_WHY_SIZE]);
/**
 * Returns the address for a browser, with the token: "http://127.0.0.1:40123/#token=...". The token
 * is secret, so this must not be logged.
 */
const char *tr__inspector_url(const struct inspector *inspector);
/**
 * Closes all pages, and frees the inspector. NULL is allowed. One thread; waits at most a second
 * for the pages.
 */
void tr__inspector_stop(struct inspector *inspector);

#endif
