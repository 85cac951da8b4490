package installer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// partLoader makes the parts of an installation: it fetches and renders charts, dependencies first.
type partLoader struct {
	req   *Request
	cats  *catalogs.Catalogs
	kinds *object.Kinds
	given string // the namespace of -n; empty without it
	// kubernetes is the version of the cluster, and apis are those that it and the earlier parts
	// serve.
	kubernetes string
	apis       []string
	there      map[string]installedPackage
	// reader reads what surrounds the apps of a System; nil without a cluster.
	reader install.Reader
	// reads are the permissions that wiring the apps needs.
	reads []permission.Permission

	parts       []*install.Part
	artifacts   map[string][]fetch.Artifact // by package
	fetched     map[string]string           // where they are from
	notes       []string
	definitions []*unstructured.Unstructured
	custom      map[schema.GroupKind]bool // the defined kinds, and whether they are namespaced
}

func newPartLoader(req *Request, cats *catalogs.Catalogs, kinds *object.Kinds, kubernetes string, apis []string) *partLoader {
	return &partLoader{
		req: req, cats: cats, kinds: kinds, kubernetes: kubernetes, apis: apis,
		artifacts: map[string][]fetch.Artifact{}, fetched: map[string]string{}, custom: map[schema.GroupKind]bool{},
	}
}

// loadParts makes the parts.
func (p *Plan) loadParts(ctx context.Context) error {
	c := newPartLoader(&p.req, p.Catalogs, p.kinds, p.version, p.apis())
	c.given, c.there, c.reader = p.given, p.there, p.reader
	p.loader = c
	if err := c.packages(ctx, p.chosen); err != nil {
		return err
	}
	// Dependencies that are installed and stay unchanged are no parts.
	for _, part := range c.parts {
		part.Needs = slices.DeleteFunc(slices.Clone(part.Needs), func(name string) bool { return !c.has(name) })
	}
	if err := c.apps(ctx); err != nil {
		return err
	}
	return p.loadLevels(ctx)
}

// has says whether there is a part of a name.
func (c *partLoader) has(name string) bool {
	return slices.ContainsFunc(c.parts, func(o *install.Part) bool { return o.Name == name })
}

// packages makes a part of each package that is chosen.
func (c *partLoader) packages(ctx context.Context, chosen []solve.Choice) error {
	for i := range chosen {
		choice := &chosen[i]
		if c.settled(choice) {
			continue
		}
		part, err := c.operator(ctx, choice)
		if err != nil {
			return fmt.Errorf("%s %s: %w", choice.Name, choice.Version, err)
		}
		if err := c.add(ctx, part); err != nil {
			return fmt.Errorf("%s %s: %w", choice.Name, choice.Version, err)
		}
	}
	return nil
}

// settled says that a package is installed as wanted, and that no change of it was requested: it is
// only a dependency.
func (c *partLoader) settled(choice *solve.Choice) bool {
	if choice.Was != choice.Version {
		return false
	}
	named := slices.ContainsFunc(c.req.Targets, func(t Target) bool { return t.Name == choice.Name })
	if c.req.System != nil {
		named = named || slices.ContainsFunc(c.req.System.Operators, func(o system.Operator) bool { return o.Name == choice.Name && o.Values != nil })
	}
	return !named
}

// operator is the part of a package, not rendered yet.
func (c *partLoader) operator(ctx context.Context, choice *solve.Choice) (*install.Part, error) {
	e, err := c.cats.Installable(choice.Name)
	if err != nil {
		return nil, err
	}
	v, ok := e.Version(choice.Version)
	if !ok {
		return nil, fmt.Errorf("the catalog has no version %s of %s", choice.Version, choice.Name)
	}
	p := &install.Part{
		Name: e.Name, Release: e.Name, Namespace: v.Namespace, Version: v.Version, Needs: choice.Needs, Why: choice.Why,
		KeepDefinitions: v.Definitions == catalog.Install || v.Definitions == catalog.Leave,
	}
	if p.Chart, err = c.chartOf(ctx, e, v); err != nil {
		return nil, err
	}
	if v.Source.Chart != nil {
		p.Values = v.Source.Chart.Values
	}
	c.place(p)
	for _, w := range v.Ready {
		gk := declare.GroupKind(w.Kind)
		p.Ready = append(p.Ready, object.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: p.Namespace, Name: w.Name})
	}
	return p, nil
}

