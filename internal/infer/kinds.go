package infer

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// table finds kinds by the words of keys.
type table struct {
	kinds *object.Kinds
	named map[string][]kind // by the kind in lower case
	// groups are the custom kinds of a group.
	groups map[string][]kind
}

// kind is a possible target of a reference.
type kind struct {
	schema.GroupKind
	namespaced, custom bool
}

func newTable(kinds *object.Kinds) *table {
	t := &table{kinds: kinds, named: make(map[string][]kind, len(kinds.All())), groups: map[string][]kind{}}
	for _, r := range kinds.All() {
		name := strings.ToLower(r.Kind)
		k := kindOf(r)
		t.named[name] = append(t.named[name], k)
		if k.custom {
			t.groups[k.Group] = append(t.groups[k.Group], k)
		}
	}
	return t
}

// Kinds that a key may name in any group.
var (
	secret         = core("Secret")
	configMap      = core("ConfigMap")
	service        = core("Service")
	serviceAccount = core("ServiceAccount")
	claim          = core("PersistentVolumeClaim")
	node           = core("Node")
	storageClass   = kind{GroupKind: schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}}
	priorityClass  = kind{GroupKind: schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}}
	runtimeClass   = kind{GroupKind: schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}}
	ingressClass   = kind{GroupKind: schema.GroupKind{Group: "networking.k8s.io", Kind: "IngressClass"}}
)

func core(name string) kind {
	return kind{GroupKind: schema.GroupKind{Kind: name}, namespaced: name != "Node"}
}

func kindOf(r object.Resource) kind { return kind{r.GroupKind(), r.Namespaced, r.Custom} }

// stems are suffixes of stems for a built-in kind: tlsSecret has one.
var stems = [...]struct {
	stem string
	kind kind
}{
	{"secret", secret},
	{"configmap", configMap},
	{"serviceaccount", serviceAccount},
	{"service", service},
	{"persistentvolumeclaim", claim},
	{"volumeclaim", claim},
	{"pvc", claim},
	{"storageclass", storageClass},
	{"priorityclass", priorityClass},
	{"runtimeclass", runtimeClass},
	{"ingressclass", ingressClass},
}

// builtIn returns the built-in kind that a stem ends in.
func builtIn(stem string) (kind, bool) {
	for i := range stems {
		if strings.HasSuffix(stem, stems[i].stem) {
			return stems[i].kind, true
		}
	}
	switch stem {
	case "claim", "existingclaim":
		return claim, true
	case "node":
		return node, true
	}
	return kind{}, false
}

// keyOf returns the kind if a stem is a key in it, or its write target: passwordSecretKey,
// writeConnectionSecretTo.
func keyOf(stem string) (kind, bool) {
	switch {
	case strings.HasSuffix(stem, "secretkey"), strings.HasSuffix(stem, "secretto"):
		return secret, true
	case strings.HasSuffix(stem, "configmapkey"):
		return configMap, true
	}
	return kind{}, false
}

// find returns the kind that a stem names for an object of the group: that of the group, or else of
// the group above it (aws.example.com for ec2.aws.example.com), or else the only one that exists,
// unless many systems use the word.
func (t *table) find(stem, group string) (kind, bool) {
	all := t.named[stem]
	if len(all) == 0 {
		return kind{}, false
	}
	if r, ok := near(all, group); ok {
		return r, true
	}
	if len(all) == 1 && !common(stem) {
		return all[0], true
	}
	return kind{}, false
}

// own returns the kind of the object's own group that a whole word names. A built-in kind, or a
// word for something internal to systems, has precedence.
func (w *walker) own(word string) (kind, bool) {
	mine := w.groups[w.self.Group]
	i := slices.IndexFunc(mine, func(k kind) bool { return strings.EqualFold(k.Kind, word) })
	if i < 0 {
		return kind{}, false
	}
	stem := strings.ToLower(word)
	if inner(stem) || slices.ContainsFunc(w.named[stem], func(k kind) bool { return !k.custom }) {
		return kind{}, false
	}
	return mine[i], true
}

