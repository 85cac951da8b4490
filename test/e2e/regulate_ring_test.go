package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// Of the ring (testdata/ring.yaml) web needs worker, and worker needs db. Nobody operates
// them, so a test says how db is, and the rest changes only by regulation.
var (
	ringDatabases   = schema.GroupVersionResource{Group: "ring.example.dev", Version: "v1", Resource: "databases"}
	ringClients     = schema.GroupVersionResource{Group: "ring.example.dev", Version: "v1", Resource: "clients"}
	ringDeployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	ringCronJobs    = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "cronjobs"}
	ringJournals    = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

// ringTargets are what regulation writes to.
var ringTargets = []struct {
	resource schema.GroupVersionResource
	name     string
}{{ringClients, "worker"}, {ringCronJobs, "report"}, {ringDeployments, "web"}}

// lease is the usual one: a run renews it in time on a busy machine.
var lease = timeout.Scaled(15 * time.Second).Truncate(time.Second).String()

// ring is one of them, in a namespace of its own. It is used by one goroutine: errors are
// returned, since only that of the test may fail it.
type ring struct {
	ns, dir, manifest string
	program           string // the plugin without the race detector: it runs some thousand times
	config            *rest.Config
	client            dynamic.Interface
	store             *regulate.ConfigMapStore
	proxy             *faults.Proxy
	before            map[string]string // the targets, as they are when nothing is held
	tally
}

// generations are those of the targets of which every change counts one.
func (r *ring) generations(ctx context.Context) (web, report int64, err error) {
	d, err := r.client.Resource(ringDeployments).Namespace(r.ns).Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return 0, 0, err
	}
	j, err := r.client.Resource(ringCronJobs).Namespace(r.ns).Get(ctx, "report", metav1.GetOptions{})
	if err != nil {
		return 0, 0, err
	}
	return d.GetGeneration(), j.GetGeneration(), nil
}

// tally is what it took to come to the end.
type tally struct{ runs, writes, kills int }

func (t *tally) add(o tally) {
	t.runs += o.runs
	t.writes += o.writes
	t.kills += o.kills
}

