package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// verdicts judge objects while a session reads them.
type verdicts struct{ c *health.Collector }

// judging has the session that opens next judge what it reads. The rules are the user's,
// which go before the catalogue's.
func (c *common) judging(rules []health.Rule) *verdicts {
	v := &verdicts{}
	c.judges = true
	c.extract = append(c.extract, func(s *session) inventory.Extractor {
		all := append(slices.Clone(rules), catalog.Health(s.kinds)...)
		collector := health.NewCollector(health.NewJudge(s.moment(), all...))
		v.c = collector
		return func(o object.Object) func(*inventory.Inventory, inventory.ID) {
			collector.Add(o)
			return nil
		}
	})
	return v
}

// of puts together what was judged.
func (v *verdicts) of(g *graph.Graph) *health.Assessment {
	return health.Assess(g, func(id graph.ID) (health.Health, bool) { return v.c.Of(g.Ref(id)) })
}

// moment is when what was read was so: now, or when the snapshot was taken.
func (s *session) moment() time.Time {
	if snap, ok := s.source.(*source.Snapshot); ok {
		if at := snap.Taken(); !at.IsZero() {
			return at
		}
	}
	return s.c.env.Now()
}

// largestHealthRules is more than any file of them has.
const largestHealthRules = 4 << 20

// readHealthRules reads the file of --health-rules; none where it is not given. Any
// problem refuses all: a rule that is left out silently would make another answer.
func readHealthRules(ctx context.Context, name string) ([]health.Rule, error) {
	if name == "" {
		return nil, nil
	}
	data, err := readFile(ctx, name, largestHealthRules, "file of rules")
	if err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("read the rules of health: %w", err)
		}
		return nil, err
	}
	rules, problems := health.ParseRules(name, data)
	if len(problems) > 0 {
		return nil, withHint(&linesError{placed(name, problems)}, "docs/health-rules.md is the grammar")
	}
	return rules, nil
}

// judgedAs is how a kind is read to be judged, where no rule reads it so anyway: the
// built-in ones that have a state in the version that is understood, and every custom
// resource whole. The definitions are huge: of a cluster's no more is read than of others,
// where nobody asks about one.
func (c *common) judgedAs(r object.Resource) (source.Detail, string, bool) {
	gk := r.GroupKind()
	if !c.judges || gk == definitionKind && !c.definitions && c.from == "" {
		return 0, "", false
	}
	for _, gvk := range health.Whole() {
		switch {
		case gvk.GroupKind() != gk:
		case scheme.Scheme.Recognizes(gvk):
			return source.Typed, gvk.Version, true
		default:
			return source.Fields, gvk.Version, true
		}
	}
	return source.Fields, "", r.Custom || !health.Known(gk)
}
