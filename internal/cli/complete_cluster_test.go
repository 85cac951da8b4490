package cli_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/cli"
)

// server is as much of an API server as a completion asks for.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	// refuse answers lists with 403, hang answers nothing at all.
	refuse, hang bool
	// items are what a list has, by its path.
	items map[string][]string
}

func newServer(t testing.TB) *server {
	t.Helper()
	s := &server{items: map[string][]string{
		"/api/v1/namespaces": {"default", "shop"},
		"/api/v1/nodes":      {"worker-a"},

		"/apis/apps/v1/namespaces/shop/deployments": {"web", "db", "a\x1b[31mb"},
		"/apis/apps/v1/namespaces/home/deployments": {"garden"},
	}}
	done := make(chan struct{})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.Path)
		s.mu.Unlock()
		if s.hang {
			select {
			case <-r.Context().Done():
			case <-done:
			}
			return
		}
		s.answer(w, r.URL.Path)
	}))
	t.Cleanup(func() { close(done); s.Close() })
	return s
}

func (s *server) answer(w http.ResponseWriter, path string) {
	w.Header().Set("Content-Type", "application/json")
	const resource = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":%q,"resources":[%s]}`
	const named = `{"name":%q,"singularName":%q,"namespaced":%t,"kind":%q,"verbs":["get","list"],"shortNames":[%q]}`
	switch path {
	case "/api":
		fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
	case "/apis":
		fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}`)
	case "/api/v1":
		fmt.Fprintf(w, resource, "v1", fmt.Sprintf(named, "pods", "pod", true, "Pod", "po")+","+fmt.Sprintf(named, "namespaces", "namespace", false, "Namespace", "ns"))
	case "/apis/apps/v1":
		fmt.Fprintf(w, resource, "apps/v1", fmt.Sprintf(named, "deployments", "deployment", true, "Deployment", "deploy"))
	default:
		if s.refuse {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`)
			return
		}
		items, label := []string(nil), "tier"
		if path == "/api/v1/namespaces" {
			label = "kubernetes.io/metadata.name"
		}
		for _, name := range s.items[path] {
			items = append(items, fmt.Sprintf(`{"metadata":{"name":%q,"labels":{%q:"front"}}}`, strings.ReplaceAll(name, "\x1b", "ESC"), label))
		}
		fmt.Fprintf(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[%s]}`, strings.ReplaceAll(strings.Join(items, ","), "ESC", `\u001b`))
	}
}

// requests returns how many there were since it was asked last.
func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// kubeconfig writes one with two contexts for a server, whose namespaces are shop and home.
func kubeconfig(t testing.TB, url string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: here,
clusters: [{name: one, cluster: {server: %q}}], users: [{name: me, user: {}}],
contexts: [{name: here, context: {cluster: one, user: me, namespace: shop}}, {name: there, context: {cluster: one, user: me, namespace: home}}]}`, url)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// complete presses the key behind a line, and returns what comes out.
func complete(t testing.TB, patience time.Duration, line ...string) (words []string, directive string) {
	t.Helper()
	var out, talk bytes.Buffer
	e := env(strings.NewReader(""), &out, &talk)
	e.Program, e.CompletionTimeout = "/somewhere/kubectl_complete-sysop", patience
	if code := cli.Main(t.Context(), e, line); code != 0 {
		t.Errorf("%q: exit code %d", line, code)
	}
	if talk.Len() > 0 && !strings.HasPrefix(talk.String(), "Completion ended with directive: ") {
		t.Errorf("%q: stderr: %s", line, talk.String())
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	words, directive = lines[:len(lines)-1], lines[len(lines)-1]
	if !strings.HasPrefix(directive, ":") {
		t.Errorf("%q: no directive: %q", line, out.String())
	}
	return words, directive
}

// long is a patience that no test comes to the end of.
const long = time.Hour

// TestCompletesFromCluster holds what is offered, and how little is asked for it: nothing but
// one list where discovery is known, and nothing at all for what the cluster has no say in.
func TestCompletesFromCluster(t *testing.T) {
	s := newServer(t)
	at := []string{"--kubeconfig", kubeconfig(t, s.URL), "--cache-dir", t.TempDir()}
	line := func(cmd string, words ...string) []string { return slices.Concat([]string{cmd}, at, words) }
	if words, _ := complete(t, long, line("graph", "dep")...); !slices.Equal(words, []string{"deployment"}) {
		t.Fatalf("with nothing cached: %q", words)
	}
	if asked := s.requests(); len(asked) == 0 {
		t.Fatal("discovery came from nowhere: what follows would show nothing")
	}
	for _, c := range []struct {
		name     string
		line     []string
		want     []string
		requests int
	}{
		{"types", line("graph", "dep"), []string{"deployment"}, 0},
		{"types and groups", line("graph", ""), []string{"app", "deployment", "helm", "namespace", "pod", "system"}, 0},
		{"TYPE/NAME", line("graph", "deployment/"), []string{"deployment/db", "deployment/web"}, 1},
		{"TYPE/NAME by a short name, begun", line("health", "deploy/w"), []string{"deploy/web"}, 1},
		{"TYPE NAME", line("graph", "deployments", ""), []string{"db", "web"}, 1},
		{"the namespace of the line", line("graph", "-n", "home", "deployment/"), []string{"deployment/garden"}, 1},
		{"the context of the line", line("graph", "--context", "there", "deployment/"), []string{"deployment/garden"}, 1},
		{"namespaces", line("graph", "-n", ""), []string{"default", "shop"}, 1},
		{"namespaces, begun", line("graph", "--namespace=sh"), []string{"shop"}, 1},
		{"nodes", slices.Concat([]string{"prices", "show"}, at, []string{"--node", ""}), []string{"worker-a"}, 1},
		{"labels", line("graph", "deployment", "-l", ""), []string{"tier="}, 1},
		{"values of a label", line("graph", "deployment", "-l", "a=b,tier="), []string{"a=b,tier=front"}, 1},
		{"labels of namespaces", line("metrics", "--by", "nslabel:"), []string{"nslabel:kubernetes.io/metadata.name"}, 1},
		{"kinds of a list", line("graph", "--kinds", "pod,dep"), []string{"pod,deployment"}, 0},
		{"contexts", line("graph", "--context", "t"), []string{"there"}, 0},
		{"clusters", line("graph", "--cluster", ""), []string{"one"}, 0},
		{"users", line("graph", "--user", ""), []string{"me"}, 0},
		{"a flag", line("graph", "--relat"), []string{"--relations\tfollow only these: owns, needs, serves"}, 0},
		{"formats", line("stacks", "-o", ""), []string{"table", "wide", "json", "yaml", "csv", "svg", "html", "name"}, 0},
		{"versions of the catalog", line("install", "cert-manager@1.21"), []string{"cert-manager@1.21.2"}, 0},
		{"no kind", line("graph", "nonsense/"), nil, 0},
		{"a snapshot on standard input", []string{"graph", "--from", "-", "pod/"}, nil, 0},
		{"a token is nobody's business", line("graph", "--token", ""), nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			words, _ := complete(t, long, c.line...)
			if !slices.Equal(words, c.want) && len(words)+len(c.want) > 0 {
				t.Errorf("%q, want %q", words, c.want)
			}
			if asked := s.requests(); len(asked) != c.requests {
				t.Errorf("%d requests, want %d: %q", len(asked), c.requests, asked)
			}
		})
	}
}

