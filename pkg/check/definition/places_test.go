package definition

import (
	"strings"
	"testing"
)

func TestPlaces(t *testing.T) {
	for _, tt := range []struct{ name, spec, want string }{
		{"flat (Prometheus)", "nodeSelector: " + textMap + "\naffinity: " + affinityShape + "\ntolerations: " + tolerationShape + "\nreplicas: {type: integer}\n", "spec.affinity spec.nodeSelector spec.tolerations"},
		{"affinity by options (CloudNativePG)", "affinity: {type: object, properties: {enablePodAntiAffinity: {type: boolean}, nodeSelector: " + textMap + ", tolerations: " + tolerationShape + "}}\n", "spec.affinity.enablePodAntiAffinity spec.affinity.nodeSelector spec.affinity.tolerations"},
		{"parts, the nearest first", "kafka: {type: object, properties: {template: {type: object, properties: {affinity: " + affinityShape + "}}}}\nzookeeper: {type: object, properties: {nodeSelector: " + textMap + "}}\n", "spec.zookeeper.nodeSelector spec.kafka.template.affinity"},
		{"an open affinity", "affinity: " + anyObject + "\n", "spec.affinity"},
		{"side-cars are not the pods", "sidecars: {type: array, items: {type: object, properties: {nodeSelector: " + textMap + "}}}\n", ""},
		{"an open template (ECK)", "podTemplate: " + anyObject + "\n", "? spec.podTemplate"},
		{"fields before what is open", "podTemplate: " + anyObject + "\nnodeSelector: " + textMap + "\n", "spec.nodeSelector"},
		{"none", "size: {type: integer}\nnodes: {type: array, items: {type: string}}\n", ""},
	} {
		paths, open := Places(schemaDefinition(t, "Shop", tt.spec))
		got := strings.Join(paths, " ")
		if open != "" {
			got = strings.TrimSpace(got + " ? " + open)
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}
