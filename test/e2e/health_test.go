package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// healthDocument is the JSON of the health command, as far as tests look at it.
type healthDocument struct {
	Stacks  []healthStack
	Objects []healthObject
	Gaps    []gap
}

type healthStack struct {
	Name, Health string
	Counts       map[string]int
	Causes       []healthCause
}

type healthCause struct {
	ID, Health, Reason, Message, Parent, Why string
	Events                                   []struct{ Reason, Message string }
}

type healthObject struct {
	ID, OwnHealth, PartsHealth, Reason, Message, Stage string
	DerivedFrom                                        []string
	Counts                                             bool
}

// healthOf runs the health command, which succeeds, and returns its document.
func healthOf(t *testing.T, kubeconfig string, args ...string) healthDocument {
	t.Helper()
	return healthIn(t, sysop(t, kubeconfig, append([]string{"health", "-o", "json"}, args...)...).succeeds(t))
}

func healthIn(t *testing.T, r result) healthDocument {
	t.Helper()
	var d healthDocument
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatalf("%v: %v in:\n%s", r.args, err, r.stdout)
	}
	return d
}

// object is the first whose ID matches: controllers put what they like at the end of names.
func (d healthDocument) object(pattern string) healthObject {
	for _, o := range d.Objects {
		if matches(pattern, o.ID) {
			return o
		}
	}
	return healthObject{}
}

func matches(pattern, id string) bool {
	ok, err := path.Match(pattern, id)
	return ok && err == nil
}

// stack is the only one of the document.
func (d healthDocument) stack(t *testing.T) healthStack {
	t.Helper()
	if len(d.Stacks) != 1 {
		t.Fatalf("%d stacks in %+v", len(d.Stacks), d)
	}
	return d.Stacks[0]
}

// caused returns how the causes of a stack differ from those that are wanted, each
// "ID HEALTH REASON" with a pattern as ID.
func (s healthStack) caused(want ...string) error {
	var got []string
	left := slices.Clone(want)
	for _, c := range s.Causes {
		line := c.ID + " " + c.Health + " " + c.Reason
		got = append(got, line)
		if i := slices.IndexFunc(left, func(w string) bool { return matches(w, line) }); i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
	}
	if len(left) > 0 || len(got) != len(want) {
		return fmt.Errorf("%s is %s, causes:\n%s\nwant:\n%s", s.Name, s.Health, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return nil
}

// healthChange is a document of a watch.
type healthChange struct {
	Kind, Stack, Object, From, To, Reason, Message string
}

// watched is a health --watch -o json that runs. Each change is looked for after the
// one that was found before.
type watched struct {
	*process
	t    *testing.T
	seen int
}

func watchHealth(t *testing.T, kubeconfig string, args ...string) *watched {
	t.Helper()
	return &watched{start(t, kubeconfig, append([]string{"health", "--watch", "-o", "json"}, args...)...), t, 0}
}

// changes are all that it has written whole.
func (w *watched) changes() []healthChange {
	w.t.Helper()
	text := w.stdout.String()
	text = text[:strings.LastIndex(text, "\n")+1]
	var out []healthChange
	for d := json.NewDecoder(strings.NewReader(text)); d.More(); {
		var c healthChange
		if err := d.Decode(&c); err != nil {
			break // The last one is not whole yet.
		}
		if c.Kind != "HealthChange" {
			w.t.Fatalf("a document %+v in:\n%s", c, text)
		}
		out = append(out, c)
	}
	return out
}

// says waits for a change of an object, or of the stack where the pattern is empty, to a
// status with a reason, and returns it. An empty reason is any.
func (w *watched) says(pattern, to, reason string) healthChange {
	w.t.Helper()
	var found healthChange
	cluster.Eventually(w.t, limit, func() error {
		all := w.changes()
		for i, c := range all[w.seen:] {
			about := c.Stack != "" && pattern == "" || c.Stack == "" && matches(pattern, c.Object)
			if about && c.To == to && (reason == "" || c.Reason == reason) {
				found, w.seen = c, w.seen+i+1
				return nil
			}
		}
		return fmt.Errorf("no change of %q to %q, %s, after %d of:\n%s\nstderr:\n%s", pattern, to, reason, w.seen, written(all), &w.stderr)
	})
	return found
}

func written(changes []healthChange) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "%s%s: %s -> %s %s: %s\n", c.Stack, c.Object, c.From, c.To, c.Reason, c.Message)
	}
	return b.String()
}

// tells waits for words on stderr.
func (p *process) tells(words string) {
	p.t.Helper()
	cluster.Eventually(p.t, limit, func() error {
		if !strings.Contains(p.stderr.String(), words) {
			return fmt.Errorf("no %q on stderr:\n%s", words, &p.stderr)
		}
		return nil
	})
}

// interrupted ends a watch as a user does, who is not told that it went wrong.
func (p *process) interrupted() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		p.t.Fatal(err)
	}
	if r := p.wait(); r.code != 0 || strings.Contains("\n"+r.stderr, "\nerror: ") {
		p.t.Errorf("%v: exit code %d, stderr:\n%s", r.args, r.code, r.stderr)
	}
}

// kinds that tests change.
var (
	deployments  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	claims       = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	prometheuses = schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: "prometheuses"}
	nodes        = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
)

// patched changes an object by a merge patch.
func patched(t *testing.T, c *cluster.Cluster, gvr schema.GroupVersionResource, ns, name, patch string, subresources ...string) {
	t.Helper()
	client := dynamic.NewForConfigOrDie(c.Config()).Resource(gvr)
	var in dynamic.ResourceInterface = client
	if ns != "" {
		in = client.Namespace(ns)
	}
	if _, err := in.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...); err != nil {
		t.Fatal(errors.Join(fmt.Errorf("patch %s %s", gvr.Resource, name), err))
	}
}
