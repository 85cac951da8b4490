package install

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestMakeFirstInstall(t *testing.T) {
	p := NewPlan(Install, shopSystem, shopParts(t), emptyState(), planOptions)
	wantSteps(t, p,
		"namespace/cert-system", "definitions/cert", "release/cert-system/cert", "await/cert",
		"namespace/pg-system", "definitions/pg", "release/pg-system/pg", "await/pg",
		"namespace/shop", "release/shop/db", "await/db",
		"release/shop/web", "await/web")
	wantNote(t, p, "waits for Cluster.pg.example.com/shop/db")
	for _, s := range p.Steps {
		if s.Timeout != planOptions.Timeout || s.Was != 0 || s.Irreversible != "" {
			t.Errorf("%s: timeout %s, was %d, irreversible %q", s.ID, s.Timeout, s.Was, s.Irreversible)
		}
	}
	d := p.Steps[1].Definitions[0]
	if d.GetLabels()[helm.PackageLabel] != "cert" || d.GetAnnotations()[helm.PolicyAnnotation] != keepPolicy {
		t.Errorf("the definition has labels %v, annotations %v", d.GetLabels(), d.GetAnnotations())
	}
}

func TestMakeAgainIsNothing(t *testing.T) {
	s := emptyState()
	p := NewPlan(Install, shopSystem, shopParts(t), s, planOptions)
	s = doPlan(t, s, p)
	again := NewPlan(Install, shopSystem, shopParts(t), s, planOptions)
	wantSteps(t, again)
	if want := []string{"cert", "pg", "db", "web"}; !slices.Equal(again.Unchanged, want) {
		t.Errorf("unchanged: %v, want %v", again.Unchanged, want)
	}
	if again.Fingerprint != p.Fingerprint {
		t.Error("the fingerprint depends on what is there")
	}
}

