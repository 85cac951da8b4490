package cost_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// FuzzBook: whatever is written, nothing panics, problems have a place in the text,
// and a book is written so that it reads the same, in JSON and in YAML.
func FuzzBook(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/*")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, s := range []string{
		"", "{", "a: &a [*a]", "\x00", "\ufeff{}", "---\n---\n", "[1,2]", `{"CPU":"1e-3","RAM":"","storage":null}`, `{"CPU":"1","RAM":"2","storage":"3","discount":"30%","negotiatedDiscount":"0.333"}`,
		"EndTimestamp,", "a,MarketPriceHourly\n1,2", "#\n\"x",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) + bytes.Count(text, []byte("\u0085")) + bytes.Count(text, []byte("\u2028")) + bytes.Count(text, []byte("\u2029")) + 2
		b, problems := cost.ParseBook("f", text)
		for _, p := range problems {
			if p.Line < 1 || p.Line > lines || p.Column < 1 || p.Message == "" {
				t.Errorf("problem %+v is in no place of %q", p, text)
			}
		}
		if (b == nil) == (len(problems) == 0) {
			t.Fatalf("%q: a book %v with problems %v", text, b, problems)
		}
		if b == nil {
			return
		}
		asJSON, err := json.Marshal(b.Document())
		if err != nil {
			t.Fatal(err)
		}
		asYAML, err := yaml.JSONToYAML(asJSON)
		if err != nil {
			t.Fatal(err)
		}
		for _, written := range [][]byte{asJSON, asYAML} {
			again, problems := cost.ParseBook("f", written)
			if len(problems) > 0 {
				t.Fatalf("%q is written as %s: %v", text, written, problems)
			}
			if !reflect.DeepEqual(again.Document(), b.Document()) {
				t.Fatalf("%q is written so that it reads %+v, not %+v", text, again.Document(), b.Document())
			}
		}
		n := &metrics.Node{Name: "n", Labels: map[string]string{"a": "b", "nvidia.com/gpu.product": "T4"}}
		for _, r := range []cost.Rates{b.Node(n, "shop"), b.Node(nil, ""), b.Node(gpuNode(), "team-a")} {
			for _, p := range append([]cost.Price{r.CPU, r.Memory, b.Storage("ssd", "shop"), b.Traffic(metrics.Sent, "shop"), b.Balancer("")}, r.Extended["nvidia.com/gpu"]) {
				if p.Net.IsNegative() || p.Net.GreaterThan(p.List) && !p.Net.Equal(p.List) {
					t.Errorf("%q: price %+v", text, p)
				}
			}
		}
		b.Lines()
	})
}
