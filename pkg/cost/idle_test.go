package cost

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// Of 16 cores and 64 GiB red has 3 cores and 8 GiB, green 1 core and 24 GiB.
func nodeScene() *scene {
	s := newScene()
	s.node("n1", "16", "64").Capacity.Set(gpu, dec("4"))
	s.pod("shop", "red-1", "n1", "2", "8", red)
	s.pod("shop", "red-2", "n1", "1", "0", red)
	s.pod("shop", "green-1", "n1", "1", "24", green)
	s.pod("tools", "blue-1", "elsewhere", "5", "5", blue)
	return s
}

func wantOnly(t *testing.T, l *Ledger, item, want string) {
	t.Helper()
	if got := only(l, item); got != want {
		t.Errorf("%s:\n%s, want\n%s", item, got, want)
	}
}

func TestIdle(t *testing.T) {
	t.Run("to nobody", func(t *testing.T) {
		l := nodeScene().ledger(Options{})
		wantOnly(t, l, "n1", "- idle cpu 12 1/1, - idle memory 32 1/1, - idle nvidia.com/gpu 4 1/1")
		// 16 + 6.4 + 40 of the node, 5.5 elsewhere.
		if want := "67.9"; l.Total().String() != want {
			t.Errorf("total %s, want %s", l.Total(), want)
		}
	})
	t.Run("what ran nobody knows where is told", func(t *testing.T) {
		if notes := nodeScene().ledger(Options{}).Notes; len(notes) != 0 {
			t.Errorf("notes %v", notes)
		}
		s := nodeScene()
		s.pod("shop", "lost", "", "1", "1", red)
		notes := s.ledger(Options{}).Notes
		if len(notes) != 1 || notes[0].Reason != "Idle" || !strings.HasPrefix(notes[0].Message, "1 pods without") {
			t.Errorf("notes %v", notes)
		}
	})
	t.Run("spread by resource", func(t *testing.T) {
		wantOnly(t, nodeScene().ledger(Options{ShareIdle: true}), "n1",
			"- idle nvidia.com/gpu 4 1/1, green idle cpu 3 0.25/2, green idle memory 24 0.75/2, red idle cpu 9 0.75/2, red idle memory 8 0.25/2")
	})
	t.Run("those in no stack take their part", func(t *testing.T) {
		s := nodeScene()
		s.pod("lab", "stray", "n1", "4", "0")
		l := s.ledger(Options{ShareIdle: true})
		wantOnly(t, l, "n1", "- idle cpu 4 0.5/2, - idle nvidia.com/gpu 4 1/1, "+
			"green idle cpu 1 0.125/2, green idle memory 24 0.75/2, red idle cpu 3 0.375/2, red idle memory 8 0.25/2")
		if c := l.Charges[0]; c.Kind != Idle || c.Namespace != "lab" || c.Node != "n1" {
			t.Errorf("%s of %s on %q: want the idle cores that are of lab", c.Kind, c.Namespace, c.Node)
		}
	})
	t.Run("a shared pod", func(t *testing.T) {
		s := nodeScene()
		s.pod("shop", "db-0", "n1", "4", "0", red, green)
		wantOnly(t, s.ledger(Options{ShareIdle: true}), "n1",
			"- idle nvidia.com/gpu 4 1/1, green idle cpu 3 0.375/2, green idle memory 24 0.75/2, red idle cpu 5 0.625/2, red idle memory 8 0.25/2")
	})
	t.Run("a shared namespace takes its part along", func(t *testing.T) {
		s := nodeScene()
		s.pod("kube-system", "dns", "n1", "4", "0")
		l := s.ledger(Options{ShareIdle: true, ShareNamespaces: []string{"kube-system"}})
		wantOnly(t, l, "n1", "- idle nvidia.com/gpu 4 1/1, "+
			"green idle cpu 1 0.25/2, green idle memory 24 0.75/2, red idle cpu 3 0.75/2, red idle memory 8 0.25/2")
		// 4 cores and 4 idle ones, for three stacks.
		wantOnly(t, l, "kube-system", "green shared cpu 2.666666666667 0.333333333334/3, green shared memory 0 0.333333333334/3, "+
			"red shared cpu 2.666666666667 0.333333333333/3, red shared memory 0 0.333333333333/3, "+
			"blue shared cpu 2.666666666666 0.333333333333/3, blue shared memory 0 0.333333333333/3")
	})
	t.Run("not where pods may be missing", func(t *testing.T) {
		s := nodeScene()
		s.Nodes[0].Whole = false
		wantOnly(t, s.ledger(Options{}), "n1", "")
	})
	t.Run("capacity that is not known", func(t *testing.T) {
		s := nodeScene()
		s.Nodes[0].Capacity = s.Nodes[0].Capacity.Without(metrics.CPU)
		wantOnly(t, s.ledger(Options{}), "n1", "- idle memory 32 1/1, - idle nvidia.com/gpu 4 1/1")
	})
	t.Run("a node without pods", func(t *testing.T) {
		s := newScene()
		s.node("n2", "2", "4")
		wantLines(t, s.ledger(Options{ShareIdle: true}), "- idle n2 cpu 2 1/1", "- idle n2 memory 4 1/1")
	})
}

// More is charged than there is: nothing is idle, nothing is below zero, and it is
// told. The other resource is as it was.
func TestOvercommitted(t *testing.T) {
	s := nodeScene()
	s.pod("shop", "burst", "n1", "13", "0", green)
	l := s.ledger(Options{})
	wantOnly(t, l, "n1", "- idle memory 32 1/1, - idle nvidia.com/gpu 4 1/1")
	want := metrics.Note{Subject: "Node/n1", Reason: "Overcommitted", Message: "cpu: 17 Core-Hours were charged of a capacity of 16: nothing is idle"}
	if len(l.Notes) != 1 || l.Notes[0] != want {
		t.Errorf("notes %+v, want %+v", l.Notes, want)
	}
}
