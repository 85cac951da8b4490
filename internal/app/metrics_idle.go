package app

import (
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// hasAllPods reports whether every pod of the cluster was read, without which what is idle is
// unknown. A dump of kubectl does not say so: with pods of several namespaces it is taken for one of
// all (-A), and with those of one namespace it may be of that alone. A note says either.
func (m *MetricsResult) hasAllPods() bool {
	if m.Session.Inventory.Covered(PodKind, "") {
		return true
	}
	snap, ok := m.Session.Source.(*source.Snapshot)
	if !ok || !snap.IsPlain() || !m.Session.Inventory.Covered(NodeKind, "") {
		return false
	}
	var namespaces []string
	for gk, ns := range m.Session.Inventory.Coverage() {
		if gk == PodKind && !slices.Contains(namespaces, ns) {
			namespaces = append(namespaces, ns)
		}
	}
	message := fmt.Sprintf("idle cost is correct if the file has the pods of all namespaces; it has those of %d", len(namespaces))
	switch len(namespaces) {
	case 0:
		return false
	case 1:
		if !m.Input.AllNamespaces || m.Request.Options.ShareIdle { // the request is not about all, or scope says it
			return false
		}
		message = "idle cost is unknown: the file has pods of the namespace " + namespaces[0] + " alone, and does not say whether there are others (kubectl sysop snapshot -A does)"
	}
	m.extra = append(m.extra, metrics.Note{Reason: "Idle", Message: message})
	return len(namespaces) > 1
}
