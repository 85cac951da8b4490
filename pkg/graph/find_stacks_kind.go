package graph

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// sameOperator reports whether two API groups probably belong to one operator: they are equal, or
// differ only in the first label (kafka.strimzi.io, core.strimzi.io).
func sameOperator(a, b string) bool {
	_, x, _ := strings.Cut(a, ".")
	_, y, _ := strings.Cut(b, ".")
	return a == b || x == y && strings.Contains(x, ".") && !strings.HasSuffix(x, "k8s.io")
}

// servingKinds returns the custom kinds that serve others by a rule, or are collected by a shared
// reader. Inferred rules do not count.
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

// guessed is the origin of inferred rules (infer.Origin).
const guessed = "inferred"

func isCustom(g *Graph, id ID) bool {
	k, ok := g.kinds.Kind(g.Ref(id).GroupKind())
	return ok && k.Custom
}

// isWorkload reports whether the object is a Pod or of a built-in kind that creates pods.
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
