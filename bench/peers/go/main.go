// SPDX-License-Identifier: Apache-2.0

// Go: one goroutine per actor, a channel as its mailbox.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

var peer = strings.Replace(runtime.Version(), "go", "go-", 1)

func rd(key string) uint64 {
	b, _ := os.ReadFile("/proc/self/status")
	for _, l := range strings.Split(string(b), "\n") {
		if strings.HasPrefix(l, key+":") {
			v, _ := strconv.ParseUint(strings.Fields(l)[1], 10, 64)
			return v * 1024
		}
	}
	return 0
}

func env(name string) uint64 {
	v, _ := strconv.ParseUint(os.Getenv(name), 10, 64)
	if v == 0 {
		v = 1
	}
	return v
}

// sc gives n by its definition, scaled by the environment.
func sc(n uint64) uint64 {
	n = n * env("TIMES") / env("SCALE")
	if n == 0 {
		n = 1
	}
	return n
}

// leaves gives those of the tree: the largest power of ten within sc(n).
func leaves(n uint64) uint64 {
	l := uint64(1)
	for l*10 <= sc(n) {
		l *= 10
	}
	return l
}

func rep(w string, th int, ops uint64, d time.Duration, rss uint64, extra string) {
	s := d.Seconds()
	if extra != "" {
		extra = "," + extra
	}
	fmt.Printf("{\"peer\":\"%s\",\"workload\":\"%s\",\"threads\":%d,\"ops\":%d,\"seconds\":%.6f,\"ops_per_s\":%.1f,\"rss_bytes\":%d%s}\n",
		peer, w, th, ops, s, float64(ops)/s, rss, extra)
}
func rng(s *uint64) uint64 {
	x := *s
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	*s = x
	return x
}

func sky(num, size uint64, parent chan uint64) {
	if size == 1 {
		parent <- num
		return
	}
	c := make(chan uint64, 1)
	size /= 10
	for i := uint64(0); i < 10; i++ {
		go sky(num+i*size, size, c)
	}
	var s uint64
	for i := 0; i < 10; i++ {
		s += <-c
	}
	parent <- s
}

type req struct {
	v     uint64
	reply chan uint64
}
type bm struct {
	kind int
	from int
}

