package health_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// readPublished reads statuses that were written for these tests by the published types of
// operators. An object that does not say when it was made is four hours old at snapshotTime.
func readPublished(t testing.TB, file string) []known {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var out []known
	for _, f := range txtar.Parse(data).Files {
		name, want, _ := strings.Cut(f.Name, " ")
		part := strings.Split(name, "/")
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(f.Data, &u.Object); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		u.SetAPIVersion(part[0] + "/v1")
		u.SetKind(part[1])
		u.SetName("it")
		if created := u.GetCreationTimestamp(); created.IsZero() {
			u.SetCreationTimestamp(metav1.NewTime(snapshotTime.Add(-4 * time.Hour)))
		}
		out = append(out, known{name, part[0], health.Status(want), u})
	}
	return out
}

// measured are the figures of general rules alone that docs/health.md says, a row each, in order.
func measured(t testing.TB) []measure {
	cases, published, later := readCases(t), readPublished(t, "published.txtar"), readPublished(t, "published-later.txtar")
	third, fourth := readPublished(t, "published-third.txtar"), readPublished(t, "published-fourth.txtar")
	sample := func(cases []known, n int) []known {
		return only(cases, func(k known) bool { return half(k.group) == n })
	}
	return []measure{
		{"Argo CD's, tuned on", judgeCases(sample(cases, 0), nil)},
		{"Argo CD's, tuned on, without gateway.solo.io", judgeCases(only(sample(cases, 0), func(k known) bool { return k.group != "gateway.solo.io" }), nil)},
		{"Argo CD's, held out", judgeCases(sample(cases, 1), nil)},
		{"Argo CD's, all, with the catalogue", judgeCases(cases, catalogRules())},
		{"published, tuned on", judgeAt(sample(published, 0), snapshotTime, nil)},
		{"published, held out", judgeAt(sample(published, 1), snapshotTime, nil)},
		{"published, later", judgeAt(later, snapshotTime, nil)},
		{"published, third, tuned on", judgeAt(sample(third, 0), snapshotTime, nil)},
		{"published, third, held out", judgeAt(sample(third, 1), snapshotTime, nil)},
		{"published, fourth", judgeAt(fourth, snapshotTime, nil)},
	}
}

// measure is a set of cases with its score.
type measure struct {
	set string
	score
}

// TestPublished: nothing that is in trouble by its published type is called well.
func TestPublished(t *testing.T) {
	for _, m := range measured(t)[4:] {
		t.Logf("%s: %s\n%s", m.set, m.score, strings.Join(m.wrong, "\n"))
		if m.percent() < 90 {
			t.Errorf("%s: %.1f%% exact, want 90", m.set, m.percent())
		}
		for _, name := range m.falsely {
			t.Errorf("%s is called healthy", name)
		}
	}
}

// TestFiguresOfThePage holds docs/health.md against what is measured.
func TestFiguresOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/health.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range measured(t) {
		row := m.row()
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/health.md has no row %q", row)
		}
	}
}

// row is the line of the page's table that says a measure.
func (m measure) row() string {
	return fmt.Sprintf("| %s | %d | %d | %.1f%% | %d |", m.set, m.all, m.exact, m.percent(), len(m.falsely))
}
