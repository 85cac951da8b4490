package field

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const pathFixture = `
metadata: {name: m, labels: {app.kubernetes.io/name: web, plain: p, "it's": q}}
spec:
  a: {b: 1}
  users: [{name: ann, secretName: s0}, {name: bob}, {name: cid, secretName: s2}]
  hosts: [x, z]
  grid: [[{v: 1}], [{v: 2}, {v: 3}]]
  none: null
  empty: []
  dash-ed: d
`

func TestPathFind(t *testing.T) {
	fields := map[string]any{}
	if err := yaml.Unmarshal([]byte(pathFixture), &fields); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ path, want string }{
		{"spec.a.b", "spec.a.b=1"},
		{"spec.*.b", "spec.a.b=1"},
		{"spec.a.*", "spec.a.b=1"},
		{"metadata.labels.*", `metadata.labels["app.kubernetes.io/name"]=web metadata.labels["it's"]=q metadata.labels.plain=p`},
		{`spec["*"].b`, ""},
		{"spec.users[].secretName", "spec.users[0].secretName=s0 spec.users[2].secretName=s2"},
		{"spec.users[*].secretName", "spec.users[0].secretName=s0 spec.users[2].secretName=s2"},
		{"spec.users.secretName", "spec.users[0].secretName=s0 spec.users[2].secretName=s2"},
		{"spec.users[1].name", "spec.users[1].name=bob"},
		{"spec.users[3].name", ""},
		{"spec.users[1].secretName", ""},
		{"spec.hosts", "spec.hosts=[x z]"},
		{"spec.hosts[]", "spec.hosts[0]=x spec.hosts[1]=z"},
		{"spec.hosts[].x", ""},
		{"spec.grid.v", "spec.grid[0][0].v=1 spec.grid[1][0].v=2 spec.grid[1][1].v=3"},
		{"spec.grid[][].v", "spec.grid[0][0].v=1 spec.grid[1][0].v=2 spec.grid[1][1].v=3"},
		{"spec.grid[1][0].v", "spec.grid[1][0].v=2"},
		{"spec.none", ""},
		{"spec.none.x", ""},
		{"spec.empty[]", ""},
		{"spec.a[]", ""},
		{"spec.A.b", ""}, // names are matched exactly
		{"spec.a.b.c", ""},
		{"spec.dash-ed", "spec.dash-ed=d"},
		{`spec["dash-ed"]`, "spec.dash-ed=d"},
		{`metadata.labels["app.kubernetes.io/name"]`, `metadata.labels["app.kubernetes.io/name"]=web`},
		{`metadata.labels['plain']`, "metadata.labels.plain=p"},
		{`metadata.labels["it's"]`, `metadata.labels["it's"]=q`},
		{`["metadata"].name`, "metadata.name=m"},
	}
	for _, tt := range tests {
		p, err := Parse(tt.path)
		if err != nil {
			t.Errorf("%s: %v", tt.path, err)
			continue
		}
		var got []string
		for at, v := range p.Find(fields) {
			got = append(got, fmt.Sprintf("%s=%v", at, v))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: got %q, want %q", tt.path, s, tt.want)
		}
		// What String writes is the same path.
		again, err := Parse(p.String())
		if err != nil || again.String() != p.String() {
			t.Errorf("%s: written as %s, read as %s, %v", tt.path, p, again, err)
		}
		// A reader may stop at any value.
		for range p.Find(fields) {
			break
		}
	}
}

func TestPathOfWhatWasFound(t *testing.T) {
	fields := map[string]any{}
	if err := yaml.Unmarshal([]byte(pathFixture), &fields); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"spec.users.name", "spec.grid.v", "spec.hosts[]", `metadata.labels["app.kubernetes.io/name"]`} {
		p, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for at, v := range p.Find(fields) {
			concrete, err := Parse(at)
			if err != nil {
				t.Errorf("%s: %v", at, err)
			}
			n := 0
			for at2, v2 := range concrete.Find(fields) {
				if n++; at2 != at || fmt.Sprint(v2) != fmt.Sprint(v) {
					t.Errorf("%s finds %v at %s, want %v", at, v2, at2, v)
				}
			}
			if n != 1 {
				t.Errorf("%s finds %d values, want 1", at, n)
			}
		}
	}
}

func TestError(t *testing.T) {
	tests := []struct {
		path   string
		offset int
	}{
		{"", 0},
		{".", 0},
		{".spec", 0},
		{"spec.", 5},
		{"spec..x", 5},
		{"spec.x[", 6},
		{"spec.x[a]", 7},
		{"spec.x[-1]", 7},
		{"spec.x[99999999999]", 7},
		{`spec["]`, 5},
		{`spec[""]`, 5},
		{`spec["a"x]`, 5},
		{"spec.x]", 6},
		{"spec x", 4},
		{"spec.x[0]y", 9},
		{"spec.a:b", 6},
		{"spec.(x)", 5},
	}
	for _, tt := range tests {
		_, err := Parse(tt.path)
		var wrong *Error
		if !errors.As(err, &wrong) || wrong.Offset != tt.offset {
			t.Errorf("%q: got %v, want an error at %d", tt.path, err, tt.offset)
			continue
		}
		if want := fmt.Sprintf("column %d:", tt.offset+1); !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v does not say %s", tt.path, err, want)
		}
	}
}

func TestZeroPath(t *testing.T) {
	for at, v := range (Path{}).Find(map[string]any{"a": 1}) {
		if at != "" || len(v.(map[string]any)) != 1 {
			t.Errorf("got %v at %q", v, at)
		}
	}
	for at := range (Path{steps: []step{{field: "a"}}}).Find(nil) {
		t.Errorf("found %s in nothing", at)
	}
}

// TestLongPath: brackets are steps like any other.
func TestLongPath(t *testing.T) {
	for _, step := range []string{".a", "[]", "[0]", `["a"]`} {
		if _, err := Parse("a" + strings.Repeat(step, maxSteps-1)); err != nil {
			t.Errorf("%s: %v", step, err)
		}
		_, err := Parse("a" + strings.Repeat(step, 3*maxSteps))
		if err == nil || !strings.Contains(err.Error(), "too long") {
			t.Errorf("%s: got %v", step, err)
		}
	}
}
