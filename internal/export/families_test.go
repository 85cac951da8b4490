package export_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/export"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

func TestMetricsFamilies(t *testing.T) {
	got := write(t, "openmetrics", view.Output{Families: export.Families(schoolReport(), map[string]*metrics.UsageReport{"": schoolReading()})})
	a := `stack="Moodle.moodle.example.com/school-a/moodle",kind="Pod",namespace="school-a"`
	want := []string{
		`sysop_reading_timestamp_seconds 1794739267.25`,
		`sysop_group_pods{level="stack",stack="Moodle.moodle.example.com/school-a/moodle",kind="Moodle",api_group="moodle.example.com",namespace="school-a",name="moodle"} 4`,
		`sysop_group_pods{level="rest",group="idle",name="idle"} 0`,
		`sysop_group_pods_measured{level="stack",stack="Moodle.moodle.example.com/school-a/moodle",kind="Moodle",api_group="moodle.example.com",namespace="school-a",name="moodle"} 3`,
		`sysop_group_pods_measured{level="rest",group="idle",name="idle"} 0`,
		`sysop_group_efficiency_ratio{level="stack",stack="Moodle.moodle.example.com/school-a/moodle",kind="Moodle",api_group="moodle.example.com",namespace="school-a",name="moodle"} 0.4375`,
		`sysop_cost_per_hour{level="pod",` + a + `,name="web-1",currency="EUR"} 0.95900275`,
		`sysop_cost_per_hour{level="pod",` + a + `,name="web-10",node="worker-a",currency="EUR"} 0.00900275`,
		`sysop_cost_per_hour{level="pod",stack="Moodle.moodle.example.com/school-a/moodle",kind="Pod",namespace="db",name="mysql-0",currency="EUR"} 0.0158`,
		`sysop_cost_per_hour{level="rest",group="idle",kind="Node",name="worker-a",currency="EUR"} 0.2`,
		`sysop_cpu_usage_cores{level="pod",` + a + `,name="web-10",node="worker-a"} 0.100000001`,
		`sysop_cpu_usage_cores{level="pod",stack="Moodle.moodle.example.com/school-a/moodle",kind="Pod",namespace="db",name="mysql-0"} 0.05`,
		`sysop_cpu_request_cores{level="pod",` + a + `,name="web-1"} 0.25`,
		`sysop_cpu_request_cores{level="pod",` + a + `,name="web-10",node="worker-a"} 0.25`,
		`sysop_memory_usage_bytes{level="pod",` + a + `,name="web-10",node="worker-a"} 134217728`,
		`sysop_memory_request_bytes{level="pod",` + a + `,name="web-1"} 268435456`,
		`sysop_memory_request_bytes{level="pod",` + a + `,name="web-10",node="worker-a"} 268435456`,
		`sysop_storage_claimed_bytes{level="pod",stack="Moodle.moodle.example.com/school-a/moodle",kind="Pod",namespace="db",name="mysql-0"} 5368709120`,
		`sysop_storage_used_bytes{level="pod",stack="Moodle.moodle.example.com/school-a/moodle",kind="Pod",namespace="db",name="mysql-0"} 1000`,
		`sysop_ephemeral_storage_usage_bytes{level="pod",` + a + `,name="web-10",node="worker-a"} 4096`,
		`sysop_network_receive_bytes_total{level="pod",` + a + `,name="web-10",node="worker-a"} 948305362`,
		`sysop_network_transmit_bytes_total{level="pod",` + a + `,name="web-10",node="worker-a"} 12542068`,
		`sysop_host_network_receive_bytes_total{level="pod",` + a + `,name="agent"} 1`,
		`sysop_resource_request{level="pod",` + a + `,name="web-1",resource="nvidia.com/gpu"} 1`,
		`sysop_resource_limit{level="pod",` + a + `,name="web-1",resource="nvidia.com/gpu"} 1`,
	}
	samples := slices.DeleteFunc(strings.Split(strings.TrimSuffix(got, "\n"), "\n"), func(line string) bool { return strings.HasPrefix(line, "#") })
	if !slices.Equal(samples, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(samples, "\n"), strings.Join(want, "\n"))
	}
	for range 20 {
		if again := write(t, "openmetrics", view.Output{Families: export.Families(schoolReport(), map[string]*metrics.UsageReport{"": schoolReading()})}); again != got {
			t.Fatal("written twice, it differs")
		}
	}
}

