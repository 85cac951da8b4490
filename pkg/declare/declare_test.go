package declare_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

var kinds = func() *object.Kinds {
	var all []object.Resource
	for _, k := range []string{
		"/Secret", "/ConfigMap", "/Service", "/Pod", "apps/Deployment", "networking.k8s.io/Ingress",
		"x.io/App", "x.io/Part", "y.io/App", "cert-manager.io/Issuer", "cert-manager.io/ClusterIssuer.", "/Namespace.", "x.io/Fleet.",
	} {
		group, kind, _ := strings.Cut(k, "/")
		name, cluster := strings.CutSuffix(kind, ".")
		all = append(all, object.Resource{Group: group, Kind: name, Version: "v1", Plural: strings.ToLower(name) + "s", Singular: strings.ToLower(name), Namespaced: !cluster, Custom: strings.HasSuffix(group, ".io") && !strings.HasSuffix(group, "k8s.io")})
	}
	return object.NewKinds(all)
}()

// read makes an object of "Kind[.group]/[ns/]name" and YAML.
func read(t testing.TB, id, text string) object.Object {
	t.Helper()
	ref, err := object.ParseRef(id)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetName(ref.Name)
	u.SetNamespace(ref.Namespace)
	if ref.Kind == "Secret" || ref.Kind == "Ingress" {
		m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: ref.Name, Namespace: ref.Namespace, Labels: u.GetLabels(), Annotations: u.GetAnnotations()}}
		return object.Object{Ref: ref, Meta: m, Body: m}
	}
	return object.Object{Ref: ref, Meta: u, Body: u}
}

// links writes what the relations say of an object, a line a link.
func links(specs []declare.Spec, o object.Object) []string {
	set := relation.NewSet(declare.Rules(specs, "t", "file t", kinds)...)
	var out []string
	set.Links(o, func(rule int, l relation.Link) {
		from, to := o.String(), target(l.Target)
		if l.Backward {
			from, to = to, from
		}
		line := fmt.Sprintf("%s %s %s", from, set.Rules()[rule].Relation, to)
		for _, f := range []struct {
			set  bool
			word string
		}{{l.Optional, "optional"}, {l.Inferred, "inferred"}, {l.Target.IfPresent, "ifPresent"}} {
			if f.set {
				line += " " + f.word
			}
		}
		out = append(out, line+" | "+l.Field+" = "+l.Value)
	})
	return out
}

func target(t relation.Target) string {
	if t.Selector == nil {
		return object.Ref{Group: t.Kind.Group, Kind: t.Kind.Kind, Namespace: t.Namespace, Name: t.Name}.String()
	}
	ns := t.Namespace
	switch {
	case t.Namespaces != nil:
		ns = "[" + t.Namespaces.String() + "]"
	case t.AllNamespaces:
		ns = "*"
	}
	return t.Kind.String() + "/" + ns + "/{" + t.Selector.String() + "}"
}

func parse(t testing.TB, text string) []declare.Spec {
	t.Helper()
	specs, problems := declare.ParseList([]byte(text), declare.Options{Self: "App.x.io", Kinds: kinds})
	for _, p := range problems {
		t.Errorf("%s: %s", text, p)
	}
	return specs
}

