// Package docs_test holds the pages to what the program does.
package docs_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/cli"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/demotest"
	"github.com/kubectl-sysop/kubectl-sysop/internal/pages"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/all"
)

// run returns what a command writes.
func run(t *testing.T, args string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	env := command.Env{
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut},
		Getenv:    func(string) string { return "" }, Demo: demotest.FS(), Now: func() time.Time { return time.Time{} },
	}
	if code := cli.Main(t.Context(), env, strings.Fields(args)); code != command.ExitDone {
		t.Fatalf("%s: exit code %d: %s", args, code, &errOut)
	}
	return out.String()
}

// blocks are the texts of the blocks of a page in a language.
func blocks(t *testing.T, page, language string) []string {
	t.Helper()
	p, err := pages.Parse(".", page)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, b := range p.Blocks {
		if b.Language == language {
			out = append(out, b.Text)
		}
	}
	return out
}

// The waivers that the page has are waivers of rules that there are.
func TestWaiversOfThePage(t *testing.T) {
	found := blocks(t, "check.md", "yaml")
	if len(found) != 3 {
		t.Fatalf("%d blocks of YAML", len(found))
	}
	waivers, problems := check.ParseWaivers("check.md", []byte(found[2]), all.Rules())
	if len(waivers) != 2 || len(problems) > 0 {
		t.Errorf("%+v, problems %v", waivers, problems)
	}
	var annotated struct{ Metadata metav1.ObjectMeta }
	if err := yaml.Unmarshal([]byte(found[1]), &annotated); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(annotated.Metadata.Annotations[check.WaiveAnnotation]) {
		id, reason, _ := strings.Cut(line, "=")
		known := slices.ContainsFunc(all.Rules(), func(r check.Rule) bool { return r.ID == id })
		if !known || strings.TrimSpace(reason) == "" {
			t.Errorf("no waiver: %s", line)
		}
	}
}

// Each line of arithmetic is right, and what it comes to is what the program says.
func TestArithmeticOfChargeback(t *testing.T) {
	said := map[string]bool{}
	for _, args := range []string{"metrics moodle/moodle-1 moodle/moodle-2 -o json --from demo", "metrics deployment/wordpress -o json --from demo"} {
		decoder := json.NewDecoder(strings.NewReader(run(t, args)))
		decoder.UseNumber()
		for token, err := decoder.Token(); err == nil; token, err = decoder.Token() {
			if n, ok := token.(json.Number); ok {
				said[n.String()] = true
			}
		}
	}
	// These are of the samples of a window, which the example has not.
	said["90"], said["0.025"] = true, true
	lines := 0
	for _, b := range blocks(t, "chargeback.md", "text") {
		for line := range strings.Lines(b) {
			lines++
			left, right, ok := strings.Cut(strings.TrimSpace(line), " = ")
			if !ok {
				t.Errorf("no equation: %s", line)
				continue
			}
			expr, err := parser.ParseExpr(strings.ReplaceAll(left, "×", "*"))
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			want := decimal.RequireFromString(right)
			if got := value(t, expr).FloatString(int(-want.Exponent())); got != right {
				t.Errorf("%s: it is %s", strings.TrimSpace(line), got)
			}
			if !said[right] {
				t.Errorf("%s: the program says nothing of %s", strings.TrimSpace(line), right)
			}
		}
	}
	if lines < 14 {
		t.Errorf("%d lines of arithmetic", lines)
	}
}

// value computes an expression exactly.
func value(t *testing.T, e ast.Expr) *big.Rat {
	t.Helper()
	switch e := e.(type) {
	case *ast.BasicLit:
		if r, ok := new(big.Rat).SetString(e.Value); ok {
			return r
		}
	case *ast.ParenExpr:
		return value(t, e.X)
	case *ast.BinaryExpr:
		x, y := value(t, e.X), value(t, e.Y)
		switch e.Op {
		case token.ADD:
			return x.Add(x, y)
		case token.SUB:
			return x.Sub(x, y)
		case token.MUL:
			return x.Mul(x, y)
		case token.QUO:
			return x.Quo(x, y)
		}
	}
	t.Fatalf("no arithmetic: %T", e)
	return nil
}