// like returns the kind of the object's own group that the stem of a reference refers to: the one
// that it names, or the only one with it as its last words (projectRef, of an AtlasProject), or the
// one that it calls a cluster (kafkaClusterRef, of a Kafka).
func (t *table) like(stem string, self object.Ref) (kind, bool) {
	in := func(k kind) bool { return k.Group == self.Group && k.custom }
	if i := slices.IndexFunc(t.named[stem], in); i >= 0 {
		return t.named[stem][i], true
	}
	switch stem {
	case "target", "scaletarget", "policytarget", "object", "resource", "local":
		return kind{}, false
	}
	found, n := kind{}, 0
	for _, k := range t.groups[self.Group] {
		at := len(k.Kind) - len(stem)
		if at > 0 && k.Kind != self.Kind && k.Kind[at] >= 'A' && k.Kind[at] <= 'Z' && strings.EqualFold(k.Kind[at:], stem) {
			found = k
			n++
		}
	}
	if base, ok := strings.CutSuffix(stem, "cluster"); ok && n == 0 {
		if i := slices.IndexFunc(t.named[base], in); i >= 0 {
			return t.named[base][i], true
		}
	}
	return found, n == 1
}

// near returns the kind of the group, or the only one of a group above it.
func near(all []kind, group string) (kind, bool) {
	if i := slices.IndexFunc(all, func(k kind) bool { return k.Group == group }); i >= 0 {
		return all[i], true
	}
	found, n := kind{}, 0
	for _, r := range all {
		if strings.IndexByte(r.Group, '.') > 0 && strings.HasSuffix(group, r.Group) && group[len(group)-len(r.Group)-1] == '.' {
			found = r
			n++
		}
	}
	return found, n == 1
}

// statedKind returns the kind that a reference gives itself. Without a group it is one of the group
// of the object, or a built-in one, or the only one of its name.
func (t *table) statedKind(name string, group *string, own string) (kind, bool) {
	if group != nil {
		r, ok := t.kinds.Kind(schema.GroupKind{Group: *group, Kind: name})
		return kindOf(r), ok
	}
	all := t.named[strings.ToLower(name)]
	all = slices.DeleteFunc(slices.Clone(all), func(k kind) bool { return k.Kind != name })
	if r, ok := near(all, own); ok {
		return r, true
	}
	if i := slices.IndexFunc(all, func(k kind) bool { return !k.custom }); i >= 0 {
		return all[i], true
	}
	if len(all) == 1 {
		return all[0], true
	}
	return kind{}, false
}

// common reports kinds whose names many systems use for things of their own.
func common(stem string) bool {
	_, found := slices.BinarySearch(commonStems[:], stem)
	return found
}

var commonStems = [...]string{
	"account", "addon", "agent", "alert", "api", "app", "application", "backend", "backup", "binding", "broker", "bucket", "build", "catalog", "certificate",
	"channel", "chart", "check", "class", "client", "cluster", "collection", "component", "config", "configuration", "connection", "connector", "consumer", "container",
	"content", "context", "controller", "credential", "dashboard", "database", "dataset", "datasource", "deployment", "device", "disk", "domain", "endpoint", "engine", "environment", "event",
	"export", "feature", "file", "filter", "folder", "function", "gateway", "grant", "group", "handler", "health", "host", "image", "import", "index", "input", "instance",
	"integration", "issuer", "item", "job", "key", "label", "license", "listener", "log", "machine", "manager", "member", "message", "metric", "model", "module", "monitor",
	"namespace", "network", "node", "object", "operation", "operator", "organization", "output", "owner", "package", "parameter", "parent", "peer", "permission", "pipeline",
	"plan", "plugin", "pod", "policy", "pool", "port", "prefix", "process", "profile", "project", "provider", "proxy", "query", "queue", "quota", "realm", "record", "region",
	"registry", "release", "replica", "report", "repository", "request", "resource", "restore", "result", "role", "route", "router", "rule", "run", "runner", "runtime", "scan",
	"schedule", "schema", "scope", "script", "server", "service", "session", "shard", "sink", "site", "snapshot", "source", "stack", "stage", "step", "storage", "store",
	"stream", "subject", "subnet", "subscription", "table", "target", "task", "team", "template", "tenant", "test", "token", "topic", "topology", "trigger", "type", "user",
	"validator", "variable", "version", "view", "volume", "webhook", "worker", "workflow", "workload", "workspace", "zone",
}

// inner reports words for things internal to systems, whose names need not be those of objects:
// userName is a login.
func inner(stem string) bool {
	_, found := slices.BinarySearch(innerStems[:], stem)
	return found
}

var innerStems = [...]string{
	"account", "bucket", "column", "container", "database", "db", "display", "domain", "event", "group", "host", "image", "index", "key", "label", "metric", "namespace", "node",
	"organization", "project", "queue", "realm", "region", "release", "repository", "resource", "role", "schema", "scope", "server", "table", "tag", "team", "topic", "type", "user", "version", "zone",
}
