package cost_test

import (
	"os"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

func dec(s string) decimal.Decimal { return decimal.RequireFromString(s) }

// gibibytes are bytes.
func gibibytes(n int64) decimal.Decimal { return decimal.NewFromInt(n << 30) }

// m5 is a node of 4 cores and 16 GiB, as an instant has it.
func m5() *metrics.Node {
	return &metrics.Node{
		Name: "worker-a", ProviderID: "aws:///eu-central-1a/i-0abc", Hours: dec("1"),
		Labels:   map[string]string{"node.kubernetes.io/instance-type": "m5.xlarge", "topology.kubernetes.io/region": "eu-central-1"},
		Capacity: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("4"), metrics.Memory: gibibytes(16)}),
	}
}

// gpuNode is a node of 8 cores, 64 GiB and 2 GPUs over 10 hours.
func gpuNode() *metrics.Node {
	return &metrics.Node{
		Name: "gpu-1", Hours: dec("10"),
		Labels:   map[string]string{"pool": "gpu", "tier": "a", "nvidia.com/gpu.product": "nvidia-a100-sxm4-40gb", "nvidia.com/gpu_type": "a100-ondemand", "usage": "OnDemand"},
		Capacity: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("80"), metrics.Memory: gibibytes(640), "nvidia.com/gpu": dec("20")}),
	}
}

// parse reads a book that must be right.
func parse(t *testing.T, name string) *cost.Book {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return parseText(t, name, string(text))
}

func parseText(t *testing.T, name, text string) *cost.Book {
	t.Helper()
	b, problems := cost.ParseBook(name, []byte(text))
	if len(problems) > 0 {
		t.Fatalf("%s: %v", name, problems)
	}
	return b
}
