%% SPDX-License-Identifier: Apache-2.0
%% An echo server of Erlang: a process per connection, which gets up to 100 messages at a time. It prints its port.
-module(echo).
-export([main/0]).

main() ->
    {ok, Listener} = gen_tcp:listen(0, [binary, {packet, raw}, {active, false}, {nodelay, true}, {backlog, 4096},
                                        {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Listener),
    io:format("~p~n", [Port]),
    accept(Listener).

accept(Listener) ->
    {ok, Socket} = gen_tcp:accept(Listener),
    Session = spawn(fun() -> receive begins -> session(Socket) end end),
    ok = gen_tcp:controlling_process(Socket, Session),
    Session ! begins,
    accept(Listener).

session(Socket) ->
    case inet:setopts(Socket, [{active, 100}]) of
        ok -> echo(Socket);
        {error, _} -> ok
    end.

echo(Socket) ->
    receive
        {tcp, Socket, Bytes} -> gen_tcp:send(Socket, Bytes), echo(Socket);
        {tcp_passive, Socket} -> session(Socket);
        {tcp_closed, Socket} -> ok;
        {tcp_error, Socket, _} -> ok
    end.