func TestWhatRelationsSay(t *testing.T) {
	const app = "App.x.io/shop/web"
	tests := []struct {
		name, relation, object, fields string
		want                           []string
	}{
		// field
		{"text", "{to: Secret, relation: needs, field: spec.secretName}", app, "spec: {secretName: tls}", []string{"App.x.io/shop/web needs Secret/shop/tls | spec.secretName = tls"}},
		{"no field", "{to: Secret, relation: needs, field: spec.secretName}", app, "spec: {}", nil},
		{"no name", "{to: Secret, relation: needs, field: spec.secretName}", app, "spec: {secretName: 'a b'}", nil},
		{"empty", "{to: Secret, relation: needs, field: spec.secretName}", app, "spec: {secretName: ''}", nil},
		{"a number is not a name", "{to: Secret, relation: needs, field: spec.secretName}", app, "spec: {secretName: 3}", nil},
		{"list of texts", "{to: Secret, relation: needs, field: spec.secrets}", app, "spec: {secrets: [a, b]}", []string{"App.x.io/shop/web needs Secret/shop/a | spec.secrets[0] = a", "App.x.io/shop/web needs Secret/shop/b | spec.secrets[1] = b"}},
		{"reference", "{to: Secret, relation: needs, field: spec.ref}", app, "spec: {ref: {name: a, namespace: b, optional: true}}", []string{"App.x.io/shop/web needs Secret/b/a optional | spec.ref.name = a"}},
		{"list of references", "{to: Secret, relation: needs, field: 'spec.refs[]'}", app, "spec: {refs: [{name: a}, {key: b}]}", []string{"App.x.io/shop/web needs Secret/shop/a | spec.refs[0].name = a"}},
		{"another kind", "{to: Secret, relation: needs, field: spec.ref}", app, "spec: {ref: {kind: ConfigMap, name: a}}", nil},
		{"first of two kinds", "{to: [Issuer.cert-manager.io, ClusterIssuer.cert-manager.io], relation: needs, field: spec.ref}", app, "spec: {ref: {name: a}}", []string{"App.x.io/shop/web needs Issuer.cert-manager.io/shop/a | spec.ref.name = a"}},
		{"second of two kinds", "{to: [Issuer.cert-manager.io, ClusterIssuer.cert-manager.io], relation: needs, field: spec.ref}", app, "spec: {ref: {name: a, kind: ClusterIssuer, group: cert-manager.io}}", []string{"App.x.io/shop/web needs ClusterIssuer.cert-manager.io/a | spec.ref.name = a"}},
		{"same kind of another group", "{to: [Issuer.cert-manager.io], relation: needs, field: spec.ref}", app, "spec: {ref: {name: a, kind: Issuer, group: other.io}}", nil},
		{"versions do not matter", "{to: Deployment, relation: serves, field: spec.ref}", app, "spec: {ref: {name: a, kind: Deployment, apiVersion: apps/v1beta1}}", []string{"App.x.io/shop/web serves Deployment.apps/shop/a | spec.ref.name = a"}},
		{"groups that moved", "{to: Deployment, relation: serves, field: spec.ref}", app, "spec: {ref: {name: a, kind: Deployment, apiVersion: extensions/v1beta1}}", []string{"App.x.io/shop/web serves Deployment.apps/shop/a | spec.ref.name = a"}},
		{"any kind", "{to: '*', relation: needs, field: spec.ref}", app, "spec: {ref: {name: a, kind: Deployment, apiVersion: apps/v1}}", []string{"App.x.io/shop/web needs Deployment.apps/shop/a | spec.ref.name = a"}},
		{"any kind, core", "{to: '*', relation: needs, field: spec.ref}", app, "spec: {ref: {name: a, kind: Secret, apiVersion: v1}}", []string{"App.x.io/shop/web needs Secret/shop/a | spec.ref.name = a"}},
		{"any kind, none said", "{to: '*', relation: needs, field: spec.ref}", app, "spec: {ref: {name: a}}", nil},
		{"any kind, cluster-scoped", "{to: '*', relation: needs, field: spec.ref}", app, "spec: {ref: {name: a, kind: Fleet, apiVersion: x.io/v1}}", []string{"App.x.io/shop/web needs Fleet.x.io/a | spec.ref.name = a"}},
		{"namespaced from cluster-scoped", "{from: Fleet.x.io, to: App.x.io, relation: needs, field: spec.app}", "Fleet.x.io/f", "spec: {app: a}", nil},
		{"namespaced from cluster-scoped, with one", "{from: Fleet.x.io, to: App.x.io, relation: needs, field: spec.app}", "Fleet.x.io/f", "spec: {app: {name: a, namespace: in}}", []string{"Fleet.x.io/f needs App.x.io/in/a | spec.app.name = a"}},
		{"sibling namespace", "{to: Secret, relation: needs, field: 'spec.s[].secret', namespace: .ns}", app, "spec: {s: [{secret: a, ns: in}, {secret: b}]}", []string{"App.x.io/shop/web needs Secret/in/a | spec.s[0].secret = a", "App.x.io/shop/web needs Secret/shop/b | spec.s[1].secret = b"}},
		{"another name field", "{to: Secret, relation: needs, field: 'spec.s[]', nameField: .secret.id}", app, "spec: {s: [{secret: {id: a}}]}", []string{"App.x.io/shop/web needs Secret/shop/a | spec.s[0].secret.id = a"}},
		{"when it holds", "{to: Secret, relation: needs, field: 'spec.s[]', when: {.type: [secret, tls]}}", app, "spec: {s: [{name: a, type: tls}, {name: b, type: other}, {name: c}]}", []string{"App.x.io/shop/web needs Secret/shop/a | spec.s[0].name = a"}},
		{"when it is absent", "{to: Secret, relation: needs, field: spec.secret, when: {spec.other: null}}", app, "spec: {secret: a}", []string{"App.x.io/shop/web needs Secret/shop/a | spec.secret = a"}},
		{"when it is an object", "{to: Secret, relation: needs, field: spec.secret, when: {spec.other: null}}", app, "spec: {secret: a, other: {x: 1}}", nil},
		{"namespace/name", "{to: Secret, relation: needs, field: spec.secret}", app, "spec: {secret: in/a}", []string{"App.x.io/shop/web needs Secret/in/a | spec.secret = in/a"}},
		{"too many slashes", "{to: Secret, relation: needs, field: spec.secret}", app, "spec: {secret: in/a/b}", nil},
		{"group in an apiVersion", "{to: '*', relation: needs, field: spec.s, kind: spec.k, group: spec.v}", app, "spec: {s: a, k: Deployment, v: apps/v1}", []string{"App.x.io/shop/web needs Deployment.apps/shop/a | spec.s = a"}},
		{"core group in an apiVersion", "{to: '*', relation: needs, field: spec.s, kind: spec.k, group: spec.v}", app, "spec: {s: a, k: Secret, v: v1}", []string{"App.x.io/shop/web needs Secret/shop/a | spec.s = a"}},
		{"when it is empty or absent", "{to: Secret, relation: needs, field: spec.secret, when: {spec.other: ['', x]}}", app, "spec: {secret: a}", []string{"App.x.io/shop/web needs Secret/shop/a | spec.secret = a"}},
		{"when, beside a selector", "{to: Pod, relation: serves, selector: 'spec.l[].sel', when: {.kind: K}}", app, "spec: {l: [{sel: {a: b}, kind: K}, {sel: {c: d}, kind: J}]}", []string{"App.x.io/shop/web serves Pod/shop/{a=b} | spec.l[0].sel = a=b"}},
		{"when it is not", "{to: Secret, relation: needs, field: spec.secret, when: {spec.other: null}}", app, "spec: {secret: a, other: b}", nil},
		{"values of a map", "{to: Secret, relation: needs, field: spec.m.*.secret}", app, "spec: {m: {b: {secret: z}, a: {secret: x}}}", []string{"App.x.io/shop/web needs Secret/shop/x | spec.m.a.secret = x", "App.x.io/shop/web needs Secret/shop/z | spec.m.b.secret = z"}},
		{"read the other end", "{from: Part.x.io, relation: owns, field: spec.partName}", app, "spec: {partName: p}", nil},
		{"read: to", "{from: Part.x.io, to: App.x.io, relation: owns, field: spec.partName, read: to}", app, "spec: {partName: p}", []string{"Part.x.io/shop/p owns App.x.io/shop/web | spec.partName = p"}},
		{"inferred", "{to: Secret, relation: owns, field: spec.s, inferred: true, optional: true}", app, "spec: {s: a}", []string{"App.x.io/shop/web owns Secret/shop/a optional inferred ifPresent | spec.s = a"}},
		{"itself", "{to: App.x.io, relation: needs, field: spec.s}", app, "spec: {s: web}", nil},
		{
			"inventory", "{to: '*', relation: owns, manages: true, field: 'status.e[].id', format: inventory}", app, "status: {e: [{id: shop_api_apps_Deployment}, {id: _x_x.io_Fleet}, {id: shop_sys__admin__Role}, {id: nonsense}]}",
			[]string{"App.x.io/shop/web owns Deployment.apps/shop/api | status.e[0].id = shop_api_apps_Deployment", "App.x.io/shop/web owns Fleet.x.io/x | status.e[1].id = _x_x.io_Fleet", "App.x.io/shop/web owns Role/shop/sys:admin | status.e[2].id = shop_sys__admin__Role"},
		},

		// selector
		{"selector", "{to: Pod, relation: serves, selector: spec.sel}", app, "spec: {sel: {matchLabels: {a: b}, matchExpressions: [{key: c, operator: Exists}]}}", []string{"App.x.io/shop/web serves Pod/shop/{a=b,c} | spec.sel = a=b,c"}},
		{"map of labels", "{to: Pod, relation: serves, selector: spec.sel}", app, "spec: {sel: {a: b}}", []string{"App.x.io/shop/web serves Pod/shop/{a=b} | spec.sel = a=b"}},
		{"empty selector", "{to: Pod, relation: serves, selector: spec.sel}", app, "spec: {sel: {}}", nil},
		{"empty selector of all", "{to: Pod, relation: serves, selector: spec.sel, empty: all}", app, "spec: {sel: {}}", []string{"App.x.io/shop/web serves Pod/shop/{<everything>} | spec.sel = <everything>"}},
		{"absent selector of all", "{to: Pod, relation: serves, selector: spec.sel, empty: all}", app, "spec: {}", nil},
		{"malformed selector", "{to: Pod, relation: serves, selector: spec.sel}", app, "spec: {sel: {matchExpressions: [{key: c, operator: Near}]}}", nil},
		{"everywhere", "{to: Pod, relation: serves, selector: spec.sel, everywhere: true}", app, "spec: {sel: {a: b}}", []string{"App.x.io/shop/web serves Pod/*/{a=b} | spec.sel = a=b"}},
		{"namespaces by label", "{to: Pod, relation: serves, selector: spec.sel, namespaces: spec.ns}", app, "spec: {sel: {a: b}, ns: {matchLabels: {t: x}}}", []string{"App.x.io/shop/web serves Pod/[t=x]/{a=b} | spec.sel = a=b"}},
		{"namespaces absent", "{to: Pod, relation: serves, selector: spec.sel, namespaces: spec.ns}", app, "spec: {sel: {a: b}}", []string{"App.x.io/shop/web serves Pod/shop/{a=b} | spec.sel = a=b"}},
		{"namespaces empty", "{to: Pod, relation: serves, selector: spec.sel, namespaces: spec.ns}", app, "spec: {sel: {a: b}, ns: {}}", []string{"App.x.io/shop/web serves Pod/*/{a=b} | spec.sel = a=b"}},
		{"namespaces empty, own", "{to: Pod, relation: serves, selector: spec.sel, namespaces: spec.ns, emptyNamespaces: own}", app, "spec: {sel: {a: b}, ns: {}}", []string{"App.x.io/shop/web serves Pod/shop/{a=b} | spec.sel = a=b"}},
		{"namespaces any", "{to: Pod, relation: serves, selector: spec.sel, namespaces: spec.ns}", app, "spec: {sel: {a: b}, ns: {any: true}}", []string{"App.x.io/shop/web serves Pod/*/{a=b} | spec.sel = a=b"}},
		{"namespaces not any", "{to: Pod, relation: serves, selector: spec.sel, namespaces: spec.ns}", app, "spec: {sel: {a: b}, ns: {any: false}}", []string{"App.x.io/shop/web serves Pod/shop/{a=b} | spec.sel = a=b"}},
		{"namespaces by name", "{to: Pod, relation: serves, selector: spec.sel, namespaces: spec.ns}", app, "spec: {sel: {a: b}, ns: {matchNames: [k, m]}}", []string{"App.x.io/shop/web serves Pod/k/{a=b} | spec.sel = a=b", "App.x.io/shop/web serves Pod/m/{a=b} | spec.sel = a=b"}},
		{"namespaces by list", "{to: Pod, relation: serves, selector: spec.sel, namespaces: spec.ns}", app, "spec: {sel: {a: b}, ns: [k]}", []string{"App.x.io/shop/web serves Pod/k/{a=b} | spec.sel = a=b"}},

		// label and annotation
		{"label", "{to: Part.x.io, relation: serves, label: x/part}", app, "metadata: {labels: {x/part: p}}", []string{`App.x.io/shop/web serves Part.x.io/shop/p | metadata.labels["x/part"] = p`}},
		{"annotation with namespace", "{to: Part.x.io, relation: needs, annotation: x/part}", app, "metadata: {annotations: {x/part: n/p}}", []string{`App.x.io/shop/web needs Part.x.io/n/p | metadata.annotations["x/part"] = n/p`}},
		{"annotation list", "{to: Part.x.io, relation: needs, annotation: x/part, list: true}", app, "metadata: {annotations: {x/part: 'p, n/q,'}}", []string{`App.x.io/shop/web needs Part.x.io/shop/p | metadata.annotations["x/part"] = p, n/q,`, `App.x.io/shop/web needs Part.x.io/n/q | metadata.annotations["x/part"] = p, n/q,`}},
		{"annotation, no list", "{to: Part.x.io, relation: needs, annotation: x/part}", app, "metadata: {annotations: {x/part: 'p,q'}}", nil},
		{"annotation of a built-in kind", "{from: Ingress, relation: needs, annotation: x/app}", "Ingress.networking.k8s.io/shop/i", "metadata: {annotations: {x/app: web}}", []string{`Ingress.networking.k8s.io/shop/i needs App.x.io/shop/web | metadata.annotations["x/app"] = web`}},
		{"label with its namespace", "{from: '*', to: App.x.io, relation: needs, label: x/name, namespace: 'metadata.labels[\"x/ns\"]'}", "Secret/shop/s", "metadata: {labels: {x/name: web, x/ns: apps}}", []string{`Secret/shop/s needs App.x.io/apps/web | metadata.labels["x/name"] = web`}},
		{"label of others", "{to: Secret, relation: owns, label: x/app, value: '{metadata.name}'}", app, "", []string{"App.x.io/shop/web owns Secret/shop/{x/app=web} | metadata.name = web"}},
		{"label of others, made", "{to: Secret, relation: owns, label: x/app, value: 'a-{metadata.name}-{spec.id}'}", app, "spec: {id: 7}", []string{"App.x.io/shop/web owns Secret/shop/{x/app=a-web-7} | spec.id = a-web-7"}},
		{"label of others, always the same", "{to: Secret, relation: owns, label: x/app, value: web}", app, "", []string{"App.x.io/shop/web owns Secret/shop/{x/app=web} | metadata.name = web"}},
		{"label of others, absent", "{to: Secret, relation: owns, label: x/app, value: '{spec.id}'}", app, "spec: {}", nil},

		// name and host
		{"convention", "{to: Secret, relation: owns, name: '{metadata.name}-tls'}", app, "", []string{"App.x.io/shop/web owns Secret/shop/web-tls inferred ifPresent | metadata.name = web-tls"}},
		{"host", "{relation: needs, host: spec.url}", app, "spec: {url: 'http://u:p@db.data.svc:80/x?token=y'}", []string{"App.x.io/shop/web needs Service/data/db ifPresent | spec.url = http://db.data.svc:80/x"}},
		{"hosts", "{relation: needs, host: spec.urls}", app, "spec: {urls: [db, 'cache:6379']}", []string{"App.x.io/shop/web needs Service/shop/db ifPresent | spec.urls = db", "App.x.io/shop/web needs Service/shop/cache ifPresent | spec.urls = cache:6379"}},

		// pods
		{"template", "{template: spec.pod}", app, "spec: {pod: {spec: {containers: [{name: c, envFrom: [{secretRef: {name: s}}]}]}}}", []string{"App.x.io/shop/web needs Secret/shop/s | spec.pod.spec.containers[0].envFrom[0].secretRef.name = s"}},
		{"pod spec", "{podSpec: spec.pod}", app, "spec: {pod: {volumes: [{name: v, configMap: {name: m}}]}}", []string{"App.x.io/shop/web needs ConfigMap/shop/m | spec.pod.volumes[0].configMap.name = m"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := links(parse(t, "- "+tt.relation), read(t, tt.object, tt.fields)); !slices.Equal(got, tt.want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(tt.want, "\n\t"))
			}
		})
	}
}

