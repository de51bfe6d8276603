/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Stream sockets of the file system, for one thread that serves a few local clients: the control socket.
 *
 * The file has mode 0600, and a client must belong to the same user or to root. Nothing here waits, except
 * tr__local_wait.
 */
#ifndef OS_LOCAL_SOCKET_H
#define OS_LOCAL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <troupe/status.h>

/** The longest path of a socket: a struct sockaddr_un has space for it and a NUL. */
enum { LOCAL_PATH_MAX = 107 };

/** What tr__local_wait waits for, and what it found. */
struct local_event {
    int fd;
    bool wants_read;
    bool wants_write;
    bool can_read; /* also if the other end is gone: then the next read returns -1 */
    bool can_write;
};

/**
 * Listens at a path. A socket file at which no process listens any more is replaced. `why` gets a sentence on failure.
 * TR_LIMIT: the path is too long, or no descriptor is left. TR_ADDRESS_IN_USE: a process listens there, or the file is
 * no socket. Else the status of the error.
 */
TR_MUST_CHECK tr_status tr__local_listen(const char *path, int *fd, char *why, size_t why_size);
/** Closes the socket and removes its file. */
void tr__local_unlisten(int fd, const char *path);
/**
 * Accepts a client. TR_WOULD_BLOCK: there is none. TR_NOT_PERMITTED: it belongs to another user, and was closed. TR_LIMIT: no
 * descriptor is left.
 */
TR_MUST_CHECK tr_status tr__local_accept(int listener, int *fd, uint32_t *uid);
/** Reads what is there. Returns how much; 0: nothing now; -1: the other end is gone. */
ptrdiff_t tr__local_read(int fd, void *to, size_t size);
/** Writes what fits. Returns how much; 0: nothing now; -1: the other end is gone. */
ptrdiff_t tr__local_write(int fd, const void *from, size_t size);
void tr__local_close(int fd);

/** Waits for events, for at most timeout_ms; -1: without a limit. */
void tr__local_wait(struct local_event *events, size_t count, int timeout_ms);
/** Makes a descriptor with which another thread can end a wait. Returns -1 if there is none left. */
int tr__local_bell_new(void);
/** Ends the current or the next wait for this descriptor. Any thread. */
void tr__local_bell_ring(int bell);
/** Takes the rings so far: the bell can be read again when it rings next. */
void tr__local_bell_take(int bell);

/** Returns the number of this process. */
int tr__local_process(void);
/** Returns the effective user of this process. */
uint32_t tr__local_user(void);
/**
 * Whether a directory can hold the socket: it exists, or can be made with mode 0700, and this process can write there.
 * `is_private`: it must also belong to this user and be closed to others.
 */
bool tr__local_directory(const char *path, bool is_private);
/** Writes the path from the root of a directory, without links. Returns false if there is none, or it does not fit. */
bool tr__local_absolute(const char *path, char *absolute, size_t size);

#endif
