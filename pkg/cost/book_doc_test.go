package cost_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// TestDocumentation parses the examples of docs/price-book.md, recomputes its figures
// and looks for every field.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/price-book.md")
	if err != nil {
		t.Fatal(err)
	}
	var books []*cost.Book
	for i, block := range strings.Split(string(page), "```yaml\n") {
		if text, _, ok := strings.Cut(block, "```"); ok && i > 0 {
			books = append(books, parseText(t, "docs/price-book.md", text))
		}
	}
	if len(books) != 2 {
		t.Fatalf("%d examples", len(books))
	}
	r := books[0].Node(m5(), "")
	is(t, "a core of the worked example", r.CPU, "0.031338842975206612 0.028204958677685951 cpu/m5.xlarge@0.031338842975206612")
	is(t, "a GiB of it", r.Memory, "0.004165289256198347 0.003748760330578512 memory/m5.xlarge@0.004165289256198347")
	if got := books[0].Node(nil, "shop-eu").CPU; !got.Net.Equal(dec("0.0316").Mul(dec("0.9")).Mul(dec("0.8"))) {
		t.Errorf("a core in a namespace: %v", got)
	}
	for _, figure := range []string{r.CPU.List.String(), r.Memory.List.String(), "= 0.1936 without"} {
		if !strings.Contains(string(page), figure) {
			t.Errorf("the page does not say %s", figure)
		}
	}
	if got := books[1].Storage("", "sandbox"); !got.List.IsZero() {
		t.Errorf("storage of the sandbox: %v", got)
	}
	amd := &metrics.Node{Labels: map[string]string{"amd.com/gpu.product-name": "AMD_Instinct_MI300X"}}
	is(t, "amd", books[1].Node(amd, "").Extended["amd.com/gpu"], "3.5 amd.com/gpu/AMD_Instinct_MI300X")

	for _, typ := range []reflect.Type{reflect.TypeFor[cost.BookDocument](), reflect.TypeFor[cost.OverrideDocument](), reflect.TypeFor[cost.NodesDocument](), reflect.TypeFor[cost.StorageDocument](), reflect.TypeFor[cost.GPUDocument](), reflect.TypeFor[cost.NetworkDocument]()} {
		for f := range typ.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !strings.Contains(string(page), "`"+name) && !strings.Contains(string(page), name+"}`") && !strings.Contains(string(page), name+",") {
				t.Errorf("the page does not say what %s is", name)
			}
		}
	}
	for _, d := range []string{"0.031611", "0.004237", "0.95", "0.00005479452", "0.006655", "0.000892"} {
		if !strings.Contains(string(page), d) {
			t.Errorf("the page does not say the default price %s", d)
		}
	}
}