func TestMakeUpgrade(t *testing.T) {
	s := emptyState()
	first := NewPlan(Install, shopSystem, shopParts(t), s, planOptions)
	s = doPlan(t, s, first)
	o := planOptions
	o.Before = statesOf(s, first)

	t.Run("values of an app", func(t *testing.T) {
		parts := shopParts(t)
		parts[0].Values = map[string]any{"size": int64(2)}
		p := NewPlan(Upgrade, shopSystem, parts, s, o)
		// What the app itself needs is waited for before it is touched.
		wantSteps(t, p, "await/cert", "await/db", "release/shop/web", "await/web")
		up := p.Steps[2]
		if up.Kind != UpgradeRelease || up.Was != 1 || up.From != "0.1.0" {
			t.Errorf("%+v", up)
		}
		if p.Fingerprint == first.Fingerprint {
			t.Error("other values have the same fingerprint")
		}
	})
	t.Run("a definition, safely", func(t *testing.T) {
		parts := shopParts(t)
		parts[2].Rendered.Definitions = []*unstructured.Unstructured{planDefinition(t, "Cluster", "pg.example.com", "replicas: integer")}
		wantSteps(t, NewPlan(Upgrade, shopSystem, parts, s, o), "await/cert", "definitions/pg", "await/pg")
	})
	t.Run("a definition, not safely", func(t *testing.T) {
		parts := shopParts(t)
		d := planDefinition(t, "Cluster", "pg.example.com")
		versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
		unstructured.RemoveNestedField(versions[0].(map[string]any), "schema", "openAPIV3Schema", "properties", "spec", "properties", "name")
		if err := unstructured.SetNestedSlice(d.Object, versions, "spec", "versions"); err != nil {
			t.Fatal(err)
		}
		parts[2].Rendered.Definitions = []*unstructured.Unstructured{d}
		p := NewPlan(Upgrade, shopSystem, parts, s, o)
		wantRefusal(t, p, "definitions", "spec.name", "v1")
		if !slices.Contains(stepIDs(p), "definitions/pg") {
			t.Error("what is refused has no step")
		}
	})
	t.Run("a CRD that is being deleted", func(t *testing.T) {
		s := copyState(s)
		d := s.Definitions["clusters.pg.example.com"].DeepCopy()
		d.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
		s.Definitions[d.GetName()] = d
		wantRefusal(t, NewPlan(Upgrade, shopSystem, shopParts(t), s, o), "definitions", "CRD clusters.pg.example.com is being deleted")
	})
	t.Run("a definition that is kept", func(t *testing.T) {
		parts := shopParts(t)
		parts[2].KeepDefinitions = true
		parts[2].Rendered.Definitions = []*unstructured.Unstructured{planDefinition(t, "Cluster", "pg.example.com", "replicas: integer")}
		p := NewPlan(Upgrade, shopSystem, parts, s, o)
		wantSteps(t, p)
		wantNote(t, p, "CRD clusters.pg.example.com exists and is not changed")
	})
	t.Run("another chart, back", func(t *testing.T) {
		parts := shopParts(t)
		parts[3].Chart.Helm.Metadata.Version = "0.9.0"
		p := NewPlan(Upgrade, shopSystem, parts, s, o)
		wantSteps(t, p, "release/cert-system/cert", "await/cert")
		wantNote(t, p, "cert is downgraded from chart 1.0.0 to 0.9.0")
	})
	t.Run("another version with the same chart", func(t *testing.T) {
		parts := shopParts(t)
		parts[3].Version = "1.0.0+2"
		p := NewPlan(Upgrade, shopSystem, parts, s, o)
		wantSteps(t, p, "release/cert-system/cert", "await/cert")
		if step := p.Steps[0]; step.From != "1.0.0" || step.Version != "1.0.0+2" {
			t.Errorf("from %q to %q", step.From, step.Version)
		}
		done := doPlan(t, s, p)
		wantSteps(t, NewPlan(Upgrade, shopSystem, parts, done, o))
	})
	t.Run("an app goes, with its data", func(t *testing.T) {
		parts := slices.DeleteFunc(shopParts(t), func(p *Part) bool { return p.Name == "db" })
		parts[0].Connections = nil
		p := NewPlan(Upgrade, shopSystem, parts, s, o)
		wantSteps(t, p, "remove/shop/db")
		if !strings.Contains(p.Steps[0].Irreversible, "Cluster.pg.example.com/shop/db") {
			t.Errorf("irreversible: %q", p.Steps[0].Irreversible)
		}
	})
	t.Run("apps and their operator go", func(t *testing.T) {
		parts := slices.DeleteFunc(shopParts(t), func(p *Part) bool { return p.Name == "db" || p.Name == "pg" })
		parts[0].Connections = nil
		wantSteps(t, NewPlan(Upgrade, shopSystem, parts, s, o), "remove/shop/db", "remove/pg-system/pg")
	})
	t.Run("an operator that others use stays", func(t *testing.T) {
		parts := slices.DeleteFunc(shopParts(t), func(p *Part) bool { return p.Name == "db" || p.Name == "pg" })
		parts[0].Connections = nil
		s := copyState(s)
		s.with(planCustom(t, "Cluster", "pg.example.com", "other", "theirs"))
		p := NewPlan(Upgrade, shopSystem, parts, s, o)
		wantSteps(t, p, "remove/shop/db")
		wantNote(t, p, "pg is no longer in the System, and stays")
	})
	t.Run("a custom resource goes out of an app", func(t *testing.T) {
		parts := shopParts(t)
		parts[0].Rendered.Objects = parts[0].Rendered.Objects[:1]
		p := NewPlan(Upgrade, shopSystem, parts, s, o)
		for _, step := range p.Steps {
			if step.Kind == UpgradeRelease && !strings.Contains(step.Irreversible, "Certificate.cert.example.com/shop/web") {
				t.Errorf("irreversible: %q", step.Irreversible)
			}
		}
		wantNote(t, p, "the upgrade of web deletes Certificate.cert.example.com/shop/web")
	})
}

