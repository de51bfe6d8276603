%% SPDX-License-Identifier: Apache-2.0
%% How long an ask takes at 10, 50 and 90 % of what can be done; bench/micro/latency.c says how. An ask is
%% a message and its reply, without a monitor and without a timeout.
-module(latency).
-export([run/1]).

-define(WAITING_MAX, 1024).
-define(SENDS_MAX, 64).
-define(FINE, 64).
-define(TRIAL_NS, 200000000).
-define(LEVEL_NS, 1000000000).
-define(TRIALS, 5).
-define(BUCKETS, (64 * ?FINE)).

now_ns() -> erlang:monotonic_time(nanosecond).

run(Name) ->
    Schedulers = erlang:system_info(schedulers_online),
    Oracle = spawn_opt(fun oracle/0, [{scheduler, Schedulers}]),
    Me = self(),
    spawn_opt(fun() -> Me ! {done, measure(Name, Oracle)} end, [{scheduler, 1}]),
    receive {done, Result} -> Result end.

oracle() -> receive {From, Due} -> From ! Due, oracle() end.

measure(Name, Oracle) ->
    Trials = lists:sort([element(1, level(Oracle, 0)) || _ <- lists:seq(1, ?TRIALS)]),
    Capacity = lists:nth(?TRIALS div 2 + 1, Trials),
    lists:foreach(
        fun(Load) ->
            {Rate, Tally} = level(Oracle, Capacity * Load / 100),
            io:format("{\"peer\":\"erlang-otp~s\",\"workload\":\"~s\",\"load\":~b,\"capacity\":~b,"
                      "\"rate\":~b,\"p50\":~b,\"p99\":~b,\"p999\":~b}~n",
                      [erlang:system_info(otp_release), Name, Load, round(Capacity), round(Rate)
                       | [percentile(Tally, Share) || Share <- [0.5, 0.99, 0.999]]])
        end, [10, 50, 90]),
    ok.

level(Oracle, Rate) ->
    Tally = counters:new(?BUCKETS, []),
    From = now_ns(),
    {End, Mean} = case Rate of
        0 -> {From + ?TRIAL_NS, 0.0}; % one is due at any time
        _ -> {From + ?LEVEL_NS, 1.0e9 / Rate}
    end,
    Count = ask(Oracle, Tally, From, End, Mean, rand:seed_s(exsss, 1), 0, 0),
    {Count * 1.0e9 / (now_ns() - From), Tally}.

ask(Oracle, Tally, LastDue, End, Mean, Random, Waiting, Count) ->
    Now = now_ns(),
    Due = case Mean == 0 of true -> Now; false -> LastDue end,
    Room = min(?SENDS_MAX, ?WAITING_MAX - Waiting),
    {Next, NextRandom, Sent} = send_due(Oracle, Due, min(Now, End - 1), Mean, Random, Room, 0),
    Got = drain(Tally, 0),
    Left = Waiting + Sent - Got,
    case Left =:= 0 andalso Next >= End of
        true -> Count + Got;
        false ->
            erlang:yield(),
            ask(Oracle, Tally, Next, End, Mean, NextRandom, Left, Count + Got)
    end.

send_due(Oracle, Due, Now, Mean, Random, Room, Sent) when Sent < Room, Due =< Now ->
    Oracle ! {self(), trunc(Due)},
    {Share, Next} = rand:uniform_real_s(Random),
    send_due(Oracle, Due - math:log(Share) * Mean, Now, Mean, Next, Room, Sent + 1);
send_due(_, Due, _, _, Random, _, Sent) -> {Due, Random, Sent}.

drain(Tally, Got) ->
    receive Due -> count(Tally, now_ns() - Due), drain(Tally, Got + 1)
    after 0 -> Got
    end.

count(Tally, Ns) ->
    Shift = shift(Ns, 0),
    counters:add(Tally, Shift * (?FINE div 2) + (Ns bsr Shift) + 1, 1).

shift(Ns, Shift) when Ns < ?FINE -> Shift;
shift(Ns, Shift) -> shift(Ns bsr 1, Shift + 1).

percentile(Tally, Share) ->
    All = lists:sum([counters:get(Tally, I) || I <- lists:seq(1, ?BUCKETS)]),
    percentile(Tally, trunc(Share * All), 0).

percentile(Tally, Left, I) ->
    case counters:get(Tally, I + 1) of
        N when N =< Left, I < ?BUCKETS - 1 -> percentile(Tally, Left - N, I + 1);
        _ when I < ?FINE -> I;
        _ ->
            Shift = I div (?FINE div 2) - 1,
            (I - Shift * (?FINE div 2) + 1) bsl Shift
    end.
