package permission

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestReview(t *testing.T) {
	rights := Set{}
	for _, resource := range []Permission{
		{Group: "apps", Resource: "deployments", Namespace: "prod", Name: "web"},
		{Group: "apps", Resource: "statefulsets", Namespace: "data", Name: "db"},
		{Group: "apps", Resource: "statefulsets", Subresource: "scale", Namespace: "data", Name: "db"},
		{Group: "example.com", Resource: "zones", Name: "eu"},
		{Group: "example.com", Resource: "zones", Subresource: "status", Name: "eu"},
	} {
		rights.Add(resource, "get", "patch")
	}
	rights.AddAll(Event("data"), Event(""))
	asking := slices.Concat(rights.List(), rights.List())
	var mu sync.Mutex
	var asked []string
	ask := func(_ context.Context, r Permission) (bool, string, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.String())
		switch {
		case r.Namespace == "prod":
			return true, "", nil
		case r.Resource == "zones":
			return false, "", errors.New("no answer")
		case r.Resource == "statefulsets":
			return r.Name == "db" && r.Verb == "get", "RBAC: no", nil
		}
		return r.Resource != "events", "", nil
	}
	missing, err := reviewBy(t.Context(), ask, asking)
	var undecided *UnknownError
	if !errors.As(err, &undecided) || len(undecided.Permissions) != 4 || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("undecided: %v", err)
	}
	slices.Sort(asked)
	if n := len(asked); len(slices.Compact(asked)) != n || slices.Contains(asked, "patch deployments.apps web in prod") {
		t.Errorf("it asked\n%s", strings.Join(asked, "\n"))
	}
	err = Refuse(missing)
	if err == nil || strings.Contains(err.Error(), "events") {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{"\n  patch statefulsets.apps db in data", "\n  patch statefulsets.apps/scale db in data"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	refused := new(MissingError)
	if !errors.As(err, &refused) || !strings.Contains(refused.Hint("sysop-shop"), "kubectl create role sysop-shop-1 --verb=patch --resource=statefulsets.apps --resource-name=db -n data") {
		t.Errorf("hint %q", refused.Hint("sysop-shop"))
	}
	if err := Refuse(slices.DeleteFunc(missing, func(m Missing) bool { return !m.Optional })); err != nil {
		t.Errorf("only events are missing: %v", err)
	}
	if err := Refuse(nil); err != nil {
		t.Errorf("nothing is missing: %v", err)
	}
}

func TestRulesAreTheFewest(t *testing.T) {
	in := []Permission{
		{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "a", Name: "y"},
		{Verb: "get", Group: "apps", Resource: "deployments", Namespace: "a", Name: "y"},
		{Verb: "get", Group: "apps", Resource: "deployments", Namespace: "a", Name: "x"},
		{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "a", Name: "x"},
		{Verb: "get", Group: "apps", Resource: "deployments", Namespace: "a", Name: "z"},
		{Verb: "get", Group: "apps", Resource: "deployments", Namespace: "b", Name: "x"},
		{Verb: "create", Resource: "configmaps", Namespace: "a"},
		{Verb: "create", Resource: "secrets", Namespace: "a"},
		{Verb: "create", Resource: "secrets", Namespace: "a", Name: "c"}, // granted on all
		{Verb: "get", Resource: "configmaps", Namespace: "a", Name: "c"},
		{Verb: "get", Resource: "nodes", Name: "n"},
	}
	var got []string
	for _, r := range rulesOf(in) {
		got = append(got, r.String())
	}
	want := []string{"get nodes n", "get configmaps c in a", "create configmaps, secrets in a", "get, patch deployments.apps x, y in a", "get deployments.apps z in a", "get deployments.apps x in b"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	slices.Reverse(in)
	var again []string
	for _, r := range rulesOf(in) {
		again = append(again, r.String())
	}
	if !slices.Equal(got, again) {
		t.Errorf("in another order %q", again)
	}
}

// Who may not delete the pods is told what will not be done, once a namespace, and no run is
// refused for it.
func TestOrderedNotes(t *testing.T) {
	var missing []Missing
	for _, r := range slices.Concat(DeletePods("data", "db-0", "db-1"), DeletePods("shop")) {
		if !r.Optional {
			t.Errorf("%s is not optional", r)
		}
		if r.Verb == "delete" {
			missing = append(missing, Missing{Permission: r})
		}
	}
	missing = append(missing, Missing{Permission: Permission{Verb: "create", Group: "events.k8s.io", Resource: "events", Namespace: "data", Optional: true}})
	got := PodNotes(missing)
	if len(got) != 2 || !strings.HasPrefix(got[0], "you may not delete pods in data: ") || !strings.HasPrefix(got[1], "you may not delete pods in shop: ") {
		t.Errorf("%q", got)
	}
	if err := Refuse(missing); err != nil {
		t.Error(err)
	}
}

func TestRole(t *testing.T) {
	rights := []Permission{
		{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "a", Name: "web"},
		{Verb: "get", Group: "apps", Resource: "deployments", Namespace: "a", Name: "web"},
		{Verb: "get", Group: "apps", Resource: "deployments", Namespace: "a", Name: "api"},
		{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "a", Name: "api"},
		{Verb: "list", Resource: "secrets", Namespace: "a"},
		{Verb: "list", Resource: "pods", Namespace: "a"},
		{Verb: "get", Resource: "secrets", Namespace: "a", Name: "x"},
		{Verb: "list", Resource: "secrets", Namespace: "a", Name: "x"}, // given by the whole list
		{Verb: "create", Resource: "namespaces"},
		{Verb: "get", Resource: "pods", Subresource: "log"},
	}
	text := func(rights []Permission) string {
		var all []string
		for _, u := range Role("sysop-install-a", rights, "a", "unused") {
			b, err := yaml.Marshal(u.Object)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(b))
		}
		return strings.Join(all, "---\n")
	}
	const want = `apiVersion: v1
kind: Namespace
metadata:
  name: a
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: sysop-install-a
rules:
- apiGroups:
  - ""
  resources:
  - namespaces
  verbs:
  - create
- apiGroups:
  - ""
  resources:
  - pods/log
  verbs:
  - get
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: sysop-install-a
  namespace: a
rules:
- apiGroups:
  - ""
  resources:
  - pods
  - secrets
  verbs:
  - list
- apiGroups:
  - ""
  resourceNames:
  - x
  resources:
  - secrets
  verbs:
  - get
- apiGroups:
  - apps
  resourceNames:
  - api
  - web
  resources:
  - deployments
  verbs:
  - get
  - patch
`
	if got := text(rights); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	slices.Reverse(rights)
	if got := text(rights); got != want {
		t.Error("the same rights in another order give another role")
	}
}
