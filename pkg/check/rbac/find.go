package rbac

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

var (
	readVerbs  = []string{"get", "list", "watch"}
	writeVerbs = []string{"create", "update", "patch"}
)

// SelectsEverything reports whether a rule covers every object of every kind, with more than
// read access.
func (x *holding) SelectsEverything() bool {
	return slices.Contains(x.Rule.APIGroups, rbacv1.APIGroupAll) && slices.Contains(x.Rule.Resources, rbacv1.ResourceAll) && len(x.Rule.ResourceNames) == 0 &&
		slices.ContainsFunc(writeVerbs, func(v string) bool { return check.RuleHas(x.Rule.Verbs, v) })
}

func everything(_ *subject, x *holding) (finding, bool) {
	if !x.SelectsEverything() {
		return finding{}, false
	}
	hit := finding{severity: check.Error, field: "verbs", value: object.FirstWords(x.Rule.Verbs, 8), what: "may do everything"}
	if !slices.Contains(x.Rule.Verbs, rbacv1.VerbAll) {
		hit.what = fmt.Sprintf("may %s everything", object.AndList(x.Rule.Verbs))
	}
	if !x.cluster {
		hit.severity = check.Warning
	}
	return hit, true
}

// secrets finds rules that read secrets without naming them. In its own namespace an operator
// keeps secrets of its own, and an application may mount all of them anyway.
func secrets(h *subject, x *holding) (finding, bool) {
	verbs := x.AllowedVerbs("", "secrets", readVerbs...)
	if len(verbs) == 0 || len(x.Rule.ResourceNames) > 0 || x.SelectsEverything() {
		return finding{}, false
	}
	hit := finding{field: "resources", value: object.FirstWords(x.Rule.Resources, 8), what: fmt.Sprintf("may %s every secret", object.AndList(verbs))}
	abroad := x.abroad(h)
	switch {
	case x.cluster && h.serves(x):
		hit.severity = check.Warning
		if len(h.instances) > 0 && !h.instancesEverywhere() {
			hit.remedy = fmt.Sprintf("Its custom resources are in %s: bind the role there by RoleBindings, if it can be restricted to them; or name the secrets by resourceNames.", object.ShortList(h.instances))
		}
	case x.cluster:
		hit.severity = check.Error
	case len(abroad) > 0 && !h.operator:
		hit.severity = check.Warning
	case len(abroad) > 0, !h.operator:
		hit.severity = check.Info
	default:
		return finding{}, false
	}
	return hit, true
}

// instancesEverywhere reports whether there are too many namespaces to name each.
func (h *subject) instancesEverywhere() bool { return len(h.instances) > 8 }

// power is a verb on a resource that amounts to another account's permissions.
type power struct {
	group, resource string
	verbs           []string
	// namespaced is set where a Role can grant it.
	namespaced bool
	what       string
}

var escalations = []power{
	{rbacv1.GroupName, "clusterroles", []string{"escalate"}, false, "write cluster roles beyond its own permissions"},
	{rbacv1.GroupName, "roles", []string{"escalate"}, true, "write roles beyond its own permissions"},
	{rbacv1.GroupName, "clusterroles", []string{"bind"}, true, "bind every cluster role"},
	{rbacv1.GroupName, "roles", []string{"bind"}, true, "bind every role"},
	{"", "users", []string{"impersonate"}, false, "act as every user"},
	{"", "groups", []string{"impersonate"}, false, "act as every group"},
	{"", "serviceaccounts", []string{"impersonate"}, true, "act as every service account"},
	{"", "serviceaccounts/token", []string{"create"}, true, "create tokens of every service account"},
	{"certificates.k8s.io", "signers", []string{"approve"}, false, "approve certificates of every user"},
}

// escalation finds powers that are not narrowed by names. bind on a ClusterRole counts in a
// Role, too: a RoleBinding may name one.
func escalation(_ *subject, x *holding) (finding, bool) {
	if x.SelectsEverything() {
		return finding{}, false
	}
	var can, verbs []string
	for _, p := range escalations {
		if !x.cluster && !p.namespaced || len(x.AllowedVerbs(p.group, p.resource, p.verbs...)) == 0 {
			continue
		}
		if len(x.Rule.ResourceNames) > 0 && !signsAll(&p, x.Rule.ResourceNames) {
			continue
		}
		can = append(can, p.what)
		verbs = append(verbs, p.verbs...)
	}
	if len(can) == 0 {
		return finding{}, false
	}
	slices.Sort(verbs)
	verbs = slices.Compact(verbs)
	if slices.Contains(x.Rule.Verbs, rbacv1.VerbAll) {
		verbs = []string{rbacv1.VerbAll}
	}
	hit := finding{severity: check.Error, field: "verbs", value: object.FirstWords(verbs, 8), what: "may " + object.ShortList(can)}
	if !x.cluster {
		hit.severity = check.Warning
	}
	return hit, true
}