// place says where a package goes, and with which values: those of the entry, of what is
// there, of the System, of the command line, each over the ones before.
func (c *partLoader) place(p *install.Part) {
	if was, ok := c.there[p.Name]; ok {
		p.Release, p.Namespace = was.release, was.namespace
		if !c.req.ResetValues {
			p.Values = system.Laid(p.Values, was.values)
		}
	}
	if c.req.System != nil {
		for _, o := range c.req.System.Operators {
			if o.Name == p.Name {
				p.Namespace = cmp.Or(o.Namespace, p.Namespace)
				p.Values = system.Laid(p.Values, o.Values)
			}
		}
	}
	if len(c.req.Targets) == 1 && c.req.Targets[0].Name == p.Name {
		p.Values = system.Laid(p.Values, c.req.Values)
		if _, found := c.there[p.Name]; !found {
			p.Namespace = cmp.Or(c.given, p.Namespace)
		}
	}
}

// chartOf gets the chart of a version, or makes one of its manifests.
func (c *partLoader) chartOf(ctx context.Context, e catalog.Entry, v *catalog.Version) (*chart.Chart, error) {
	f, err := c.cats.Fetcher(e.Name)
	if err != nil {
		return nil, err
	}
	switch s := v.Source; {
	case s.Chart != nil:
		got, err := f.Chart(ctx, *s.Chart)
		if err != nil {
			return nil, err
		}
		c.took(e.Name, got)
		return chart.Load(got.Data, got.From, chart.DefaultLimits)
	case len(s.Manifests) > 0:
		got, err := f.Manifests(ctx, s.Manifests)
		if err != nil {
			return nil, err
		}
		files := map[string][]byte{}
		for _, a := range got {
			c.took(e.Name, a)
			files[a.From] = a.Data
		}
		return chartOfManifests(e.Name, v.Version, files)
	default:
		c.fetched[e.Name] = "the catalog"
		return chartOfManifests(e.Name, v.Version, map[string][]byte{"the catalog's inline manifests": []byte(s.Inline)})
	}
}

// chartOfManifests makes a chart of files of manifests.
func chartOfManifests(name, version string, files map[string][]byte) (*chart.Chart, error) {
	objects, err := chart.ReadManifests(files)
	if err != nil {
		return nil, err
	}
	return chart.FromManifests(name, version, objects)
}

// took keeps an artifact of a package, and notes where it is from.
func (c *partLoader) took(name string, a fetch.Artifact) {
	c.artifacts[name] = append(c.artifacts[name], a)
	text := a.From
	if len(a.Verified) > 0 {
		text += " (" + strings.Join(a.Verified, ", ") + ")"
	}
	if was := c.fetched[name]; was != "" {
		text = was + "; " + text
	}
	c.fetched[name] = text
	for _, n := range a.Notes {
		c.notes = append(c.notes, name+": "+n)
	}
}

// add renders a part: it sees what the cluster serves, and what the parts before bring.
func (c *partLoader) add(ctx context.Context, p *install.Part) error {
	was, upgrade := c.there[p.Name]
	o := c.options(p)
	if upgrade {
		o.Upgrade, o.Revision = true, was.revision+1
	}
	caps, err := chart.Capabilities(p.Chart, o)
	if err != nil {
		return err
	}
	p.APIs = caps.APIVersions
	if p.Rendered, err = chart.Render(ctx, p.Chart, o); err != nil {
		return err
	}
	for _, w := range p.Rendered.Warnings {
		c.notes = append(c.notes, p.Name+": "+w)
	}
	for _, d := range p.Rendered.Definitions {
		c.defines(d)
	}
	c.parts = append(c.parts, p)
	return nil
}

// options are what a part is rendered with.
func (c *partLoader) options(p *install.Part) chart.Options {
	var labels map[string]string
	if p.App {
		labels = map[string]string{regulate.InstalledLabel: c.req.System.Name}
	}
	return chart.Options{
		Labels:  labels,
		Release: p.Release, Namespace: p.Namespace, Values: p.Values, Kubernetes: c.kubernetes, APIs: slices.Clone(c.apis), Revision: 1,
		Namespaced: func(gk schema.GroupKind) (bool, bool) {
			if namespaced, ok := c.custom[gk]; ok {
				return namespaced, true
			}
			return c.kinds.Namespaced(gk)
		},
		ImageRegistry: c.req.ImageRegistry,
	}
}

