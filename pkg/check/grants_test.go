package check

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// The universe of the naive evaluator: all that there is to ask for.
var (
	grantVerbs     = []string{"get", "create", "escalate"}
	grantGroups    = []string{"", "apps"}
	grantResources = []string{"pods", "pods/log", "pods/scale", "deployments", "deployments/scale"}
	grantSpaces    = []string{"", "a", "b"}
	grantOnes      = []string{"", "x", "y"}
)

// accessRequest is a request to an API server.
type accessRequest struct{ Verb, Group, Resource, Namespace, Name string }

// allows says whether a grant is enough for a request.
func allows(g *Grant, q accessRequest) bool {
	return (g.Namespace == "" || g.Namespace == q.Namespace) && len(g.AllowedVerbs(q.Group, q.Resource, q.Verb)) > 0 &&
		(len(g.Rule.ResourceNames) == 0 || slices.Contains(g.Rule.ResourceNames, q.Name))
}

// spellOut writes down everything that a word of a rule stands for in a universe.
func spellOut(words, universe []string) map[string]bool {
	out := map[string]bool{}
	for _, word := range words {
		for _, one := range universe {
			_, sub, _ := strings.Cut(one, "/")
			if word == "*" || word == one || sub != "" && word == "*/"+sub {
				out[one] = true
			}
		}
	}
	return out
}

// naiveAllowed is all that a rule allows in a namespace (everywhere, if it is empty), one
// request after the other.
func naiveAllowed(rule *rbacv1.PolicyRule, in string) map[accessRequest]bool {
	out := map[accessRequest]bool{}
	named := spellOut(rule.ResourceNames, grantOnes[1:])
	if len(rule.ResourceNames) == 0 {
		named = spellOut([]string{"*"}, grantOnes)
	}
	for v := range spellOut(rule.Verbs, grantVerbs) {
		for g := range spellOut(rule.APIGroups, grantGroups) {
			for r := range spellOut(rule.Resources, grantResources) {
				for _, ns := range grantSpaces {
					for n := range named {
						if in == "" || in == ns {
							out[accessRequest{Verb: v, Group: g, Resource: r, Namespace: ns, Name: n}] = true
						}
					}
				}
			}
		}
	}
	return out
}

func everyRequest() []accessRequest {
	var out []accessRequest
	for _, v := range grantVerbs {
		for _, g := range grantGroups {
			for _, r := range grantResources {
				for _, ns := range grantSpaces {
					for _, n := range grantOnes {
						out = append(out, accessRequest{Verb: v, Group: g, Resource: r, Namespace: ns, Name: n})
					}
				}
			}
		}
	}
	return out
}

// subsets returns all sets of words.
func subsets(words ...string) [][]string {
	out := [][]string{nil}
	for _, w := range words {
		for _, s := range out {
			out = append(out, append(slices.Clone(s), w))
		}
	}
	return out
}

func TestAllowsIsWhatRulesSpellOut(t *testing.T) {
	requests := everyRequest()
	rules := 0
	for _, verbs := range subsets("*", "get", "escalate") {
		for _, groups := range subsets("*", "", "apps") {
			for _, resources := range subsets("*", "pods", "pods/log", "*/scale", "pods/*") {
				for _, ones := range subsets("x") {
					for _, in := range grantSpaces[:2] {
						g := Grant{Rule: rbacv1.PolicyRule{Verbs: verbs, APIGroups: groups, Resources: resources, ResourceNames: ones}, Namespace: in}
						want := naiveAllowed(&g.Rule, in)
						for _, q := range requests {
							if allows(&g, q) != want[q] {
								t.Fatalf("%+v in %q, %+v: got %t", g.Rule, in, q, allows(&g, q))
							}
						}
						rules++
					}
				}
			}
		}
	}
	if rules != 8*8*32*2*2 {
		t.Errorf("%d rules", rules)
	}
}

// grantWorld is a world of roles and bindings and nothing else.
func grantWorld(objects ...runtime.Object) *ClusterState {
	facts := NewCollector()
	for _, o := range objects {
		m := o.(metav1.Object)
		kind := strings.TrimPrefix(fmt.Sprintf("%T", o), "*v1.")
		facts.Add(object.Object{Ref: object.Ref{Group: rbacv1.GroupName, Kind: kind, Namespace: m.GetNamespace(), Name: m.GetName()}, Meta: m, Body: o})
	}
	return &ClusterState{Facts: facts, Kinds: object.NewKinds(nil), Read: func(schema.GroupKind, string) bool { return true }}
}

