package cost

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// nodeSelector chooses nodes. All that it says must hold; of a list, one.
type nodeSelector struct {
	names         []string // patterns
	providerIDs   []string // whole, or the end of one after a slash
	instanceTypes []string
	regions       []string
	spot          *bool
	labels        labels.Selector // nil for none
}

// Labels that say what a node is, the newest first.
func instanceTypeLabels() []string {
	return []string{"node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"}
}

func regionLabels() []string {
	return []string{"topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"}
}

// spotLabels are the labels of Karpenter, EKS, GKE and AKS for nodes that can be reclaimed at any
// time.
func spotLabels() [][2]string {
	return [][2]string{
		{"karpenter.sh/capacity-type", "spot"},
		{"eks.amazonaws.com/capacityType", "SPOT"},
		{"cloud.google.com/gke-spot", "true"},
		{"cloud.google.com/gke-preemptible", "true"},
		{"kubernetes.azure.com/scalesetpriority", "spot"},
	}
}

// unknown says that a node is gone and that a label which decides is unknown: what it is unknown
// to have, it may have had, since kube-state-metrics exports the labels that it is configured to.
func (s *nodeSelector) unknown(n *metrics.Node) bool {
	if !n.Gone || !s.named(n) {
		return false
	}
	lacks := func(key string) bool { return !nodeLabels{n}.Has(key) }
	if len(s.instanceTypes) > 0 && !slices.ContainsFunc(instanceTypeLabels(), nodeLabels{n}.Has) ||
		len(s.regions) > 0 && !slices.ContainsFunc(regionLabels(), nodeLabels{n}.Has) {
		return true
	}
	if s.spot != nil && !slices.ContainsFunc(spotLabels(), func(l [2]string) bool { return !lacks(l[0]) }) {
		return true
	}
	if s.labels == nil {
		return false
	}
	requirements, _ := s.labels.Requirements()
	return slices.ContainsFunc(requirements, func(r labels.Requirement) bool { return lacks(r.Key()) })
}

// named says whether the name of a node and its provider's are those chosen.
func (s *nodeSelector) named(n *metrics.Node) bool {
	return (len(s.names) == 0 || anyPattern(s.names, n.Name)) &&
		(len(s.providerIDs) == 0 || slices.ContainsFunc(s.providerIDs, func(id string) bool { return sameProviderID(n.ProviderID, id) }))
}

func (s *nodeSelector) matches(n *metrics.Node) bool {
	switch {
	case !s.named(n), s.unknown(n),
		len(s.instanceTypes) > 0 && !labelled(n, instanceTypeLabels(), s.instanceTypes),
		len(s.regions) > 0 && !labelled(n, regionLabels(), s.regions),
		s.spot != nil && *s.spot != isSpot(n),
		s.labels != nil && !s.labels.Matches(nodeLabels{n}):
		return false
	}
	return true
}

// nodeLabels are the labels of a node, by their true keys, for a selector.
type nodeLabels struct{ *metrics.Node }

func (n nodeLabels) Has(key string) bool              { _, ok := n.Label(key); return ok }
func (n nodeLabels) Get(key string) string            { value, _ := n.Label(key); return value }
func (n nodeLabels) Lookup(key string) (string, bool) { return n.Label(key) }

// labelled says whether the first of the labels that the node has is one of the
// values, whatever the case of their letters.
func labelled(n *metrics.Node, keys, values []string) bool {
	for _, key := range keys {
		if v, ok := n.Label(key); ok {
			return slices.ContainsFunc(values, func(want string) bool { return strings.EqualFold(v, want) })
		}
	}
	return false
}

func isSpot(n *metrics.Node) bool {
	return slices.ContainsFunc(spotLabels(), func(l [2]string) bool { return nodeLabels{n}.Get(l[0]) == l[1] })
}

// sameProviderID compares the whole, or the end after a slash: clouds put zones and
// groups before the name of a machine.
func sameProviderID(id, want string) bool {
	id, want = strings.ToLower(id), strings.ToLower(want)
	rest, ok := strings.CutSuffix(id, want)
	return ok && (rest == "" || want[0] == '/' || strings.HasSuffix(rest, "/"))
}

func anyPattern(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

// space is what the overrides have to do with a namespace. Namespaces that the same
// ones name have the same key, and the same prices on every node.
type space struct {
	key   string
	named map[int]bool // the overrides that name it, by their place
	// flat are those of them that hold wherever it runs, and discounts what is taken off
	// there.
	flat      []*override
	discounts map[string]decimal.Decimal
}

// space matches the overrides once for each namespace.
func (b *Book) space(namespace string) *space {
	if s, ok := b.spaces.Load(namespace); ok {
		return s.(*space)
	}
	s := &space{named: map[int]bool{}, discounts: b.base.discounts}
	var key strings.Builder
	for i := range b.overrides {
		o := &b.overrides[i]
		if len(o.namespaces) > 0 {
			if namespace == "" || !anyPattern(o.namespaces, namespace) {
				continue
			}
			s.named[i] = true
			key.WriteString(strconv.Itoa(i) + ",")
		}
		if o.nodes == nil {
			s.flat = append(s.flat, o)
		}
	}
	s.key = key.String()
	for _, o := range slices.Backward(s.flat) {
		s.discounts = merged(o.discounts, s.discounts)
	}
	b.spaces.Store(namespace, s)
	return s
}

// applying returns the overrides that apply on a node for the namespaces of a space.
func (b *Book) applying(node *metrics.Node, s *space) []*override {
	var all []*override
	for i := range b.overrides {
		o := &b.overrides[i]
		if (len(o.namespaces) == 0 || s.named[i]) && (o.nodes == nil || node != nil && o.nodes.matches(node)) {
			all = append(all, o)
		}
	}
	return all
}