func TestMakeConnectionsChange(t *testing.T) {
	s := emptyState()
	s = doPlan(t, s, NewPlan(Install, shopSystem, shopParts(t), s, planOptions))
	set := func(host string, s State) State {
		s = copyState(s)
		ref := object.Ref{Group: "pg.example.com", Kind: "Cluster", Namespace: "shop", Name: "db"}
		u := s.Objects[ref].DeepCopy()
		if err := connection.Set(u, "status.host", host); err != nil {
			t.Fatal(err)
		}
		s.Objects[ref] = u
		return s
	}
	// What the run filled in is in the record of the release.
	record := s.release("shop", "web").Current()
	if err := connection.Set(record.Objects[0], `metadata.annotations["db"]`, "one"); err != nil {
		t.Fatal(err)
	}
	wantSteps(t, NewPlan(Install, shopSystem, shopParts(t), set("one", s), planOptions))
	p := NewPlan(Install, shopSystem, shopParts(t), set("two", s), planOptions)
	wantSteps(t, p, "await/cert", "await/db", "release/shop/web", "await/web")
}

// TestMakeLabels: labels that a part keeps are set again where they changed, and others are not compared.
func TestMakeLabels(t *testing.T) {
	parts := func(team string) []*Part {
		all := shopParts(t)
		all[0].Connections, all[0].Labels = nil, []string{"team"}
		u := all[0].Rendered.Objects[0]
		for _, path := range [][]string{{"metadata", "labels"}, {"spec", "template", "metadata", "labels"}} {
			if err := unstructured.SetNestedStringMap(u.Object, map[string]string{"team": team, "app": "web"}, path...); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	s := doPlan(t, emptyState(), NewPlan(Install, shopSystem, parts("shop"), emptyState(), planOptions))
	wantSteps(t, NewPlan(Upgrade, shopSystem, parts("shop"), s, planOptions))
	changed := func(path string, value any) State {
		s := copyState(s)
		ref := object.RefOf(parts("shop")[0].Rendered.Objects[0])
		u := s.Objects[ref].DeepCopy()
		if err := connection.Set(u, path, value); err != nil {
			t.Fatal(err)
		}
		s.Objects[ref] = u
		return s
	}
	upgrade := []string{"await/cert", "release/shop/web", "await/web"}
	p := NewPlan(Upgrade, shopSystem, parts("shop"), changed("metadata.labels.team", "else"), planOptions)
	wantSteps(t, p, upgrade...)
	wantNote(t, p, "web: the label team of Deployment.apps/shop/web is not shop any longer, and is set again")
	p = NewPlan(Upgrade, shopSystem, parts("shop"), changed("spec.template.metadata.labels.team", "else"), planOptions)
	wantSteps(t, p, upgrade...)
	wantNote(t, p, "web: the pods of Deployment.apps/shop/web are replaced, because their template gets new labels: team")
	wantSteps(t, NewPlan(Upgrade, shopSystem, parts("shop"), changed("metadata.labels.app", "else"), planOptions))
	p = NewPlan(Upgrade, shopSystem, parts("store"), s, planOptions)
	wantSteps(t, p, upgrade...)
	wantNote(t, p, "the pods of Deployment.apps/shop/web are replaced")
}

func TestMakeOwnership(t *testing.T) {
	type story struct {
		name  string
		marks func(u *unstructured.Unstructured)
		say   []string
	}
	label := func(pairs ...string) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) {
			m := map[string]string{}
			for i := 0; i < len(pairs); i += 2 {
				m[pairs[i]] = pairs[i+1]
			}
			u.SetLabels(m)
		}
	}
	note := func(pairs ...string) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) {
			m := map[string]string{}
			for i := 0; i < len(pairs); i += 2 {
				m[pairs[i]] = pairs[i+1]
			}
			u.SetAnnotations(m)
		}
	}
	for _, c := range []story{
		{"another release", note(graph.HelmName, "other", graph.HelmNamespace, "shop"), []string{"the Helm release other in shop", "helm uninstall other -n shop"}},
		{"another namespace's release", note(graph.HelmName, "web", graph.HelmNamespace, "elsewhere"), []string{"the Helm release web in elsewhere"}},
		{"an ApplySet", label("applyset.kubernetes.io/part-of", "applyset-x-v1"), []string{"the ApplySet applyset-x-v1"}},
		{"Argo CD", note(object.TrackingAnnotation, "shop-app:apps/Deployment:shop/web"), []string{"the Argo CD application shop-app", "its manager would revert it"}},
		{"Flux", label("kustomize.toolkit.fluxcd.io/name", "apps", "kustomize.toolkit.fluxcd.io/namespace", "flux-system"), []string{"Flux's Kustomization apps in flux-system"}},
		{"Flux's releases", label("helm.toolkit.fluxcd.io/name", "apps", "helm.toolkit.fluxcd.io/namespace", "flux-system"), []string{"Flux's HelmRelease apps in flux-system"}},
		{"a controller", func(u *unstructured.Unstructured) {
			_ = unstructured.SetNestedSlice(u.Object, []any{map[string]any{"apiVersion": "x/v1", "kind": "Stack", "name": "s", "uid": "1", "controller": true}}, "metadata", "ownerReferences")
		}, []string{"its controller, Stack s"}},
		{"somebody", func(u *unstructured.Unstructured) {
			_ = unstructured.SetNestedSlice(u.Object, []any{
				map[string]any{"manager": "kube-controller-manager", "operation": "Update", "subresource": "status", "time": "2026-01-02T00:00:00Z"},
				map[string]any{"manager": "kubectl-create", "operation": "Update", "time": "2026-01-01T00:00:00Z"},
			}, "metadata", "managedFields")
		}, []string{`field manager "kubectl-create"`}},
		{"nobody", func(*unstructured.Unstructured) {}, []string{"an unknown manager"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := emptyState()
			s.Namespaces["shop"] = "Active"
			live := planDeployment(t, "shop", "web", "old:1")
			c.marks(live)
			s.Objects[object.RefOf(live)] = live
			p := NewPlan(Install, shopSystem, shopParts(t), s, planOptions)
			wantRefusal(t, p, "ownership", append(c.say, "Deployment.apps/shop/web")...)
			if !slices.Contains(stepIDs(p), "release/shop/web") {
				t.Error("what is refused has no step")
			}
			o := planOptions
			o.TakeOwnership = true
			taken := NewPlan(Install, shopSystem, shopParts(t), s, o)
			if len(taken.Refusals) > 0 {
				t.Errorf("taken, and refused: %s", refusalTexts(taken))
			}
			wantNote(t, taken, "Deployment.apps/shop/web is taken over from")
			if taken.Fingerprint == p.Fingerprint {
				t.Error("taking is another thing than not taking")
			}
		})
	}
	t.Run("a mark about another object", func(t *testing.T) {
		u := planDeployment(t, "shop", "web", "old:1")
		u.SetAnnotations(map[string]string{object.TrackingAnnotation: "shop-app:apps/Deployment:shop/api"})
		if k := ManagerOf(u); k.By == "argocd" {
			t.Errorf("copied annotation is believed: %v", k)
		}
	})
	t.Run("our own ApplySet", func(t *testing.T) {
		s := emptyState()
		s = doPlan(t, s, NewPlan(Install, shopSystem, shopParts(t), s, planOptions))
		ref := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
		u := s.Objects[ref].DeepCopy()
		u.SetLabels(map[string]string{"applyset.kubernetes.io/part-of": "applyset-ours-v1"})
		s.Objects[ref] = u
		o := planOptions
		o.Set = "applyset-ours-v1"
		wantSteps(t, NewPlan(Upgrade, shopSystem, shopParts(t), s, o))
		wantRefusal(t, NewPlan(Upgrade, shopSystem, shopParts(t), s, planOptions), "ownership", "applyset-ours-v1")
	})
}

