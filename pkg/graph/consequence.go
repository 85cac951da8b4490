package graph

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// moment is when the absence of an edge's target has an effect.
type moment uint8

const (
	// atOnce: on what runs.
	atOnce moment = iota
	// whenRestarted: what runs continues until its next start.
	whenRestarted
	// whenMade: on what is created, scaled up or scheduled later, and never on what exists.
	whenMade
)

// consequence is the effect of a missing target. Diagnose uses it for what is missing, and Impact
// for what is to be deleted, so that both agree.
type consequence struct {
	// severity is 0 if there is no effect.
	severity Severity
	follows  string
	when     moment
	// meanwhile applies to objects that are settled: they have what they need already.
	meanwhile string
}

const (
	cannotStart     = "containers cannot start"
	cannotMount     = "the volume cannot be mounted, and containers do not start"
	cannotMake      = "no pod can be created"
	answers         = "requests for it fail"
	reasonNoBackend = "no endpoint serves it"

	keepsEnvironment = "what runs keeps its environment until it restarts"
	keepsFiles       = "what runs keeps the files that are mounted, which are no longer updated"
	keepsRunning     = "existing pods keep running"
)

// consequences are the built-in rules, by name, whose consequence differs from that of their
// relation.
var consequences = map[string]consequence{
	"pod-env-configmap":     {Error, cannotStart, whenRestarted, keepsEnvironment},
	"pod-env-secret":        {Error, cannotStart, whenRestarted, keepsEnvironment},
	"pod-envfrom-configmap": {Error, cannotStart, whenRestarted, keepsEnvironment},
	"pod-envfrom-secret":    {Error, cannotStart, whenRestarted, keepsEnvironment},

	"pod-volume-configmap":     {Error, cannotMount, whenRestarted, keepsFiles},
	"pod-volume-secret":        {Error, cannotMount, whenRestarted, keepsFiles},
	"pod-projected-configmap":  {Error, cannotMount, whenRestarted, keepsFiles},
	"pod-projected-secret":     {Error, cannotMount, whenRestarted, keepsFiles},
	"pod-trust-bundle":         {Error, cannotMount, whenRestarted, keepsFiles},
	"pod-csi-driver":           {Error, cannotMount, whenRestarted, "what is mounted stays mounted"},
	"pod-csi-secret":           {Error, cannotMount, whenRestarted, "what is mounted stays mounted"},
	"pod-secret-provider":      {Error, cannotMount, whenRestarted, keepsFiles},
	"pod-legacy-volume-secret": {Error, cannotMount, whenRestarted, "what is mounted stays mounted"},

	"pod-volume-claim":    {Error, "pods stay pending", whenRestarted, "the claim is deleted when no pod uses it"},
	"pod-ephemeral-claim": {Error, "pods stay pending", whenRestarted, "the claim is deleted when no pod uses it"},
	"pod-resource-claim":  {Error, "pods stay pending", whenRestarted, "the claim is deleted when no pod uses it"},
	"pod-service-account": {Error, cannotMake, whenRestarted, "pods keep running, and the API server refuses their tokens at once"},
	"pod-priority-class":  {Error, cannotMake, whenMade, keepsRunning},
	"pod-runtime-class":   {Error, cannotMake, whenMade, keepsRunning},
	"pod-node":            {Error, "the pod is lost with it", atOnce, ""},
	"pod-pull-secret":     {Warning, "private images cannot be pulled", whenRestarted, "images on a node stay in use"},

	"service-account-pull-secret": {Warning, "private images cannot be pulled", whenRestarted, "images on a node stay in use"},
	"service-account-secret":      {Warning, "the entry is out of date", atOnce, ""},
	"resource-claim-consumer":     {Warning, "the entry is out of date", atOnce, ""},
	"pod-nominated-node":          {Warning, "the entry is out of date", atOnce, ""},
	"pod-certificate-pod":         {Warning, "the entry is out of date", atOnce, ""},
	"statefulset-service":         {Warning, "pods have no names in DNS", atOnce, ""},
	"pod-subdomain":               {Warning, "pods have no names in DNS", atOnce, ""},

	"claim-volume":            {Error, "the claim is lost, and maybe its data", atOnce, ""},
	"claim-class":             {Error, "no volume can be created", whenMade, "the claim keeps its volume, and cannot grow"},
	"claim-attributes-class":  {Error, "no volume can be created", whenMade, "the volume keeps its attributes"},
	"volume-class":            {}, // a label of the volume
	"claim-provisioner":       byDriver,
	"volume-driver":           byDriver,
	"storageclass-driver":     byDriver,
	"attributes-class-driver": byDriver,
	"attachment-driver":       byDriver,
	"csi-node-driver":         byDriver,

	"ingress-backend":     {Error, answers, atOnce, ""},
	"route-backend":       {Error, answers, atOnce, ""},
	"ingress-class":       {Error, reasonNoBackend, whenMade, "what serves it now continues until the next sync"},
	"gateway-class":       {Error, reasonNoBackend, atOnce, ""},
	"route-parent":        {Error, reasonNoBackend, atOnce, ""},
	"listener-set-parent": {Error, reasonNoBackend, atOnce, ""},
	"ingress-tls":         {Warning, "it has no certificate of its own", atOnce, ""},
	"gateway-certificate": {Warning, "it has no certificate of its own", atOnce, ""},
	"ingress-issuer":      {Warning, "no certificate is issued", atOnce, ""},

	"autoscaler-target": {Error, "nothing is scaled", atOnce, ""},
	"autoscaler-metric": {Warning, "it has no data", atOnce, ""},
	"binding-role":      {Error, "nothing is granted", atOnce, ""},
	"binding-subject":   {Info, "it grants nothing", atOnce, ""},
	"flow-subject":      {Info, "it grants nothing", atOnce, ""},

	"policy-binding-param": {Error, "requests that it matches may be refused", atOnce, ""},
	"webhook-service":      {Error, "requests that it matches are refused", atOnce, ""},
	"api-service":          {Error, "nothing of this API can be read or written, and no namespace can be deleted", atOnce, ""},
	"conversion-service":   {Error, "objects of the kind can be read and written only in the stored version", atOnce, ""},

	// These references lag behind their objects, or outlive them.
	"endpointslice-pod": {}, "endpoints-pod": {}, "event-object": {}, "lease-holder": {}, "lease-node": {},
}

