package definition

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// settingNames are those of the settings, in their order.
var settingNames = [...]string{"resources", "nodes", "podAffinity", "spread", "tolerations", "serviceAccount", "securityContext", "podLabels", "replicas"}

// settings writes what can be set: resources=spec.resources, a line each.
func settings(d *check.Definition) string {
	var out []string
	for what, name := range settingNames {
		if path, ok := settable(d, setting(what)); ok {
			out = append(out, name+"="+path)
		}
	}
	return strings.Join(out, "\n")
}

// The shapes of schemas as operators have them, cut down to what matters.
const (
	quantities      = "{type: object, additionalProperties: {x-kubernetes-int-or-string: true}}"
	resourcesShape  = "{type: object, properties: {limits: " + quantities + ", requests: " + quantities + ", claims: {type: array, items: {type: object}}}}"
	anyObject       = "{type: object, x-kubernetes-preserve-unknown-fields: true}"
	textMap         = "{type: object, additionalProperties: {type: string}}"
	tolerationShape = "{type: array, items: {type: object, properties: {key: {type: string}, operator: {type: string}, effect: {type: string}}}}"
	affinityShape   = "{type: object, properties: {nodeAffinity: {type: object}, podAffinity: {type: object}, podAntiAffinity: {type: object}}}"
)

