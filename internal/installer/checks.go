package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// reviewPermissions adds a refusal for each permission that the plan needs and the user lacks.
func (p *Plan) reviewPermissions(ctx context.Context) error {
	if len(p.Planned.Steps) == 0 || p.req.DryRun == DryRunClient {
		return nil
	}
	escalations := install.Escalations(p.Planned)
	rights := install.Permissions(p.Planned, p.state, p.kinds)
	reviewed := slices.Clone(rights)
	for _, e := range escalations {
		reviewed = append(reviewed, e.Or...)
	}
	missing, notes, err := p.review(ctx, reviewed)
	if err != nil {
		return err
	}
	p.note(notes...)
	var lacking, required []permission.Permission
	for _, m := range missing {
		lacks := m.Permission
		lacks.Optional = false
		lacking = append(lacking, lacks)
		if slices.Contains(rights, lacks) {
			required = append(required, lacks)
		}
	}
	refused, notes := install.CheckEscalations(escalations, lacking)
	p.refuse(refused...)
	p.note(notes...)
	for _, line := range deniedLines(required) {
		p.refuse(install.Refusal{Topic: "rights", Message: line, Hint: "--print-rbac prints the roles that it needs"})
	}
	return nil
}

func (p *Plan) refuse(refusals ...install.Refusal) {
	p.Planned.Refusals = append(p.Planned.Refusals, refusals...)
}

// review returns the missing permissions, with notes about those that could not be reviewed, and
// about optional ones.
func (c *cluster) review(ctx context.Context, rights []permission.Permission) (missing []permission.Missing, notes []string, err error) {
	missing, err = permission.Review(ctx, c.config, rights)
	if unknown, ok := errors.AsType[*permission.UnknownError](err); ok {
		notes = append(notes, unknown.Error())
	} else if err != nil {
		return nil, nil, err
	}
	return missing, append(notes, permission.PodNotes(missing)...), nil
}

// deniedLines lists the missing permissions, a line for each resource of a namespace: one cause may
// cover all of its objects.
func deniedLines(missing []permission.Permission) []string {
	type group struct {
		one          permission.Permission
		verbs, names []string
	}
	var groups []*group
	for _, r := range missing {
		resource := permission.Permission{Group: r.Group, Resource: r.Resource, Subresource: r.Subresource, Namespace: r.Namespace}
		i := slices.IndexFunc(groups, func(g *group) bool { return g.one == resource })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{one: resource})
		}
		g := groups[i]
		g.verbs, g.names = append(g.verbs, r.Verb), append(g.names, r.Name)
	}
	var lines []string
	for _, g := range groups {
		slices.Sort(g.verbs)
		g.one.Verb = strings.Join(slices.Compact(g.verbs), ", ")
		names := distinct(g.names)
		if len(names) == 1 {
			g.one.Name = names[0]
		}
		lines = append(lines, fmt.Sprintf("you may not %s", g.one))
	}
	return lines
}

// checkInputs refuses a System whose inputs are missing.
func (p *Plan) checkInputs(ctx context.Context) error {
	if p.req.System == nil {
		return nil
	}
	for _, in := range p.req.System.Inputs {
		kind, name := "Secret", in.Secret
		if in.ConfigMap != "" {
			kind, name = "ConfigMap", in.ConfigMap
		}
		namespace := cmp.Or(in.Namespace, p.req.System.Namespace)
		missing, err := p.missingInput(ctx, kind, namespace, name, in.Keys)
		if err != nil {
			return err
		}
		if missing != "" {
			p.refuse(inputRefusal(in, kind, namespace, name, missing))
		}
	}
	return nil
}

func inputRefusal(in system.Input, kind, namespace, name, missing string) install.Refusal {
	resource := strings.ToLower(kind)
	if kind == "Secret" {
		resource += " generic"
	}
	help := []string{fmt.Sprintf("kubectl create %s %s -n %s", resource, name, namespace)}
	for _, k := range in.Keys {
		help = append(help, "--from-literal="+k+"=...")
	}
	message := fmt.Sprintf("the input %s/%s/%s %s", kind, namespace, name, missing)
	if in.Description != "" {
		message += " (" + in.Description + ")"
	}
	return install.Refusal{Topic: "start", Message: message, Hint: strings.Join(help, " ")}
}