// newRing makes a ring that is well. The kinds are defined already.
func newRing(t *testing.T, c *cluster.Cluster) *ring {
	t.Helper()
	ns := c.Namespace(t)
	r := &ring{ns: ns, dir: t.TempDir(), program: unraced(t), config: c.Config(), client: dynamic.NewForConfigOrDie(c.Config()), proxy: proxy(t, c, "")}
	r.manifest = filepath.Join(r.dir, "system.yaml")
	if err := os.WriteFile(r.manifest, []byte(inNamespace(t, ns, "ring.system.yaml")), 0o600); err != nil {
		t.Fatal(err)
	}
	applyText(t, c, inNamespace(t, ns, "ring.yaml"))
	if err := r.shareFields(t.Context()); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.store, err = regulate.NewStore(c.Config(), "ring", ns); err != nil {
		t.Fatal(err)
	}
	if r.before, err = r.targets(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// defineRing defines the kinds.
func defineRing(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	defineForAll(t, c, inNamespace(t, "", "ring.definitions.yaml"))
}

// shareFields has fields that regulation writes belong to two managers, by server-side
// apply: they must have them back.
func (r *ring) shareFields(ctx context.Context) error {
	for _, f := range []struct {
		manager, name, body string
		resource            schema.GroupVersionResource
	}{
		{"first", "report", `{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"report"},"spec":{"suspend":false}}`, ringCronJobs},
		{"second", "report", `{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"report"},"spec":{"suspend":false}}`, ringCronJobs},
		{"second", "worker", `{"apiVersion":"ring.example.dev/v1","kind":"Client","metadata":{"name":"worker"},"spec":{"replicas":3}}`, ringClients},
	} {
		force := true
		if _, err := r.client.Resource(f.resource).Namespace(r.ns).Patch(ctx, f.name, types.ApplyPatchType, []byte(f.body), metav1.PatchOptions{FieldManager: f.manager, Force: &force}); err != nil {
			return err
		}
	}
	return nil
}

// says gives db a phase.
func (r *ring) says(ctx context.Context, phase string) error {
	_, err := r.client.Resource(ringDatabases).Namespace(r.ns).Patch(ctx, "db", types.MergePatchType, []byte(`{"status":{"phase":"`+phase+`"}}`), metav1.PatchOptions{}, "status")
	return err
}

// targets are all targets as text, without what may differ.
func (r *ring) targets(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	for _, t := range ringTargets {
		o, err := r.client.Resource(t.resource).Namespace(r.ns).Get(ctx, t.name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		if out[t.resource.Resource+"/"+t.name], err = lasting(o); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// lasting is an object without what every write changes (resourceVersion, generation), and
// without what its controller says of it: the status, and who wrote that.
func lasting(o *unstructured.Unstructured) (string, error) {
	o = o.DeepCopy()
	delete(o.Object, "status")
	unstructured.RemoveNestedField(o.Object, "metadata", "resourceVersion")
	unstructured.RemoveNestedField(o.Object, "metadata", "generation")
	var managers []metav1.ManagedFieldsEntry
	for _, m := range o.GetManagedFields() {
		if m.Subresource != "status" {
			managers = append(managers, m)
		}
	}
	o.SetManagedFields(managers)
	text, err := json.MarshalIndent(o.Object, "", " ")
	return string(text), err
}

// free is an error unless all is as it was at first, and nothing is held.
func (r *ring) free(ctx context.Context) error {
	return r.freeBut(ctx, func(text string) string { return text })
}

// freeOfAnyOwner is free, whoever owns the fields.
func (r *ring) freeOfAnyOwner(ctx context.Context) error {
	return r.freeBut(ctx, func(text string) string {
		o := &unstructured.Unstructured{}
		if err := json.Unmarshal([]byte(text), &o.Object); err != nil {
			return err.Error()
		}
		o.SetManagedFields(nil)
		again, err := json.MarshalIndent(o.Object, "", " ")
		return string(again) + fmt.Sprint(err)
	})
}

func (r *ring) freeBut(ctx context.Context, part func(string) string) error {
	now, err := r.targets(ctx)
	if err != nil {
		return err
	}
	for name, was := range r.before {
		if was, now := part(was), part(now[name]); now != was {
			err = errors.Join(err, fmt.Errorf("%s was not restored: %s", name, firstDifference(was, now)))
		}
	}
	j, loadErr := r.store.Load(ctx)
	if loadErr != nil {
		return errors.Join(err, loadErr)
	}
	for _, h := range j.Holds {
		err = errors.Join(err, fmt.Errorf("%s is held by %s (%s)", h.App, h.Signal, h.Phase))
	}
	return err
}

// ringFields are those by which the apps are held.
var ringFields = []struct {
	app      string
	resource schema.GroupVersionResource
	name     string
	want     any
	path     []string
}{
	{"web", ringDeployments, "web", true, []string{"spec", "paused"}},
	{"web", ringDeployments, "web", "yes", []string{"metadata", "annotations", "example.dev/held"}},
	{"worker", ringCronJobs, "report", true, []string{"spec", "suspend"}},
	{"worker", ringClients, "worker", int64(0), []string{"spec", "replicas"}},
	{"worker", ringClients, "worker", true, []string{"spec", "mode", "readOnly"}},
}

// heldBy says how many of its fields hold each app, and by which phase the journal has it.
func (r *ring) heldBy(ctx context.Context) (fields map[string]int, phases map[string]regulate.Phase, err error) {
	j, err := r.store.Load(ctx)
	if err != nil {
		return nil, nil, err
	}
	fields, phases = map[string]int{}, map[string]regulate.Phase{}
	for _, h := range j.Holds {
		if phases[h.App] != "" {
			return nil, nil, fmt.Errorf("%s is held twice", h.App)
		}
		phases[h.App] = h.Phase
	}
	for _, f := range ringFields {
		o, err := r.client.Resource(f.resource).Namespace(r.ns).Get(ctx, f.name, metav1.GetOptions{})
		if err != nil {
			return nil, nil, err
		}
		if got, _, _ := unstructured.NestedFieldNoCopy(o.Object, f.path...); got == f.want {
			fields[f.app]++
		}
	}
	return fields, phases, nil
}

// held is an error unless both neighbours are held, once, and every field is as the manifest
// wants it.
func (r *ring) held(ctx context.Context) error {
	fields, phases, err := r.heldBy(ctx)
	if err == nil && (len(phases) != 2 || phases["web"] != regulate.Held || phases["worker"] != regulate.Held || fields["web"] != 2 || fields["worker"] != 3) {
		err = fmt.Errorf("holds %v by %v fields, want web by 2 and worker by 3, Held", phases, fields)
	}
	return err
}

// halves is an error unless each app is held in full, or not at all.
func (r *ring) halves(ctx context.Context) error {
	fields, phases, err := r.heldBy(ctx)
	if err != nil {
		return err
	}
	for app, all := range map[string]int{"web": 2, "worker": 3} {
		free, held := phases[app] == "" && fields[app] == 0, phases[app] == regulate.Held && fields[app] == all
		if !free && !held {
			err = errors.Join(err, fmt.Errorf("%s is held by halves: phase %q, %d of %d fields", app, phases[app], fields[app], all))
		}
	}
	return err
}

// firstDifference shows the first lines in which two texts differ.
func firstDifference(was, now string) string {
	a, b := strings.Split(was, "\n"), strings.Split(now, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d was %q, is %q", i+1, strings.TrimSpace(a[i]), strings.TrimSpace(b[i]))
		}
	}
	return fmt.Sprintf("%d lines, were %d", len(b), len(a))
}

// ringRun is a run of the plugin on a ring.
type ringRun struct {
	cmd            *exec.Cmd
	stdout, stderr output
	cancel         context.CancelFunc
}

// start starts a run through the proxy.
func (r *ring) start(ctx context.Context, args ...string) (*ringRun, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	run := &ringRun{cmd: exec.CommandContext(ctx, r.program, args...), cancel: cancel}
	run.cmd.Dir, run.cmd.WaitDelay = r.dir, runLimit
	run.cmd.Env = []string{"HOME=" + r.dir, "TMPDIR=" + os.TempDir(), "KUBECONFIG=" + r.proxy.Kubeconfig(), "GORACE=atexit_sleep_ms=0"}
	run.cmd.Stdout, run.cmd.Stderr = &run.stdout, &run.stderr
	r.runs++
	return run, run.cmd.Start()
}

// wait returns the exit code; -1 of a run that was killed.
func (r *ringRun) wait() (int, error) {
	defer r.cancel()
	err := r.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	for _, word := range []string{"DATA RACE", "panic:", "goroutine "} {
		if said := r.stderr.String(); strings.Contains(said, word) {
			return 0, fmt.Errorf("%v: %s on stderr:\n%s", r.cmd.Args[1:], word, said)
		}
	}
	return r.cmd.ProcessState.ExitCode(), nil
}

// args are those of a command on the ring's manifest.
func (r *ring) args(command string, more ...string) []string {
	return append([]string{"regulate", command, "-f", r.manifest, "--yes", "--lock-lease", lease}, more...)
}

// apply runs regulate apply to its end, which is a good one.
func (r *ring) apply(ctx context.Context) error {
	run, err := r.start(ctx, r.args("apply")...)
	if err != nil {
		return err
	}
	code, err := run.wait()
	r.counted()
	if err == nil && code != 0 {
		err = fmt.Errorf("regulate apply: exit code %d:\n%s%s", code, &run.stdout, &run.stderr)
	}
	return err
}

// most runs of apply that may be needed: an app is let go when what it needs is.
const mostRuns = 8

// settle runs apply until something is so.
func (r *ring) settle(ctx context.Context, so func(context.Context) error) error {
	var err error
	for range mostRuns {
		if err = r.apply(ctx); err != nil {
			return err
		}
		if err = so(ctx); err == nil {
			return nil
		}
	}
	return fmt.Errorf("not so after %d runs: %w", mostRuns, err)
}

// doomed starts a run that is killed at its n-th write, right after the effect of it
// (faults.Lost) or right before (faults.Dropped). killed is closed when it comes to that.
func (r *ring) doomed(ctx context.Context, n int, how func(func()) faults.Effect, args ...string) (run *ringRun, killed chan struct{}, err error) {
	killed = make(chan struct{})
	started := make(chan *os.Process, 1)
	r.proxy.Reset()
	r.proxy.Inject(faults.Fault{Match: faults.Nth(n, faults.Writes), Effect: how(func() {
		if p := <-started; p != nil {
			close(killed)
			_ = p.Kill() // it may have ended by itself
		}
	})})
	run, err = r.start(ctx, args...)
	started <- run.cmd.Process // nil, where it did not start
	return run, killed, err
}

// hurry has the lock of a run that was killed run out at once.
func (r *ring) hurry(ctx context.Context) error {
	leases := r.client.Resource(schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}).Namespace(r.ns)
	_, err := leases.Patch(ctx, "sysop-ring", types.MergePatchType, []byte(`{"spec":{"leaseDurationSeconds":1}}`), metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil // it was killed before it had one
	}
	return err
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// counted adds what the proxy saw to the tally, and takes the faults away.
func (r *ring) counted() {
	for _, q := range r.proxy.Requests() {
		if q.Method != http.MethodGet && !strings.HasPrefix(q.Path, "/apis/authorization.k8s.io/") {
			r.writes++
		}
	}
	r.proxy.Reset()
}

// applyKilled runs apply, killed at its n-th write, and says whether it was.
func (r *ring) applyKilled(ctx context.Context, n int, how func(func()) faults.Effect) (bool, error) {
	run, killed, err := r.doomed(ctx, n, how, r.args("apply")...)
	if err != nil {
		return false, err
	}
	code, err := run.wait()
	r.counted()
	switch {
	case err != nil:
		return false, err
	case isClosed(killed):
		r.kills++
		return true, r.hurry(ctx)
	case code != 0:
		return false, fmt.Errorf("regulate apply, not killed: exit code %d:\n%s%s", code, &run.stdout, &run.stderr)
	}
	return false, nil
}

// ringLimit is for a watch beside many others: each of them looks at what is held at each change.
var ringLimit = 3 * limit

// until looks at each change of the journal, which a run writes last, whether something is so, and
// when a run was killed; and once a second, since the API server may end the watch.
func (r *ring) until(ctx context.Context, killed <-chan struct{}, so func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, ringLimit)
	defer cancel()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var changes <-chan watch.Event
	if w, err := r.client.Resource(ringJournals).Namespace(r.ns).Watch(ctx, metav1.ListOptions{}); err == nil {
		changes = w.ResultChan()
	}
	for {
		err := so(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: not so after %s: %w", r.ns, ringLimit, err)
		case _, open := <-changes:
			if !open {
				changes = nil
			}
		case <-killed:
			killed = nil
		case <-tick.C:
		}
	}
}

func parsed(text string) ([]*unstructured.Unstructured, error) { return apply.Parse([]byte(text)) }
