package operator

import (
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// signSet is a set of signs that a workload acts on the objects of a definition.
type signSet uint16

const (
	// signStatus: it may write their status, by a rule that names the kind and the group.
	signStatus signSet = 1 << iota
	// signGroup: it may write all objects of the group.
	signGroup
	// signFinalizers and signWrite: it may write their finalizers, or them.
	signFinalizers
	signWrite
	// signRead: it may read them, by a rule that names the group.
	signRead
	// signAny: it may write all objects of the cluster.
	signAny
	// signConversion: it converts them between versions.
	signConversion
	// signOwner: the same object made the definition and the workload.
	signOwner
	// signPackage: the same package of the Operator Lifecycle Manager installed both.
	signPackage
	// signWebhook: it admits their writes.
	signWebhook
	// signLabels: both have the same labels or Helm release.
	signLabels
	// signName and signImage: it has the name of the operator in the catalog, or of the kind
	// or its group.
	signName
	signImage
	// signSibling: it writes the status of another kind of the same domain.
	signSibling
	// signAlone: no other workload has its permissions on them.
	signAlone
)

// enough is the number of points that make a workload the operator. One strong sign reaches
// it, or two weak ones.
const enough = 4

// points is the weight of each sign. Of several ways to write a status only the first counts.
var points = []struct {
	sign   signSet
	points int
}{
	{signStatus, 4},
	{signGroup, 3},
	{signFinalizers, 2},
	{signWrite, 1},
	{signAny, 1},
	{signConversion, 4},
	{signOwner, 4},
	{signPackage, 3},
	{signWebhook, 2},
	{signLabels, 2},
	{signName, 2},
	{signImage, 1},
	{signSibling, 3},
	{signAlone, 1},
}

func (s signSet) has(other signSet) bool { return s&other != 0 }

func (s signSet) points() int {
	if s.has(signStatus) {
		s &^= signGroup | signFinalizers | signSibling | signAlone
	}
	if s.has(signGroup) {
		s &^= signFinalizers | signWrite
	}
	if !s.has(signRead | signWrite) {
		s &^= signSibling
	}
	sum := 0
	for _, p := range points {
		if s.has(p.sign) {
			sum += p.points
		}
	}
	return sum
}

// webhooks finds the workloads that convert objects, and those that admit their writes.
func (s *search) webhooks() {
	for i := range s.defs {
		d := &s.defs[i]
		for _, service := range conversionServices(s.w, d.ref) {
			for _, wl := range s.behind(service) {
				s.sign(i, wl, signConversion, "Service "+service.Namespace+"/"+service.Name)
			}
		}
	}
	for _, c := range s.w.Webhooks() {
		if c.Service == (object.Ref{}) {
			continue
		}
		workloads := s.behind(c.Service)
		if len(workloads) == 0 {
			continue
		}
		for _, rule := range c.Rules {
			for _, def := range s.ruled(rule) {
				for _, wl := range workloads {
					s.sign(def, wl, signWebhook, c.Config.Kind+" "+c.Config.Name)
				}
			}
		}
	}
}

// ruled returns the definitions whose group a webhook's rule names, and whose objects it
// admits.
func (s *search) ruled(rule admissionv1.RuleWithOperations) []int {
	var out []int
	for _, group := range rule.APIGroups {
		for _, def := range s.byGroup[group] {
			for _, r := range rule.Resources {
				if name, sub, _ := strings.Cut(r, "/"); (name == "*" || name == s.defs[def].plural) && (sub == "" || sub == "*" || sub == "status") {
					out = append(out, def)
					break
				}
			}
		}
	}
	return out
}

// conversionServices returns the Services that convert the objects of a definition.
func conversionServices(w *check.ClusterState, definition object.Ref) []object.Ref {
	var out []object.Ref
	if w.Conversion != nil {
		if service, ok := w.Conversion(definition); ok {
			return []object.Ref{service}
		}
	}
	id, ok := w.Graph.Find(definition)
	if !ok {
		return nil
	}
	for e := range w.Graph.Out(id) {
		if to := w.Graph.Ref(e.To); e.Relation == relation.Serves && to.Kind == "Service" && to.Group == "" {
			out = append(out, to)
		}
	}
	return out
}

// behind returns the workloads whose pods a Service selects, by their number.
func (s *search) behind(service object.Ref) []int {
	if out, ok := s.served[service]; ok {
		return out
	}
	var out []int
	for _, wl := range s.w.WorkloadsBehind(service) {
		if i, ok := s.number[wl.Ref]; ok {
			out = append(out, i)
		}
	}
	s.served[service] = out
	return out
}

// marks finds what the definition and a workload have in common: their owners, their
// installer, and names.
func (s *search) marks() {
	for i := range s.defs {
		d := &s.defs[i]
		for _, key := range s.w.Owners(d.ref) {
			for _, wl := range s.ownedBy[key] {
				s.sign(i, wl, signOwner, key.Kind+" "+key.Name)
			}
		}
		s.labels(i)
		if name, ns := s.w.HelmRelease(d.ref); name != "" {
			for _, wl := range s.released[ns+"/"+name] {
				s.sign(i, wl, signLabels, "Helm release "+ns+"/"+name)
			}
		}
		s.names(i)
	}
}

// labels compares the labels of the application, and those that OLM sets on the objects of a
// package.
func (s *search) labels(i int) {
	d := &s.defs[i]
	for key, value := range d.labels {
		for _, wl := range s.labelled[key+"="+value] {
			if label(key, d.group) {
				s.sign(i, wl, signLabels, "label "+key+"="+value)
			}
			if strings.HasPrefix(key, "operators.coreos.com/") {
				s.sign(i, wl, signPackage, "label "+key)
			}
		}
	}
}

// names compares names. The catalog's name of an operator is a sign by itself; words of the
// kind and its group count only together with permissions, since the application has the same
// name (Kafka).
func (s *search) names(i int) {
	d := &s.defs[i]
	for _, n := range nameWords(d) {
		for _, wl := range s.named[n.word] {
			if n.catalogue || s.mayWrite(i, wl) {
				s.sign(i, wl, signName, n.word)
			}
		}
		for _, wl := range s.imaged[n.word] {
			if n.catalogue || s.mayWrite(i, wl) {
				s.sign(i, wl, signImage, n.word)
			}
		}
	}
}

func (s *search) mayWrite(def, wl int) bool {
	return s.workloads[wl].any || s.signsOf(def, wl).has(signStatus|signGroup|signFinalizers|signWrite)
}

// label reports whether a shared label of a definition and a workload is evidence: it names
// the application, or is of the operator's own domain.
func label(key, group string) bool {
	switch key {
	case "app.kubernetes.io/name", graph.InstanceLabel, "app.kubernetes.io/part-of", "app", "k8s-app":
		return true
	}
	domain, _, ok := strings.Cut(key, "/")
	if !ok || shared(domain) {
		return false
	}
	return strings.HasSuffix("."+domain, "."+groupDomain(group)) || strings.HasSuffix("."+group, "."+domain)
}

// groupDomain returns the last two labels of a group: cert-manager.io. Groups under the
// domains of Kubernetes belong to many owners, so each is a domain of its own.
func groupDomain(group string) string {
	parts := strings.Split(group, ".")
	if len(parts) <= 2 {
		return group
	}
	domain := strings.Join(parts[len(parts)-2:], ".")
	if shared(domain) {
		return group
	}
	return domain
}

func shared(domain string) bool {
	return domain == "k8s.io" || domain == "x-k8s.io" || domain == "k8s-sigs.io" || domain == "kubernetes.io"
}
