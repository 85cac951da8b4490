package rbac

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func scopeRules() []check.Rule {
	return []check.Rule{
		{
			ID: "operator-namespaces", Category: check.Security, Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(9)},
			Title:    "The operator can be confined to namespaces",
			Why:      "Two teams on one cluster may need two versions of it, or an operator that cannot touch the other's objects. An operator that acts everywhere can be installed only once, for all.",
			Fix:      "Read the namespaces from an argument or an environment variable (WATCH_NAMESPACE), and let it work with Roles in these.",
			Operator: scopeOfOperator,
		},
	}
}

// scopeSetting is an argument or environment variable that sets the namespaces of an operator.
type scopeSetting struct {
	workload object.Ref
	// name is that of the variable or flag; field is its path.
	name, field string
	// namespaces are the ones that it names; none means all of them, or that the value is
	// unknown.
	namespaces []string
}

func scopeOfOperator(o *check.Operator, r *check.Result) {
	if len(o.Workloads) == 0 || !scopeMatters(o) {
		return
	}
	h := operatorSubject(o)
	holdings, open := h.held()
	at := slices.IndexFunc(holdings, h.reaches)
	settings := scopeSettings(o)
	switch {
	case at < 0 && len(open) > 0:
		r.AddUnknown(o.Ref(), "not all roles and bindings could be read: it is unknown whether its permissions are namespaced")
		return
	case at < 0:
		r.Pass(o.Ref())
		return
	}
	wide := holdings[at]
	f := check.Finding{Object: o.Ref(), Related: []object.Ref{wide.Role, wide.Binding}}
	for _, s := range settings {
		if len(s.namespaces) == 0 {
			r.Pass(o.Ref())
			return
		}
		f.Object, f.Field, f.Value = s.workload, s.field, strings.Join(s.namespaces, ",")
		f.Message = fmt.Sprintf("it works only in %s (%s), and %s gives it permissions in the whole cluster", object.ShortList(s.namespaces), s.name, check.Describe(wide.Binding))
		f.Remedy = fmt.Sprintf("Bind %s by RoleBindings in these namespaces.", check.Describe(wide.BoundRole()))
	}
	if len(settings) == 0 {
		f.Message = fmt.Sprintf("it has permissions in all namespaces (%s), and no argument or environment variable of its pods restricts it to some", check.Describe(wide.BoundRole()))
		f.Remedy = "If it can be restricted to namespaces, restrict it, and bind its roles there."
	}
	r.AddFinding(f)
}

// scopeMatters reports whether some kind of the operator is namespaced: cluster-wide
// configuration cannot be confined to namespaces.
func scopeMatters(o *check.Operator) bool {
	return slices.ContainsFunc(o.Kinds, func(gk schema.GroupKind) bool {
		k, ok := o.World.Kinds.Kind(gk)
		return !ok || k.Namespaced
	})
}

// reaches reports whether a rule covers namespaced objects, in all namespaces. Events and
// leases are exempt.
func (h *subject) reaches(x *holding) bool {
	if !x.cluster || x.Group != "" {
		return false
	}
	return slices.ContainsFunc(x.Rule.APIGroups, func(group string) bool {
		return slices.ContainsFunc(x.Rule.Resources, func(resource string) bool {
			name, _, _ := strings.Cut(resource, "/")
			if name == "events" || name == "leases" {
				return false
			}
			if name == "*" || group == "*" {
				return true
			}
			k, ok := h.w.Kinds.Resource(schema.GroupResource{Group: group, Resource: name})
			return ok && k.Namespaced
		})
	})
}

func scopeSettings(o *check.Operator) []scopeSetting {
	var out []scopeSetting
	for _, wl := range o.Workloads {
		v, ok := check.PodPlan(wl)
		if !ok {
			continue
		}
		prefix := wl.SpecPath()
		check.EachContainer(v.Spec, func(path string, c *corev1.Container) {
			for i := range c.Env {
				if s, ok := scopeEnv(&c.Env[i], wl.Ref.Namespace); ok {
					s.workload, s.field = wl.Ref, fmt.Sprintf("%s.%s.env[%s]", prefix, path, c.Env[i].Name)
					out = append(out, s)
				}
			}
			for _, s := range scopeArgs(append(slices.Clone(c.Command), c.Args...), wl.Ref.Namespace) {
				s.workload, s.field = wl.Ref, prefix+"."+path+".args"
				out = append(out, s)
			}
		})
	}
	return out
}

// scopeWord reports whether a name, in small letters, is one of a setting of the namespaces to
// watch: watch-namespace, namespaces, watched_namespaces. A name with one namespace and no
// watching (leader-election-namespace, pod-namespace) is about something else.
func scopeWord(name string) bool {
	name = strings.ReplaceAll(name, "_", "-")
	for _, excluded := range []string{"exclude", "ignore", "deny", "denied", "label", "annotation", "selector"} {
		if strings.Contains(name, excluded) {
			return false
		}
	}
	if name == "namespaces" || strings.HasSuffix(name, "-namespaces") {
		return true
	}
	return strings.HasSuffix(name, "namespace") && strings.Contains(name, "watch")
}

func scopeEnv(e *corev1.EnvVar, home string) (scopeSetting, bool) {
	name := strings.ToLower(e.Name)
	all := e.Value == "*" && strings.HasSuffix(name, "_namespace")
	if !all && !scopeWord(name) {
		return scopeSetting{}, false
	}
	s := scopeSetting{name: e.Name}
	switch from := e.ValueFrom; {
	case from == nil:
		s.namespaces = scopeNames(e.Value)
	case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.namespace":
		s.namespaces = []string{home}
	}
	return s, true
}

// scopeArgs reads -flag value, --flag=value and --flag. A flag named namespace counts as well,
// unless it names the operator's own.
func scopeArgs(args []string, home string) []scopeSetting {
	var out []scopeSetting
	for i, arg := range args {
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		if !given && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			value = args[i+1]
		}
		own := name == "namespace" && value != "" && value != home && !strings.Contains(value, "$(")
		if own || scopeWord(strings.ToLower(name)) {
			out = append(out, scopeSetting{name: "--" + name, namespaces: scopeNames(value)})
		}
	}
	return out
}

// scopeNames splits a list of namespaces; none for all of them, or for an unknown value.
func scopeNames(value string) []string {
	if strings.ContainsAny(value, "*$") {
		return nil
	}
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' || r == ';' })
}
