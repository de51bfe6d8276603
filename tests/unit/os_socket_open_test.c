/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How sockets of the real platform are opened: addresses, paths, inherited descriptors, and what is refused.
 */
#include "os/virtual.h"
#include "support/sockets.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/un.h>

static const tr_platform *real;

static bool has_ipv6(void)
{
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    bool has = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0)
        close(fd);
    return has;
}

static void refuse(tr_socket_spec spec, tr_status status)
{
    int fd = -7;
    int next = next_descriptor();
    ck_assert_int_eq(try_open(&spec, &fd), status);
    ck_assert_int_eq(fd, -7);
    ck_assert_int_eq(next_descriptor(), next);
}

TEST(what_makes_no_sense_is_refused, "")
{
    tr_socket_spec spec = spec_of(TR_SOCKET_LISTEN, loopback_v4(0));
    spec.size = 4; /* not even the size fits */
    refuse(spec, TR_INVALID_ARGUMENT);
    spec = spec_of(TR_SOCKET_LISTEN, loopback_v4(0));
    spec.is_datagram = true;
    refuse(spec, TR_INVALID_ARGUMENT);
    spec = spec_of(TR_SOCKET_BIND, loopback_v4(0));
    spec.is_datagram = false;
    refuse(spec, TR_INVALID_ARGUMENT);
    spec = spec_of((tr_socket_role)17, loopback_v4(0));
    refuse(spec, TR_INVALID_ARGUMENT);
    spec = spec_of(TR_SOCKET_LISTEN, loopback_v4(0));
    spec.stall_ns = -1;
    refuse(spec, TR_INVALID_ARGUMENT);
    refuse(spec_of(TR_SOCKET_LISTEN, (tr_address){.family = TR_FAMILY_NONE}), TR_ADDRESS_INVALID);
    refuse(spec_of(TR_SOCKET_LISTEN, (tr_address){.family = 99}), TR_ADDRESS_INVALID);
    refuse(spec_of(TR_SOCKET_LISTEN, (tr_address){.family = TR_FAMILY_UNIX}), TR_ADDRESS_INVALID);
    spec = spec_of(TR_SOCKET_CONNECT, loopback_v4(1));
    spec.source = loopback_v6(0);
    refuse(spec, TR_INVALID_ARGUMENT);
    spec.source = (tr_address){.family = TR_FAMILY_UNIX};
    refuse(spec, TR_INVALID_ARGUMENT);
}

/* Whether socket_open of a platform takes a spec that says another size, or is longer than known. */
static void size_check(const tr_platform *platform)
{
    struct {
        tr_socket_spec spec;
        char more[8]; /* members of a later version */
    } longer = {.spec = spec_of(TR_SOCKET_LISTEN, loopback_v4(0))};
    const size_t sizes[] = {
        0, offsetof(tr_socket_spec, source), sizeof(tr_socket_spec), sizeof longer};
    int fd;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        longer.spec.size = sizes[i];
        ck_assert_int_eq(platform->socket_open(platform, &longer.spec, &fd), TR_OK);
        platform->socket_close(platform, fd, false);
    }
    longer.more[0] = 1;
    ck_assert_int_eq(platform->socket_open(platform, &longer.spec, &fd), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(platform->socket_open(platform, NULL, &fd), TR_INVALID_ARGUMENT);
}

TEST(both_platforms_take_specs_of_the_same_sizes, "")
{
    struct virtual_platform *virtual = tr__virtual_new(1);
    ck_assert_ptr_nonnull(virtual);
    size_check(tr_platform_real());
    size_check(&virtual->table);
    tr__virtual_free(virtual);
}

TEST(an_address_has_one_owner_unless_it_is_shared, "")
{
    for (int i = 0; i < 2; i++) {
        tr_socket_spec spec = spec_of(i ? TR_SOCKET_BIND : TR_SOCKET_LISTEN, loopback_v4(0));
        int fds[2] = {must_open(&spec)};
        spec.address = address_of(fds[0], false);
        refuse(spec, TR_ADDRESS_IN_USE);
        close_all(fds, 1);
        spec.reuses_port = true;
        fds[0] = must_open(&spec);
        fds[1] = must_open(&spec);
        ck_assert(is_same(address_of(fds[0], false), address_of(fds[1], false)));
        close_all(fds, 2);
    }
}

