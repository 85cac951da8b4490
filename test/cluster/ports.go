package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are chosen below the range from which systems take the local ports of
// outgoing connections, so that such a connection, an API server's to etcd
// say, cannot take one between its choice and its use.
const (
	firstPort = 20000
	lastPort  = 31999
)

// ports returns n different free ports of 127.0.0.1. Another process may still take one before its
// use: see inUse.
func ports(n int) (chosen []int, err error) {
	var held []net.Listener
	defer func() {
		for _, l := range held {
			err = errors.Join(err, l.Close())
		}
	}()
	for range 100 * n {
		if len(chosen) == n {
			return chosen, nil
		}
		p := firstPort + rand.IntN(lastPort-firstPort+1)
		l, err := net.Listen("tcp", address(p))
		if err != nil {
			continue
		}
		held, chosen = append(held, l), append(chosen, p)
	}
	return nil, fmt.Errorf("find %d free ports on loopback: too few are free", n)
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
