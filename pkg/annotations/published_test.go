package annotations

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Every annotation that KubePlus and the operators it annotates have published, verbatim
// (reference/kubeplus.md 1.2), and its edges.

func TestPublishedCompositionAndUsage(t *testing.T) {
	tests := []struct {
		crd, composition, usage string
		kinds                   string
		want                    Usage
	}{
		{
			"mysqlclusters.mysql.presslabs.org", "StatefulSet, Service, ConfigMap, Secret, PodDisruptionBudget", "mysqlcluster-usage.usage",
			"StatefulSet.apps Service ConfigMap Secret PodDisruptionBudget.policy",
			Usage{ConfigMap: "mysqlcluster-usage", Key: "usage"},
		},
		{
			"moodles.moodlecontroller.kubeplus", "Deployment, Service, PersistentVolume, PersistentVolumeClaim, Secret, Ingress", "moodle-operator-usage.usage",
			"Deployment.apps Service PersistentVolume PersistentVolumeClaim Secret Ingress.networking.k8s.io",
			Usage{ConfigMap: "moodle-operator-usage", Key: "usage"},
		},
		{
			"cassandradatacenters.cassandra.datastax.com", "StatefulSet, Service, PodDisruptionBudget", "ops.cassandra-usage.usage",
			"StatefulSet.apps Service PodDisruptionBudget.policy",
			Usage{Namespace: "ops", ConfigMap: "cassandra-usage", Key: "usage"},
		},
		{
			"elasticsearches.elasticsearch.k8s.elastic.co", "Pod, Service, Secret, ConfigMap", "elasticsearch-operator-usage.usage",
			"Pod Service Secret ConfigMap",
			Usage{ConfigMap: "elasticsearch-operator-usage", Key: "usage"},
		},
		{
			"redisenterpriseclusters.app.redislabs.com", `"StatefulSet, Service, PodDisruptionBudget"`, " 'redis.manual' ",
			"StatefulSet.apps Service PodDisruptionBudget.policy",
			Usage{ConfigMap: "redis", Key: "manual"},
		},
	}
	for _, prefix := range []string{"resource/", "platform-as-code/"} {
		for _, tt := range tests {
			t.Run(prefix+tt.crd, func(t *testing.T) {
				d := parseClean(t, tt.crd, prefix+"composition", tt.composition, prefix+"usage", tt.usage)
				if got := kindsOf(d); got != tt.kinds {
					t.Errorf("composition %q, want %q", got, tt.kinds)
				}
				if d.Usage != tt.want {
					t.Errorf("usage %+v, want %+v", d.Usage, tt.want)
				}
				if len(d.Rules) > 0 {
					t.Errorf("a composition makes no rules, got %v", d.Rules)
				}
			})
		}
	}
}

