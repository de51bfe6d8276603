/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors inside a program that has its own event loop: one thread, poll() on standard input and on
 * the descriptor of the system. Each line goes to an actor that counts its words.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>
#include <unistd.h>

TR_MESSAGE(counted, (u64, line), (u32, words), (u32, longest));
TR_REQUEST(line, counted, (str, text));
TR_ACTOR(counter, line);

struct counter {
    uint64_t lines;
};

static tr_next on_line(tr_self *self, struct counter *counter, const struct line *message)
{
    uint32_t words = 0;
    size_t longest = 0;
    const char *at = message->text + strspn(message->text, " \t");
    while (*at) {
        size_t length = strcspn(at, " \t");
        longest = length > longest ? length : longest;
        words++;
        at += length;
        at += strspn(at, " \t");
    }
    return tr_reply(
        self, counted, .line = ++counter->lines, .words = words, .longest = (uint32_t)longest);
}

TR_BEHAVIOR(counter, struct counter, TR_ON(line, on_line));

struct loop {
    tr_system *system;
    tr_client *client;
    counter_ref counter;
    char text[4096]; /* what was read and is no whole line yet */
    size_t length;
};

/* Reads what there is and sends each whole line. False at the end of the input. */
static bool read_lines(struct loop *loop)
{
    ssize_t size =
        read(STDIN_FILENO, loop->text + loop->length, sizeof loop->text - 1 - loop->length);
    if (size <= 0) {
        if (loop->length > 0) /* The last line has no end. */
            tr_tell(loop->client, loop->counter, line, .text = loop->text);
        return false;
    }
    loop->length += (size_t)size;
    loop->text[loop->length] = '\0';
    char *begin = loop->text;
    char *end;
    while ((end = strchr(begin, '\n')) != NULL || loop->length == sizeof loop->text - 1) {
        if (end != NULL)
            *end = '\0';
        tr_tell(loop->client, loop->counter, line, .text = begin);
        if (end == NULL) { /* A very long line: it comes in parts. */
            loop->length = 0;
            return true;
        }
        loop->length -= (size_t)(end + 1 - begin);
        begin = end + 1;
    }
    memmove(loop->text, begin, loop->length + 1); /* with its NUL */
    return true;
}

static void print_answers(struct loop *loop)
{
    const struct counted *answer;
    while ((answer = tr_receive(loop->client, counted, 0)) != NULL) {
        printf("line %" PRIu64 ": %" PRIu32 " words, the longest has %" PRIu32 " letters\n",
               answer->line,
               answer->words,
               answer->longest);
    }
}

static tr_status run(struct loop *loop)
{
    tr_status status = tr_try_spawn(loop->client, &loop->counter, counter, "counter");
    if (status != TR_OK)
        return status;
    struct pollfd fds[] = {{.fd = tr_system_fd(loop->system), .events = POLLIN},
                           {.fd = STDIN_FILENO, .events = POLLIN}};
    /* Each round: what is ready in the system, without waiting; then sleep until there is more. */
    while ((status = tr_system_run_once(loop->system, 0)) == TR_OK) {
        print_answers(loop);
        if (poll(fds, 2, -1) < 0)
            break;
        if (fds[1].revents != 0 && !read_lines(loop)) {
            fds[1].fd = -1;                              /* poll() skips it from now on. */
            tr_system_shutdown(loop->system, TR_SECOND); /* What was sent is still handled. */
        }
    }
    print_answers(loop);
    return status == TR_STOPPED ? TR_OK : status;
}

int main(void)
{
    static struct loop loop;
    tr_status status = tr_system_new(&(tr_system_options){.workers = 1}, &loop.system);
    if (status == TR_OK && (status = tr_client_new(loop.system, &loop.client)) == TR_OK)
        status = run(&loop);
    tr_client_free(loop.client);
    tr_system_free(loop.system);
    if (status != TR_OK)
        fprintf(stderr, "%s\n", tr_status_text(status));
    return status == TR_OK ? 0 : 1;
}
