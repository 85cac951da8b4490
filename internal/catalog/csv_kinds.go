package catalog

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// kinds are the definitions that it owns, with what their definitions say where those are
// among the manifests.
func (c *csv) kinds(im *Imported, objects []map[string]any) []Kind {
	var all []Kind
	for _, o := range c.Spec.Definitions.Owned {
		name := csvKindName(o.Kind, o.Name)
		if name == "" {
			im.warn("the CRD %q of %q is skipped: its name has no group", field.Shorten(o.Name), field.Shorten(o.Kind))
			continue
		}
		i := slices.IndexFunc(all, func(k Kind) bool { return k.Kind == name })
		if i < 0 {
			k := Kind{Kind: name}
			if plural, _, _ := strings.Cut(o.Name, "."); len(validation.IsDNS1035Label(plural)) == 0 {
				k.Plural = plural
			}
			all = append(all, k)
			i = len(all) - 1
		}
		k := &all[i]
		if len(validation.IsDNS1035Label(o.Version)) == 0 && !slices.Contains(k.Versions, o.Version) {
			k.Versions = append(k.Versions, o.Version)
		}
		for _, r := range o.Resources {
			part := composed(r.Kind, r.Name, r.Version)
			switch {
			case part == "":
				im.warn("the part %[2]q of %[1]s is skipped: it has no group", name, field.Shorten(oneLine(r.Kind)))
			case part != name && !slices.Contains(k.Composes, part):
				k.Composes = append(k.Composes, part)
			}
		}
	}
	for i := range all {
		all[i].defined(im, objects)
	}
	return slices.DeleteFunc(all, func(k Kind) bool {
		if len(k.Versions) == 0 {
			im.warn("%s is skipped: it has no version", k.Kind)
		}
		return len(k.Versions) == 0
	})
}

// composed is the kind of a resource, Kind.group where it is not built in; empty where its
// group is unknown.
func composed(kind, name, version string) string {
	if declare.CheckKind(kind) == "" && !strings.Contains(kind, "*") {
		return kind
	}
	if named := csvKindName(kind, name); named != "" {
		return named
	}
	group, _, ok := strings.Cut(version, "/")
	if full := kind + "." + group; ok && declare.CheckKind(full) == "" {
		return full
	}
	return ""
}

// defined takes versions and scope of a kind out of its definition.
func (k *Kind) defined(im *Imported, objects []map[string]any) {
	name, group, _ := strings.Cut(k.Kind, ".")
	for _, o := range objects {
		if o["kind"] != "CustomResourceDefinition" {
			continue
		}
		spec, _ := o["spec"].(map[string]any)
		names, _ := spec["names"].(map[string]any)
		if names["kind"] != name || spec["group"] != group {
			continue
		}
		k.ClusterScoped = spec["scope"] == "Cluster"
		if conversion, _ := spec["conversion"].(map[string]any); conversion["strategy"] == "Webhook" {
			im.warn("the CRD of %s converts its versions by a webhook, whose certificate OLM creates: provide it separately", k.Kind)
		}
		var served []string
		versions, _ := spec["versions"].([]any)
		for _, v := range versions {
			v, _ := v.(map[string]any)
			if text, _ := v["name"].(string); v["served"] == true && len(validation.IsDNS1035Label(text)) == 0 && !slices.Contains(served, text) {
				served = append(served, text)
			}
		}
		if len(served) > 0 {
			k.Versions = served
		}
		return
	}
	im.warn("the CRD of %s is missing: a ClusterServiceVersion does not have it, and the given manifests do not either; add it", k.Kind)
}

// requires are the APIs that it needs and does not provide.
func (c *csv) requires(im *Imported, own []Kind) []solve.Requirement {
	var all []solve.Requirement
	need := func(kind, version string) {
		if slices.ContainsFunc(own, func(k Kind) bool { return k.Kind == kind }) {
			return
		}
		i := slices.IndexFunc(all, func(r solve.Requirement) bool { return r.API.Kind == kind })
		if i < 0 {
			all = append(all, solve.Requirement{API: solve.API{Kind: kind}})
			i = len(all) - 1
		}
		if api := &all[i].API; len(validation.IsDNS1035Label(version)) == 0 && !slices.Contains(api.Versions, version) {
			api.Versions = append(api.Versions, version)
		}
	}
	for _, o := range c.Spec.Definitions.Required {
		if name := csvKindName(o.Kind, o.Name); name != "" {
			need(name, o.Version)
			continue
		}
		im.warn("its requirement %q of %q is skipped: its name has no group", field.Shorten(o.Name), field.Shorten(o.Kind))
	}
	for _, a := range c.Spec.APIServices.Required {
		if name := a.Kind + "." + a.Group; a.Group != "" && declare.CheckKind(name) == "" {
			need(name, a.Version)
			continue
		}
		im.warn("its required API service %q of the group %q is skipped: it is not a kind", field.Shorten(a.Kind), field.Shorten(a.Group))
	}
	return all
}

// images are those that it names, and those of its deployments.
func (c *csv) images(im *Imported) []Image {
	var all []Image
	add := func(text string) {
		if text == "" || slices.ContainsFunc(all, func(i Image) bool { return i.Image == text }) {
			return
		}
		if len(text) > maxTextBytes || !imageReference().MatchString(text) {
			im.warn("the image %q is skipped: it is not a reference", field.Shorten(text))
			return
		}
		all = append(all, Image{Image: text})
	}
	for _, r := range c.Spec.RelatedImages {
		add(r.Image)
	}
	for _, d := range c.Spec.Install.Spec.Deployments {
		for _, list := range []string{"initContainers", "containers"} {
			n := lookupNode(&d.Spec, "template", "spec", list)
			if n == nil {
				continue
			}
			for _, container := range n.Content {
				add(textOf(container, "image"))
			}
		}
	}
	return all
}

// lookupNode follows the keys of mappings; it returns nil if one does not exist.
func lookupNode(n *yaml.Node, keys ...string) *yaml.Node {
	for _, k := range keys {
		if n = strict.Value(n, k); n == nil {
			return nil
		}
	}
	return n
}

// examples are those of the annotation alm-examples that are of its kinds.
func (c *csv) examples(im *Imported, kinds []Kind) []string {
	text := c.Metadata.Annotations["alm-examples"]
	if strings.TrimSpace(text) == "" {
		return nil
	}
	root, problem := strict.Document([]byte(text))
	if problem != nil || root == nil || root.Kind != yaml.SequenceNode || !plainYAML(root, maxDepth) {
		im.warn("the examples are skipped: the annotation alm-examples is not a list of objects")
		return nil
	}
	var all []string
	for _, o := range root.Content {
		wrong := "it is not an object"
		if o.Kind == yaml.MappingNode {
			wrong = notExample(o, provided(kinds, &Version{}))
		}
		var written []byte
		if wrong == "" {
			if value := plainObject(o); value != nil {
				written, _ = strict.Encode(strict.ValueNode(value))
			}
		}
		switch {
		case wrong != "":
			im.warn("an example is skipped: %s", wrong)
		case len(written) == 0 || len(written) > maxExampleBytes:
			im.warn("an example of %s is skipped: it is too large, or has values that JSON does not support", textOf(o, "kind"))
		case len(all) < maxItems:
			all = append(all, string(written))
		}
	}
	return all
}

// plainObject is a mapping as values of JSON; nil where it has others.
func plainObject(n *yaml.Node) map[string]any {
	m := &strict.Mapping{}
	o, _ := free(m, n).(map[string]any)
	if len(m.Problems) > 0 {
		return nil
	}
	return o
}
