// Command floor is the cheapest possible client: it lists what a tool that reads everything has to
// list, and drops it. Its cost is the floor that such a tool's cost is compared with.
//
// It requests discovery, then every listable kind except Events and Leases. With -encoding mixed,
// pods and workloads are requested whole and in protobuf, all else as metadata in protobuf; the
// responses are decoded, then dropped.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	var f floor
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "kubeconfig `file`")
	flag.StringVar(&f.namespace, "n", "", "list in this `namespace` only; all, and what is cluster-wide, without")
	flag.Int64Var(&f.limit, "limit", 500, "objects in one page; 0 for all in one")
	flag.StringVar(&f.encoding, "encoding", mixed, "`mixed|fields|metadata|json`: see above; metadata of all; everything whole, in JSON")
	flag.StringVar(&f.without, "without", "", "API `group` to leave out")
	flag.IntVar(&f.parallel, "parallel", 16, "lists at a time")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *kubeconfig, f); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig string, f floor) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("load kubeconfig: %w", err)
	}
	r, err := f.measure(ctx, cfg)
	if err != nil {
		return err
	}
	for _, gap := range r.gaps {
		fmt.Fprintln(os.Stderr, gap)
	}
	fmt.Println(r)
	return nil
}
