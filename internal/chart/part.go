package chart

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// filenameAnnotation gives the template of an object in the stream of a post-renderer.
const filenameAnnotation = "postrenderer.helm.sh/postrender-filename"

// splitter splits the output of templates, for plans and for runs.
type splitter struct {
	opts   Options
	scopes scopes
	out    *Rendered
	// kept are the documents of the release: objects and hooks, in their order.
	kept []document
	// seen are the documents of regular objects by reference.
	seen map[object.Ref]document
	// set are those whose values were written.
	set map[object.Ref]bool
}

// part splits documents. crds are the definitions in crds/.
func part(docs, crds []document, opts Options) (*splitter, error) {
	p := &splitter{opts: opts, out: &Rendered{}, seen: map[object.Ref]document{}, set: map[object.Ref]bool{}}
	if len(docs)+len(crds) > opts.Bounds.Objects {
		return nil, fmt.Errorf("it has %d objects: at most %d are accepted", len(docs)+len(crds), opts.Bounds.Objects)
	}
	p.scopes = scopes{asked: opts.Namespaced, own: ownScopes(slices.Concat(crds, docs))}
	for _, d := range slices.Concat(crds, docs) {
		if err := checkObject(d); err != nil {
			return nil, err
		}
	}
	for _, d := range crds {
		if !isDefinition(d.object) {
			return nil, fmt.Errorf("%s: a %s is in crds/, which may have only CustomResourceDefinitions", d, d.object.GetKind())
		}
		if err := p.definition(d); err != nil {
			return nil, err
		}
	}
	for _, d := range docs {
		if err := p.one(d); err != nil {
			return nil, err
		}
	}
	for ref := range opts.Set {
		if !p.set[ref] {
			return nil, fmt.Errorf("cannot set a value of %s: the chart does not have it", ref)
		}
	}
	p.sort()
	return p, nil
}

// checkObject returns an error for an incomplete object.
func checkObject(d document) error {
	for _, field := range []string{"apiVersion", "kind"} {
		if s, _, err := unstructured.NestedString(d.object.Object, field); err != nil || s == "" {
			return fmt.Errorf("%s: it has no %s", d, field)
		}
	}
	meta, ok := d.object.Object["metadata"].(map[string]any)
	if !ok {
		return fmt.Errorf("%s: the %s has no metadata", d, d.object.GetKind())
	}
	if name, ok := meta["name"].(string); !ok || name == "" {
		return fmt.Errorf("%s: the %s has no metadata.name", d, d.object.GetKind())
	}
	if ns, ok := meta["namespace"]; ok && ns != nil {
		if _, ok := ns.(string); !ok {
			return fmt.Errorf("%s: metadata.namespace of %s is not a string: put it in quotes", d, object.RefOf(d.object))
		}
	}
	for _, field := range []string{"labels", "annotations"} {
		v := meta[field]
		if v == nil {
			continue
		}
		m, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: metadata.%s of %s is not a mapping", d, field, object.RefOf(d.object))
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if m[k] == nil {
				delete(m, k)
				continue
			}
			if _, ok := m[k].(string); !ok {
				return fmt.Errorf("%s: metadata.%s of %s: the value of %s is not a string: put it in quotes", d, field, object.RefOf(d.object), k)
			}
		}
	}
	return nil
}

func (p *splitter) one(d document) error {
	o := d.object
	if isDefinition(o) {
		p.emit(o, false)
		return p.definition(d)
	}
	if isNamespace(o) {
		p.emit(o, false)
		p.mark(o)
		if err := p.claim(d); err != nil {
			return err
		}
		p.out.Namespaces = append(p.out.Namespaces, o)
		return nil
	}
	p.place(d)
	p.mark(o)
	if p.opts.ImageRegistry != "" {
		RewriteImages(o, p.opts.ImageRegistry)
	}
	if err := p.connect(d); err != nil {
		return err
	}
	events, isHook := o.GetAnnotations()[releasev1.HookAnnotation]
	if isHook {
		return p.hook(d, events)
	}
	p.emit(o, false)
	p.kept = append(p.kept, d)
	p.out.Objects = append(p.out.Objects, o)
	return p.claim(d)
}

func (p *splitter) emit(o *unstructured.Unstructured, hook bool) {
	p.out.Emitted = append(p.out.Emitted, Object{Ref: object.RefOf(o), Hook: hook})
}

// claim refuses a second document of the same object.
func (p *splitter) claim(d document) error {
	ref := object.RefOf(d.object)
	if first, ok := p.seen[ref]; ok {
		return fmt.Errorf("%s occurs twice: in %s, and in %s", ref, first, d)
	}
	p.seen[ref] = d
	return nil
}

