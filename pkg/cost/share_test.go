package cost

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// amounts are cores and GiB.
func amounts(cores, memory string) metrics.Amounts {
	out := metrics.Amounts{}
	if cores != "" {
		out.Set(metrics.CPU, dec(cores))
	}
	if memory != "" {
		out.Set(metrics.Memory, dec(memory).Mul(decimal.NewFromInt(1<<30)))
	}
	return out
}

// only returns the lines about an item, without it.
func only(l *Ledger, item string) string {
	var out []string
	for _, line := range lines(l) {
		if before, after, ok := strings.Cut(line, " "+item+" "); ok {
			out = append(out, before+" "+after)
		}
	}
	return strings.Join(out, ", ")
}

// One database, with its volume and its load balancer, under two applications.
func TestSharing(t *testing.T) {
	for _, tc := range []struct {
		name    string
		sharing Sharing
		change  func(s *scene)
		db      string // cpu and memory of green, then red
		data    string
	}{
		{
			"even", ShareEven, nil,
			"green usage cpu 4 0.5/2, green usage memory 8 0.5/2, red usage cpu 4 0.5/2, red usage memory 8 0.5/2",
			"green usage storage 50 0.5/2, red usage storage 50 0.5/2",
		},
		{
			"even where nothing is said", "", nil,
			"green usage cpu 4 0.5/2, green usage memory 8 0.5/2, red usage cpu 4 0.5/2, red usage memory 8 0.5/2",
			"green usage storage 50 0.5/2, red usage storage 50 0.5/2",
		},
		{
			// Red uses 3 cores and 1 GiB alone, green 1 core and 1 GiB. They are charged 7.1
			// and 2.9 for them, by which the volume is split.
			"usage", ShareUsage, nil,
			"green usage cpu 2 0.25/2, green usage memory 8 0.5/2, red usage cpu 6 0.75/2, red usage memory 8 0.5/2",
			"green usage storage 29 0.29/2, red usage storage 71 0.71/2",
		},
		{
			"requests", ShareRequests, nil,
			"green usage cpu 3.2 0.4/2, green usage memory 4 0.25/2, red usage cpu 4.8 0.6/2, red usage memory 12 0.75/2",
			"green usage storage 29 0.29/2, red usage storage 71 0.71/2",
		},
		{
			"requests, of which one has none", ShareRequests, func(s *scene) { s.Pods[0].Requested = nil },
			"green usage cpu 8 1/2, green usage memory 16 1/2, red usage cpu 0 0/2, red usage memory 0 0/2",
			"green usage storage 29 0.29/2, red usage storage 71 0.71/2",
		},
		{
			"weight", ShareWeight, func(s *scene) { s.Weights[red] = dec("0.25") },
			"green usage cpu 6.4 0.8/2, green usage memory 12.8 0.8/2, red usage cpu 1.6 0.2/2, red usage memory 3.2 0.2/2",
			"green usage storage 80 0.8/2, red usage storage 20 0.2/2",
		},
		{
			"weights of zero", ShareWeight, func(s *scene) { s.Weights[red], s.Weights[green] = decimal.Decimal{}, decimal.Decimal{} },
			"green usage cpu 4 0.5/2, green usage memory 8 0.5/2, red usage cpu 4 0.5/2, red usage memory 8 0.5/2",
			"green usage storage 50 0.5/2, red usage storage 50 0.5/2",
		},
		{
			"a weight of zero pays nothing, and says so", ShareWeight, func(s *scene) { s.Weights[red] = decimal.Decimal{} },
			"green usage cpu 8 1/2, green usage memory 16 1/2, red usage cpu 0 0/2, red usage memory 0 0/2",
			"green usage storage 100 1/2, red usage storage 0 0/2",
		},
		{
			"usage, of which one's is not known", ShareUsage, func(s *scene) { s.Pods[0].Used = s.Pods[0].Used.Without(metrics.CPU) },
			"green usage cpu 4 0.5/2, green usage memory 8 0.5/2, red usage cpu 4 0.5/2, red usage memory 8 0.5/2",
			"green usage storage 29 0.29/2, red usage storage 71 0.71/2",
		},
		{
			"usage, where one has nothing of its own", ShareUsage, func(s *scene) { s.Pods = s.Pods[1:] },
			"green usage cpu 8 1/2, green usage memory 16 1/2, red usage cpu 0 0/2, red usage memory 0 0/2",
			"green usage storage 100 1/2, red usage storage 0 0/2",
		},
		{
			"usage, where nobody has anything of their own", ShareUsage, func(s *scene) { s.Pods = s.Pods[2:] },
			"green usage cpu 4 0.5/2, green usage memory 8 0.5/2, red usage cpu 4 0.5/2, red usage memory 8 0.5/2",
			"green usage storage 50 0.5/2, red usage storage 50 0.5/2",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene()
			s.pod("shop", "red-1", "", "7", "1", red)
			s.Pods[0].Used, s.Pods[0].Requested = amounts("3", "1"), amounts("3", "3")
			s.pod("shop", "green-1", "", "2.8", "1", green)
			s.Pods[1].Used, s.Pods[1].Requested = amounts("1", "1"), amounts("2", "1")
			s.pod("shop", "db-0", "", "8", "16", red, green)
			s.Pods[2].Used, s.Pods[2].Requested = amounts("100", "100"), amounts("100", "100")
			mounts(s.claim("shop", "data", "100", red, green), "0", map[object.Ref]string{podRef("shop", "db-0"): "1"})
			if tc.change != nil {
				tc.change(s)
			}
			l := s.ledger(Options{Sharing: tc.sharing})
			if got := only(l, "db-0"); got != tc.db {
				t.Errorf("database:\n%s, want\n%s", got, tc.db)
			}
			if got := only(l, "data"); got != tc.data {
				t.Errorf("volume:\n%s, want\n%s", got, tc.data)
			}
		})
	}
}

