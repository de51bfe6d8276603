/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The inspector shows what a program does, on a page in a browser.
 *
 * The inspector is a system of its own with one worker. So it answers even while every worker of
 * the program is stuck. Each page is a session with a WebSocket. The session opens a connection to
 * the control socket of the program, and passes lines both ways. Because it needs only the control
 * socket, the same code is used inside the program (--inspect) and outside of it (troupe inspect).
 * A page gets what a client of the control socket would get, with two restrictions
 * (observe/page.h): no page gets secret fields, and without the option `allows` no page can change
 * anything.
 *
 * A session leaves out no line. A page that reads slowly slows down its own connection. A page that
 * has not read for INSPECTOR_SLOW_NS is closed. The next page gets the number of pages that were
 * closed for this reason.
 */
#ifndef INSPECT_INSPECTOR_H
#define INSPECT_INSPECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <troupe/status.h>

enum {
    INSPECTOR_PAGES =
        /*
         * There are at most this many connections. A page has one connection, and opens a second one for a trace or
         * for long requests.
         */
    32,
    INSPECTOR_WHY_SIZE = 300,
    INSPECTOR_REQUEST_MAX = 60000, /* the largest message from a page, in bytes */
    INSPECTOR_LINE_MAX = 4 * 1024 * 1024
};
#define INSPECTOR_SLOW_NS (5 * TR_SECOND)

struct inspector;

/** Options of an inspector. All pointers are borrowed until tr__inspector_stop. */
struct inspector_options {
    const char
        /* "127.0.0.1:0", "[::1]:8080": only this machine may reach the address, unless `anywhere`
         * is set */
        *address;
    bool anywhere; /* other machines may reach the address too; this needs a certificate */
    /*
     * PEM files, with which pages are served by HTTPS. If both are NULL, pages are served by HTTP.
     * If only `key` is NULL, the file of the certificate has the key too.
     */
    const char *certificate;
    const char *key;
    const char *host; /* another name of this machine that browsers may use; NULL: none */
    bool allows;      /* pages may change the program */
    /* file with the token, which is made if there is none; NULL: a new token at each start */
    const char *token_file;
    bool is_tool; /* the inspector runs outside of the program that it shows */
    /**
     * Finds the control socket of the program. If the program has no control socket, returns false,
     * with a sentence in `why`. Called for each new page, because the program may have been
     * restarted. Called on the thread of the inspector.
     */
    bool (*find)(void *context, char *path, size_t path_size, char *why, size_t why_size);
    void *context; /* of find */
    /**
     * Called with each line of the inspector's log, on the thread of the inspector. If this member
     * is NULL, the lines go to the platform's log.
     */
    void (*on_log)(void *context, tr_level level, const char *path, const char *text);
    void *log_context;
};

/**
 * Starts an inspector. On failure `why` gets a sentence. Fails with TR_ADDRESS_INVALID if the
 * address is invalid or other machines can reach it, with TR_INVALID_ARGUMENT if options do not fit
 * together, and with TR_NOT_SUPPORTED if the library was built without HTTP or TLS. Also fails with
 * TR_ADDRESS_IN_USE, TR_NOT_PERMITTED, TR_NO_MEMORY and other statuses of systems, sockets,
 * certificates and the file of the token (inspect/token.h). One thread.
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
 * Closes all pages, and frees the inspector. NULL does nothing. Waits at most a second for the
 * pages. One thread.
 */
void tr__inspector_stop(struct inspector *inspector);

#endif
