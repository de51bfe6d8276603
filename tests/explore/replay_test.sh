#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A replay line of a caught bug fails again, in the same way, each time.
# usage: replay_test.sh EXPLORE
explore=$1
for strategy in random pct2 pct3 dfs; do
    line=$("$explore" canary1_no_recheck --strategy $strategy --memory sc --trace |
        sed -n 's/^  replay: explore //p')
    [ -n "$line" ] || { echo "no replay line for $strategy"; exit 1; }
    first=$("$explore" $line) && { echo "explore $line: passes"; exit 1; }
    second=$("$explore" $line)
    [ "$first" = "$second" ] || { echo "explore $line: two traces"; exit 1; }
    echo "$first" | grep -q 'lost wake-up' || { echo "explore $line: another failure"; exit 1; }
done