func TestSettable(t *testing.T) {
	for _, tt := range []struct{ name, spec, want string }{
		{
			"flat (Prometheus of prometheus-operator 0.85)", `
replicas: {type: integer}
image: {type: string}
resources: ` + resourcesShape + `
nodeSelector: ` + textMap + `
affinity: ` + affinityShape + `
tolerations: ` + tolerationShape + `
serviceAccountName: {type: string}
securityContext: {type: object, properties: {fsGroup: {type: integer}, runAsNonRoot: {type: boolean}}}
podMetadata: {type: object, properties: {labels: ` + textMap + `}}
storage: {type: object, properties: {volumeClaimTemplate: {type: object, properties: {spec: {type: object, properties: {accessModes: {type: array, items: {type: string}}, resources: ` + resourcesShape + `}}}}}}`,
			"resources=spec.resources nodes=spec.nodeSelector podAffinity=spec.affinity.podAffinity spread=spec.affinity.podAntiAffinity tolerations=spec.tolerations serviceAccount=spec.serviceAccountName securityContext=spec.securityContext podLabels=spec.podMetadata.labels replicas=spec.replicas",
		},
		{
			"a pod template (Pooler of CloudNativePG 1.30)", `
instances: {type: integer}
template:
  type: object
  properties:
    metadata: {type: object, properties: {labels: ` + textMap + `}}
    spec:
      type: object
      properties:
        containers: {type: array, items: {type: object, properties: {name: {type: string}, resources: ` + resourcesShape + `, securityContext: {type: object, properties: {runAsUser: {type: integer}}}}}}
        serviceAccountName: {type: string}
        topologySpreadConstraints: {type: array, items: {type: object, properties: {maxSkew: {type: integer}, topologyKey: {type: string}, whenUnsatisfiable: {type: string}}}}`,
			"resources=spec.template.spec.containers[].resources spread=spec.template.spec.topologySpreadConstraints serviceAccount=spec.template.spec.serviceAccountName securityContext=spec.template.spec.containers[].securityContext podLabels=spec.template.metadata.labels replicas=spec.instances",
		},
		{
			"affinity by options (Cluster of CloudNativePG 1.30)", `
instances: {type: integer}
affinity: {type: object, properties: {podAntiAffinityType: {type: string}, enablePodAntiAffinity: {type: boolean}, additionalPodAffinity: {type: object}, nodeAffinity: {type: object}, tolerations: ` + tolerationShape + `}}
seccompProfile: {type: object, properties: {type: {type: string}}}
serviceAccountTemplate: {type: object, properties: {metadata: {type: object}}}
inheritedMetadata: {type: object, properties: {labels: ` + textMap + `}}`,
			"nodes=spec.affinity.nodeAffinity podAffinity=spec.affinity.additionalPodAffinity spread=spec.affinity.enablePodAntiAffinity tolerations=spec.affinity.tolerations serviceAccount=spec.serviceAccountTemplate securityContext=spec.seccompProfile podLabels=spec.inheritedMetadata.labels replicas=spec.instances",
		},
		{
			"affinity further down (Percona XtraDB 1.18)", `
haproxy: {type: object, properties: {affinity: {type: object, properties: {antiAffinityTopologyKey: {type: string}, advanced: ` + affinityShape + `}}}}`,
			"nodes=spec.haproxy.affinity.advanced.nodeAffinity podAffinity=spec.haproxy.affinity.advanced.podAffinity spread=spec.haproxy.affinity.antiAffinityTopologyKey",
		},
		{
			"settings of its own (postgresql of Zalando)", `
numberOfInstances: {type: integer}
nodeAffinity: {type: object, properties: {requiredDuringSchedulingIgnoredDuringExecution: {type: object}}}
spiloFSGroup: {type: integer}
resources: {type: object, properties: {limits: {type: object, properties: {cpu: {type: string}, memory: {type: string}}}, requests: {type: object, properties: {cpu: {type: string}}}}}`,
			"resources=spec.resources nodes=spec.nodeAffinity securityContext=spec.spiloFSGroup replicas=spec.numberOfInstances",
		},
		{
			"a map of parts (CephCluster of Rook)", `
resources: {type: object, additionalProperties: ` + resourcesShape + `}
placement: {type: object, additionalProperties: {type: object, properties: {tolerations: ` + tolerationShape + `}}}`,
			"resources=spec.resources.* tolerations=spec.placement.*.tolerations",
		},
		{
			"cores and memory (SparkApplication)", `
driver: {type: object, properties: {cores: {type: integer}, memory: {type: string}, serviceAccount: {type: string}, labels: ` + textMap + `}}`,
			"resources=spec.driver serviceAccount=spec.driver.serviceAccount podLabels=spec.driver.labels",
		},
		{
			"open fields by their names", `
resources: ` + anyObject + `
affinity: ` + anyObject + `
tolerations: {type: array, items: ` + anyObject + `}
securityContext: ` + anyObject,
			"resources=spec.resources nodes=spec.affinity podAffinity=spec.affinity spread=spec.affinity tolerations=spec.tolerations securityContext=spec.securityContext",
		},
		{"what only sounds like it", `
resources: ` + textMap + `
tolerations: {type: array, items: {type: string}}
affinity: {type: string}
securityContext: {type: string}
serviceAccountRef: {type: object, properties: {name: {type: string}}}
auth: {type: object, properties: {serviceAccountName: {type: string}}}
selector: {type: object, properties: {labels: ` + textMap + `}}
service: {type: object, properties: {labels: ` + textMap + `, metadata: {type: object, properties: {labels: ` + textMap + `}}}}
podDisruptionBudget: {type: object, properties: {metadata: {type: object, properties: {labels: ` + textMap + `}}}}
privateKey: {type: object, properties: {rsa: {type: object, properties: {size: {type: integer}}}}}
volumeClaimTemplates: {type: array, items: {type: object, properties: {spec: {type: object, properties: {storageClassName: {type: string}, resources: ` + resourcesShape + `}}}}}
initContainers: {type: array, items: {type: object, properties: {resources: ` + resourcesShape + `}}}
sidecars: {type: array, items: {type: object, properties: {resources: ` + resourcesShape + `}}}`, ""},
		{
			"the whole before its parts", `
backup: {type: object, properties: {resources: ` + resourcesShape + `}}
db: {type: object, properties: {pod: {type: object, properties: {resources: ` + resourcesShape + `}}}}`,
			"resources=spec.db.pod.resources",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := schemaDefinition(t, "Shop", strings.TrimPrefix(tt.spec, "\n")+"\n")
			if got := strings.ReplaceAll(settings(d), "\n", " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestSettableStatusIsNotSet(t *testing.T) {
	d := definitionWith(t, "Shop", "spec: {type: object}\nstatus: {type: object, properties: {replicas: {type: integer}, nodeSelector: "+textMap+", resources: "+resourcesShape+"}}\n")
	if got := settings(d); got != "" {
		t.Errorf("got %s", got)
	}
}

// settableSaid is what a rule of settings says of a spec without instances.
func settableSaid(t *testing.T, rule, spec string) string {
	t.Helper()
	return said(t, schemaDefinition(t, "Shop", spec), rule)
}

func TestSettableApplies(t *testing.T) {
	for _, tt := range []struct{ name, spec, want string }{
		{"a kind that runs nothing", "host: {type: string}\n", ""},
		{"replicas of machines (Cluster API)", "replicas: {type: integer}\ntemplate: {type: object, properties: {spec: {type: object, properties: {bootstrap: {type: object}}}}}\n", ""},
		{"an image alone", "image: {type: string}\n", ""},
		{"a pod template alone", "template: {type: object, properties: {spec: {type: object, properties: {containers: {type: array, items: {type: object}}}}}}\n", ""},
		{"replicas and an image", "replicas: {type: integer}\nimage: {type: string}\n", "warning "},
		{"replicas and a pod", "replicas: {type: integer}\ntemplate: {type: object, properties: {spec: {type: object, properties: {containers: {type: array, items: {type: object}}}}}}\n", "warning "},
		{"further down", "main: {type: object, properties: {replicas: {type: integer}, image: {type: string}}}\n", "warning "},
		{"that can be set", "replicas: {type: integer}\nimage: {type: string}\nresources: " + resourcesShape + "\n", "fine"},
		{"an open pod template (Elasticsearch)", "replicas: {type: integer}\nimage: {type: string}\npodTemplate: " + anyObject + "\n", "open"},
		{"of a part only", "replicas: {type: integer}\nimage: {type: string}\nexporter: {type: object, properties: {resources: " + resourcesShape + "}}\n", "open"},
	} {
		if got := settableSaid(t, "crd-sets-resources", tt.spec); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := settableSaid(t, "crd-sets-service-account", "replicas: {type: integer}\nimage: {type: string}\n"); got != "open" {
		t.Errorf("whether an instance has its own account is not known without one: %q", got)
	}
	if got := settableSaid(t, "crd-sets-spread", "replicas: {type: integer}\nimage: {type: string}\n"); got != "info " {
		t.Errorf("replicas that cannot be spread: %q", got)
	}
	pruned := "replicas: {type: integer}\ntemplate: {type: object, properties: {metadata: {type: object}, spec: {type: object, properties: {containers: {type: array, items: {type: object}}}}}}\n"
	if got := settableSaid(t, "crd-sets-pod-labels", pruned); got != "info spec.template.metadata" {
		t.Errorf("labels are pruned from metadata without fields: %q", got)
	}
}

const settableOwner = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: ns
  uid: 50000000-0000-0000-0000-000000000009
  ownerReferences: [{apiVersion: test.example.org/v1, kind: %KIND, name: a, uid: %UID}]
spec:
  replicas: %REPLICAS
  template: {spec: {serviceAccountName: web, containers: [{name: web, image: web}]}}
`

func TestSettableOfInstances(t *testing.T) {
	const host = "host: {type: string}\n"
	web := func(kind, uid, replicas string) string {
		return strings.NewReplacer("%KIND", kind, "%UID", uid, "%REPLICAS", replicas).Replace(settableOwner)
	}
	own := web("Shop", "50000000-0000-0000-0000-000000000001", "1")
	d := schemaDefinition(t, "Shop", host, shopInstance, own)
	r := checktest.Only(t, Rules(), "crd-sets-resources", d.Check)
	if len(r.Findings) != 1 || len(r.Findings[0].Related) != 1 || r.Findings[0].Related[0].Name != "web" {
		t.Errorf("an instance that runs pods: %+v", r.Findings)
	}
	if got := said(t, d, "crd-sets-spread"); got != "" {
		t.Errorf("there is one replica, and no more can be had: %q", got)
	}
	if got := said(t, schemaDefinition(t, "Shop", host, shopInstance, web("Shop", "50000000-0000-0000-0000-000000000001", "3")), "crd-sets-spread"); got != "info " {
		t.Errorf("three replicas: %q", got)
	}
	daemons := strings.NewReplacer("kind: Deployment", "kind: DaemonSet", "  replicas: 3\n", "").Replace(web("Shop", "50000000-0000-0000-0000-000000000001", "3")) + "status: {desiredNumberScheduled: 3}\n"
	if got := said(t, schemaDefinition(t, "Shop", host, shopInstance, daemons), "crd-sets-spread"); got != "" {
		t.Errorf("pods of a DaemonSet are apart anyway: %q", got)
	}
	if got := said(t, schemaDefinition(t, "Shop", host, shopInstance, daemons), "crd-sets-tolerations"); got != "info " {
		t.Errorf("pods of a DaemonSet have taints to bear: %q", got)
	}
	if got := said(t, d, "crd-sets-service-account"); got != "info " {
		t.Errorf("an account of others: %q", got)
	}
	account := ownedBy("v1", "ServiceAccount", "web")
	if got := said(t, schemaDefinition(t, "Shop", host, shopInstance, own, account), "crd-sets-service-account"); got != "fine" {
		t.Errorf("an account of its own: %q", got)
	}
	child := strings.NewReplacer("kind: Shop\n", "kind: Till\n", "000000000001}", "000000000002, ownerReferences: [{apiVersion: test.example.org/v1, kind: Shop, name: a, uid: 50000000-0000-0000-0000-000000000001}]}").Replace(shopInstance)
	parent := schemaDefinition(t, "Shop", host, shopInstance, child, web("Till", "50000000-0000-0000-0000-000000000002", "3"))
	if len(parent.Workloads()) == 0 {
		t.Fatal("the workload is not below the instance")
	}
	if got := said(t, parent, "crd-sets-resources"); got != "" {
		t.Errorf("the pods are those of another custom resource: %q", got)
	}
}