func main() {
	if len(os.Args) < 3 {
		os.Exit(1)
	}
	w := os.Args[1]
	th, _ := strconv.Atoi(os.Args[2])
	runtime.GOMAXPROCS(th)
	done := make(chan uint64, 128)
	switch w {
	case "pingpong_local", "pingpong_cross":
		cross := w == "pingpong_cross"
		n := sc(5000000)
		if cross {
			n = sc(100000)
		}
		a, b := make(chan uint64, 1), make(chan uint64, 1)
		t0 := time.Now()
		go func() {
			if cross {
				runtime.LockOSThread()
			}
			for v := range b {
				a <- v
			}
		}()
		go func() {
			if cross {
				runtime.LockOSThread()
			}
			for i := n; i > 0; i-- {
				b <- i
				<-a
			}
			done <- 1
		}()
		<-done
		rep(w, th, n, time.Since(t0), rd("VmHWM"), "")
	case "ring":
		n := sc(5000000)
		cs := make([]chan uint64, 1000)
		for i := range cs {
			cs[i] = make(chan uint64, 1)
		}
		for i := range cs {
			go func(in, out chan uint64) {
				for v := range in {
					if v == 0 {
						done <- 1
					} else {
						out <- v - 1
					}
				}
			}(cs[i], cs[(i+1)%1000])
		}
		t0 := time.Now()
		cs[0] <- n
		<-done
		rep(w, th, n, time.Since(t0), rd("VmHWM"), "")
	case "fanin20", "fanin2", "counting":
		k, n := uint64(1), sc(10000000)
		if w != "counting" {
			k, _ = strconv.ParseUint(w[5:], 10, 64)
			n = sc(1000000)
		}
		c := make(chan uint64, 1024)
		t0 := time.Now()
		go func() {
			var cnt uint64
			for cnt < n*k {
				<-c
				cnt++
			}
			done <- cnt
		}()
		for i := uint64(0); i < k; i++ {
			go func() {
				for j := uint64(0); j < n; j++ {
					c <- j
				}
			}()
		}
		<-done
		rep(w, th, n*k, time.Since(t0), rd("VmHWM"), "")
	case "spawn_tree":
		l := leaves(1000000)
		t0 := time.Now()
		go sky(0, l, done)
		s := <-done
		d := time.Since(t0)
		if s != l*(l-1)/2 {
			panic("bad sum")
		}
		rep(w, th, (l*10-1)/9, d, rd("VmHWM"), "")
	case "idle_memory":
		n := sc(1000000)
		cs := make([]chan uint64, n)
		for i := range cs {
			cs[i] = nil
		}
		r0 := rd("VmRSS")
		t0 := time.Now()
		for i := range cs {
			c := make(chan uint64, 1)
			cs[i] = c
			go func() {
				for v := range c {
					done <- v
				}
			}()
		}
		d := time.Since(t0)
		time.Sleep(300 * time.Millisecond)
		r1 := rd("VmRSS") - r0
		rep(w, th, n, d, r1, fmt.Sprintf("\"bytes_per_actor\":%.1f", float64(r1)/float64(n)))
		t0 = time.Now()
		go func() {
			for i := range cs {
				cs[i] <- uint64(i)
			}
		}()
		for i := uint64(0); i < n; i++ {
			<-done
		}
		d = time.Since(t0)
		r1 = rd("VmRSS") - r0
		rep("idle_touched", th, n, d, r1, fmt.Sprintf("\"bytes_per_actor\":%.1f", float64(r1)/float64(n)))
	case "big":
		n := sc(20000)
		const nb = 120
		var cs [nb]chan bm
		for i := range cs {
			cs[i] = make(chan bm, 256)
		}
		t0 := time.Now()
		for i := 0; i < nb; i++ {
			go func(me int) {
				s := uint64(88172645463325252) + uint64(me)*7919
				left := n
				next := func() {
					t := int(rng(&s) % (nb - 1))
					if t >= me {
						t++
					}
					cs[t] <- bm{1, me}
				}
				next()
				for m := range cs[me] {
					if m.kind == 1 {
						cs[m.from] <- bm{2, me}
					} else {
						left--
						if left == 0 {
							done <- 1
						} else {
							next()
						}
					}
				}
			}(i)
		}
		for i := 0; i < nb; i++ {
			<-done
		}
		rep(w, th, n*nb, time.Since(t0), rd("VmHWM"), "")
	case "bank_ask", "bank_ask_c20":
		nt := uint64(1)
		if w != "bank_ask" {
			nt = 20
		}
		n := sc(2000000) / nt
		cs := make([]chan req, 1000)
		for i := range cs {
			c := make(chan req, 32)
			cs[i] = c
			go func() {
				var bal uint64
				for r := range c {
					bal += r.v
					r.reply <- bal
				}
			}()
		}
		t0 := time.Now()
		for i := uint64(0); i < nt; i++ {
			go func(seed uint64) {
				s := uint64(88172645463325252) + seed
				re := make(chan uint64, 1)
				for j := uint64(0); j < n; j++ {
					cs[rng(&s)%1000] <- req{1, re}
					<-re
				}
				done <- 1
			}(i)
		}
		for i := uint64(0); i < nt; i++ {
			<-done
		}
		rep(w, th, n*nt, time.Since(t0), rd("VmHWM"), "")
	case "timer_storm":
		n := sc(1000000)
		c := make(chan uint64, 1024)
		ts := make([]*time.Timer, n)
		t0 := time.Now()
		for i := range ts {
			v := uint64(i)
			ts[i] = time.AfterFunc(time.Duration(3000+(v*7919)%2000)*time.Millisecond, func() { c <- v })
		}
		t1 := time.Now()
		want := uint64(0)
		for i := range ts {
			if i%10 != 0 {
				ts[i].Stop()
			} else {
				want++
			}
		}
		t2 := time.Now()
		for i := uint64(0); i < want; i++ {
			<-c
		}
		nc := n - want
		rep(w, th, n+nc, t2.Sub(t0), rd("VmHWM"), fmt.Sprintf("\"arm_ns\":%.1f,\"cancel_ns\":%.1f,\"fired\":%d",
			float64(t1.Sub(t0).Nanoseconds())/float64(n), float64(t2.Sub(t1).Nanoseconds())/float64(nc), want))
	case "latency_local", "latency_cross":
		latency(w)
	default:
		fmt.Fprintln(os.Stderr, "n/a")
		os.Exit(4)
	}
}