func TestProblems(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "line 1, column 1: the value is empty"},
		{"a: b", "line 1, column 1: expected a list of relations"},
		{"- x", "line 1, column 3: expected a mapping"},
		{"- {to: Secret, relation: needs, feild: spec.a}", `line 1, column 33: unknown key "feild" (did you mean field?)`},
		{"- {to: Secret, relation: needs, field: spec.a}\n- {to: Secret, to: Pod, relation: needs, field: spec.a}", "line 2, column 16: a second to"},
		{"- {to: Secret, relation: need, field: spec.a}", `line 1, column 26: unknown relation "need": expected owns, needs or serves`},
		{"- {to: Secret, field: spec.a}", "line 1, column 3: relation is missing"},
		{"- {to: Secrt, relation: needs, field: spec.a}", `line 1, column 8: "Secrt" is not a kind that the cluster serves (did you mean Secret?)`},
		{"- {to: 'Foo.a b', relation: needs, field: spec.a}", `line 1, column 8: "Foo.a b" is not a kind`},
		{"- {to: Foo..x, relation: needs, field: spec.a}", `"Foo..x" is not a kind`},
		{"- {from: Secret, relation: needs, label: a/b, when: {.kind: X}}", "column 53: when: a path that starts with a dot"},
		{"- {to: secret, relation: needs, field: spec.a}", `line 1, column 8: "secret" is not a kind: did you mean Secret?`},
		{"- {to: Secret, relation: needs}", "line 1, column 3: the evidence of the relation is missing"},
		{"- {to: Secret, relation: needs, field: spec.a, label: b}", "line 1, column 55: field and label exclude each other"},
		{"- {to: Secret, relation: needs, field: spec..a}", `path "spec..a", column 6: a field name is missing here`},
		{"- {to: Secret, relation: needs, field: 'spec.a['}", "the [ is not closed"},
		{"- {to: Secret, relation: needs, field: .a}", "relative to a reference"},
		{"- {to: Secret, relation: needs, field: spec.a, optional: maybe}", "line 1, column 58: expected true or false"},
		{"- {to: Secret, relation: needs, field: [a]}", "line 1, column 40: expected a string"},
		{"- {to: Secret, relation: needs, field: spec.a, value: '{metadata.name}'}", "value has no effect beside field"},
		{"- {to: Secret, relation: needs, label: a/b, value: '{x'}", "a { is not closed"},
		{"- {to: Secret, relation: needs, label: a/b, value: 'x}'}", "a } without a {"},
		{"- {to: Secret, relation: needs, label: 'a b'}", "is not a valid key: expected"},
		{"- {to: '*', relation: needs, label: a/b}", `"*" is named by a reference only`},
		{"- {from: '*', relation: needs, field: spec.a}", `"*" is read by its labels and annotations only`},
		{"- {to: [Secret, '*'], relation: needs, field: spec.a}", "it excludes others"},
		{"- {to: [Secret, Secret], relation: needs, field: spec.a}", "occurs twice"},
		{"- {from: Part.x.io, to: Secret, relation: needs, field: spec.a}", "neither from nor to is App.x.io"},
		{"- {to: Secret, relation: needs, field: spec.a, format: yaml}", `unknown format "yaml"`},
		{"- {to: Secret, relation: needs, field: spec.a, read: both}", `unknown read "both"`},
		{"- {to: Secret, relation: needs, field: spec.a, when: [x]}", "expected {PATH: VALUE}"},
		{"- {to: Secret, relation: needs, field: spec.a, when: {a..b: x}}", "a field name is missing"},
		{"- {to: Secret, relation: needs, field: spec.a, manages: true}", "manages goes with relation: owns"},
		{"- {to: Pod, template: spec.t}", "to has no effect beside template"},
		{"- {relation: needs, template: spec.t}", "relation has no effect beside template"},
		{"- &a {to: Secret, relation: needs, field: spec.a}\n- *a", "expected a mapping"},
		{"- {to: Secret, relation: needs, field: spec.a\n", "not YAML"},
		{"- {}\n---\n- {}", "got a second one"},
		{"\t- a", "not YAML"},
	} {
		specs, problems := declare.ParseList([]byte(tt.text), declare.Options{Self: "App.x.io", Kinds: kinds})
		var all []string
		for _, p := range problems {
			all = append(all, p.String())
		}
		if got := strings.Join(all, "; "); !strings.Contains(got, tt.want) {
			t.Errorf("%q: got %q, want %q (%d relations)", tt.text, got, tt.want, len(specs))
		}
	}
}

