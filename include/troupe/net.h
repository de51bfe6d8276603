/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Channels: TCP, UNIX, TLS and UDP as part of an actor.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * static tr_next on_received(tr_self *self, const struct tr_received *message)
 * {
 *     tr_write(self, message->channel, message->bytes);
 *     return TR_SAME;
 * }
 *
 * TR_ACTOR(echo, tr_received);
 * TR_BEHAVIOR(echo, void, TR_ON(tr_received, on_received));
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     tr_listener_ref listener = tr_listen(self, echo, TR_TCP("127.0.0.1:0"));
 *     tr_bytes line;
 *     const char *address = tr_address_text(self, tr_listener_address(self, listener));
 *     tr_channel channel = tr_connect(self, TR_TCP(address));
 *     tr_write_text(self, channel, "hello\n");
 *     if (tr_read_line(self, channel, &line))
 *         tr_log_info(self, "%s", (const char *)line.data);
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, app);
 * }
 * ```
 *
 * A channel belongs to one actor at a time, and to that actor's current incarnation; when the incarnation ends, the
 * channel is closed. An actor may have any number of channels. An actor that a listener has started for a connection is
 * called a session; its channel is tr_peer.
 *
 * Reading. Bytes that have come go, in this order, to
 *     1. the first exchange that is under way (tr_exchange);
 *     2. the turn that waits for them in tr_read or a similar function; if several wait, the turn that has waited
 *        longest;
 *     3. the handler of tr_received, one piece after the other;
 *     4. nobody: the bytes stay in the kernel, and the other side is slowed down.
 * The pieces of one channel are handled one after the other: the next tr_received begins when the turn of the piece
 * before has ended, waits included. A barrier holds pieces back as it holds back messages. So a handler may begin with
 * a message and continue to read:
 *
 *     static tr_next on_received(tr_self *self, const struct tr_received *head)   // one line
 *     {
 *         tr_bytes body;
 *         if (!tr_read_exactly(self, head->channel, strtoul(head->bytes.data, NULL, 10), &body))
 *             return TR_SAME;
 *
 * With .interleaves the next piece may begin while the turn of the piece before waits, and up to .in_flight_max pieces
 * are under way. Each turn has its bytes until it ends, and cannot unread them. With .answers_in_order, what such a
 * turn writes, and its close, is held back until the turns of all earlier pieces have ended: answers leave in the order
 * of the requests. tr_closed comes when no piece is under way. A turn of a piece should not read from the channel,
 * because it would read the pieces of other turns.
 *
 * Bytes that were read are memory of the runtime. The turn borrows them until it reads from that channel again or ends.
 * While the turn waits, the bytes stay valid, even if another turn reads from the channel or the channel is gone. A
 * connection on which nothing happens has no buffers; with TLS it keeps the state of OpenSSL. A turn that waits keeps
 * its stack: sessions that wait for their next request should do so with tr_received, and use tr_read within a request.
 *
 * Writing is like tr_tell: tr_write returns TR_OK when the channel has taken the bytes, and the status may be ignored.
 * What an actor writes in one run is sent together when that run ends, or earlier if it is much. If .output_max bytes
 * or more wait to be sent, the turn waits as a barrier until half of them are sent. So a slow reader slows down the
 * writer, and memory does not grow. Where a turn cannot wait (a set-up, a signal, a deferred call), the channel takes
 * TR_OUTPUT_EXTRA times as much; then the status is TR_LIMIT. A write that fails ends the channel, so that the other
 * side never gets bytes behind bytes that are missing. Only a tr_try_write, and a write with TR_INVALID_ARGUMENT, may
 * fail without ending the channel.
 *
 * The end. tr_closed comes once, after all that was received, whatever the reason for the end is. Without a handler for
 * tr_closed, a session stops, and an actor that took the connection with tr_accept continues. Any other actor fails
 * with the status, unless that is TR_OK; its supervisor restarts it, and it can connect again. The channels of an actor
 * that fails are reset. The channels of an actor that stops send what the actor has written (within .linger_ns), and
 * are closed. What was written to a channel that is still being opened is sent when the channel is open, also after
 * tr_close. When an actor ends, however, the runtime gives up the connects of this actor that are under way, and the
 * log says how much was not sent.
 *
 * While an actor is suspended, nothing is read for it except the replies of exchanges under way. When an actor moves to
 * another worker, its channels move with it. An actor does not move if it has more than TR_MOVED_CHANNELS_MAX channels,
 * a channel for datagrams, a channel that is not open, or an exchange under way.
 *
 * What a durable actor does to its channels waits for the commit of its stretch, in order with the messages that it
 * sends; a stretch that fails sends nothing of what it wrote. A read, an await of an exchange, and tr_flush end a
 * stretch. Channels do not keep the actor awake, and are closed when it goes to sleep. See troupe/durable.h. An actor
 * whose behavior says TR_OPTIONS(.has_no_channels = true) does nothing with channels: a function that would open, take
 * or find a channel gives TR_NOT_A_CHANNEL_ACTOR, and a channel that is handed over to the actor is reset. Channels
 * that the actor has from an earlier behavior (tr_become) work as before.
 *
 * For a channel of another actor the status is TR_NOT_OWNER; for a channel that was closed it is TR_CLOSED. tr_unread,
 * tr_channel_within, tr_finish, tr_close and tr_reset end the turn with TR_NOT_OWNER, and do nothing with a channel
 * that was closed.
 */
#ifndef TROUPE_NET_H
#define TROUPE_NET_H

#include <troupe/address.h>
#include <troupe/ask.h>
#include <troupe/behavior.h>
#include <troupe/filter.h>
#include <troupe/self.h>

/* ---- Channels and endpoints. ---- */

/** A channel: 64 bits, passed by value. No other channel ever gets the same bits. All zero: no channel. */
typedef struct tr_channel {
    uint64_t bits;
} tr_channel;
#define TR_NO_CHANNEL TR_VALUE(tr_channel, 0)
/** Makes `channel` a type of a field: in a message, (channel, peer) declares the field `peer`, a tr_channel. */
#define TR_FIELD_TYPE_channel TR_SCALAR_(tr_channel, U64)

/** How the bytes of a stream are cut into pieces: see TR_LINES, TR_LENGTH. NULL: a piece is what has come. */
typedef struct tr_framing tr_framing;

/** Whether the other side must show a certificate. */
typedef enum tr_verify { TR_VERIFY_NONE, TR_VERIFY_IF_GIVEN, TR_VERIFY_REQUIRED } tr_verify;

/** One more certificate of a listener, chosen by the name that a client asks for. */
typedef struct tr_tls_host {
    const char *name; /* "shop.example", or "*.example" */
    const char *certificate;
    const char *key;
} tr_tls_host;

/** An endpoint, which TR_TCP and similar macros make: an address, and how to speak there. All zero is the default. */
typedef struct tr_endpoint {
    size_t size TR_ZERO; /* need not be set */
    int kind TR_ZERO;    /* tr_endpoint_kind */
    /*
     * "127.0.0.1:7000", "[::1]:7000", ":7000", or a path; for a connect also "host:7000". For a socket that the process
     * has inherited: "fd:3", or "fd:web", where web is its name in systemd.
     */
    const char *address TR_ZERO;
    const tr_framing *framing TR_ZERO;
    size_t frame_max TR_ZERO;  /* the largest piece, in bytes: <= TR_PAYLOAD_MAX; 0: TR_FRAME_MAX */
    size_t output_max TR_ZERO; /* a write waits while this much is unsent; 0: TR_OUTPUT_MAX */
    /* longest time for a connect, or for the handshake of a session; 0: TR_CONNECT_NS */
    tr_time connect_ns TR_ZERO;
    /* the channel ends with TR_TIMEOUT after this time without input, output and turns; 0: never */
    tr_time idle_ns TR_ZERO;
    /* the channel ends with TR_STALLED after this time without progress of output; 0: TR_STALL_NS */
    tr_time stall_ns TR_ZERO;
    tr_time linger_ns TR_ZERO;  /* how long a closed channel continues to send; 0: TR_LINGER_NS */
    bool delays TR_ZERO;        /* the kernel collects small packets (Nagle) */
    bool only_v6 TR_ZERO;       /* a listener at an IPv6 address accepts no IPv4 connections */
    bool reuses_port TR_ZERO;   /* several sockets may share the address and its connections */
    const char *source TR_ZERO; /* of a client: the address from which it connects, "10.0.0.7:0" */
    uint32_t in_flight_max TR_ZERO; /* for tr_exchange and .interleaves; 0: TR_IN_FLIGHT_MAX */
    /* These members are for listeners. */
    /* a listener has at most this many connections; others wait in the kernel; 0: as many as descriptors */
    uint32_t connections_max TR_ZERO;
    /* one address, or one /64 of IPv6, has at most this many connections; more are reset; 0: no limit */
    uint32_t connections_per_peer_max TR_ZERO;
    uint32_t backlog TR_ZERO; /* at most this many connections wait in the kernel; 0: TR_BACKLOG */
    bool has_proxy_header TR_ZERO; /* a PROXY header before all input names the client */
    /* These members are for TLS. `certificate` and `key` are paths of PEM files. */
    const char *certificate TR_ZERO;
    const char *key TR_ZERO;
    const tr_tls_host *hosts TR_ZERO; /* the last one is followed by zeros */
    /* authorities that sign the other side's certificates: a file or a directory; NULL: a client uses the machine's */
    const char *trusts TR_ZERO;
    tr_verify verify TR_ZERO; /* for a listener; a client always verifies, except with .insecure */
    bool insecure TR_ZERO;    /* of a client: any certificate is accepted */
    /* of a client: the name that the certificate must have; NULL: the host of the address */
    const char *server_name TR_ZERO;
    const char *alpn TR_ZERO;   /* protocols for ALPN, "h2,http/1.1"; NULL: none */
    bool starts_plain TR_ZERO;  /* TLS begins with tr_start_tls (STARTTLS) */
    tr_filters filters TR_ZERO; /* of a stream: TR_FILTERS(&deflate), between socket and framing */
    /* options of TR_HTTP and TR_HTTPS, which set the next two members */
    const struct tr_http_options *http TR_ZERO;
    const struct tr_protocol *protocol TR_ZERO; /* set by TR_HTTP, not by programs */
    size_t http_size TR_ZERO;                   /* sizeof *http; set by TR_HTTP, not by programs */
    bool interleaves TR_ZERO; /* up to .in_flight_max pieces of a channel are handled at once */
    /* With .interleaves: what the turns of pieces write is sent in the order in which the pieces have come. */
    bool answers_in_order TR_ZERO;
    /* for a listener: tr_any(group); for each connection one member gets a tr_connection: see tr_accept */
    tr_ref accepted_by TR_ZERO;
} tr_endpoint;

typedef enum tr_endpoint_kind {
    TR_ENDPOINT_TCP = 1,
    TR_ENDPOINT_TLS,
    TR_ENDPOINT_UNIX,
    TR_ENDPOINT_UDP,
    TR_ENDPOINT_UNIX_DATAGRAM
} tr_endpoint_kind;

/**
 * An endpoint, for one call: TR_TCP(":7000"), TR_TCP(":7000", .framing = TR_LINES). Members of tr_endpoint follow the
 * address. Any thread. Does not wait.
 */
#define TR_TCP(...) TR_ENDPOINT_(TR_ENDPOINT_TCP, __VA_ARGS__, )
/** As TR_TCP, with TLS: TR_TLS(":7443", .certificate = "a.pem", .key = "a.key"). Any thread. Does not wait. */
#define TR_TLS(...) TR_ENDPOINT_(TR_ENDPOINT_TLS, __VA_ARGS__, )
/** As TR_TCP, with the path of a UNIX socket, or "@name", which is no file. Any thread. Does not wait. */
#define TR_UNIX(...) TR_ENDPOINT_(TR_ENDPOINT_UNIX, __VA_ARGS__, )
/** An endpoint of datagrams, for tr_bind. Any thread. Does not wait. */
#define TR_UDP(...) TR_ENDPOINT_(TR_ENDPOINT_UDP, __VA_ARGS__, )
/**
 * As TR_UDP, with the path of a UNIX socket, or "@name". Send to such a socket with tr_address_of_path(path), or answer
 * to the `from` of a datagram whose sender has a name. Any thread. Does not wait.
 */
#define TR_UNIX_DATAGRAM(...) TR_ENDPOINT_(TR_ENDPOINT_UNIX_DATAGRAM, __VA_ARGS__, )

/* ---- Messages of the runtime. They use no capacity of the mailbox. ---- */

/** A channel is open. Comes first to a session, and after tr_dial or tr_hand_over. `protocol` is from ALPN, or NULL. */
TR_MESSAGE(tr_opened, (channel, channel), (address, peer), (bool, is_accepted),
           (bool, is_handed_over), (str, protocol));
/** A piece has come, as .framing has cut it. Without framing, the bytes are what has come. */
TR_MESSAGE(tr_received, (channel, channel), (bytes, bytes));
/** A datagram has come. If `is_cut`, it was longer than .frame_max, and the rest is lost. */
TR_MESSAGE(tr_datagram, (channel, channel), (address, from), (bytes, bytes), (bool, is_cut));
/** After tr_try_write has returned TR_LIMIT: the channel can take bytes again. */
TR_MESSAGE(tr_drained, (channel, channel));
/**
 * The channel is closed. Comes once, after all that was received. `status` is TR_OK if this actor has closed the
 * channel, and TR_CLOSED if the other side has. Otherwise it is TR_RESET, TR_TIMEOUT, TR_STALLED, TR_TOO_LARGE,
 * TR_BAD_DATA, TR_TLS_FAILED or TR_NO_MEMORY, or says why the channel could not be opened. After tr_close, TR_TIMEOUT
 * means that not all was sent within .linger_ns. `text` says more, or is NULL.
 */
TR_MESSAGE(tr_closed, (channel, channel), (enum_of(tr_status), status), (str, text));

/** A listener with .accepted_by asks an actor to take a connection; the actor answers with tr_accept. */
TR_MESSAGE(tr_connection_taken, (channel, channel));
TR_REQUEST(tr_connection, tr_connection_taken, (address, peer), (ref, listener), (u64, number));

/* ---- Listening. ---- */

/** A listener is a child of the actor that listens. tr_stop ends the listener and its sessions. */
TR_MESSAGE(tr_listener_order_, (u32, what));
TR_ACTOR(tr_listener, tr_listener_order_);

/**
 * Listens, and starts an actor for each connection, with a set-up message if one is given:
 *     tr_listen(self, echo, TR_TCP(":7000"))
 *     tr_listen(self, session, TR_TCP(":7000"), open_session, .rooms = rooms)
 * Returns a tr_listener_ref. If tr_try_listen would return an error, ends the turn instead. In a turn. Does not wait.
 *
 * The sessions run on all workers: each new session starts on the worker with the fewest. If a session fails, it ends
 * and its connection is reset; no other session is affected.
 */
#define tr_listen(self, actor, ...)                                                                \
    TR_PP_CAT(TR_LISTEN_, TR_PP_IS_ONE(__VA_ARGS__))(self, actor, __VA_ARGS__)
/**
 * As tr_listen, but writes to a tr_listener_ref * and returns a status. TR_OK; TR_ADDRESS_IN_USE; TR_ADDRESS_INVALID,
 * also for a name, because names are not looked up; TR_NOT_PERMITTED; TR_TLS_FAILED: the files cannot be used, and the
 * log says why; TR_INVALID_ARGUMENT: the behavior handles neither tr_opened nor tr_received, or, with .accepted_by, it
 * does not handle tr_connection or there is a set-up message; TR_WRONG_TYPE: the set-up message does not fit the set-up
 * of the behavior, and the log says why; TR_TOO_LARGE: the set-up message is too large; TR_NOT_SUPPORTED: the library
 * was built without TLS; TR_LIMIT, TR_NO_MEMORY, TR_STOPPING. In a turn. Does not wait.
 */
#define tr_try_listen(self, ref, actor, ...)                                                       \
    TR_PP_CAT(TR_TRY_LISTEN_, TR_PP_IS_ONE(__VA_ARGS__))(self, ref, actor, __VA_ARGS__)

TR_BEGIN_C
/**
 * Returns the address of a listener. In place of the port 0, the address has the port that the kernel has chosen. After
 * the end of the listener, the address has the family TR_FAMILY_NONE. In a turn. Does not wait.
 */
tr_address tr_listener_address(tr_self *self, tr_listener_ref listener);
/** Returns how many sessions a listener has. In a turn. Does not wait. */
size_t tr_listener_count(tr_self *self, tr_listener_ref listener);
/** Makes the listener accept no connections until tr_listener_resume. In a turn. Does not wait. */
void tr_listener_pause(tr_self *self, tr_listener_ref listener);
/** Makes the listener accept connections again. In a turn. Does not wait. */
void tr_listener_resume(tr_self *self, tr_listener_ref listener);
/**
 * Reads the files of certificates and keys again, for new connections. Existing connections keep what they have.
 * Returns TR_OK. TR_TLS_FAILED: the files cannot be used, and the listener keeps the old certificates. TR_NOT_SUPPORTED:
 * it has no certificates. TR_STOPPED: it has ended. Also returns TR_NO_MEMORY. In a turn. Does not wait.
 */
tr_status tr_listener_reload(tr_self *self, tr_listener_ref listener);

/* ---- Listeners with .accepted_by: a few actors share all connections. ---- */

TR_BEGIN_C
/**
 * Takes the connection of a tr_connection, which is the request of this turn, and replies to the listener. On TR_OK the
 * channel belongs to this actor, which gets a tr_opened with is_accepted. With any other status the connection is
 * closed. TR_CLOSED: the listener has ended, or has waited for longer than .connect_ns. TR_NOT_SUPPORTED: this actor is
 * durable. Also TR_NO_MEMORY, TR_LIMIT, TR_STOPPING, TR_INVALID_ARGUMENT. In a turn. Does not wait.
 *
 *     desk_ref desks = tr_spawn_group(self, desk, "desks", TR_ONE_PER_WORKER);
 *     tr_listen(self, desk, TR_TCP(":7000", .accepted_by = tr_any(desks)));
 * For each connection the listener asks one member of the group; the members take turns. If that member refuses,
 * replies in another way, has stopped or does not answer, the connection is closed. Such a listener has no sessions:
 * the channels of the members stay open when the listener ends. When a channel ends, a member without a handler for
 * tr_closed continues. Members move between workers as other actors do, often to the worker of the listener; with
 * TR_OPTIONS(.is_pinned = true) each member stays on its worker.
 */
TR_MUST_CHECK tr_status tr_accept(tr_self *self, const struct tr_connection *request,
                                  tr_channel *channel);
TR_END_C

/* ---- Connecting. ---- */

/**
 * Connects, and waits until the channel is open and the handshake of TLS is over. If tr_try_connect would return an
 * error, ends the turn with this error; the error's text says why TLS has failed. In a turn. May wait.
 */
tr_channel tr_connect(tr_self *self, const tr_endpoint *to);
/**
 * As tr_connect, but returns a status: TR_OK, TR_CONNECT_REFUSED, TR_UNREACHABLE, TR_TIMEOUT, TR_ADDRESS_INVALID,
 * TR_TLS_FAILED, TR_RESET, TR_LIMIT, TR_CANCELLED, TR_NOT_IN_A_TURN, TR_NO_MEMORY, TR_NOT_PERMITTED, TR_STOPPING,
 * TR_NOT_SUPPORTED (built without TLS), TR_INVALID_ARGUMENT. The log says why TLS has failed. In a turn. May wait.
 */
TR_MUST_CHECK tr_status tr_try_connect(tr_self *self, const tr_endpoint *to, tr_channel *channel);
/**
 * Begins to connect. The actor later gets tr_opened or tr_closed. What the actor writes before tr_opened is sent when
 * the channel is open. Ends the turn if there is no memory, or if the endpoint is invalid. In a turn. Does not wait.
 */
tr_channel tr_dial(tr_self *self, const tr_endpoint *to);
/** Makes a datagram socket: tr_bind(self, TR_UDP(":8125")). Ends the turn if it fails. In a turn. Does not wait. */
tr_channel tr_bind(tr_self *self, const tr_endpoint *at);
/** As tr_bind, with the statuses of tr_try_listen. In a turn. Does not wait. */
TR_MUST_CHECK tr_status tr_try_bind(tr_self *self, const tr_endpoint *at, tr_channel *channel);

/* ---- Reading. .idle_ns and tr_channel_within limit how long a read waits. ---- */

/**
 * Reads the next piece, as .framing cuts it. Without framing, reads what has come, at least one byte. Returns false if
 * the other side has ended and nothing is left. Also returns false if the system shuts down and the session waits for a
 * request (TR_STOPPING of tr_try_read). Any other error ends the turn with the status of tr_try_read. In a turn. May
 * wait.
 */
bool tr_read(tr_self *self, tr_channel channel, tr_bytes *bytes);
/**
 * Reads exactly `size` bytes, at most .frame_max. Returns false if the other side has ended before the first of these
 * bytes. If the other side has ended before the last of them, the turn ends with TR_CLOSED. In a turn. May wait.
 */
bool tr_read_exactly(tr_self *self, tr_channel channel, size_t size, tr_bytes *bytes);
/** Reads a line. A NUL replaces its end, LF or CR LF. The last line need not have an end. In a turn. May wait. */
bool tr_read_line(tr_self *self, tr_channel channel, tr_bytes *line);
/** Reads up to and including `end`: tr_read_until(self, channel, TR_BYTES("\r\n\r\n"), &head). In a turn. May wait. */
bool tr_read_until(tr_self *self, tr_channel channel, tr_bytes end, tr_bytes *bytes);
/**
 * As tr_read, but returns a status: TR_OK, TR_CLOSED, TR_RESET, TR_TIMEOUT, TR_TOO_LARGE, TR_BAD_DATA, TR_TLS_FAILED,
 * TR_STALLED, TR_CANCELLED, TR_NOT_IN_A_TURN, TR_NOT_OWNER, TR_NO_MEMORY, TR_INVALID_ARGUMENT. TR_STOPPING: the system
 * shuts down and the session is idle. A session is not idle in a turn that began with tr_received, nor when a part of a
 * piece has come. After the TR_TIMEOUT of tr_channel_within the channel is still open. In a turn. May wait.
 */
TR_MUST_CHECK tr_status tr_try_read(tr_self *self, tr_channel channel, tr_bytes *bytes);
/**
 * Gives the last `size` bytes that were read back to the channel. They are read again, together with what follows them,
 * when more bytes have come, when another actor has the channel, or when the actor has another behavior. So a handler
 * can take what is complete and give back the rest. A piece of a framing, and a line, can only be given back as a
 * whole; they come again when the turn ends. Ends the turn if `size` is more than was read. In a turn. Does not wait.
 */
void tr_unread(tr_self *self, tr_channel channel, size_t size);
/**
 * Limits each later wait for this channel. A wait that takes longer ends with TR_TIMEOUT. If `ns` is 0, there is no
 * limit. In a turn. Does not wait.
 */
void tr_channel_within(tr_self *self, tr_channel channel, tr_time ns);

/* ---- Writing. TR_OK: the bytes were taken. TR_CLOSED, TR_RESET: not all were sent; tr_closed came or will come. ---- */

/** Writes bytes, which are copied. In a turn. May wait. */
tr_status tr_write(tr_self *self, tr_channel channel, tr_bytes bytes);
/** Writes a string. In a turn. May wait. */
tr_status tr_write_text(tr_self *self, tr_channel channel, const char *text);
/** Writes as printf does. In a turn. May wait. */
tr_status tr_print(tr_self *self, tr_channel channel, const char *format, ...) TR_PRINTF(3, 4);
/** Writes a buffer, which is retained and not copied. In a turn. May wait. */
tr_status tr_write_buffer(tr_self *self, tr_channel channel, tr_buffer *buffer);
/**
 * Writes `size` bytes of a file from `offset` on; a `size` of SIZE_MAX means up to the end of the file. A helper thread
 * reads the file piece by piece, so that the file need not fit into memory. The turn waits until the channel has taken
 * all of it. Other writes to the channel wait meanwhile, so that bytes stay in order. TR_OK: all was written. If an
 * error comes before the first byte was written, nothing is written, and the channel stays open: TR_NOT_FOUND,
 * TR_NOT_PERMITTED, TR_INVALID_ARGUMENT (no regular file, or it has fewer bytes), TR_LIMIT, TR_NOT_IN_A_TURN. A later
 * error, such as TR_FILE_FAILED (the file cannot be read, or was cut meanwhile), ends the channel with a reset. So the
 * other side never mistakes a part of the file for the whole. In a turn. May wait.
 */
tr_status tr_write_file(tr_self *self, tr_channel channel, const char *path, uint64_t offset,
                        size_t size);
/** As tr_write_file, for an open file. The descriptor must stay open until the call returns. In a turn. May wait. */
tr_status tr_write_fd(tr_self *self, tr_channel channel, int fd, uint64_t offset, size_t size);
/**
 * Writes all of the bytes, or nothing. TR_LIMIT: nothing was written, because .output_max bytes wait to be sent;
 * tr_drained comes later. In a turn. Does not wait.
 */
TR_MUST_CHECK tr_status tr_try_write(tr_self *self, tr_channel channel, tr_bytes bytes);
/**
 * Returns memory for `size` bytes at the end of the output, which the caller fills; then tr_commit says how many bytes
 * it has filled. The memory is valid until tr_commit, another call with this channel, or the next wait of the turn.
 * Ends the turn if there is no memory. Ends the turn with TR_NOT_SUPPORTED if the endpoint has .answers_in_order, or if
 * the framing puts something before each piece. In a turn. May wait.
 */
void *tr_reserve(tr_self *self, tr_channel channel, size_t size) TR_NON_NULL;
/** Writes the first `size` bytes of the memory that tr_reserve has returned. In a turn. Does not wait. */
void tr_commit(tr_self *self, tr_channel channel, size_t size);
/** Sends what was written, and waits until the kernel has all of it. In a turn. May wait. */
tr_status tr_flush(tr_self *self, tr_channel channel);
/**
 * Sends a datagram. TR_OK; TR_TOO_LARGE; TR_LIMIT: the datagram is lost, because the kernel or, with UNIX sockets, the
 * receiver has no space; TR_UNREACHABLE; TR_CONNECT_REFUSED: nobody is at that path; TR_ADDRESS_INVALID: no address, or
 * a UNIX address whose path is missing or too long; TR_NOT_PERMITTED, TR_INVALID_ARGUMENT. In a turn. Does not wait.
 */
tr_status tr_send_to(tr_self *self, tr_channel channel, const tr_address *to, tr_bytes bytes);
/** A datagram of tr_send_many. */
typedef struct tr_outgoing {
    tr_address to;
    tr_bytes bytes;
} tr_outgoing;
/**
 * Sends datagrams in order, up to 32 by one system call. TR_OK: all of them. Otherwise returns the status of tr_send_to
 * for the first datagram that was not sent. *sent is the number of datagrams before it; `sent` may be NULL.
 * In a turn. Does not wait.
 */
tr_status tr_send_many(tr_self *self, tr_channel channel, const tr_outgoing *datagrams,
                       size_t count, size_t *sent);

/* ---- The end. ---- */

/** Sends what was written, and ends the output of the channel, which can still be read. In a turn. Does not wait. */
void tr_finish(tr_self *self, tr_channel channel);
/**
 * Sends what was written and closes the channel. From now on only tr_closed comes. A channel that is not open yet is
 * closed at once if nothing was written; otherwise it is closed when it has opened and has sent what was written. In a
 * turn. Does not wait.
 */
void tr_close(tr_self *self, tr_channel channel);
/** Closes the channel at once; the other side sees a reset. In a turn. Does not wait. */
void tr_reset(tr_self *self, tr_channel channel);
/**
 * Gives a channel to another actor, with all that was received and not read, and all that is still to be sent. The
 * other actor gets a tr_opened; if it stops before that, the connection is reset. With any status but TR_OK the channel
 * still belongs to this actor: TR_STOPPED; TR_NO_MEMORY; TR_INVALID_ARGUMENT: `to` is a client or a group;
 * TR_INVALID_TRANSITION: the channel is not open, or a turn or an exchange waits for it. Bytes of the channel that this
 * turn has read stay valid until the turn ends. In a turn. Does not wait.
 */
#define tr_hand_over(self, channel, to) tr_self_hand_over(self, channel, tr_any(to))

/**
 * Ties a timer, which must have no key, to a channel: when the channel ends, is closed or is handed over, the timer is
 * stopped. If the timer's message waits in the mailbox, it is removed. So no message of a timer is about a channel that
 * is gone:
 *     tr_timer_ends_with(self, tr_timer_once(self, NULL, 10 * TR_SECOND, too_late), channel);
 * Returns TR_OK. TR_CLOSED: the channel has ended or is closing, and the timer was stopped. TR_NOT_FOUND: there is no
 * such timer, or it has a key. After other errors the timer continues: TR_LIMIT (TR_CHANNEL_TIMERS_MAX), TR_NO_MEMORY,
 * TR_NOT_OWNER. In a turn. Does not wait.
 */
tr_status tr_timer_ends_with(tr_self *self, tr_timer timer, tr_channel channel);

/* ---- What is known of a channel. ---- */

/** Returns the channel for which a listener has started this actor, or all zero. In a turn. Does not wait. */
tr_channel tr_peer(const tr_self *self);
/** Returns the address of the other side. In a turn. Does not wait. */
tr_address tr_channel_peer(tr_self *self, tr_channel channel);
/** Returns the address of this side. A path is borrowed while the channel is open. In a turn. Does not wait. */
tr_address tr_channel_address(tr_self *self, tr_channel channel);
/** Returns an address as text, "127.0.0.1:7000", borrowed until the turn ends. In a turn. Does not wait. */
TR_NON_NULL const char *tr_address_text(tr_self *self, tr_address address);
/** Returns the subject of the peer's verified certificate, "CN=anna,O=Shop", or NULL. In a turn. Does not wait. */
const char *tr_peer_name(tr_self *self, tr_channel channel);
/** Returns the protocol that ALPN has chosen, or NULL, also after tr_start_tls. In a turn. Does not wait. */
const char *tr_peer_protocol(tr_self *self, tr_channel channel);
/** Returns how many bytes wait to be sent. In a turn. Does not wait. */
size_t tr_output_size(tr_self *self, tr_channel channel);
/** Returns how many unread datagrams the kernel had dropped when the last datagram came. In a turn. Does not wait. */
uint64_t tr_datagrams_lost(tr_self *self, tr_channel channel);
/**
 * Returns how many sent datagrams found no receiver: sends that ended with TR_CONNECT_REFUSED or TR_UNREACHABLE, and
 * errors that the network reported later. For a UDP channel that tr_bind has opened, Linux reports no such errors, so a
 * datagram to a port on which nobody receives is not counted. In a turn. Does not wait.
 */
uint64_t tr_datagrams_refused(tr_self *self, tr_channel channel);

/** What tr_hand_over calls. In a turn. Does not wait. */
tr_status tr_self_hand_over(tr_self *self, tr_channel channel, tr_ref to);
TR_END_C

/* ---- Filters of a channel that is open; see filter.h. ---- */

TR_BEGIN_C
/**
 * Puts a filter between the filters that a channel has and its framing. What was written before does not pass the
 * filter; what is written from now on does. Input that was not read yet passes the filter too, so that the other side
 * may begin to use the filter at once. The bytes that this turn has read are no longer valid. Returns TR_OK. With these
 * statuses nothing has changed: TR_LIMIT (TR_FILTERS_MAX), TR_INVALID_ARGUMENT, TR_NO_MEMORY, and
 * TR_INVALID_TRANSITION, which means that the channel is not open, that tr_finish was called, that a handshake of a
 * filter is not over, or that a turn or an exchange waits for the channel. Any other status comes from a filter, and
 * the channel has ended. In a turn. Does not wait.
 */
TR_MUST_CHECK tr_status tr_add_filter(tr_self *self, tr_channel channel, const tr_filter *filter);
/**
 * Removes a filter. If the channel has the filter twice, removes the one nearer to the framing. What was written before
 * still passes the filter, and then its `finish` is called. Input that the filter got and has not taken is passed on
 * unchanged, and so is all later input. What the filter has already passed on stays as it is. So the other side must
 * have stopped using the filter before, or the filter must pass on unchanged what comes behind its last byte. The
 * statuses are those of tr_add_filter, and TR_NOT_FOUND: the channel does not have this filter. In a turn. Does not
 * wait.
 */
TR_MUST_CHECK tr_status tr_remove_filter(tr_self *self, tr_channel channel,
                                         const tr_filter *filter);
/**
 * Begins TLS on a channel of TR_TLS(..., .starts_plain = true), next to its framing, and waits until the handshake is
 * over. What was written before is sent as plain text. Input that was not read yet must be TLS. If somebody has put
 * plain text behind the request for TLS, this text is never taken as if it came through TLS: the status is
 * TR_TLS_FAILED. Returns TR_OK. TR_TLS_FAILED, TR_RESET, TR_TIMEOUT (.connect_ns), TR_NO_MEMORY: the channel has ended.
 * TR_NOT_IN_A_TURN: nothing has changed. TR_INVALID_TRANSITION: nothing has changed, for a reason that tr_add_filter
 * has too, or because the channel has TLS already, or was opened without .starts_plain. TR_CANCELLED, and TR_TIMEOUT
 * because of tr_channel_within: the handshake continues. TLS stays until the channel ends. In a turn. May wait.
 */
TR_MUST_CHECK tr_status tr_start_tls(tr_self *self, tr_channel channel);
TR_END_C

/* ---- Waiting for several channels, or for several replies, at once. ---- */

/** What tr_readable, tr_writable and tr_exchange return: an ask, for tr_await, tr_await_any and tr_try_await. */
typedef union tr_channel_ask {
    tr_pending any;
    const struct tr_received *reply; /* never read; only the type of this member matters */
} tr_channel_ask;

TR_BEGIN_C
/**
 * Returns an ask that ends when a read would not wait; its reply has no bytes: tr_await_any(self, &first,
 * tr_readable(self, a), tr_readable(self, b)). In a turn. Does not wait.
 */
tr_channel_ask tr_readable(tr_self *self, tr_channel channel);
/** Returns an ask that ends when a write would not wait. In a turn. Does not wait. */
tr_channel_ask tr_writable(tr_self *self, tr_channel channel);
/**
 * Writes a request, and returns an ask for its reply. If the framing gives ids, the reply is the piece with the id of
 * the request, whenever it comes. If the framing gives no ids, the other side must answer in order, and the reply is
 * the next piece that belongs to no earlier exchange. If the reply takes longer than TR_ASK_NS, or than
 * tr_channel_within says, the outcome is TR_TIMEOUT. An exchange that was given up still takes the piece that comes for
 * it, and drops this piece. While .in_flight_max exchanges are under way, the turn waits. When the channel ends, all
 * exchanges under way fail. In a turn. May wait.
 *
 * With ids: a request without an id, or with the id of an exchange under way, is not written; the outcome is
 * TR_INVALID_ARGUMENT. A piece whose id belongs to no exchange, or that has no id, goes to the turn that waits in
 * tr_read, or to tr_received; it cannot be unread. Without such a turn or handler, a piece with an id ends the channel
 * with TR_BAD_DATA, and a piece without an id waits for a turn that reads, as does everything behind it. When exchanges
 * under way and given-up ones together are .in_flight_max, the given-up ones are forgotten, the oldest first.
 */
tr_channel_ask tr_exchange(tr_self *self, tr_channel channel, tr_bytes request);
/**
 * As tr_exchange, but alone: waits until no exchange is under way, and holds back all other exchanges until the reply
 * has come. Use it if the protocol changes after the request, as with a login or STARTTLS. In a turn. May wait.
 */
tr_channel_ask tr_exchange_alone(tr_self *self, tr_channel channel, tr_bytes request);
TR_END_C

/* ---- Framing. ---- */

/** A way to cut a stream into pieces. It is constant. */
struct tr_framing {
    const char *name;
    /**
     * Looks for the end of the first piece. The first `seen` of `bytes` were looked at before, and had no end. Returns
     * the size of the piece with all that belongs to it, such as a line end. Writes to *piece which part of `bytes` the
     * actor gets. Returns 0 if the piece is not complete. Returns SIZE_MAX if it can never be complete; then the
     * channel ends with TR_BAD_DATA.
     */
    size_t (*cut)(const tr_framing *framing, tr_bytes bytes, size_t seen, tr_bytes *piece);
    /**
     * Writes what goes before a piece of `size` bytes that the actor writes, at most TR_FRAME_HEAD_MAX bytes, and
     * returns their number. Returns SIZE_MAX if a piece of this size cannot be written; then the status is
     * TR_TOO_LARGE. If `head` is NULL, nothing goes before a piece.
     */
    size_t (*head)(const tr_framing *framing, size_t size, unsigned char *head);
    uint64_t option; /* a setting of the framing */
    /**
     * Finds the id of a piece: of a request as the actor writes it, or of a reply as `cut` gives it. Returns false if
     * the piece has no id. If `id` is NULL, pieces have no ids, and replies come in the order of the requests.
     */
    bool (*id)(const tr_framing *framing, tr_bytes piece, uint64_t *id);
};

TR_BEGIN_C
extern const tr_framing tr_framing_lines, tr_framing_length_1, tr_framing_length_2,
    tr_framing_length_4, tr_framing_length_varint;
TR_END_C
/**
 * Lines. In each piece that comes, a NUL replaces the line end, LF or CR LF. Nothing is added to what an actor writes.
 */
#define TR_LINES (&tr_framing_lines)
/**
 * Pieces with their length before them: 1, 2 or 4 bytes for TR_LENGTH(1), (2) or (4), the highest byte first; as in
 * protobuf for TR_LENGTH(varint). Pieces that an actor writes get their length too. Any thread. Does not wait.
 */
#define TR_LENGTH(bytes) (&tr_framing_length_##bytes)

/** The tr_bytes of a string literal. Any thread. Does not wait. */
#define TR_BYTES(literal) TR_VALUE(tr_bytes, "" literal, sizeof(literal) - 1)

#include <troupe/detail/net.h>

#endif