// signsAll reports whether a narrowed right to approve certificates still makes users: the
// signer of the API server's own clients is among its names.
func signsAll(p *power, signers []string) bool {
	return p.resource == "signers" && slices.ContainsFunc(signers, func(s string) bool {
		return s == "kubernetes.io/*" || s == "kubernetes.io/kube-apiserver-client"
	})
}

// exec finds rules that allow commands in pods. Since Kubernetes 1.35 pods/exec needs create,
// also where a WebSocket begins with a GET. For nodes/proxy a GET is enough: it reaches the
// whole API of the kubelet, which runs commands as well.
func exec(_ *subject, x *holding) (finding, bool) {
	if len(x.Rule.ResourceNames) > 0 || x.SelectsEverything() {
		return finding{}, false
	}
	var on []string
	for resource, verbs := range map[string][]string{
		"pods/exec": {"create"}, "pods/attach": {"create"}, "pods/ephemeralcontainers": {"update", "patch"},
		"nodes/proxy": {"create", "get"},
	} {
		if len(x.AllowedVerbs("", resource, verbs...)) > 0 && (x.cluster || strings.HasPrefix(resource, "pods/")) {
			on = append(on, resource)
		}
	}
	if len(on) == 0 {
		return finding{}, false
	}
	slices.Sort(on)
	hit := finding{severity: check.Warning, field: "resources", value: object.FirstWords(x.Rule.Resources, 8), what: fmt.Sprintf("may run commands in every pod (%s)", object.ShortList(on))}
	if !x.cluster {
		hit.severity = check.Info
	}
	return hit, true
}

func admission(_ *subject, x *holding) (finding, bool) {
	if !x.cluster || len(x.Rule.ResourceNames) > 0 || x.SelectsEverything() {
		return finding{}, false
	}
	const webhooks = "admissionregistration.k8s.io"
	var on, do []string
	severity := check.Info
	for _, r := range [][2]string{
		{webhooks, "mutatingwebhookconfigurations"},
		{webhooks, "validatingwebhookconfigurations"},
		{webhooks, "mutatingadmissionpolicies"},
		{"apiregistration.k8s.io", "apiservices"},
		{"apiextensions.k8s.io", "customresourcedefinitions"},
	} {
		verbs := x.AllowedVerbs(r[0], r[1], writeVerbs...)
		if len(verbs) == 0 {
			continue
		}
		// A rule has one list of verbs for all of its resources.
		on, do = append(on, r[1]), verbs
		if r[1] != "customresourcedefinitions" {
			severity = check.Warning
		}
	}
	if len(on) == 0 {
		return finding{}, false
	}
	return finding{severity: severity, field: "resources", value: object.FirstWords(x.Rule.Resources, 8), what: fmt.Sprintf("may %s %s", object.AndList(do), object.ShortList(on))}, true
}

// rolesWritten leaves out what an escalation reports already.
func rolesWritten(h *subject, x *holding) (finding, bool) {
	if _, worse := escalation(h, x); worse || x.SelectsEverything() || len(x.Rule.ResourceNames) > 0 {
		return finding{}, false
	}
	var on, do []string
	for _, r := range []string{"clusterroles", "clusterrolebindings", "roles", "rolebindings"} {
		if verbs := x.AllowedVerbs(rbacv1.GroupName, r, writeVerbs...); len(verbs) > 0 && (x.cluster || !strings.HasPrefix(r, "cluster")) {
			on, do = append(on, r), verbs
		}
	}
	if len(on) == 0 {
		return finding{}, false
	}
	hit := finding{field: "resources", value: object.FirstWords(x.Rule.Resources, 8), what: fmt.Sprintf("may %s %s", object.AndList(do), object.ShortList(on))}
	if h.serves(x) {
		hit.severity = check.Info
	}
	return hit, true
}
