// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/bits"
	"os"
	"runtime"
	"sort"
	"time"
)

// How long an ask takes at 10, 50 and 90 % of what can be done; bench/micro/latency.c says how.

const (
	waitingMax = 1024
	sendsMax   = 64
	fine       = 64
	trialNs    = 2e8
	levelNs    = 1e9
	trials     = 5
)

type question struct {
	due   float64
	reply chan float64
}

type tally struct {
	buckets [64 * fine]uint64
	count   uint64
}

func (t *tally) add(ns uint64) {
	shift := 0
	if ns >= fine {
		shift = bits.Len64(ns) - 6
	}
	t.buckets[uint64(shift)*(fine/2)+ns>>shift]++
	t.count++
}

func (t *tally) percentile(share float64) uint64 {
	left := uint64(share * float64(t.count))
	i := 0
	for i < len(t.buckets)-1 && t.buckets[i] <= left {
		left -= t.buckets[i]
		i++
	}
	if i < fine {
		return uint64(i)
	}
	shift := i/(fine/2) - 1
	return uint64(i-shift*(fine/2)+1) << shift
}

var latencyEpoch = time.Now()

func nowNs() float64 { return float64(time.Since(latencyEpoch)) }

// level runs one load, 0 for as many as can be, and gives the asks of a second.
func level(oracle chan question, rate float64, t *tally) float64 {
	*t = tally{}
	replies := make(chan float64, waitingMax)
	waiting := 0
	from := nowNs()
	due, end, mean := from, from+levelNs, 1e9/rate
	if rate == 0 {
		end, mean = from+trialNs, 0 // one is due at any time
	}
	random := uint64(1)
	for {
		now := nowNs()
		if rate == 0 {
			due = now
		}
		for i := 0; i < sendsMax && waiting < waitingMax && due <= now && due < end; i++ {
			oracle <- question{due, replies}
			waiting++
			random = random*6364136223846793005 + 1442695040888963407
			due -= math.Log((float64(random>>11)+0.5)/9007199254740992.0) * mean
		}
	drain:
		for {
			select {
			case stamp := <-replies:
				t.add(uint64(nowNs() - stamp))
				waiting--
			default:
				break drain
			}
		}
		if waiting == 0 && due >= end {
			return float64(t.count) * 1e9 / (nowNs() - from)
		}
		runtime.Gosched()
	}
}

func latency(name string) {
	if name == "latency_local" {
		runtime.GOMAXPROCS(1)
	} else {
		runtime.GOMAXPROCS(2)
	}
	oracle := make(chan question, waitingMax)
	go func() {
		for q := range oracle {
			q.reply <- q.due
		}
	}()
	t := new(tally)
	var found [trials]float64
	for i := range found {
		found[i] = level(oracle, 0, t)
	}
	sort.Float64s(found[:])
	capacity := found[trials/2]
	for _, load := range []int{10, 50, 90} {
		rate := level(oracle, capacity*float64(load)/100, t)
		fmt.Printf("{\"peer\":\"%s\",\"workload\":\"%s\",\"load\":%d,\"capacity\":%.0f,\"rate\":%.0f,"+
			"\"p50\":%d,\"p99\":%d,\"p999\":%d}\n", peer, name, load, capacity, rate,
			t.percentile(0.5), t.percentile(0.99), t.percentile(0.999))
	}
	os.Exit(0)
}
