%% SPDX-License-Identifier: Apache-2.0
%% Erlang/OTP: one process per actor.
%% erl +S T:T +P 4194304 -noshell -noinput -pa DIR -run bench main WORKLOAD T
-module(bench).
-export([main/1]).
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2]).
-compile([{inline, [rng/1]}]).

peer() -> list_to_binary("erlang-otp" ++ erlang:system_info(otp_release)).
now_ns() -> erlang:monotonic_time(nanosecond).
env(Name) ->
    case os:getenv(Name) of
        false -> 1;
        S -> max(1, list_to_integer(S))
    end.
%% N by its definition, scaled by the environment.
sc(N) -> max(1, N * env("TIMES") div env("SCALE")).
%% The leaves of the tree: the largest power of ten within sc(N).
leaves(N) -> leaves(1, sc(N)).
leaves(L, N) when L * 10 =< N -> leaves(L * 10, N);
leaves(L, _) -> L.
status(Key) ->
    {ok, B} = file:read_file("/proc/self/status"),
    {match, [V]} = re:run(B, Key ++ ":\\s+(\\d+)", [{capture, all_but_first, list}]),
    list_to_integer(V) * 1024.
rss() -> status("VmRSS").
peak() -> status("VmHWM").
rep(W, T, Ops, Ns, Rss, Extra) ->
    S = Ns / 1.0e9,
    io:format("{\"peer\":\"~s\",\"workload\":\"~s\",\"threads\":~b,\"ops\":~b,\"seconds\":~.6f,\"ops_per_s\":~.1f,\"rss_bytes\":~b~s}~n",
              [peer(), W, T, Ops, S, Ops / S, Rss, Extra]).
rep(W, T, Ops, Ns) -> rep(W, T, Ops, Ns, peak(), "").
rng(X0) ->
    X1 = (X0 bxor (X0 bsl 13)) band 16#3ffffffffffffff,
    X2 = X1 bxor (X1 bsr 7),
    (X2 bxor (X2 bsl 17)) band 16#3ffffffffffffff.

main([W, Ts]) ->
    T = list_to_integer(Ts),
    process_flag(message_queue_data, off_heap),
    R = (catch run(W, T)),
    case R of
        ok -> halt(0);
        na -> io:format(standard_error, "n/a~n", []), halt(4);
        E -> io:format(standard_error, "~p~n", [E]), halt(3)
    end.

so(F, cross, Sch) -> spawn_opt(F, [{scheduler, Sch}]);
so(F, _, _) -> spawn(F).

pong() -> receive {P, V} -> P ! V, pong() end.
ping(_, 0, M) -> M ! done;
ping(P, N, M) -> P ! {self(), N}, receive N -> ping(P, N - 1, M) end.
ring(M) -> receive {next, P} -> ring(P, M) end.
ring(P, M) -> receive 0 -> M ! done, ring(P, M); V -> P ! (V - 1), ring(P, M) end.
sink(0, M) -> M ! done;
sink(N, M) -> receive _ -> sink(N - 1, M) end.
source(_, 0) -> ok;
source(P, N) -> P ! N, source(P, N - 1).
sky(Num, 1, Parent) -> Parent ! Num;
sky(Num, Size, Parent) ->
    S = Size div 10, Me = self(),
    spawn10(0, Num, S, Me),
    Parent ! sum(10, 0).
spawn10(10, _, _, _) -> ok;
spawn10(I, Num, S, Me) -> spawn(fun() -> sky(Num + I * S, S, Me) end), spawn10(I + 1, Num, S, Me).
sum(0, A) -> A;
sum(N, A) -> receive V -> sum(N - 1, A + V) end.
idle(M) -> receive V -> M ! V, idle(M) end.
drain(0) -> ok;
drain(N) -> receive _ -> drain(N - 1) end.
big_init(Me, N, M) ->
    receive {go, Tab} -> S = big_next(Me, rng(88172645463325252 + Me * 7919), Tab), big(Me, S, N, Tab, M) end.
big_next(Me, S, Tab) ->
    R = S rem 119,
    T = if R >= Me -> R + 1; true -> R end,
    element(T + 1, Tab) ! {ping, self()},
    rng(S).
big(Me, S, N, Tab, M) ->
    receive
        {ping, P} -> P ! pong, big(Me, S, N, Tab, M);
        pong when N =:= 1 -> M ! done, big(Me, S, 0, Tab, M);
        pong -> big(Me, big_next(Me, S, Tab), N - 1, Tab, M)
    end.
init(_) -> {ok, 0}.
handle_call(V, _From, B) -> {reply, B + V, B + V}.
handle_cast(_, B) -> {noreply, B}.
teller(0, _, _, M) -> M ! done;
teller(N, S, Tab, M) ->
    _ = gen_server:call(element(S rem 1000 + 1, Tab), 1, infinity),
    teller(N - 1, rng(S), Tab, M).
%% raw ask: send + selective receive on a fresh ref, no gen_server, no monitor
raw_acc(B) -> receive {P, R, V} -> P ! {R, B + V}, raw_acc(B + V) end.
raw_teller(0, _, _, M) -> M ! done;
raw_teller(N, S, Tab, M) ->
    R = make_ref(),
    element(S rem 1000 + 1, Tab) ! {self(), R, 1},
    receive {R, _} -> ok end,
    raw_teller(N - 1, rng(S), Tab, M).
