package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// visitor is a browser without its window: it opens the address once, and has the bearer then.
type visitor struct {
	t      *testing.T
	run    *process
	origin string
	bearer string
	client *http.Client
}

// visited starts the page and opens it.
func visited(t *testing.T, kubeconfig string, args ...string) *visitor {
	t.Helper()
	run := startFor(t, 2*runLimit, kubeconfig, append([]string{"ui", "-o", "json"}, args...)...)
	var said struct{ URL string }
	cluster.Eventually(t, limit, func() error {
		if err := json.Unmarshal([]byte(run.stdout.String()), &said); err != nil {
			return fmt.Errorf("it has not said its address: %w: %s", err, run.stderr.String())
		}
		return nil
	})
	address, err := url.Parse(said.URL)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{t: t, run: run, origin: "http://" + address.Host, client: &http.Client{Timeout: runLimit}}
	token := strings.TrimPrefix(address.Fragment, "token=")
	text, code := v.send(http.MethodPost, "/api/session", []byte(`{"token":"`+token+`"}`))
	var given struct{ Bearer string }
	if err := json.Unmarshal(text, &given); err != nil || code != http.StatusOK {
		t.Fatalf("the session was answered with %d: %s", code, text)
	}
	v.bearer = given.Bearer
	return v
}

// identify adds the bearer to a request, as the page does.
func (v *visitor) identify(r *http.Request) {
	if v.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+v.bearer)
	}
}

// send sends a request as the page does, and returns the body and the status.
func (v *visitor) send(method, path string, body []byte) ([]byte, int) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.origin+path, bytes.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", v.origin)
		r.Header.Set("X-Sysop", "1")
	}
	v.identify(r)
	answer, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return text, answer.StatusCode
}

// get returns an answer, which must be one.
func (v *visitor) get(path string) string {
	v.t.Helper()
	text, code := v.send(http.MethodGet, path, nil)
	if code != http.StatusOK || !json.Valid(text) {
		v.t.Fatalf("GET %s: %d: %s", path, code, text)
	}
	return string(text)
}

// follow reads the stream until an event is what is looked for.
func (v *visitor) follow(want func(name, data string) bool) error {
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, v.origin+"/api/stream", nil)
	if err != nil {
		return err
	}
	v.identify(r)
	answer, err := v.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 64<<20)
	name := ""
	for lines.Scan() {
		if after, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = after
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && want(name, data) {
			return nil
		}
	}
	return errors.Join(errors.New("the stream ended before"), lines.Err())
}

// picture is what the page shows first.
func (v *visitor) picture() *uistate.State {
	v.t.Helper()
	var p uistate.State
	err := v.follow(func(name, data string) bool {
		if name != "picture" {
			return false
		}
		if err := json.Unmarshal([]byte(data), &p); err != nil {
			v.t.Fatal(err)
		}
		return true
	})
	if err != nil {
		v.t.Fatalf("no picture: %v; stderr:\n%s", err, v.run.stderr.String())
	}
	return &p
}

// ends interrupts the page as Ctrl-C does.
func (v *visitor) ends() {
	v.t.Helper()
	if err := v.run.cmd.Process.Signal(os.Interrupt); err != nil {
		v.t.Fatal(err)
	}
	if r := v.run.wait(); r.code != 0 && r.code != 130 {
		v.t.Errorf("exit code %d after an interrupt: %s", r.code, r.stderr)
	}
}

// questions are all that the page asks for, about the example.
var questions = []string{
	"/api/object?ref=Moodle.moodlecontroller.kubeplus%2Fmoodle%2Fmoodle-1",
	"/api/object?ref=Secret%2Fmoodle%2Fcluster1-secret",
	"/api/object?ref=ConfigMap%2Fmoodle%2Fcluster1-mysql",
	"/api/stack?root=MysqlCluster.mysql.presslabs.org%2Fmoodle%2Fcluster1",
	"/api/cost?by=namespace",
	"/api/history?window=24h",
	"/api/catalog",
	"/api/schema?kind=Moodle.moodlecontroller.kubeplus",
}