// defines notes what a definition is going to serve.
func (c *partLoader) defines(d *unstructured.Unstructured) {
	c.definitions = append(c.definitions, d)
	for _, api := range chart.ServedBy(d) {
		if !slices.Contains(c.apis, api) {
			c.apis = append(c.apis, api)
		}
	}
	group, _, _ := unstructured.NestedString(d.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(d.Object, "spec", "names", "kind")
	scope, _, _ := unstructured.NestedString(d.Object, "spec", "scope")
	c.custom[schema.GroupKind{Group: group, Kind: kind}] = scope == "Namespaced"
}

// apps makes a part of each app that brings objects along.
func (c *partLoader) apps(ctx context.Context) error {
	if c.req.System == nil {
		return nil
	}
	for i := range c.req.System.Apps {
		if a := &c.req.System.Apps[i]; a.BringsSecret() {
			return hint.With(fmt.Errorf("app %s includes a Secret: more users may read the manifest", a.Name),
				"name it under spec.inputs, and create it first: its values are never read")
		}
	}
	if err := c.secrets(ctx); err != nil {
		return err
	}
	wires, err := c.wire(ctx)
	if err != nil {
		return err
	}
	for i := range c.req.System.Apps {
		a := &c.req.System.Apps[i]
		if len(a.Resources) == 0 {
			continue
		}
		p := &install.Part{Name: a.Name, Needs: slices.Clone(wires.needs[a.Name]), Connections: wires.values[a.Name], Labels: c.req.System.LabelKeys()}
		for _, d := range c.req.System.Dependencies {
			if d.From == a.Name && c.brings(d.To) && !slices.Contains(p.Needs, d.To) {
				p.Needs = append(p.Needs, d.To)
			}
		}
		if a.Operator != "" && c.has(a.Operator) {
			p.Needs = append(p.Needs, a.Operator)
		}
		if len(c.req.Secrets) > 0 {
			p.Needs = append(p.Needs, secretsApp)
		}
		if err := c.app(ctx, p, wires.resources[a.Name]); err != nil {
			return err
		}
	}
	return nil
}

// secretsApp is the name of the part of Request.Secrets.
const secretsApp = "secrets"

// secrets makes the part of the Secrets of the request.
func (c *partLoader) secrets(ctx context.Context) error {
	if len(c.req.Secrets) == 0 {
		return nil
	}
	sys := c.req.System
	objects := make([]*unstructured.Unstructured, 0, len(c.req.Secrets))
	for _, o := range c.req.Secrets {
		objects = append(objects, o.DeepCopy())
	}
	if _, taken := sys.App(secretsApp); taken {
		return hint.With(fmt.Errorf("the app %s has the name of the app of the Secrets", secretsApp), "give the app another name")
	}
	c.notes = append(c.notes, sys.SetLabels(secretsApp, sys.Name+"-"+secretsApp, objects, objects)...)
	return c.app(ctx, &install.Part{Name: secretsApp, Labels: sys.LabelKeys()}, objects)
}

// app completes and adds the part of an app.
func (c *partLoader) app(ctx context.Context, p *install.Part, objects []*unstructured.Unstructured) error {
	sys := c.req.System
	p.App, p.Release, p.Namespace, p.Why = true, sys.Name+"-"+p.Name, sys.Namespace, []string{"system " + sys.Name}
	if c.has(p.Name) {
		return hint.With(fmt.Errorf("app %s has the name of an operator that is installed with it", p.Name), "give the app another name")
	}
	var err error
	if p.Chart, err = chart.FromManifests(p.Release, "1.0.0", objects); err == nil {
		err = c.add(ctx, p)
	}
	if err != nil {
		return fmt.Errorf("app %s: %w", p.Name, err)
	}
	return nil
}

// brings says whether an app is a part.
func (c *partLoader) brings(app string) bool {
	a, ok := c.req.System.App(app)
	return ok && len(a.Resources) > 0
}

// schema is that of a kind which a part defines; nil if it is unknown.
func (c *partLoader) schema(gvk schema.GroupVersionKind) map[string]any {
	for _, d := range c.definitions {
		group, _, _ := unstructured.NestedString(d.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(d.Object, "spec", "names", "kind")
		if group != gvk.Group || kind != gvk.Kind {
			continue
		}
		versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
		for _, v := range versions {
			m, _ := v.(map[string]any)
			if m["name"] == gvk.Version {
				openAPI, _, _ := unstructured.NestedMap(m, "schema", "openAPIV3Schema")
				return openAPI
			}
		}
	}
	return nil
}
