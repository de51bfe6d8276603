/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Files that are written to a channel: read piece by piece on helper threads, while the turn waits.
 * CHANNEL_FILE makes all other writes wait, so that they do not get between the bytes of the file.
 */
#include <stdio.h>
#include <string.h>
#include <troupe/blocking.h>
#include <troupe/net.h>

#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "actor/turn/park.h"
#include "net/channel_end.h"
#include "net/exchange.h"
#include "net/held.h"
#include "net/lent.h"
#include "net/output.h"
#include "net/wait.h"
#include "net/write.h"

/* Bytes of one read: so many that the copy costs much more than the switch to a helper thread. */
enum { PIECE_MAX = 64 * 1024 };

/*
 * What the turn and a helper thread share. The struct belongs to the turn, but is not on its stack.
 * So if the turn is abandoned after a trapped fault, the file is still closed.
 */
struct file_job {
    struct lent lent; /* must be the first member */
    const tr_platform *platform;
    const char *path; /* path of the file; NULL: the program has opened the file */
    int fd;           /* the file; negative: not open yet */
    uint64_t offset;
    uint64_t size;    /* size of the file */
    uint64_t left;    /* how many bytes were not written to the channel yet */
    tr_buffer *piece; /* the piece of the file that is read or written now; NULL: none */
    tr_status status;
    const char *why;
};

static void job_free(struct worker *worker, struct lent *lent)
{
    struct file_job *job = (struct file_job *)lent;
    if (job->path && job->fd >= 0)
        job->platform->file_close(job->platform, job->fd);
    tr_buffer_release(job->piece);
    source_resize(&worker->system->source, job, 0);
}

/*
 * Makes the job of a turn: a copy of `as`, in which the caller has set what the job is to do. The
 * turn owns the copy. Returns NULL if there is no memory.
 */
static struct file_job *job_new(struct tr_self *self, const struct file_job *as)
{
    struct file_job *job = source_resize(&self->worker->system->source, NULL, sizeof *job);
    if (!job)
        return NULL;
    *job = *as;
    job->lent = (struct lent){.free = job_free};
    job->platform = self->worker->loop.platform;
    tr__lent_add(self, &job->lent);
    return job;
}

/* ---- On a helper thread. ---- */

static void open_file(void *argument)
{
    struct file_job *job = argument;
    job->status =
        job->path
            ? job->platform->file_open(job->platform, job->path, &job->fd, &job->size, &job->why)
            : job->platform->file_size(job->platform, job->fd, &job->size, &job->why);
}

static void read_piece(void *argument)
{
    struct file_job *job = argument;
    job->status = job->platform->file_read(job->platform,
                                           job->fd,
                                           job->offset,
                                           tr_buffer_data(job->piece),
                                           tr_buffer_size(job->piece),
                                           &job->why);
}

/* ---- In the turn. ---- */

static tr_status file_job_run(struct tr_self *self, struct file_job *job,
                              void (*function)(void *argument))
{
    tr_status status = tr_try_blocking(self, function, job);
    return status == TR_OK ? job->status : status;
}

static tr_status open_and_measure(struct tr_self *self, struct file_job *job, size_t size)
{
    tr_status status = file_job_run(self, job, open_file);
    if (status != TR_OK)
        return status;
    uint64_t there = job->offset <= job->size ? job->size - job->offset : 0;
    job->left = size == SIZE_MAX ? there : size;
    return job->offset > job->size || job->left > there ? TR_INVALID_ARGUMENT : TR_OK;
}

/* Waits while the output is full. CHANNEL_FILE keeps other turns from writing meanwhile. */
static tr_status wait_for_capacity(struct tr_self *self, tr_channel handle, struct channel **found)
{
    tr_status status = tr__writable(self, handle, found);
    while (status == TR_OK &&
           (*found)->work->output.size >= (*found)->endpoint->options.output_max) {
        tr__output_flush(*found);
        status = tr__writable(self, handle, found);
        if (status != TR_OK || (*found)->work->output.size < (*found)->endpoint->options.output_max)
            break;
        status = tr__channel_park(self, *found, &(*found)->writers, false, NULL);
        if (status == TR_OK)
            status = tr__writable(self, handle, found);
    }
    return status;
}

