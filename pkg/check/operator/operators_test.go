package operator

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// published are the operators of testdata/operators: their workloads, the main one first,
// and the definitions that they act on.
var published = map[string][]struct {
	name      string
	workloads string
	kinds     string
}{
	"prometheus-operator": {
		{"prometheus-operator", "monitoring/prometheus-operator", "Alertmanager AlertmanagerConfig PodMonitor Probe Prometheus PrometheusRule ScrapeConfig ServiceMonitor ThanosRuler"},
		{"nvidia-gpu-operator", "gpu/gpu-operator", "ClusterPolicy"},
	},
	"cert-manager": {
		{"cert-manager", "cert-manager/cert-manager cert-manager/cert-manager-webhook cert-manager/cert-manager-cainjector", "Challenge Order Certificate CertificateRequest ClusterIssuer Issuer"},
	},
	"argo-cd": {
		{"argo-cd", "argocd/argocd-applicationset-controller argocd/argocd-application-controller argocd/argocd-server argocd/argocd-notifications-controller", "AppProject Application ApplicationSet"},
	},
	"cloudnative-pg": {
		{"cloudnative-pg", "cnpg-system/cnpg-controller-manager", "Backup Cluster ClusterImageCatalog Database ImageCatalog Pooler ScheduledBackup"},
	},
	"strimzi": {
		{"strimzi", "kafka/strimzi-cluster-operator kafka/east-entity-operator kafka/west-entity-operator", "StrimziPodSet Kafka KafkaConnect KafkaNodePool KafkaRebalance KafkaTopic KafkaUser"},
	},
	"istio": {
		{"istio", "istio-system/istiod", "DestinationRule Gateway ServiceEntry VirtualService WorkloadEntry AuthorizationPolicy PeerAuthentication Telemetry"},
		{"flagger", "flagger/flagger", "Canary"},
	},
	"crossplane": {
		{"crossplane", "crossplane-system/crossplane crossplane-system/crossplane-rbac-manager", "CompositeResourceDefinition Composition Provider ProviderRevision XDatabase"},
		{"provider-aws-rds-1", "crossplane-system/provider-aws-rds-1", "Instance"},
		{"provider-aws-s3-1", "crossplane-system/provider-aws-s3-1", "Bucket BucketPolicy"},
	},
	"knative-serving": {
		{"knative-serving", "knative-serving/controller knative-serving/webhook knative-serving/autoscaler knative-serving/net-kourier-controller knative-serving/activator", "Metric PodAutoscaler Image Ingress ServerlessService Configuration Revision Route Service"},
	},
	"keda": {
		{"keda", "keda/keda-operator keda/keda-admission", "CloudEventSource ClusterTriggerAuthentication ScaledJob ScaledObject TriggerAuthentication"},
	},
	"others": {
		{"velero", "velero/velero velero/node-agent", "Backup Restore Schedule"},
		{"flux", "flux-system/kustomize-controller flux-system/source-controller", "Kustomization Bucket GitRepository"},
		{"cluster-api", "capi-system/capi-controller-manager", "Cluster Machine"},
		{"capa-controller-manager", "capa-system/capa-controller-manager", "AWSCluster AWSMachine"},
		{"eck", "elastic-system/elastic-operator", "Elasticsearch Kibana"},
		{"gateway-api", "", "Gateway HTTPRoute"},
	},
	"rook": {
		{"rook", "rook-ceph/rook-ceph-operator", "CephBlockPool CephCluster CephFilesystem"},
		{"volume-snapshot", "kube-system/snapshot-controller", "VolumeSnapshot VolumeSnapshotClass VolumeSnapshotContent"},
	},
}

func operatorsText(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "operators", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// operatorsWorld is a world with the catalog.
func operatorsWorld(t testing.TB, text string, unread ...string) *check.ClusterState {
	t.Helper()
	read := checktest.Read(t, Find, text, unread...).ClusterState
	w := check.NewWorld(read.Graph, read.Facts, read.Kinds, read.Read)
	w.FindOperators = Find
	w.Catalogued = checktest.Catalogued
	return w
}

func checkPublished(t *testing.T, w *check.ClusterState, of string) {
	t.Helper()
	for _, want := range published[of] {
		found := slices.DeleteFunc(Named(w, want.name), func(o *check.Operator) bool { return o.Name != want.name })
		if len(found) != 1 {
			t.Errorf("%s: found %d operators of that name", want.name, len(found))
			for _, o := range w.Operators() {
				t.Logf("%s %s: %s", o.Name, o.Kinds, o.Unknown)
			}
			continue
		}
		o := found[0]
		var workloads, kinds []string
		for _, wl := range o.Workloads {
			workloads = append(workloads, wl.Ref.Namespace+"/"+wl.Ref.Name)
		}
		for _, gk := range o.Kinds {
			kinds = append(kinds, gk.Kind)
		}
		if got := strings.Join(workloads, " "); got != want.workloads {
			t.Errorf("%s runs as\n  %s, want\n  %s", o.Name, got, want.workloads)
		}
		if got := strings.Join(kinds, " "); got != want.kinds {
			t.Errorf("%s acts on\n  %s, want\n  %s", o.Name, got, want.kinds)
		}
		if known := want.workloads != ""; known != (len(o.Evidence) > 0) || known != (o.Unknown == "") {
			t.Errorf("%s: evidence %q, unknown %q", o.Name, o.Evidence, o.Unknown)
		}
	}
}

// TestPublishedOperators finds each operator by what it publishes.
func TestPublishedOperators(t *testing.T) {
	for name := range published {
		t.Run(name, func(t *testing.T) { checkPublished(t, operatorsWorld(t, operatorsText(t, name)), name) })
	}
}

// TestPublishedOperatorsTogether installs all of them in one cluster: none takes the kinds
// of another.
func TestPublishedOperatorsTogether(t *testing.T) {
	var all []string
	for name := range published {
		all = append(all, operatorsText(t, name))
	}
	slices.Sort(all)
	w := operatorsWorld(t, strings.Join(all, "\n---\n"))
	for name := range published {
		checkPublished(t, w, name)
	}
}
