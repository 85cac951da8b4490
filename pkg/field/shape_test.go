package field

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const shapeFixture = `
type: object
properties:
  spec:
    type: object
    properties:
      secretName: {type: string}
      users: {type: array, items: {type: object, properties: {name: {type: string}}}}
      targets: {type: object, additionalProperties: {type: object, properties: {host: {type: string}}}}
      free: {type: object, x-kubernetes-preserve-unknown-fields: true}
      kafka: {type: object, properties: {logging: {type: object, properties: {name: {type: string}}}}}
      connect: {type: object, properties: {size: {type: integer}}}
`

func TestCheck(t *testing.T) {
	schema := map[string]any{}
	if err := yaml.Unmarshal([]byte(shapeFixture), &schema); err != nil {
		t.Fatal(err)
	}
	custom := OfSchema(schema, OfType(reflect.TypeFor[metav1.ObjectMeta]()))
	pod := OfType(reflect.TypeFor[corev1.Pod]())
	for _, tt := range []struct {
		shape      Shape
		path, want string // empty: the path is right
	}{
		{custom, "spec.secretName", ""},
		{custom, "spec.users[].name", ""},
		{custom, "spec.users.name", ""},
		{custom, "spec.users[0].name", ""},
		{custom, "spec.targets.*.host", ""},
		{custom, "spec.targets.eu.host", ""},
		{custom, "spec.free.what.ever[].x", ""},
		{custom, "spec.*.logging.name", ""},
		{custom, `metadata.labels["a/b"]`, ""},
		{custom, "metadata.name", ""},
		{custom, "spec.secretNam", "spec has no field secretNam (it has connect, free, kafka, secretName, targets, users)"},
		{custom, "spec.users[].nme", "spec.users[] has no field nme (it has name)"},
		{custom, "spec.secretName.x", "spec.secretName has no fields"},
		{custom, "spec.secretName[]", "spec.secretName is not a list"},
		{custom, "spec.targets.*.hst", "spec.targets.* has no field hst (it has host)"},
		{custom, "status.x", "the object has no field status"},
		{custom, "metadata.nam", "metadata has no field nam"},
		{pod, "spec.containers[].env[].valueFrom.secretKeyRef.name", ""},
		{pod, `metadata.annotations["x"]`, ""},
		{pod, "spec.nodeSelector.zone", ""},
		{pod, "spec.containers[].image.x", "spec.containers[].image has no fields"},
		{pod, "spec.volumes[].secret.name", "spec.volumes[].secret has no field name (it has defaultMode, defaultUser, items, optional, secretName)"},
	} {
		p, err := Parse(tt.path)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := p.Check(tt.shape); err != nil {
			got = err.Error()
		}
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.path, got, tt.want)
		}
	}
}

// A star where there may be an object or the values of a free map goes into both.
func TestCheckStarOfEither(t *testing.T) {
	schema := map[string]any{}
	if err := yaml.Unmarshal([]byte(`
type: object
properties:
  oauth: {type: object, properties: {tls: {type: object, properties: {ca: {type: object, properties: {secret: {type: string}}}}}}}
  headers: {type: object, additionalProperties: {type: array, items: {type: object, properties: {key: {type: string}}}}}
`), &schema); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"*.tls.*.secret": true, "*.tls.*.key": true, "*.tls.*.name": false, "*.*": true, "oauth.*.secret": false} {
		p, err := Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(schemaShape(schema)); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}