/* Reads one piece of the file and writes it to the channel. */
static tr_status write_piece(struct tr_self *self, tr_channel handle, struct file_job *job)
{
    struct channel *channel;
    tr_status status = wait_for_capacity(self, handle, &channel);
    if (status != TR_OK)
        return status;
    size_t size = job->left < PIECE_MAX ? (size_t)job->left : PIECE_MAX;
    job->piece = tr_buffer_new(size);
    if (!job->piece)
        return TR_NO_MEMORY;
    status = file_job_run(self, job, read_piece);
    if (status == TR_OK)
        status = tr__writable(self, handle, &channel);
    if (status == TR_OK)
        status = held_prepare(channel);
    if (status == TR_OK)
        status = tr__output_append_buffer(channel, job->piece, true);
    if (status == TR_OK)
        /* the piece may have been sent at once, and the channel may have ended by that */
        status = tr__writable(self, handle, &channel);
    tr_buffer_release(job->piece);
    job->piece = NULL;
    job->offset += size;
    job->left -= size;
    return status;
}

static tr_status write_head(struct channel *channel, uint64_t size)
{
    unsigned char head[TR_FRAME_HEAD_MAX];
    size_t length = tr__write_head(channel, (size_t)size, head);
    return length == SIZE_MAX ? TR_TOO_LARGE : tr__output_append(channel, head, length);
}

/* Ends the channel, so that the other side does not think that a part is the whole file. */
static void end_amid(struct tr_self *self, tr_channel handle, const struct file_job *job,
                     tr_status status)
{
    struct channel *channel;
    char text[160];
    if (tr__channel_of(self, handle, &channel) != TR_OK || channel->state == CHANNEL_ENDED)
        return;
    if (channel_has(channel, CHANNEL_FINISHED))
        /* the channel is of a child process that reads no more of its input, which is no error */
        return;
    /* TR_CLOSED comes from another turn, which has called tr_close or tr_finish */
    bool is_own = status == TR_CLOSED;
    const char *why = is_own ? "the channel was closed" : tr_status_text(status);
    (void)snprintf(text,
                   sizeof text,
                   "cannot send all of %s: %s",
                   job->path ? job->path : "a file",
                   job->why[0] ? job->why : why);
    tr__channel_end(channel, is_own ? TR_CANCELLED : status, text);
}

static void file_over(struct tr_self *self, tr_channel handle)
{
    struct channel *channel;
    if (tr__channel_of(self, handle, &channel) != TR_OK)
        return;
    channel->flags &= ~(uint32_t)CHANNEL_FILE;
    tr__output_touch(channel);
    tr__waits_wake(&channel->writers);
    if (channel->rare->looks)
        tr__exchanges_look(channel);
    tr__channel_call(channel); /* this queues tr_drained, if the actor waits for it */
}

/* Writes a file that is open and whose size is known. */
static tr_status write_all(struct tr_self *self, tr_channel handle, struct file_job *job)
{
    struct channel *channel;
    tr_status status = tr__write_capacity(self, handle, 0, &channel);
    if (status == TR_OK)
        status = held_prepare(channel);
    if (status == TR_OK)
        status = write_head(channel, job->left);
    if (status != TR_OK)
        return status;
    job->why = "";
    channel->flags |= CHANNEL_FILE;
    while (status == TR_OK && job->left)
        status = write_piece(self, handle, job);
    if (status != TR_OK)
        end_amid(self, handle, job, status);
    file_over(self, handle);
    return status;
}

static tr_status write_file(struct tr_self *self, tr_channel handle, const struct file_job *as,
                            size_t size)
{
    struct channel *channel;
    struct file_job *job = NULL;
    tr_status status = turn_may_park(self);
    if (status == TR_OK)
        status = tr__writable(self, handle, &channel);
    if (status == TR_OK && channel->endpoint->options.answers_in_order)
        /*
         * answers in order rule this out, because the file would have to wait for the answers to
         * earlier pieces
         */
        status = TR_NOT_SUPPORTED;
    if (status == TR_OK && !(job = job_new(self, as)))
        status = TR_NO_MEMORY;
    if (status == TR_OK)
        status = open_and_measure(self, job, size);
    if (status == TR_OK)
        status = write_all(self, handle, job);
    if (job)
        tr__lent_end(self, &job->lent);
    return status;
}

tr_status tr_write_file(tr_self *self, tr_channel channel, const char *path, uint64_t offset,
                        size_t size)
{
    TURN_VERB(self);
    const struct file_job job = {.path = path, .fd = -1, .offset = offset, .why = ""};
    return path ? write_file(self, channel, &job, size) : TR_INVALID_ARGUMENT;
}

tr_status tr_write_fd(tr_self *self, tr_channel channel, int fd, uint64_t offset, size_t size)
{
    TURN_VERB(self);
    const struct file_job job = {.fd = fd, .offset = offset, .why = ""};
    return fd < 0 ? TR_INVALID_ARGUMENT : write_file(self, channel, &job, size);
}
