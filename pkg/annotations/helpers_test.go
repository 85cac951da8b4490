package annotations

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// testKinds are the built-in kinds of the examples and custom ones: those of the examples, and
// kinds of the same names in other groups.
var testKinds = sync.OnceValue(func() *object.Kinds {
	var all []object.Resource
	add := func(custom, namespaced bool, names ...string) {
		for _, n := range names {
			gr, kind, _ := strings.Cut(n, "=")
			plural, group, _ := strings.Cut(gr, ".")
			all = append(all, object.Resource{
				Group: group, Version: "v1", Kind: kind, Plural: plural, Singular: strings.ToLower(kind),
				Namespaced: namespaced, Listable: true, Custom: custom,
			})
		}
	}
	add(true, true, "services.serving.knative.dev=Service", "clusters.a.example.com=Cluster", "clusters.b.example.com=Cluster")
	add(false, true, "pods=Pod", "services=Service", "secrets=Secret", "configmaps=ConfigMap", "persistentvolumeclaims=PersistentVolumeClaim",
		"serviceaccounts=ServiceAccount", "deployments.apps=Deployment", "statefulsets.apps=StatefulSet", "poddisruptionbudgets.policy=PodDisruptionBudget",
		"ingresses.networking.k8s.io=Ingress", "roles.rbac.authorization.k8s.io=Role", "rolebindings.rbac.authorization.k8s.io=RoleBinding")
	add(false, false, "namespaces=Namespace", "persistentvolumes=PersistentVolume", "nodes=Node")
	add(true, true, "mysqlclusters.mysql.presslabs.org=MysqlCluster", "moodles.moodlecontroller.kubeplus=Moodle", "issuers.certmanager.k8s.io=Issuer",
		"cassandradatacenters.cassandra.datastax.com=CassandraDatacenter", "network-attachment-definitions.k8s.cni.cncf.io=NetworkAttachmentDefinition",
		"restics.stash.appscode.com=Restic", "recoveries.stash.appscode.com=Recovery", "elasticsearches.elasticsearch.k8s.elastic.co=Elasticsearch",
		"redisenterpriseclusters.app.redislabs.com=RedisEnterpriseCluster", "wordpressservices.platformapi.kubeplus=WordpressService",
		"apps.example.com=App")
	add(true, false, "clusterissuers.certmanager.k8s.io=ClusterIssuer", "fleets.example.com=Fleet")
	return object.NewKinds(all)
})

// parse parses the annotations, given as key, value, key, value, of a definition.
func parse(t testing.TB, crd string, annotations ...string) (Declaration, []Finding) {
	t.Helper()
	m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: crd, Annotations: map[string]string{}}}
	for i := 0; i < len(annotations); i += 2 {
		m.Annotations[annotations[i]] = annotations[i+1]
	}
	return Parse(m, testKinds())
}

// parseClean is parse where no finding is expected.
func parseClean(t testing.TB, crd string, annotations ...string) Declaration {
	t.Helper()
	d, findings := parse(t, crd, annotations...)
	for _, f := range findings {
		t.Errorf("unexpected finding: %v", f)
	}
	return d
}

// read parses an object from YAML; namespace and name of "Kind[.group]/ns/name" go into its
// metadata. Built-in kinds get their metadata only.
func read(t testing.TB, id, text string) object.Object {
	t.Helper()
	ref, err := object.ParseRef(id)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: fields}
	u.SetName(ref.Name)
	u.SetNamespace(ref.Namespace)
	u.SetKind(ref.Kind)
	u.SetAPIVersion(strings.TrimPrefix(ref.Group+"/v1", "/"))
	if r, ok := testKinds().Kind(ref.GroupKind()); ok && !r.Custom {
		m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Name: ref.Name, Namespace: ref.Namespace, Annotations: u.GetAnnotations(), Labels: u.GetLabels(),
		}}
		return object.Object{Ref: ref, Meta: m, Body: m}
	}
	return object.Object{Ref: ref, Meta: u, Body: u}
}

// edges runs the rules over objects and formats each link as a line:
//
//	From -needs/annotation-> To (if present, inferred) because field = value
func edges(d Declaration, objects ...object.Object) []string {
	set := relation.NewSet(d.Rules...)
	var lines []string
	for _, o := range objects {
		set.Links(o, func(i int, l relation.Link) {
			from, to := o.String(), targetString(l.Target)
			if l.Backward {
				from, to = to, from
			}
			var notes []string
			if l.Target.IfPresent {
				notes = append(notes, "if present")
			}
			if l.Inferred {
				notes = append(notes, "inferred")
			}
			note := ""
			if len(notes) > 0 {
				note = " (" + strings.Join(notes, ", ") + ")"
			}
			r := d.Rules[i]
			lines = append(lines, fmt.Sprintf("%s -%v/%v-> %s%s because %s = %s", from, r.Relation, r.Via, to, note, l.Field, l.Value))
		})
	}
	return lines
}

func targetString(t relation.Target) string {
	if t.Selector == nil {
		return object.Ref{Group: t.Kind.Group, Kind: t.Kind.Kind, Namespace: t.Namespace, Name: t.Name}.String()
	}
	namespace := t.Namespace
	if t.AllNamespaces {
		namespace = "*"
	}
	return object.Ref{Group: t.Kind.Group, Kind: t.Kind.Kind, Namespace: namespace, Name: "{" + t.Selector.String() + "}"}.String()
}

// equal compares lines one by one.
func equal(t testing.TB, got []string, want ...string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(want):
			t.Errorf("too much: %s", got[i])
		case i >= len(got):
			t.Errorf("missing: %s", want[i])
		case got[i] != want[i]:
			t.Errorf("line %d:\n got %s\nwant %s", i+1, got[i], want[i])
		}
	}
}

func kindsOf(d Declaration) string {
	var all []string
	for _, k := range d.Composition {
		all = append(all, k.String())
	}
	return strings.Join(all, " ")
}
