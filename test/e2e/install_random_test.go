package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// seeds is how many random plans a test tries; which ones is different each time.
const seeds = 8

// Random Systems are installed, changed, rolled back and uninstalled; each run is killed at a random
// write and undone. All objects of the System are then as they were before the run.
func TestInstallChaosRandom(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	first := uint64(time.Now().UnixNano())
	t.Logf("seeds %d to %d", first, first+seeds-1)
	var work errgroup.Group
	work.SetLimit(4)
	var killed atomic.Int32
	for i := range uint64(seeds) {
		work.Go(func() error {
			t.Run(fmt.Sprint(first+i), func(t *testing.T) {
				if randomRunKilled(t, c, rand.New(rand.NewPCG(first+i, 0)), fmt.Sprintf("any-%d", i)) { //nolint:gosec // a test repeats it by its seed
					killed.Add(1)
				}
			})
			return nil
		})
	}
	_ = work.Wait() // each says itself how it ended
	if n := killed.Load(); n < seeds/2 {
		t.Errorf("only %d of %d runs came to the write that kills them", n, seeds)
	}
}

// randomRunKilled brings a random System to the state before a random run, kills that and undoes it.
// It says whether the run was killed.
func randomRunKilled(t *testing.T, c *cluster.Cluster, random *rand.Rand, unit string) bool {
	s := newTea(t, c, unit, "")
	ns := "tea-" + unit
	from := randomSystem(random, ns, nil)
	to := randomSystem(random, ns, strings.Split(from, "  - name: ")[1:])
	write := func(text string) {
		if err := os.WriteFile(s.file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	action := []string{"install", "upgrade", "rollback", "uninstall"}[random.IntN(4)]
	command := s.args(action)
	write(from)
	if action != "install" {
		s.run(s.args("install")...).succeeds(t)
		write(to)
	}
	switch action {
	case "rollback":
		s.run(s.args("upgrade")...).succeeds(t)
		command = []string{"rollback", "tea", "-n", ns, "--yes"}
	case "uninstall":
		command = []string{"uninstall", "tea", "-n", ns, "--yes"}
	}
	before := ownObjects(t, c, ns)
	at := 1 + random.IntN(20)
	t.Logf("%s, killed at write %d, of\n%s\nand\n%s", action, at, from, to)
	if !killedAtWrite(s, at, command) {
		return false
	}
	r := s.run("rollback", "tea", "-n", ns, "--unfinished", "--yes")
	for _, nothing := range []string{"no unfinished run", "no installation", "there is nothing to undo"} {
		if strings.Contains(r.stderr, nothing) {
			return false // it had written nothing of its own yet, or all of it
		}
	}
	r.succeeds(t)
	cluster.Eventually(t, limit, func() error { return unequal(before, ownObjects(t, c, ns)) })
	return true
}

// killedAtWrite kills a run after the effect of its n-th write, and says whether it came to that.
func killedAtWrite(s *tea, n int, args []string) bool {
	s.t.Helper()
	var killed atomic.Bool
	started := make(chan *os.Process, 1)
	s.proxy.Reset()
	s.proxy.Inject(faults.Fault{Match: faults.Nth(n, func(q *http.Request) bool {
		return faults.Writes(q) && !strings.HasPrefix(q.URL.Path, "/apis/coordination.k8s.io/")
	}), Effect: faults.Lost(func() {
		killed.Store(true)
		_ = (<-started).Kill() // it may have ended by itself
	})})
	run := s.start(args...)
	started <- run.cmd.Process
	r := run.wait()
	s.proxy.Reset()
	if !killed.Load() {
		r.succeeds(s.t)
		return false
	}
	s.hurry()
	return true
}

// randomApps are the kinds that a random app may consist of; VALUE is what an upgrade may change.
var randomApps = map[string]string{
	"configmap":      "apiVersion: v1\n      kind: ConfigMap\n      metadata: {name: NAME}\n      data: {value: 'VALUE', NAME: same}",
	"networkpolicy":  "apiVersion: networking.k8s.io/v1\n      kind: NetworkPolicy\n      metadata: {name: NAME}\n      spec: {podSelector: {matchLabels: {value: 'vVALUE'}}}",
	"serviceaccount": "apiVersion: v1\n      kind: ServiceAccount\n      metadata: {name: NAME, annotations: {value: 'VALUE'}}",
	"service":        "apiVersion: v1\n      kind: Service\n      metadata: {name: NAME}\n      spec: {clusterIP: None, selector: {value: 'vVALUE'}, ports: [{port: 8080}]}",
	"cronjob": "apiVersion: batch/v1\n      kind: CronJob\n      metadata: {name: NAME}\n      spec:\n        schedule: 'VALUE 0 1 1 *'\n" +
		"        jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: NAME, image: 'example.com/NAME:VALUE'}]}}}}",
	"deployment": "apiVersion: apps/v1\n      kind: Deployment\n      metadata: {name: NAME}\n      spec:\n        replicas: 0\n        selector: {matchLabels: {app: NAME}}\n" +
		"        template: {metadata: {labels: {app: NAME}}, spec: {containers: [{name: NAME, image: 'example.com/NAME:VALUE'}]}}",
}

// randomSystem is the manifest of a System of random apps. Of the apps of a former one some stay as
// they are, some get another value, some are dropped, and there may be new ones.
func randomSystem(random *rand.Rand, ns string, former []string) string {
	kinds := []string{}
	for kind := range randomApps {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	var apps []string
	for _, app := range former {
		switch random.IntN(3) {
		case 0:
			apps = append(apps, app)
		case 1:
			name, _, _ := strings.Cut(app, "\n")
			_, rest, _ := strings.Cut(app, "roots: [")
			kind, _, _ := strings.Cut(rest, "/")
			apps = append(apps, randomApp(random, name, kind))
		}
	}
	for range 1 + random.IntN(3) {
		apps = append(apps, randomApp(random, fmt.Sprintf("a%d", random.IntN(1_000_000)), kinds[random.IntN(len(kinds))]))
	}
	random.Shuffle(len(apps), func(i, j int) { apps[i], apps[j] = apps[j], apps[i] })
	return "apiVersion: sysop.dev/v1alpha1\nkind: System\nmetadata: {name: tea, namespace: " + ns + "}\nspec:\n  apps:\n  - name: " + strings.Join(apps, "  - name: ")
}

func randomApp(random *rand.Rand, name, kind string) string {
	text := strings.NewReplacer("NAME", name, "VALUE", fmt.Sprint(random.IntN(60))).Replace(randomApps[kind])
	return fmt.Sprintf("%s\n    roots: [%s/%s]\n    resources:\n    - %s\n", name, kind, name, text)
}

// ownObjects are the objects of a namespace without the records of runs and of Helm, and without
// what making an object again changes.
func ownObjects(t *testing.T, c *cluster.Cluster, ns string) map[string]string {
	t.Helper()
	all, err := allObjects(context.WithoutCancel(t.Context()), c, func(o *unstructured.Unstructured) bool {
		name := o.GetName()
		record := strings.HasPrefix(name, "sh.helm.release.") || strings.HasPrefix(name, "sysop-") || o.GetKind() == "EndpointSlice" || o.GetKind() == "Endpoints" || o.GetKind() == "ReplicaSet"
		mine := o.GetNamespace() == ns && !record || o.GetKind() == "Namespace" && name == ns
		for _, at := range [][]string{{"metadata", "uid"}, {"metadata", "creationTimestamp"}, {"metadata", "managedFields"}, {"status"}, {"metadata", "annotations", "deployment.kubernetes.io/revision"}} {
			if mine {
				unstructured.RemoveNestedField(o.Object, at...)
			}
		}
		return mine
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