func TestMakeHooks(t *testing.T) {
	job := planObject(t, "{apiVersion: batch/v1, kind: Job, metadata: {name: migrate, namespace: shop, annotations: {helm.sh/hook: pre-install}}}")
	parts := func() []*Part {
		p := planPart("app", "shop", "1.0.0", chart.Rendered{Hooks: []chart.Hook{{Object: job, Events: []string{"pre-install"}}}})
		p.App = true
		return []*Part{p}
	}
	s := emptyState()
	s.Namespaces["shop"] = "Active"
	foreign := job.DeepCopy()
	foreign.SetAnnotations(nil)
	s.Objects[object.RefOf(job)] = foreign
	wantRefusal(t, NewPlan(Install, shopSystem, parts(), s, planOptions), "ownership", "Job.batch/shop/migrate")

	s = emptyState()
	s = doPlan(t, s, NewPlan(Install, shopSystem, parts(), s, planOptions))
	s.Objects[object.RefOf(job)] = job // Helm leaves hooks behind, without the marks of a release
	wantSteps(t, NewPlan(Install, shopSystem, parts(), s, planOptions))
}

func TestMakeAlreadyThere(t *testing.T) {
	in := Installation{Name: "cert", Namespace: "cert-system"}
	for _, c := range []struct {
		name  string
		marks map[string]string
		say   string
	}{
		{"by a release", map[string]string{graph.HelmName: "cert-manager", graph.HelmNamespace: "cm"}, "the Helm release cert-manager in cm"},
		{"by nobody known", nil, "an unknown manager"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := emptyState()
			d := planDefinition(t, "Certificate", "cert.example.com")
			d.SetAnnotations(c.marks)
			s.Definitions[d.GetName()] = d
			p := NewPlan(Install, in, []*Part{operatorPart(t, "cert", "Certificate", "cert.example.com")}, s, planOptions)
			wantRefusal(t, p, "ownership", "cert is already installed: CRD certificates.cert.example.com is managed by "+c.say, "--take-ownership")
			o := planOptions
			o.TakeOwnership = true
			wantSteps(t, NewPlan(Install, in, []*Part{operatorPart(t, "cert", "Certificate", "cert.example.com")}, s, o),
				"namespace/cert-system", "definitions/cert", "release/cert-system/cert", "await/cert")
		})
	}
}

