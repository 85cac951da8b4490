package render_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// meters are families with one of everything.
func meters() []view.Family {
	labels := func(pairs ...string) (out []view.Label) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, view.Label{Name: pairs[i], Value: pairs[i+1]})
		}
		return out
	}
	return []view.Family{
		{Name: "sysop_reading_timestamp_seconds", Type: view.Gauge, Unit: "seconds", Help: "When it was read.", Samples: []view.Sample{{Value: "1795000000.25"}}},
		{
			Name: "sysop_cpu_usage_cores", Type: view.Gauge, Unit: "cores", Help: "CPU used.",
			Samples: []view.Sample{
				{Labels: labels("stack", "Moodle.example.com/a/moodle", "kind", "Pod", "namespace", "a", "name", "web-1"), Value: "0.000000001"},
				{Labels: labels("stack", "Moodle.example.com/a/moodle", "kind", "Pod", "namespace", "a", "name", "web-10"), Value: "1000000000000000000000"},
			},
		},
		{
			Name: "sysop_network_receive_bytes", Type: view.Counter, Unit: "bytes", Help: "Received, a \"quote\", a \\ and\na line.",
			Samples: []view.Sample{{Labels: labels("name", "quote \" backslash \\ line\nend, escape \x1b[31m, bidi \u202e, 数据库"), Value: "948305362"}},
		},
		{Name: "sysop_cost_per_hour", Type: view.Gauge, Help: "Cost.", Samples: []view.Sample{{Labels: labels("currency", "EUR"), Value: "-0.5"}, {Value: "0"}}},
	}
}

func TestGoldenExposition(t *testing.T) {
	golden(t, "meters.openmetrics", text(t, "openmetrics", view.Output{Families: meters()}, render.Options{}))
	golden(t, "nothing.openmetrics", text(t, "openmetrics", view.Output{Families: []view.Family{}}, render.Options{}))
	var plain bytes.Buffer
	if err := render.PlainText(&plain, meters()); err != nil {
		t.Fatal(err)
	}
	golden(t, "meters.prometheus", plain.String())
}

func TestExpositionKeepsTheRules(t *testing.T) {
	checkOpenMetrics(t, text(t, "openmetrics", view.Output{Families: meters()}, render.Options{}))
	checkOpenMetrics(t, text(t, "openmetrics", view.Output{Families: []view.Family{}}, render.Options{}))
	checkOpenMetrics(t, text(t, "openmetrics", hostile(unsafeMessage), render.Options{}))
}

// TestPlainTextIsRead holds that the parser of Prometheus' own libraries reads back
// what was written, and that its linter (promtool check metrics) finds nothing.
func TestPlainTextIsRead(t *testing.T) {
	var plain bytes.Buffer
	if err := render.PlainText(&plain, meters()); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	read, err := parser.TextToMetricFamilies(bytes.NewReader(plain.Bytes()))
	if err != nil {
		t.Fatalf("%v in\n%s", err, plain.String())
	}
	want := []string{"sysop_cost_per_hour", "sysop_cpu_usage_cores", "sysop_network_receive_bytes_total", "sysop_reading_timestamp_seconds"}
	if got := slices.Sorted(maps.Keys(read)); !slices.Equal(got, want) {
		t.Errorf("families %v, want %v", got, want)
	}
	received := read["sysop_network_receive_bytes_total"].GetMetric()[0]
	if got, want := received.GetLabel()[0].GetValue(), "quote \" backslash \\ line\nend, escape \\x1b[31m, bidi \\u202e, 数据库"; got != want {
		t.Errorf("label %q, want %q", got, want)
	}
	if got := received.GetCounter().GetValue(); got != 948305362 {
		t.Errorf("counter %v", got)
	}
	if got := read["sysop_cpu_usage_cores"].GetMetric()[0].GetGauge().GetValue(); got != 1e-9 {
		t.Errorf("gauge %v", got)
	}
	problems, err := promlint.New(&plain).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
}

func TestSamplesThatNobodyTellsApart(t *testing.T) {
	twice := []view.Label{{Name: "name", Value: "a"}}
	families := []view.Family{{Name: "a", Type: view.Gauge, Samples: []view.Sample{{Labels: twice, Value: "1"}, {Labels: twice, Value: "2"}}}}
	err := render.Write(io.Discard, "openmetrics", view.Output{Families: families}, render.Options{})
	if err == nil || !strings.Contains(err.Error(), `two samples of a have the labels {name="a"}`) {
		t.Errorf("error %v", err)
	}
}

func TestOpenMetricsCheckerFindsWhatIsWrong(t *testing.T) {
	head := "# TYPE a_bytes gauge\n# UNIT a_bytes bytes\n# HELP a_bytes Help.\n"
	for name, c := range map[string]struct{ text, want string }{
		"no end":            {head + "a_bytes 1\n", "EOF"},
		"after the end":     {"# EOF\n\n", "after"},
		"no type":           {"a 1\n# EOF\n", "no TYPE"},
		"unit is no suffix": {"# TYPE a gauge\n# UNIT a bytes\n# HELP a Help.\na 1\n# EOF\n", "unit"},
		"counter no total":  {"# TYPE a counter\n# HELP a Help.\na 1\n# EOF\n", "_total"},
		"type total":        {"# TYPE a_total counter\n# HELP a_total Help.\na_total 1\n# EOF\n", "_total"},
		"twice":             {head + "a_bytes 1\na_bytes 1\n# EOF\n", "twice"},
		"interleaved":       {"# TYPE a gauge\n# HELP a x\n# TYPE b gauge\n# HELP b x\nb 1\na 1\n# EOF\n", "family"},
		"family twice":      {"# TYPE a gauge\na 1\n# TYPE a gauge\n# EOF\n", "twice"},
		"bad escape":        {head + `a_bytes{x="\t"} 1` + "\n# EOF\n", "escape"},
		"bare quote":        {head + `a_bytes{x="""} 1` + "\n# EOF\n", "label"},
		"trailing comma":    {head + `a_bytes{x="1",} 1` + "\n# EOF\n", "label"},
		"label twice":       {head + `a_bytes{x="1",x="2"} 1` + "\n# EOF\n", "label"},
		"colon in label":    {head + `a_bytes{x:y="1"} 1` + "\n# EOF\n", "label"},
		"not a number":      {head + "a_bytes 1,5\n# EOF\n", "number"},
		"carriage return":   {head + "a_bytes 1\r\n# EOF\n", "number"},
		"empty line":        {head + "\na_bytes 1\n# EOF\n", "line"},
	} {
		if err := openMetricsError(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

// BenchmarkExposition shows that time grows with the samples and no faster.
func BenchmarkExposition(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		f := view.Family{Name: "a", Type: view.Gauge, Samples: make([]view.Sample, n)}
		for i := range f.Samples {
			f.Samples[i] = view.Sample{Value: "0.25", Labels: []view.Label{{Name: "stack", Value: "Moodle.example.com/a/moodle"}, {Name: "name", Value: fmt.Sprint("web-", i)}}}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := render.Write(io.Discard, "openmetrics", view.Output{Families: []view.Family{f}}, render.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/sample")
		})
	}
}
