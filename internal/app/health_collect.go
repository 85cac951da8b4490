package app

import (
	"time"

	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// HealthCollector judge objects while a session reads them.
type HealthCollector struct {
	c     *health.Collector
	input *Input
}

// CollectHealth has the session that opens next judge what it reads. The rules are the user's,
// which go before the catalogue's; nil for none.
func (c *Input) CollectHealth(rules *healthRules) *HealthCollector {
	v := &HealthCollector{input: c}
	c.judges, c.healthRules = true, rules
	c.Extract = append(c.Extract, func(s *Session) inventory.Extractor {
		collector := health.NewCollector(rules.newEvaluator(s, catalog.Health(s.Kinds)))
		v.c = collector
		return func(o object.Object) func(*inventory.Inventory, inventory.ID) {
			collector.Add(o)
			return nil
		}
	})
	return v
}

// Assess puts together what was judged, and tells which rules failed.
func (v *HealthCollector) Assess(g *graph.Graph) *health.Assessment {
	v.input.healthRules.tell(v.input.Report)
	return health.Assess(g, func(id graph.ID) (health.Health, bool) { return v.c.Health(g.Ref(id)) })
}

// AsOf is when what was read was so: now, or when the snapshot was taken.
func (s *Session) AsOf() time.Time {
	if snap, ok := s.Source.(*source.Snapshot); ok {
		if at := snap.Taken(); !at.IsZero() {
			return at
		}
	}
	return s.Input.Now()
}

// maxHealthRuleBytes is more than any file of them has.
const maxHealthRuleBytes = 4 << 20

// healthDetail is how a kind is read to be judged, where no rule reads it so anyway: the
// built-in ones that have a state in the version that is understood, and every custom
// resource whole. The definitions are huge: of a cluster's no more is read than of others,
// where nobody asks about one.
func (c *Input) healthDetail(r object.Resource) (source.Detail, string, bool) {
	gk := r.GroupKind()
	if !c.judges || gk == DefinitionKind && !c.Definitions && c.From == "" {
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
	return source.Fields, "", r.Custom || !health.Known(gk) || c.healthRules.reads(gk)
}
