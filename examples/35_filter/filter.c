/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A filter that both sides agree on: a line server whose clients may ask for packed lines.
 *
 * The connection begins in plain text. After "PACK" all bytes, in both directions, are pairs: how often, and which byte.
 */
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

/* ---- The filter. ---- */

/* Half a pair is not taken: it comes again with the other half. */
static tr_status unpack(void *state, tr_bytes bytes, size_t *taken, tr_sink *in, tr_sink *out)
{
    (void)state;
    (void)out;
    const unsigned char *pairs = bytes.data;
    *taken = bytes.size / 2 * 2;
    for (size_t i = 0; i < *taken; i += 2) {
        if (!pairs[i])
            return TR_BAD_DATA;
        void *run = tr_sink_reserve(in, pairs[i]);
        if (!run)
            return TR_NO_MEMORY;
        memset(run, pairs[i + 1], pairs[i]);
        tr_sink_commit(in, pairs[i]);
    }
    return TR_OK;
}

static tr_status pack(void *state, tr_bytes bytes, tr_sink *out)
{
    (void)state;
    const unsigned char *text = bytes.data;
    for (size_t i = 0, run; i < bytes.size; i += run) {
        for (run = 1; run < 255 && i + run < bytes.size && text[i + run] == text[i]; run++) {
        }
        unsigned char pair[2] = {(unsigned char)run, text[i]};
        tr_status status = tr_sink_put(out, (tr_bytes){pair, sizeof pair});
        if (status != TR_OK)
            return status;
    }
    return TR_OK;
}

static const tr_filter packing = {.name = "packing", .inbound = unpack, .outbound = pack};

/* ---- The server. ---- */

static tr_next on_line(tr_self *self, const struct tr_received *line)
{
    if (strcmp(line->bytes.data, "PACK") != 0) {
        tr_print(self, line->channel, "you said %s\n", (const char *)line->bytes.data);
        return TR_SAME;
    }
    /* The answer leaves as it is. What comes from now on, and what is written from now on, is packed. */
    tr_write_text(self, line->channel, "packed\n");
    tr_status status = tr_add_filter(self, line->channel, &packing);
    return status == TR_OK ? TR_SAME : tr_fail(self, status, "no packing");
}

TR_ACTOR(session, tr_received);
TR_BEHAVIOR(session, void, TR_ON(tr_received, on_line));

/* ---- A client. ---- */

static void ask(tr_self *self, tr_channel channel, const char *text)
{
    tr_bytes answer;
    tr_print(self, channel, "%s\n", text);
    if (tr_read_line(self, channel, &answer))
        printf("%s\n", (const char *)answer.data);
}

static tr_next on_args(tr_self *self)
{
    tr_listener_ref listener = tr_listen(self, session, TR_TCP("127.0.0.1:0", .framing = TR_LINES));
    const char *address = tr_address_text(self, tr_listener_address(self, listener));
    tr_channel channel = tr_connect(self, TR_TCP(address, .framing = TR_LINES));
    ask(self, channel, "hello");
    ask(self, channel, "PACK");
    if (tr_add_filter(self, channel, &packing) != TR_OK)
        return TR_STOP;
    ask(self, channel, "aaaaaaaaaaaaaaaaaaaa");
    tr_close(self, channel);
    return TR_STOP;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app);
}
