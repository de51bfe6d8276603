/* SPDX-License-Identifier: Apache-2.0 */
/**
 * CAF, the C++ Actor Framework: 0.17, which Debian packages, or 1.0 and newer (its mail API).
 */
#include "benchutil.h"
#include <caf/all.hpp>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>
using namespace caf;
/* Not by CAF_VERSION, which 1.0.2 says is 2. */
#ifndef CAF_VERSION_MAJOR
#define CAF017
#endif
#ifdef CAF017
#define PEER "caf-0.17"
#define SEND(self, to, ...) (self)->send(to, __VA_ARGS__)
#define ASEND(to, ...) anon_send(to, __VA_ARGS__)
#define REQ(self, to, ...) (self)->request(to, infinite, __VA_ARGS__)
#else
#define PEER "caf-main"
#define SEND(self, to, ...) (self)->mail(__VA_ARGS__).send(to)
#define ASEND(to, ...) anon_mail(__VA_ARGS__).send(to)
#define REQ(self, to, ...) (self)->mail(__VA_ARGS__).request(to, infinite)
#endif
using u64 = uint64_t;
using i32 = int32_t;
static std::mutex dm;
static std::condition_variable dc;
static u64 dcount, dval;
static void bdone(u64 v = 0)
{
    std::lock_guard<std::mutex> g(dm);
    dval = v;
    ++dcount;
    dc.notify_one();
}
static void wait_done(u64 n)
{
    std::unique_lock<std::mutex> g(dm);
    dc.wait(g, [&] { return dcount >= n; });
}
static std::vector<actor> tab;
static u64 N;

