package health_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

func TestReads(t *testing.T) {
	for _, text := range []string{
		`status.phase == "Failed"`,
		`status.?phase.orValue("") in ["A", "B"] || status.ready`,
		`status.condition("Ready").status == "True"`,
		`status.?nodes.orValue([]).exists(n, n.?state.orValue("") == "down" && n.count < spec.replicas)`,
		`metadata.?annotations[?"a.b/c"].orValue("") == "true"`,
		`has(status.a.b) && status.statuses.exists(k, status.statuses[k].state == 2)`,
		`status.list.filter(c, c.type.endsWith("Error"))[0].message != ""`,
		`[status.condition("A"), status.condition("B")].exists(c, c.status == "True")`,
		`status.?a.optMap(x, x.b == 1).orValue(false)`,
		"status.a == 1 ||\n  status.b == 2",
	} {
		reads, err := health.Rule{Kind: "X.x.io", Degraded: text}.Reads()
		fmt.Println(text, err)
		for _, r := range reads {
			fmt.Printf("   %+v\n", r)
		}
	}
}
