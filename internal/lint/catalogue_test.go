package lint_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/lint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/skeleton"
)

const (
	entries   = "../../catalog"
	skeletons = "../../catalog/testdata/fields"
)

// definitions are those of the skeletons.
var definitions = sync.OnceValues(func() (*lint.Definitions, error) {
	files, err := skeleton.ReadAll(os.DirFS(skeletons))
	if err != nil {
		return nil, err
	}
	defs := lint.Definitions{Complete: true}
	defs.AddBuiltIn()
	for _, k := range skeleton.NewestFirst(files) {
		defs.Add(k.Definition)
	}
	return &defs, nil
})

func known(t *testing.T) *lint.Definitions {
	t.Helper()
	defs, err := definitions()
	if err != nil {
		t.Fatal(err)
	}
	return defs
}

// newer are fields of releases of an operator that are newer than those of which definitions
// are at hand. These releases serve the same API version, so that no apiVersion tells an
// object of them from an older one, and versions would say nothing. On an object of an older
// release such a field is not there, and what reads it finds nothing. Who brings the
// definitions takes the line out.
var newer = []struct{ entry, release, field string }{
	// API version v1beta1 of v2.2.1 and of v2.3.1 (api/v1beta1/artifactgenerator_types.go)
	{"flux", "source-watcher v2.3.1", `ArtifactGenerator.source.extensions.fluxcd.io v1beta1: path "spec.serviceAccountName"`},
	// API version v2 of 9.1.0-2.2.2 and of 9.6-2.2.7
	{"oracle-mysql", "9.6-2.2.7", `InnoDBCluster.mysql.oracle.com v2: path "spec.meb.tlsSecretName"`},
	{"oracle-mysql", "9.6-2.2.7", `InnoDBCluster.mysql.oracle.com v2: path "spec.keyring.kmip.configuration"`},
	// API version v1 of v0.93.0 and of v0.95.1 (pkg/apis/monitoring/v1/alertmanager_types.go)
	{"prometheus-operator", "v0.95.1", `Alertmanager.monitoring.coreos.com v1: path "spec.alertmanagerConfiguration.global.telegram.botToken"`},
}