struct pong : event_based_actor {
    explicit pong(actor_config &c) : event_based_actor(c)
    {
    }
    actor peer;
    behavior make_behavior() override
    {
        return {[this](const actor &p) { peer = p; }, [this](u64 v) { SEND(this, peer, v); }};
    }
};
struct ping : event_based_actor {
    actor peer;
    u64 left = 0;
    ping(actor_config &c, actor p) : event_based_actor(c), peer(std::move(p))
    {
    }
    behavior make_behavior() override
    {
        return {[this](i32) {
                    left = N;
                    SEND(this, peer, left);
                },
                [this](u64) {
                    if (--left == 0)
                        bdone();
                    else
                        SEND(this, peer, left);
                }};
    }
};
struct ring : event_based_actor {
    actor next;
    explicit ring(actor_config &c) : event_based_actor(c)
    {
    }
    behavior make_behavior() override
    {
        return {[this](const actor &n) { next = n; },
                [this](u64 v) {
                    if (v == 0)
                        bdone();
                    else
                        SEND(this, next, v - 1);
                }};
    }
};
struct sink : event_based_actor {
    u64 cnt = 0, want;
    sink(actor_config &c, u64 w) : event_based_actor(c), want(w)
    {
    }
    behavior make_behavior() override
    {
        return {[this](u64) {
            if (++cnt == want)
                bdone();
        }};
    }
};
struct source : event_based_actor {
    actor to;
    source(actor_config &c, actor t) : event_based_actor(c), to(std::move(t))
    {
    }
    behavior make_behavior() override
    {
        return {[this](i32) {
            for (u64 i = 0; i < N; i++)
                SEND(this, to, i);
            quit();
        }};
    }
};
struct sky : event_based_actor {
    actor parent;
    u64 sum = 0;
    int left = 10;
    sky(actor_config &c, actor p) : event_based_actor(c), parent(std::move(p))
    {
    }
    behavior make_behavior() override
    {
        return {[this](u64 num, u64 size) {
                    if (size == 1) {
                        if (parent)
                            SEND(this, parent, num);
                        quit();
                        return;
                    }
                    size /= 10;
                    for (u64 i = 0; i < 10; i++) {
                        auto ch = home_system().spawn<sky>(actor{this});
                        SEND(this, ch, num + i * size, size);
                    }
                },
                [this](u64 v) {
                    sum += v;
                    if (--left == 0) {
                        if (parent)
                            SEND(this, parent, sum);
                        else
                            bdone(sum);
                        quit();
                    }
                }};
    }
};
static std::atomic<u64> inits;
struct idle : event_based_actor {
    u64 state = 0;
    actor coll;
    idle(actor_config &c, actor k) : event_based_actor(c), coll(std::move(k))
    {
    }
    behavior make_behavior() override
    {
        inits.fetch_add(1, std::memory_order_relaxed);
        return {[this](u64 v) {
            state = v;
            SEND(this, coll, v);
        }};
    }
};
static constexpr u64 NB = 120;
struct bigger : event_based_actor {
    u64 me, s, left;
    bigger(actor_config &c, u64 m)
        : event_based_actor(c), me(m), s(88172645463325252ull + m * 7919), left(N)
    {
    }
    void next()
    {
        u64 t = bu_rng(&s) % (NB - 1);
        if (t >= me)
            t++;
        SEND(this, tab[t], me);
    }
    behavior make_behavior() override
    {
        return {[this](i32) { next(); },
                [this](u64 from) { SEND(this, tab[from], me, me); },
                [this](u64, u64) {
                    if (--left == 0)
                        bdone();
                    else
                        next();
                }};
    }
};
struct account : event_based_actor {
    u64 bal = 0;
    explicit account(actor_config &c) : event_based_actor(c)
    {
    }
    behavior make_behavior() override
    {
        return {[this](u64 v) -> u64 { return bal += v; }};
    }
};
struct teller : event_based_actor {
    u64 s, left = 0;
    teller(actor_config &c, u64 seed) : event_based_actor(c), s(88172645463325252ull + seed)
    {
    }
    void next()
    {
        REQ(this, tab[bu_rng(&s) % tab.size()], u64{1}).then([this](u64) {
            if (--left == 0)
                bdone();
            else
                next();
        });
    }
    behavior make_behavior() override
    {
        return {[this](i32) {
            left = N;
            next();
        }};
    }
};
#ifndef CAF017
struct timers : event_based_actor {
    u64 fired = 0, want = 0, t_arm = 0, t_cancel = 0;
    explicit timers(actor_config &c) : event_based_actor(c)
    {
    }
    behavior make_behavior() override
    {
        return {[this](i32) {
                    std::vector<disposable> d;
                    d.reserve(N);
                    u64 t0 = bu_now();
                    for (u64 i = 0; i < N; i++)
                        d.push_back(mail(i)
                                        .delay(std::chrono::milliseconds(3000 + (i * 7919) % 2000))
                                        .send(this));
                    u64 t1 = bu_now();
                    for (u64 i = 0; i < N; i++)
                        if (i % 10)
                            d[i].dispose();
                        else
                            want++;
                    t_cancel = bu_now() - t1;
                    t_arm = t1 - t0;
                },
                [this](u64) {
                    if (++fired == want)
                        bdone();
                }};
    }
};
#endif
int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    std::string w = argv[1];
    int th = atoi(argv[2]);
    actor_system_config cfg;
#ifdef CAF017
    cfg.set("scheduler.max-threads", static_cast<size_t>(th));
    if (getenv("CAF_POLICY"))
        cfg.set("scheduler.policy", atom_from_string(getenv("CAF_POLICY")));
#else
    core::init_global_meta_objects();
    cfg.set("caf.scheduler.max-threads", static_cast<size_t>(th));
    if (getenv("CAF_POLICY"))
        cfg.set("caf.scheduler.policy", std::string(getenv("CAF_POLICY")));
    if (getenv("CAF_NOMETRIC"))
        cfg.set("caf.metrics.disable-running-actors", true);