func TestEveryFamilyKeepsTheRulesOfNames(t *testing.T) {
	var plain bytes.Buffer
	families := export.Families(schoolReport(), map[string]*metrics.UsageReport{"": schoolReading()})
	if err := render.PlainText(&plain, families); err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.New(&plain).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
	for _, f := range families {
		if f.Unit != "" && !strings.HasSuffix(f.Name, "_"+f.Unit) || f.Help == "" || strings.HasSuffix(f.Name, "_total") {
			t.Errorf("family %+v", f)
		}
	}
}

// TestFamiliesAddUp reads the families back with the parser of Prometheus' libraries:
// the costs add up to the total however many leaves have one name, and no two samples
// have the same labels.
func TestFamiliesAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for range 200 {
		rep := randomReport(r, dec("1"))
		var plain bytes.Buffer
		if err := render.PlainText(&plain, export.Families(rep, nil)); err != nil {
			t.Fatal(err)
		}
		parser := expfmt.NewTextParser(model.UTF8Validation)
		read, err := parser.TextToMetricFamilies(&plain)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := read["sysop_memory_usage_bytes"]; ok {
			t.Fatal("nothing is known of memory")
		}
		var sum decimal.Decimal
		for _, m := range read["sysop_cost_per_hour"].GetMetric() {
			sum = sum.Add(decimal.NewFromFloat(m.GetGauge().GetValue()).Round(12))
		}
		if !sum.Equal(rep.Total.Cost) {
			t.Fatalf("the costs add up to %s of %s in %v", sum, rep.Total.Cost, slices.Sorted(maps.Keys(read)))
		}
	}
}

func TestFamiliesOfAWindowAreAverages(t *testing.T) {
	rep := schoolReport()
	rep.Hours = dec("3")
	leaf := rep.Rows[0].Children[0].Children[1]
	leaf.Used.Set("network-receive", dec("108000000"))
	got := write(t, "openmetrics", view.Output{Families: export.Families(rep, nil)})
	for _, want := range []string{
		`name="web-10"} 0.033333333667`,
		"\nsysop_network_receive_bytes_per_second{level=\"pod\",stack=\"Moodle.moodle.example.com/school-a/moodle\",kind=\"Pod\",namespace=\"school-a\",name=\"web-10\"} 10000\n",
		`name="web-10",currency="EUR"} 0.003000916667`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// TestFamiliesAreTheCSV: what a leaf costs an hour is the same number in both, also of a window
// in which rounding each alone would not add up.
func TestFamiliesAreTheCSV(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for i := range 200 {
		rep := randomReport(r, []decimal.Decimal{dec("1"), dec("7"), dec("336.2502777777")}[i%3])
		var sum, csv decimal.Decimal
		for _, f := range export.Families(rep, nil) {
			for _, s := range f.Samples {
				if f.Name == "sysop_cost_per_hour" {
					sum = sum.Add(dec(s.Value))
				}
			}
		}
		table := export.CSV(rep, nil, nil)
		at := slices.IndexFunc(table.Columns, func(c view.CSVColumn) bool { return c.Name == "cost_hour" })
		for _, row := range table.Rows {
			if row[at] != "" {
				csv = csv.Add(dec(row[at]))
			}
		}
		if !sum.Equal(csv) {
			t.Fatalf("report %d over %s h: OpenMetrics adds up to %s an hour, CSV to %s", i, rep.Hours, sum, csv)
		}
	}
}