// definition records a definition. One that is in crds/ and in a template with equal content counts
// once.
func (p *splitter) definition(d document) error {
	ref := object.RefOf(d.object)
	if first, ok := p.seen[ref]; ok && sameSpec(first.object, d.object) && first.template != d.template {
		return nil
	}
	p.mark(d.object)
	p.out.Definitions = append(p.out.Definitions, d.object)
	return p.claim(d)
}

func (p *splitter) mark(o *unstructured.Unstructured) {
	annotate(o, p.opts.Annotations)
	if len(p.opts.Labels) > 0 {
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		maps.Copy(labels, p.opts.Labels)
		o.SetLabels(labels)
	}
}

func annotate(o *unstructured.Unstructured, annotations map[string]string) {
	if len(annotations) == 0 {
		return
	}
	a := o.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	maps.Copy(a, annotations)
	o.SetAnnotations(a)
}

// place sets the namespace of the release on a namespaced object without one.
func (p *splitter) place(d document) {
	namespaced, known := p.scopes.scopeOf(d.object.GroupVersionKind().GroupKind())
	switch {
	case !known:
		if d.object.GetNamespace() == "" {
			p.out.Warnings = append(p.out.Warnings, fmt.Sprintf("%s: the scope of a %s is unknown", d, d.object.GetKind()))
		}
	case namespaced && d.object.GetNamespace() == "":
		d.object.SetNamespace(p.opts.Namespace)
	case !namespaced:
		unstructured.RemoveNestedField(d.object.Object, "metadata", "namespace")
	}
}

func (p *splitter) hook(d document, annotation string) error {
	h := Hook{Object: d.object}
	a := d.object.GetAnnotations()
	tests := 0
	for event := range strings.SplitSeq(annotation, ",") {
		event = strings.ToLower(strings.TrimSpace(event))
		if event == "test-success" {
			event = "test"
		}
		if !knownEvent(event) {
			p.out.Warnings = append(p.out.Warnings, fmt.Sprintf("%s: %s is a hook of the kind %q, which Helm does not know: it is skipped", d, object.RefOf(d.object), event))
			return nil
		}
		if event == "test" {
			tests++
		}
		h.Events = append(h.Events, event)
	}
	if w, err := strconv.Atoi(a[releasev1.HookWeightAnnotation]); err == nil {
		h.Weight = w
	}
	if policies, ok := a[releasev1.HookDeleteAnnotation]; ok {
		for policy := range strings.SplitSeq(policies, ",") {
			h.Deletes = append(h.Deletes, strings.ToLower(strings.TrimSpace(policy)))
		}
	}
	p.emit(d.object, true)
	p.kept = append(p.kept, d)
	if tests == len(h.Events) {
		p.out.Tests = append(p.out.Tests, h)
		return nil
	}
	p.out.Hooks = append(p.out.Hooks, h)
	return nil
}

func knownEvent(event string) bool {
	switch releasev1.HookEvent(event) {
	case releasev1.HookPreInstall, releasev1.HookPostInstall, releasev1.HookPreDelete, releasev1.HookPostDelete,
		releasev1.HookPreUpgrade, releasev1.HookPostUpgrade, releasev1.HookPreRollback, releasev1.HookPostRollback, releasev1.HookTest:
		return true
	}
	return false
}

// sort sorts objects and hooks in Helm's order.
func (p *splitter) sort() {
	rank := map[string]int{}
	for i, kind := range releaseutil.InstallOrder {
		rank[kind] = i
	}
	byKind := func(a, b *unstructured.Unstructured) int {
		x, known := rank[a.GetKind()]
		y, ranked := rank[b.GetKind()]
		switch {
		case known && ranked:
			return cmp.Compare(x, y)
		case known:
			return -1
		case ranked:
			return 1
		}
		return cmp.Compare(a.GetKind(), b.GetKind())
	}
	slices.SortStableFunc(p.out.Objects, byKind)
	hooks := func(a, b Hook) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Object.GetName(), b.Object.GetName()), byKind(a.Object, b.Object))
	}
	slices.SortStableFunc(p.out.Hooks, hooks)
	slices.SortStableFunc(p.out.Tests, hooks)
	slices.SortFunc(p.out.Emitted, compareEmitted)
	p.out.Emitted = slices.Compact(p.out.Emitted)
	p.out.Images = images(p.out)
}

func compareEmitted(a, b Object) int {
	if a.Hook != b.Hook {
		if a.Hook {
			return 1
		}
		return -1
	}
	return object.Compare(a.Ref, b.Ref)
}
