package fill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// patience limits the wait for workloads. After that the missing ones are reported and the filling
// continues: a manifest may show a failing workload on purpose.
var patience = timeout.Scaled(time.Minute)

// settle waits until every Deployment and StatefulSet has its pods, and every
// pod runs, has ended, or fails because its annotation says so.
func settle(ctx context.Context, cfg *rest.Config, talk io.Writer) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		missing := unsettled(ctx, client)
		if missing == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-limit.Done():
			fmt.Fprintf(talk, "after %s: %v\n", patience, missing)
			return nil
		case <-tick.C:
		}
	}
}

// unsettled reports workloads that are not as expected.
func unsettled(ctx context.Context, client kubernetes.Interface) error {
	deployments, err := client.AppsV1().Deployments("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var missing error
	for i := range deployments.Items {
		d := &deployments.Items[i]
		if want := replicas(d.Spec.Replicas); d.Status.ObservedGeneration < d.Generation || d.Status.UpdatedReplicas < want {
			missing = errors.Join(missing, fmt.Errorf("deployment %s/%s has not all its pods", d.Namespace, d.Name))
		}
	}
	sets, err := client.AppsV1().StatefulSets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range sets.Items {
		s := &sets.Items[i]
		if _, fails := s.Spec.Template.Annotations[cluster.FailAnnotation]; fails {
			continue // it waits for its first pod
		}
		if want := replicas(s.Spec.Replicas); s.Status.ObservedGeneration < s.Generation || s.Status.Replicas < want {
			missing = errors.Join(missing, fmt.Errorf("statefulset %s/%s has not all its pods", s.Namespace, s.Name))
		}
	}
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		if _, fails := p.Annotations[cluster.FailAnnotation]; !fails && p.Status.Phase == corev1.PodPending {
			missing = errors.Join(missing, fmt.Errorf("pod %s/%s is pending", p.Namespace, p.Name))
		}
	}
	return missing
}

func replicas(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}