TEST(a_listener_comes_back_while_old_connections_end, "")
{
    real = tr_platform_real();
    tr_socket_spec spec = spec_of(TR_SOCKET_LISTEN, loopback_v4(0));
    int fds[3] = {must_open(&spec)};
    spec.address = address_of(fds[0], false);
    tr_socket_spec other = spec_of(TR_SOCKET_CONNECT, spec.address);
    fds[1] = must_open(&other);
    fds[2] = must_accept(fds[0], NULL);
    close_all(&fds[2], 1); /* this side ends first, so that its address waits */
    close_all(fds, 2);
    fds[0] = must_open(&spec);
    close_all(fds, 1);
}

TEST(an_address_must_be_one_of_this_machine, "")
{
    /* 192.0.2.0/24 is for documentation. */
    tr_address foreign = {.family = TR_FAMILY_V4, .host = {192, 0, 2, 1}};
    refuse(spec_of(TR_SOCKET_LISTEN, foreign), TR_ADDRESS_INVALID);
    refuse(spec_of(TR_SOCKET_BIND, foreign), TR_ADDRESS_INVALID);
    tr_socket_spec spec = spec_of(TR_SOCKET_CONNECT, loopback_v4(1));
    spec.source = foreign;
    refuse(spec, TR_ADDRESS_INVALID);
}

TEST(what_cannot_be_reached_is_unreachable, "")
{
    tr_address broadcast = {.family = TR_FAMILY_V4, .port = 9, .host = {255, 255, 255, 255}};
    refuse(spec_of(TR_SOCKET_CONNECT, broadcast), TR_UNREACHABLE);
    tr_socket_spec spec = spec_of(TR_SOCKET_CONNECT, broadcast);
    spec.is_datagram = true;
    refuse(spec, TR_NOT_PERMITTED);
}

TEST(a_connection_can_come_from_a_given_address, "")
{
    tr_socket_spec spec = spec_of(TR_SOCKET_LISTEN, loopback_v4(0));
    int fds[3] = {must_open(&spec)};
    spec = spec_of(TR_SOCKET_CONNECT, address_of(fds[0], false));
    spec.source = (tr_address){.family = TR_FAMILY_V4, .host = {127, 0, 0, 9}};
    tr_address peer;
    fds[1] = must_open(&spec);
    fds[2] = must_accept(fds[0], &peer);
    ck_assert_mem_eq(peer.host, spec.source.host, 4);
    ck_assert_uint_ne(peer.port, 0);
    close_all(fds, 3);
}

TEST(a_listener_of_ipv6_takes_ipv4_unless_told_otherwise, "")
{
    real = tr_platform_real();
    if (!has_ipv6())
        test_skip("this machine has no IPv6");
    tr_socket_spec spec = spec_of(TR_SOCKET_LISTEN, (tr_address){.family = TR_FAMILY_V6});
    int fds[3] = {must_open(&spec)};
    tr_socket_spec other = spec_of(TR_SOCKET_CONNECT, loopback_v4(address_of(fds[0], false).port));
    tr_address peer;
    fds[1] = must_open(&other);
    fds[2] = must_accept(fds[0], &peer);
    ck_assert_int_eq(peer.family, TR_FAMILY_V4);
    ck_assert(is_same(peer, address_of(fds[1], false)));
    ck_assert(is_same(peer, address_of(fds[2], true)));
    close_all(fds, 3);
    spec.only_v6 = true;
    fds[0] = must_open(&spec);
    other.address.port = address_of(fds[0], false).port;
    tr_status status = try_open(&other, &fds[1]);
    if (status == TR_WOULD_BLOCK) {
        await_events(fds[1], POLLOUT);
        status = real->socket_outcome(real, fds[1]);
        close_all(&fds[1], 1);
    }
    ck_assert_int_eq(status, TR_CONNECT_REFUSED);
    close_all(fds, 1);
}