func TestMakeReleases(t *testing.T) {
	in := Installation{Name: "cert", Namespace: "cert-system"}
	parts := func() []*Part { return []*Part{operatorPart(t, "cert", "Certificate", "cert.example.com")} }
	installed := doPlan(t, emptyState(), NewPlan(Install, in, parts(), emptyState(), planOptions))
	change := func(f func(*LiveRelease)) State {
		s := copyState(installed)
		f(&s.Releases[0])
		return s
	}
	for _, c := range []struct {
		name    string
		release func(*LiveRelease)
		options func(*PlanOptions)
		topic   string
		say     []string
		step    Step
	}{
		{name: "not ours", release: func(r *LiveRelease) { r.Labels = nil }, topic: "release", say: []string{"the Helm release cert in cert-system exists (chart cert), and was not installed by kubectl sysop", "--take-ownership"}},
		{name: "not ours, another chart", release: func(r *LiveRelease) {
			r.Labels = nil
			r.Records[1] = &helm.StoredRecord{Chart: "postgres", Version: "1.0.0"}
		}, options: func(o *PlanOptions) { o.TakeOwnership = true }, topic: "release", say: []string{"chart postgres"}},
		{name: "not ours, taken", release: func(r *LiveRelease) { r.Labels = nil }, options: func(o *PlanOptions) { o.TakeOwnership = true }, step: Step{Kind: UpgradeRelease, Was: 1}},
		{name: "of another package", release: func(r *LiveRelease) { r.Labels[helm.PackageLabel] = "issuer" }, topic: "release", say: []string{"belongs to the package issuer"}},
		{name: "pending", release: func(r *LiveRelease) {
			r.Status, r.Revision, r.Revisions, r.Labels[helm.RunLabel] = "pending-upgrade", 2, []int{1, 2}, "killed"
		}, topic: "release", say: []string{"is pending-upgrade (revision 2)", "helm rollback cert 1 -n cert-system"}},
		{name: "pending, and resumed", release: func(r *LiveRelease) {
			r.Status, r.Revision, r.Revisions, r.Labels[helm.RunLabel] = "pending-upgrade", 2, []int{1, 2}, "killed"
		}, options: func(o *PlanOptions) { o.Resume = "killed" }, step: Step{Kind: UpgradeRelease, Was: 1}},
		{name: "pending first installation", release: func(r *LiveRelease) { r.Status, r.Deployed = "pending-install", 0 }, topic: "release", say: []string{"helm uninstall cert -n cert-system"}},
		{
			name: "pending first installation, resumed", release: func(r *LiveRelease) { r.Status, r.Deployed, r.Labels[helm.RunLabel] = "pending-install", 0, "killed" },
			options: func(o *PlanOptions) { o.Resume = "killed" }, step: Step{Kind: InstallRelease},
		},
		{name: "failed, after one that is deployed", release: func(r *LiveRelease) { r.Status, r.Revision, r.Revisions = "failed", 2, []int{1, 2} }, step: Step{Kind: UpgradeRelease, Was: 1}},
		{name: "failed at first", release: func(r *LiveRelease) { r.Status, r.Deployed = "failed", 0 }, step: Step{Kind: UpgradeRelease}},
		{name: "uninstalled, with its history", release: func(r *LiveRelease) { r.Status, r.Deployed, r.Labels = "uninstalled", 0, nil }, step: Step{Kind: InstallRelease}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := planOptions
			if c.options != nil {
				c.options(&o)
			}
			p := NewPlan(Install, in, parts(), change(c.release), o)
			if c.topic != "" {
				wantRefusal(t, p, c.topic, c.say...)
			} else if len(p.Refusals) > 0 {
				t.Errorf("refused:\n%s", refusalTexts(p))
			}
			i := slices.Index(stepIDs(p), "release/cert-system/cert")
			if i < 0 {
				t.Fatalf("no step of the release: %v", stepIDs(p))
			}
			if s := p.Steps[i]; c.step.Kind != "" && (s.Kind != c.step.Kind || s.Was != c.step.Was) {
				t.Errorf("%s from revision %d, want %s from %d", s.Kind, s.Was, c.step.Kind, c.step.Was)
			}
		})
	}
}

