package graph

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// sameOperator says whether two API groups are likely to be of one operator: they are
// the same, or have all but the first label in common (kafka.strimzi.io, core.strimzi.io).
func sameOperator(a, b string) bool {
	_, x, _ := strings.Cut(a, ".")
	_, y, _ := strings.Cut(b, ".")
	return a == b || x == y && strings.Contains(x, ".") && !strings.HasSuffix(x, "k8s.io")
}

// servingKinds are the custom kinds that rules know to serve others, or to be collected
// by a shared reader. What is a guess does not count.
func (g *Graph) servingKinds() map[schema.GroupKind]bool {
	kinds := map[schema.GroupKind]bool{}
	add := func(gk schema.GroupKind) {
		if k, ok := g.kinds.Kind(gk); ok && k.Custom {
			kinds[gk] = true
		}
	}
	for i := range g.rules {
		r := &g.rules[i]
		switch {
		case r.Origin == guessed || r.Peer || r.Evidence:
		case r.Relation == relation.Serves && !r.Backward:
			for _, gk := range r.From {
				add(gk)
			}
		case r.Terminal && r.Namespaces && !r.Backward:
			for kind := range strings.SplitSeq(r.To, ", ") {
				add(schema.ParseGroupKind(kind))
			}
		}
	}
	return kinds
}

// guessed is the origin of the rules that guess (infer.Origin).
const guessed = "inferred"

func isCustom(g *Graph, id ID) bool {
	k, ok := g.kinds.Kind(g.Ref(id).GroupKind())
	return ok && k.Custom
}

// isWorkload tells the built-in kinds that make pods, and pods.
func isWorkload(r object.Ref) bool {
	switch r.Group {
	case "":
		return r.Kind == "Pod" || r.Kind == "ReplicationController"
	case "apps", "extensions":
		return r.Kind == "Deployment" || r.Kind == "StatefulSet" || r.Kind == "DaemonSet" || r.Kind == "ReplicaSet"
	case "batch":
		return r.Kind == "Job" || r.Kind == "CronJob"
	}
	return false
}
