// Command fakekubelet fills two gaps between kwok and a real node.
//
// With -nodes it serves a kubelet port for each fake node: /stats/summary is
// made from annotations on the node's pods (kwok has no such endpoint), every
// other request (metrics, logs) is passed on to kwok's kubelet server.
//
// With -egress-socket it is the API server's "cluster" egress proxy instead:
// HTTP CONNECT on a unix socket, dialling the asked port on 127.0.0.1 whatever
// the asked host is, unless -routes has another one. So nodes can have ordinary addresses, which the API
// server's node proxy insists on, and nothing leaves the machine.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	var k kubelet
	flag.StringVar(&k.kubeconfig, "kubeconfig", "", "kubeconfig `file`; pods are listed with it")
	flag.StringVar(&k.nodes, "nodes", "", "nodes to serve and the ports to serve them on: `node=port,node=port`")
	flag.StringVar(&k.upstream, "kwok", "", "`URL` of kwok's kubelet server, https://127.0.0.1:port")
	flag.StringVar(&k.cert, "tls-cert-file", "", "serving certificate `file`")
	flag.StringVar(&k.key, "tls-private-key-file", "", "private key `file` of the serving certificate")
	socket := flag.String("egress-socket", "", "be the API server's egress proxy on this unix socket `path`, and nothing else")
	routes := flag.String("routes", "", "`directory` of the egress proxy, with a file for each HOST:PORT that is another port of loopback")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	serve := k.serve
	if *socket != "" {
		serve = func(ctx context.Context) error { return egress{routes: *routes}.serve(ctx, *socket) }
	}
	if err := serve(ctx); err != nil {
		log.Fatal(err)
	}
}