// byDriver: a driver works without a CSIDriver object, with defaults.
var byDriver = consequence{Info, "volumes are mounted by the defaults of the kubelet", whenMade, "what is mounted stays mounted"}

// consequence returns the effect of a missing target of an edge.
func (g *Graph) consequence(e *edge) consequence {
	r := &g.rules[e.rule]
	if c, ok := consequences[r.Name]; ok {
		return c
	}
	switch r.Relation {
	case relation.Needs:
		return consequence{Error, "it cannot work without", atOnce, ""}
	case relation.Serves:
		if r.Exposes && g.Ref(e.to).GroupKind() == serviceKind {
			return consequence{Error, answers, atOnce, ""}
		}
		return consequence{Warning, "it has no effect", atOnce, ""}
	}
	return consequence{Warning, "it was not created yet, or was removed", atOnce, ""}
}

// working returns the sources of edges that are settled, or may be, and the owners above them: a
// Deployment with a running pod.
func (g *Graph) working(edges []*edge) map[ID]bool {
	working := map[ID]bool{}
	var next []ID
	add := func(id ID) {
		if !working[id] {
			working[id] = true
			next = append(next, id)
		}
	}
	for _, e := range edges {
		if e.flags&settled != 0 || g.mayRun(e.from) {
			add(e.from)
		}
	}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		for _, owner := range g.sources(at, g.reference) {
			add(owner)
		}
	}
	return working
}

// mayRun reports a workload whose pods were not read: some may be running.
func (g *Graph) mayRun(id ID) bool {
	r := g.Ref(id)
	return isWorkload(r) && r.GroupKind() != podKind && !g.inv.Covered(podKind, r.Namespace)
}
