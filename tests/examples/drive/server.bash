# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Functions for the scripts that drive a server: tests/examples/drive/<name> <built examples> <directory for files>.
set -uo pipefail
built=$1
scratch=$2

# serve NAME ARGUMENTS... starts a server. The last word of the first line that it prints is its address. Sets host, port, and
# server_output, the descriptor of what it prints then.
serve() {
    local line fifo=$scratch/output.$$
    mkfifo "$fifo" || exit 1
    "$built/$1" "${@:2}" >"$fifo" &
    server=$!
    trap 'kill "$server" 2>/dev/null' EXIT
    exec {server_output}<"$fifo"
    rm -f "$fifo"
    read -r line <&"$server_output" || exit 1
    host=${line##* }
    port=${host##*:}
    host=${host%:*}
}

# Ends the server as a person would, and prints how it has ended.
stop() {
    kill -TERM "$server"
    wait "$server"
    echo "the server has ended with $?"
    trap - EXIT
}

# dial sets `peer`, the descriptor of a new connection.
dial() {
    exec {peer}<>"/dev/tcp/$host/$port" || exit 1
}

# dial_by COMMAND... starts a program that connects to the server. Sets `to` and `from`, the descriptors of its input and its
# output, and `client`. Only one at a time: a second one would keep the input of the first open.
dial_by() {
    rm -f "$scratch/to.$$" "$scratch/from.$$"
    mkfifo "$scratch/to.$$" "$scratch/from.$$" || exit 1
    "$@" <"$scratch/to.$$" >"$scratch/from.$$" &
    client=$!
    exec {to}>"$scratch/to.$$" {from}<"$scratch/from.$$"
    rm -f "$scratch/to.$$" "$scratch/from.$$"
}

# Closes the input of that program, and prints how it has ended.
hang_up() {
    exec {to}>&-
    wait "$client"
    echo "$1 has ended with $?"
    exec {from}<&-
}