func TestMakeTakesNoDataAlong(t *testing.T) {
	in := Installation{Name: "cert", Namespace: "cert-system"}
	part := operatorPart(t, "cert", "Certificate", "cert.example.com")
	s := doPlan(t, emptyState(), NewPlan(Install, in, []*Part{part}, emptyState(), planOptions))
	// A plain release that has its definitions among its objects, as many charts do.
	live := &s.Releases[0]
	live.Labels = nil
	record := *live.Records[1]
	d := planDefinition(t, "Certificate", "cert.example.com")
	d.SetAnnotations(map[string]string{graph.HelmName: "cert", graph.HelmNamespace: "cert-system"})
	record.Objects = append(slices.Clone(record.Objects), d)
	live.Records[1] = &record
	s.Definitions[d.GetName()] = d
	o := planOptions
	o.TakeOwnership = true
	p := NewPlan(Install, in, []*Part{part}, s, o)
	wantSteps(t, p, "definitions/cert", "release/cert-system/cert", "await/cert")
	if got := p.Steps[0].Definitions[0].GetAnnotations()[helm.PolicyAnnotation]; got != keepPolicy {
		t.Errorf("the definition would go with the release: %s=%q", helm.PolicyAnnotation, got)
	}
	part.KeepDefinitions = true
	wantRefusal(t, NewPlan(Install, in, []*Part{part}, s, o), "data", "Helm would delete it", "kubectl annotate crd certificates.cert.example.com")
}