#endif
    actor_system sys{cfg};
    u64 t0, e;
    if (w == "pingpong_local" || w == "pingpong_cross") {
        bool cross = w == "pingpong_cross";
        N = bu_n(cross ? 200000 : 5000000);
        t0 = bu_now();
        actor b = cross ? sys.spawn<pong, detached>() : sys.spawn<pong>();
        actor a = cross ? sys.spawn<ping, detached>(b) : sys.spawn<ping>(b);
        ASEND(b, a);
        ASEND(a, i32{0});
        wait_done(1);
        bu_report(PEER, argv[1], th, N, bu_now() - t0);
    } else if (w == "ring") {
        N = bu_n(5000000);
        for (int i = 0; i < 1000; i++)
            tab.push_back(sys.spawn<ring>());
        for (int i = 0; i < 1000; i++)
            ASEND(tab[i], tab[(i + 1) % 1000]);
        t0 = bu_now();
        ASEND(tab[0], N);
        wait_done(1);
        bu_report(PEER, argv[1], th, N, bu_now() - t0);
    } else if (w == "fanin20" || w == "fanin2" || w == "counting") {
        u64 k = w == "counting" ? 1 : strtoull(argv[1] + 5, nullptr, 10);
        N = bu_n(k == 1 ? 10000000 : 1000000);
        t0 = bu_now();
        actor r = sys.spawn<sink>(N * k);
        for (u64 i = 0; i < k; i++)
            tab.push_back(sys.spawn<source>(r));
        for (auto &a : tab)
            ASEND(a, i32{0});
        wait_done(1);
        bu_report(PEER, argv[1], th, N * k, bu_now() - t0);
    } else if (w == "spawn_tree") {
        u64 leaves = bu_leaves(1000000);
        t0 = bu_now();
        actor r = sys.spawn<sky>(actor{});
        ASEND(r, u64{0}, leaves);
        wait_done(1);
        e = bu_now() - t0;
        if (dval != leaves * (leaves - 1) / 2) {
            fprintf(stderr, "bad sum\n");
            return 3;
        }
        bu_report(PEER, argv[1], th, bu_nodes(leaves), e);
    } else if (w == "idle_memory") {
        u64 n = bu_n(1000000);
        actor c = sys.spawn<sink>(n);
        tab.resize(n);
        u64 r0 = bu_rss();
        t0 = bu_now();
        for (u64 i = 0; i < n; i++)
            tab[i] = sys.spawn<idle>(c);
        while (inits.load() < n)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        e = bu_now() - t0;
        bu_report_idle(PEER, argv[1], th, n, e, bu_rss() - r0);
        t0 = bu_now();
        for (u64 i = 0; i < n; i++)
            ASEND(tab[i], i);
        wait_done(1);
        e = bu_now() - t0;
        bu_report_idle(PEER, "idle_touched", th, n, e, bu_rss() - r0);
    } else if (w == "big") {
        N = bu_n(20000);
        for (u64 i = 0; i < NB; i++)
            tab.push_back(sys.spawn<bigger>(i));
        t0 = bu_now();
        for (auto &a : tab)
            ASEND(a, i32{0});
        wait_done(NB);
        bu_report(PEER, argv[1], th, N * NB, bu_now() - t0);
    } else if (w == "bank_ask" || w == "bank_ask_c20") {
        u64 nt = w == "bank_ask" ? 1 : 20;
        N = bu_n(2000000) / nt;
        for (int i = 0; i < 1000; i++)
            tab.push_back(sys.spawn<account>());
        t0 = bu_now();
        for (u64 i = 0; i < nt; i++) {
            auto t = sys.spawn<teller>(i);
            ASEND(t, i32{0});
        }
        wait_done(nt);
        bu_report(PEER, argv[1], th, N * nt, bu_now() - t0);
#ifndef CAF017
    } else if (w == "timer_storm") {
        N = bu_n(1000000);
        actor a = sys.spawn<timers>();
        ASEND(a, i32{0});
        wait_done(1);
        auto *p = static_cast<timers *>(actor_cast<abstract_actor *>(a));
        u64 nc = N - p->want;
        char x[160];
        snprintf(x,
                 160,
                 "\"arm_ns\":%.1f,\"cancel_ns\":%.1f,\"fired\":%llu",
                 double(p->t_arm) / N,
                 double(p->t_cancel) / nc,
                 (unsigned long long)p->fired);
        bu_report_x(PEER, argv[1], th, N + nc, p->t_arm + p->t_cancel, bu_peak(), x);
#endif
    } else {
        fprintf(stderr, "n/a\n");
        return 4;
    }
    fflush(stdout);
    _exit(0);
}