func TestPublishedRelationships(t *testing.T) {
	pod := func(id, networks string) object.Object {
		return read(t, id, "metadata: {annotations: {k8s.v1.cni.cncf.io/networks: '"+networks+"'}}")
	}
	tests := []struct {
		name, crd, key, value string
		objects               []object.Object
		want                  []string
	}{
		{
			"moodle", "moodles.moodlecontroller.kubeplus", "resource/specproperty-relationship",
			"on:INSTANCE.spec.mySQLServiceName, value:Service.spec.metadata.name",
			[]object.Object{read(t, "Moodle.moodlecontroller.kubeplus/shop/moodle1", "spec: {mySQLServiceName: cluster1-mysql-master}")},
			[]string{"Moodle.moodlecontroller.kubeplus/shop/moodle1 -needs/spec-> Service/shop/cluster1-mysql-master because spec.mySQLServiceName = cluster1-mysql-master"},
		},
		{
			"cluster issuer", "clusterissuers.certmanager.k8s.io", "resource/annotation-relationship",
			"on:Ingress, key:cert-manager.io/cluster-issuer, value:INSTANCE.metadata.name",
			[]object.Object{read(t, "Ingress.networking.k8s.io/shop/web", "metadata: {annotations: {cert-manager.io/cluster-issuer: wordpress-stack}}")},
			[]string{`Ingress.networking.k8s.io/shop/web -needs/annotation-> ClusterIssuer.certmanager.k8s.io/wordpress-stack because metadata.annotations["cert-manager.io/cluster-issuer"] = wordpress-stack`},
		},
		{
			"issuer", "issuers.certmanager.k8s.io", "resource/annotation-relationship",
			"on:Ingress, key:cert-manager.io/issuer, value:INSTANCE.metadata.name",
			[]object.Object{read(t, "Ingress.networking.k8s.io/shop/web", "metadata: {annotations: {cert-manager.io/issuer: ca}}")},
			[]string{`Ingress.networking.k8s.io/shop/web -needs/annotation-> Issuer.certmanager.k8s.io/shop/ca because metadata.annotations["cert-manager.io/issuer"] = ca`},
		},
		{
			"cassandra secret", "cassandradatacenters.cassandra.datastax.com", "resource/annotation-relationship",
			"on:Secret, key:cassandra.datastax.com/watched-by, value:contains(INSTANCE.metadata.name)",
			[]object.Object{
				read(t, "Secret/db/superuser", `metadata: {annotations: {cassandra.datastax.com/watched-by: '["db/dc1","other/dc1"]'}}`),
				read(t, "Secret/db/plain", "metadata: {annotations: {cassandra.datastax.com/watched-by: 'dc1, dc10'}}"),
			},
			[]string{
				`CassandraDatacenter.cassandra.datastax.com/db/dc1 -needs/annotation-> Secret/db/superuser (if present) because metadata.annotations["cassandra.datastax.com/watched-by"] = ["db/dc1","other/dc1"]`,
				`CassandraDatacenter.cassandra.datastax.com/other/dc1 -needs/annotation-> Secret/db/superuser (if present) because metadata.annotations["cassandra.datastax.com/watched-by"] = ["db/dc1","other/dc1"]`,
				`CassandraDatacenter.cassandra.datastax.com/db/dc1 -needs/annotation-> Secret/db/plain (if present) because metadata.annotations["cassandra.datastax.com/watched-by"] = dc1, dc10`,
				`CassandraDatacenter.cassandra.datastax.com/db/dc10 -needs/annotation-> Secret/db/plain (if present) because metadata.annotations["cassandra.datastax.com/watched-by"] = dc1, dc10`,
			},
		},
		{
			"cassandra claim", "cassandradatacenters.cassandra.datastax.com", "resource/label-relationship",
			"on:PersistentVolumeClaim, key:cassandra.datastax.com/datacenter, value:INSTANCE.metadata.name",
			[]object.Object{read(t, "PersistentVolumeClaim/db/data-0", "metadata: {labels: {cassandra.datastax.com/datacenter: dc1, other: dc2}}")},
			[]string{`CassandraDatacenter.cassandra.datastax.com/db/dc1 -owns/label-> PersistentVolumeClaim/db/data-0 (if present, inferred) because metadata.labels["cassandra.datastax.com/datacenter"] = dc1`},
		},
		{
			"multus", "network-attachment-definitions.k8s.cni.cncf.io", "resource/annotation-relationship",
			"on:Pod, key:k8s.v1.cni.cncf.io/networks, value:INSTANCE.metadata.name",
			[]object.Object{pod("Pod/net/one", "macvlan"), pod("Pod/net/two", "macvlan,bridge")},
			[]string{`Pod/net/one -needs/annotation-> NetworkAttachmentDefinition.k8s.cni.cncf.io/net/macvlan because metadata.annotations["k8s.v1.cni.cncf.io/networks"] = macvlan`},
		},
		{
			"multus list", "network-attachment-definitions.k8s.cni.cncf.io", "resource/annotation-relationship",
			"on:Pod,key:k8s.v1.cni.cncf.io/networks,value:[{name:INSTANCE.metadata.name}]",
			[]object.Object{pod("Pod/net/one", "macvlan@eth1, infra/bridge"), pod("Pod/net/json", `[{"name":"macvlan","namespace":"infra"},{"name":"bridge"}]`)},
			[]string{
				`Pod/net/one -needs/annotation-> NetworkAttachmentDefinition.k8s.cni.cncf.io/net/macvlan (if present) because metadata.annotations["k8s.v1.cni.cncf.io/networks"] = macvlan@eth1, infra/bridge`,
				`Pod/net/one -needs/annotation-> NetworkAttachmentDefinition.k8s.cni.cncf.io/infra/bridge (if present) because metadata.annotations["k8s.v1.cni.cncf.io/networks"] = macvlan@eth1, infra/bridge`,
				`Pod/net/json -needs/annotation-> NetworkAttachmentDefinition.k8s.cni.cncf.io/infra/macvlan (if present) because metadata.annotations["k8s.v1.cni.cncf.io/networks"] = [{"name":"macvlan","namespace":"infra"},{"name":"bridge"}]`,
				`Pod/net/json -needs/annotation-> NetworkAttachmentDefinition.k8s.cni.cncf.io/net/bridge (if present) because metadata.annotations["k8s.v1.cni.cncf.io/networks"] = [{"name":"macvlan","namespace":"infra"},{"name":"bridge"}]`,
			},
		},
		{
			"stash", "restics.stash.appscode.com", "resource/label-relationship", "on:Deployment, value:INSTANCE.spec.selector",
			[]object.Object{read(t, "Restic.stash.appscode.com/shop/backup", "spec: {selector: {matchLabels: {app: web}}}")},
			[]string{`Restic.stash.appscode.com/shop/backup -serves/label-> Deployment.apps/shop/{app=web} because spec.selector = app=web`},
		},
		{
			"kubeplus itself", "wordpressservices.platformapi.kubeplus", "resource/annotation-relationship",
			"on:Secret;PersistentVolumeClaim;Role;RoleBinding;ServiceAccount;Service;Pod;MysqlCluster;Namespace, key:meta.helm.sh/release-name, value:wordpressservice-INSTANCE.metadata.name",
			[]object.Object{
				read(t, "Secret/shop/pass", "metadata: {annotations: {meta.helm.sh/release-name: wordpressservice-wp1}}"),
				read(t, "MysqlCluster.mysql.presslabs.org/shop/db", "metadata: {annotations: {meta.helm.sh/release-name: wordpressservice-wp1}}"),
				read(t, "Pod/shop/other", "metadata: {annotations: {meta.helm.sh/release-name: wordpress-wp1}}"),
				read(t, "WordpressService.platformapi.kubeplus/shop/wp1", ""),
			},
			[]string{
				`WordpressService.platformapi.kubeplus/shop/wp1 -owns/annotation-> Secret/shop/pass (if present, inferred) because metadata.annotations["meta.helm.sh/release-name"] = wordpressservice-wp1`,
				`WordpressService.platformapi.kubeplus/shop/wp1 -owns/annotation-> MysqlCluster.mysql.presslabs.org/shop/db (if present, inferred) because metadata.annotations["meta.helm.sh/release-name"] = wordpressservice-wp1`,
				`WordpressService.platformapi.kubeplus/shop/wp1 -owns/annotation-> Namespace/shop/{meta.helm.sh/release-name} (inferred) because metadata.name = wordpressservice-wp1`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := parseClean(t, tt.crd, tt.key, tt.value)
			equal(t, edges(d, tt.objects...), tt.want...)
			for _, r := range d.Rules {
				if !strings.HasPrefix(r.Name, "crd:"+tt.crd+":"+tt.key) || r.Origin != "CRD "+tt.crd || r.To == "" || r.Field == "" {
					t.Errorf("rule %+v does not say where it comes from", r)
				}
			}
		})
	}
}

