package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// Apps are stopped and recovered by random actions; the runs are killed at random writes, before or
// after their effect. In the end all targets are as they were, byte for byte, owners of fields too.
func TestRegulateChaosRandom(t *testing.T) {
	t.Parallel()
	c := withoutOperators.Cluster(t)
	defineRing(t, c)
	first := uint64(time.Now().UnixNano())
	t.Logf("seeds %d to %d", first, first+seeds-1)
	rings := make([]*ring, seeds)
	for i := range rings {
		rings[i] = newRing(t, c)
		rings[i].annotated(t)
	}
	var work errgroup.Group
	work.SetLimit(4)
	for i, r := range rings {
		work.Go(func() error {
			seed := first + uint64(i)
			stop, err := r.random(t.Context(), rand.New(rand.NewPCG(seed, 0))) //nolint:gosec // a test repeats it by its seed
			if err != nil {
				t.Errorf("seed %d: %v; the actions:\n%s", seed, err, stop)
			}
			return nil
		})
	}
	_ = work.Wait() // each says itself how it ended
	kills := 0
	for _, r := range rings {
		kills += r.kills
	}
	if kills < seeds {
		t.Errorf("%d runs were killed, want %d at least", kills, seeds)
	}
}

// annotated waits until the controller of web has annotated it, and takes the targets then as those
// before.
func (r *ring) annotated(t *testing.T) {
	t.Helper()
	cluster.Eventually(t, limit, func() error {
		web, err := r.client.Resource(ringDeployments).Namespace(r.ns).Get(t.Context(), "web", metav1.GetOptions{})
		if err == nil && web.GetAnnotations()["deployment.kubernetes.io/revision"] == "" {
			err = errNotYet
		}
		return err
	})
	var err error
	if r.before, err = r.targets(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// random stops and recovers the apps of a ring by random actions, which it returns.
func (r *ring) random(ctx context.Context, random *rand.Rand) (string, error) {
	text, err := os.ReadFile(r.manifest)
	if err != nil {
		return "", err
	}
	head, rest, _ := strings.Cut(string(text), "  - name: worker\n")
	_, tail, _ := strings.Cut(rest, "  dependencies:\n")
	apps := "  - name: worker\n    roots: [clients.ring.example.dev/worker, cronjob/report]\n    on:\n      Stop:\n" + randomActions(random, []string{
		"suspendCronJobs: true", "scale: {replicas: %d}\n        targets: [clients.ring.example.dev/worker]",
		"patch: {type: merge, body: {spec: {mode: {readOnly: true, level: %d}}}}\n        targets: [clients.ring.example.dev/worker]",
		"patch: {type: merge, body: {spec: {mode: {level: %d}, list: [1, %[1]d]}}}\n        targets: [clients.ring.example.dev/worker]",
		"annotate: {example.dev/keep: 'v%d'}\n        targets: [clients.ring.example.dev/worker]", "annotate: {example.dev/keep: null}\n        targets: [clients.ring.example.dev/worker]",
		"label: {example.dev/held: 'v%d'}",
	}) + "  - name: web\n    roots: [deployment/web]\n    on:\n      Stop:\n" + randomActions(random, []string{
		"preset: pause", "scale: {replicas: %d}", "annotate: {example.dev/held: 'v%d', example.dev/other: 'yes'}", "label: {example.dev/held: 'v%d'}",
		"patch: {type: merge, body: {spec: {minReadySeconds: %d}}}", "patch: {type: merge, body: {spec: {progressDeadlineSeconds: 60%d, minReadySeconds: 4}}}",
	})
	if err := os.WriteFile(r.manifest, []byte(head+apps+"  dependencies:\n"+tail), 0o600); err != nil {
		return apps, err
	}
	holds := func(ctx context.Context) error {
		_, phases, err := r.heldBy(ctx)
		if err == nil && (len(phases) != 2 || phases["web"] != regulate.Held || phases["worker"] != regulate.Held) {
			err = fmt.Errorf("holds %v, want web and worker Held", phases)
		}
		return err
	}
	for _, step := range []struct {
		phase string
		so    func(context.Context) error
	}{{"Failed", holds}, {"Running", r.free}} {
		if err := r.says(ctx, step.phase); err != nil {
			return apps, err
		}
		for range 1 + random.IntN(2) {
			how := faults.Lost
			if random.IntN(2) == 0 {
				how = faults.Dropped
			}
			n := 1 + random.IntN(12)
			if _, err := r.applyKilled(ctx, n, how); err != nil {
				return apps, fmt.Errorf("db %s, killed at write %d: %w", step.phase, n, err)
			}
		}
		if err := r.settle(ctx, step.so); err != nil {
			return apps, errors.Join(fmt.Errorf("db %s", step.phase), err)
		}
	}
	return apps, nil
}

// randomActions are one to five of some actions, in a random order, with random numbers in them.
func randomActions(random *rand.Rand, pool []string) string {
	var out strings.Builder
	for _, i := range random.Perm(len(pool))[:1+random.IntN(min(5, len(pool)))] {
		action := pool[i]
		if strings.Contains(action, "%") {
			action = fmt.Sprintf(action, random.IntN(4))
		}
		out.WriteString("      - " + action + "\n")
	}
	return out.String()
}