func TestMakeNamespaces(t *testing.T) {
	in := Installation{Name: "cert", Namespace: "cert-system"}
	part := operatorPart(t, "cert", "Certificate", "cert.example.com")
	s := emptyState()
	s.Namespaces["cert-system"] = "Terminating"
	wantRefusal(t, NewPlan(Install, in, []*Part{part}, s, planOptions), "namespace", "cert-system is being deleted")

	part.Rendered.Objects = append(part.Rendered.Objects, planDeployment(t, "kube-elsewhere", "x", "x"))
	wantRefusal(t, NewPlan(Install, in, []*Part{part}, emptyState(), planOptions), "namespace", "kube-elsewhere", "kubectl create namespace")

	part.Rendered.Namespaces = []*unstructured.Unstructured{planObject(t, "{apiVersion: v1, kind: Namespace, metadata: {name: kube-elsewhere, labels: {a: b}}}")}
	wantSteps(t, NewPlan(Install, in, []*Part{part}, emptyState(), planOptions),
		"namespace/cert-system", "namespace/kube-elsewhere", "definitions/cert", "release/cert-system/cert", "await/cert")
	s = emptyState()
	s.Namespaces["kube-elsewhere"] = "Active"
	wantNote(t, NewPlan(Install, in, []*Part{part}, s, planOptions), "namespace kube-elsewhere exists and is not changed")
}

func TestMakeAnnotates(t *testing.T) {
	in := Installation{Name: "cert", Namespace: "cert-system"}
	part := operatorPart(t, "cert", "Certificate", "cert.example.com")
	o := planOptions
	o.Annotate = func(u *unstructured.Unstructured) map[string]string {
		for k := range u.GetAnnotations() {
			if strings.HasPrefix(k, "resource/") {
				return nil // it carries some
			}
		}
		return map[string]string{"resource/composition": "Secret"}
	}
	p := NewPlan(Install, in, []*Part{part}, emptyState(), o)
	if got := p.Steps[1].Definitions[0].GetAnnotations()["resource/composition"]; got != "Secret" {
		t.Errorf("annotation %q", got)
	}
	s := doPlan(t, emptyState(), p)
	wantSteps(t, NewPlan(Install, in, []*Part{part}, s, o))
	// Somebody wrote annotations of his own: ours are not put beside them.
	s = doPlan(t, emptyState(), NewPlan(Install, in, []*Part{part}, emptyState(), planOptions))
	d := s.Definitions["certificates.cert.example.com"].DeepCopy()
	notes := d.GetAnnotations()
	notes["resource/usage"] = "x"
	d.SetAnnotations(notes)
	s.Definitions[d.GetName()] = d
	wantSteps(t, NewPlan(Install, in, []*Part{part}, s, o))
}

func TestMakeRefusesGapsAndVersions(t *testing.T) {
	s := emptyState()
	s.Gaps = []object.Gap{{Resource: "secrets", Namespace: "shop", Reason: "Forbidden", Message: "secrets is forbidden"}}
	parts := shopParts(t)
	parts[3].Chart.Helm.Metadata.KubeVersion = ">=1.34"
	p := NewPlan(Install, shopSystem, parts, s, planOptions)
	wantRefusal(t, p, "rights", "you may not read secrets in shop", "--print-rbac")
	wantRefusal(t, p, "kubernetes", "cert requires Kubernetes >=1.34, and the cluster has v1.33.2")
}
