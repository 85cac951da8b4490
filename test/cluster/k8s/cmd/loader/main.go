// Command loader fills a cluster with many small objects: Deployments, each
// with its ReplicaSet and running Pods, and ConfigMaps.
//
// With -mode etcd it writes them straight into etcd in the form that the API
// server stores, tens of thousands a second; the API server may be running.
// What it writes is consistent: the controllers, if they run, leave it alone.
// With -mode api it creates them through the API server, which takes some
// fifty times longer and lets admission and the controllers do their part.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// config is the command line.
type config struct {
	kubeconfig, etcd, prefix string

	shape
	workers, connections, batch int
	tree                        bool
}

func main() {
	var c config
	mode := flag.String("mode", "etcd", "way in: `etcd|api`")
	flag.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig `file` of the cluster, for -mode api")
	flag.StringVar(&c.etcd, "etcd", "", "`URL` of etcd, for -mode etcd")
	flag.StringVar(&c.prefix, "prefix", "/registry", "`prefix` of the API server's keys, for -mode etcd")
	flag.StringVar(&c.name, "tag", "load", "`name` before the number of each namespace")
	flag.IntVar(&c.namespaces, "namespaces", 20, "number of namespaces the objects are spread over")
	flag.IntVar(&c.nodes, "nodes", 3, "number of nodes, node-0 and on, that the pods are bound to")
	flag.IntVar(&c.deployments, "deployments", 0, "number of Deployments")
	flag.IntVar(&c.replicas, "replicas", 5, "Pods of each Deployment")
	flag.IntVar(&c.configMaps, "configmaps", 0, "number of ConfigMaps")
	flag.BoolVar(&c.tree, "tree", false, "with -mode api, create the ReplicaSets and Pods too: for a cluster without controllers")
	flag.IntVar(&c.workers, "workers", 64, "number of writers")
	flag.IntVar(&c.connections, "conns", 4, "number of connections to the API server")
	flag.IntVar(&c.batch, "batch", 100, "objects in one etcd transaction")
	flag.Parse()

	var load func(context.Context, config) (int64, error)
	switch *mode {
	case "etcd":
		load = loadEtcd
	case "api":
		load = loadAPI
	default:
		log.Fatalf("unknown -mode %q: want etcd or api", *mode)
	}
	start := time.Now()
	n, err := load(context.Background(), c)
	if err != nil {
		log.Fatal(err)
	}
	d := time.Since(start).Seconds()
	fmt.Printf("mode=%s objects=%d seconds=%.2f objects_per_second=%.0f\n", *mode, n, d, float64(n)/d)
}

// check returns the errors in the command line.
func (c config) check() error {
	if min(c.namespaces, c.nodes, c.workers, c.connections, c.batch) < 1 {
		return errors.New("-namespaces, -nodes, -workers, -conns and -batch must be at least 1")
	}
	return nil
}

// each calls f for 0 to count-1, distributed over the workers. The first error ends it.
func each(ctx context.Context, workers, count int, f func(ctx context.Context, worker, i int) error) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		group.Go(func() error {
			for i := int(next.Add(1)) - 1; i < count && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := f(ctx, w, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}
