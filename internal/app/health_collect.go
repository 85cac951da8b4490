package app

import (
	"slices"
	"time"

	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// HealthCollector evaluates the health of objects while a session reads them.
type HealthCollector struct {
	c     *health.Collector
	input *Input
}

// CollectHealth makes the next session evaluate health while it reads. The rules are the user's,
// which go before those of the catalog; nil for none.
func (c *Input) CollectHealth(rules *healthRules) *HealthCollector {
	v := &HealthCollector{input: c}
	c.evaluatesHealth, c.healthRules = true, rules
	c.Notes = append(slices.Clip(c.Notes), backup.PartsKey)
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

// CollectCopies makes the next session evaluate the health of the objects that backups of kubectl sysop
// consist of.
func (c *Input) CollectCopies() *HealthCollector {
	v := &HealthCollector{input: c}
	c.Notes = append(slices.Clip(c.Notes), backup.PartsKey)
	c.Extract = append(c.Extract, func(s *Session) inventory.Extractor {
		collector := health.NewCollector(c.healthRules.newEvaluator(s, catalog.Health(s.Kinds)))
		v.c = collector
		return func(o object.Object) func(*inventory.Inventory, inventory.ID) {
			if _, saves := o.Meta.GetLabels()[backup.NameLabel]; saves {
				collector.Add(o)
			}
			return nil
		}
	})
	return v
}

// Copies are the backups of which the cluster has a record, the newest first.
func (v *HealthCollector) Copies(g *graph.Graph) []check.Copy {
	return backup.Copies(g, func(id graph.ID) health.Health {
		h, _ := v.c.Health(g.Ref(id))
		return h
	})
}

// Assess merges the results, and reports which rules failed.
func (v *HealthCollector) Assess(g *graph.Graph) *health.Assessment {
	v.input.healthRules.tell(v.input.Report)
	return health.Assess(g, func(id graph.ID) (health.Health, bool) { return v.c.Health(g.Ref(id)) })
}

// AsOf is the time of the data: now, or when the snapshot was taken.
func (s *Session) AsOf() time.Time {
	if snap, ok := s.Source.(*source.Snapshot); ok {
		if at := snap.Taken(); !at.IsZero() {
			return at
		}
	}
	return s.Input.Now()
}

// maxHealthRuleBytes is above the size of any file of health rules.
const maxHealthRuleBytes = 4 << 20

// healthDetail returns how a kind is read for its health, where no rule reads it already: whole for
// the built-in kinds that have a state in the supported version, and for every custom resource.
// Definitions are huge: on a cluster only their metadata is read, unless the question is about one.
func (c *Input) healthDetail(r object.Resource) (source.Detail, string, bool) {
	gk := r.GroupKind()
	if !c.evaluatesHealth || gk == DefinitionKind && !c.Definitions && c.From == "" {
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
