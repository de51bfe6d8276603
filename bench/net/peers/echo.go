// SPDX-License-Identifier: Apache-2.0

// An echo server of Go: a goroutine and a buffer per connection. It prints its port.
package main

import (
	"fmt"
	"net"
	"os"
)

func echo(connection net.Conn) {
	defer connection.Close()
	bytes := make([]byte, 65536)
	for {
		count, err := connection.Read(bytes)
		if count > 0 {
			if _, err := connection.Write(bytes[:count]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	for {
		connection, err := listener.Accept()
		if err == nil {
			go echo(connection)
		}
	}
}