// namedQuestions are those whose commands read ConfigMaps that are named for them: manuals that
// definitions name, and Systems.
var namedQuestions = []string{"/api/check", "/api/regulation"}

// The page shows what the commands show, to whom may only read, and never asks for the data of a
// Secret, nor for that of a ConfigMap that is not named for it; and it writes nothing.
func TestPage(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	settledExample(t, c)
	roles(t, c, "view.yaml", "operators.yaml", "optional.yaml")
	const name = "reader-of-the-page"
	viewer, err := c.User(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"sysop-view", "sysop-view-secrets"} {
		boundTo(t, c, name, role)
	}
	p := proxy(t, c, viewer)
	cluster.Eventually(t, limit, func() error {
		if r := sysop(t, p.Kubeconfig(), "graph", "moodle/moodle-1", "-n", demo); r.code != 0 {
			return lists([]string{r.stderr})
		}
		return nil
	})
	p.Reset()
	since := time.Now()
	v := visited(t, p.Kubeconfig(), "-n", demo)
	picture := v.picture()
	for _, want := range []string{"Moodle.moodlecontroller.kubeplus/moodle/moodle-1", "Deployment.apps/moodle/wordpress"} {
		if !slices.ContainsFunc(picture.Stacks, func(s uistate.Stack) bool { return s.Name == want }) {
			t.Errorf("no stack %s", want)
		}
	}
	for _, path := range questions {
		if text := v.get(path); strings.Contains(text, "last-applied-configuration\":") || strings.Contains(text, "managedFields:") {
			t.Errorf("%s: shows what it should not:\n%s", path, text)
		}
	}
	body, err := json.Marshal(map[string]string{"yaml": "apiVersion: sysop.dev/v1alpha1\nkind: System\nmetadata: {name: a}\nspec: {apps: [{name: m, roots: [moodle/moodle-1]}]}\n"})
	if err != nil {
		t.Fatal(err)
	}
	if text, code := v.send(http.MethodPost, "/api/system", body); code != http.StatusOK || !bytes.Contains(text, []byte("moodle/moodle-1")) {
		t.Errorf("POST /api/system: %d: %s", code, text)
	}
	metadataOnly(t, p)
	for _, path := range namedQuestions {
		v.get(path)
	}
	v.ends()
	events, err := c.AuditEvents(since)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, e := range events {
		if e.User != name {
			continue
		}
		asked++
		if review := e.Verb == "create" && e.Object.Group == "authorization.k8s.io"; !review && !slices.Contains([]string{"get", "list", "watch"}, e.Verb) {
			t.Errorf("%s %s: the page only reads", e.Verb, e.URI)
		}
		if e.Data() && (e.Object.Resource != "configmaps" || !strings.HasSuffix(e.Object.Name, "-usage")) {
			t.Errorf("%s was answered with data", e.URI)
		}
	}
	if asked < 20 {
		t.Errorf("%d requests in the audit log: the test looks at too few", asked)
	}
}

// Who may read nothing is told so, and what would be needed.
func TestPageOfNobody(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	settledExample(t, c)
	nobody, err := c.User("nobody-with-a-page")
	if err != nil {
		t.Fatal(err)
	}
	v := visited(t, nobody, "-n", demo)
	if p := v.picture(); len(p.Gaps) == 0 || len(p.Stacks) > 0 {
		t.Errorf("%d gaps and %d stacks: want what could not be read, and nothing else", len(p.Gaps), len(p.Stacks))
	}
	text, code := v.send(http.MethodGet, questions[0], nil)
	if code == http.StatusOK || !strings.Contains(string(text), "moodle/moodle-1") {
		t.Errorf("an object that may not be read: %d: %s, want an error that names it", code, text)
	}
	v.ends()
}
