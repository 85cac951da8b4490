package system

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// need notes an input.
func (e *exporter) need(kind, namespace, name string, keys []string, description string) {
	if name == "" || len(name) > 253 || !subdomain.MatchString(name) || namespace != "" && !isLabel(namespace) {
		return
	}
	namespace = cmp.Or(namespace, e.from.Namespace)
	if kind == "Secret" && e.from.Made[namespace+"/"+name] {
		return
	}
	in := &Input{Keys: slices.Clone(keys), Description: description}
	if kind == "Secret" {
		in.Secret = name
	} else {
		in.ConfigMap = name
	}
	if namespace != e.from.Namespace {
		in.Namespace = namespace
	}
	id := kind + "/" + namespace + "/" + name
	if e.inputOf == nil {
		e.inputOf = map[string]*Input{}
	}
	if was := e.inputOf[id]; was != nil {
		in.Keys = append(in.Keys, was.Keys...)
		in.Description = cmp.Or(was.Description, in.Description)
	}
	e.inputOf[id] = in
}

// inputs writes what is needed, in order.
func (e *exporter) inputs() {
	for _, in := range e.from.Inputs {
		kind, name := "Secret", in.Secret
		if in.ConfigMap != "" {
			kind, name = "ConfigMap", in.ConfigMap
		}
		e.need(kind, in.Namespace, name, in.Keys, in.Description)
	}
	for _, id := range slices.Sorted(maps.Keys(e.inputOf)) {
		in := *e.inputOf[id]
		in.Keys = slices.DeleteFunc(in.Keys, func(key string) bool { return oneLine(key) != key || strings.TrimSpace(key) == "" })
		slices.Sort(in.Keys)
		in.Keys = slices.Compact(in.Keys)
		e.sys.Inputs = append(e.sys.Inputs, in)
	}
}

// secretsOf finds the Secrets that the pods of an object read, and what it shows itself by.
func (e *exporter) secretsOf(o *unstructured.Unstructured) {
	reader := "read by " + rootOf(o).String()
	secret := func(holder any, nameField string, keys ...string) {
		fields, _ := holder.(map[string]any)
		name, _ := fields[nameField].(string)
		if optional, _ := fields["optional"].(bool); !optional {
			e.need("Secret", o.GetNamespace(), name, keys, reader)
		}
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if from, ok := v["secretKeyRef"].(map[string]any); ok {
				key, _ := from["key"].(string)
				secret(from, "name", key)
			}
			secret(v["secretRef"], "name")
			if volume, ok := v["secret"].(map[string]any); ok {
				secret(volume, "secretName", itemKeys(volume)...)
				secret(volume, "name", itemKeys(volume)...)
			}
			pulls, _ := v["imagePullSecrets"].([]any)
			for _, p := range pulls {
				secret(p, "name", ".dockerconfigjson")
			}
			for _, child := range v {
				walk(child)
			}
		case []any:
			for _, child := range v {
				walk(child)
			}
		}
	}
	switch o.GroupVersionKind().Group {
	case "", "apps", "batch":
		walk(o.Object)
	case "networking.k8s.io":
		tls, _, _ := unstructured.NestedSlice(o.Object, "spec", "tls")
		for _, t := range tls {
			secret(t, "secretName", "tls.crt", "tls.key")
		}
	}
}

func itemKeys(volume map[string]any) []string {
	var out []string
	items, _ := volume["items"].([]any)
	for _, i := range items {
		fields, _ := i.(map[string]any)
		if key, _ := fields["key"].(string); key != "" {
			out = append(out, key)
		}
	}
	return out
}

var (
	credentialName = lazyregexp.New(`(?i)(passw(or)?d|passphrase|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credential|(^|[-_.])pwd($|[-_.]))`)
	// reference are names that say where a credential is, and not what.
	reference = lazyregexp.New(`(?i)(name|ref|refs|file|path|dir|namespace|kind|class|enabled|url|uri|ttl|expir[a-z]*|expirationseconds|audience|automount[a-z]*|create|type|version|selector|policy|mode|size|length|count|max|min|user|provider)$`)
	// withPassword is a user with a password before the host of an address.
	withPassword = lazyregexp.New(`[A-Za-z][A-Za-z0-9+.-]*://[^/\s:@]*:[^/\s@$][^/\s@]*@`)
	privateKey   = lazyregexp.New(`-----BEGIN ([A-Z]+ )*PRIVATE KEY-----`)
	// flag is an argument that carries a value: --password=x, -token x, PGPASSWORD=x.
	flag = lazyregexp.New(`(?s)^-{0,2}([A-Za-z][A-Za-z0-9._-]*)=(.+)$`)
)

// credentials warns of fields that look like credentials, without their values.
func (e *exporter) credentials(ref string, o *unstructured.Unstructured) {
	s := suspects{e, ref}
	for _, key := range slices.Sorted(maps.Keys(o.Object)) {
		if key != "apiVersion" && key != "kind" {
			s.look(key, key, o.Object[key])
		}
	}
}

type suspects struct {
	e   *exporter
	ref string
}

func (s suspects) warn(at, reason string) {
	s.e.notice(s.ref, at, "%s: check it before you pass the manifest on; use a Secret under spec.inputs instead", reason)
}

// look goes through a value; name is that of the field, or of the variable, that it is of.
func (s suspects) look(at, name string, v any) {
	switch v := v.(type) {
	case map[string]any:
		variable, _ := v["name"].(string)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			called := key
			if key == "value" && variable != "" {
				called = variable
			}
			s.look(field.Join(at, key), called, v[key])
		}
	case []any:
		for i, item := range v {
			place := field.Item(at, i)
			text, isText := item.(string)
			if isText && i > 0 {
				// --password x: the argument before says what it is.
				before, _ := v[i-1].(string)
				if strings.HasPrefix(before, "-") && !strings.HasPrefix(text, "-") && !strings.Contains(before, "=") && called(strings.TrimLeft(before, "-")) {
					s.warn(place, "it follows "+before+", and looks like a credential")
					continue
				}
			}
			s.look(place, "", item)
		}
	case string:
		s.text(at, name, v)
	}
}

func (s suspects) text(at, name, text string) {
	switch m := flag.FindStringSubmatch(text); {
	case withPassword.MatchString(text):
		s.warn(at, "it contains an address with a password")
	case privateKey.MatchString(text):
		s.warn(at, "it contains a private key")
	case called(name) && looksLikeCredential(text):
		s.warn(at, name+" looks like a credential")
	case m != nil && called(m[1]) && looksLikeCredential(m[2]) && name == "":
		s.warn(at, m[1]+" looks like a credential")
	}
}

// called says whether a name is that of a credential.
func called(name string) bool {
	return credentialName.MatchString(name) && !reference.MatchString(name)
}

// looksLikeCredential says whether a text can be a credential: a reference to a variable is none, nor is
// yes or no.
func looksLikeCredential(text string) bool {
	variable := strings.HasPrefix(text, "$(") && strings.HasSuffix(text, ")")
	return text != "" && !variable && !slices.Contains([]string{"true", "false"}, text)
}