// missingInput says what is missing of an input. Its data is not kept.
func (p *Plan) missingInput(ctx context.Context, kind, namespace, name string, keys []string) (string, error) {
	r, ok := p.kinds.Kind(schema.GroupKind{Kind: kind})
	if !ok {
		return "has a kind that is not served", nil
	}
	o, err := p.reader.Get(ctx, r, namespace, name)
	switch {
	case apierrors.IsNotFound(err):
		return "does not exist", nil
	case apierrors.IsForbidden(err):
		return "may not be read: existence unknown", nil
	case err != nil:
		return "", fmt.Errorf("read %s %s/%s: %w", kind, namespace, name, err)
	}
	var lacks []string
	for _, k := range keys {
		_, text, _ := unstructured.NestedFieldNoCopy(o.Object, "data", k)
		_, binary, _ := unstructured.NestedFieldNoCopy(o.Object, "binaryData", k)
		if !text && !binary {
			lacks = append(lacks, k)
		}
	}
	if len(lacks) > 0 {
		return "lacks the keys " + strings.Join(lacks, ", "), nil
	}
	return "", nil
}

// checkImages compares the platforms of the images with those of the nodes.
func (p *Plan) checkImages(ctx context.Context) error {
	platforms := map[string][]string{}
	for _, part := range p.loader.parts {
		e, _ := p.Catalogs.Find(part.Name)
		if v, ok := e.Version(part.Version); ok && !part.App {
			for _, i := range v.Images {
				if len(i.Platforms) > 0 {
					platforms[i.Image] = i.Platforms
				}
			}
		}
	}
	kind, ok := p.kinds.Kind(schema.GroupKind{Kind: "Node"})
	if len(platforms) == 0 || !ok {
		return nil
	}
	nodes, err := p.reader.ListMetadata(ctx, kind, "", "")
	if apierrors.IsForbidden(err) {
		return nil // The platforms are unknown.
	}
	if err != nil {
		return fmt.Errorf("list the nodes: %w", err)
	}
	var nodePlatforms []string
	for _, n := range nodes {
		labels := n.GetLabels()
		if os, arch := labels["kubernetes.io/os"], labels["kubernetes.io/arch"]; os != "" && arch != "" {
			nodePlatforms = append(nodePlatforms, os+"/"+arch)
		}
	}
	refused, notes := install.CheckImages(p.loader.parts, platforms, nodePlatforms)
	p.refuse(refused...)
	p.note(notes...)
	return nil
}

// noteOrigins notes releases elsewhere that claim to be an operator which is installed, and entries
// of further catalogs that replace a built-in one.
func (p *Plan) noteOrigins() {
	builtIn := catalog.Embedded()
	for _, part := range p.Planned.Parts {
		if help := p.packages.hint(part.Name); help != "" && !part.App {
			p.note(help)
		}
	}
	for _, part := range p.Planned.Parts {
		was, hides := builtIn.Find(part.Name)
		current, found := p.Catalogs.Find(part.Name)
		if !part.App && hides && found && !reflect.DeepEqual(was, current) {
			p.note(fmt.Sprintf("%s is the entry of the catalog %s, which replaces the built-in one of that name", part.Name, p.Catalogs.Origin(part.Name)))
		}
	}
}

// annotate returns the annotations for a CRD with what the catalog knows about the relationships of
// its kind; none if the CRD has annotations of its own.
func (p *Plan) annotate(d *unstructured.Unstructured) map[string]string {
	for key := range d.GetAnnotations() {
		if key == annotations.Relationships || strings.HasPrefix(key, "resource/") {
			return nil
		}
	}
	group, _, _ := unstructured.NestedString(d.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(d.Object, "spec", "names", "kind")
	self := declare.Spell(schema.GroupKind{Group: group, Kind: kind})
	for _, e := range p.Catalogs.Entries() {
		if !slices.ContainsFunc(e.Kinds, func(k catalog.Kind) bool { return k.Kind == self }) {
			continue
		}
		var specs []declare.Spec
		for _, spec := range e.Relations {
			specs = append(specs, spec.Of(self)...)
		}
		if len(specs) > 0 {
			return map[string]string{annotations.Relationships: declare.Format(specs, self)}
		}
		return map[string]string{}
	}
	return nil
}
