package health_test

import (
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

// readPublished reads the statuses that were written by the published types of operators. An object
// that does not say when it was made is four hours old.
func readPublished(t testing.TB) []known {
	t.Helper()
	data, err := os.ReadFile("testdata/published.txtar")
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
		if made := u.GetCreationTimestamp(); made.IsZero() {
			u.SetCreationTimestamp(metav1.NewTime(snapshotTime.Add(-4 * time.Hour)))
		}
		out = append(out, known{name, part[0], health.Status(want), u})
	}
	return out
}

func TestPublished(t *testing.T) {
	cases := readPublished(t)
	for n, name := range [...]string{"tuned on", "held out"} {
		part := judgeAt(only(cases, func(k known) bool { return half(k.group) == n }), snapshotTime, nil)
		t.Logf("%s: %s\n%s", name, part, strings.Join(part.wrong, "\n"))
	}
}
