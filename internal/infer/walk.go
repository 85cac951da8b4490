package infer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// maxDepth limits how deep fields are followed; real content is not deeper.
const maxDepth = 40

// walker visits the fields of one object. The work grows with the size of the object, which the
// server limits.
type walker struct {
	*table
	self object.Ref
	emit func(int, relation.Link)
	path []step
}

// step is a key, or an index if the key is empty.
type step struct {
	key   string
	index int
}

// place is the context of the walker.
type place struct {
	schema  *SchemaHints
	free    bool // in a map with arbitrary keys
	traces  bool // below a key for tracing
	outward bool // below a key for how the object is reached
	cloud   bool // below a key for storage outside of the cluster
}

// root visits an object except what is no input of its operator: its identity, and its status,
// which is output.
func (w *walker) root(fields map[string]any, d *SchemaHints) {
	for key, v := range fields {
		switch key {
		case "apiVersion", "kind", "metadata", "status":
		default:
			w.value(key, v, fields, place{schema: d.field(key)})
		}
	}
}

// value reads the value of a key of an object.
func (w *walker) value(key string, v any, in map[string]any, at place) {
	switch v := v.(type) {
	case string:
		w.push(step{key: key})
		w.text(key, v, in, at)
		w.pop()
	case map[string]any:
		if len(v) == 0 || skipped(key) || isManifest(v) || len(w.path) > maxDepth {
			return
		}
		w.push(step{key: key})
		at.enter(key)
		if !w.referred(key, v, at) {
			w.fields(v, in, at)
		}
		w.pop()
	case []any:
		// A list under metadata is not an object's metadata: Dapr's are properties.
		if len(v) == 0 || skipped(key) && key != "metadata" || len(w.path) > maxDepth {
			return
		}
		w.push(step{key: key})
		at.enter(key)
		w.list(key, v, in, at)
		w.pop()
	}
}

// list reads the items of a list under a key.
func (w *walker) list(key string, list []any, in map[string]any, at place) {
	at.schema = at.schema.item()
	for i := range list {
		w.push(step{index: i})
		switch v := list[i].(type) {
		case string:
			w.text(key, v, in, at)
		case map[string]any:
			if !isManifest(v) && !w.referred(key, v, at) {
				w.fields(v, nil, at)
			}
		case []any:
			if len(w.path) <= maxDepth {
				w.list(key, v, in, at)
			}
		}
		w.pop()
	}
}

// fields reads the fields of an object, parts of pods first: what belongs to one is not read again.
func (w *walker) fields(m, parent map[string]any, at place) {
	keys := w.podParts(m, parent)
	schema := at.schema
	for key, v := range m {
		if !keys.has(key) {
			at.schema, at.free = schema.field(key), schema != nil && schema.Free
			w.value(key, v, m, at)
		}
	}
}

// enter records what a key implies for everything below it.
func (p *place) enter(key string) {
	p.traces = p.traces || relation.IsTracing(key)
	p.outward = p.outward || outward(key)
	p.cloud = p.cloud || cloud(key)
}

// excludes reports whether a name here cannot be one of the kind, or is not needed: a program's
// name in its traces, peers, a storage class outside of the cluster.
func (p *place) excludes(k kind) bool {
	return (p.traces || p.outward) && k == service || p.cloud && k == storageClass
}

// text reads a text: the name of an object, or a host.
func (w *walker) text(key, v string, in map[string]any, at place) {
	if v == "" {
		return
	}
	if at.free {
	} else if validName(v) {
		if k, ok := w.textKind(key, at); ok {
			namespace := ""
			if k.namespaced {
				namespace = w.siblingNamespace(key, in)
			}
			w.link(reference, k, namespace, v, false)
			return
		}
	} else if namespace, name, ok := strings.Cut(v, "/"); ok && validLabel(namespace) && validName(name) {
		if form, stem := formOf(key); form == refForm {
			if k, ok := w.refKind(stem); ok && k.namespaced {
				w.link(reference, k, namespace, name, false)
				return
			}
		}
	}
	if at.outward || at.traces || !mayBeHost(v) || !relation.SaysHost(key) {
		return
	}
	relation.FieldHosts(key, v, w.self.Namespace, hasPort(in), func(namespace, name, shown string) {
		if namespace == "" {
			return
		}
		w.emit(host, relation.Link{
			Target: relation.Target{Kind: service.GroupKind, Namespace: namespace, Name: name, IfPresent: true},
			Field:  w.field(""), Value: shown, Inferred: true,
		})
	})
}