// unchecked are the kinds and versions of which no definition is at hand, with the reason.
var unchecked = map[string]string{
	"EtcdCluster.etcd.database.coreos.com":                "made by the program, without a schema",
	"EtcdBackup.etcd.database.coreos.com":                 "made by the program, without a schema",
	"EtcdRestore.etcd.database.coreos.com":                "made by the program, without a schema",
	"Moodle.moodlecontroller.kubeplus":                    "no definition with a schema is published",
	"DeploymentConfig.apps.openshift.io":                  "of an aggregated API server",
	"MySQLClusterSetFailover.mysql.oracle.com":            "newer than the skeletons",
	"RedisEnterpriseUser.app.redislabs.com":               "newer than the skeletons",
	"RedisEnterpriseACL.app.redislabs.com":                "newer than the skeletons",
	"RedisEnterpriseRole.app.redislabs.com":               "newer than the skeletons",
	"RedisEnterpriseClusterRole.app.redislabs.com":        "newer than the skeletons",
	"RedisEnterpriseRoleBinding.app.redislabs.com":        "newer than the skeletons",
	"RedisEnterpriseClusterRoleBinding.app.redislabs.com": "newer than the skeletons",
	"IngressRoute.traefik.containo.us":                    "Traefik 2, whose group is gone",
	"IngressRouteTCP.traefik.containo.us":                 "Traefik 2, whose group is gone",
	"IngressRouteUDP.traefik.containo.us":                 "Traefik 2, whose group is gone",
	"TraefikService.traefik.containo.us":                  "Traefik 2, whose group is gone",
	"Middleware.traefik.containo.us":                      "Traefik 2, whose group is gone",
	"MiddlewareTCP.traefik.containo.us":                   "Traefik 2, whose group is gone",
	"ServersTransport.traefik.containo.us":                "Traefik 2, whose group is gone",
	"ServersTransportTCP.traefik.containo.us":             "Traefik 2, whose group is gone",
	"TLSOption.traefik.containo.us":                       "Traefik 2, whose group is gone",
	"TLSStore.traefik.containo.us":                        "Traefik 2, whose group is gone",
	"ProvisioningRequest.autoscaling.x-k8s.io":            "of the cluster autoscaler, which is no operator of the catalogue",
	"MultiNetworkPolicy.k8s.cni.cncf.io v1beta2":          "newer than the skeletons",
	"CiliumNetworkPolicy.cilium.io":                       "Cilium: no definitions are at hand",
	"CiliumClusterwideNetworkPolicy.cilium.io":            "Cilium: no definitions are at hand",
	"CiliumCIDRGroup.cilium.io":                           "Cilium: no definitions are at hand",
	"CiliumEnvoyConfig.cilium.io":                         "Cilium: no definitions are at hand",
	"CiliumClusterwideEnvoyConfig.cilium.io":              "Cilium: no definitions are at hand",
	"CiliumLocalRedirectPolicy.cilium.io":                 "Cilium: no definitions are at hand",
	"CiliumEgressGatewayPolicy.cilium.io":                 "Cilium: no definitions are at hand",
	"CiliumLoadBalancerIPPool.cilium.io":                  "Cilium: no definitions are at hand",
	"CiliumL2AnnouncementPolicy.cilium.io":                "Cilium: no definitions are at hand",
	"CiliumBGPClusterConfig.cilium.io":                    "Cilium: no definitions are at hand",
	"CiliumBGPPeerConfig.cilium.io":                       "Cilium: no definitions are at hand",
	"CiliumBGPAdvertisement.cilium.io":                    "Cilium: no definitions are at hand",
	"CiliumEndpoint.cilium.io":                            "Cilium: no definitions are at hand",
	"CiliumNode.cilium.io":                                "Cilium: no definitions are at hand",
	"CiliumIdentity.cilium.io":                            "Cilium: no definitions are at hand",
	"DataImportCron.cdi.kubevirt.io":                      "the containerized data importer: no definitions are at hand",
	"KafkaTopic.kafka.strimzi.io v1beta2":                 "Strimzi before 1.0, of which only the kinds with other fields are at hand",
	"KafkaUser.kafka.strimzi.io v1beta2":                  "Strimzi before 1.0, of which only the kinds with other fields are at hand",
	"KafkaRebalance.kafka.strimzi.io v1beta2":             "Strimzi before 1.0, of which only the kinds with other fields are at hand",
	"KafkaConnector.kafka.strimzi.io v1beta2":             "Strimzi before 1.0, of which only the kinds with other fields are at hand",
	"StrimziPodSet.core.strimzi.io v1beta2":               "Strimzi before 1.0, of which only the kinds with other fields are at hand",
}

// TestCatalogue holds every entry of the catalogue against the published definitions. What
// cannot be checked is listed above, and each line there is needed.
func TestCatalogue(t *testing.T) {
	defs := known(t)
	names, _ := filepath.Glob(filepath.Join(entries, "*.yaml"))
	if len(names) < 80 {
		t.Fatalf("%d entries", len(names))
	}
	excused := make([]bool, len(newer))
	reasons := map[string]bool{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		entry := strings.TrimSuffix(filepath.Base(name), ".yaml")
		e, problems := catalog.Parse(entry, text)
		if len(problems) > 0 {
			t.Fatal(name, problems)
		}
		for _, f := range lint.Entry(defs, &e, lint.ReadDocument(text)) {
			if f.Line == 0 || f.Column == 0 {
				t.Errorf("%s: without a place: %s", entry, f.Message)
			}
			if f.Unknown {
				what, _, _ := strings.Cut(strings.TrimPrefix(f.Message, "no CRD of "), " is known")
				if reasons[what] = true; unchecked[what] == "" {
					t.Errorf("%s:%d:%d: %s", name, f.Line, f.Column, f.Message)
				}
				continue
			}
			i := slices.IndexFunc(newer, func(n struct{ entry, release, field string }) bool {
				return n.entry == entry && strings.HasPrefix(f.Message, n.field)
			})
			if i < 0 {
				t.Errorf("%s:%d:%d: %s", name, f.Line, f.Column, f.Message)
				continue
			}
			excused[i] = true
		}
	}
	for i, is := range excused {
		if !is {
			t.Errorf("%s: %s: the definitions have it now: it needs no excuse", newer[i].entry, newer[i].field)
		}
	}
	for what, reason := range unchecked {
		if !reasons[what] {
			t.Errorf("%s (%s): it is checked now, and needs no excuse", what, reason)
		}
	}
}
