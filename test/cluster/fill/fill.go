// Package fill fills a cluster with objects, and a log for every container.
package fill

import (
	"context"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
)

// Cluster applies objects to a full cluster, gives containers a log, whose file is in dir, and
// waits for the workloads. Controllers create their own objects. It writes to talk what it did, and
// what was missing after a minute: that is no error, since a manifest may show a failing workload
// on purpose.
func Cluster(ctx context.Context, kubeconfig, dir string, objects []*unstructured.Unstructured, talk io.Writer) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("load kubeconfig: %w", err)
	}
	r, err := apply.Objects(ctx, cfg, apply.Makers{Controllers: true, Scheduler: true, Pods: true, Certificates: true}, objects)
	if err != nil {
		return err
	}
	if len(objects) > 0 {
		fmt.Fprintf(talk, "applied: %d created, %d there already, %d left to their controllers\n", len(r.Created), len(r.Existing), len(r.Skipped))
	}
	log, err := played(dir)
	if err != nil {
		return err
	}
	if _, err := apply.Objects(ctx, cfg, apply.Makers{}, []*unstructured.Unstructured{log}); err != nil {
		return err
	}
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1
	return settle(ctx, cfg, talk)
}