/* From now on this process is on a machine without IPv6. */
static bool lose_ipv6(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(every_address_of_a_machine_without_ipv6_is_ipv4, "")
{
    if (!lose_ipv6())
        test_skip("system calls cannot be filtered");
    const tr_address every = {.family = TR_FAMILY_V6};
    tr_socket_spec spec = spec_of(TR_SOCKET_LISTEN, every);
    int fds[3] = {must_open(&spec)};
    ck_assert_int_eq(address_of(fds[0], false).family, TR_FAMILY_V4);
    tr_socket_spec other = spec_of(TR_SOCKET_CONNECT, loopback_v4(address_of(fds[0], false).port));
    fds[1] = must_open(&other);
    fds[2] = must_accept(fds[0], NULL);
    close_all(fds, 3);
    spec.only_v6 = true;
    refuse(spec, TR_NOT_SUPPORTED);
    refuse(spec_of(TR_SOCKET_LISTEN, loopback_v6(0)), TR_NOT_SUPPORTED);
    refuse(spec_of(TR_SOCKET_CONNECT, every), TR_NOT_SUPPORTED);
    spec = spec_of(TR_SOCKET_BIND, every);
    fds[0] = must_open(&spec);
    close_all(fds, 1);
}

/* ---- Paths. ---- */

TEST(a_socket_that_was_left_behind_is_replaced, "")
{
    struct socket_path path = path_make();
    for (int i = 0; i < 2; i++) {
        tr_socket_spec spec = unix_spec(i ? TR_SOCKET_BIND : TR_SOCKET_LISTEN, path.path);
        int fd = must_open(&spec);
        refuse(spec, TR_ADDRESS_IN_USE); /* it lives */
        close_all(&fd, 1);
        ck_assert_int_eq(access(path.path, F_OK), 0); /* left behind */
        fd = must_open(&spec);
        refuse(spec, TR_ADDRESS_IN_USE);
        close_all(&fd, 1);
        ck_assert_int_eq(unlink(path.path), 0);
    }
    path_remove(&path);
}

TEST(a_file_that_is_no_socket_is_not_replaced, "")
{
    struct socket_path path = path_make();
    FILE *file = fopen(path.path, "w");
    ck_assert_ptr_nonnull(file);
    (void)fclose(file);
    refuse(unix_spec(TR_SOCKET_LISTEN, path.path), TR_ADDRESS_IN_USE);
    refuse(unix_spec(TR_SOCKET_CONNECT, path.path), TR_CONNECT_REFUSED);
    ck_assert_int_eq(access(path.path, F_OK), 0);
    path_remove(&path);
}

TEST(a_path_has_107_bytes_at_most, "")
{
    struct socket_path path = path_make();
    char longest[109];
    size_t length = strlen(path.directory);
    memset(longest, 'x', sizeof longest - 1);
    memcpy(longest, path.directory, length);
    longest[length] = '/';
    longest[108] = '\0';
    refuse(unix_spec(TR_SOCKET_LISTEN, longest), TR_ADDRESS_INVALID);
    longest[107] = '\0';
    tr_socket_spec spec = unix_spec(TR_SOCKET_LISTEN, longest);
    int fds[2] = {must_open(&spec)};
    spec.role = TR_SOCKET_CONNECT;
    fds[1] = must_open(&spec);
    close_all(fds, 2);
    ck_assert_int_eq(unlink(longest), 0);
    refuse(unix_spec(TR_SOCKET_LISTEN, ""), TR_ADDRESS_INVALID);
    refuse(unix_spec(TR_SOCKET_LISTEN, "@"), TR_ADDRESS_INVALID);
    refuse(unix_spec(TR_SOCKET_LISTEN, "/no/such/directory"), TR_ADDRESS_INVALID);
    path_remove(&path);
}

TEST(a_path_where_nobody_listens_is_refused, "")
{
    struct socket_path path = path_make();
    refuse(unix_spec(TR_SOCKET_CONNECT, path.path), TR_CONNECT_REFUSED);
    tr_socket_spec spec = unix_spec(TR_SOCKET_LISTEN, path.path);
    int fd = must_open(&spec);
    close_all(&fd, 1);
    refuse(unix_spec(TR_SOCKET_CONNECT, path.path), TR_CONNECT_REFUSED);
    refuse(unix_spec(TR_SOCKET_CONNECT, "@troupe-nobody"), TR_CONNECT_REFUSED);
    path_remove(&path);
}

TEST(a_path_whose_listener_is_behind_is_a_limit, "")
{
    struct socket_path path = path_make();
    int fds[16];
    size_t count = 1;
    tr_socket_spec spec = unix_spec(TR_SOCKET_LISTEN, path.path);
    spec.backlog = 1;
    fds[0] = must_open(&spec);
    spec.role = TR_SOCKET_CONNECT;
    while (count < 16 && try_open(&spec, &fds[count]) == TR_OK)
        count++;
    ck_assert_uint_lt(count, 16);
    refuse(spec, TR_LIMIT);
    refuse(unix_spec(TR_SOCKET_LISTEN, path.path), TR_ADDRESS_IN_USE); /* it lives all the same */
    close_all(fds, count);
    path_remove(&path);
}

TEST(an_abstract_name_leaves_no_file, "")
{
    char name[40];
    (void)snprintf(name, sizeof name, "@troupe-open-%d", (int)getpid());
    tr_socket_spec spec = unix_spec(TR_SOCKET_LISTEN, name);
    int fd = must_open(&spec);
    refuse(spec, TR_ADDRESS_IN_USE);
    ck_assert_int_ne(access(name, F_OK), 0);
    struct sockaddr_un address; /* the name has no NUL at its end, as other programs have it */
    socklen_t size = sizeof address;
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    ck_assert_uint_eq(size, offsetof(struct sockaddr_un, sun_path) + strlen(name));
    ck_assert_mem_eq(address.sun_path + 1, name + 1, strlen(name) - 1);
    close_all(&fd, 1);
    fd = must_open(&spec);
    close_all(&fd, 1);
}

/* ---- Inherited descriptors. ---- */

static tr_socket_spec inherited(tr_socket_role role, int number)
{
    static char text[32];
    (void)snprintf(text, sizeof text, "fd:%d", number);
    return unix_spec(role, text);
}

TEST(a_listener_can_be_inherited, "")
{
    int made = socket(AF_INET, SOCK_STREAM, 0); /* as another program would: it blocks */
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    ck_assert_int_eq(bind(made, (struct sockaddr *)&address, sizeof address), 0);
    refuse(inherited(TR_SOCKET_LISTEN, made), TR_INVALID_ARGUMENT); /* it does not listen */
    ck_assert_int_eq(listen(made, 5), 0);
    refuse(inherited(TR_SOCKET_CONNECT, made), TR_INVALID_ARGUMENT);
    refuse(inherited(TR_SOCKET_BIND, made), TR_INVALID_ARGUMENT);
    tr_socket_spec spec = inherited(TR_SOCKET_LISTEN, made);
    int fds[3] = {must_open(&spec)};
    ck_assert_int_eq(fds[0], made);
    ck_assert_int_ne(fcntl(made, F_GETFL) & O_NONBLOCK, 0);
    ck_assert_int_ne(fcntl(made, F_GETFD) & FD_CLOEXEC, 0);
    spec = spec_of(TR_SOCKET_CONNECT, address_of(made, false));
    fds[1] = must_open(&spec);
    fds[2] = must_accept(made, NULL);
    /* A connection can be inherited too. */
    spec = inherited(TR_SOCKET_CONNECT, fds[1]);
    ck_assert_int_eq(must_open(&spec), fds[1]);
    refuse(inherited(TR_SOCKET_LISTEN, fds[1]), TR_INVALID_ARGUMENT);
    close_all(fds, 3);
}

TEST(a_datagram_socket_can_be_inherited, "")
{
    tr_socket_spec spec = spec_of(TR_SOCKET_BIND, loopback_v4(0));
    int made = must_open(&spec);
    spec = inherited(TR_SOCKET_BIND, made);
    ck_assert_int_eq(must_open(&spec), made);
    refuse(inherited(TR_SOCKET_LISTEN, made), TR_INVALID_ARGUMENT);
    close_all(&made, 1);
}

TEST(what_was_inherited_must_be_a_socket, "")
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    refuse(inherited(TR_SOCKET_LISTEN, ends[0]), TR_INVALID_ARGUMENT);
    refuse(inherited(TR_SOCKET_LISTEN, 999), TR_INVALID_ARGUMENT);
    const char *const wrong[] = {"fd:", "fd:x", "fd:-1", "fd:3x", "fd: 3", "fd:99999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refuse(unix_spec(TR_SOCKET_LISTEN, wrong[i]), TR_INVALID_ARGUMENT);
    int other = socket(AF_NETLINK, SOCK_RAW, 0); /* another family */
    if (other >= 0) {
        refuse(inherited(TR_SOCKET_LISTEN, other), TR_INVALID_ARGUMENT);
        close(other);
    }
    close_all(ends, 2);
}

/* The sockets of systemd begin at descriptor 3, which the test framework has in use here. */
TEST(a_listener_of_systemd_has_a_name, "O-64")
{
    char process[24];
    tr_socket_spec spec = spec_of(TR_SOCKET_LISTEN, loopback_v4(0));
    int made = must_open(&spec);
    ck_assert_int_ge(made, 3);
    char names[256] = "";
    for (int i = 3; i < made; i++)
        strcat(names, "other:");
    strcat(names, "web:last");
    char count[24];
    (void)snprintf(process, sizeof process, "%d", (int)getpid());
    (void)snprintf(count, sizeof count, "%d", made - 3 + 1);
    const tr_socket_spec named = unix_spec(TR_SOCKET_LISTEN, "fd:web");
    refuse(named, TR_INVALID_ARGUMENT); /* nothing is said of it */
    ck_assert_int_eq(setenv("LISTEN_PID", process, 1), 0);
    ck_assert_int_eq(setenv("LISTEN_FDS", count, 1), 0);
    ck_assert_int_eq(setenv("LISTEN_FDNAMES", names, 1), 0);
    ck_assert_int_eq(must_open(&named), made);
    refuse(unix_spec(TR_SOCKET_LISTEN, "fd:we"), TR_INVALID_ARGUMENT);
    refuse(unix_spec(TR_SOCKET_LISTEN, "fd:last"),
           TR_INVALID_ARGUMENT); /* one more than there are */
    /* systemd gives the same name to all sockets of a unit: which one is meant cannot be known. */
    char twice[32];
    strcat(names, ":web");
    (void)snprintf(twice, sizeof twice, "%d", made - 3 + 3);
    ck_assert_int_eq(setenv("LISTEN_FDNAMES", names, 1), 0);
    ck_assert_int_eq(must_open(&named), made); /* the other one does not count */
    ck_assert_int_eq(setenv("LISTEN_FDS", twice, 1), 0);
    refuse(named, TR_INVALID_ARGUMENT);
    ck_assert_int_eq(setenv("LISTEN_FDS", "many", 1), 0);
    refuse(named, TR_INVALID_ARGUMENT);
    ck_assert_int_eq(setenv("LISTEN_FDS", count, 1), 0);
    ck_assert_int_eq(setenv("LISTEN_PID", "1", 1), 0); /* it is for another process */
    refuse(named, TR_INVALID_ARGUMENT);
    close_all(&made, 1);
}

SUITE("os socket open", a_listener_of_systemd_has_a_name, what_makes_no_sense_is_refused,
      both_platforms_take_specs_of_the_same_sizes, an_address_has_one_owner_unless_it_is_shared,
      a_listener_comes_back_while_old_connections_end, an_address_must_be_one_of_this_machine,
      what_cannot_be_reached_is_unreachable, a_connection_can_come_from_a_given_address,
      a_listener_of_ipv6_takes_ipv4_unless_told_otherwise,
      every_address_of_a_machine_without_ipv6_is_ipv4, a_socket_that_was_left_behind_is_replaced,
      a_file_that_is_no_socket_is_not_replaced, a_path_has_107_bytes_at_most,
      a_path_where_nobody_listens_is_refused, a_path_whose_listener_is_behind_is_a_limit,
      an_abstract_name_leaves_no_file, a_listener_can_be_inherited,
      a_datagram_socket_can_be_inherited, what_was_inherited_must_be_a_socket)
