package operator

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

func TestOperatorReplicas(t *testing.T) {
	for _, tt := range []struct {
		name, spec string
		replicas   int
		wrong      int
		says       string
	}{
		{name: "two", spec: checktest.OneContainer, replicas: 2},
		{name: "one", spec: checktest.OneContainer, replicas: 1, wrong: 1, says: "has one replica: while"},
		{name: "one that elects", spec: "containers: [{name: c, image: c, args: [--leader-elect]}]", replicas: 1, wrong: 1, says: "elects a leader (--leader-elect)"},
		{name: "one that does not elect", spec: "containers: [{name: c, image: c, args: [--leader-elect=false]}]", replicas: 1, wrong: 1, says: "has one replica: while"},
		{name: "one that elects by environment", spec: "containers: [{name: c, image: c, env: [{name: ENABLE_LEADER_ELECTION, value: 'true'}]}]", replicas: 1, wrong: 1, says: "elects a leader"},
		{name: "stopped", spec: checktest.OneContainer},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := checktest.Read(t, Find, checktest.App("op", tt.replicas, tt.spec, "n1"))
			o := &check.Operator{World: w.ClusterState, Name: "op", Workloads: w.Workloads()}
			r := checktest.Only(t, Rules(), "operator-replicas", o.Check)
			if len(r.Findings) != tt.wrong || tt.wrong > 0 && !strings.Contains(r.Findings[0].Message, tt.says) {
				t.Errorf("got %+v", r.Findings)
			}
		})
	}
}

func TestElectArg(t *testing.T) {
	for arg, want := range map[string]bool{
		"--leader-elect": true, "-leader-elect=true": true, "--enable-leader-election": true, "LEADER_ELECTION_ENABLED=true": true, "--leaderElection": false,
		"--leader-elect=false": false, "--leader-election-namespace=x": true, "--leader-election-id=y.z": true, "--leader-election-lease-duration=60s": false, "ENABLE_LEADER_ELECTION=0": false, "run": false,
	} {
		if got := isElectionArgument(arg); got != want {
			t.Errorf("%s: %v", arg, got)
		}
	}
}