// TestFiles: a file has a head, and kinds in it are not looked up in a cluster.
func TestFiles(t *testing.T) {
	const head = "apiVersion: sysop.dev/v1alpha1\nkind: Relationships\n"
	specs, problems := declare.ParseFile([]byte(head + "relations:\n- {from: App.x.io, to: Secret, relation: needs, field: spec.a}\n"))
	if len(specs) != 1 || len(problems) != 0 || specs[0].Line != 4 || specs[0].Column != 3 {
		t.Errorf("got %+v, %v", specs, problems)
	}
	for _, tt := range []struct{ text, want string }{
		{"", "expected a document"},
		{"- a", "expected a document"},
		{head, "line 1, column 1: relations is missing"},
		{"kind: Relationship\n", `got "Relationship": expected Relationships`},
		{head + "relations:\n- {from: App, to: Secret, relation: needs, field: spec.a}", `line 4, column 10: "App" is not a built-in kind`},
		{head + "relations:\n- {from: Deploymnt, to: Secret, relation: needs, field: spec.a}", "did you mean Deployment?"},
		{head + "relations:\n- {to: Secret, relation: needs, field: spec.a}", "line 4, column 3: from is missing"},
		{head + "relation: []", `unknown key "relation" (did you mean relations?)`},
	} {
		_, problems := declare.ParseFile([]byte(tt.text))
		var all []string
		for _, p := range problems {
			all = append(all, p.String())
		}
		if got := strings.Join(all, "; "); !strings.Contains(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestFormat: what is written is read as the same.
func TestFormat(t *testing.T) {
	const all = `
- {to: Secret, relation: needs, field: "spec.a[].b", namespace: .ns, kind: .kind, group: .g, nameField: .n, optional: true, ifPresent: true, leaf: true}
- {to: [Issuer.cert-manager.io, ClusterIssuer.cert-manager.io], relation: needs, field: spec.ref, when: {".type": [a, "b c"], spec.x: null, spec.y: "true"}}
- {from: Ingress, relation: needs, annotation: a/b, list: true}
- {to: Pod, relation: serves, selector: spec.sel, namespaces: spec.ns, empty: all, absent: all, emptyNamespaces: own, crosses: true}
- {relation: serves, host: spec.h, format: fqdn, exposes: true}
- {to: Secret, relation: owns, label: a/b, value: "x-{metadata.name}", inferred: true}
- {from: App.x.io, to: App.x.io, relation: needs, field: "spec.m[\"a.b/c\"]"}
- {template: spec.t}
- {to: "*", relation: owns, manages: true, field: status.e, format: inventory, rule: my rule, source: "https://x: y"}
`
	specs := parse(t, all)
	text := declare.Format(specs, "App.x.io")
	again := parse(t, text)
	if len(specs) != 9 || len(again) != len(specs) {
		t.Fatalf("%d and %d relations of\n%s", len(specs), len(again), text)
	}
	for i := range specs {
		if !specs[i].Equal(again[i]) {
			t.Errorf("%+v is written so that it reads\n%+v", specs[i], again[i])
		}
	}
}

// FuzzParse: whatever is written, and whatever the objects hold, nothing panics,
// problems have a place in the text, and what is read is written so that it reads
// the same.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"- {to: Secret, relation: needs, field: spec.secretName}",
		"- {to: '*', relation: owns, manages: true, field: 'status.e[].id', format: inventory}",
		"- {to: Pod, relation: serves, selector: spec.sel, namespaces: spec.ns, empty: all}",
		"- {from: Ingress, relation: needs, annotation: a/b, list: true}",
		"- {to: Secret, relation: owns, label: a/b, value: 'x-{metadata.name}-{spec.users[].name}'}",
		"- {to: Secret, relation: needs, field: 'spec.users[]', when: {.name: [a], spec.x: null}, nameField: .secretName}",
		"- {relation: needs, host: spec.url}", "- {template: spec.pod}", "- {to: Secret, relation: owns, name: '{metadata.name}-tls'}",
		"- &a [*a]", "- {to: [", "\x00", "- {to: Secret, relation: needs, field: spec..a}", "on:Pod, value:INSTANCE.spec.selector", "a:", ",,,", "- - -",
		"apiVersion: sysop.dev/v1alpha1\nkind: Relationships\nrelations:\n- {from: App.x.io, to: Secret, relation: needs, field: spec.secretName}\n",
		"\ufeffapiVersion: sysop.dev/v1alpha1\r\nkind: Relationships\r\nrelations:\r\n- {from: App, too: Secret}\r\n", "apiVersion: v1\nkind: List\nrelations: &a [*a]\n---\n",
	} {
		f.Add([]byte(s), `{"spec":{"secretName":"a","users":[{"name":"n","secretName":"s"}],"sel":{"a":"b"},"ns":{},"url":"db:80","pod":{"spec":{"containers":[{}]}}}}`)
	}
	f.Fuzz(func(t *testing.T, text []byte, content string) {
		o := declare.Options{Self: "App.x.io", Kinds: kinds}
		specs, problems := declare.ParseList(text, o)
		lines := bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) + 2
		_, ofFile := declare.ParseFile(text)
		for _, p := range slices.Concat(problems, ofFile) {
			if p.Line < 1 || p.Line > lines || p.Column < 1 || p.Message == "" {
				t.Errorf("problem %+v is in no place of %q", p, text)
			}
		}
		again, problems := declare.ParseList([]byte(declare.Format(specs, "App.x.io")), o)
		if len(specs) > 0 && (len(again) != len(specs) || len(problems) > 0) {
			t.Errorf("%q is written as %q, which has problems: %v", text, declare.Format(specs, "App.x.io"), problems)
		}
		for i := range min(len(specs), len(again)) {
			if !specs[i].Equal(again[i]) {
				t.Errorf("%+v is written so that it reads %+v", specs[i], again[i])
			}
		}
		fields := map[string]any{}
		if yaml.Unmarshal([]byte(content), &fields) != nil || fields == nil {
			return
		}
		u := &unstructured.Unstructured{Object: map[string]any{"spec": fields["spec"], "status": fields["status"], "metadata": map[string]any{"name": "web", "namespace": "shop"}}}
		ref := object.Ref{Group: "x.io", Kind: "App", Namespace: "shop", Name: "web"}
		relation.NewSet(declare.Rules(specs, "t", "t", kinds)...).Links(object.Object{Ref: ref, Meta: u, Body: u}, func(_ int, l relation.Link) {
			if (l.Target.Selector == nil) == (l.Target.Name == "") || l.Field == "" || l.Target.Kind.Kind == "" {
				t.Errorf("%q: link %+v does not say enough", text, l)
			}
		})
	})
}

