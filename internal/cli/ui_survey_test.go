package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/demotest"
	pages "github.com/kubectl-sysop/kubectl-sysop/internal/page"
	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/internal/web"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// surveyOfDemo is a survey of the example, which was looked at once.
func surveyOfDemo(t *testing.T, all bool, args ...string) (*app.Page, *uistate.State) {
	t.Helper()
	return surveyFrom(t, "demo", all, args...)
}

// uiOptionsOf are the options of a page with this survey.
func uiOptionsOf(v *app.Page) *uiOptions {
	c := command.NewCommon(command.Env{
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}},
		Getenv:    func(string) string { return "" }, Demo: v.Input.Demo, Now: v.Input.Now,
	})
	c.Input = *v.Input
	return &uiOptions{Common: c, args: v.Request.Args}
}

// askPage asks what the page asks.
func askPage(t *testing.T, v *app.Page, name string, query url.Values) (json.RawMessage, error) {
	t.Helper()
	all := (&web.API{Page: v}).Questions()
	i := slices.IndexFunc(all, func(q web.Question) bool { return q.Name == name })
	return all[i].Answer(t.Context(), query)
}

// surveyFrom is a survey of a snapshot, which was looked at once.
func surveyFrom(t *testing.T, from string, all bool, args ...string) (*app.Page, *uistate.State) {
	t.Helper()
	env := command.Env{
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}},
		Getenv:    func(string) string { return "" }, Demo: demotest.FS(), Now: func() time.Time { return time.Date(2026, 9, 14, 9, 30, 0, 0, time.UTC) },
	}
	c := command.NewCommon(env)
	c.From, c.AllNamespaces = from, all
	v, err := c.StacksPage(t.Context(), args, "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	v.Mode = "live"
	if err := v.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := v.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v, p
}