// textKind returns the kind that a text under the key names.
func (w *walker) textKind(key string, at place) (kind, bool) {
	if at.schema != nil && at.schema.To != "" {
		return builtIn(at.schema.To)
	}
	form, stem := formOf(key)
	switch form {
	case nameForm:
		if k, ok := w.own(stem); ok {
			return k, k.GroupKind != w.self.GroupKind()
		}
		if k, ok := builtIn(stem); ok {
			return k, !at.excludes(k)
		}
		if inner(stem) {
			break
		}
		k, ok := w.find(stem, w.self.Group)
		return k, ok && k.custom && k.GroupKind != w.self.GroupKind()
	case noForm:
		// solrCloud: a word that is a kind of the operator's.
		k, ok := w.own(key)
		return k, ok && !common(strings.ToLower(key)) && k.GroupKind != w.self.GroupKind()
	case refForm:
		return w.refKind(stem)
	case itself:
		if bareText(stem) || strings.HasSuffix(key, "s") && (stem == "secret" || stem == "configmap") {
			k, ok := builtIn(stem)
			return k, ok && !at.excludes(k)
		}
	}
	return kind{}, false
}

// refKind returns the kind that the stem of a reference refers to.
func (w *walker) refKind(stem string) (kind, bool) {
	switch stem {
	case "owner", "claim", "controller", "parent", "creator":
		return kind{}, false // an owner; and a claim may be of many kinds
	}
	if k, ok := keyOf(stem); ok {
		return k, true
	}
	if _, ok := builtIn(stem); !ok {
		if k, ok := w.like(stem, w.self); ok {
			return k, true
		}
	}
	if k, ok := w.find(stem, w.self.Group); ok {
		return k, true
	}
	if k, ok := builtIn(stem); ok {
		return k, true
	}
	switch stem {
	case "pod", "deployment", "statefulset", "daemonset", "job", "cronjob", "ingress", "persistentvolume":
		if i := slices.IndexFunc(w.named[stem], func(k kind) bool { return !k.custom }); i >= 0 {
			return w.named[stem][i], true
		}
	}
	// Crossplane: vpcIdRef refers to a VPC.
	if base, ok := strings.CutSuffix(stem, "id"); ok {
		if k, ok := near(w.named[base], w.self.Group); ok {
			return k, true
		}
	}
	return kind{}, false
}

// siblingNamespace returns the namespace next to a name: secretNamespace, or namespace, or that of
// the object.
func (w *walker) siblingNamespace(key string, in map[string]any) string {
	for _, end := range [...]string{"Name", "Ref"} {
		if stem, ok := strings.CutSuffix(key, end); ok {
			if ns, ok := in[stem+"Namespace"].(string); ok {
				return ns
			}
		}
	}
	if ns, ok := in["namespace"].(string); ok && ns != "" {
		return ns
	}
	return w.self.Namespace
}

// hasPort reports whether there is a port next to a host.
func hasPort(in map[string]any) bool {
	for key, v := range in {
		if n := len(key) - len("port"); n >= 0 && strings.EqualFold(key[n:], "port") {
			switch v.(type) {
			case string, int64, float64:
				return true
			}
		}
	}
	return false
}

// link emits a valid reference.
func (w *walker) link(rule int, k kind, namespace, name string, optional bool, suffix ...string) {
	switch {
	case !validName(name):
		return
	case !k.namespaced:
		namespace = ""
	case !validLabel(namespace):
		return // a cluster-scoped object that gives no namespace
	}
	if k == service && !validLabel(name) {
		return
	}
	if (object.Ref{Group: k.Group, Kind: k.Kind, Namespace: namespace, Name: name}) == w.self {
		return
	}
	last := ""
	if len(suffix) > 0 {
		last = suffix[0]
	}
	w.emit(rule, relation.Link{
		Target: relation.Target{Kind: k.GroupKind, Namespace: namespace, Name: name, IfPresent: true},
		Field:  w.field(last), Value: name, Optional: optional, Inferred: true,
	})
}

func (w *walker) push(s step) { w.path = append(w.path, s) }
func (w *walker) pop()        { w.path = w.path[:len(w.path)-1] }

// field returns the path of the walker, and of a field below it.
func (w *walker) field(suffix string) string {
	var b strings.Builder
	for i, s := range w.path {
		switch {
		case s.key == "":
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(s.index))
			b.WriteByte(']')
		case plainKey(s.key):
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.key)
		default:
			b.WriteByte('[')
			b.WriteString(s.key)
			b.WriteByte(']')
		}
	}
	if suffix != "" {
		b.WriteByte('.')
		b.WriteString(suffix)
	}
	return b.String()
}

// plainKey reports whether a key needs no brackets in a path.
func plainKey(key string) bool {
	return strings.IndexFunc(key, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}) < 0
}
