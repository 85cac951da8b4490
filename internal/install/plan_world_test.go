package install

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// planKinds are the kinds that the clusters of these tests serve.
func planKinds(more ...object.Resource) *object.Kinds {
	core := func(kind, plural string, namespaced bool) object.Resource {
		return object.Resource{Version: "v1", Kind: kind, Plural: plural, Namespaced: namespaced, Listable: true}
	}
	return object.NewKinds(append([]object.Resource{
		core("Namespace", "namespaces", false), core("Secret", "secrets", true), core("ConfigMap", "configmaps", true),
		core("Service", "services", true), core("ServiceAccount", "serviceaccounts", true), core("PersistentVolumeClaim", "persistentvolumeclaims", true),
		{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespaced: true, Listable: true},
		{Group: "batch", Version: "v1", Kind: "Job", Plural: "jobs", Namespaced: true, Listable: true},
		{Group: permission.RolesGroup, Version: "v1", Kind: "Role", Plural: "roles", Namespaced: true, Listable: true},
		{Group: permission.RolesGroup, Version: "v1", Kind: "RoleBinding", Plural: "rolebindings", Namespaced: true, Listable: true},
		{Group: permission.RolesGroup, Version: "v1", Kind: "ClusterRole", Plural: "clusterroles", Listable: true},
		{Group: definitionKind.Group, Version: "v1", Kind: definitionKind.Kind, Plural: "customresourcedefinitions", Listable: true},
	}, more...))
}

func planObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil || u.GetKind() == "" {
		t.Fatalf("no object: %v\n%s", err, text)
	}
	return u
}