func TestPublishedSpellings(t *testing.T) {
	const (
		byAnnotation = "on:Ingress, key:a/b, value:INSTANCE.metadata.name"
		byLabel      = "on:Pod, value:INSTANCE.spec.selector"
		byField      = "on:INSTANCE.spec.x, value:Service.metadata.name"
	)
	for key, value := range map[string]string{
		"resource/annotation-relationship":           byAnnotation,
		"resource/annotation-relationship7":          byAnnotation,
		"platform-as-code/annotation-relation":       byAnnotation,
		"platform-as-code/annotation-relationship":   byAnnotation,
		"resource/label-relationship":                byLabel,
		"resource/label-relationship01":              byLabel,
		"platform-as-code/label-relation":            byLabel,
		"platform-as-code/label-relationship2":       byLabel,
		"resource/specproperty-relationship":         byField,
		"platform-as-code/specprop-relation":         byField,
		"platform-as-code/specproperty-relationship": byField,
	} {
		if d := parseClean(t, "apps.example.com", key, value); len(d.Rules) != 1 {
			t.Errorf("%s: %d rules, want 1", key, len(d.Rules))
		}
	}
	// Other annotations are ignored.
	d := parseClean(t, "apps.example.com", "platform-as-code/constants", "x", "platform-as-code/openapispec", "y.z", "platform-as-code/cpu-requests", "1", "other/annotation-relationship", "on:")
	if len(d.Rules) > 0 {
		t.Errorf("got rules %v", d.Rules)
	}
}

func TestFieldThatNoNameStandsFor(t *testing.T) {
	d, findings := parse(t, "restics.stash.appscode.com", "resource/specproperty-relationship",
		"on:INSTANCE.spec.volumeMounts, value:Deployment.spec.containers.volumemounts.mountpath")
	if len(d.Rules) != 0 || len(findings) != 1 {
		t.Fatalf("got rules %v, findings %v", d.Rules, findings)
	}
	if f := findings[0]; f.Column != 38 || !strings.Contains(f.Message, "cannot be evaluated") {
		t.Errorf("got %v", f)
	}
}