// TestMetadata: a rule that needs more than names, labels and annotations is not
// content with metadata.
func TestMetadata(t *testing.T) {
	for text, want := range map[string]bool{
		`- {to: Secret, relation: needs, field: 'metadata.annotations["a/b"]'}`:                            true,
		`- {to: Secret, relation: needs, field: 'metadata.annotations["a/b"]', when: {metadata.name: x}}`:  true,
		`- {to: Secret, relation: needs, field: 'metadata.annotations["a/b"]', kind: spec.kind}`:           false,
		`- {to: Secret, relation: needs, field: 'metadata.annotations["a/b"]', when: {spec.x: x}}`:         false,
		`- {to: Secret, relation: needs, field: 'metadata.annotations["a/b"]', namespace: spec.namespace}`: false,
		`- {to: App.y.io, relation: owns, field: 'metadata.ownerReferences[].name'}`:                       false,
		`- {to: Secret, relation: owns, label: a/b, value: '{metadata.name}-x'}`:                           true,
		`- {to: Secret, relation: owns, label: a/b, value: '{spec.name}-x'}`:                               false,
		`- {to: Secret, relation: owns, name: '{metadata.namespace}-{metadata.generateName}'}`:             false,
	} {
		if rules := declare.Rules(parse(t, text), "t", "file t", kinds); rules[0].Metadata != want {
			t.Errorf("%s: metadata is enough: %v", text, rules[0].Metadata)
		}
	}
}