// planDefinition has one version, and in its spec the fields given, each as "name: type".
func planDefinition(t *testing.T, kind, group string, fields ...string) *unstructured.Unstructured {
	t.Helper()
	plural := strings.ToLower(kind) + "s"
	properties := ""
	for _, f := range fields {
		name, kind, _ := strings.Cut(f, ": ")
		properties += fmt.Sprintf("                  %s: {type: %s}\n", name, kind)
	}
	return planObject(t, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s}
spec:
  group: %[2]s
  scope: Namespaced
  names: {plural: %[1]s, singular: %[3]s, kind: %[4]s, listKind: %[4]sList}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            status: {type: object, properties: {host: {type: string}, port: {type: integer}}}
            spec:
              type: object
              properties:
                  name: {type: string}
%[5]s`, plural, group, strings.ToLower(kind), kind, properties))
}

func planCustom(t *testing.T, kind, group, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	return planObject(t, fmt.Sprintf("{apiVersion: %s/v1, kind: %s, metadata: {name: %s, namespace: %s}, spec: {name: x}}", group, kind, name, namespace))
}

func planDeployment(t *testing.T, namespace, name, image string) *unstructured.Unstructured {
	t.Helper()
	return planObject(t, fmt.Sprintf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, namespace: %s}, spec: {replicas: 1, template: {spec: {containers: [{name: a, image: %s}]}}}}", name, namespace, image))
}

func planPart(name, namespace, version string, r chart.Rendered) *Part {
	return &Part{
		Name: name, Release: name, Namespace: namespace, Version: version, Rendered: &r,
		Chart: &chart.Chart{Helm: &chartv2.Chart{Metadata: &chartv2.Metadata{Name: name, Version: version}}, Digest: "sha256:" + name + version},
	}
}

// operator is a package with a definition and a deployment.
func operatorPart(t *testing.T, name, kind, group string) *Part {
	return planPart(name, name+"-system", "1.0.0", chart.Rendered{
		Definitions: []*unstructured.Unstructured{planDefinition(t, kind, group)},
		Objects:     []*unstructured.Unstructured{planDeployment(t, name+"-system", name, name+":1")},
	})
}

// shop is two operators and two apps, the second of which is connected to the first.
func shopParts(t *testing.T) []*Part {
	db := planPart("db", "shop", "0.1.0", chart.Rendered{Objects: []*unstructured.Unstructured{planCustom(t, "Cluster", "pg.example.com", "shop", "db")}})
	web := planPart("web", "shop", "0.1.0", chart.Rendered{Objects: []*unstructured.Unstructured{planDeployment(t, "shop", "web", "web:1"), planCustom(t, "Certificate", "cert.example.com", "shop", "web")}})
	db.App, web.App = true, true
	web.Connections = []connection.Connection{{Name: "db", From: object.RefOf(db.Rendered.Objects[0]), Path: "status.host", To: object.RefOf(web.Rendered.Objects[0]), Field: `metadata.annotations["db"]`}}
	pg := operatorPart(t, "pg", "Cluster", "pg.example.com")
	pg.Needs = []string{"cert"}
	return []*Part{web, db, pg, operatorPart(t, "cert", "Certificate", "cert.example.com")}
}

func emptyState() State {
	return State{
		Kubernetes: "v1.33.2", Kinds: planKinds(), Namespaces: map[string]string{"default": "Active"}, Definitions: map[string]*unstructured.Unstructured{},
		Objects: map[object.Ref]*unstructured.Unstructured{}, Custom: map[string]CustomResources{},
	}
}

var shopSystem = Installation{Name: "shop", Namespace: "shop", System: true}

// copyState is deep where tests change it.
func copyState(s State) State {
	s.Namespaces, s.Definitions, s.Objects, s.Custom = maps.Clone(s.Namespaces), maps.Clone(s.Definitions), maps.Clone(s.Objects), maps.Clone(s.Custom)
	s.Releases = slices.Clone(s.Releases)
	for i := range s.Releases {
		s.Releases[i].Records = maps.Clone(s.Releases[i].Records)
		s.Releases[i].Labels = maps.Clone(s.Releases[i].Labels)
	}
	return s
}

// doPlan is what a cluster looks like once a plan was done: as a Runner would leave it.
func doPlan(t *testing.T, s State, p *Plan) State {
	t.Helper()
	s = copyState(s)
	for _, step := range p.Steps {
		switch step.Kind {
		case MakeNamespace:
			s.Namespaces[step.Namespace] = "Active"
		case ApplyDefinitions:
			for _, d := range step.Definitions {
				s.Definitions[d.GetName()] = d.DeepCopy()
				r, ok := resourceOf(d)
				if !ok {
					t.Fatalf("%s cannot be served", d.GetName())
				}
				s.Kinds = s.Kinds.With(r)
				if _, have := s.Custom[d.GetName()]; !have {
					s.Custom[d.GetName()] = CustomResources{Whole: true}
				}
			}
		case InstallRelease, UpgradeRelease:
			putRelease(s.part(t, p, step), &s, p)
		case RollbackRelease:
			r := s.release(step.Namespace, step.Release)
			r.Revision++
			r.Revisions = append(slices.Clone(r.Revisions), r.Revision)
			r.Records[r.Revision] = r.Records[step.To]
			r.Deployed, r.Status = r.Revision, "deployed"
		case RemoveRelease:
			takeRelease(&s, step)
		case DeleteObjects:
			for _, ref := range step.Objects {
				s.without(ref)
			}
		case DeleteDefinitions:
			for _, ref := range step.Objects {
				delete(s.Definitions, ref.Name)
				delete(s.Custom, ref.Name)
			}
		}
	}
	return s
}

func (s *State) part(t *testing.T, p *Plan, step Step) *Part {
	t.Helper()
	for _, part := range p.Parts {
		if part.Name == step.Part {
			return part
		}
	}
	t.Fatalf("%s is of no part", step.ID)
	return nil
}

// without takes an object away, from the custom resources as well.
func (s *State) without(ref object.Ref) {
	delete(s.Objects, ref)
	for n, c := range s.Custom {
		c.Objects = slices.DeleteFunc(slices.Clone(c.Objects), func(u *unstructured.Unstructured) bool { return object.RefOf(u) == ref })
		s.Custom[n] = c
	}
}

func (s *State) with(u *unstructured.Unstructured) {
	s.Objects[object.RefOf(u)] = u
	for n, d := range s.Definitions {
		if kindOf(d) == u.GroupVersionKind().GroupKind() {
			c := s.Custom[n]
			c.Objects = append(slices.Clone(c.Objects), u)
			s.Custom[n] = c
		}
	}
}

func takeRelease(s *State, step Step) {
	r := s.release(step.Namespace, step.Release)
	if c := r.Current(); c != nil {
		for _, u := range c.Objects {
			s.without(object.RefOf(u))
		}
	}
	s.Releases = slices.DeleteFunc(s.Releases, func(r LiveRelease) bool { return r.Name == step.Release && r.Namespace == step.Namespace })
}

// putRelease is what Helm leaves of a part.
func putRelease(p *Part, s *State, plan *Plan) {
	old := s.release(p.Namespace, p.Release)
	live := LiveRelease{Name: p.Release, Namespace: p.Namespace, Revision: 1, Records: map[int]*helm.StoredRecord{}}
	if old != nil {
		live = *old
		live.Revision++
		if c := old.Current(); c != nil {
			for _, u := range c.Objects {
				s.without(object.RefOf(u))
			}
		}
	}
	live.Status, live.Deployed = "deployed", live.Revision
	live.Revisions = append(slices.Clone(live.Revisions), live.Revision)
	live.Labels = map[string]string{}
	if !p.App {
		live.Labels[helm.PackageLabel], live.Labels[helm.VersionLabel] = p.Name, strings.ReplaceAll(p.Version, "+", "_")
	}
	if plan.Installation.System {
		live.Labels[helm.SystemLabel] = plan.Installation.Name
	}
	record := &helm.StoredRecord{Chart: chartOf(p), Version: chartVersionOf(p), Values: p.Values}
	for _, u := range rendered(p).Objects {
		record.Objects = append(record.Objects, u.DeepCopy())
		u = u.DeepCopy()
		notes := nonNil(u.GetAnnotations())
		notes[graph.HelmName], notes[graph.HelmNamespace] = p.Release, p.Namespace
		u.SetAnnotations(notes)
		s.with(u)
	}
	for _, h := range rendered(p).Hooks {
		record.Hooks = append(record.Hooks, h.Object.DeepCopy())
	}
	live.Records[live.Revision] = record
	s.Releases = slices.DeleteFunc(s.Releases, func(r LiveRelease) bool { return r.Name == p.Release && r.Namespace == p.Namespace })
	s.Releases = append(s.Releases, live)
}

// statesOf is what a journal would have of the releases, in the order of a plan.
func statesOf(s State, p *Plan) []ReleaseState {
	var out []ReleaseState
	for _, part := range p.Parts {
		if r := s.release(part.Namespace, part.Release); r != nil {
			out = append(out, ReleaseState{Part: part.Name, App: part.App, Release: r.Name, Namespace: r.Namespace, Version: part.Version, Revision: r.Deployed})
		}
	}
	return out
}

func stepIDs(p *Plan) []string {
	var out []string
	for _, s := range p.Steps {
		out = append(out, s.ID)
	}
	return out
}

func refusalTexts(p *Plan) string {
	var out []string
	for _, r := range p.Refusals {
		out = append(out, r.Topic+": "+r.Message)
	}
	return strings.Join(out, "\n")
}

// wantSteps fails unless the plan has these steps and no refusal.
func wantSteps(t *testing.T, p *Plan, ids ...string) {
	t.Helper()
	if len(p.Refusals) > 0 {
		t.Errorf("refused:\n%s", refusalTexts(p))
	}
	if got := stepIDs(p); !slices.Equal(got, ids) {
		t.Errorf("steps:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(ids, "\n  "))
	}
}

// wantRefusal fails unless one refusal of the topic says all of the words.
func wantRefusal(t *testing.T, p *Plan, topic string, words ...string) {
	t.Helper()
	for _, r := range p.Refusals {
		all := r.Topic == topic
		for _, w := range words {
			all = all && strings.Contains(r.Message+" | "+r.Hint, w)
		}
		if all {
			return
		}
	}
	t.Errorf("no refusal %s that says %q; there are:\n%s", topic, words, refusalTexts(p))
}

func wantNote(t *testing.T, p *Plan, words string) {
	t.Helper()
	if !slices.ContainsFunc(p.Notes, func(n string) bool { return strings.Contains(n, words) }) {
		t.Errorf("no note says %q; there are:\n%s", words, strings.Join(p.Notes, "\n"))
	}
}

var planOptions = PlanOptions{Timeout: time.Minute}