arm(N, N, A) -> A;
arm(I, N, A) -> arm(I + 1, N, [erlang:start_timer(3000 + (I * 7919) rem 2000, self(), I) | A]).
cancel([], _, W) -> W;
cancel([R | Rs], I, W) when I rem 10 =/= 0 ->
    _ = erlang:cancel_timer(R, [{async, false}, {info, true}]), cancel(Rs, I - 1, W);
cancel([_ | Rs], I, W) -> cancel(Rs, I - 1, W + 1).

run(W, T) when W =:= "pingpong_local"; W =:= "pingpong_cross" ->
    {N, C} = case W of "pingpong_cross" -> {sc(200000), cross}; _ -> {sc(5000000), local} end,
    M = self(), T0 = now_ns(),
    B = so(fun pong/0, C, 1),
    so(fun() -> ping(B, N, M) end, C, 2),
    receive done -> ok end,
    rep(W, T, N, now_ns() - T0);
run("ring" = W, T) ->
    N = sc(5000000), M = self(),
    Ps = [spawn(fun() -> ring(M) end) || _ <- lists:seq(1, 1000)],
    lists:foreach(fun({A, B}) -> A ! {next, B} end, lists:zip(Ps, tl(Ps) ++ [hd(Ps)])),
    T0 = now_ns(), hd(Ps) ! N,
    receive done -> ok end,
    rep(W, T, N, now_ns() - T0);
run(W, T) when W =:= "fanin20"; W =:= "fanin2"; W =:= "counting" ->
    {K, N} = case W of "counting" -> {1, sc(10000000)}; "fanin" ++ X -> {list_to_integer(X), sc(1000000)} end,
    M = self(), T0 = now_ns(),
    R = spawn_opt(fun() -> sink(N * K, M) end, [{message_queue_data, off_heap}]),
    [spawn(fun() -> source(R, N) end) || _ <- lists:seq(1, K)],
    receive done -> ok end,
    rep(W, T, N * K, now_ns() - T0);
run("spawn_tree" = W, T) ->
    L = leaves(1000000), Tot = (L * 10 - 1) div 9,
    M = self(), T0 = now_ns(),
    spawn(fun() -> sky(0, L, M) end),
    receive S -> S = L * (L - 1) div 2 end,
    rep(W, T, Tot, now_ns() - T0);
run("idle_memory" = W, T) ->
    N = sc(1000000), M = self(),
    erlang:garbage_collect(),
    R0 = rss(), T0 = now_ns(),
    Ps = [spawn(fun() -> idle(M) end) || _ <- lists:seq(1, N)],
    E = now_ns() - T0,
    timer:sleep(300),
    R1 = rss() - R0,
    rep(W, T, N, E, R1, io_lib:format(",\"bytes_per_actor\":~.1f", [R1 / N])),
    T1 = now_ns(),
    lists:foreach(fun(P) -> P ! 7 end, Ps),
    drain(N),
    E1 = now_ns() - T1,
    R2 = rss() - R0,
    rep("idle_touched", T, N, E1, R2, io_lib:format(",\"bytes_per_actor\":~.1f", [R2 / N]));
run("big" = W, T) ->
    N = sc(20000), M = self(),
    Ps = [spawn(fun() -> big_init(I, N, M) end) || I <- lists:seq(0, 119)],
    Tab = list_to_tuple(Ps),
    T0 = now_ns(),
    [P ! {go, Tab} || P <- Ps],
    drain(120),
    rep(W, T, N * 120, now_ns() - T0);
run(W, T) when W =:= "bank_ask"; W =:= "bank_ask_c20"; W =:= "bank_ask_raw" ->
    K = case W of "bank_ask_c20" -> 20; _ -> 1 end,
    N = sc(2000000) div K, M = self(),
    Tab = list_to_tuple([case W of "bank_ask_raw" -> spawn(fun() -> raw_acc(0) end);
                             _ -> {ok, P} = gen_server:start(?MODULE, [], []), P end || _ <- lists:seq(1, 1000)]),
    T0 = now_ns(),
    [spawn(fun() -> case W of "bank_ask_raw" -> raw_teller(N, rng(88172645463325252 + I), Tab, M);
                        _ -> teller(N, rng(88172645463325252 + I), Tab, M) end end) || I <- lists:seq(1, K)],
    drain(K),
    rep(W, T, N * K, now_ns() - T0);
run("timer_storm" = W, T) ->
    N = sc(1000000),
    T0 = now_ns(),
    L = arm(0, N, []),
    T1 = now_ns(),
    Want = cancel(L, N - 1, 0),
    T2 = now_ns(),
    drain(Want),
    NC = N - Want,
    rep(W, T, N + NC, T2 - T0, peak(), io_lib:format(",\"arm_ns\":~.1f,\"cancel_ns\":~.1f,\"fired\":~b",
        [(T1 - T0) / N, (T2 - T1) / NC, Want]));
run("latency_" ++ _ = W, _) -> latency:run(W);
run(_, _) -> na.
