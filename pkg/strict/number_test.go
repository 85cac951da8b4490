package strict_test

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// TestPlainNumbers: the float of YAML 1.1 (yaml.org/type/float.html) has a dot, and a sign in its
// exponent. What encoding/json writes of a small float64 has no dot, and is text to such a reader.
func TestPlainNumbers(t *testing.T) {
	for in, want := range map[string]string{
		`1e-09`:                                  `0.000000001`,
		`-1.25E-3`:                               `-0.00125`,
		`[1e+21,2.5e1,-0]`:                       `[1000000000000000000000,25,-0]`,
		`0e5`:                                    `0`,
		`1.50e1`:                                 `15`,
		`{"a1e-9":"1e-9","b\"1e3":1e3,"e":true}`: `{"a1e-9":"1e-9","b\"1e3":1000,"e":true}`,
		`0.00036529680000001826484`:              `0.00036529680000001826484`,
		`1e999999999999`:                         `1e999999999999`,
	} {
		if got := string(strict.PlainNumbers([]byte(in))); got != want {
			t.Errorf("%s is written as %s, want %s", in, got, want)
		}
	}
	for _, v := range []float64{math.SmallestNonzeroFloat64, math.MaxFloat64, 1e-7, 123456789e-30, -4.9e300} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		plain := string(strict.PlainNumbers(text))
		if back, err := strconv.ParseFloat(plain, 64); err != nil || back != v || !regexp.MustCompile(`^-?\d+(\.\d+)?$`).MatchString(plain) {
			t.Errorf("%s is written as %s: %v", text, plain, err)
		}
	}
}

// TestYAML: no digit of a number is lost, and text stays text to readers of YAML 1.1.
func TestYAML(t *testing.T) {
	got, err := strict.YAML([]byte(`{"z": 1e-9, "a": [0.00036529680000001826484, 12345678901234567890123, 2, {"k": null}], "s": "1e-9", "y": "yes", "t": "1:20", "m": "a\nb\n"}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `a:
- 0.00036529680000001826484
- 12345678901234567890123
- 2
- k: null
m: |
  a
  b
s: "1e-9"
t: "1:20"
"y": "yes"
z: 0.000000001
`
	if string(got) != want {
		t.Errorf("written as\n%s\nwant\n%s", got, want)
	}
	var n yaml.Node
	if err := yaml.Unmarshal(got, &n); err != nil {
		t.Error(err)
	}
}
