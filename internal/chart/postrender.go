package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// PostRenderer is called by Helm before it creates its objects (action.Install.PostRenderer). It
// changes them as Render did for the plan, removes the definitions and namespaces, and refuses a
// set that differs from the plan. It requires hooks and objects in one stream
// (action.PostRenderStrategyCombined, Helm's default), and an action with SkipCRDs and
// SkipSchemaValidation.
type PostRenderer struct {
	opts    Options
	planned *Rendered
	crds    []document
}

// NewPostRenderer returns the post-renderer of a chart that was rendered with the options.
// Options.Set may have other values than in the plan.
func NewPostRenderer(c *Chart, opts Options, planned *Rendered) *PostRenderer {
	opts.Bounds = opts.Bounds.whole()
	p := &PostRenderer{opts: opts, planned: planned}
	for _, d := range planned.Definitions {
		p.crds = append(p.crds, document{template: c.Name() + ": CRD " + d.GetName(), object: d})
	}
	return p
}

// Run reads a stream of objects that are annotated with their templates, and returns the objects of
// the release, as they are to be created.
func (p *PostRenderer) Run(stream *bytes.Buffer) (*bytes.Buffer, error) {
	docs, files, err := p.read(stream.String())
	if err != nil {
		return nil, fmt.Errorf("read the rendered objects of the chart: %w", err)
	}
	// Scopes are those of the plan: the stream lacks the definitions of crds/.
	asked, own := p.opts.Namespaced, ownScopes(p.crds)
	opts := p.opts
	opts.Namespaced = scopes{asked: asked, own: own}.scopeOf
	parted, err := part(docs, nil, opts)
	if err != nil {
		return nil, err
	}
	if err := p.compare(parted.out.Emitted); err != nil {
		return nil, err
	}
	if err := p.compareRoles(parted.kept); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, d := range parted.kept {
		if file := files[d.template]; file != "" {
			annotate(d.object, map[string]string{filenameAnnotation: file})
		}
		text, err := yaml.Marshal(d.object.Object)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d, err)
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return &out, nil
}

// read reads the stream and removes the annotations, which it returns by the names of documents.
func (p *PostRenderer) read(stream string) ([]document, map[string]string, error) {
	docs, err := readFile("the objects of the release", stream, growth())
	if err != nil {
		return nil, nil, err
	}
	files := map[string]string{}
	numbers := map[string]int{}
	for i, d := range docs {
		a := d.object.GetAnnotations()
		file := a[filenameAnnotation]
		if file == "" {
			continue
		}
		delete(a, filenameAnnotation)
		if len(a) == 0 {
			a = nil
		}
		d.object.SetAnnotations(a)
		numbers[file]++
		docs[i].template, docs[i].number = file, numbers[file]
		files[file] = file
	}
	return docs, files, nil
}

// compare refuses a set of objects that differs from the plan.
func (p *PostRenderer) compare(emitted []Object) error {
	var added, less []string
	for _, e := range emitted {
		if _, ok := slices.BinarySearchFunc(p.planned.Emitted, e, compareEmitted); !ok {
			added = append(added, e.String())
		}
	}
	for _, e := range p.planned.Emitted {
		if _, ok := slices.BinarySearchFunc(emitted, e, compareEmitted); !ok {
			less = append(less, e.String())
		}
	}
	if added == nil && less == nil {
		return nil
	}
	var parts []string
	if added != nil {
		parts = append(parts, "it now has "+listNames(added)+", which was not planned")
	}
	if less != nil {
		parts = append(parts, "it lacks "+listNames(less)+", which was planned")
	}
	return fmt.Errorf("the chart does not render the planned objects: %s: its templates depend on random names, on the time or on the cluster; set the values that they use", strings.Join(parts, "; "))
}

// compareRoles refuses permissions that differ from the plan, which were reviewed. Other fields may
// differ each time (passwords, certificates).
func (p *PostRenderer) compareRoles(docs []document) error {
	planned := map[string]string{}
	granting := func(o *unstructured.Unstructured) (key, text string, ok bool) {
		if o.GroupVersionKind().Group != rbacv1.GroupName {
			return "", "", false
		}
		rights := map[string]any{}
		for _, f := range []string{"rules", "roleRef", "subjects", "aggregationRule"} {
			if v, have := o.Object[f]; have {
				rights[f] = v
			}
		}
		data, err := json.Marshal(rights)
		if err != nil {
			return "", "", false
		}
		return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName(), string(data), true
	}
	all := slices.Clone(p.planned.Objects)
	for _, h := range p.planned.Hooks {
		all = append(all, h.Object)
	}
	for _, o := range all {
		if key, text, ok := granting(o); ok {
			planned[key] = text
		}
	}
	for _, d := range docs {
		if key, text, ok := granting(d.object); ok && planned[key] != text {
			return fmt.Errorf("the chart grants other permissions than planned: %s: its templates render differently each time; plan again, or set the values that they use", key)
		}
	}
	return nil
}

func listNames(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// String names the object, and marks a hook.
func (e Object) String() string {
	if e.Hook {
		return e.Ref.String() + " (hook)"
	}
	return e.Ref.String()
}
