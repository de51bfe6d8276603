/* SPDX-License-Identifier: Apache-2.0 */
/**
 * UNIX stream sockets, for one thread that serves a few clients on the same machine. The control socket of a program is
 * one.
 *
 * The file of the socket has mode 0600, and a client must be a process of the same user or of root. No function waits,
 * except tr__local_wait.
 */
#ifndef OS_LOCAL_SOCKET_H
#define OS_LOCAL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <troupe/status.h>

/** The longest path of a socket: struct sockaddr_un has space for 107 bytes and a NUL. */
enum { LOCAL_PATH_MAX = 107 };

/** A descriptor for which tr__local_wait waits, and what it has found there. */
struct local_event {
    int fd;
    bool wants_read;
    bool wants_write;
    bool can_read; /* true also if the other end is gone; then the next read returns -1 */
    bool can_write;
};

/**
 * Listens at a path. Replaces a socket file at which no process listens any more. On failure writes a sentence to
 * `why`. TR_LIMIT: the path is too long, or no descriptor is left. TR_ADDRESS_IN_USE: a process listens at the path, or
 * the path names a file that is no socket. For other errors returns the status of tr__socket_status.
 */
TR_MUST_CHECK tr_status tr__local_listen(const char *path, int *fd, char *why, size_t why_size);
/** Closes the socket and removes its file. */
void tr__local_unlisten(int fd, const char *path);
/**
 * Accepts a client. TR_WOULD_BLOCK: no client waits. TR_NOT_PERMITTED: the client is a process of another user, and its
 * connection was closed. TR_LIMIT: no descriptor is left.
 */
TR_MUST_CHECK tr_status tr__local_accept(int listener, int *fd, uint32_t *uid);
/**
 * Reads the bytes that have arrived. Returns their number, which may be 0. Returns -1 if the other
 * end is gone.
 */
ptrdiff_t tr__local_read(int fd, void *to, size_t size);
/**
 * Writes as many bytes as the socket takes. Returns their number, which may be 0. Returns -1 if the
 * other end is gone.
 */
ptrdiff_t tr__local_write(int fd, const void *from, size_t size);
void tr__local_close(int fd);

/** Waits for events, for at most timeout_ms. If timeout_ms is -1, waits without a limit. */
void tr__local_wait(struct local_event *events, size_t count, int timeout_ms);
/**
 * Makes a bell: a descriptor with which another thread can end a tr__local_wait. Returns -1 if no descriptor is left.
 */
int tr__local_bell_new(void);
/**
 * Ends the tr__local_wait that waits for the bell to become readable. If there is none, ends the
 * next one that does. Any thread.
 */
void tr__local_bell_ring(int bell);
/** Ends the effect of earlier rings: the bell becomes readable only when it is rung again. */
void tr__local_bell_take(int bell);

/** Returns the number of this process. */
int tr__local_process(void);
/** Returns the effective user of this process. */
uint32_t tr__local_user(void);
/**
 * Whether a directory can hold the socket: it exists, or can be made with mode 0700, and this process can write there.
 * With `is_private`, the directory must also belong to this user and be closed to other users.
 */
bool tr__local_directory(const char *path, bool is_private);
/**
 * Writes the absolute path of a directory, without symbolic links, to `absolute`. Returns false if there is no such
 * directory, or if the path does not fit.
 */
bool tr__local_absolute(const char *path, char *absolute, size_t size);

#endif