// answerOf is the document of a command about the example.
func answerOf[T any](t *testing.T, args ...string) (doc T) {
	t.Helper()
	var out bytes.Buffer
	env := command.Env{
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &bytes.Buffer{}},
		Getenv:    func(string) string { return "" }, Demo: demotest.FS(), Now: func() time.Time { return time.Date(2026, 9, 14, 9, 30, 0, 0, time.UTC) },
	}
	if code := Main(t.Context(), env, append(args, "-o", "json", "--from", "demo")); code != command.ExitDone {
		t.Fatalf("%v: exit code %d", args, code)
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// near says that hundredths are an exact amount, rounded up or down.
func near(t *testing.T, what string, got int64, exact view.Number) {
	t.Helper()
	d := decimal.RequireFromString(exact.String()).Shift(2)
	if diff := decimal.NewFromInt(got).Sub(d).Abs(); diff.GreaterThanOrEqual(decimal.NewFromInt(1)) {
		t.Errorf("%s: %d, want %s", what, got, d)
	}
}

// TestUIStateIsStacks holds that a UIState says of each stack what the stacks command says.
func TestUIStateIsStacks(t *testing.T) {
	_, p := surveyOfDemo(t, true)
	doc := answerOf[view.StacksDocument](t, "stacks", "-A")
	if len(doc.Stacks) != len(p.Stacks) || len(p.Stacks) == 0 {
		t.Fatalf("%d stacks, want %d", len(p.Stacks), len(doc.Stacks))
	}
	var total int64
	for _, want := range doc.Stacks {
		i := slices.IndexFunc(p.Stacks, func(s uistate.Stack) bool { return s.Name == want.Name })
		if i < 0 {
			t.Errorf("no %s", want.Name)
			continue
		}
		s := &p.Stacks[i]
		if s.Objects != want.Objects || !slices.Equal(s.Pods, []int{want.Pods.Total, want.Pods.Measured, want.Pods.Healthy}) || s.GroupedBy != want.GroupedBy || len(s.Causes) != len(want.Health.Causes) {
			t.Errorf("%s: %d objects, pods %v, by %q, %d causes; want %+v", s.Name, s.Objects, s.Pods, s.GroupedBy, len(s.Causes), want)
		}
		if status := []string{"", "Healthy", "Suspended", "Unknown", "Progressing", "Missing", "Degraded"}[s.Health]; status != want.Health.Status {
			t.Errorf("%s: %s, want %s", s.Name, status, want.Health.Status)
		}
		if (s.Cost == nil) != (want.Cost.Month == "") {
			t.Errorf("%s: cost %v, want %q", s.Name, s.Cost, want.Cost.Month)
		}
		if s.Cost != nil {
			near(t, s.Name, *s.Cost, want.Cost.Month)
			total += *s.Cost
		}
	}
	near(t, "the total", total, doc.Total.Cost.Month)
	for _, c := range p.Costs {
		var sum, unclaimed int64
		for _, r := range c.Rows {
			sum += r.Cost
			if r.Name == cost.UnclaimedVolumes {
				unclaimed = r.Cost
			}
		}
		if unclaimed == 0 || c.Total != total+unclaimed {
			t.Errorf("by %s: %d, want %d and the unclaimed volumes, %d", c.GroupBy, c.Total, total, unclaimed)
		}
		if sum != c.Total {
			t.Errorf("by %s: the rows are %d, the total %d", c.GroupBy, sum, c.Total)
		}
	}
}

// TestUIStateAddsUp holds what the page relies on: the cost of a place is its own and that of the
// places right below it, and that of a stack that of its places at the top and of its rest.
func TestUIStateAddsUp(t *testing.T) {
	for _, args := range [][]string{nil, {"moodle/moodle-1"}, {"moodle/moodle-1", "moodle/moodle-2"}, {"moodles"}} {
		_, p := surveyOfDemo(t, len(args) == 0 || args[0] == "moodles", args...)
		priced := 0
		for i := range p.Stacks {
			s := &p.Stacks[i]
			addsUp(t, s)
			for _, place := range s.Tree {
				if place.Own != nil {
					priced++
				}
			}
		}
		if priced == 0 {
			t.Errorf("%v: nothing costs", args)
		}
	}
}

func addsUp(t *testing.T, s *uistate.Stack) {
	t.Helper()
	value := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	var top int64
	for i := range s.Tree {
		p := &s.Tree[i]
		if p.Depth == 0 {
			top += value(p.Cost)
		}
		below := value(p.Own)
		for j := i + 1; j < len(s.Tree) && s.Tree[j].Depth > p.Depth; j++ {
			if s.Tree[j].Depth == p.Depth+1 {
				below += value(s.Tree[j].Cost)
			}
		}
		if below != value(p.Cost) {
			t.Errorf("%s: place %d costs %d, its parts %d", s.Name, i, value(p.Cost), below)
		}
		var parts int64
		for _, n := range p.Charges {
			parts += n
		}
		if p.Own != nil && parts != *p.Own {
			t.Errorf("%s: place %d costs %d by itself, its charges %d", s.Name, i, *p.Own, parts)
		}
	}
	for _, r := range s.Rest {
		top += r.Cost
	}
	if top != value(s.Cost) {
		t.Errorf("%s costs %d, its places %d", s.Name, value(s.Cost), top)
	}
}

// TestUIStateIsForest holds the places against the forest of the stack.
func TestUIStateIsForest(t *testing.T) {
	v, p := surveyOfDemo(t, true)
	for i := range v.Last.Found {
		s, tree := v.Last.Found[i].Stack, p.Stacks[i].Tree
		at := 0
		var walk func(b *graph.Branch, depth int)
		walk = func(b *graph.Branch, depth int) {
			if s.Boundary(b.ID) {
				return
			}
			ref := v.Last.Graph.Ref(b.ID)
			n := p.Nodes[tree[at].Node]
			if n.Name != ref.Name || p.Kinds[n.Kind].Kind != ref.Kind || p.Namespaces[n.Namespace] != ref.Namespace || tree[at].Depth != depth {
				t.Fatalf("%s: place %d is %s at %d, want %s at %d", p.Stacks[i].Name, at, n.Name, tree[at].Depth, ref, depth)
			}
			at++
			for _, c := range b.Children {
				walk(c, depth+1)
			}
		}
		for _, b := range s.Forest() {
			walk(b, 0)
		}
		if at != len(tree) {
			t.Errorf("%s: %d places, want %d", p.Stacks[i].Name, len(tree), at)
		}
	}
}

// TestUIStateIsDeterministic also holds that numbers stay when it is looked again.
func TestUIStateIsDeterministic(t *testing.T) {
	text := func(p *uistate.State) string {
		out, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	v, p := surveyOfDemo(t, true)
	_, other := surveyOfDemo(t, true)
	if text(p) != text(other) {
		t.Error("two surveys of one source differ")
	}
	again, err := v.Observe(t.Context())
	if err != nil || text(p) != text(again) {
		t.Errorf("a second look differs: %v", err)
	}
}

// secretive is a stack with secrets wherever one may be.
const secretive = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
  namespace: default
  uid: d1
  labels: {app: shop}
  annotations:
    note: hunter2-annotation
    kubectl.kubernetes.io/last-applied-configuration: '{"spec":"hunter2-applied"}'
spec:
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}, annotations: {note: hunter2-template}}
    spec:
      containers:
      - name: shop
        image: shop
        command: [shop, --password=hunter2-command, --db=postgres://shop:hunter2-argument@db:5432/shop]
        env:
        - {name: PASSWORD, value: hunter2-variable}
        - {name: DATABASE_URL, value: "postgres://shop:hunter2-url@db:5432/shop?sslpassword=hunter2-query"}
        - {name: SHOP_API, value: "http://db:80/services/hunter2-path"}
        - {name: DB_HOST, value: db}
        envFrom: [{secretRef: {name: shop}}]
        volumeMounts: [{name: config, mountPath: /etc/shop}]
      volumes: [{name: config, configMap: {name: shop}}]
---
{apiVersion: v1, kind: Service, metadata: {name: db, namespace: default, uid: s1, annotations: {note: hunter2-service}}, spec: {selector: {app: db}, ports: [{port: 5432}]}}
---
{apiVersion: v1, kind: Secret, metadata: {name: shop, namespace: default, uid: s2, annotations: {note: hunter2-secret}}, stringData: {a: hunter2-string}, data: {b: aHVudGVyMi1kYXRh}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: shop, namespace: default, uid: c1}, data: {a: hunter2-config}}
`

// TestUIStateHidesValues holds that no value of a variable, of an annotation or of the data of an
// object is in the UIState: of evidence nothing but hosts.
func TestUIStateHidesValues(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(file, []byte(secretive), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"stacks -o html", "graph deployment/shop -o html -n default", "stacks --all -o html"} {
		var out, talk bytes.Buffer
		env := command.Env{IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &talk}, Getenv: func(string) string { return "" }, Now: time.Now}
		if code := Main(t.Context(), env, append(strings.Fields(args), "--from", file)); code != command.ExitDone {
			t.Fatalf("%s: exit code %d: %s", args, code, &talk)
		}
		text := pictureIn(t, out.Bytes())
		if found := regexp.MustCompile("hunter2[a-z-]*|aHVudGVy").FindAllString(text+talk.String()+out.String(), -1); found != nil {
			t.Errorf("%s: it holds %q", args, found)
		}
		if !strings.Contains(text, `"n":"shop"`) || !strings.Contains(text, "env[3].value") {
			t.Errorf("%s: it does not hold the stack: %s", args, text)
		}
	}
}

// pictureIn unpacks the UIState of a file.
func pictureIn(t *testing.T, file []byte) string {
	t.Helper()
	doc, err := pages.Unpack(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// TestFileIsSmall holds the size of what is mailed around.
func TestFileIsSmall(t *testing.T) {
	var out bytes.Buffer
	env := command.Env{IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: io.Discard}, Getenv: func(string) string { return "" }, Demo: demotest.FS(), Now: time.Now}
	if code := Main(t.Context(), env, strings.Fields("graph moodle/moodle-1 moodle/moodle-2 -o html --from demo")); code != command.ExitDone {
		t.Fatalf("exit code %d", code)
	}
	const most = 80_000
	if out.Len() > most {
		t.Errorf("%d bytes, want %d at most", out.Len(), most)
	}
	text := pictureIn(t, out.Bytes())
	for _, name := range []string{"moodle-1", "moodle-2", "cluster1-mysql-0", "moodle-2-smtp"} {
		if !strings.Contains(text, `"n":"`+name+`"`) {
			t.Errorf("no %s", name)
		}
	}
	if strings.Contains(text, "wordpress-importer") {
		t.Error("what was not asked about is in it")
	}
}

// TestRerooted holds that the stack of any object is what it is to ask about it alone.
func TestRerooted(t *testing.T) {
	v, p := surveyOfDemo(t, true)
	text, err := askPage(t, v, "stack", url.Values{"root": {"MysqlCluster.mysql.presslabs.org/moodle/cluster1"}})
	if err != nil {
		t.Fatal(err)
	}
	var s uistate.Stack
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	addsUp(t, &s)
	doc := answerOf[view.MetricsDocument](t, "metrics", "mysqlcluster/cluster1")
	near(t, s.Name, *s.Cost, doc.Total.Cost.Month)
	if p.Nodes[s.Tree[0].Node].Name != "cluster1" {
		t.Errorf("the root is %q", p.Nodes[s.Tree[0].Node].Name)
	}
	alone, _ := surveyOfDemo(t, false, "moodle/moodle-1")
	text, err = askPage(t, alone, "stack", url.Values{"root": {"Deployment.apps/moodle/moodle-1"}})
	if err != nil || !strings.Contains(string(text), `"cost":`) {
		t.Errorf("of a stack that is asked about alone, the costs of a part are not known: %s %v", text, err)
	}
	for _, wrong := range []string{"", "nonsense", "Pod/moodle/nobody", "ConfigMap/moodle/moodle-1-theme"} {
		if _, err := askPage(t, v, "stack", url.Values{"root": {wrong}}); err == nil {
			t.Errorf("%q has a stack", wrong)
		}
	}
}

func TestUIStateTurnsNothingAround(t *testing.T) {
	n := &uistate.Node{Reason: "a\u202eb", Message: "first\nsecond\t\x1b[31m", Events: []uistate.Event{{Reason: "\u2066x", Message: "y\r\nz"}}}
	got := app.EscapeTexts(&uistate.State{Nodes: []*uistate.Node{nil, n}}).Nodes[1]
	want := &uistate.Node{Reason: `a\u202eb`, Message: `first second \x1b[31m`, Events: []uistate.Event{{Reason: `\u2066x`, Message: "y z"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
