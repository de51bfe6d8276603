/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The inspector: what a program does, as a page in a browser.
 *
 * It is a system of its own with one worker. So it answers even while every worker of the program
 * is stuck. Each page is a session with a WebSocket; it opens a connection to the control socket of
 * the program and passes lines both ways. So the same code serves the page inside the program
 * (--inspect) and from outside (troupe inspect). A page gets what a client of the control socket
 * would get, or less: a page of an inspector that is not `allowed` changes nothing, and no page
 * gets secret fields (observe/page.h).
 *
 * Nothing is dropped in between. A page that does not read slows down its own connection, until it has not read for
 * INSPECTOR_SLOW_NS; then it is dropped, and the next page learns how many were dropped.
 */
#ifndef INSPECT_INSPECTOR_H
#define INSPECT_INSPECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <troupe/status.h>

enum {
    INSPECTOR_PAGES =
        32, /* connections: a page has one, and one more for a trace and for what may take long */
    INSPECTOR_WHY_SIZE = 300,
    INSPECTOR_REQUEST_MAX = 60000, /* bytes of a message of a page */
    INSPECTOR_LINE_MAX = 4 * 1024 * 1024
};
#define INSPECTOR_SLOW_NS (5 * TR_SECOND)

struct inspector;

/** How to make an inspector. What the members point to is borrowed until tr__inspector_stop. */
struct inspector_options {
    const char
        *address; /* "127.0.0.1:0", "[::1]:8080": one that only this machine can reach, unless... */
    bool anywhere; /* ... others may reach it, which needs a certificate */
    /* PEM files: pages come by HTTPS. NULL: by HTTP. A key of NULL is in the file of the certificate. */
    const char *certificate;
    const char *key;
    const char *host; /* one more name of this machine, under which browsers reach it; NULL: none */
    bool allows;      /* pages may change something */
    bool is_tool;     /* the inspector runs in another process than the program that it shows */
    /**
     * Finds the control socket of the program, for each new page again, because the program may have been restarted. Returns
     * false with a sentence if there is none. Called on the thread of the inspector.
     */
    bool (*find)(void *context, char *path, size_t path_size, char *why, size_t why_size);
    void *context; /* of find */
    /** Gets lines of the log. Called on the thread of the inspector. NULL: the platform's log. */
    void (*on_log)(void *context, tr_level level, const char *path, const char *text);
    void *log_context;
};

/**
 * Starts an inspector. `why` gets a sentence on failure: TR_ADDRESS_INVALID (also an address that others can reach),
 * TR_INVALID_ARGUMENT (options that do not fit), TR_ADDRESS_IN_USE, TR_NOT_PERMITTED, TR_NOT_SUPPORTED (built without HTTP or
 * TLS), TR_NO_MEMORY and other statuses of systems, sockets and certificates. One thread.
 */
TR_MUST_CHECK tr_status tr__inspector_start(const struct inspector_options *options,
                                            struct inspector **inspector,
                                            char why[INSPECTOR_WHY_SIZE]);
/** Returns the address for a browser, with the token: "http://127.0.0.1:40123/#token=...". It must not go to a log. */
const char *tr__inspector_url(const struct inspector *inspector);
/**
 * Closes all pages, and frees the inspector. NULL does nothing. One thread; waits for the pages for
 * a second at most.
 */
void tr__inspector_stop(struct inspector *inspector);

#endif