// TestCompletesInTrouble presses the key where nothing can be known.
func TestCompletesInTrouble(t *testing.T) {
	refusing, hanging := newServer(t), newServer(t)
	refusing.refuse, hanging.hang = true, true
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := gone.Addr().String()
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"broken.kubeconfig": "{apiVersion: v1, kind: Config, clusters: 5",
		"cut.json":          `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a`,
		"system.yaml":       "apiVersion: nonsense",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, trouble := range []struct {
		name     string
		patience time.Duration
		flags    []string
	}{
		{"connection refused", long, []string{"--kubeconfig", kubeconfig(t, "http://"+address)}},
		{"no rights", long, []string{"--kubeconfig", kubeconfig(t, refusing.URL)}},
		{"a cluster that hangs", 20 * time.Millisecond, []string{"--kubeconfig", kubeconfig(t, hanging.URL)}},
		{"a broken kubeconfig", long, []string{"--kubeconfig", filepath.Join(dir, "broken.kubeconfig")}},
		{"no kubeconfig", long, []string{"--kubeconfig", filepath.Join(dir, "none")}},
		{"no such context", long, []string{"--kubeconfig", kubeconfig(t, refusing.URL), "--context", "nonsense"}},
		{"a snapshot cut in half", long, []string{"--from", filepath.Join(dir, "cut.json")}},
		{"no snapshot", long, []string{"--from", filepath.Join(dir, "none")}},
	} {
		t.Run(trouble.name, func(t *testing.T) {
			flags := slices.Concat(trouble.flags, []string{"--cache-dir", t.TempDir()})
			for _, line := range [][]string{
				{"graph", "pod/"},
				{"graph", "pod", ""},
				{"graph", "-n", ""},
				{"graph", "system/"},
				{"graph", "-l", ""},
				{"regulate", "plan", ""},
				{"regulate", "stop", ""},
				{"regulate", "run", "--app", ""},
				{"regulate", "stop", "-f", filepath.Join(dir, "system.yaml"), ""},
				{"uninstall", ""},
				{"history", ""},
				{"rollback", ""},
				{"upgrade", ""},
				{"metrics", "--by", "label:"},
			} {
				depth := 1
				if line[0] == "regulate" {
					depth = 2
				}
				words, _ := complete(t, trouble.patience, slices.Concat(line[:depth], flags, line[depth:])...)
				if len(words) > 0 {
					t.Errorf("%q: %q", line, words)
				}
			}
		})
	}
}

// TestCompletesNothingDangerous holds that a name that a terminal would obey is not offered.
func TestCompletesNothingDangerous(t *testing.T) {
	s := newServer(t)
	words, _ := complete(t, long, "graph", "--kubeconfig", kubeconfig(t, s.URL), "--cache-dir", t.TempDir(), "deployment/")
	if !slices.Equal(words, []string{"deployment/db", "deployment/web"}) {
		t.Errorf("%q", words)
	}
}

// BenchmarkComplete measures a key press with discovery cached: CPU and wall, without the
// start of the process (see cmd/kubectl-sysop for that).
func BenchmarkComplete(b *testing.B) {
	s := newServer(b)
	at := []string{"--kubeconfig", kubeconfig(b, s.URL), "--cache-dir", b.TempDir()}
	for _, line := range [][]string{{"graph", "--rel"}, {"graph", "dep"}, {"graph", "deployment/"}, {"graph", "-n", ""}, {"install", "cert"}} {
		b.Run(strings.Join(line, "_"), func(b *testing.B) {
			for b.Loop() {
				complete(b, long, slices.Concat(line[:1], at, line[1:])...)
			}
			b.ReportMetric(float64(len(s.requests()))/float64(b.N), "requests/op")
		})
	}
}