// TestGrantsAgainstNaive asks random roles and bindings the way the API server does it: all
// bindings of the cluster, then those of the request's namespace, subject after subject.
func TestGrantsAgainstNaive(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 2026))
	pick := func(from ...string) string { return from[rnd.IntN(len(from))] }
	some := func(from ...string) []string {
		return slices.DeleteFunc(slices.Clone(from), func(string) bool { return rnd.IntN(3) > 0 })
	}
	subject := func() rbacv1.Subject {
		s := rbacv1.Subject{Kind: pick("ServiceAccount", "User", "Group"), Namespace: pick("", "a", "b")}
		switch s.Kind {
		case "ServiceAccount":
			s.Name = pick("one", "two")
		case "User":
			s.Name = pick("one", "system:serviceaccount:a:one", "system:serviceaccount:b:one", "system:serviceaccount:a")
		case "Group":
			s.Name = pick("one", "system:authenticated", "system:serviceaccounts", "system:serviceaccounts:a", "system:serviceaccounts:b", "system:masters")
		}
		return s
	}
	allowed, asked := 0, 0
	for range 400 {
		var objects []runtime.Object
		rules := map[string][]rbacv1.PolicyRule{}
		for _, name := range []string{"r", "s"} {
			for _, ns := range []string{"", "a", "b"} {
				rs := []rbacv1.PolicyRule{{
					Verbs: some("*", "get", "create"), APIGroups: some("*", "", "apps"),
					Resources: some("*", "pods", "pods/log", "*/scale", "deployments"), ResourceNames: some("x"),
				}}
				rules[ns+"/"+name] = rs
				if ns == "" {
					objects = append(objects, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rs})
					continue
				}
				objects = append(objects, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}, Rules: rs})
			}
		}
		type binding struct {
			ns, role string
			subjects []rbacv1.Subject
		}
		var bindings []binding
		for i := range 1 + rnd.IntN(3) {
			name := fmt.Sprint("b", i)
			subjects := []rbacv1.Subject{subject(), subject()}
			ref := rbacv1.RoleRef{Kind: "ClusterRole", Name: pick("r", "s", "gone")}
			ns := pick("", "a", "b")
			role := "/" + ref.Name
			if ns == "" {
				objects = append(objects, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: ref, Subjects: subjects})
			} else {
				if rnd.IntN(2) == 0 {
					ref.Kind, role = "Role", ns+"/"+ref.Name
				}
				objects = append(objects, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}, RoleRef: ref, Subjects: subjects})
			}
			bindings = append(bindings, binding{ns, role, subjects})
		}
		w := grantWorld(objects...)
		sa := ServiceAccount("a", "one")
		groups := []string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:a"}
		want := map[accessRequest]bool{}
		for _, b := range bindings {
			means := slices.ContainsFunc(b.subjects, func(s rbacv1.Subject) bool {
				in := s.Namespace
				if in == "" {
					in = b.ns
				}
				return s.Kind == "User" && s.Name == "system:serviceaccount:a:one" || s.Kind == "Group" && slices.Contains(groups, s.Name) ||
					s.Kind == "ServiceAccount" && s.Name == "one" && in == "a"
			})
			if !means {
				continue
			}
			for _, r := range rules[b.role] {
				for q := range naiveAllowed(&r, b.ns) {
					want[q] = true
				}
			}
		}
		grants, known := w.Grants(sa)
		if !known {
			t.Fatal("all was read, and it is not known")
		}
		for _, q := range everyRequest() {
			asked++
			got := slices.ContainsFunc(grants, func(g Grant) bool { return allows(&g, q) })
			if got != want[q] {
				t.Fatalf("%+v: got %t, of %+v", q, got, grants)
			}
			if got {
				allowed++
			}
		}
	}
	if allowed < asked/50 || allowed > asked/2 {
		t.Errorf("%d of %d requests are allowed: the test is one-sided", allowed, asked)
	}
}