// That a split fell back is told once, however much is shared.
func TestSharingTellsWhatIsNotKnown(t *testing.T) {
	s := newScene()
	s.pod("shop", "red-1", "", "1", "1", red).Requested = amounts("1", "1")
	s.pod("shop", "green-1", "", "1", "1", green).Used = amounts("1", "1")
	s.pod("shop", "db-0", "", "1", "1", red, green)
	s.pod("shop", "db-1", "", "1", "1", red, green)
	notes := s.ledger(Options{Sharing: ShareUsage}).Notes
	if len(notes) != 2 || notes[0].Subject != red.String() || notes[0].Reason != "Gap" || !strings.Contains(notes[0].Message, "usage of cpu") || !strings.Contains(notes[1].Message, "memory") {
		t.Errorf("notes %+v", notes)
	}
}

// Nobody measures GPUs: those that are requested are used.
func TestSharingOfPieces(t *testing.T) {
	s := newScene()
	s.pod("shop", "red-1", "", "1", "1", red).Requested = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{gpu: dec("3")})
	s.Pods[0].Used = amounts("1", "1")
	s.pod("shop", "green-1", "", "1", "1", green).Requested = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{gpu: dec("1")})
	s.Pods[1].Used = amounts("1", "1")
	s.pod("shop", "infer-0", "", "0", "0", red, green).Charged = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{gpu: dec("4")})
	l := s.ledger(Options{Sharing: ShareUsage})
	if got, want := only(l, "infer-0"), "green usage nvidia.com/gpu 1 0.25/2, red usage nvidia.com/gpu 3 0.75/2"; got != want || len(l.Notes) > 0 {
		t.Errorf("%s, want %s; notes %v", got, want, l.Notes)
	}
}

func TestSharedNamespace(t *testing.T) {
	scene := func() *scene {
		s := newScene()
		s.pod("shop", "red-1", "", "3", "0", red)
		s.pod("tools", "blue-1", "", "1", "0", blue)
		s.pod("kube-system", "dns-1", "", "6", "0")
		s.pod("kube-system", "dns-2", "", "2", "0", stack("kube-system", "dns"))
		s.claim("kube-system", "log", "10", red)
		return s
	}
	system := []string{"kube-system"}
	t.Run("even", func(t *testing.T) {
		wantLines(t, scene().ledger(Options{ShareNamespaces: system}),
			"red shared kube-system cpu 4 0.5/2", "red shared kube-system memory 0 0.5/2", "red shared kube-system storage 5 0.5/2",
			"red usage red-1 cpu 3 1/1", "red usage red-1 memory 0 1/1",
			"blue shared kube-system cpu 4 0.5/2", "blue shared kube-system memory 0 0.5/2", "blue shared kube-system storage 5 0.5/2",
			"blue usage blue-1 cpu 1 1/1", "blue usage blue-1 memory 0 1/1",
		)
	})
	t.Run("weighted", func(t *testing.T) {
		l := scene().ledger(Options{ShareNamespaces: system, Weighted: true})
		if got, want := only(l, "kube-system"), "red shared cpu 6 0.75/2, red shared memory 0 0.75/2, red shared storage 7.5 0.75/2, "+
			"blue shared cpu 2 0.25/2, blue shared memory 0 0.25/2, blue shared storage 2.5 0.25/2"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		for _, c := range l.Charges {
			if c.Namespace != c.Stack.Namespace {
				t.Errorf("a share of %s is in %s, and paid by %s", c.Item, c.Namespace, c.Stack)
			}
		}
	})
	t.Run("nobody pays for anything else", func(t *testing.T) {
		s := scene()
		s.Pods = s.Pods[2:]
		wantLines(t, s.ledger(Options{ShareNamespaces: system, ShareOverhead: dec("2")}),
			"- overhead -  1 1/1",
			"- shared kube-system cpu 8 1/1", "- shared kube-system memory 0 1/1", "- shared kube-system storage 10 1/1")
	})
	t.Run("what is spread is no measure of what to spread", func(t *testing.T) {
		// Red pays 3 and blue 1, whoever's node has how much to spare.
		s := scene()
		s.node("n1", "100", "0")
		s.Pods[1].Node = "n1"
		l := s.ledger(Options{ShareOverhead: dec("1"), ShareIdle: true, ShareNamespaces: system, Weighted: true})
		if got, want := only(l, "-"), "red overhead  0.75 0.75/2, blue overhead  0.25 0.25/2"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
	t.Run("what is there is of no stack alone", func(t *testing.T) {
		s := scene()
		s.pod("shop", "db-0", "", "8", "0", red, blue)
		s.pod("kube-system", "red-agent", "", "0", "0", red).Requested = amounts("100", "")
		s.Pods[0].Requested, s.Pods[1].Requested = amounts("3", ""), amounts("1", "")
		l := s.ledger(Options{Sharing: ShareRequests, ShareNamespaces: system})
		if got, want := only(l, "db-0"), "red usage cpu 6 0.75/2, red usage memory 0 0.5/2, blue usage cpu 2 0.25/2, blue usage memory 0 0.5/2"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
	t.Run("overhead", func(t *testing.T) {
		l := scene().ledger(Options{ShareNamespaces: system, ShareOverhead: dec("2"), Weighted: true})
		if got, want := only(l, "-"), "red overhead  0.75 0.75/2, blue overhead  0.25 0.25/2"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		// 4 of the two stacks, 8 and 0.1 of the namespace, 2 of the overhead.
		if want := "14.1"; l.Total().String() != want {
			t.Errorf("total %s, want %s", l.Total(), want)
		}
	})
}
